# SPDX-License-Identifier: Apache-2.0
"""Discrete-event kernel of the golden models: integer cycles, no order inside a cycle.

Rules, from docs/architecture.md, "Time":

- A :class:`Component` is ticked at a cycle because something became visible to it at that cycle, or
  because it asked to be. It may be ticked more often than needed: a tick without work does nothing.
- What one component gives another is visible one cycle later at the earliest. A :class:`Fifo` keeps
  that rule: an item pushed at *c* is visible at *c* + latency with latency >= 1, and room made by a
  pop at *c* is seen by the producer at *c* + 1. So components may be evaluated in any order.
- Every run has a limit; :class:`Stuck` names what was still pending.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Stuck(RuntimeError):
    """A model that was still busy at its cycle limit."""


class Beat(NamedTuple):
    """One stream transfer: 1..64 valid bytes (0 on a packet without payload), last flag, side band."""

    data: bytes
    last: bool
    side: Any = None


class Kernel:
    """Event queue. ``now`` is the cycle being evaluated."""

    def __init__(self) -> None:
        self.now = 0
        self._queue: list[tuple[int, int, bool]] = []
        self._awaited = 0  # entries that keep a run going
        self._components: list[Component] = []

    def register(self, component: Component) -> int:
        """Called by :class:`Component`; returns its number (the tie-break inside a cycle)."""
        self._components.append(component)
        return len(self._components) - 1

    def schedule(self, cycle: int, number: int, idle: bool = False) -> None:
        """Tick component ``number`` at ``cycle`` (not before the present one). ``idle``: only if the run gets there."""
        if cycle < self.now:
            raise ValueError(f"wake at {cycle} is before now ({self.now})")
        heapq.heappush(self._queue, (cycle, number, idle))
        self._awaited += not idle

    def run(self, limit: int = 1_000_000_000) -> int:
        """Evaluate until nothing but idle wakes is scheduled; returns the last cycle. Raises :class:`Stuck` past
        ``limit``."""
        queue, components = self._queue, self._components
        last = (-1, -1)
        while self._awaited:
            cycle, number, idle = heapq.heappop(queue)
            self._awaited -= not idle
            entry = (cycle, number)
            if entry == last:  # several wakes of one component in one cycle are one tick
                continue
            last = entry
            if entry[0] > limit:
                names = sorted({components[n].name for n in (number, *(n for _, n, i in queue if not i))})
                raise Stuck(f"model still busy at cycle {limit}: {', '.join(names)}")
            self.now = entry[0]
            components[entry[1]].tick(self.now)
        return self.now


class Component:
    """Something with state that is evaluated at single cycles. Subclasses give :meth:`tick`."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel = kernel
        self.name = name
        self._number = kernel.register(self)

    def wake(self, cycle: int, idle: bool = False) -> None:
        """Ask for a tick at ``cycle``; ``idle``: it does not keep the run going."""
        self.kernel.schedule(cycle, self._number, idle)

    def tick(self, now: int) -> None:
        """Evaluate cycle ``now``."""
        raise NotImplementedError


class Fifo(Generic[T]):
    """A FIFO behind a rigid pipeline: an item pushed at *c* can be taken from *c* + ``latency`` on.

    ``consumer`` is woken when an item becomes visible and, while items wait, after each pop;
    ``producer`` one cycle after a pop. ``depth`` (items, pipeline included) is checked, not enforced:
    a push beyond it is a model error, since the design reserves room first. ``on_pop`` (cycle, item) is
    called at each transfer out of it: monitors and stage stamps hang there.
    """

    def __init__(self, latency: int = 1, depth: int | None = None, name: str = "fifo") -> None:
        if latency < 1:
            raise ValueError(f"{name}: latency is {latency}; allowed: 1 or more cycles")
        self.latency = latency
        self.depth = depth
        self.name = name
        self.consumer: Component | None = None
        self.producer: Component | None = None
        self.on_pop: Callable[[int, T], None] | None = None
        self._items: deque[tuple[int, T]] = deque()
        self._push_cycle = self._pop_cycle = -1
        self._pushed_now = self._popped_now = 0

    def push(self, now: int, item: T, extra: int = 0) -> None:
        """Put ``item`` in at cycle ``now``; visible ``latency + extra`` later, never before the one ahead."""
        if self._push_cycle != now:
            self._push_cycle, self._pushed_now = now, 0
        self._pushed_now += 1
        visible = now + self.latency + extra
        if self._items and self._items[-1][0] > visible:
            raise RuntimeError(f"{self.name}: item of cycle {now} would overtake")
        self._items.append((visible, item))
        if self.depth is not None and len(self._items) > self.depth:
            raise RuntimeError(f"{self.name}: more than {self.depth} items at cycle {now}")
        if self.consumer is not None:
            self.consumer.wake(visible)

    def head(self, now: int) -> T | None:
        """The oldest item if it is visible at ``now``, else None."""
        return self._items[0][1] if self._items and self._items[0][0] <= now else None

    def head_cycle(self) -> int | None:
        """Cycle at which the oldest item became or becomes visible; None when empty."""
        return self._items[0][0] if self._items else None

    def pop(self, now: int) -> T:
        """Take the oldest item at ``now``."""
        visible, item = self._items.popleft()
        if visible > now:
            raise RuntimeError(f"{self.name}: pop at {now} of an item visible at {visible}")
        if self._pop_cycle != now:
            self._pop_cycle, self._popped_now = now, 0
        self._popped_now += 1
        if self.on_pop is not None:
            self.on_pop(now, item)
        if self._items and self.consumer is not None:
            self.consumer.wake(max(now + 1, self._items[0][0]))
        if self.producer is not None:
            self.producer.wake(now + 1)
        return item

    def __len__(self) -> int:
        """Items inside, pipeline included, after everything done so far in this cycle."""
        return len(self._items)

    def reserved(self, now: int) -> int:
        """Items inside, pipeline included, as registers show them at ``now``: before this cycle's events."""
        pushed = self._pushed_now if self._push_cycle == now else 0
        popped = self._popped_now if self._pop_cycle == now else 0
        return len(self._items) - pushed + popped


class Player(Component):
    """Replays recorded transfers: calls ``take(cycle, item)`` at each item's own cycle."""

    def __init__(
        self, kernel: Kernel, name: str, items: Iterable[tuple[int, Any]], take: Callable[[int, Any], None]
    ) -> None:
        super().__init__(kernel, name)
        self._items = deque(items)
        self._take = take
        if self._items:
            self.wake(self._items[0][0])

    def tick(self, now: int) -> None:
        while self._items and self._items[0][0] == now:
            self._take(now, self._items.popleft()[1])
        if self._items:
            self.wake(self._items[0][0])


class Sink(Component, Generic[T]):
    """Pulls from ``fifo`` at each cycle in which ``ready(cycle)``; ``taken`` lists (cycle, item)."""

    def __init__(self, kernel: Kernel, name: str, fifo: Fifo[T], ready: Callable[[int], bool] = lambda _: True) -> None:
        super().__init__(kernel, name)
        self._fifo = fifo
        self._ready = ready
        self.taken: list[tuple[int, T]] = []
        fifo.consumer = self

    def tick(self, now: int) -> None:
        if self._fifo.head(now) is None:
            return
        if self._ready(now):
            self.taken.append((now, self._fifo.pop(now)))
        else:
            self.wake(now + 1)
