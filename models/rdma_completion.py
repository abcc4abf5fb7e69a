# SPDX-License-Identifier: Apache-2.0
"""Memory's side of the rdma model: payload writes, retirement (MSN, acknowledgements), completions.

Rules M, D, C and their cycles: rtl/rdma/README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.cqe import Cqe, entry_address, owner_bit
from models.kernel import Component, Fifo, Kernel
from models.memory import FULL, Response
from models.protocol import CQE, CQE_SYN, SYN
from models.rdma_parts import (
    BEAT,
    M24,
    Answer,
    Completion,
    Reg,
    Retired,
    Write,
    WriteBeat,
    beats_of,
    bursts_of,
    figure,
    lines_of,
)

if TYPE_CHECKING:
    from models.rdma import Rdma

PAYLOAD, CQE_ID = 1, 3


class DmaWrite(Component):
    """Payloads and completions to the write channels: one cycle to take a command, then a beat a cycle."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self._aw_depth, self._w_depth = figure("aw_depth"), figure("w_depth")
        write = figure("latency.write")
        self.aw: Fifo[Write] = Fifo(write, self._aw_depth, f"{name}.aw")
        self.w: Fifo[WriteBeat] = Fifo(write, self._w_depth, f"{name}.w")
        self.entries: Fifo[tuple[int, bytes]] = Fifo(figure("latency.complete"), figure("cqew_depth"), f"{name}.cqe")
        self.aw.producer = self.w.producer = self
        self.entries.consumer = top.responder.writes.consumer = top.responder.payload.consumer = self
        self._active = False
        self._addr: int | None = None  # of the payload, None: dropped
        self._bursts: list[tuple[int, int]] = []
        self._size = self._inputs = self._outputs = 0
        self._data = b""  # of the payload so far, behind bytes for its offset in the first line
        self._last_tick = -1

    def tick(self, now: int) -> None:
        """Take a command, or put one beat out."""
        if now == self._last_tick:
            return
        self._last_tick = now
        step = self._take if not self._active else self._drop if self._addr is None else self._beat
        if step(now):
            self.wake(now + 1)

    def _take(self, now: int) -> bool:
        aw_room = self.aw.reserved(now) < self._aw_depth
        entry = self.entries.head(now)
        if entry is not None:
            if not aw_room or self.w.reserved(now) >= self._w_depth:
                return False
            self.entries.pop(now)
            self.aw.push(now, Write(CQE_ID, entry[0], 1))
            self.w.push(now, WriteBeat(entry[1], FULL, True))
            return True
        command = self.top.responder.writes.head(now)
        if command is None or (command.addr is not None and not aw_room):
            return False
        self.top.responder.writes.pop(now)
        self._active, self._addr, self._size = True, command.addr, command.size
        self._inputs = beats_of(command.size)
        if command.addr is not None:
            self._bursts = bursts_of(command.addr, command.size)
            self.aw.push(now, Write(PAYLOAD, *self._bursts[0]))
            self._data = bytes(command.addr % BEAT)
            self._outputs = 0
        return True

    def _drop(self, now: int) -> bool:
        if self.top.responder.payload.head(now) is None:
            return False
        self.top.responder.payload.pop(now)
        self._inputs -= 1
        self._active = self._inputs > 0
        return True

    def _beat(self, now: int) -> bool:
        assert self._addr is not None
        burst_end = len(self._bursts) == 2 and self._outputs + 1 == self._bursts[0][1]
        if self.w.reserved(now) >= self._w_depth or (burst_end and self.aw.reserved(now) >= self._aw_depth):
            return False
        if self._inputs:
            if self.top.responder.payload.head(now) is None:
                return False
            self._data += self.top.responder.payload.pop(now)
            self._inputs -= 1
        skip = self._addr % BEAT
        i = self._outputs
        low, high = max(skip, i * BEAT), min(skip + self._size, (i + 1) * BEAT)
        strb = (1 << high - low) - 1 << low % BEAT
        line = (bytes(low - i * BEAT) + self._data[low:high]).ljust(BEAT, b"\0")
        self._outputs += 1
        last = self._outputs == lines_of(self._addr, self._size)
        self.w.push(now, WriteBeat(line, strb, last or burst_end))
        if burst_end:
            self.aw.push(now, Write(PAYLOAD, *self._bursts[1]))
        self._active = not last
        return True


class Retire(Component):
    """Packets in PSN order, when memory has confirmed their writes: MSN, receive completion, answer."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self.responses: Fifo[bool] = Fifo(figure("latency.retire"), 2 * figure("ret_depth"), f"{name}.responses")
        self.completions: Fifo[Completion] = Fifo(1, figure("cq_depth"), f"{name}.completions")
        self._cq_depth = figure("cq_depth")
        self.completions.producer = self
        top.responder.retired.consumer = self.responses.consumer = self
        self.msn = Reg(top.cfg.msn0)
        self._got = 0  # responses of the oldest packet
        self._bad = False
        self._dead = False
        self._dead_wqe: int | None = None
        self._last_tick = -1

    def take(self, now: int, response: Response) -> None:
        """A write response at ``now``."""
        if response.id == PAYLOAD:
            self.responses.push(now, response.resp != 0)
        elif response.resp:
            self.top.err.set(now, True)

    def tick(self, now: int) -> None:
        """One response, and the packet it completes."""
        if now == self._last_tick:
            return
        self._last_tick = now
        r = self.top.responder.retired.head(now)
        if r is None:
            return
        response = self.responses.head(now)
        if r.bursts and response is None:
            return
        final = r.bursts - self._got <= 1
        bad = bool(r.bursts) and (self._bad or bool(response))
        cqe = self._completion(r, bad)
        if cqe is not None and final and self.completions.reserved(now) >= self._cq_depth:
            return
        if r.bursts:
            self.responses.pop(now)
            self._got, self._bad = self._got + 1, bad
        if final:
            self._finish(now, r, bad, cqe)
        self.wake(now + 1)

    def _completion(self, r: Retired, bad: bool) -> Completion | None:
        if self._dead:
            if r.cqe is None or r.wqe == self._dead_wqe:
                return None
            return Completion(CQE.RESP_ERR, r.cqe.wqe, CQE_SYN.WR_FLUSH)
        if bad:
            return None if r.wqe is None else Completion(CQE.RESP_ERR, r.wqe, CQE_SYN.LOC_QP_OP)
        return r.cqe

    def _finish(self, now: int, r: Retired, bad: bool, cqe: Completion | None) -> None:
        self.top.responder.retired.pop(now)
        self._got, self._bad = 0, False
        if cqe is not None:
            self.completions.push(now, cqe)
        if self._dead:
            return
        msn = self.msn.get(now)
        if bad:
            self._dead, self._dead_wqe = True, r.wqe
            self.top.err.set(now, True)
            self.top.answers.give(now, Answer(SYN.NAK_OP, r.psn, msn))
            return
        if r.ends:
            msn = msn + 1 & M24
            self.msn.set(now, msn)
        if r.answer is not None:
            self.top.answers.give(now, Answer(*r.answer, msn))


class CompletionWriter(Component):
    """Forms entries of both queues in turns, one a cycle."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        c = top.cfg
        self._queues = (top.tracker.completions, top.retire.completions)
        for queue in self._queues:
            queue.consumer = self
        self._rings = [[c.scq_base, c.scq_log, c.scq_pi0], [c.rcq_base, c.rcq_log, c.rcq_pi0]]
        self._next = 1
        self._depth = figure("cqew_depth")
        top.dma.entries.producer = self
        self.written = Reg(0)
        self._last_tick = -1

    def tick(self, now: int) -> None:
        """Form one entry."""
        out = self.top.dma.entries
        if now == self._last_tick or out.reserved(now) >= self._depth:
            return
        self._last_tick = now
        for which in (self._next, 1 - self._next):
            if self._queues[which].head(now) is not None:
                q = self._queues[which].pop(now)
                base, log, index = self._rings[which]
                entry = Cqe(
                    q.op, self.top.cfg.qpn, q.wqe, owner_bit(log, index), q.byte_cnt, q.imm, q.syn, q.sop, q.se
                )  # fmt: skip
                out.push(now, (entry_address(base, log, index), entry.pack()))
                self._rings[which][2] = index + 1 & M24
                self._next = 1 - which
                self.written.set(now, self.written.get(now) + 1 & 0xFFFF)
                self.wake(now + 1)
                return
