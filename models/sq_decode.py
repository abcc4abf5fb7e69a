# SPDX-License-Identifier: Apache-2.0
"""Decoder of the send queues (docs/sq.md, V1, V2, W1 to W6): WQEs in mlx5 layout to work requests and their beats.

Layouts: rdma-core providers/mlx5 (wqe.h, mlx5dv.h); all fields big-endian, segments of 16 bytes.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from models.kernel import Beat, Fifo
from models.protocol import CQE_SYN, WQE, SqWr
from models.sq_wqe import ATOMIC_BYTES, ATOMICS, WITH_REMOTE
from models.wqe import BLOCK, MAX_BLOCKS, UNIT

MAX_UNITS = 4 * MAX_BLOCKS
INLINE = 1 << 31
LONGEST = 1 << 31
RESERVED_LKEY = 0x100
WITH_IMM = frozenset({WQE.SEND_IMM, WQE.WRITE_IMM, WQE.SEND_INVAL})
ATOMIC_UNITS = 4
NOP, WRONG = int(WQE.NOP), int(CQE_SYN.LOC_QP_OP)
# opcode: has a remote address, is an atomic, has an immediate or key, may be inline
_KINDS = {
    int(op): (op in WITH_REMOTE, op in ATOMICS, op in WITH_IMM, op not in ATOMICS and op != WQE.READ) for op in WQE
}
_WORDS, _REMOTE = struct.Struct(">II"), struct.Struct(">QI")
_ATOMIC, _POINTER = struct.Struct(">QQ"), struct.Struct(">IIQ")


class Work(NamedTuple):
    """A WQE on its way to the decoder: blocks found at index ``start``; ``data`` None: an error of ``opcode``."""

    qpn: int
    start: int
    data: bytes | None
    opcode: int = 0


def refused(qpn: int, opcode: int, index: int, error: int = CQE_SYN.LOC_QP_OP) -> SqWr:
    """Work request of what cannot be executed (W4)."""
    return SqWr(qpn=qpn, opcode=opcode, wqe_index=index, error=error)


def decode(data: bytes, index: int, qpn: int) -> tuple[SqWr, bytes]:
    """Work request of the WQE ``data`` (whole blocks) found at ``index`` of queue ``qpn``, and what its beats carry.

    That is the inline data, or the pointers when they are two or more. Never raises: what is malformed is a work
    request with an error and no data.
    """
    found = _read(data, index, qpn)
    return found if isinstance(found, tuple) else (refused(qpn, data[3], index, found), b"")


def _read(data: bytes, index: int, qpn: int) -> tuple[SqWr, bytes] | int:
    """As :func:`decode`, or the error."""
    first, second = _WORDS.unpack_from(data)
    opcode, ds = first & 0xFF, second & 0x3F
    kind = _KINDS.get(opcode)
    if kind is None or first >> 8 & 0xFFFF != index or second >> 8 != qpn or ds > MAX_UNITS:
        return WRONG
    has_remote, is_atomic, has_imm, may_inline = kind
    units = ds - 1 - has_remote
    if units < 0 or (opcode == NOP and units) or (is_atomic and ds != ATOMIC_UNITS):
        return WRONG
    flags = data[11]
    out = SqWr(
        qpn=qpn, opcode=opcode, wqe_index=index, blocks=ds + 3 >> 2,
        fence=flags >> 5, ce=flags >> 2 & 3, se=flags >> 1 & 1,
    )  # fmt: skip
    if has_imm:
        out.imm = int.from_bytes(data[12:16], "big")
    at = UNIT
    if has_remote:
        out.raddr, out.rkey = _REMOTE.unpack_from(data, at)
        at += UNIT
    if is_atomic:
        out.swap_add, out.compare = _ATOMIC.unpack_from(data, at)
        at += UNIT
        units = 1
    if not units:
        return out, b""
    if data[at] >> 7:
        size = int.from_bytes(data[at : at + 4], "big") & ~INLINE
        if not may_inline or (4 + size + UNIT - 1) // UNIT != units:
            return WRONG
        out.is_inline, out.length = 1, size
        return out, data[at + 4 : at + 4 + size]
    count, out.lkey, out.laddr = _POINTER.unpack_from(data, at)
    if is_atomic and count != ATOMIC_BYTES:
        return WRONG
    length = count or LONGEST
    reserved = out.lkey == RESERVED_LKEY
    for i in range(at + UNIT, at + UNIT * units, UNIT):
        count, key, _ = _POINTER.unpack_from(data, i)
        if count & INLINE:
            return WRONG
        length += count or LONGEST
        reserved |= key == RESERVED_LKEY
    if length > LONGEST:
        return CQE_SYN.LOC_LEN
    if reserved:
        return CQE_SYN.LOC_PROT
    out.length, out.sges = length, units
    return out, data[at : at + UNIT * units] if units > 1 else b""


def beats_of(wr: SqWr, payload: bytes) -> list[Beat]:
    """W6: ``payload`` in pieces of 64 bytes, one empty beat when there is none; ``wr`` beside each."""
    if len(payload) <= BLOCK:
        return [Beat(payload, True, wr)]
    starts = range(0, len(payload), BLOCK)
    return [Beat(payload[i : i + BLOCK], i + BLOCK >= len(payload), wr) for i in starts]


class Decoder:
    """Direct and WQE register, V1 to V3 and the output FIFO: :meth:`step` once a cycle, before those who fill them.

    ``direct`` and ``wqe`` are the two registers as they are after this cycle's take: who fills them in the same
    cycle looks there, the WQE register's filler after the direct one's. A step is a cycle each.
    """

    def __init__(self, wr: Fifo[Beat], depth: int) -> None:
        self._wr = wr
        self._depth = depth
        self.direct: Work | None = None
        self.wqe: Work | None = None
        self._v1: list[Beat] | None = None
        self._v2: list[Beat] | None = None
        self._v3: list[Beat] | None = None
        self._sent = 0  # beats of V3 that have gone
        self._wqe_first = False  # when both hold one: that in the WQE register came first

    def step(self, now: int) -> bool:
        """Evaluate a cycle; True when something moved."""
        did = False
        v3 = self._v3
        if v3 is not None and self._wr.reserved(now) < self._depth:
            self._wr.push(now, v3[self._sent])
            did = True
            self._sent += 1
            if self._sent == len(v3):
                self._v3 = v3 = None
                self._sent = 0
        if self._v2 is not None and v3 is None:
            self._v3, self._v2 = self._v2, None
            did = True
        if self._v1 is not None and self._v2 is None:
            self._v2, self._v1 = self._v1, None
            did = True
        if self._v1 is None:
            work = self._take()
            if work is not None:
                self._v1 = self._beats(work)
                did = True
        return did

    def _take(self) -> Work | None:
        """V1: the one that came first when both hold one."""
        if self.direct is not None and (self.wqe is None or not self._wqe_first):
            direct, self.direct = self.direct, None
            return direct
        wqe, self.wqe = self.wqe, None
        return wqe

    def put_direct(self, work: Work) -> None:
        """B3: the direct register is filled."""
        self.direct = work
        self._wqe_first = self.wqe is not None

    def put_wqe(self, work: Work) -> None:
        """Rules D4 and D6: the WQE register is filled."""
        self.wqe = work
        self._wqe_first = self.direct is None

    @staticmethod
    def _beats(work: Work) -> list[Beat]:
        if work.data is None:
            return beats_of(refused(work.qpn, work.opcode, work.start), b"")
        return beats_of(*decode(work.data, work.start, work.qpn))
