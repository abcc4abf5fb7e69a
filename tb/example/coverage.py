# SPDX-License-Identifier: Apache-2.0
"""What the example's stimulus reached: frame lengths, stalls, and which outputs are known after reset."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb.common.beats import LAST, StreamFormat, frames_from_beats
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, Sample, each
from tb.common.observe import nothing
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords

AXIS = StreamFormat()


def frames(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that left: its bytes, whether its first beat waited."""
    records = phase.beats["m_axis"]
    ends = np.flatnonzero(records["flags"] & LAST)
    for i, frame in enumerate(frames_from_beats(records, AXIS)):
        first = 0 if i == 0 else int(ends[i - 1]) + 1
        span = int(records["cycle"][ends[i]]) - int(records["cycle"][first])
        yield {"length": len(frame.data), "holes": span > int(ends[i]) - first, "stalls": "m_axis" in phase.item.ready}


OUTPUTS = ("s_axis_tready", "m_axis_tvalid", "frames", "fill")


COVERAGE = Coverage(
    "example",
    [
        Group(
            "frame",
            frames,
            [
                Cover(
                    "length",
                    [
                        Bin("one byte", 1),
                        Bin("below a beat", range(2, 64)),
                        Bin("a beat", 64),
                        Bin("a byte more", 65),
                        Bin("several beats", range(66, 1 << 20)),
                    ],
                    points=("sizes",),
                ),
                Cover("holes", [Bin("dense", False), Bin("holes", True)], points=("back_pressure",)),
                Cross("length_by_holes", ("length", "holes"), points=("back_pressure",),
                      never=[("one byte", "holes"), ("below a beat", "holes"), ("a beat", "holes")],
                      why="a frame of one beat has no room for a hole"),
            ],
        ),
        Group("reset", nothing, [Cover("known", each(*OUTPUTS), points=("known_after_reset",))]),
    ],
)  # fmt: skip
