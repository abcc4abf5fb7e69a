# SPDX-License-Identifier: Apache-2.0
"""Bench of a link's registers alone: what it records and what the model says of it."""

from __future__ import annotations

from models.link_csr import LinkRegisters
from models.protocol import LinkCfg
from tb.common.axil import ANSWER, answer_rows
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.link_csr.coverage import COVERAGE
from tb.link_csr.events import events_format


def design(ctx: RunContext) -> dict[str, int]:
    """Parameters of the bench's link, as its registers show them."""
    return {name: int(ctx.param(name, value)) for name, value in {"LANES": 3, "DATA_W": 512}.items()}


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every answer and its cycle; the link's configuration and the flag at each change, every request to retrain.

    The model and its answers are left in ``phase.item.info`` for the coverage.
    """
    info, cycles = phase.item.info, phase.stats.cycles
    registers = LinkRegisters(design(ctx), info["events"].counted(), info["events"].levels())
    info["registers"], info["answers"] = registers, registers.play(info["accesses"])
    registers.finish(cycles)
    return {
        "axil.rec": answer_rows(info["answers"]),
        "cfg": [row for row in registers.cfg if row[0] < cycles],
        "degraded": [row for row in registers.degraded if row[0] < cycles],
        "retrain": [(c, 1) for c in registers.retrains],
    }


def plan(ctx: RunContext) -> BenchPlan:
    """The plan for this run's number of lanes."""
    return BenchPlan(
        plays={"events": events_format(design(ctx)["LANES"])},
        streams={},
        events={"cfg": LinkCfg.width(), "degraded": 1, "retrain": 1},
        rows={"axil.rec": ANSWER},
        coverage=COVERAGE,
        predict=predict,
    )
