# SPDX-License-Identifier: Apache-2.0
"""Formats, memory windows and counters of the completion queues' bench."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.cq_engine import Cq, Event
from models.memory import Windows
from models.protocol import CqCtx, CqIn
from tb.common.beats import StreamFormat

IN = StreamFormat(4, CqIn.width(), CqIn.pack)
CTX = StreamFormat(4, CqCtx.width() + 10)  # side: entry (10 bits), cq_ctx_t
ARM = StreamFormat(4, 76)  # side: page (12 bits), {arm word, cqn}
DONE = StreamFormat(4)  # data: dma_done from this cycle on


def _event(e: Event) -> int:
    return e.cqn << 1 | e.error


EV = StreamFormat(4, 25, _event)
STATUS_BITS = 32 * len(Cq.COUNTERS)
GPU_BASE = 0x1000_0000  # a ring of 2^22 entries begins in one window and ends in the other
WINDOWS = Windows(host_bytes=24576 * 64, gpu_base=GPU_BASE, gpu_bytes=24576 * 64)


def counters(value: Any) -> dict[str, int]:
    """Status vector by counter."""
    word = int.from_bytes(np.asarray(value, "<u4").tobytes(), "little")
    return {n: word >> 32 * (len(Cq.COUNTERS) - 1 - i) & 0xFFFFFFFF for i, n in enumerate(Cq.COUNTERS)}
