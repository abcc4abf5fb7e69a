# SPDX-License-Identifier: Apache-2.0
"""The link's model against arithmetic: line rate, credits, control sets, delays, and the slack's derivation."""

from __future__ import annotations

from itertools import pairwise

import pytest

from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link, cable_cycles, connect, link_figures, phy_cycles
from models.spec import spec

PHY_TX, PHY_RX, CABLE = 24, 64, 10


class Core(Component):
    """Takes every beat of ``link`` and frees its cell ``hold`` cycles later; never when ``hold`` is None."""

    def __init__(self, kernel: Kernel, link: Link, hold: int | None) -> None:
        super().__init__(kernel, "core")
        self.link, self.hold = link, hold
        self.taken: list[tuple[int, Beat]] = []
        link.rx.consumer = self

    def tick(self, now: int) -> None:
        while self.link.rx.head(now) is not None:
            self.taken.append((now, self.link.rx.pop(now)))
            if self.hold is not None:
                self.link.free(now + self.hold, 1)


def run(sizes: list[int], roce: bool = False, hold: int | None = 1, cnt_init: int = 0) -> tuple[Link, Link, Core]:
    """Frames of ``sizes`` bytes from a to b, all offered from cycle 1 on."""
    kernel = Kernel()
    a, b = (
        Link(kernel, n, roce=roce, phy_tx=PHY_TX, phy_rx=PHY_RX, cnt_init=cnt_init) for n in "ab"
    )  # fmt: skip
    connect(a, b, CABLE)
    a.tx.trace = b.tx.trace = True
    source: Fifo[Beat] = Fifo(1)
    a.attach(source)
    core = Core(kernel, b, hold)
    for size in sizes:
        for at in range(0, size, 64):
            source.push(0, Beat(bytes(min(64, size - at)), at + 64 >= size))
    kernel.run(1_000_000)
    return a, b, core


@pytest.mark.parametrize(("roce", "overhead"), [(False, 8), (True, 20)])
@pytest.mark.parametrize("size", [106, 1024, 4138])
def test_line_rate_is_arithmetic(roce, overhead, size):
    frames = 200
    a, _, _ = run([size] * frames, roce)
    starts = [c for i, (c, _) in enumerate(a.tx.sent_beats) if i % -(-size // 64) == 0]
    for n, cycle in enumerate(starts):
        assert cycle - starts[0] == n * (size + overhead) // 50


def test_delays_add_up():
    a, _, core = run([64])
    f = link_figures(False)
    assert a.tx.accepted[0][0] == 1
    assert a.tx.sent_beats[0][0] == 1 + f.tx_fifo + f.start_slack
    way = f.tx_out + PHY_TX + CABLE + PHY_RX + f.rx
    assert core.taken[0][0] == a.tx.sent_beats[0][0] + way


@pytest.mark.parametrize("cnt_init", [0, 65500])
def test_credits_stop_a_frame_that_might_not_fit(cnt_init):
    a, _, core = run([4138] * 20, hold=None, cnt_init=cnt_init)
    beats = -(-4138 // 64)
    fit = (512 - 66) // beats + 1  # frames that start with 66 credits or more
    assert len(core.taken) == fit * beats
    assert a.tx.credits() == 512 - fit * beats


@pytest.mark.parametrize("cnt_init", [0, 65500])
def test_credits_come_back(cnt_init):
    a, b, core = run([4138] * 40, cnt_init=cnt_init)
    assert len(core.taken) == 40 * 65
    assert a.tx.credits() == 512
    assert b.tx.sent_ctl[-1][1] == (cnt_init + 40 * 65) % 65536


def test_control_sets_keep_their_distance():
    _, b, _ = run([4138] * 40)
    cycles = [c for c, _ in b.tx.sent_ctl]
    assert min(y - x for x, y in pairwise(cycles)) >= spec().cycles("link.ctl_spacing")


def test_start_slack_is_what_its_source_says():
    # Beat i behind the slowest serialiser of the same rate, against the fastest: the largest difference.
    rate, beats = spec().integer("link.rate_bytes"), spec().integer("frame.max_beats")
    ctl, spacing = spec().integer("link.ctl_bytes"), spec().cycles("link.ctl_spacing")
    worst = 0
    for phase in range(spacing):
        cycle, backlog, next_ctl, i = 0, rate - 1, phase, 0
        while i < beats:
            if backlog < rate:
                worst = max(worst, cycle - 64 * i // rate)
                backlog += 64
                i += 1
            if cycle == next_ctl:
                backlog += ctl
                next_ctl += spacing
            backlog = max(0, backlog - rate)
            cycle += 1
    assert worst <= spec().cycles("link.start_slack")


def test_phy_and_cable_come_from_the_spec():
    assert phy_cycles("llfec") == (24, 64)
    assert phy_cycles("kp4") == (24, 93)
    assert cable_cycles(2) == 10
    assert cable_cycles(2, "copper") == 10
    assert cable_cycles(0) == 1


def test_more_beats_than_the_far_buffer_holds_are_never_in_it():
    _, b, core = run([4138, 64, 700] * 30, hold=300)
    freed = sorted(c + 300 for c, _ in core.taken)
    for n, (cycle, _) in enumerate(core.taken):
        assert n + 1 - sum(1 for c in freed if c < cycle) <= spec().integer("link.buffer_cells")
    assert b.tx.sent_ctl


def test_a_slow_link_s_frames_keep_the_rate_and_depend_on_the_place_of_control_sets():
    from tb.link.pace import slowest

    spacing = spec().cycles("link.ctl_spacing")
    assert slowest(1, 0) == (0,)
    for k in range(spacing):
        cycles = slowest(66, k)
        assert len(cycles) == 66 and cycles[0] == 0
        sent = (64 * 65 + 6 * spec().integer("link.ctl_bytes")) / spec().integer("link.rate_bytes")
        assert sent - 1 <= cycles[-1] <= sent + 2
    assert len({slowest(66, k) for k in range(spacing)}) > spacing // 2
