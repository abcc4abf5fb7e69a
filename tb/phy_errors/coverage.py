# SPDX-License-Identifier: Apache-2.0
"""What phy_errors has seen: codewords by code and wrong symbols, where words lay, faults upon what, cuts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.link_errors import COUNT, CTL_OFF, CTL_VALID, LAST_BEAT, OFF, VALID
from models.phy_errors import AGAIN, FAILS, LOST, PHY_FAILED, PhyErrors
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, Sample, each
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.phy_errors.words import Words, place

WHAT = ("nothing", "beat", "set", "both")


def codewords(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a kind of codeword that was told in the phase."""
    errors: PhyErrors = phase.item.info["errors"]
    code = "kp4" if errors.kp4 else "llfec"
    kinds = np.unique(phase.item.info["passed"].ended[:, 1]).tolist()
    for k in kinds:
        sample: dict[str, object] = {"code": code, "symbols": "failed" if k == PHY_FAILED else str(k)}
        sample["of_code"] = f"{sample['symbols']} of {code}"
        if errors.burst_thr and errors.burst_len:
            n, t = (544, 15) if errors.kp4 else (272, 7)
            length = errors.burst_len
            sample["burst"] = "short" if length <= t else "within a codeword" if length < n else "longer"
        if "ber" in phase.item.info:
            sample["sampled"] = code
        yield sample


def words(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a word: how it lies over a codeword's end, the fault in its cycle, whether it was cut."""
    info = phase.item.info
    errors: PhyErrors = info["errors"]
    played: Words = info["words"]
    faults = dict(errors.faults)
    drawn = dict(errors.spread(info["data_w"], info["dump"]).faults)
    side = {int(c): row for c, row in zip(played.at, played.side, strict=True)}
    wide = str(info["data_w"])
    cut_at = [c for c, _ in errors.cuts]
    on_at = [c for c, _ in info["on"]]
    for cycle in sorted(set(side) | set(faults)):
        row = side.get(cycle)
        kind = 0 if row is None else int(row[VALID]) | int(row[CTL_VALID]) << 1
        cuts = int(np.searchsorted(cut_at, cycle, "right"))
        switches = int(np.searchsorted(on_at, cycle, "right"))
        cut = bool(cuts and errors.cuts[cuts - 1][1])
        on = bool(info["on"][switches - 1][1]) if switches else errors.on
        sample: dict[str, object] = {"width": wide, "what": WHAT[kind], "cut": cut, "on": on}
        sample["fault"] = {LOST: "lost", AGAIN: "again", FAILS: "fails"}.get(faults.get(cycle, 0), "none")
        by_rate = drawn.get(cycle, 0) if cycle not in faults else 0
        sample["rate"] = {LOST: "lost", AGAIN: "again"}.get(by_rate, "none")
        if row is not None:
            edge = place(errors, info["data_w"], cycle)
            if kind & 1:
                before = edge - int(row[OFF])
                count = int(row[COUNT])
                sample["beat"] = (
                    "behind" if before <= 0 else "in data" if before < count else
                    "after data" if before == count else "in trailer" if before < count + 8 else "before"
                )  # fmt: skip
                sample["last"] = bool(row[LAST_BEAT])
            if kind & 2:
                split = edge - int(row[CTL_OFF])
                sample["set"] = "behind" if split <= 0 else "before" if split >= 8 else f"{split} bytes before"
        yield sample


SYMBOLS = [Bin(f"{k} of {code}", f"{k} of {code}") for code, t in (("llfec", 7), ("kp4", 15))
           for k in [*range(t + 1), "failed"]]  # fmt: skip
COVERAGE = Coverage(
    "phy_errors",
    [
        Group(
            "codeword",
            codewords,
            [
                Cover("of_code", SYMBOLS, points=("numbers",)),
                Cover("code", each("llfec", "kp4"), points=("numbers",)),
                Cover("burst", each("short", "within a codeword", "longer"), points=("bursts",)),
                Cross("code_by_burst", ("code", "burst"), points=("bursts",)),
                Cover("sampled", each("llfec", "kp4"), points=("shares",)),
            ],
        ),
        Group(
            "word",
            words,
            [
                Cover("width", each("512", "1024"), points=("random",)),
                Cover("beat", each("behind", "in data", "after data", "in trailer", "before"), points=("edges",)),
                Cover("last", [Bin("last", True), Bin("not", False)], points=("edges",)),
                Cross("beat_by_last", ("beat", "last"), points=("edges",)),
                Cross("beat_by_width", ("beat", "width"), points=("edges",)),
                Cover("set", each("behind", "before", *(f"{n} bytes before" for n in range(1, 8))), points=("edges",)),
                Cover("what", each(*WHAT), points=("faults",)),
                Cover("fault", each("none", "lost", "again", "fails"), points=("faults",)),
                Cover("rate", each("none", "lost", "again"), points=("rates",)),
                Cover("cut", [Bin("cut", True), Bin("whole", False)], points=("cuts",)),
                Cover("on", [Bin("on", True), Bin("off", False)], points=("switched",)),
                Cross("what_by_fault", ("what", "fault"), points=("faults",), never=[("nothing", "none")],
                      why="a cycle without word and fault is no sample"),
                Cross("fault_by_cut", ("fault", "cut"), points=("cuts",)),
                Cross("fault_by_on", ("fault", "on"), points=("switched",)),
            ],
        ),
    ],
)  # fmt: skip
