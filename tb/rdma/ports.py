# SPDX-License-Identifier: Apache-2.0
"""Formats, memory windows and status vectors of rdma's benches."""

from __future__ import annotations

from collections.abc import Sequence

from models.memory import Windows
from models.protocol import Hdr, Mr, Wr
from tb.common.beats import StreamFormat

WR = StreamFormat(64, Wr.width(), lambda side: side if isinstance(side, int) else side.pack())
PKT = StreamFormat(64, Hdr.width(), lambda side: side if isinstance(side, int) else side.pack())
LINES = 32768  # each window of tb_rdma
WINDOWS = Windows(host_bytes=LINES * 64, gpu_bytes=LINES * 64)
STATUS = (("qp_state", 3), ("e_psn", 24), ("msn", 24), ("nxt_psn", 24), ("una_psn", 24))
COUNTERS = tuple(
    (f"cnt_{n}", 16) for n in ("drop_admit", "drop_state", "drop_seq", "drop_resp", "acks", "naks", "cqes")
)


def unpack_regions(word: int) -> list[Mr]:
    """The four entries of ``cfg_mr``."""
    width = Mr.width()
    return [Mr.unpack(word >> i * width & (1 << width) - 1) for i in range(4)]


def pack_regions(regions: Sequence[Mr]) -> int:
    """``cfg_mr``: entry 0 in the lowest bits, missing ones not valid."""
    return sum(m.pack() << i * Mr.width() for i, m in enumerate(regions))


def fields_of(word: int, fields: Sequence[tuple[str, int]]) -> dict[str, int]:
    """A status vector's value by port."""
    out: dict[str, int] = {}
    for name, width in reversed(fields):
        out[name] = word & (1 << width) - 1
        word >>= width
    return out


def placed(addr: int, far: int) -> int:
    """Address in the bench's memory: the GPU window is seen at ``far`` too, if that is not 0."""
    inside = far and 0 <= addr - far < WINDOWS.gpu_bytes
    return addr - far + WINDOWS.gpu_base if inside else addr
