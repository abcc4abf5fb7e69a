# SPDX-License-Identifier: Apache-2.0
"""What the ECN stage has seen: fields, marks, where the FCS lay, checksums that borrow, damaged frames."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from models.switch_ecn import changes
from tb.common.beats import LAST, StreamFormat, frames_from_beats
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, Sample, each
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch_ecn.frames import DAMAGED, MARK


def frames(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame; where the FCS lies only of those that were changed."""
    beat = phase.item.info["beat"]
    records = phase.beats["s_axis"]
    ends = np.flatnonzero(records["flags"] & LAST)
    start = 0
    previous = -1
    for end, f in zip(ends.tolist(), frames_from_beats(records, StreamFormat(beat, 2)), strict=True):
        at = records["cycle"][start : end + 1].astype(int)
        beats = end + 1 - start
        kind = "native" if not phase.item.cfg["roce"] else "ipv4" if f.data[12:15] == b"\x08\x00\x45" else "other"
        sample: dict[str, object] = {"kind": kind}
        if kind == "ipv4":
            sample |= {"ecn": f.data[15] & 3, "mark": "marked" if f.side & MARK else "not marked"}
        if kind == "ipv4" and f.side & MARK and changes(f.data):
            stated = int.from_bytes(f.data[16:18], "big") + 18
            damaged = bool(f.side & DAMAGED)
            sample |= {
                "damaged": damaged,
                "changed_ecn": f.data[15] & 3,
                "borrow": int.from_bytes(f.data[24:26], "big") < 3 - (f.data[15] & 3),
                "holes": bool(at[-1] - at[0] >= beats),
                "behind": bool(at[0] == previous + 1),
                "beats": beats,
            }
            if not damaged:
                fill = len(f.data) - (beats - 1) * beat
                sample |= {
                    "fcs": zlib.crc32(f.data[:-4]).to_bytes(4, "little") == f.data[-4:],
                    "fill": fill,
                    "wide_fill": f"{fill} of {beat}",
                    "stated": "as stated" if stated == len(f.data) else "longer",
                }
            else:
                sample["end"] = "across" if stated % beat in (1, 2, 3) else "in one beat"
        yield sample
        previous, start = int(at[-1]), end + 1


ACROSS = [Bin(f"{n} in the last beat", n) for n in (1, 2, 3)]
BEATS = [Bin("one", 1), Bin("two", 2), Bin("three", 3), Bin("more", range(4, 1 << 10))]

COVERAGE = Coverage(
    "switch_ecn",
    [
        Group(
            "frame",
            frames,
            [
                Cover("kind", [Bin("native", "native", ("native",)), Bin("ipv4", "ipv4", ("random",)),
                               Bin("other", "other", ("random",))]),
                Cover("ecn", each(0, 1, 2, 3), points=("checksums",)),
                Cover("mark", each("marked", "not marked"), points=("checksums",)),
                Cross("ecn_by_mark", ("ecn", "mark"), points=("checksums",)),
                Cover("changed_ecn", each(1, 2), points=("checksums",)),
                Cover("borrow", [Bin("borrows", True), Bin("does not", False)], points=("checksums",)),
                Cross("ecn_by_borrow", ("changed_ecn", "borrow"), points=("checksums",)),
                Cover("beats", BEATS, points=("lengths",)),
                Cover("fill", [*ACROSS, Bin("the FCS alone", 4), Bin("more", range(5, 129))], points=("lengths",)),
                Cover("wide_fill", each(*(f"{n} of {b}" for b in (64, 128) for n in range(1, b + 1))),
                      points=("lengths",)),
                Cover("fcs", [Bin("right", True), Bin("wrong", False)], points=("lengths",)),
                Cover("holes", [Bin("dense", False), Bin("holes", True)], points=("lengths",)),
                Cover("behind", [Bin("back to back", True), Bin("alone", False)], points=("random",)),
                Cross("fill_by_holes", ("fill", "holes"), points=("lengths",)),
                Cross("fill_by_fcs", ("fill", "fcs"), points=("lengths",)),
                Cross("fill_by_beats", ("fill", "beats"), points=("lengths",),
                      never=[(b.name, "one") for b in ACROSS] + [("the FCS alone", "one")],
                      why="the smallest frame fills more of its beat"),
                Cover("stated", each("as stated", "longer"), points=("random",)),
                Cover("damaged", [Bin("damaged", True), Bin("whole", False)], points=("random",)),
                Cover("end", each("across", "in one beat"), points=("random",)),
            ],
        ),
    ],
)  # fmt: skip
