# SPDX-License-Identifier: Apache-2.0
"""Formats, memory windows and counters of the send queues' bench (tb_sq)."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.memory import Windows
from models.protocol import SqCtx, SqWr
from tb.common.beats import StreamFormat

CTX = StreamFormat(-(-SqCtx.width() // 32) * 4, 12)  # data: the entry; side: its number
AW = StreamFormat(4, 36)  # side: beats - 1 (8 bits), write ID (4), page (12), offset (12)
W = StreamFormat()  # keep: the strobes
B = StreamFormat(4, 6)  # side: write ID, response (2 bits)
WR = StreamFormat(64, SqWr.width(), SqWr.pack)
WATCH = StreamFormat(4)  # data: tb/sq/watch.py
ARM_BITS = 77  # valid, page (12), 8 bytes
LINES = 131072  # of each window of tb_sq; in the middle of both lies a border of 4 MiB
HOST, GPU = 0, (1 << 32) - 32 * LINES
WINDOWS = Windows(host_base=HOST, host_bytes=LINES * 64, gpu_base=GPU, gpu_bytes=LINES * 64)
COUNTERS = ("doorbells", "blueflame", "refused", "torn", "fetched", "discarded", "record_behind", "halted")


def counters(value: Any) -> dict[str, int]:
    """Counters by name from their vector."""
    word = int.from_bytes(np.asarray(value, "<u4").tobytes(), "little")
    return {n: word >> 32 * (len(COUNTERS) - 1 - i) & 0xFFFFFFFF for i, n in enumerate(COUNTERS)}
