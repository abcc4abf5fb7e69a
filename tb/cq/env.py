# SPDX-License-Identifier: Apache-2.0
"""Bench of the completion queues: what it records, and what model and memory say of it from the stimulus alone."""

from __future__ import annotations

from models.kernel import Beat
from models.protocol import CqCtx
from tb.common.axi import memory_prediction, memory_rows
from tb.common.beats import Records
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.cq.checks import check
from tb.cq.coverage import COVERAGE
from tb.cq.ports import ARM, CTX, DONE, EV, IN, STATUS_BITS
from tb.cq.rig import Rig


def status(changes: list[tuple[int, tuple[int, ...]]]) -> list[tuple[int, int]]:
    """Counters as the bench's status vector shows them."""
    out = []
    for cycle, counts in changes:
        value = 0
        for counter in counts:
            value = value << 32 | counter
        out.append((cycle, value))
    return out


def _at(records: Records, taken: list[tuple[int, Beat]]) -> Records:
    """The played records at the cycles at which the model took them."""
    out = records[: len(taken)].copy()
    out["cycle"] = [cycle for cycle, _ in taken]
    return out


def predict(_ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, write, read and counter of the phase."""
    rig = Rig(phase.item.info["stimulus"])
    rig.run(phase.item.max_cycles)
    return {
        "cq": _at(phase.played["cq"], rig.source.taken),
        "m_ev": [(c, Beat(b"", True, e)) for c, e in rig.ev.taken],
        "status": status(rig.cq.changes),
        **memory_prediction("mem", rig.memory),
    }


PLAN = BenchPlan(
    plays={"cq": IN, "ctx": CTX, "arm": ARM, "done": DONE},
    streams={"cq": IN, "m_ev": EV},
    events={"status": STATUS_BITS},
    rows=memory_rows("mem"),
    cfgs={"done0": 16},
    predict=predict,
    check=check,
    coverage=COVERAGE,
)
assert CqCtx.width() + 10 == CTX.side_bits
