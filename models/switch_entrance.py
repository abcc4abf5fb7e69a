# SPDX-License-Identifier: Apache-2.0
"""Where beats come in: the player of an input, its credit gate, and rules E1 to E3 of docs/switch.md."""

from __future__ import annotations

from models.switch_jit import has, inlined
from models.switch_queue import new_frame
from models.switch_state import (
    ABORT,
    ABORTED,
    ALL,
    BEAT,
    DAMAGED,
    DEPTH,
    DONE,
    FIRST,
    FREED,
    FREED_BEFORE,
    GATE,
    GROUP,
    H_LANE,
    H_NEED,
    INSIDE,
    KEY,
    LANE,
    LIVE,
    MARK,
    NEED,
    NEXT,
    NOW,
    OPEN,
    PIPE,
    SLOT,
    STORED,
    STREAM_FIRST,
    STREAM_LANE,
    SWALLOWS,
    TAKEN,
    Feed,
    Shape,
    State,
)  # fmt: skip


@inlined
def _enter(s: State, f: Feed, i: int, beat: int, last: int) -> None:
    """A beat enters the pipe; the first one of a frame brings the frame's row."""
    t = s.g[NOW]
    stage = t & (DEPTH - 1)
    slot = -1
    if not s.inp[i, OPEN]:
        slot = new_frame(s, i)
        key = f.key[beat]
        s.frm[i, slot, FIRST] = beat
        s.frm[i, slot, STORED] = 0
        s.frm[i, slot, TAKEN] = 0
        s.frm[i, slot, DONE] = 0
        s.frm[i, slot, ABORTED] = 0
        s.frm[i, slot, DAMAGED] = 0
        s.frm[i, slot, MARK] = 0
        s.frm[i, slot, GROUP] = -1
        s.frm[i, slot, KEY] = key
        s.frm[i, slot, LANE] = f.head[key, H_LANE]
        s.frm[i, slot, NEED] = f.head[key, H_NEED]
        n = s.ent[stage, 0] + 1
        s.ent[stage, 0] = n
        s.ent[stage, n] = i
    s.inp[i, OPEN] = 1 - last
    s.pipe[stage, i, BEAT] = beat
    s.pipe[stage, i, SLOT] = slot
    s.inp[i, INSIDE] += 1
    s.g[PIPE] += 1


@inlined
def _passes(c: Shape, s: State, f: Feed, i: int, beat: int) -> bool:
    """The credit gate in front of the switch; it remembers the lane of the stream's frame."""
    if s.inp[i, STREAM_FIRST]:
        v = f.head[f.key[beat], H_LANE]
        if s.il[i, v, GATE] < c.beats:
            return False
        s.inp[i, STREAM_LANE] = v
    s.il[i, s.inp[i, STREAM_LANE], GATE] -= 1
    return True


@inlined
def entrances(c: Shape, s: State, f: Feed) -> None:
    """All inputs: what is accepted, swallowed, enters, and the abort beats."""
    t = s.g[NOW]
    s.ent[t & (DEPTH - 1), 0] = 0
    dead = s.m[LIVE, 0] != s.m[ALL, 0] or s.m[LIVE, 1] != s.m[ALL, 1]
    for i in range(c.ports):
        beat = s.inp[i, NEXT]
        offered = beat < f.end[i] and f.cycle[beat] <= t and t > 0
        if not offered and not dead:
            continue
        if not c.pfc and s.inp[i, INSIDE] >= c.cells:
            continue
        live = has(s.m[LIVE], i)
        accepted = offered and (not c.gate or _passes(c, s, f, i, beat))
        if accepted:
            last = f.last[beat]
            s.inp[i, NEXT] = beat + 1
            s.inp[i, STREAM_FIRST] = last
            f.taken[beat] = t
            f.cut[beat] = s.inp[i, SWALLOWS] != 0
            if not live or s.inp[i, SWALLOWS]:
                s.inp[i, SWALLOWS] = 1 - last
            else:
                _enter(s, f, i, beat, last)
        if not live and s.inp[i, OPEN]:
            _enter(s, f, i, ABORT, 1)
            if not accepted:
                s.inp[i, SWALLOWS] = 1


@inlined
def gates(c: Shape, s: State) -> None:
    """End of a cycle: the gates see what ``free_cells`` shows now, the cells given back in the cycle before."""
    for i in range(c.ports):
        for v in range(c.lanes):
            s.il[i, v, GATE] += s.il[i, v, FREED_BEFORE]
            if not has(s.m[LIVE], i):
                s.il[i, v, GATE] = c.quota
            s.il[i, v, FREED_BEFORE] = s.il[i, v, FREED]
            s.il[i, v, FREED] = 0


@inlined
def gates_settled(c: Shape, s: State) -> bool:
    """Whether no cell is on its way to a gate."""
    for i in range(c.ports):
        for v in range(c.lanes):
            if s.il[i, v, FREED_BEFORE] or s.il[i, v, FREED]:
                return False
    return True
