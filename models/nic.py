# SPDX-License-Identifier: Apache-2.0
"""Golden model of the NIC: the models of its blocks, joined as docs/architecture.md says, and its memory.

Nothing is added but the merging of the two read masters (one cycle, round robin) and the wiring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.doorbell import Doorbell, Read
from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link
from models.memory import Memory
from models.spec import spec


class ReadMerge(Component):
    """Two FIFOs of reads into one, round robin; ``out`` is what the memory port shows."""

    def __init__(self, kernel: Kernel, name: str, first: Fifo[Read], second: Fifo[Read]) -> None:
        super().__init__(kernel, name)
        self._sources = (first, second)
        first.consumer = second.consumer = self
        self._depth = spec().integer("latency.nic.read_merge_depth")
        self.out: Fifo[Read] = Fifo(spec().cycles("latency.nic.read_merge"), self._depth, f"{name}.out")
        self.out.producer = self
        self._next = 0

    def tick(self, now: int) -> None:
        if self.out.reserved(now) >= self._depth:
            return
        for which in (self._next, 1 - self._next):
            if self._sources[which].head(now) is not None:
                self.out.push(now, self._sources[which].pop(now))
                self._next = 1 - which
                self.wake(now + 1)
                return


class Pump(Component):
    """Takes an item from ``fifo`` in each cycle in which ``ready(now)``, and gives it to ``put(now, item)``."""

    def __init__(
        self, kernel: Kernel, name: str, fifo: Fifo[Any], put: Callable[[int, Any], None],
        ready: Callable[[int], bool] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        self._fifo, self._put, self._ready = fifo, put, ready
        fifo.consumer = self

    def tick(self, now: int) -> None:
        if self._fifo.head(now) is None:
            return
        if self._ready is None or self._ready(now):
            self._put(now, self._fifo.pop(now))
        else:
            self.wake(now + 1)
