# SPDX-License-Identifier: Apache-2.0
"""The event kernel keeps its rules: latency, registered room, one tick a cycle, a limit."""

import pytest

from models.kernel import Component, Fifo, Kernel, Player, Sink, Stuck


class Repeater(Component):
    """Moves items from one FIFO to the next while at most ``room`` are inside the second."""

    def __init__(self, kernel, source, target, room):
        super().__init__(kernel, "repeater")
        self.source, self.target, self.room = source, target, room
        source.consumer = self
        target.producer = self
        self.ticks = []

    def tick(self, now):
        self.ticks.append(now)
        if self.source.head(now) is not None and self.target.reserved(now) < self.room:
            self.target.push(now, self.source.pop(now))


def chain(times, latency, room, ready):
    kernel = Kernel()
    first, second = Fifo(1), Fifo(latency, depth=room)
    repeater = Repeater(kernel, first, second, room)
    Player(kernel, "player", [(t, i) for i, t in enumerate(times)], first.push)
    sink = Sink(kernel, "sink", second, ready)
    kernel.run(10_000)
    return repeater, sink.taken


def test_latency_adds_up():
    _, taken = chain([10, 20], latency=5, room=8, ready=lambda _: True)
    assert taken == [(16, 0), (26, 1)]


def test_room_is_seen_one_cycle_after_the_pop():
    # One place: an item enters at c, is visible at c+1, leaves at c+1, the next enters at c+2.
    _, taken = chain([0, 0, 0], latency=1, room=1, ready=lambda _: True)
    assert [c for c, _ in taken] == [2, 4, 6]


def test_ready_pattern_delays():
    _, taken = chain([0, 1, 2], latency=1, room=8, ready=lambda c: c % 4 == 0)
    assert [c for c, _ in taken] == [4, 8, 12]


def test_one_tick_a_cycle():
    repeater, _ = chain([0, 1, 2, 3], latency=1, room=2, ready=lambda _: True)
    assert len(repeater.ticks) == len(set(repeater.ticks))


def test_limit_names_what_is_busy():
    class Restless(Component):
        def tick(self, now):
            self.wake(now + 1)

    kernel = Kernel()
    Restless(kernel, "restless").wake(0)
    with pytest.raises(Stuck, match="restless"):
        kernel.run(100)


def test_wake_in_the_past_and_bad_latency_are_errors():
    kernel = Kernel()
    kernel.now = 5
    with pytest.raises(ValueError, match="before now"):
        Player(kernel, "p", [(4, None)], lambda c, i: None)
    with pytest.raises(ValueError, match="latency"):
        Fifo(0)


def test_overfull_fifo_is_a_model_error():
    fifo = Fifo(1, depth=1)
    fifo.push(0, "a")
    with pytest.raises(RuntimeError, match="more than 1"):
        fifo.push(1, "b")
