# SPDX-License-Identifier: Apache-2.0
"""What the registers' stimulus reached, and what the whole switch's did."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from models.register_file import READ
from models.switch_csr import COUNTERS
from models.switch_regs import BLOCKS
from tb.common.coverage import Cover, Coverage, Group, Sample, each
from tb.common.register_coverage import register_groups
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords


def commands(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a table or group write, done or refused."""
    registers = phase.item.info.get("registers")
    if registers is None:
        return
    for _, _, valid, _ in registers.tables:
        yield {"command": "entry in use" if valid else "entry not in use"}
    for _, _, mode, _ in registers.groups:
        yield {"command": f"group of mode {mode}"}
    if registers.value("REFUSED", 0, phase.stats.cycles):
        yield {"command": "refused"}


def whole(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """What a phase of the whole switch did, and what its counters told at the end."""
    info = phase.item.info
    if "final" not in info:
        return
    for name, value in info["final"].items():
        if value:
            yield {"told": name}
    masks = [mask for _, mask in info["registers"].enable]
    ups = [mask for _, mask in info["links"]]
    for how, rows in (("by register", masks), ("by link", ups)):
        for old, new in pairwise(rows):
            if old & ~new:
                yield {"change": f"down {how}"}
            if new & ~old and any(r & ~old for r in rows[: rows.index(old)]):
                yield {"change": f"up again {how}"}
    first = min((int(b["cycle"][0]) for n, b in phase.beats.items() if n[0] == "s" and len(b)), default=1 << 31)
    last = max((int(b["cycle"][-1]) for n, b in phase.beats.items() if n[0] == "m" and len(b)), default=0)
    if any(first < c < last for c, *_ in info["registers"].tables):
        yield {"change": "entry written under traffic"}
    if any(first < a.cycle < last and a.kind == READ for a in info["answers"]):
        yield {"change": "counter read under traffic"}


COVERAGE = Coverage(
    "switch_csr",
    [
        *register_groups(BLOCKS, COUNTERS),
        Group(
            "command",
            commands,
            [
                Cover(
                    "command",
                    each("entry in use", "entry not in use", *(f"group of mode {m}" for m in range(4)), "refused"),
                    points=("tables",),
                )
            ],
        ),
        Group(
            "whole",
            whole,
            [
                Cover(
                    "told",
                    [
                        *each("FRAMES_IN", "BEATS_IN", "FRAMES_OUT", "BEATS_OUT", points=("whole_traffic",)),
                        *each("ECN_MARKED", "MC_LOST", points=("whole_traffic",)),
                        *each("DROP_MALFORMED", "DROP_UNKNOWN", "DROP_LONG", "CUT", "SHORT", points=("whole_drops",)),
                        *each("DROP_OVERFLOW", points=("whole_drops",)),
                        *each("DROP_NO_WAY", "ABORTED", "LOST", points=("whole_ports",)),
                    ],
                ),
                Cover(
                    "change",
                    [
                        *each("down by register", "up again by register", points=("whole_ports",)),
                        *each("down by link", "up again by link", points=("whole_ports",)),
                        *each("counter read under traffic", points=("whole_traffic",)),
                        *each("entry written under traffic", points=("whole_ports",)),
                    ],
                ),
            ],
        ),
    ],
)
