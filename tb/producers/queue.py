# SPDX-License-Identifier: Apache-2.0
"""A send queue as its producers see it, and the oracle of what the device must make of it.

Producers count blocks in whole numbers that never wrap; the device knows the lowest 16 bits. The collapsed completion
entry is one slot whose counter moves (GPU libraries: NVSHMEM, DeepEP); it is preset to all ones with the counter of
the block before the first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.protocol import SqCtx, SqWr
from tb.producers.machine import UAR_BASE
from tb.producers.requests import Request

if TYPE_CHECKING:
    from tb.producers.ring import RingCq

M16 = 0xFFFF
PAGE = 4096
GPU_REGISTER = 0x800  # a GPU always stores to the same half
INVALID = 15  # opcode of a completion entry that was not written yet


@dataclass
class Queue:
    """Addresses and sizes; ``first``: first index, 0 or more, in blocks; ``batch``: a GPU rings at its borders; ``cq``:
    its completions come to this ring, not to the collapsed entry at ``cqe``; ``later``: its table entry is not written
    before the run begins."""

    qpn: int
    page: int
    base: int
    log: int
    record: int
    cqe: int
    first: int = 0
    weight: int = 8
    batch: int = 4
    posted: dict[int, list[Request]] = field(default_factory=dict)  # by index
    outstanding: deque[int] = field(default_factory=deque)  # first blocks of what CPU cores posted and saw no end of
    turns: int = 0  # halves of its BlueFlame register that a CPU has used
    cq: RingCq | None = None
    later: bool = False

    @property
    def ring(self) -> int:
        """Blocks of the ring."""
        return 1 << self.log

    def slot(self, index: int) -> int:
        """Address of a block."""
        return self.base + 64 * (index % self.ring)

    def uar(self, offset: int) -> int:
        """Address of a place in the queue's UAR page."""
        return UAR_BASE + PAGE * self.page + offset

    def name(self, what: str) -> tuple[int, str]:
        """Name of one of the queue's variables: ``resv``, ``ready``, ``prod``, ``cons``, ``lock``, ``head``."""
        return (self.qpn, what)

    def ctx(self) -> SqCtx:
        """The device's table entry."""
        return SqCtx(
            enable=1, qpn=self.qpn, page=self.page, weight=self.weight, sq_base=self.base, sq_log=self.log,
            dbr_addr=self.record, pi0=self.first & M16,
        )  # fmt: skip

    def completed(self, counter: int) -> None:
        """A CPU saw the completion of the WQE at ``counter`` (16 bits), and so of those before."""
        while self.outstanding and (counter - self.outstanding[0]) & M16 < 1 << 15:
            self.outstanding.popleft()

    def post(self, index: int, request: Request) -> bytes:
        """A producer claims ``index`` for ``request``; gives the WQE."""
        self.posted.setdefault(index, []).append(request)
        return request.raw(index, self.qpn)


def preset(queue: Queue) -> bytes:
    """The completion entry before the first completion."""
    counter = (queue.first - 1) & M16
    return b"\xff" * 60 + counter.to_bytes(2, "big") + b"\xff\xff"


def pending(target: int, counter: int, ring: int) -> bool:
    """Whether blocks below ``target`` are still to be completed, by the 16 bits of ``counter`` (the last completed).
    Right for every ring of 1 to 32,768 blocks: ``target`` at most a ring ahead, or 65,535 less a ring behind."""
    return (target - counter - 2) & M16 < ring


def rebuilt(target: int, counter: int) -> int:
    """The whole consumer index, at or behind ``target``, from its 16 bits."""
    return target + ((counter + 1 - target) & M16)


class Fault(str):
    """What the oracle found: a sentence; ``cycle`` and ``kind`` beside it."""

    kind: str
    cycle: int

    def __new__(cls, kind: str, cycle: int, text: str) -> Fault:
        self = super().__new__(cls, f"{kind} at cycle {cycle}: {text}")
        self.kind, self.cycle = kind, cycle
        return self


class Oracle:
    """Each posted request is handed on exactly once, in the order of its queue, as it was posted, and a doorbell record
    never moves back. Kinds of faults: error, order, content, stranger, back, lost, hung."""

    def __init__(self, queues: list[Queue]) -> None:
        self._queues = {q.qpn: q for q in queues}
        self._next = {q.qpn: q.first for q in queues}
        self._records = {q.record + 4: (q.qpn, q.first & M16) for q in queues}
        self._came: dict[int, set[int]] = {q.qpn: set() for q in queues}
        self.faults: list[Fault] = []
        self.handed = 0

    def hand(self, cycle: int, wr: SqWr, data: bytes) -> None:
        """A work request came out of the device."""
        self.handed += 1
        if wr.qpn not in self._queues:
            self._fault("stranger", cycle, f"queue {wr.qpn:#x} was never set up")
            return
        queue, index = self._queues[wr.qpn], self._next[wr.qpn]
        where = f"queue {wr.qpn:#x}, index {wr.wqe_index:#x}"
        if wr.error:
            self._fault("error", cycle, f"{where}: error {wr.error:#x}, opcode {wr.opcode:#x}")
            self._next[wr.qpn] = index + 1
            return
        if wr.wqe_index != index & M16:
            self._fault("order", cycle, f"{where}: {index & M16:#x} was due")
            return
        self._next[wr.qpn] = index + max(1, wr.blocks)
        requests = queue.posted.get(index, [])
        match = next((i for i, r in enumerate(requests) if r.expected(index, wr.qpn) == (wr, data)), None)
        if match is None:
            text = "nobody posted it" if not requests else f"{wr}, posted {requests[0].expected(index, wr.qpn)[0]}"
            self._fault("content", cycle, f"{where}: {text}")
        elif len(requests) > 1:
            self._fault("content", cycle, f"{where}: posted {len(requests)} times")
        else:
            self._came[wr.qpn].add(index)

    def write(self, cycle: int, addr: int, data: bytes) -> None:
        """Something was written to memory: a doorbell record must not move back."""
        if addr in self._records:
            qpn, old = self._records[addr]
            new = int.from_bytes(data, "big")
            self._records[addr] = (qpn, new)
            if (new - old) & M16 > 1 << 15:
                self._fault("back", cycle, f"queue {qpn:#x}: record {old:#x} to {new:#x}")

    def finish(self, cycle: int, stuck: list[str]) -> None:
        """The run is over; ``stuck``: threads that never ended."""
        for queue in self._queues.values():
            lost = sorted(set(queue.posted) - self._came[queue.qpn])
            if lost:
                self._fault("lost", cycle, f"queue {queue.qpn:#x}: {len(lost)} requests, first {lost[0] & M16:#x}")
        if stuck:
            self._fault("hung", cycle, f"{len(stuck)} threads, first {stuck[0]}")

    def _fault(self, kind: str, cycle: int, text: str) -> None:
        self.faults.append(Fault(kind, cycle, text))
