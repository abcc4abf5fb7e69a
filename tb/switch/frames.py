# SPDX-License-Identifier: Apache-2.0
"""Frames for the switch: a destination where the format has it, random bytes elsewhere; table entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tb.common.beats import Records, StreamFormat

TABLE = StreamFormat(data_bytes=4)
PREFIX_BITS = {0: 6, 1: 22}  # by cfg roce: bits of a destination above its index


def frame_to(rng: np.random.Generator, roce: int, destination: int, size: int, mark: int = 0) -> bytes:
    """``size`` bytes with ``destination`` (DLID or IPv4 address) in place and ``mark`` in the last four bytes.

    A frame too short for its destination, or for the mark, goes without.
    """
    data = bytearray(rng.bytes(size))
    at, width = (30, 4) if roce else (2, 2)
    if size >= at + width:
        data[at : at + width] = destination.to_bytes(width, "big")
    if size >= at + width + 4:
        data[-4:] = mark.to_bytes(4, "big")
    return bytes(data)


def table_records(entries: Mapping[int, int] | Iterable[tuple[int, int, int]]) -> Records:
    """Play records that write ``{index: port}``, or (index, valid, port), one a cycle from cycle 1 on."""
    rows = [(i, 1, p) for i, p in entries.items()] if isinstance(entries, Mapping) else list(entries)
    out = TABLE.empty(len(rows))
    words = np.array([port << 11 | valid << 10 | index for index, valid, port in rows], "<u4")
    out["cycle"] = np.arange(1, len(rows) + 1)
    out["keep"][:, 0] = 0xF
    out["data"] = words.view(np.uint8).reshape(-1, 4)
    return out


def table_writes(records: Records) -> list[tuple[int, int, int]]:
    """(index, valid, port) of played table writes, in order."""
    words = records["data"].copy().view("<u4").ravel().tolist()
    return [(w & 0x3FF, w >> 10 & 1, w >> 11) for w in words]
