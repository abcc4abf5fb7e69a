# SPDX-License-Identifier: Apache-2.0
"""Frames of a phase followed from input to output by their tags: what happened, without a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tb.common.beats import Records
from tb.common.observe import Ints, cycles, spans
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.frames import lanes_of, tags
from tb.switch.shape import Shape
from tb.switch.stimulus import name

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Entered:
    """Whole frames that an input accepted, in order: index of the first beat, its cycle, the last's, beats, lane."""

    first: Ints
    cycle: Ints
    end: Ints
    beats: Ints
    lane: Ints


@dataclass(frozen=True)
class Left:
    """Frames that left an output, in order. ``source``, ``number``: the tag; ``damaged``: tuser of the last beat."""

    first: Ints
    source: Ints
    number: Ints
    cycle: Ints
    end: Ints
    beats: Ints
    lane: Ints
    damaged: Flags


@dataclass(frozen=True)
class Trace:
    """All frames of a phase, by port."""

    shape: Shape
    roce: int
    entered: list[Entered]
    left: list[Left]
    s: list[Records]
    m: list[Records]


def trace(ctx: RunContext, phase: PhaseRecords) -> Trace:
    """Read a phase's records."""
    s = Shape.of(ctx)
    roce = phase.item.cfg["roce"]
    ins, outs = ([phase.beats[name(x, p)] for p in range(s.ports)] for x in "sm")
    entered, left = [], []
    for r in ins:
        first, last = spans(r)
        at = cycles(r)
        entered.append(Entered(first, at[first], at[last], last - first + 1, lanes_of(r, first, roce, s.lanes)))
    live = phase.rows["live.evt"]
    state = bits_of(live, s.ports)
    for o, r in enumerate(outs):
        first, last = spans(r)
        at = cycles(r)
        first = _after_falls(first, last, at, cycles(live)[state[:, o] == 0])
        source, number = tags(r, first, roce)
        damaged = (r["side"][last][:, 0] != 0) if len(last) else np.zeros(0, np.bool_)
        lane = lanes_of(r, first, roce, s.lanes)
        left.append(Left(first, source, number, at[first], at[last], last - first + 1, lane, damaged))
    return Trace(s, roce, entered, left, ins, outs)


def _after_falls(first: Ints, last: Ints, at: Ints, falls: Ints) -> Ints:
    """First beats of frames, when a port that fell in the middle of a frame began a new one after it came back."""
    if not len(first) or not len(falls):
        return first
    index = np.searchsorted(falls, at[last], side="right") - 1
    fall = np.where(index < 0, 0, falls[np.maximum(index, 0)])
    found: Ints = np.maximum(first, np.searchsorted(at, fall))
    return found


def bits_of(rows: Records, width: int) -> npt.NDArray[np.uint8]:
    """(events, bits) of a recorded vector."""
    raw = np.ascontiguousarray(rows["value"]).view(np.uint8).reshape(len(rows), -(-width // 32) * 4)
    return np.unpackbits(raw, axis=1, bitorder="little")[:, :width]


def latencies(t: Trace) -> Ints:
    """First beat in to first beat out of every frame that left, all outputs one after the other."""
    found = []
    for out in t.left:
        at = np.zeros(len(out.source), np.int64)
        for p in range(t.shape.ports):
            mine = out.source == p
            at[mine] = t.entered[p].cycle[out.number[mine]]
        found.append(out.cycle - at)
    return np.concatenate(found)
