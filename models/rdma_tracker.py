# SPDX-License-Identifier: Apache-2.0
"""What the requester has outstanding: window, responses, ACK timer, WQE table, send completions.

Rules A, T, E: rtl/rdma/README.md. PSNs are counted on without wrap. This component is the last one of the block,
so that its tick sees the events of its own cycle (a packet sent, a response).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from models.kernel import Component, Fifo, Kernel
from models.protocol import CQE, CQE_SYN, OP, SYN
from models.rdma_parts import M24, Completion, Entry, Reg, figure

if TYPE_CHECKING:
    from models.rdma import Rdma

FATAL = {
    SYN.NAK_PSN: CQE_SYN.RETRY_EXC,
    SYN.NAK_INVALID: CQE_SYN.REM_INV_REQ,
    SYN.NAK_ACCESS: CQE_SYN.REM_ACCESS,
    SYN.NAK_OP: CQE_SYN.REM_OP,
}


class Response(NamedTuple):
    """A response packet: opcode, PSN, AETH syndrome."""

    opcode: int
    psn: int
    syndrome: int


class Tracker(Component):
    """``sent`` and ``response`` are called at the cycles of those events."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self.nxt = Reg(top.cfg.sq_psn)
        self.dropped = Reg(0)
        self.completions: Fifo[Completion] = Fifo(1, figure("cq_depth"), f"{name}.completions")
        self.completions.producer = self
        self._cq_depth = figure("cq_depth")
        top.segmenter.table.consumer = self
        top.err.watchers.append(self)
        top.una.watchers.append(self)
        top.transmit.bad.watchers.append(self)
        code = top.cfg.ack_timeout
        self._timeout = 1 << figure("timer_log") + code if code else 0
        self._running = False
        self._deadline = -1
        self._fatal: Reg[int | None] = Reg(None)
        self._fatal.watchers.append(self)
        self._head = 0  # number of the oldest entry
        self._asked = -1
        self._response: tuple[int, Response] | None = None
        self._last_tick = -1

    def sent(self, now: int, psn: int, ackreq: bool) -> None:
        """A request packet starts at ``now``."""
        self.nxt.set(now, psn + 1)
        if ackreq:
            self._asked = now
            self.wake(now)

    def response(self, now: int, response: Response) -> None:
        """A response packet at ``now``."""
        self._response = (now, response)
        self.wake(now)

    def tick(self, now: int) -> None:
        """Judge the response, run the timer, complete the oldest WQE."""
        if now == self._last_tick:
            return
        self._last_tick = now
        acknowledged = self._judge(now)
        self._timer(now, acknowledged)
        self._complete(now)

    def _judge(self, now: int) -> int | None:
        """New una after a response that is heeded, else None."""
        if self._response is None or self._response[0] != now:
            return None
        r = self._response[1]
        una, nxt = self.top.una.get(now), self.nxt.get(now)
        psn = una + (r.psn - una & M24)
        syndrome: int | None = None  # of the completion
        heeded = psn < nxt and not self.top.err.get(now)
        if r.opcode != OP.ACKNOWLEDGE:
            syndrome = CQE_SYN.BAD_RESP
        elif r.syndrome >> 5 == SYN.RNR >> 5:
            syndrome = CQE_SYN.RNR_EXC
        elif r.syndrome in FATAL:
            syndrome = FATAL[SYN(r.syndrome)]
        elif r.syndrome >> 5:
            heeded = False
        if not heeded:
            self.dropped.set(now, self.dropped.get(now) + 1 & 0xFFFF)
            return None
        if syndrome is None:
            psn += 1
        else:
            self._fatal.set(now, syndrome)
            self.top.err.set(now, True)
        self.top.una.set(now, psn)
        return psn

    def _timer(self, now: int, una: int | None) -> None:
        asked = self._asked == now
        if una is None and self._running and self._deadline == now and not self.top.err.get(now):
            self._running = False
            self._fatal.set(now, CQE_SYN.RETRY_EXC)
            self.top.err.set(now, True)
            return
        if una is not None or (asked and not self._running):
            self._running = asked or una != self.nxt.get(now)
            self._deadline = now + self._timeout
            if self._running and self._timeout:
                self.wake(self._deadline)

    def _complete(self, now: int) -> None:
        e: Entry | None = self.top.segmenter.table.head(now)
        if e is None:
            return
        err, fatal = self.top.err.get(now), self._fatal.get(now)
        acked = e.last is not None and e.last < self.top.una.get(now)
        syn: int | None
        if e.status:
            syn = CQE_SYN.WR_FLUSH if err else e.status
        elif acked or (e.last is None and (not err or fatal is not None)):
            syn = None
        elif err:
            syn = CQE_SYN.WR_FLUSH if fatal is None else fatal
        elif self.top.transmit.bad.get(now) == self._head:
            syn = CQE_SYN.LOC_PROT
        else:
            return
        if syn is not None or e.signaled:
            if self.completions.reserved(now) >= self._cq_depth:
                return
            op = CQE.REQ if syn is None else CQE.REQ_ERR
            self.completions.push(now, Completion(op=op, wqe=e.wqe, syn=syn or 0, sop=e.opcode))
        if syn is not None:
            self.top.err.set(now, True)
            if not e.status and fatal is not None:
                self._fatal.set(now, None)
        self.top.segmenter.table.pop(now)
        self._head += 1
        self.wake(now + 1)
