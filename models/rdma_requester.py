# SPDX-License-Identifier: Apache-2.0
"""Requester's half of the rdma model: intake, segmenter, reads, transmit.

Rules Q and their cycles: rtl/rdma/README.md. PSNs are counted on without wrap inside; the packet carries
them modulo 2^24.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from models.doorbell import Read
from models.kernel import Beat, Component, Fifo, Kernel
from models.memory import ReadBeat
from models.protocol import CQE_SYN, OP, QP, WQE, Hdr, Wr
from models.rdma_parts import (
    BEAT,
    HALF,
    M24,
    MAX_MESSAGE,
    Entry,
    Fetch,
    Packet,
    Reg,
    Work,
    beats_of,
    bursts_of,
    figure,
    key_ok,
    lines_of,
)

if TYPE_CHECKING:
    from models.rdma import Rdma

KNOWN = (WQE.NOP, WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM)


class Segmenter(Component):
    """Work requests in, packets, reads and table entries out."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self._wq_depth, self._inl_depth = figure("wq_depth"), figure("inline_beats")
        self._pkt_depth, self._rdq_depth = figure("pkt_depth"), figure("rdq_depth")
        self._txb_beats, self._sqt_depth = figure("txb_beats"), figure("sqt_depth")
        self.wq: Fifo[Work] = Fifo(figure("latency.intake"), self._wq_depth, f"{name}.wq")
        self.inline: Fifo[bytes] = Fifo(1, self._inl_depth, f"{name}.inline")
        self.packets: Fifo[Packet] = Fifo(figure("latency.packet"), self._pkt_depth, f"{name}.packets")
        self.fetches: Fifo[Fetch] = Fifo(figure("latency.packet"), self._rdq_depth, f"{name}.fetches")
        self.table: Fifo[Entry] = Fifo(1, self._sqt_depth, f"{name}.table")
        self.wq.consumer = self
        self.packets.producer = self.fetches.producer = self.table.producer = self
        self.stop = Reg(False)
        self.freed = Reg(0)  # beats that tx took from the transmit buffer
        self.freed.watchers.append(self)
        self._mtu = 128 << top.cfg.pmtu
        self._psn = top.cfg.sq_psn
        self._reserved = 0
        self._entries = 0
        self._work: Work | None = None
        self._done = 0  # bytes of the message cut off so far
        self._first = True
        self._last_tick = -1

    # -- intake ---------------------------------------------------------------------------------

    def ready(self, now: int) -> bool:
        """``s_wr_tready`` at ``now``."""
        if self.top.cfg.state not in (QP.RTS, QP.ERR) or self.wq.reserved(now) >= self._wq_depth:
            return False
        halted = self.stop.get(now) or self.top.err.get(now)
        return bool(halted) or self.inline.reserved(now) < self._inl_depth

    def take(self, now: int, beat: Beat) -> None:
        """A beat of a work request at ``now``."""
        wr: Wr = beat.side
        if wr.is_inline and wr.opcode != WQE.NOP and beat.data and not self.stop.get(now) and not self.top.err.get(now):
            self.inline.push(now, beat.data)
        if beat.last:
            self.wq.push(now, Work(wr, self._check(wr)))

    def _check(self, wr: Wr) -> int:
        if wr.error:
            return wr.error
        if wr.opcode not in KNOWN:
            return CQE_SYN.LOC_QP_OP
        if wr.opcode == WQE.NOP:
            return 0
        if wr.length > MAX_MESSAGE:
            return CQE_SYN.LOC_LEN
        if not wr.is_inline and wr.length and not key_ok(self.top.regions, wr.lkey, wr.laddr, wr.length):
            return CQE_SYN.LOC_PROT
        return 0

    # -- segmenter ------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        """Load a request, or cut one packet."""
        if now == self._last_tick:
            return
        self._last_tick = now
        if self._work is None:
            if self.wq.head(now) is not None:
                self._work = self.wq.pop(now)
                self._done, self._first = 0, True
                self.wake(now + 1)
            return
        halted = bool(self.stop.get(now) or self.top.err.get(now))
        if self._first and (halted or self._work.status or self._work.wr.opcode == WQE.NOP):
            self._without_packets(now, halted)
        elif halted:
            self._end(now)
        else:
            self._cut(now, self._work.wr)

    def _end(self, now: int) -> None:
        self._work = None
        self.wake(now + 1)

    def _without_packets(self, now: int, halted: bool) -> None:
        assert self._work is not None
        if self.table.reserved(now) >= self._sqt_depth:
            return
        wr, status = self._work
        self._enter(now, wr, None, CQE_SYN.WR_FLUSH if halted else status)
        if status:
            self.stop.set(now, True)
        self._end(now)

    def _enter(self, now: int, wr: Wr, last: int | None, status: int) -> None:
        self.table.push(now, Entry(wr.opcode, wr.wqe_index, bool(wr.signaled), last, status))
        self._entries += 1

    def _cut(self, now: int, wr: Wr) -> None:
        left = wr.length - self._done
        size = min(left, self._mtu)
        ends = left <= self._mtu
        fetched = not wr.is_inline and size > 0
        beats = beats_of(size)
        if self._first and self.table.reserved(now) >= self._sqt_depth:
            return
        if self.packets.reserved(now) >= self._pkt_depth or self._psn - self.top.una.get(now) >= HALF - 1:
            return
        if fetched and (
            self._reserved - self.freed.get(now) + beats_of(self._mtu) > self._txb_beats
            or self.fetches.reserved(now) >= self._rdq_depth
        ):
            return
        if self._first:
            self._enter(now, wr, self._psn + max(1, -(-wr.length // self._mtu)) - 1, 0)
        send = wr.opcode in (WQE.SEND, WQE.SEND_IMM)
        imm = wr.opcode in (WQE.WRITE_IMM, WQE.SEND_IMM)
        reth = self._first and not send
        self.packets.push(
            now,
            Packet(
                opcode=self._opcode(send, imm, ends), se=int(ends and bool(wr.se) and (send or imm)), ackreq=int(ends),
                psn=self._psn, va=wr.raddr if reth else 0, rkey=wr.rkey if reth else 0,
                dmalen=wr.length if reth else 0, imm=wr.imm if ends and imm else 0,
                size=size, fetched=fetched, entry=self._entries - 1,
            ),
        )  # fmt: skip
        if fetched:
            self.fetches.push(now, Fetch(wr.laddr + self._done, size))
            self.top.reader.expect(wr.laddr + self._done, size)
            self._reserved += beats
        self._psn += 1
        self._done += size
        self._first = False
        if ends:
            self._work = None
        self.wake(now + 1)

    def _opcode(self, send: bool, imm: bool, ends: bool) -> int:
        if self._first and ends:
            kind = (OP.SEND_ONLY, OP.SEND_ONLY_IMM, OP.WRITE_ONLY, OP.WRITE_ONLY_IMM)
        elif self._first:
            kind = (OP.SEND_FIRST, OP.SEND_FIRST, OP.WRITE_FIRST, OP.WRITE_FIRST)
        elif ends:
            kind = (OP.SEND_LAST, OP.SEND_LAST_IMM, OP.WRITE_LAST, OP.WRITE_LAST_IMM)
        else:
            kind = (OP.SEND_MIDDLE, OP.SEND_MIDDLE, OP.WRITE_MIDDLE, OP.WRITE_MIDDLE)
        return int(kind[2 * (not send) + imm])


class ReadIssue(Component):
    """Read addresses, one a cycle: the receive queue's first, then the packets', cut at 4 KiB."""

    PAYLOAD, RECEIVE = 1, 2

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self._depth = figure("ar_depth")
        self.out: Fifo[Read] = Fifo(figure("latency.address"), self._depth, f"{name}.ar")
        self.out.producer = self
        self.receive: Fifo[int] = Fifo(1, 2, f"{name}.receive")
        self.receive.consumer = self
        self._second: tuple[int, int] | None = None
        self._last_tick = -1

    def tick(self, now: int) -> None:
        """Choose an address."""
        if now == self._last_tick or self.out.reserved(now) >= self._depth:
            return
        self._last_tick = now
        fetches = self.top.segmenter.fetches
        if self.receive.head(now) is not None:
            self.out.push(now, Read(self.RECEIVE, self.receive.pop(now), 1))
        elif self._second is not None:
            self.out.push(now, Read(self.PAYLOAD, *self._second))
            self._second = None
            fetches.pop(now)
        elif (fetch := fetches.head(now)) is not None:
            bursts = bursts_of(fetch.addr, fetch.size)
            self.out.push(now, Read(self.PAYLOAD, *bursts[0]))
            if len(bursts) == 2:
                self._second = bursts[1]
            else:
                fetches.pop(now)
        else:
            return
        self.wake(now + 1)


class Reader:
    """Read data to whole payloads. ``whole`` holds (bytes, error) of packets, in order."""

    def __init__(self, name: str) -> None:
        self.whole: Fifo[tuple[bytes, bool]] = Fifo(figure("latency.whole"), None, f"{name}.whole")
        self._flush = figure("latency.flush")
        self._expected: deque[tuple[int, int]] = deque()
        self._lines: list[bytes] = []
        self._bad = False

    def expect(self, addr: int, size: int) -> None:
        """A packet's payload will come from ``addr``."""
        self._expected.append((addr, size))

    def take(self, now: int, beat: ReadBeat) -> None:
        """A payload beat at ``now``."""
        self._lines.append(beat.data)
        self._bad |= beat.resp != 0
        addr, size = self._expected[0]
        lines = lines_of(addr, size)
        if len(self._lines) == lines:
            skip = addr % BEAT
            # the last line can still owe a beat of output: one step more
            extra = self._flush if lines == beats_of(size) else 0
            self.whole.push(now, (b"".join(self._lines)[skip : skip + size], self._bad), extra)
            self._expected.popleft()
            self._lines, self._bad = [], False


class Transmit(Component):
    """Packets to the wire: acknowledgements first, then requests with whole payload."""

    def __init__(self, kernel: Kernel, name: str, top: Rdma) -> None:
        super().__init__(kernel, name)
        self.top = top
        self._depth = figure("out_depth")
        self.out: Fifo[Beat] = Fifo(figure("latency.emit"), self._depth, f"{name}.m_pkt")
        self.out.producer = self
        top.segmenter.packets.consumer = self
        top.reader.whole.consumer = self
        top.answers.consumer = self
        self.bad: Reg[int | None] = Reg(None)  # entry whose payload could not be read
        self.acks, self.naks = Reg(0), Reg(0)
        self._beats: deque[Beat] = deque()  # of the packet under way
        self._packet: Packet | None = None
        self._last_tick = -1

    def tick(self, now: int) -> None:
        """Put one beat out."""
        if now == self._last_tick or self.out.reserved(now) >= self._depth:
            return
        self._last_tick = now
        if self._packet is not None:
            self._next(now)
        elif self.top.answers.head(now) is not None:
            self._answer(now)
        else:
            self._start(now)

    def _answer(self, now: int) -> None:
        a = self.top.answers.take(now)
        count = self.naks if a.is_nak else self.acks
        count.set(now, count.get(now) + 1 & 0xFFFF)
        if a.is_nak:
            self.top.nak_busy.set(now, False)
        hdr = self._header(opcode=OP.ACKNOWLEDGE, psn=a.psn, syndrome=a.syndrome, msn=a.msn)
        self.out.push(now, Beat(b"", True, hdr))
        self.wake(now + 1)

    def _header(self, **fields: int) -> Hdr:
        c = self.top.cfg
        return Hdr(dst=c.dst, src=c.src, pkey=c.pkey, dest_qp=c.dest_qpn, **fields)

    def _start(self, now: int) -> None:
        p = self.top.segmenter.packets.head(now)
        if p is None or self.top.err.get(now) or self.bad.get(now) is not None:
            return
        data = b""
        if p.fetched:
            whole = self.top.reader.whole.head(now)
            if whole is None:
                return
            if whole[1]:
                self.bad.set(now, p.entry)
                return
            data, _ = self.top.reader.whole.pop(now)
        hdr = self._header(
            opcode=p.opcode, se=p.se, ackreq=p.ackreq, psn=p.psn & M24, va=p.va, rkey=p.rkey, dmalen=p.dmalen,
            imm=p.imm, len=p.size,
        )  # fmt: skip
        n = max(1, beats_of(p.size))
        self._beats = deque(Beat(data[i * BEAT : (i + 1) * BEAT], i == n - 1, hdr) for i in range(n))
        self._packet = p
        self.top.tracker.sent(now, p.psn, bool(p.ackreq))
        self._next(now)

    def _next(self, now: int) -> None:
        p = self._packet
        assert p is not None
        beat = self._beats.popleft()
        segmenter = self.top.segmenter
        if p.fetched:
            segmenter.freed.set(now, segmenter.freed.get(now) + 1)
        elif p.size:
            beat = beat._replace(data=segmenter.inline.pop(now))
        self.out.push(now, beat)
        if beat.last:
            segmenter.packets.pop(now)
            self._packet = None
        self.wake(now + 1)
