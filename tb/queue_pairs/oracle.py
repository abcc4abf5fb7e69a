# SPDX-License-Identifier: Apache-2.0
"""What software must find in memory: the oracle of queues with planted errors, and the judgement of completion entries.

Every work request that asked for its completion, and every one in error, has one entry in the completion queue of its
queue pair, in the order of that queue pair; after an error there is nothing of it. Nothing here asks a model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models import cqe
from models.protocol import CQE, CQE_SYN, CqCtx, SqWr
from tb.cq.consumer import RingReader
from tb.producers.queue import Oracle, Queue
from tb.producers.requests import Request
from tb.sq.wqes import bad

M16 = 0xFFFF
ALWAYS = 2  # completion mode: asked for


@dataclass(frozen=True)
class Broken(Request):
    """A malformed WQE: ``fault`` is one of tb.sq.wqes.FAULTS, its bytes are drawn from ``seed``."""

    fault: str = "opcode"
    seed: int = 0

    def _posted(self, index: int, qpn: int) -> tuple[bytes, SqWr]:
        posted = bad(np.random.default_rng(self.seed), index, qpn, self.fault)
        return posted.raw, posted.wr

    @cached_property
    def size(self) -> int:
        """Bytes, whole blocks."""
        return len(self._posted(0, 0)[0])

    @property
    def ds(self) -> int:
        """16-byte units that are written."""
        return self.size // 16

    @property
    def blocks(self) -> int:
        """64-byte blocks that are written."""
        return self.size // 64

    def raw(self, index: int, qpn: int) -> bytes:
        """The WQE at ``index`` of queue ``qpn``."""
        return self._posted(index, qpn)[0]

    def expected(self, index: int, qpn: int) -> tuple[SqWr, bytes]:
        """The error that is to come of it."""
        return self._posted(index, qpn)[1], b""


def broken(seed: int, fault: str, most: int, asked: bool) -> Broken:
    """A malformed WQE of at most ``most`` blocks; ``asked``: for its completion."""
    made = (Broken(0, fault=fault, seed=seed + i) for i in range(10_000))
    return next(b for b in made if b.blocks <= most and (b.raw(0, 0)[11] >> 2 & 3 == ALWAYS) == asked)


def halted(qpn: int, index: int) -> SqWr:
    """The error that comes of a doorbell record which shows more than a ring ahead of ``index``, the next in turn."""
    return SqWr(qpn=qpn, opcode=0, wqe_index=index & M16, error=CQE_SYN.LOC_QP_OP)


class JoinOracle(Oracle):
    """As :class:`Oracle`; a planted error ends its queue. Further kinds of faults: overrun."""

    def __init__(self, queues: list[Queue]) -> None:
        super().__init__(queues)
        self.ended: dict[int, int] = {}  # by qpn: index of the planted error that came

    def hand(self, cycle: int, wr: SqWr, data: bytes) -> None:
        """A work request came out of the device."""
        if wr.qpn in self.ended:
            return
        if wr.error and wr.qpn in self._queues:
            index = self._next[wr.qpn]
            halts = any(r.beyond for rs in self._queues[wr.qpn].posted.values() for r in rs)
            if halts and (wr, data) == (halted(wr.qpn, index), b""):
                self.handed += 1
                self.ended[wr.qpn] = index
                return
            for request in self._queues[wr.qpn].posted.get(index, []):
                if isinstance(request, Broken) and request.expected(index, wr.qpn) == (wr, data):
                    self.handed += 1
                    self.ended[wr.qpn] = index
                    return
        super().hand(cycle, wr, data)

    def broken_queue(self, cycle: int, cqn: int) -> None:
        """A completion queue went into error."""
        self._fault("overrun", cycle, f"completion queue {cqn:#x}")

    def finish(self, cycle: int, stuck: list[str]) -> None:
        """The run is over; ``stuck``: threads that never ended."""
        for queue in self._queues.values():
            end = self.ended.get(queue.qpn)
            lost = sorted(i for i in set(queue.posted) - self._came[queue.qpn] if end is None or i < end)
            if lost:
                self._fault("lost", cycle, f"queue {queue.qpn:#x}: {len(lost)} requests, first {lost[0] & M16:#x}")
        if stuck:
            self._fault("hung", cycle, f"{len(stuck)} threads, first {stuck[0]}")


Entry = tuple[int, cqe.Cqe]  # cycle in which it is visible, entry


def expected(queue: Queue, halt: int | None = None) -> list[tuple[int, int, int, int]]:
    """(wqe_counter, opcode, send opcode, syndrome) of each entry that is due for what was posted to ``queue``;
    ``halt``: index (16 bits) at which a wrong doorbell record halted it."""
    due = []
    for index in sorted(queue.posted):
        request = queue.posted[index][0]
        if index & M16 == halt:
            wr = halted(queue.qpn, index)
            due.append((halt, int(CQE.REQ_ERR), wr.opcode, wr.error))
            break
        wr, _ = request.expected(index, queue.qpn)
        if wr.error:
            due.append((index & M16, int(CQE.REQ_ERR), wr.opcode, wr.error))
            break
        if request.signaled:
            due.append((index & M16, int(CQE.REQ), wr.opcode, 0))
    return due


def entries(writes: Iterable[tuple[int, int, bytes]], ctxs: list[CqCtx]) -> tuple[dict[int, list[Entry]], list[str]]:
    """Entries by completion queue number, as software that looks in every cycle finds them: rings by owner bit, a
    collapsed queue's slot whenever it changes. ``writes``: (visible, address, 64 bytes). And what is in no queue."""
    lines: dict[int, bytes] = {}
    found: dict[int, list[Entry]] = defaultdict(list)
    readers = {c.cqn: RingReader(c.base, c.log, c.pi0) for c in ctxs if not c.collapsed}
    complaints = []
    for visible, addr, data in sorted(writes, key=lambda w: w[0]):
        lines[addr] = data
        home = next(
            (c for c in ctxs if c.base <= addr < c.base + (64 if c.collapsed else 64 << c.log)), None
        )  # fmt: skip
        if home is None:
            complaints.append(f"an entry at {addr:#x}, in no completion queue")
        elif home.collapsed:
            found[home.cqn].append((visible, cqe.parse(data)))
        else:
            reader = readers[home.cqn]
            before = len(reader.got)
            reader.poll(lambda a: lines.get(a, bytes(63) + b"\xf0"), 1 << home.log)
            found[home.cqn] += [(visible, cqe.parse(raw)) for raw in reader.got[before:]]
            if len(reader.got) == before:
                complaints.append(f"cqn {home.cqn:#x}: an entry at {addr:#x} that its consumer does not see")
    return found, complaints


def judge(
    queues: list[Queue], homes: dict[int, int], ctxs: list[CqCtx], writes: Iterable[tuple[int, int, bytes]],
    landed: Iterable[tuple[int, int, int, int, bytes]], halts: Mapping[int, int],
) -> list[str]:  # fmt: skip
    """Complaints. ``landed``: (qpn, index, cycle of visibility, address, data) of the transport's data; ``halts``:
    index at which a wrong doorbell record halted a queue, by qpn."""
    found, lines = entries(writes, ctxs)
    there = {(qpn, index): cycle for qpn, index, cycle, _, _ in landed}
    by_queue: dict[int, list[tuple[int, int, cqe.Cqe]]] = defaultdict(list)
    for cqn, got in found.items():
        for visible, entry in got:
            by_queue[entry.qpn].append((cqn, visible, entry))
    lines += [f"queue {n:#x}: an entry of a queue that does not exist" for n in set(by_queue) - set(homes)]
    for queue in queues:
        mine, due = by_queue[queue.qpn], expected(queue, halts.get(queue.qpn))
        lines += [
            f"queue {queue.qpn:#x}: entry in completion queue {cqn:#x}, due in {homes[queue.qpn]:#x}"
            for cqn, _, _ in mine if cqn != homes[queue.qpn]
        ]  # fmt: skip
        have = [(e.wqe_counter, e.opcode, e.send_opcode, e.syndrome) for _, _, e in mine]
        if have != due:
            wrong = next(
                (i for i, (a, b) in enumerate(zip(have, due, strict=False)) if a != b), min(len(have), len(due))
            )
            a, b = (str(x[wrong]) if wrong < len(x) else "nothing" for x in (have, due))
            lines.append(
                f"queue {queue.qpn:#x}: entry {wrong} of {len(due)} ({len(have)} came): {a}, due {b} "
                "(counter, opcode, send opcode, syndrome)"
            )
        latest, upto = 0, {}  # by index: when the last data up to that request were there
        for index in sorted(queue.posted):
            latest = max(latest, there.get((queue.qpn, index & M16), 0))
            upto[index & M16] = latest
        lines += [
            f"queue {queue.qpn:#x}: {e.wqe_counter:#x} completed at {at}, data up to it came at {upto[e.wqe_counter]}"
            for _, at, e in mine if upto.get(e.wqe_counter, 0) > at
        ]  # fmt: skip
    return lines
