# SPDX-License-Identifier: Apache-2.0
"""What the switch's stimulus reached: pairs of ports, sizes, contention, stalls, full buffers, drops and cuts.

Frames are followed from input to output by the bytes of their first beat; waiting is counted at the ports: a
frame waits for its output from `store` cycles after its first beat until it begins to leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.spec import spec
from tb.common.beats import Records
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, Sample, each
from tb.common.observe import Ints, cycles, held, holes, spans, stalled, waits
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.frames import PREFIX_BITS, table_writes

MAX_BEATS = spec().integer("frame.max_beats")
CELLS = spec().integer("link.buffer_cells")
STORE = spec().cycles("latency.switch.store")
PORTS = 8
PROFILES = ("native", "roce")
NEVER = 1 << 40  # cycle of what did not happen


@dataclass(frozen=True)
class Frames:
    """All frames of a phase by input, in the order of arrival; arrays of one entry a frame."""

    source: Ints
    entered: Ints
    ended: Ints
    beats: Ints
    entry: list[str]
    output: Ints  # -1: dropped
    gaps: npt.NDArray[np.bool_]
    waited: npt.NDArray[np.bool_]
    left: Ints
    gone: Ints
    idle: Ints
    stalls: npt.NDArray[np.bool_]


def entries(records: Records) -> dict[int, str | int]:
    """What each written index of the table stands for in the end: a port, or why there is none."""
    found: dict[int, str | int] = {}
    for index, valid, port in table_writes(records):
        found[index] = "made invalid" if not valid else port
    return found


def lookup(records: Records, first: Ints, roce: int, prefix: int, table: dict[int, str | int], ports: int) -> list[str]:
    """How each frame's destination fares: a port's number as text, or why it is unknown."""
    at, width = (30, 4) if roce else (2, 2)
    head = records["data"][first]
    keep = np.unpackbits(records["keep"][first], axis=1, bitorder="little")[:, at + width - 1]
    dest = np.zeros(len(first), np.int64)
    for i in range(at, at + width):
        dest = dest << 8 | head[:, i]
    known = prefix & (1 << PREFIX_BITS[roce]) - 1
    names = []
    for ok, d in zip(keep.tolist(), dest.tolist(), strict=True):
        port = table.get(d & 0x3FF, "not in the table")
        if not ok:
            names.append("too short")
        elif d >> 10 != known:
            names.append("other prefix")
        elif isinstance(port, int):
            names.append(str(port) if port < ports else "no such port")
        else:
            names.append(port)
    return names


def follow(ctx: RunContext, phase: PhaseRecords) -> Frames:
    """Find every frame that entered where it left."""
    ports = ctx.param("PORTS", PORTS)
    roce = phase.item.cfg["roce"]
    table = entries(phase.played["table"])
    left: dict[bytes, tuple[int, int, int, int, bool]] = {}
    for o in range(ports):
        m = phase.beats[f"m{o}"]
        first, last = spans(m)
        at = cycles(m)
        begin, end = at[first], at[last]
        idle = np.concatenate(([-1], begin[1:] - end[:-1] - 1)) if len(first) else first
        stall = stalled(phase.item.ready.get(f"m{o}"), begin, end)
        rows = zip(m["data"][first], begin.tolist(), end.tolist(), idle.tolist(), stall.tolist(), strict=True)
        for head, b, e, gap, stop in rows:
            left[head.tobytes()] = (o, b, e, gap, stop)
    parts = []
    entry: list[str] = []
    for i in range(ports):
        s = phase.beats[f"s{i}"]
        first, last = spans(s)
        at = cycles(s)
        late = np.concatenate(([0], np.cumsum(waits(phase.played[f"s{i}"], s) > 0)))
        entry += lookup(s, first, roce, phase.item.cfg["prefix"], table, ports)
        out = np.array([left.get(h.tobytes(), (-1, NEVER, NEVER, -1, False)) for h in s["data"][first]], np.int64)
        out = out.reshape(-1, 5)
        waited = late[last + 1] > late[first]
        parts.append((np.full(len(first), i), at[first], at[last], last - first + 1, *out.T, holes(s), waited))
    source, entered, ended, beats, output, began, gone, idle, stall, gaps, waited = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return Frames(
        source, entered, ended, beats, entry, output, gaps & ~waited, waited, began, gone, idle, stall.astype(bool)
    )


def queues(f: Frames, ports: int) -> tuple[Ints, Ints, Ints]:
    """For each frame as it begins to leave: inputs that wait for its output, frames that do, those of its input."""
    inputs, waiting, own = (np.zeros(len(f.source), np.int64) for _ in range(3))
    for o in range(ports):
        k = np.flatnonzero(f.output == o)
        there = (f.entered[k] + STORE)[None, :] <= f.left[k][:, None]
        there &= f.left[k][None, :] >= f.left[k][:, None]
        by_input = there.astype(np.int64) @ np.eye(ports, dtype=np.int64)[f.source[k]]
        inputs[k], waiting[k] = (by_input > 0).sum(axis=1), there.sum(axis=1)
        own[k] = by_input[np.arange(len(k)), f.source[k]]
    return inputs, waiting, own


def frames(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that entered."""
    ports = ctx.param("PORTS", PORTS)
    f = follow(ctx, phase)
    if not len(f.source):
        return
    inputs, waiting, own = queues(f, ports)
    order = np.argsort(f.entered)
    # alone: nothing else is in the switch from its first beat in to its last beat out
    gone = np.where(f.output < 0, f.ended, f.gone)[order]
    busy = np.concatenate(([-1], np.maximum.accumulate(gone)[:-1]))
    after = np.concatenate((f.entered[order][1:], [NEVER]))
    alone = np.zeros(len(order), np.bool_)
    alone[order] = (f.entered[order] > busy) & (after > gone)
    behind: str | None = None
    before = -1
    for k in range(len(f.source)):
        known = f.output[k] >= 0
        beats = int(f.beats[k])
        fate = "unknown" if not known else "cut" if beats > MAX_BEATS else "forwarded"
        behind = behind if f.source[k] == before else None
        sample = {
            "ports": ports, "profile": PROFILES[phase.item.cfg["roce"]], "fate": fate, "gaps": bool(f.gaps[k]),
            "input": "waits for a cell" if f.waited[k] else "gaps" if f.gaps[k] else "dense",
        }  # fmt: skip
        if behind is not None:
            sample["behind"] = behind
        if known:
            sample |= {
                "source": int(f.source[k]), "output": int(f.output[k]), "beats": beats, "stalls": bool(f.stalls[k]),
                "contenders": "all" if inputs[k] == ports > 2 else int(inputs[k]), "waiting": int(waiting[k]),
                "own": int(own[k]),
            }  # fmt: skip
            if beats >= MAX_BEATS - 1:
                sample["long"] = beats
            if f.idle[k] >= 0 and inputs[k] == 1:
                sample["idle"] = int(f.idle[k])
                if f.idle[k] == 1 and not f.gaps[k]:
                    sample["full_rate"] = beats
            if alone[k]:
                sample |= {"alone": beats, "from": int(f.source[k]), "to": int(f.output[k])}
        else:
            sample |= {"lost": f.entry[k], "lost_beats": beats}
        yield sample
        behind, before = fate, f.source[k]


def ports_used(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an input of a phase: most cells held, outputs waited for at once, overtaking, cells freed at once."""
    f = follow(ctx, phase)
    for i in range(ctx.param("PORTS", PORTS)):
        k = np.flatnonzero((f.source == i) & (f.output >= 0))
        freed = phase.events[f"free{i}"]
        if not len(freed):
            continue
        sample = {
            "cells": int(held(cycles(phase.beats[f"s{i}"]), freed).max()), "freed": int(freed["value"].max()),
            "profile": PROFILES[phase.item.cfg["roce"]],
        }  # fmt: skip
        if len(k):
            there = (f.entered[k][None, :] <= f.entered[k][:, None]) & (f.left[k][None, :] > f.entered[k][:, None])
            queued = there.astype(np.int64) @ np.eye(PORTS, dtype=np.int64)[f.output[k]]
            sample["outputs"] = int((queued > 0).sum(axis=1).max())
            sample["overtakes"] = bool((np.maximum.accumulate(f.left[k]) > f.left[k]).any())
        yield sample


def counters(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample for each step by which a drop counter moved in a phase: several inputs count in one cycle."""
    for name in ("unknown", "long"):
        for step in sorted(set(np.diff(phase.events[name]["value"].astype(np.int64)).tolist())):
            yield {name: step}


YES_NO = {"gaps": ("dense", "gaps"), "stalls": ("flows", "stalls"), "overtakes": ("in order", "overtakes")}
STEPS = [Bin("1", 1), Bin("2", 2), Bin("3 or more", range(3, PORTS + 1))]


def _flag(name: str, *points: str) -> Cover:
    no, yes = YES_NO[name]
    return Cover(name, [Bin(no, False), Bin(yes, True)], points=points)


COVERAGE = Coverage(
    "switch",
    [
        Group(
            "frame",
            frames,
            [
                Cover("ports", each(2, 5, 8), points=("random",)),
                Cover("profile", each(*PROFILES), points=("random",)),
                Cover("fate", [Bin("forwarded", "forwarded", ("random",)), Bin("unknown", "unknown", ("unknown",)),
                               Bin("cut", "cut", ("too_long",))]),
                Cover("behind", each("forwarded", "unknown", "cut"), points=("unknown", "too_long")),
                _flag("gaps", "held_match"),
                Cover("input", [Bin("dense", "dense", ("full_rate",)), Bin("gaps", "gaps", ("random", "held_match")),
                                Bin("waits for a cell", "waits for a cell", ("hot_spot",))]),
                Cover("source", each(*range(PORTS)), points=("random",)),
                Cover("output", each(*range(PORTS)), points=("random",)),
                Cover("beats", [Bin("1", 1), Bin("2", 2), Bin("3 to 5", range(3, 6)),
                                Bin("several", range(6, MAX_BEATS)), Bin("largest", MAX_BEATS)], points=("random",)),
                _flag("stalls", "random", "held_match"),
                Cover("contenders", [Bin("1", 1), Bin("2", 2), Bin("3 or more", range(3, PORTS)), Bin("all", "all")],
                      points=("fairness", "random")),
                Cover("waiting", [Bin("1", 1), Bin("2 to 8", range(2, 9)), Bin("9 to 32", range(9, 33)),
                                  Bin("more", range(33, 10_000))], points=("hot_spot", "fairness")),
                Cover("own", [Bin("1", 1), Bin("2 to 8", range(2, 9)), Bin("more", range(9, 10_000))],
                      points=("hot_spot",)),
                Cover("long", [Bin("a beat less", MAX_BEATS - 1), Bin("the largest", MAX_BEATS),
                               Bin("a beat more", MAX_BEATS + 1), Bin("two more", MAX_BEATS + 2),
                               Bin("within the buffer", range(MAX_BEATS + 3, CELLS)),
                               Bin("beyond the buffer", range(CELLS + 1, 10_000))], points=("too_long",)),
                Cover("idle", [Bin("none", 0, ("random",)), Bin("one", 1, ("full_rate",)),
                               Bin("more", range(2, 1 << 20), ("random",))]),
                Cover("full_rate", [Bin("1 beat", 1), Bin("4 beats", 4), Bin("16 beats", 16), Bin("64 beats", 64)],
                      points=("full_rate",)),
                Cover("alone", [Bin("1 beat", 1), Bin("2 beats", 2), Bin("16 beats", 16), Bin("64 beats", 64)],
                      points=("zero_load",)),
                Cover("from", each(*range(PORTS)), points=("zero_load",)),
                Cover("to", each(*range(PORTS)), points=("zero_load",)),
                Cover("lost", each("not in the table", "made invalid", "other prefix", "no such port", "too short"),
                      points=("unknown",)),
                Cover("lost_beats", [Bin("1", 1), Bin("several", range(2, MAX_BEATS)), Bin("largest", MAX_BEATS),
                                     Bin("longer", range(MAX_BEATS + 1, 10_000))], points=("unknown",)),
                Cross("source_by_output", ("source", "output"), points=("random",)),
                Cross("output_by_contenders", ("output", "contenders"), points=("fairness",)),
                Cross("ports_by_contenders", ("ports", "contenders"), points=("fairness", "random"),
                      never=[("2", "3 or more"), ("2", "all")], why="two ports: 2 is all"),
                Cross("stalls_by_contenders", ("stalls", "contenders"), points=("fairness", "hot_spot")),
                Cross("gaps_by_stalls_by_contenders", ("gaps", "stalls", "contenders"), points=("held_match",)),
                Cross("beats_by_profile", ("beats", "profile"), points=("random",)),
                Cross("full_rate_by_profile", ("full_rate", "profile"), points=("full_rate",)),
                Cross("from_by_to_by_alone", ("from", "to", "alone"), points=("zero_load",)),
                Cross("from_by_to_by_profile", ("from", "to", "profile"), points=("zero_load",)),
                Cross("lost_by_profile", ("lost", "profile"), points=("unknown",)),
                Cross("lost_by_beats", ("lost", "lost_beats"), points=("unknown",),
                      never=[("too short", b) for b in ("several", "largest", "longer")],
                      why="a frame too short for its destination is one beat"),
                Cross("fate_behind", ("fate", "behind"), points=("unknown", "too_long")),
                Cross("long_by_profile", ("long", "profile"), points=("too_long",)),
                Cross("long_by_stalls", ("long", "stalls"), points=("too_long",)),
            ],
        ),
        Group(
            "input",
            ports_used,
            [
                Cover("cells", [Bin("few", range(CELLS // 2)), Bin("half", range(CELLS // 2, CELLS)),
                                Bin("full", CELLS)], points=("hot_spot",)),
                Cover("freed", [Bin("1", 1, ("random",)), Bin("2 at once", 2, ("unknown", "too_long"))]),
                Cover("profile", each(*PROFILES), points=("random",)),
                Cover("outputs", [Bin("1", 1), Bin("2 to 4", range(2, 5)), Bin("5 or more", range(5, PORTS + 1))],
                      points=("random", "hot_spot")),
                _flag("overtakes", "hot_spot"),
                Cross("cells_by_profile", ("cells", "profile"), points=("hot_spot",)),
                Cross("overtakes_by_cells", ("overtakes", "cells"), points=("hot_spot",)),
            ],
        ),
        Group(
            "counter",
            counters,
            [
                Cover("unknown", STEPS, points=("unknown",)),
                Cover("long", STEPS[:2], points=("too_long",)),
            ],
        ),
    ],
)  # fmt: skip
