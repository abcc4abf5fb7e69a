# SPDX-License-Identifier: Apache-2.0
"""What lies between producers and device: the path of stores, and the transport that completes requests."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from models.cqe import Cqe
from models.kernel import Beat, Component, Kernel
from models.protocol import CQE, SqWr
from tb.common.source import StoreTarget
from tb.producers.machine import Machine
from tb.producers.queue import Oracle, Queue


class Arrived(NamedTuple):
    """A store of one beat that the device took: cycles of its AW and W transfer."""

    aw_cycle: int
    w_cycle: int
    ident: int
    addr: int
    data: bytes
    strobes: int


class Path(Component):
    """Offers each store to the device from ``delay`` cycles after it left its producer, in that order. AW and W go
    their own ways, each one a cycle. ``taken``: what the device took, in order."""

    def __init__(self, kernel: Kernel, device: StoreTarget, delay: int) -> None:
        super().__init__(kernel, "path")
        self._device, self._delay = device, delay
        self._coming: list[tuple[int, int, int, bytes, int]] = []  # heap: arrival, count, offset, line, strobes
        self._stores: list[tuple[int, bytes, int]] = []
        self._count = 0
        self._aw: list[int] = []  # cycles of the transfers
        self._w: list[int] = []

    @property
    def taken(self) -> list[Arrived]:
        """All stores so far of which both transfers are done."""
        pairs = zip(self._aw, self._w, self._stores, strict=False)
        return [Arrived(a, w, i & 15, s[0], s[1], s[2]) for i, (a, w, s) in enumerate(pairs)]

    def leave(self, now: int, offset: int, line: bytes, strobes: int, source: str) -> None:
        """A store leaves its producer."""
        self._count += 1
        heapq.heappush(self._coming, (now + self._delay, self._count, offset, line, strobes))
        self.wake(now + self._delay)

    def tick(self, now: int) -> None:
        while self._coming and self._coming[0][0] <= now:
            self._stores.append(heapq.heappop(self._coming)[2:])
        stores = self._stores
        if len(self._aw) < len(stores) and self._device.aw_ready(now):
            self._device.aw(now, len(self._aw) & 15, stores[len(self._aw)][0], 1)
            self._aw.append(now)
        if len(self._w) < len(stores) and self._device.w_ready(now):
            _, line, strobes = stores[len(self._w)]
            self._device.w(now, line, strobes, True)
            self._w.append(now)
        if min(len(self._aw), len(self._w)) < len(stores):
            self.wake(now + 1)


class Transport:
    """Stands for what executes requests: after a random delay of at most ``longest`` cycles, in the order of each
    queue, it writes the queue's collapsed completion entry, if asked to or in error. A queue in error completes
    nothing more. ``frames``: (cycle of the last beat, work request, data)."""

    def __init__(self, machine: Machine, queues: list[Queue], oracle: Oracle, rng: Random, longest: int) -> None:
        self._machine, self._oracle, self._rng, self._longest = machine, oracle, rng, longest
        self._queues = {q.qpn: q for q in queues}
        self._last = dict.fromkeys(self._queues, 0)  # cycle of the queue's last completion
        self._dead: set[int] = set()
        self._data = b""
        self.frames: list[tuple[int, SqWr, bytes]] = []
        self.on_fault: Callable[[], None] = lambda: None

    def take(self, now: int, beat: Beat) -> None:
        """One beat of a work request."""
        self._data += beat.data
        if not beat.last:
            return
        wr, data, self._data = beat.side, self._data, b""
        self.frames.append((now, wr, data))
        before = len(self._oracle.faults)
        self._oracle.hand(now, wr, data)
        if len(self._oracle.faults) > before:
            self.on_fault()
        if wr.qpn not in self._queues or wr.qpn in self._dead:
            return
        if wr.error:
            self._dead.add(wr.qpn)
        if wr.error or wr.ce == 2:
            at = max(now + 1 + self._rng.randrange(self._longest), self._last[wr.qpn])
            self._last[wr.qpn] = at
            self._machine.at(at, self._complete, wr)

    def _complete(self, now: int, wr: Any) -> None:
        queue = self._queues[wr.qpn]
        opcode = CQE.REQ_ERR if wr.error else CQE.REQ
        entry = Cqe(opcode, wr.qpn, wr.wqe_index, 0, wr.length & 0xFFFFFFFF, syndrome=wr.error, send_opcode=wr.opcode)
        self._machine.system.write(now, queue.cqe, entry.pack())
