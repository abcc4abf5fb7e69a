# SPDX-License-Identifier: Apache-2.0
"""Send queue entries, doorbells and doorbell records in mlx5 layout (rdma-core providers/mlx5).

A WQE is made of 64-byte blocks (``BLOCK``) of 16-byte units (``UNIT``), all fields big-endian: a control
segment, for RDMA WRITE a remote address segment, then nothing, one data segment or one inline segment.
Lengths are bytes; indexes count blocks modulo 2^16. Builders raise ValueError on values that have no
encoding; :func:`decode` never raises: what is malformed becomes a work request with an error.
"""

from __future__ import annotations

import struct

from models.protocol import CQE_SYN, WQE, Wr
from models.spec import spec

BLOCK = 64
UNIT = 16
MAX_BLOCKS = spec().integer("wqe.max_bb")
INLINE = 1 << 31
MAX_LENGTH = 1 << 31
CE_ALWAYS = 2 << 2  # completion mode "always", bits 3:2 of fm_ce_se
SE = 1 << 1
# those that block doorbell knows; the send queues' block knows more (models/sq_decode.py)
KNOWN = (WQE.NOP, WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM)
WRITES = frozenset({WQE.WRITE, WQE.WRITE_IMM})
IMMEDIATES = frozenset({WQE.WRITE_IMM, WQE.SEND_IMM})
IBGDA_DS = 0  # a GPU's doorbell leaves opcode and DS at zero


def block_count(ds: int) -> int:
    """Blocks that a WQE of ``ds`` units takes; a DS of 0 counts as one block."""
    return max(1, -(-ds * UNIT // BLOCK))


def control(index: int, opcode: int, qpn: int, ds: int, flags: int = 0, imm: int = 0, opmod: int = 0) -> bytes:
    """Control segment, 16 bytes. ``flags`` is the fm_ce_se byte; ``imm`` as it goes on the wire."""
    head = opmod << 24 | (index & 0xFFFF) << 8 | opcode
    return struct.pack(">IIBBBBI", head, qpn << 8 | ds, 0, 0, 0, flags, imm)


def remote(raddr: int, rkey: int) -> bytes:
    """Remote address segment, 16 bytes."""
    return struct.pack(">QII", raddr, rkey, 0)


def pointer(length: int, lkey: int, laddr: int) -> bytes:
    """Data segment, 16 bytes; 2^31 bytes are written as 0."""
    if not 1 <= length <= MAX_LENGTH:
        raise ValueError(f"length is {length}; allowed in a data segment: 1..{MAX_LENGTH} bytes")
    return struct.pack(">IIQ", length & (MAX_LENGTH - 1), lkey, laddr)


def inline_segment(data: bytes) -> bytes:
    """Inline segment: 4 bytes of header, ``data``, zeros up to a whole unit."""
    raw = struct.pack(">I", INLINE | len(data)) + data
    return raw + bytes(-len(raw) % UNIT)


def max_inline(opcode: int) -> int:
    """Most bytes of inline data with ``opcode``."""
    return MAX_BLOCKS * BLOCK - UNIT * (2 if opcode in WRITES else 1) - 4


def build(
    opcode: int, index: int, qpn: int, *, raddr: int = 0, rkey: int = 0, length: int = 0, laddr: int = 0,
    lkey: int = 0, inline: bytes | None = None, imm: int = 0, signaled: bool = True, se: bool = False,
) -> bytes:  # fmt: skip
    """A whole WQE, zero up to whole blocks. ``inline`` data, or ``length`` bytes at ``laddr`` (0: no segment)."""
    body = remote(raddr, rkey) if opcode in WRITES else b""
    if inline is not None:
        if len(inline) > max_inline(opcode):
            raise ValueError(f"inline data has {len(inline)} bytes; allowed: 0..{max_inline(opcode)}")
        body += inline_segment(inline)
    elif length:
        body += pointer(length, lkey, laddr)
    ds = 1 + len(body) // UNIT
    flags = (CE_ALWAYS if signaled else 0) | (SE if se else 0)
    wqe = control(index, opcode, qpn, ds, flags, imm) + body
    return wqe + bytes(-len(wqe) % BLOCK)


def doorbell(wqe: bytes) -> bytes:
    """What a CPU stores to the UAR for ``wqe``: its first 8 bytes."""
    return wqe[:8]


def gpu_doorbell(next_index: int, qpn: int) -> bytes:
    """What a GPU stores to the UAR (IBGDA): the next index, opcode and DS zero."""
    return struct.pack(">II", (next_index & 0xFFFF) << 8, qpn << 8 | IBGDA_DS)


def record(send: int, receive: int = 0) -> bytes:
    """Doorbell record, 8 bytes: receive counter, send counter."""
    return struct.pack(">II", receive & 0xFFFF, send & 0xFFFF)


def record_send(line: bytes, addr: int) -> int:
    """Send counter of the record at byte address ``addr`` in the 64-byte ``line`` that holds it."""
    at = addr % BLOCK
    return int.from_bytes(line[at + 4 : at + 8], "big") & 0xFFFF


class Head:
    """First 8 bytes of a control segment: ``index``, ``opcode``, ``qpn``, ``ds``."""

    __slots__ = ("ds", "index", "opcode", "qpn")

    def __init__(self, raw: bytes) -> None:
        first, second = struct.unpack_from(">II", raw)
        self.index: int = first >> 8 & 0xFFFF
        self.opcode: int = first & 0xFF
        self.qpn: int = second >> 8
        self.ds: int = second & 0x3F

    @property
    def blocks(self) -> int:
        """Blocks of the WQE, 0 when DS is 0."""
        return -(-self.ds * UNIT // BLOCK)


def refused(opcode: int, index: int) -> Wr:
    """Work request for a WQE that cannot be executed."""
    return Wr(opcode=opcode, wqe_index=index, error=CQE_SYN.LOC_QP_OP)


def decode(data: bytes, index: int, qpn: int) -> tuple[Wr, bytes]:
    """Work request and inline data of the WQE ``data`` (whole blocks) found at ``index`` of queue ``qpn``.

    Checks, all answered by LOC_QP_OP: index and queue of the control segment, opcode, DS against the
    segments present, at most one data or inline segment, inline data within the WQE.
    """
    head = Head(data)
    wrong = refused(head.opcode, index), b""
    if head.index != index or head.qpn != qpn or head.opcode not in KNOWN:
        return wrong
    out = Wr(opcode=head.opcode, wqe_index=index, signaled=data[11] >> 3 & 1, se=data[11] >> 1 & 1)
    if head.opcode == WQE.NOP:
        return (out, b"") if head.ds == 1 else wrong
    if head.ds > MAX_BLOCKS * BLOCK // UNIT:
        return wrong
    if head.opcode in IMMEDIATES:
        out.imm = int.from_bytes(data[12:16], "big")
    at = UNIT
    if head.opcode in WRITES:
        out.raddr, out.rkey = struct.unpack_from(">QI", data, at)
        at += UNIT
    units = head.ds - at // UNIT
    if units < 0:
        return wrong
    if units == 0:
        return out, b""
    count, key, addr = struct.unpack_from(">IIQ", data, at)
    if count & INLINE:
        size = count & ~INLINE
        if -(-(4 + size) // UNIT) != units:
            return wrong
        out.is_inline, out.length = 1, size
        return out, data[at + 4 : at + 4 + size]
    if units != 1:
        return wrong
    out.length = count or MAX_LENGTH
    out.lkey, out.laddr = key, addr
    return out, b""
