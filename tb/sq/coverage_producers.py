# SPDX-License-Identifier: Apache-2.0
"""Coverage of the runs of producers: what was left out and what came of it, who posted, which latency was measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tb.common.coverage import Bin, Cover, Group, Sample, each
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.producers.litmus import HARMLESS, LITMUS
from tb.sq.seq_latency import CASES
from tb.sq.seq_producers import KINDS

ROWS = {"D1": "stale_wqe", "D2": "record_lock", "D3": "compare_16", "D5": "doorbell_order", "": "producer_steps"}


def samples(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase, one more for each kind of fault, one for each measured latency."""
    info = phase.item.info
    for name, *_ in info.get("latency", ()):
        yield {"case": name}
    if "producers" not in info:
        return
    outcome, _kinds = info["producers"]
    sample: dict[str, Any] = {"shows": info["shows"], "case": info["shows"], "threads": outcome.threads}
    yield sample
    for kind in sorted({f.kind for f in outcome.faults}):
        yield {"fault": kind}


PRODUCERS = Group(
    "producers",
    samples,
    [
        Cover("who", each(*KINDS), points=("producers",), field="shows"),
        Cover("threads", [Bin("one", 1), Bin("up to 16", range(2, 17)), Bin("more", range(17, 1024)),
                          Bin("1,024", 1024)], points=("producers",)),
        Cover("left_out", [Bin(x.name, x.name, (ROWS[x.row],)) for x in LITMUS], field="shows"),
        Cover("harmless", [Bin(x.name, x.name, (ROWS[x.row],)) for x in HARMLESS], field="shows"),
        Cover("kept", [Bin("with every step", "kept")], points=("producer_steps",), field="shows"),
        Cover("fault", [*each("error", "content", points=("stale_wqe",)),
                        *each("lost", "hung", "back", points=("record_lock",))]),
        Cover("case", each(*CASES), points=("latency",)),
    ],
)  # fmt: skip
