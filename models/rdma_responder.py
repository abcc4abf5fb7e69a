# SPDX-License-Identifier: Apache-2.0
"""Responder's half of the rdma model: checks in the specification's order, and the receive queue.

Rules P, R, D, and their cycles: rtl/rdma/README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from models.kernel import Beat, Component, Fifo, Kernel
from models.protocol import CQE, CQE_SYN, OP, QP, SYN, Hdr
from models.rdma_parts import (
    HALF,
    M24,
    MAX_MESSAGE,
    Completion,
    Payload,
    Reg,
    Retired,
    bursts_of,
    figure,
    key_ok,
)
from models.rdma_queue import ReceiveQueue, ReceiveWqe
from models.rdma_tracker import Response

if TYPE_CHECKING:
    from models.rdma import Rdma

FIRST, MIDDLE, LAST, ONLY = range(4)
KINDS = (FIRST, MIDDLE, LAST, LAST, ONLY, ONLY)  # of the six SEND and of the six WRITE opcodes, in order


class Message(NamedTuple):
    """A message under way: where its next byte goes, bytes it may still bring and has brought, SEND's WQE."""

    send: bool
    addr: int
    left: int
    got: int
    wqe: ReceiveWqe | None


class Refused(Exception):
    """A check failed: AETH syndrome, syndrome for the receive WQE in use, which one (None: none)."""

    def __init__(self, syndrome: int, completion: int = 0, wqe: int | None = None, consume: bool = False) -> None:
        super().__init__(syndrome)
        self.syndrome, self.completion, self.wqe, self.consume = syndrome, completion, wqe, consume


class Responder(Component):
    """``take`` is called with s_pkt's beats; one packet each ``latency.rdma.check`` + 1 cycles."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self._hdr_depth, self._pay_depth = figure("hdr_depth"), figure("pay_beats")
        self._cmd_depth, self._ret_depth = figure("cmd_depth"), figure("ret_depth")
        self._check = figure("latency.check")
        receive, decide = figure("latency.receive"), figure("latency.decide")
        self.headers: Fifo[Hdr] = Fifo(receive, self._hdr_depth, f"{name}.headers")
        self.payload: Fifo[bytes] = Fifo(receive, self._pay_depth, f"{name}.payload")
        self.writes: Fifo[Payload] = Fifo(decide, self._cmd_depth, f"{name}.writes")
        self.retired: Fifo[Retired] = Fifo(decide, self._ret_depth, f"{name}.retired")
        self.headers.consumer = self
        self.writes.producer = self.retired.producer = self
        top.err.watchers.append(self)
        self.epsn = Reg(top.cfg.rq_psn)
        self.drop_admit, self.drop_state, self.drop_seq = Reg(0), Reg(0), Reg(0)
        self.queue = ReceiveQueue(top)
        self._mtu = 128 << top.cfg.pmtu
        self._first_beat = True
        self._message: Message | None = None
        self._nak_memory = False
        self._was_fetched = False
        self._flushed = top.cfg.state == QP.RESET
        # what it does (the method of that name); not before cycle `_from`
        self._phase = "load"
        self._from = 0
        self._last_tick = -1

    # -- input ----------------------------------------------------------------------------------

    def ready(self, now: int) -> bool:
        """``s_pkt_tready`` at ``now``."""
        return self.headers.reserved(now) < self._hdr_depth and self.payload.reserved(now) < self._pay_depth

    def take(self, now: int, beat: Beat) -> None:
        """A beat of a packet at ``now``."""
        if self._first_beat:
            self.headers.push(now, beat.side)
        self._first_beat = beat.last
        if beat.data:
            self.payload.push(now, beat.data)

    def fetched(self, cycle: int) -> None:
        """The receive queue's fetch ended: go on at ``cycle``."""
        self._from = cycle
        self._was_fetched = True
        self._phase = "look" if self._phase == "fetch" else "flush"
        self.wake(cycle)

    # -- steps ----------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        """One step."""
        if now == self._last_tick or now < self._from or self._phase in ("fetch", "flush_fetch"):
            return
        self._last_tick = now
        getattr(self, f"_{self._phase}")(now)

    def _go(self, phase: str, cycle: int) -> None:
        self._phase, self._from = phase, cycle
        self.wake(cycle)

    def _load(self, now: int) -> None:
        if self.top.err.get(now) and not self._flushed:
            self._was_fetched = False
            self._go("flush_message", now + 1)
        elif self.headers.head(now) is not None:
            self._go("look", now + 1)

    def _look(self, now: int) -> None:
        """The receive WQE and the PSN seen are those of this cycle."""
        hdr = self.headers.head(now)
        assert hdr is not None
        self._seen = self.queue.head()
        self._need = self._wants_wqe(now, hdr)
        self._go("combine", now + 1)

    def _combine(self, now: int) -> None:
        if self._need and self._seen is None and not self._was_fetched and not self.top.err.get(now):
            self.queue.ask(now)
            self._phase = "fetch"
        else:
            self._go("decide", now + self._check - 2)

    def _wants_wqe(self, now: int, hdr: Hdr) -> bool:
        """An expected request of a known kind that takes a receive WQE."""
        if not self._admitted(hdr) or not self._state_fits(hdr) or hdr.psn != self.epsn.get(now):
            return False
        return self._in_sequence(hdr) and self._takes_wqe(hdr)

    @staticmethod
    def _takes_wqe(hdr: Hdr) -> bool:
        kind = KINDS[hdr.opcode % 6]
        if hdr.opcode <= OP.SEND_ONLY_IMM:
            return kind in (FIRST, ONLY)
        return hdr.opcode in (OP.WRITE_LAST_IMM, OP.WRITE_ONLY_IMM)

    def _decide(self, now: int) -> None:
        if self.writes.reserved(now) >= self._cmd_depth or self.retired.reserved(now) >= self._ret_depth:
            return
        hdr = self.headers.pop(now)
        self._was_fetched = False
        target = self._judge(now, hdr)
        if hdr.len:
            self.writes.push(now, Payload(target, hdr.len))
        self._go("load", now + 1)

    # -- rules ----------------------------------------------------------------------------------

    def _admitted(self, h: Hdr) -> bool:
        c = self.top.cfg
        low = h.pkey & 0x7FFF
        partition = low != 0 and low == c.pkey & 0x7FFF and bool((h.pkey | c.pkey) & 0x8000)
        queue = h.opcode < 0x20 and h.dest_qp == c.qpn and h.dest_qp != 0
        return queue and partition and h.src == c.dst and h.dst == c.src

    @staticmethod
    def _is_response(h: Hdr) -> bool:
        return OP.READ_RESP_FIRST <= h.opcode <= OP.ATOMIC_ACK

    def _state_fits(self, h: Hdr) -> bool:
        return self.top.cfg.state == QP.RTS or (self.top.cfg.state == QP.RTR and not self._is_response(h))

    def _in_sequence(self, h: Hdr) -> bool:
        """Opcode known and allowed, and in order after what came before."""
        if h.opcode > OP.WRITE_ONLY_IMM:
            return False
        send = h.opcode <= OP.SEND_ONLY_IMM
        if not send and not self.top.cfg.remote_write:
            return False
        begins = KINDS[h.opcode % 6] in (FIRST, ONLY)
        if self._message is None:
            return begins
        return not begins and send == self._message.send

    def _judge(self, now: int, h: Hdr) -> int | None:
        """What happens to a packet; returns where its payload goes, None to drop it."""
        if not self._admitted(h):
            self._count(now, self.drop_admit)
            return None
        if self.top.err.get(now) or not self._state_fits(h):
            self._count(now, self.drop_state)
            return None
        if self._is_response(h):
            self.top.tracker.response(now, Response(h.opcode, h.psn, h.syndrome))
            return None
        epsn = self.epsn.get(now)
        distance = h.psn - epsn & M24
        if 0 < distance < HALF:
            self._ahead(now, epsn)
            return None
        if distance:
            self._duplicate(now, h, epsn)
            return None
        self._nak_memory = False
        try:
            message, target = self._expected(now, h)
        except Refused as r:
            self._refuse(now, h, r)
            return None
        if message is None:  # no receive WQE
            if self.top.nak_busy.get(now):
                self._count(now, self.drop_seq)
            else:
                self._nak_memory = True
                self._nak(now, SYN.RNR | self.top.cfg.min_rnr, h.psn)
            return None
        self.epsn.set(now, epsn + 1 & M24)
        ends = KINDS[h.opcode % 6] in (LAST, ONLY)
        self._message = None if ends else message
        self._execute(now, h, message, target, ends)
        return target

    def _count(self, now: int, counter: Reg[int]) -> None:
        counter.set(now, counter.get(now) + 1 & 0xFFFF)

    def _nak(self, now: int, syndrome: int, psn: int) -> None:
        self.top.nak_busy.set(now, True)
        self.retired.push(now, Retired(answer=(syndrome, psn)))

    def _ahead(self, now: int, epsn: int) -> None:
        if self._nak_memory or self.top.nak_busy.get(now):
            self._count(now, self.drop_seq)
        else:
            self._nak_memory = True
            self._nak(now, SYN.NAK_PSN, epsn)

    def _duplicate(self, now: int, h: Hdr, epsn: int) -> None:
        if h.opcode <= OP.WRITE_ONLY_IMM:
            self.retired.push(now, Retired(answer=(SYN.ACK_NO_CREDIT, epsn - 1 & M24)))
        else:
            self._count(now, self.drop_seq)

    def _expected(self, now: int, h: Hdr) -> tuple[Message | None, int]:
        """Checks in order; the message after this packet (None: no receive WQE) and its write address."""
        m = self._message
        used = m.wqe.number if m is not None and m.wqe is not None else None
        if not self._in_sequence(h):
            raise Refused(SYN.NAK_INVALID, CQE_SYN.REM_INV_REQ, used)
        send = h.opcode <= OP.SEND_ONLY_IMM
        kind = KINDS[h.opcode % 6]
        wqe = self._seen
        if self._takes_wqe(h) and wqe is None:
            if self.queue.bad:
                raise Refused(SYN.NAK_OP, CQE_SYN.LOC_QP_OP, self.queue.ci)
            return None, 0
        begins = kind in (FIRST, ONLY)
        if begins:
            if send:
                assert wqe is not None
                m = Message(True, wqe.addr, wqe.size, 0, wqe)
                used = wqe.number
            else:
                m = Message(False, h.va, h.dmalen, 0, None)
        assert m is not None
        size_ok = {
            FIRST: h.len == self._mtu, MIDDLE: h.len == self._mtu,
            LAST: 1 <= h.len <= self._mtu, ONLY: h.len <= self._mtu,
        }[kind]  # fmt: skip
        ends = kind in (LAST, ONLY)
        if send and size_ok and h.len > m.left:
            raise Refused(SYN.NAK_INVALID, CQE_SYN.LOC_LEN, used, begins)
        fits = h.len == m.left if ends and not send else h.len <= m.left
        if not size_ok or not fits or (not send and begins and h.dmalen > MAX_MESSAGE):
            raise Refused(SYN.NAK_INVALID, CQE_SYN.REM_INV_REQ, used, send and begins)
        if send and h.len:
            assert m.wqe is not None
            if not key_ok(self.top.regions, m.wqe.key, m.addr, h.len, "local_write"):
                raise Refused(SYN.NAK_OP, CQE_SYN.LOC_PROT, used, begins)
        if not send and begins and h.dmalen and not key_ok(self.top.regions, h.rkey, h.va, h.dmalen, "remote_write"):
            raise Refused(SYN.NAK_ACCESS)
        return m._replace(addr=m.addr + h.len, left=m.left - h.len, got=m.got + h.len), m.addr

    def _refuse(self, now: int, h: Hdr, r: Refused) -> None:
        cqe = None
        if r.wqe is not None:
            cqe = Completion(CQE.RESP_ERR, r.wqe, r.completion)
        if r.consume:
            self.queue.consume()
        self._message = None
        self.retired.push(now, Retired(answer=(r.syndrome, h.psn), psn=h.psn, wqe=r.wqe, cqe=cqe))
        self.top.err.set(now, True)

    def _execute(self, now: int, h: Hdr, m: Message, target: int, ends: bool) -> None:
        takes, imm = self._takes_wqe(h), KINDS_IMM[h.opcode % 6]
        wqe = m.wqe.number if m.wqe is not None else self.queue.ci if takes else None
        cqe = None
        if ends and wqe is not None:
            op = CQE.RESP_WR_IMM if not m.send else CQE.RESP_SEND_IMM if imm else CQE.RESP_SEND
            cqe = Completion(op, wqe, 0, m.got, h.imm if imm else 0, h.se)
        if takes:
            self.queue.consume()
        answer = (int(SYN.ACK_NO_CREDIT), h.psn) if h.ackreq else None
        bursts = len(bursts_of(target, h.len)) if h.len else 0
        self.retired.push(now, Retired(bursts, answer, h.psn, ends, wqe, cqe))

    # -- flush ----------------------------------------------------------------------------------

    def _flush_message(self, now: int) -> None:
        """The receive WQE of a SEND under way goes first."""
        m = self._message
        if m is not None and m.wqe is not None:
            if self.retired.reserved(now) < self._ret_depth:
                self._flush_one(now, m.wqe.number)
                self._message = None
                self._go("flush_message", now + 1)
            return
        self.queue.ask(now)
        self._phase = "flush_fetch"

    def _flush(self, now: int) -> None:
        """Then what the record shows as posted, one a cycle."""
        if not self.queue.count or self.queue.bad:
            self._flushed, self._was_fetched = True, False
            self._go("load", now + 1)
        elif self.retired.reserved(now) < self._ret_depth:
            self._flush_one(now, self.queue.ci)
            self.queue.consume()
            self._go("flush", now + 1)

    def _flush_one(self, now: int, index: int) -> None:
        self.retired.push(now, Retired(wqe=index, cqe=Completion(CQE.RESP_ERR, index, CQE_SYN.WR_FLUSH)))


KINDS_IMM = (False, False, False, True, False, True)
