# SPDX-License-Identifier: Apache-2.0
"""Golden model of the ``wire`` block: packet to frame, frame to packet, and the cycles of both.

- :func:`build_frame` and :func:`parse_frame` give the bytes: native (LRH BTH .. ICRC VCRC) and RoCEv2
  over IPv4 (Ethernet IPv4 UDP BTH .. ICRC FCS). InfiniBand vol. 1, ch. 7 and 9, and annex A17.
- :class:`WireTx` and :class:`WireRx` give the cycles, from the rules in docs/architecture.md and the
  figures of ``latency.wire`` in the spec.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from models.crc import crc32, icrc_native, icrc_roce, vcrc
from models.kernel import Beat, Component, Fifo, Kernel
from models.protocol import Hdr, WireCfg
from models.spec import spec

BEAT = 64
UDP_PORT = 4791
ETH_MIN = 60  # bytes of a frame before the FCS

IMM_OPCODES = frozenset((0x03, 0x05, 0x09, 0x0B))
RETH_OPCODES = frozenset((0x06, 0x0A, 0x0B, 0x0C))
AETH_OPCODES = frozenset((0x0D, 0x0F, 0x10, 0x11, 0x12))

GOOD, DROP_FCS, DROP_FORMAT, DROP_ICRC = "good", "drop_fcs", "drop_format", "drop_icrc"


def split(data: bytes) -> list[bytes]:
    """``data`` in beats of 64 bytes; no data is one empty beat."""
    return [data[i : i + BEAT] for i in range(0, len(data), BEAT)] or [b""]


def extended_length(opcode: int) -> int:
    """Bytes of the extended headers that follow the BTH; 0 for opcodes outside the slice."""
    return 16 * (opcode in RETH_OPCODES) + 4 * (opcode in IMM_OPCODES) + 4 * (opcode in AETH_OPCODES)


def header_length(opcode: int, roce: bool) -> int:
    """Bytes before the payload."""
    return (42 if roce else 8) + 12 + extended_length(opcode)


def _transport(h: Hdr) -> bytes:
    pad = -h.len % 4
    bth = bytes((h.opcode, h.se << 7 | h.mig << 6 | pad << 4)) + h.pkey.to_bytes(2, "big")
    bth += bytes((h.fecn << 7 | h.becn << 6,)) + h.dest_qp.to_bytes(3, "big")
    bth += bytes((h.ackreq << 7,)) + h.psn.to_bytes(3, "big")
    if h.opcode in RETH_OPCODES:
        bth += h.va.to_bytes(8, "big") + h.rkey.to_bytes(4, "big") + h.dmalen.to_bytes(4, "big")
    if h.opcode in AETH_OPCODES:
        bth += bytes((h.syndrome,)) + h.msn.to_bytes(3, "big")
    if h.opcode in IMM_OPCODES:
        bth += h.imm.to_bytes(4, "big")
    return bth


def _ipv4_checksum(header: bytes) -> int:
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def build_head(h: Hdr, cfg: WireCfg) -> bytes:
    """The frame's bytes before the payload, of a packet with ``h.len`` payload bytes (0..4096)."""
    transport = _transport(h)
    after = len(transport) + h.len + -h.len % 4 + 4  # BTH to ICRC
    if not cfg.roce:
        lrh = bytes((cfg.vl << 4, cfg.sl << 4 | 2)) + (h.dst & 0xFFFF).to_bytes(2, "big")
        lrh += ((8 + after) // 4).to_bytes(2, "big") + (h.src & 0xFFFF).to_bytes(2, "big")
        return lrh + transport
    ip = bytes((0x45, cfg.tos)) + (28 + after).to_bytes(2, "big") + b"\0\0\x40\0" + bytes((cfg.ttl, 17))
    addresses = h.src.to_bytes(4, "big") + h.dst.to_bytes(4, "big")
    ip = ip + _ipv4_checksum(ip + b"\0\0" + addresses).to_bytes(2, "big") + addresses
    udp = cfg.udp_sport.to_bytes(2, "big") + UDP_PORT.to_bytes(2, "big") + (8 + after).to_bytes(2, "big") + b"\0\0"
    return cfg.dmac.to_bytes(6, "big") + cfg.smac.to_bytes(6, "big") + b"\x08\0" + ip + udp + transport


def build_frame(h: Hdr, payload: bytes, cfg: WireCfg) -> bytes:
    """The whole frame of a packet, CRCs included. ``len(payload)`` must be ``h.len``, 0..4096."""
    if len(payload) != h.len:
        raise ValueError(f"payload has {len(payload)} bytes, the header says {h.len}")
    frame = build_head(h, cfg) + payload + bytes(-h.len % 4)
    if not cfg.roce:
        frame += icrc_native(frame)
        return frame + vcrc(frame)
    frame += icrc_roce(frame[14:])
    frame = frame.ljust(ETH_MIN, b"\0")
    return frame + crc32(frame)


def _native_span(frame: bytes) -> tuple[bool, int, tuple[int, ...]]:
    """(format right, where the ICRC ends, frame lengths allowed) of a native frame."""
    words = (frame[4] & 7) << 8 | frame[5]
    return frame[0] & 0xF == 0 and frame[1] & 3 == 2, 4 * words, (4 * words + 2,)


def _roce_span(frame: bytes) -> tuple[bool, int, tuple[int, ...]]:
    """The same of a RoCEv2 frame; Ethernet may have padded it to 60 bytes before the FCS."""
    ip_len = int.from_bytes(frame[16:18], "big")
    ok = frame[12:14] == b"\x08\0" and frame[14] == 0x45 and frame[23] == 17
    ok = ok and int.from_bytes(frame[36:38], "big") == UDP_PORT
    ok = ok and int.from_bytes(frame[38:40], "big") == ip_len - 20 and ip_len % 4 == 0
    end = 14 + ip_len
    return ok, end, (end + 4, max(end, ETH_MIN) + 4)


def _fields(frame: bytes, roce: bool) -> Hdr:
    at = 42 if roce else 8
    h = Hdr(opcode=frame[at], se=frame[at + 1] >> 7, mig=frame[at + 1] >> 6 & 1)
    h.pkey = int.from_bytes(frame[at + 2 : at + 4], "big")
    h.fecn, h.becn = frame[at + 4] >> 7, frame[at + 4] >> 6 & 1
    h.dest_qp = int.from_bytes(frame[at + 5 : at + 8], "big")
    h.ackreq = frame[at + 8] >> 7
    h.psn = int.from_bytes(frame[at + 9 : at + 12], "big")
    if roce:
        h.src, h.dst = int.from_bytes(frame[26:30], "big"), int.from_bytes(frame[30:34], "big")
    else:
        h.src, h.dst = int.from_bytes(frame[6:8], "big"), int.from_bytes(frame[2:4], "big")
    ext = at + 12
    if h.opcode in RETH_OPCODES:
        h.va = int.from_bytes(frame[ext : ext + 8], "big")
        h.rkey = int.from_bytes(frame[ext + 8 : ext + 12], "big")
        h.dmalen = int.from_bytes(frame[ext + 12 : ext + 16], "big")
        ext += 16
    if h.opcode in AETH_OPCODES:
        h.syndrome, h.msn = frame[ext], int.from_bytes(frame[ext + 1 : ext + 4], "big")
    if h.opcode in IMM_OPCODES:
        h.imm = int.from_bytes(frame[ext : ext + 4], "big")
    return h


def parse_frame(frame: bytes, roce: bool) -> tuple[str, Hdr, bytes]:
    """(verdict, header, payload) of a frame of any length; the last two only mean something when GOOD.

    Checks in the contract's order: frame CRC, format, ICRC.
    """
    nothing = Hdr(), b""
    tail = 4 if roce else 2
    if len(frame) < tail or (crc32 if roce else vcrc)(frame[:-tail]) != frame[-tail:]:
        return DROP_FCS, *nothing
    at = 42 if roce else 8
    if len(frame) < at + 12:
        return DROP_FORMAT, *nothing
    right, end, lengths = (_roce_span if roce else _native_span)(frame)
    pad, tver = frame[at + 1] >> 4 & 3, frame[at + 1] & 0xF
    start = header_length(frame[at], roce)
    size = end - 4 - pad - start
    limit = spec().integer("frame.max_beats") * BEAT
    if not right or tver or len(frame) not in lengths or len(frame) > limit:
        return DROP_FORMAT, *nothing
    if not 0 <= size <= spec().integer("frame.max_mtu"):
        return DROP_FORMAT, *nothing
    covered = frame[14 : end - 4] if roce else frame[: end - 4]
    if (icrc_roce if roce else icrc_native)(covered) != frame[end - 4 : end]:
        return DROP_ICRC, *nothing
    h = _fields(frame, roce)
    h.len = size
    return GOOD, h, frame[start : start + size]


class WireTx(Component):
    """Packet beats in, frame beats out.

    The producer asks :meth:`ready` and, when both it and the producer are ready, hands the beat over
    with :meth:`accept` in the same cycle; the first beat's ``side`` is the :class:`Hdr`. Frame beats
    come out of ``out``.

    Each frame beat takes one slot (cycle) of the pipeline: that of the payload beat that holds its
    last payload byte. Slots behind the last payload beat, and one behind the first when the headers
    fill more than a beat, are the block's own: :meth:`ready` is False there.
    """

    def __init__(self, kernel: Kernel, name: str, cfg: WireCfg) -> None:
        super().__init__(kernel, name)
        self._cfg = cfg
        self.out: Fifo[Beat] = Fifo(spec().cycles("latency.wire.tx"), name=f"{name}.out")
        self._room = spec().integer("latency.wire.tx_fifo_beats") - spec().integer("frame.max_beats")
        self._free = 1  # first cycle that is not the block's own; s_pkt_tready leaves reset low
        self._hdr: Hdr | None = None
        self._payload = bytearray()
        self._head = b""
        self._sent = 0  # frame beats with a slot

    def ready(self, now: int) -> bool:
        """True when ``s_pkt_tready`` is high at ``now``."""
        return now >= self._free and (self._hdr is not None or self.out.reserved(now) <= self._room)

    def accept(self, now: int, beat: Beat) -> None:
        """Take ``beat`` at ``now``; raises RuntimeError when the block is not ready for it."""
        if not self.ready(now):
            raise RuntimeError(f"{self.name}: beat accepted at {now} while not ready")
        slots = 1
        if self._hdr is None:
            if not isinstance(beat.side, Hdr):
                raise RuntimeError(f"{self.name}: first beat at {now} carries no header")
            self._hdr, self._payload, self._sent = beat.side, bytearray(), 0
            self._head = build_head(self._hdr, self._cfg)
            slots += len(self._head) > BEAT
        self._payload += beat.data
        if beat.last:
            frame = build_frame(self._hdr, bytes(self._payload), self._cfg)
            self._hdr = None
            beats = split(frame)[self._sent :]
        else:
            so_far = self._head + self._payload
            at = self._sent * BEAT
            beats = [bytes(so_far[i : i + BEAT]) for i in range(at, at + slots * BEAT, BEAT)]
        for i, data in enumerate(beats):
            self.out.push(now, Beat(data, beat.last and i == len(beats) - 1), extra=i)
        self._sent += len(beats)
        self._free = now + len(beats)

    def tick(self, now: int) -> None:
        """Nothing happens by itself."""


class _PacketFifo(Fifo[Beat]):
    """Tells when a packet's last beat is taken."""

    def __init__(self, latency: int, name: str, left: Callable[[int], None]) -> None:
        super().__init__(latency, name=name)
        self._left = left

    def pop(self, now: int) -> Beat:
        """Take the oldest beat at ``now``."""
        beat = super().pop(now)
        if beat.last:
            self._left(now)
        return beat


class WireRx(Component):
    """Frame beats in, packet beats out.

    :meth:`accept` takes a frame beat at its cycle; there is no stall. Packet beats come out of ``out``;
    a packet's first beat has its :class:`Hdr` as ``side``. ``on_free(now, n)`` is called at each cycle in
    which ``free_cells`` is n > 0. ``counts`` has the frames by verdict, ``verdicts`` each one's with the
    cycle at which its counter shows it.
    """

    def __init__(
        self, kernel: Kernel, name: str, cfg: WireCfg, on_free: Callable[[int, int], None] = lambda now, n: None
    ) -> None:
        super().__init__(kernel, name)
        self._roce = bool(cfg.roce)
        self.on_free = on_free
        self.out: Fifo[Beat] = _PacketFifo(spec().cycles("latency.wire.rx"), f"{name}.out", self._leave)
        self.counts = dict.fromkeys((GOOD, DROP_FCS, DROP_FORMAT, DROP_ICRC), 0)
        self.verdicts: list[tuple[int, str]] = []
        self._drop_latency = spec().cycles("latency.wire.rx_drop")
        self._free_latency = spec().cycles("latency.wire.rx_free")
        self._max_beats = spec().integer("frame.max_beats")
        self._frame = bytearray()
        self._beats = 0
        self._cells: deque[int] = deque()  # of the packets in ``out``
        self._freed: dict[int, int] = {}  # cycle -> cells

    def accept(self, now: int, beat: Beat) -> None:
        """Take frame beat ``beat`` at ``now``."""
        self._frame += beat.data
        self._beats += 1
        if self._beats > self._max_beats:
            self._give_back(now + self._drop_latency, 1)
        if not beat.last:
            return
        verdict, h, payload = parse_frame(bytes(self._frame), self._roce)
        self.counts[verdict] += 1
        self.verdicts.append((now + self._drop_latency, verdict))
        cells = min(self._beats, self._max_beats)
        self._frame, self._beats = bytearray(), 0
        if verdict != GOOD:
            self._give_back(now + self._drop_latency, cells)
            return
        self._cells.append(cells)
        beats = split(payload)
        for i, data in enumerate(beats):
            self.out.push(now, Beat(data, i == len(beats) - 1, None if i else h))

    def _leave(self, now: int) -> None:
        self._give_back(now + self._free_latency, self._cells.popleft())

    def _give_back(self, cycle: int, cells: int) -> None:
        self._freed[cycle] = self._freed.get(cycle, 0) + cells
        self.wake(cycle)

    def tick(self, now: int) -> None:
        """Report the cells given back at ``now``."""
        if now in self._freed:
            self.on_free(now, self._freed.pop(now))
