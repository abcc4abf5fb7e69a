# SPDX-License-Identifier: Apache-2.0
"""Bench of the switch's registers alone: what it records and what the model says of it."""

from __future__ import annotations

from models.spec import spec
from models.switch_csr import CONFIGURATION, SwitchRegisters
from tb.common.axil import ANSWER, answer_rows
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.switch_csr.access import events_format
from tb.switch_csr.coverage import COVERAGE

CFG_BITS = sum(width for _, _, width in CONFIGURATION)
PORTS = 4


def design(ctx: RunContext) -> dict[str, int]:
    """Parameters of the bench's switch, as its registers show them."""
    figures = spec()
    defaults = {
        "PORTS": PORTS, "LANES": 1, "DATA_W": 512, "CELLS": figures.integer("link.buffer_cells"),
        "MAX_BEATS": figures.integer("frame.max_beats"), "EGRESS": figures.integer("switch.egress_beats"),
        "ADDR_W": 10, "GROUPS": 64, "ALLOC": 1, "SAF": 0,
    }  # fmt: skip
    return {name: int(ctx.param(name, value)) for name, value in defaults.items()}


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every answer and its cycle, configuration and enables at each change, every table and group write.

    The model and its answers are left in ``phase.item.info`` for the coverage.
    """
    info = phase.item.info
    shape = design(ctx)
    events = info["events"]
    registers = SwitchRegisters(
        shape["PORTS"], shape, events.counted(), events.levels(), events.in_use(), events.credits()
    )
    info["registers"], info["answers"] = registers, registers.play(info["accesses"])
    return {
        "axil.rec": answer_rows(info["answers"]),
        "cfg": registers.cfg,
        "enable": registers.enable,
        "table": [(c, 1 << 49 | valid << 48 | group << 32 | i) for c, i, valid, group in registers.tables],
        "group": [(c, ports << 32 | 1 << 19 | mode << 16 | i) for c, i, mode, ports in registers.groups],
    }


def plan(ctx: RunContext) -> BenchPlan:
    """The plan for this run's number of ports."""
    shape = design(ctx)
    ports = shape["PORTS"]
    return BenchPlan(
        plays={"events": events_format(ports, shape["LANES"])},
        streams={},
        events={"cfg": CFG_BITS, "enable": ports, "table": 64, "group": 32 + ports},
        rows={"axil.rec": ANSWER},
        coverage=COVERAGE,
        predict=predict,
    )
