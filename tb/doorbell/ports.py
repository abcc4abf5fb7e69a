# SPDX-License-Identifier: Apache-2.0
"""Formats, memory windows and counters of the doorbell's bench."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.doorbell import Doorbell
from models.memory import Windows
from models.protocol import Wr
from tb.common.beats import StreamFormat

AW = StreamFormat(4, 24)  # side: beats - 1, write ID (4 bits), offset (12 bits)
W = StreamFormat()  # keep: the strobes
B = StreamFormat(4, 6)  # side: write ID, response (2 bits)
WR = StreamFormat(64, Wr.width(), Wr.pack)
LINES = 36864  # host window of tb_doorbell
WINDOWS = Windows(host_bytes=LINES * 64, gpu_bytes=1024 * 64)


def counters(value: Any) -> dict[str, int]:
    """Status vector by counter."""
    word = int.from_bytes(np.asarray(value, "<u4").tobytes(), "little")
    return {n: word >> 32 * (len(Doorbell.COUNTERS) - 1 - i) & 0xFFFFFFFF for i, n in enumerate(Doorbell.COUNTERS)}
