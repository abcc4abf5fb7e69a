# SPDX-License-Identifier: Apache-2.0
"""Frames and memory writes as coverage reads them: quickly, and only those that are known to be well formed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models import cqe
from models.protocol import OP, Hdr
from tb.common.beats import Frame, Records
from tb.rdma.coverage_view import Packet

RETH = (OP.WRITE_FIRST, OP.WRITE_ONLY, OP.WRITE_ONLY_IMM, OP.READ_REQUEST)
IMMEDIATE = (OP.SEND_LAST_IMM, OP.SEND_ONLY_IMM, OP.WRITE_LAST_IMM, OP.WRITE_ONLY_IMM)
AETH = (OP.ACKNOWLEDGE, OP.READ_RESP_FIRST, OP.READ_RESP_ONLY)
COMPLETION = 3  # ID of completions on a NIC's memory port


@dataclass
class Framed(Packet):
    """A packet and the pad bytes behind its payload."""

    pad: int = 0


def parse(frame: Frame, roce: bool) -> Framed:
    """Packet in a good frame, by offsets: LRH 8, or Ethernet 14, IPv4 20, UDP 8 bytes; then BTH and what follows."""
    raw = frame.data

    def number(at: int, size: int) -> int:
        return int.from_bytes(raw[at : at + size], "big")

    b = 42 if roce else 8
    end = 14 + number(16, 2) - 4 if roce else len(raw) - 6
    h = Hdr(dst=number(30, 4), src=number(26, 4)) if roce else Hdr(dst=number(2, 2), src=number(6, 2))
    h.opcode, h.se, pad, h.pkey = raw[b], raw[b + 1] >> 7, raw[b + 1] >> 4 & 3, number(b + 2, 2)
    h.dest_qp, h.ackreq, h.psn = number(b + 5, 3), raw[b + 8] >> 7, number(b + 9, 3)
    at = b + 12
    if h.opcode in RETH:
        h.va, h.rkey, h.dmalen = number(at, 8), number(at + 8, 4), number(at + 12, 4)
        at += 16
    if h.opcode in AETH:
        h.syndrome, h.msn = raw[at], number(at + 1, 3)
        at += 4
    if h.opcode in IMMEDIATE:
        h.imm = number(at, 4)
        at += 4
    h.len = max(0, end - at - pad)
    return Framed(h, h.len, frame.cycles[0], frame.cycles[-1], pad=pad)


def completions(aw: Records, w: Records) -> list[tuple[int, cqe.Cqe]]:
    """(address, entry) of each completion written, from the records of a NIC's write channels."""
    ids = np.repeat(aw["id"], aw["beats"].astype(np.int64))[: len(w)]
    rows = w[: len(ids)][ids == COMPLETION]
    return [(int(r["addr"]), cqe.parse(r["data"].tobytes())) for r in rows]
