# SPDX-License-Identifier: Apache-2.0
"""Bench plan of the ECN stage: each frame through models/switch_ecn.py, each beat a fixed number of cycles later."""

from __future__ import annotations

from models.kernel import Beat, Kernel
from models.spec import spec
from models.switch_ecn import changes, mark
from tb.common.beats import StreamFormat, items_from_beats
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.switch_ecn.coverage import COVERAGE
from tb.switch_ecn.frames import DAMAGED, MARK


def predict(_ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Frames as they leave, and the event with the first beat of one that was changed."""
    fmt = StreamFormat(phase.item.info["beat"], 2)
    beat, roce = fmt.data_bytes, bool(phase.item.cfg["roce"])
    through = spec().cycles("latency.switch_ecn.through")
    kernel = Kernel()
    source = StreamSource(
        kernel, "s_axis", items_from_beats(phase.played["s_axis"], fmt), lambda _now: True, lambda _now, _beat: None
    )
    kernel.run(phase.item.max_cycles)
    left: list[tuple[int, Beat]] = []
    events = []
    frame: list[tuple[int, Beat]] = []
    for taken in source.taken:
        frame.append(taken)
        if not taken[1].last:
            continue
        whole = b"".join(b.data for _, b in frame)
        side = taken[1].side
        damaged = bool(side & DAMAGED)
        if roce and side & MARK and changes(whole):
            whole = mark(whole, beat, damaged)
            events.append((frame[0][0] + through, 1))
        for i, (cycle, b) in enumerate(frame):
            out = (2 if b.last and damaged else 0) | (i == 0)
            left.append((cycle + through, Beat(whole[i * beat : (i + 1) * beat], b.last, out)))
        frame = []
    return {"s_axis": source.taken, "m_axis": left, "ecn": events}


def plan(data_bytes: int) -> BenchPlan:
    """The plan for a width of the stream."""
    fmt = StreamFormat(data_bytes, 2)
    return BenchPlan(
        plays={"s_axis": fmt},
        streams={"s_axis": fmt, "m_axis": fmt},
        events={"ecn": 1},
        cfgs={"roce": 1},
        coverage=COVERAGE,
        predict=predict,
    )
