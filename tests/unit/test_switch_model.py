# SPDX-License-Identifier: Apache-2.0
"""The switch as a component of the event kernel: the same core, with bytes, FIFOs and callbacks around it."""

from __future__ import annotations

import pytest

from models.kernel import Beat, Fifo, Kernel, Sink
from models.spec import spec
from models.switch import Switch
from models.switch_config import SwitchConfig

LATENCY = sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


def beats(port: int, count: int, tag: int = 0, stated: int = 0) -> list[Beat]:
    """A native frame of ``count`` beats to DLID ``port``; ``stated`` beats in its header when they differ."""
    words = (64 * (stated or count) - 2) // 4
    head = bytes([0, 2]) + port.to_bytes(2, "big") + words.to_bytes(2, "big") + tag.to_bytes(4, "big") + bytes(54)
    return [Beat(head if i == 0 else bytes([i & 255]) * 64, i == count - 1) for i in range(count)]


def run(frames: dict[int, list[tuple[int, list[Beat]]]], ports: int = 8, ready=lambda _: True, **parameters):
    """``frames[input]`` = (cycle, beats) each; returns the switch, what its outputs gave, what was freed."""
    kernel = Kernel()
    switch = Switch(kernel, "switch", ports=ports, **parameters)
    switch.trace = True
    freed = [[] for _ in range(ports)]
    for p in range(ports):
        switch.route(p, p)
        source: Fifo[Beat] = Fifo(1)
        switch.attach(p, source)
        at = 0
        for cycle, items in frames.get(p, []):
            at = max(at, cycle)
            for beat in items:
                source.push(0, beat, at)
                at += 1

        def count(cycle: int, cells: int, port: int = p) -> None:
            freed[port] += [cycle] * cells

        switch.freed[p] = count
    sinks = [Sink(kernel, f"m{p}", switch.out[p], ready) for p in range(ports)]
    kernel.run(2_000_000)
    return switch, [s.taken for s in sinks], freed


@pytest.mark.parametrize("count", [1, 2, 16, 66])
def test_zero_load_latency(count):
    frame = beats(5, count)
    _, out, freed = run({3: [(10, frame)]})
    assert [c for c, _ in out[5]] == [11 + LATENCY + i for i in range(count)]
    assert [b for _, b in out[5]] == frame
    # taken `store` and `match` after it entered, given back one cycle later
    assert freed[3] == [11 + 6 + 1 + 1 + i for i in range(count)]


def test_cut_through_waits_for_each_beat_only():
    frame = beats(1, 4)
    _, out, _ = run({0: [(0, frame[:1]), (50, frame[1:2]), (70, frame[2:])]})
    assert [c for c, _ in out[1]] == [1 + LATENCY, 51 + LATENCY - 1, 71 + LATENCY - 1, 72 + LATENCY - 1]


def test_persistent_inputs_take_turns():
    frames = {i: [(0, beats(2, 3, n)) for n in range(20)] for i in range(8)}
    switch, _, _ = run(frames)
    order = [i for _, i, o in switch.grants if o == 2]
    assert len(order) == 160
    for n in range(152):
        assert sorted(order[n : n + 8]) == list(range(8))


@pytest.mark.parametrize("bad", [0x0400, 9, 1023])
def test_unknown_destination_is_dropped_whole(bad):
    switch, out, freed = run({0: [(0, beats(bad, 5)), (0, beats(3, 2))]})
    assert [len(o) for o in out] == [0, 0, 0, 2, 0, 0, 0, 0]
    assert len(freed[0]) == 7
    assert switch.unknown_log == [(0, 0), (1 + 5 + 1, 1)]


def test_beats_beyond_the_stated_length_are_cut():
    _, out, freed = run({0: [(0, beats(3, 700, stated=66)), (0, beats(3, 2))]})
    assert [i for i, (_, b) in enumerate(out[3]) if b.last] == [65, 67]
    assert len(freed[0]) == 702


def test_a_slow_output_holds_back_its_input_without_loss():
    frames = {0: [(0, beats(3, 16, n)) for n in range(100)], 1: [(0, beats(4, 16, n)) for n in range(100)]}
    _, out, _ = run(frames, ready=lambda cycle: cycle % 4 == 0, cells=128)
    for o, i in ((3, 0), (4, 1)):
        assert [b for _, b in out[o]] == [b for _, frame in frames[i] for b in frame]
        assert {c % 4 for c, _ in out[o]} == {0}


def test_more_beats_than_the_first_arrays_have_room_for():
    frames = {0: [(0, beats(n % 8, 16, n)) for n in range(400)], 1: [(0, beats(n % 8, 1, n)) for n in range(3000)]}
    _, out, _ = run(frames)
    sent = sorted(b.data for i in frames for _, frame in frames[i] for b in frame)
    assert sorted(b.data for o in out for _, b in o) == sent


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"ports": 1}, "ports is 1; allowed: 2 to 80"),
        ({"lanes": 9}, "lanes is 9; allowed: 1 to 8"),
        ({"cells": 100}, "cells is 100; allowed: powers of two"),
        ({"cells": 1}, "cells is 1; allowed: 2 to 32768"),
        ({"egress": 1}, "egress is 1; allowed: 2 to 32768"),
        ({"max_beats": 0}, "max_beats is 0; allowed: 1 to 255"),
        ({"groups": 1}, "groups is 1; allowed: 2 to 65536"),
        ({"cells": 64}, "cells / lanes is 64; allowed: above max_beats, which is 66"),
        ({"lanes": 8}, "cells / lanes is 64; allowed: above max_beats, which is 66"),
        ({"egress": 64}, "egress is 64; allowed: above max_beats, which is 66"),
        ({"cells": 1 << 16}, "cells is 65536; allowed: 2 to 32768"),
        ({"egress": 1 << 16}, "egress is 65536; allowed: 2 to 32768"),
        ({"max_beats": 256}, "max_beats is 256; allowed: 1 to 255"),
        ({"credit_en": True}, "credit_init is 0; allowed with credit_en: above max_beats, which is 66"),
        ({"credit_en": True, "credit_init": 66}, "credit_init is 66; allowed"),
        ({"data_bytes": 64.0}, "data_bytes is 64.0; allowed: 64, 128"),
        ({"data_bytes": 32}, "data_bytes is 32; allowed: 64, 128"),
        ({"alloc": 9}, "alloc is 9; allowed: 0 to 7"),
        ({"alloc": 7, "lanes": 2}, "lanes is 2; allowed with one FIFO an input: 1"),
    ],
)
def test_a_bad_parameter_is_named(given, text):
    with pytest.raises(ValueError, match=text):
        SwitchConfig(**given)


def test_wide_beats_make_short_frames():
    assert SwitchConfig(data_bytes=128).beats == 33
