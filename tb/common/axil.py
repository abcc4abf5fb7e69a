# SPDX-License-Identifier: Apache-2.0
"""Files of tb/hdl/axil_player.sv: accesses to play, and the answers that were recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.register_file import Access, Answer
from tb.common.beats import Records

_ACCESS = np.dtype([("cycle", "<u4"), ("addr", "<u4"), ("data", "<u4"), ("how", "<u4")])
ANSWER = np.dtype([("cycle", "<u4"), ("how", "<u4"), ("addr", "<u4"), ("data", "<u4")])
"""``how``: kind (1 write, 2 read) and, from bit 2 on, the response."""


def access_file(accesses: Sequence[Access]) -> Records:
    """Records of ``<NAME>.axil``."""
    out = np.zeros(len(accesses), _ACCESS)
    for i, a in enumerate(accesses):
        out[i] = (a.cycle, a.addr, a.data, a.kind | a.strb << 4 | a.a_late << 8 | a.w_late << 16 | a.hold << 24)
    return out


def answer_rows(answers: Sequence[Answer]) -> Records:
    """Records of ``<NAME>.rec`` that the answers must be."""
    out = np.zeros(len(answers), ANSWER)
    for i, a in enumerate(answers):
        out[i] = (a.cycle, a.kind | a.resp << 2, a.addr, a.data)
    return out
