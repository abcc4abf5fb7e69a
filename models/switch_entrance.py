# SPDX-License-Identifier: Apache-2.0
"""Where beats come in: the player of an input, its credit gate, and rules E1 to E3 of docs/switch.md."""

from __future__ import annotations

from models.jit import inlined
from models.switch_ahead import follow
from models.switch_exact import closed, full
from models.switch_index import ahead, lane, lanes, piped, words
from models.switch_jit import ONE, ZERO, bit, empty, has, known, lowest
from models.switch_queue import new_frame
from models.switch_state import (
    ABORT,
    ABORTED,
    ALL,
    BEAT,
    DAMAGED,
    DEPTH,
    DEST,
    DONE,
    DUE,
    FIRST,
    FREED,
    FREED_BEFORE,
    GATE,
    GAVE,
    GIVES,
    GROUP,
    H_BEATS,
    H_DEST,
    H_INFO,
    HEADS,
    INFO,
    INFO_LANE,
    INFO_NEED,
    INSIDE,
    LANE,
    LATE,
    LENGTH,
    LIVE,
    MARK,
    MOST,
    NEED,
    NEVER,
    NEXT,
    NH,
    NI,
    NOW,
    OPEN,
    PIPE,
    SLOT,
    STORED,
    STREAM_FIRST,
    STREAM_LANE,
    SWALLOWS,
    TAKEN,
    UNREAD,
    Feed,
    Shape,
    State,
)  # fmt: skip


@inlined
def _head(c: Shape, s: State, i: int, beat: int) -> int:
    """Where the head of the frame that begins with ``beat`` is."""
    return known(beat if c.each else s.inp[i * NI + HEADS]) * NH


@inlined
def _enter(c: Shape, s: State, f: Feed, i: int, beat: int, last: int) -> None:
    """A beat enters the pipe; the first one of a frame brings the frame's row."""
    t = s.g[NOW]
    stage = t & (DEPTH - 1)
    slot = -1
    if not s.inp[i * NI + OPEN]:
        slot = new_frame(c, s, i)
        key = _head(c, s, i, beat)
        s.inp[i * NI + HEADS] += 1
        info = f.head[key + H_INFO]
        s.frm[slot + FIRST] = beat
        s.frm[slot + STORED] = 0
        s.frm[slot + TAKEN] = 0
        s.frm[slot + DONE] = 0
        s.frm[slot + ABORTED] = 0
        s.frm[slot + DAMAGED] = 0
        s.frm[slot + MARK] = 0
        s.frm[slot + GROUP] = UNREAD
        s.frm[slot + DEST] = f.head[key + H_DEST]
        s.frm[slot + INFO] = info
        s.frm[slot + LANE] = info >> INFO_LANE & 7
        s.frm[slot + NEED] = info >> INFO_NEED
        s.frm[slot + LENGTH] = f.head[key + H_BEATS]
        n = s.ent[stage * MOST] + 1
        s.ent[stage * MOST] = n
        s.ent[stage * MOST + n] = i
    s.inp[i * NI + OPEN] = 1 - last
    s.staged[stage * 2 + (i >> 6)] |= bit(i)
    s.pipe[piped(stage, i) + BEAT] = beat
    s.pipe[piped(stage, i) + SLOT] = slot
    s.inp[i * NI + INSIDE] += 1
    s.g[PIPE] += 1


@inlined
def _passes(c: Shape, s: State, f: Feed, i: int, beat: int) -> bool:
    """The credit gate in front of the switch; it remembers the lane of the stream's frame. The rest of a cut frame
    (E2) passes and takes no credit: it never enters, so its cells never come back."""
    if s.inp[i * NI + STREAM_FIRST]:
        v = f.head[_head(c, s, i, beat) + H_INFO] >> INFO_LANE & 7
        if closed(c, s, f, i, v) if ahead(c) else s.il[lane(i, v) + GATE] < c.beats:
            return False
        s.inp[i * NI + STREAM_LANE] = v
    if not s.inp[i * NI + SWALLOWS]:
        s.il[lane(i, known(s.inp[i * NI + STREAM_LANE])) + GATE] -= 1
    return True


@inlined
def _stopped(c: Shape, s: State, i: int) -> bool:
    """E1: ``tready`` is 0."""
    if c.pfc:
        return False
    return s.inp[i * NI + INSIDE] >= c.cells or (not c.credit_en and has(s.m, LATE, i))


@inlined
def entrances(c: Shape, s: State, f: Feed) -> None:
    """All inputs: what is accepted, swallowed, enters, and the abort beats."""
    t = s.g[NOW]
    s.ent[(t & (DEPTH - 1)) * MOST] = 0
    dead = s.m[LIVE] != s.m[ALL] or s.m[LIVE + 1] != s.m[ALL + 1]
    for i in range(c.ports):
        offered = s.inp[i * NI + DUE] <= t
        if not offered and not dead:
            continue
        if full(c, s, f, i) if ahead(c) else _stopped(c, s, i):
            continue
        live = has(s.m, LIVE, i)
        beat = known(s.inp[i * NI + NEXT])
        accepted = offered and (not c.gate or _passes(c, s, f, i, beat))
        if accepted:
            last = f.play[beat] & 1
            s.inp[i * NI + NEXT] = beat + 1
            s.inp[i * NI + DUE] = f.play[beat + 1] >> 1 if beat + 1 < f.end[i] else NEVER
            s.inp[i * NI + STREAM_FIRST] = last
            f.taken[beat] = t
            if s.inp[i * NI + SWALLOWS]:
                f.cut[beat] = True
            if not live or s.inp[i * NI + SWALLOWS]:
                s.inp[i * NI + SWALLOWS] = 1 - last
            elif ahead(c):
                if s.inp[i * NI + OPEN]:
                    s.inp[i * NI + INSIDE] += 1
                else:
                    _enter(c, s, f, i, beat, last)
                follow(c, s, f, i, beat, last)
            else:
                _enter(c, s, f, i, beat, last)
        if not live and s.inp[i * NI + OPEN]:
            _enter(c, s, f, i, ABORT, 1)
            if not accepted:
                s.inp[i * NI + SWALLOWS] = 1


@inlined
def due(c: Shape, s: State, f: Feed) -> None:
    """When the next beat of each input is offered: never before cycle 1."""
    for i in range(c.ports):
        beat = known(s.inp[i * NI + NEXT])
        s.inp[i * NI + DUE] = max(1, f.play[beat] >> 1) if beat < f.end[i] else NEVER


@inlined
def gates(c: Shape, s: State) -> None:
    """End of a cycle: the gates see what ``free_cells`` shows now, the cells given back in the cycle before."""
    m = s.m
    for w in range(words(c)):
        ins = m[GIVES + w] | m[GAVE + w] | m[ALL + w] & ~m[LIVE + w]
        m[GAVE + w] = m[GIVES + w]
        m[GIVES + w] = ZERO
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            for v in range(lanes(c)):
                at = lane(i, v)
                s.il[at + GATE] += s.il[at + FREED_BEFORE]
                if not has(m, LIVE, i):
                    s.il[at + GATE] = c.quota
                s.il[at + FREED_BEFORE] = s.il[at + FREED]
                s.il[at + FREED] = 0


@inlined
def gates_settled(s: State) -> bool:
    """Whether no cell is on its way to a gate."""
    return empty(s.m, GAVE)
