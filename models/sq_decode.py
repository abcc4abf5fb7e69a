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
KNOWN = frozenset(WQE)
ATOMIC_UNITS = 4


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
    first, second = struct.unpack_from(">II", data)
    opcode, ds = first & 0xFF, second & 0x3F
    has_remote = opcode in WITH_REMOTE
    units = ds - 1 - has_remote
    wrong = refused(qpn, opcode, index), b""
    if opcode not in KNOWN or first >> 8 & 0xFFFF != index or second >> 8 != qpn or units < 0 or ds > MAX_UNITS:
        return wrong
    flags = data[11]
    out = SqWr(
        qpn=qpn, opcode=opcode, wqe_index=index, blocks=(ds + 3) >> 2,
        fence=flags >> 5, ce=flags >> 2 & 3, se=flags >> 1 & 1,
    )  # fmt: skip
    if opcode == WQE.NOP:
        return wrong if units else (out, b"")
    if opcode in WITH_IMM:
        out.imm = int.from_bytes(data[12:16], "big")
    at = UNIT
    if has_remote:
        out.raddr, out.rkey = struct.unpack_from(">QI", data, at)
        at += UNIT
    if opcode in ATOMICS:
        if ds != ATOMIC_UNITS:
            return wrong
        out.swap_add, out.compare = struct.unpack_from(">QQ", data, at)
        at += UNIT
        units -= 1
    if units and data[at] >> 7:
        size = int.from_bytes(data[at : at + 4], "big") & ~INLINE
        if opcode == WQE.READ or opcode in ATOMICS or (4 + size + UNIT - 1) // UNIT != units:
            return wrong
        out.is_inline, out.length = 1, size
        return out, data[at + 4 : at + 4 + size]
    pointers = [struct.unpack_from(">IIQ", data, at + UNIT * i) for i in range(units)]
    if any(count & INLINE for count, _, _ in pointers) or (opcode in ATOMICS and pointers[0][0] != ATOMIC_BYTES):
        return wrong
    length = sum(count or LONGEST for count, _, _ in pointers)
    if length > LONGEST:
        return refused(qpn, opcode, index, CQE_SYN.LOC_LEN), b""
    if any(key == RESERVED_LKEY for _, key, _ in pointers):
        return refused(qpn, opcode, index, CQE_SYN.LOC_PROT), b""
    out.length, out.sges = length, units
    if units:
        _, out.lkey, out.laddr = pointers[0]
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
