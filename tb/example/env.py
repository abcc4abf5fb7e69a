# SPDX-License-Identifier: Apache-2.0
"""Bench of the example block: what it records and what the model says of it."""

from __future__ import annotations

from models.example import Example, frame_counts
from models.kernel import Kernel, Sink
from tb.common.beats import StreamFormat, items_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.example.coverage import COVERAGE

AXIS = StreamFormat()


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Both streams and the counter from the stimulus alone: the model's ready is compared too."""
    kernel = Kernel()
    model = Example(kernel, depth=ctx.param("DEPTH", 16), mask=phase.item.cfg["mask"])
    source = StreamSource(kernel, "s_axis", items_from_beats(phase.played["s_axis"], AXIS), model.ready, model.put)
    sink = Sink(kernel, "m_axis", model.out, ready_at(phase.item.ready.get("m_axis")))
    kernel.run(phase.item.max_cycles)
    return {"s_axis": source.taken, "m_axis": sink.taken, "frames": frame_counts(sink.taken)}


PLAN = BenchPlan(
    plays={"s_axis": AXIS},
    streams={"s_axis": AXIS, "m_axis": AXIS},
    events={"frames": 16},
    cfgs={"mask": 8},
    coverage=COVERAGE,
    predict=predict,
)
