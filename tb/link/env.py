# SPDX-License-Identifier: Apache-2.0
"""Bench of the link: what tb_link has, and the model's answer to the same stimulus as records.

Every beat, control set, level and event of both ends is compared with its cycle. The model gets the stimulus, and of
what was recorded only the number of cycles.
"""

from __future__ import annotations

import numpy as np

from models.protocol import LinkCfg
from tb.common.phase import event_dtype
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords
from tb.link.checks import check
from tb.link.coverage import COVERAGE
from tb.link.model import predict
from tb.link.sequences_strange import SET
from tb.link.shape import CTL_BITS, ENDS, EV_BITS, FEC_BITS, Shape
from tb.link.stimulus import LEVELS, WORD
from tb.phy_errors.config import CFG_W

LINK_BITS = sum(width for _, width in LinkCfg.WIDTHS)
KEPT = 10_000  # tens of frames of a run whose records are kept
CFGS = {"link": LINK_BITS, "core": 1, "size": 16, "err": CFG_W, "thr": 31 * 64}


def widths(lanes: int) -> dict[str, int]:
    """Bits of each event record of an end."""
    return {
        "ctl": CTL_BITS, "sig": 1, "free": lanes * 8, "over": lanes, "credit": lanes * 8, "pausing": lanes,
        "credits": lanes * 16, "up": 1, "state": 2, "reason": 8, "ev": EV_BITS, "fec": FEC_BITS,
    }  # fmt: skip


def rows(s: Shape) -> dict[str, np.dtype[np.void]]:
    """Layouts of all event records."""
    return {f"{x}_{key}.evt": event_dtype(bits) for x in ENDS for key, bits in widths(s.lanes(x)).items()}


def _check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    return check(ctx, phase)


def _observe(ctx: RunContext, phase: PhaseRecords) -> None:
    """Records of a run of millions of frames are not kept: what they had to show was seen."""
    if "volume" in phase.item.info and ctx.option("frames", 200) > KEPT:
        for path in phase.folder.path.iterdir():
            path.unlink()


def plan(ctx: RunContext) -> BenchPlan:
    """The bench of a run's link."""
    s = Shape.of(ctx)
    return BenchPlan(
        plays={f"{x}_s": s.axis for x in ENDS}
        | {f"{x}_{k}": WORD for x in ENDS for k in (*LEVELS, "fault")}
        | {f"{x}_foreign": SET for x in ENDS},
        streams={f"{x}_{k}": s.axis for x in ENDS for k in ("s", "m")} | {f"{x}_tx": s.tx for x in ENDS},
        rows=rows(s),
        cfgs={"cable": 8} | {f"{x}_{k}": bits for x in ENDS for k, bits in CFGS.items()},
        predict=predict,
        check=_check,
        observe=_observe,
        coverage=COVERAGE,
    )
