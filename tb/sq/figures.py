# SPDX-License-Identifier: Apache-2.0
"""Figures of the volume test: what is left of the port that bounds a phase. Printed, nothing is demanded of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.sq.turns import turns


def _middle(cycles: Any) -> tuple[int, int]:
    """Cycles between which the middle six tenths of the transfers lie: neither start nor end."""
    at = np.sort(np.asarray(cycles, np.int64))
    return int(at[len(at) // 5]), int(at[len(at) * 4 // 5])


def _rate(cycles: Any, first: int, last: int) -> float:
    at = np.asarray(cycles, np.int64)
    return float(((at >= first) & (at < last)).sum() / max(1, last - first))


def observe(ctx: RunContext, phase: PhaseRecords) -> None:
    """``info["facts"]["rate"]``: name and conditions of the phase's figures."""
    wanted = phase.item.info["facts"].get("rate")
    if not wanted:
        return
    name, conditions = wanted
    result = Result(ctx.run_dir)
    wr = phase.beats["m_wr"]
    done = wr["cycle"][(wr["flags"] & 1).astype(bool)]
    if name == "blueflame":
        rate = 100 * _rate(done, *_middle(done))
        result.figure(f"blueflame_q{conditions['queues']}", round(rate, 1), "% of cycles", **conditions)
    else:
        read = phase.rows["mem_r.rec"]["cycle"]
        first, last = _middle(read)
        tag = f"q{conditions['queues']}_p{conditions['producers']}"
        blocks = len(turns(phase).blocks)
        share = 100 * blocks / max(1, len(read))
        result.figure(f"fetch_{tag}_r", round(100 * _rate(read, first, last), 1), "% of cycles with R", **conditions)
        result.figure(f"fetch_{tag}_wr", round(100 * _rate(done, first, last), 1), "% of cycles", **conditions)
        result.figure(f"fetch_{tag}_blocks", round(share, 1), "% of reads that are WQEs", **conditions)
    result.save()
