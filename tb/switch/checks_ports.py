# SPDX-License-Identifier: Apache-2.0
"""What must hold of a switch whose ports die and come back, whose groups are written, without a model.

An *epoch* of a port lasts from one rise of its ``live`` to the next: the port comes up with nothing inside and all
credits anew (docs/switch.md, O1, O3), so each epoch has an account of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.spec import spec
from tb.common.beats import LAST
from tb.common.observe import Ints, cycles
from tb.common.uvm import PhaseItem, PhaseRecords
from tb.switch.frames import lanes_of
from tb.switch.stimulus import MULTICAST, name
from tb.switch.trace import Trace, bits_of

NEVER = 1 << 40


def lives(t: Trace, phase: PhaseRecords) -> list[tuple[Ints, Ints]]:
    """By port: cycles at which ``live`` rose, and those at which it fell."""
    rows = phase.rows["live.evt"]
    state = np.vstack((np.zeros((1, t.shape.ports), np.int8), bits_of(rows, t.shape.ports).astype(np.int8)))
    step, at = np.diff(state, axis=0), cycles(rows)
    return [(at[step[:, p] > 0], at[step[:, p] < 0]) for p in range(t.shape.ports)]


def is_live(rises: Ints, falls: Ints, at: Ints) -> Ints:
    """Whether a port is live at these cycles: 1 or 0."""
    found: Ints = np.searchsorted(rises, at, side="right") - np.searchsorted(falls, at, side="right")
    return found


def dead_between(rises: Ints, falls: Ints, begin: int, end: int) -> bool:
    """Whether a port is dead in some cycle from ``begin`` to ``end``."""
    if not int(is_live(rises, falls, np.array([begin]))[0]):
        return True
    return bool(((falls > begin) & (falls <= end)).any())


def entered(t: Trace, p: int, rises: Ints, falls: Ints) -> tuple[Ints, Ints]:
    """E2, E3: cycles of the beats that entered input ``p``, and of the falls that left a frame unfinished.

    What the player offered of a frame whose port had died is not sent (``tb/hdl/frame_cut.sv``).
    """
    at = cycles(t.s[p])
    last = (t.s[p]["flags"] & LAST) != 0
    up = is_live(rises, falls, at)
    next_fall = np.append(falls, NEVER)
    inside, aborts = [], []
    open_at, cut = -1, False
    for c, ends, alive in zip(at.tolist(), last.tolist(), up.tolist(), strict=True):
        fall = int(next_fall[np.searchsorted(falls, open_at, side="right")]) if open_at >= 0 else NEVER
        if fall <= c:
            aborts.append(fall)
            open_at, cut = -1, True
        if not alive or cut:
            cut = not ends
            continue
        inside.append(c)
        open_at = -1 if ends else c
    if open_at >= 0 and (fall := int(next_fall[np.searchsorted(falls, open_at, side="right")])) < NEVER:
        aborts.append(fall)
    return np.array(inside, np.int64), np.array(aborts, np.int64)


def accounts(t: Trace, phase: PhaseRecords) -> list[str]:
    """In each epoch of an input, a cell is given back for each beat that entered and for each abort beat, no more, no
    fewer: when all is quiet the neighbour has every credit back."""
    s = t.shape
    rows = phase.rows["free.evt"]
    bits = bits_of(rows, s.ports * s.lanes * 2).reshape(len(rows), s.ports, s.lanes, 2).astype(np.int64)
    count = (bits[..., 0] + 2 * bits[..., 1]).sum(axis=2)
    out = []
    for p, (rises, falls) in enumerate(lives(t, phase)):
        inside, aborts = entered(t, p, rises, falls)
        edges = np.append(rises, NEVER)
        took = np.histogram(np.concatenate((inside, aborts)), edges)[0] if len(rises) else np.zeros(0, np.int64)
        gave = np.histogram(cycles(rows), edges, weights=count[:, p])[0] if len(rises) else took
        for k in np.flatnonzero(took != gave).tolist():
            end = "the end" if k + 1 == len(rises) else f"cycle {rises[k + 1]}"
            out.append(
                f"input {p}, from cycle {rises[k]} to {end}: {took[k]} beats entered, {gave[k]:.0f} cells given back"
            )
    return out


@dataclass(frozen=True)
class Way:
    """What a destination's groups may have been: set of ports, whether one was a multicast one, whether all were."""

    ports: frozenset[int]
    some: bool
    only: bool


def ways(item: PhaseItem, addr_w: int, ports: int) -> dict[int, Way]:
    """The way of each destination of an item, over all writes of table and groups."""
    groups: dict[int, list[tuple[int, int]]] = {}
    for _, group, mode, members in item.info["groups"]:
        groups.setdefault(group, []).append((mode, members))
    entries: dict[int, set[int]] = {}
    for _, index, _, group in item.info["table"]:
        entries.setdefault(index, set()).add(group)
    found = {}
    for index, numbers in entries.items():
        written = [w for g in numbers for w in groups.get(g, [])]
        members = frozenset(o for o in range(ports) if any(m >> o & 1 for _, m in written))
        cast = [mode == MULTICAST for mode, _ in written]
        found[item.cfg["prefix"] << addr_w | index] = Way(members, any(cast), all(cast))
    return found


def ways_of(t: Trace, item: PhaseItem, p: int) -> list[Way | None]:
    """The way of each frame of input ``p``; None for a destination that no table has."""
    batch = item.info["batch"].get(p)
    if batch is None:
        return []
    known = ways(item, t.shape.addr_w, t.shape.ports)
    return [known.get(d) for d in batch.dest.tolist()]


def once(t: Trace, phase: PhaseRecords) -> list[str]:
    """A frame leaves an output once, only one output unless its group was one for multicast, and only by a port that
    its group had."""
    out = []
    for p in range(t.shape.ports):
        way = ways_of(t, phase.item, p)
        by: dict[int, list[int]] = {}
        for o, left in enumerate(t.left):
            for n in left.number[left.source == p].tolist():
                by.setdefault(n, []).append(o)
        for n, outputs in by.items():
            mine = way[n] if n < len(way) else None
            if len(set(outputs)) < len(outputs):
                out.append(f"frame {p}/{n} left twice: by outputs {outputs}")
            elif mine is None:
                out.append(f"frame {p}/{n} left by outputs {outputs}, no table has its destination")
            elif len(outputs) > 1 and not mine.some:
                out.append(f"frame {p}/{n} left by outputs {outputs}, its group is not one for multicast")
            elif not mine.ports.issuperset(outputs):
                out.append(f"frame {p}/{n} left by outputs {outputs}, its group had {sorted(mine.ports)}")
    return out[:8]


def in_order(t: Trace, phase: PhaseRecords) -> list[str]:
    """Q3: frames of an input, output and lane leave as they entered, but for one that may have been moved: a frame is
    overtaken only if a port of its group was dead while it was inside. Multicast frames are never moved; those of
    groups that were both at times are left out."""
    live = lives(t, phase)
    crossed = spec().cycles("latency.switch.cross")
    out = []
    for o, left in enumerate(t.left):
        for p in range(t.shape.ports):
            way = ways_of(t, phase.item, p)
            for v in range(t.shape.lanes):
                mine = np.flatnonzero((left.source == p) & (left.lane == v))
                for cast in (False, True):
                    highest = -1
                    for k in mine.tolist():
                        n = int(left.number[k])
                        w = way[n] if n < len(way) else None
                        if w is None or w.some != cast or w.only != cast:
                            continue
                        if n > highest:
                            highest = n
                            continue
                        begin, end = int(t.entered[p].cycle[n]), int(left.cycle[k]) - crossed
                        if cast or not any(dead_between(*live[x], begin, end) for x in w.ports):
                            out.append(
                                f"output {o}, lane {v}: frame {p}/{n} was overtaken by {p}/{highest}, its ports lived"
                            )
    return out[:8]


def far_ends(t: Trace, phase: PhaseRecords) -> list[str]:
    """The far end of an output never holds more beats of a lane than it said it has cells for; it begins anew when its
    port comes up."""
    item = phase.item
    if not item.cfg["credit_en"]:
        return []
    out = []
    for o, (rises, falls) in enumerate(lives(t, phase)):
        m = t.m[o]
        if not len(m):
            continue
        at = cycles(m)
        # a frame begins behind a last beat, and with the first beat after a fall
        starts = np.unique(np.concatenate(([0], np.flatnonzero(m["flags"] & LAST) + 1, np.searchsorted(at, falls))))
        starts = starts[starts < len(m)].astype(np.int64)
        lane = np.repeat(lanes_of(m, starts, t.roce, t.shape.lanes), np.diff(np.append(starts, len(m))))
        pattern = item.ready.get(name("cr", o))
        go = np.ones(1, np.bool_) if pattern is None else np.asarray(pattern).astype(bool)
        returns = np.cumsum(np.resize(go, int(at.max()) + 2))[at]  # beats between two returns are held together
        epoch = np.searchsorted(rises, at, side="right")
        _, held = np.unique(np.stack((epoch, returns, lane)), axis=1, return_counts=True)
        if held.max() > item.cfg["credit_init"]:
            out.append(f"output {o}: {held.max()} beats at the far end, room for {item.cfg['credit_init']}")
    return out
