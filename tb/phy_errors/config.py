# SPDX-License-Identifier: Apache-2.0
"""Files of the bench module ``phy_errors_play`` from a :class:`models.phy_errors.PhyErrors`."""

from __future__ import annotations

from collections.abc import Sequence

from models.phy_errors import ON_FROM, PhyErrors
from tb.common.beats import LAST, Records, StreamFormat

CFG_W = 2 + 12 + 64 + 64 + 31 * 64
FAULT = StreamFormat(4)
"""Format of the players <NAME>_fault and <NAME>_cut."""


def errors_cfg(errors: PhyErrors) -> int:
    """Value of <NAME>.cfg, CFG_W bits. ``on_from`` is ON_FROM; any later one means never."""
    if errors.on_from < ON_FROM:
        raise ValueError(f"on_from is {errors.on_from}; the bench switches on at {ON_FROM}")
    value = int(errors.on_from == ON_FROM)
    value = value << 1 | int(errors.kp4)
    value = value << 12 | errors.burst_len
    value = value << 64 | errors.burst_thr
    value = value << 64 | errors.seed
    thr = [*errors.thr, *[0] * (31 - len(errors.thr))]
    return value << 31 * 64 | sum(int(t) << 64 * n for n, t in enumerate(thr))


def timed_beats(rows: Sequence[tuple[int, int]]) -> Records:
    """Play records of <NAME>_fault (one a cycle at most) or <NAME>_cut: (cycle, value)."""
    out = FAULT.empty(len(rows))
    out["cycle"] = [c for c, _ in rows]
    out["data"][:, 0] = [v for _, v in rows]
    out["keep"][:, 0] = 15
    out["flags"] = LAST
    return out


def errors_plays(name: str, errors: PhyErrors) -> dict[str, Records]:
    """Play files of the module called ``name``, for ``PhaseItem.plays``."""
    return {f"{name}_fault": timed_beats(errors.faults), f"{name}_cut": timed_beats(errors.cuts)}
