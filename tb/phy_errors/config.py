# SPDX-License-Identifier: Apache-2.0
"""Files of a bench's ``phy_errors`` from a :class:`models.phy_errors.PhyErrors`."""

from __future__ import annotations

from collections.abc import Sequence

from models.phy_errors import PhyErrors
from tb.common.beats import LAST, Records, StreamFormat

CFG_W = 2 + 12 + 4 * 64
THR_W = 31 * 64
LEVEL = StreamFormat(4)
"""Format of the players of faults, cuts and cfg_on."""


def errors_cfg(errors: PhyErrors) -> int:
    """{repeat_thr, lose_thr, burst_len, burst_thr, seed, kp4, on}, CFG_W bits."""
    value = errors.repeat_thr << 64 | errors.lose_thr
    value = (value << 12 | errors.burst_len) << 64 | errors.burst_thr
    return (value << 64 | errors.seed) << 2 | int(errors.kp4) << 1 | int(errors.on)


def errors_thr(errors: PhyErrors) -> int:
    """The 31 thresholds, the first lowest, THR_W bits."""
    return sum(int(t) << 64 * n for n, t in enumerate(errors.thr))


def timed_beats(rows: Sequence[tuple[int, int]]) -> Records:
    """Play records of (cycle, value): a fault (one a cycle at most), or a level from that cycle on."""
    out = LEVEL.empty(len(rows))
    out["cycle"] = [c for c, _ in rows]
    out["data"][:, 0] = [v for _, v in rows]
    out["keep"][:, 0] = 15
    out["flags"] = LAST
    return out
