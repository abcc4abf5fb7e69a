# SPDX-License-Identifier: Apache-2.0
"""What the registers' stimulus reached, and what the whole switch's did."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from models.register_file import READ, locate
from models.switch_csr import COUNTERS, CREDITS
from models.switch_regs import BLOCKS
from tb.common.coverage import Bin, Cover, Coverage, Group, Sample, each
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


def states(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """What the answers told of the configuration, of the tables and of the buffers."""
    registers = phase.item.info.get("registers")
    if registers is None:
        return
    index = {"TABLE_READ": "TABLE_INDEX", "GROUP_READ_MODE": "GROUP_INDEX"}
    sizes = {"TABLE_READ": 1 << registers.design["ADDR_W"], "GROUP_READ_MODE": registers.design["GROUPS"]}
    pointer: dict[str, int] = {}
    errors = 0
    marks: dict[int, int] = {}
    for a in phase.item.info["answers"]:
        found = locate(registers.blocks, a.addr, registers.copies)
        if found is None or a.kind != READ:
            continue
        name = found[2].name
        if name in index.values():
            pointer[name] = a.data
        elif name in index:
            kind = "in use" if a.data >> 31 else "empty"
            yield {"entry" if name == "TABLE_READ" else "group": kind}
            if pointer.get(index[name], 0) >= sizes[name]:
                yield {"entry" if name == "TABLE_READ" else "group": "beyond"}
        elif name == "CONFIG_ERROR":
            for f in found[2].fields:
                if a.data & f.mask:
                    yield {"error": f.name}
                elif errors & f.mask:
                    yield {"error": f"{f.name} cleared"}
            errors = a.data
        elif name == "CELLS":
            high, used = a.data >> 16, a.data & 0xFFFF
            if used:
                yield {"cells": "in use"}
            if found[1] in marks and high != marks[found[1]]:
                yield {"cells": "mark rose" if high > marks[found[1]] else "mark anew, lower"}
            marks[found[1]] = high
        elif name in CREDITS:
            for half in (0, 16):
                if lane_of(name, half) < registers.design["LANES"]:
                    yield {"lane": min(lane_of(name, half), 2)}


def lane_of(name: str, half: int) -> int:
    """The lane whose credits are at bit ``half`` of a register."""
    return 2 * CREDITS.index(name) + (half > 0)


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
            "state",
            states,
            [
                Cover("entry", each("in use", "empty", "beyond"), points=("readback",)),
                Cover("group", each("in use", "empty", "beyond"), points=("readback",)),
                Cover(
                    "error",
                    each(*(f"{n}{e}" for n in ("headroom", "thresholds", "credit") for e in ("", " cleared"))),
                    points=("config_errors",),
                ),
                Cover("cells", each("in use", "mark rose", "mark anew, lower"), points=("watermark",)),
                Cover("lane", [Bin("0", 0), Bin("1", 1), Bin("2 and up", 2)], points=("watermark",)),
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
                        *each("ECN_MARKED", "MC_LOST", "WAITED", points=("whole_traffic",)),
                        *each("PAUSING", "PAUSED", points=("whole_drops",)),
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
