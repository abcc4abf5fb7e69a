# SPDX-License-Identifier: Apache-2.0
"""What any registers' stimulus reached: every register both ways, every answer, every counter over its wrap.

A phase's ``info`` has ``accesses``, and from the predictor ``registers`` (the model) and ``answers``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from models.register_file import BOTH, READ, SLVERR, WRITE, locate
from models.registers import Block
from tb.common.coverage import Bin, Cover, Cross, Group, Sample, each
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords


def answers(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an answer."""
    registers = phase.item.info.get("registers")
    if registers is None:
        return
    for a in phase.item.info["answers"]:
        found = locate(registers.blocks, a.addr, registers.copies)
        way = "read" if a.kind == READ else "write"
        sample: dict[str, object] = {"way": way, "answer": "SLVERR" if a.resp == SLVERR else "OKAY"}
        if found is not None:
            sample["register"] = found[2].name
            if found[0].stride:
                sample["port"] = "first" if found[1] == 0 else "last" if found[1] == registers.copies - 1 else "between"
        yield sample


def offers(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an access: how it was offered, and which bytes it writes."""
    if "registers" not in phase.item.info:
        return
    for a in phase.item.info["accesses"]:
        order = "together" if a.a_late == a.w_late else "address first" if a.a_late < a.w_late else "data first"
        sample: dict[str, object] = {"kind": a.kind, "hold": a.hold > 0}
        if a.kind & WRITE:
            sample["order"] = order
            sample["bytes"] = a.strb
        yield sample


def counts(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a counter and copy: whether it counted, and over its wrap, as its reads show."""
    info = phase.item.info
    if "registers" not in info:
        return
    registers = info["registers"]
    for (name, _), cycles in registers.counted.items():
        if cycles:
            in_a_row = any(b - a == 1 for a, b in pairwise(cycles))
            yield {"counter": name, "row": "in a row" if in_a_row else "single"}
    last: dict[int, int] = {}
    for a in info["answers"]:
        found = locate(registers.blocks, a.addr, registers.copies)
        if found is None or not any(f.counter for f in found[2].fields):
            continue
        if a.kind == WRITE:
            last.pop(a.addr, None)
            continue
        if a.data < 0x1000 and last.get(a.addr, 0) > 0xFFFFF000:
            yield {"wrapped": found[2].name}
        last[a.addr] = a.data


def register_groups(blocks: Sequence[Block], counters: Sequence[str]) -> list[Group]:
    """Groups "answer", "offer" and "count" for a map and its event counters; their points are ``reset_values``,
    ``bits``, ``addresses``, ``bus``, ``wraps`` and ``races``."""
    names = [r.name for block in blocks for r in block.registers]
    copies = [Cover("port", each("first", "between", "last"), points=("addresses",))] if len(blocks) > 1 else []
    return [
        Group(
            "answer",
            answers,
            [
                Cover("register", each(*names), points=("reset_values", "bits")),
                Cover("way", each("read", "write"), points=("reset_values", "bits")),
                Cover("answer", each("OKAY", "SLVERR"), points=("addresses",)),
                *copies,
                Cross("register_by_way", ("register", "way"), points=("bits",)),
                Cross("answer_by_way", ("answer", "way"), points=("addresses",)),
            ],
        ),
        Group(
            "offer",
            offers,
            [
                Cover("kind", [Bin("write", WRITE), Bin("read", READ), Bin("both at once", BOTH)], points=("bus",)),
                Cover("order", each("together", "address first", "data first"), points=("bus",)),
                Cover("hold", [Bin("taken at once", False), Bin("made to wait", True)], points=("bus",)),
                Cover("bytes", each(*range(16)), points=("bits",)),
                Cross("kind_by_hold", ("kind", "hold"), points=("bus",)),
            ],
        ),
        Group(
            "count",
            counts,
            [
                Cover("counter", each(*counters), points=("races",)),
                Cover("row", each("single", "in a row"), points=("races",)),
                Cover("wrapped", each(*counters), points=("wraps",)),
                Cross("counter_by_row", ("counter", "row"), points=("races",)),
            ],
        ),
    ]
