# SPDX-License-Identifier: Apache-2.0
"""From a beat in the pipe to its queue: rules F1 to F11, Q1 to Q3 of docs/switch.md."""

from __future__ import annotations

from models.switch_jit import ZERO, bit, ctz, first_from, has, inlined, nth, ones
from models.switch_queue import drop_frame, empty, join, leave, log
from models.switch_state import (
    ABORT,
    ABORTED,
    ABORTED_CODE,
    BEAT,
    BOOKED,
    CHOICE,
    CREDIT,
    CUT,
    DAMAGED,
    DEC,
    DEPTH,
    DONE,
    DROP_LANE,
    DROPS,
    FREED,
    FRESH,
    GROUP,
    H_BAD,
    H_DEST,
    H_FLOW,
    HELD,
    IN_ASK,
    INSIDE,
    K_DROP,
    K_FREE,
    K_PAUSE,
    K_STORED,
    KEY,
    LANE,
    LIVE,
    LONG,
    MALFORMED,
    MODE,
    MOVE,
    MOVES,
    NEED,
    NO_WAY,
    NOTHING,
    NOW,
    OVERFLOW,
    PAUSED,
    PIPE,
    SHORT,
    SLOT,
    SPRAY,
    STORED,
    UNKNOWN,
    UNSETTLED,
    Feed,
    Shape,
    State,
)  # fmt: skip

BY_FLOW, SPRAYING, ADAPTIVE, MULTICAST = range(4)


@inlined
def moves(c: Shape, s: State) -> None:
    """Q3: frames for a dead port leave their queue, and are in the pipe as if entered in the cycle before."""
    m = s.m
    t = s.g[NOW]
    stage = (t - 1) & (DEPTH - 1)
    for i in range(c.ports):
        if not has(m[IN_ASK], i) or s.pipe[(t - 1) & (DEPTH - 1), i, BEAT] != NOTHING or has(m[FRESH], i):
            continue
        out = -1
        lane = 0
        for w in range(c.words):
            for v in range(c.lanes):
                waits = s.row[i, v, w] & ~m[LIVE, w]
                if waits != ZERO:
                    o = w * 64 + ctz(waits)
                    if out < 0 or o < out:
                        out = o
                        lane = v
        if out < 0:
            continue
        slot = leave(c, s, i, out * c.lanes + lane)
        s.pipe[stage, i, BEAT] = MOVE
        s.pipe[stage, i, SLOT] = slot
        n = s.ent[stage, 0] + 1
        s.ent[stage, 0] = n
        s.ent[stage, n] = i
        s.g[MOVES] += 1


@inlined
def _group(c: Shape, s: State, stage: int, i: int, slot: int) -> None:
    """The group is read; for an adaptive one, the level of each output as the next cycle will show it."""
    group = s.frm[i, slot, GROUP]
    if group < 0:
        return
    mode = s.modes[group]
    s.frm[i, slot, MODE] = mode
    s.fset[i, slot, 0] = s.members[group, 0]
    s.fset[i, slot, 1] = s.members[group, 1]
    if mode == ADAPTIVE:
        v = s.frm[i, slot, LANE]
        for o in range(c.ports):
            used = c.credit_init - s.ol[o, v, CREDIT] if c.credit_en else s.out[o, BOOKED]
            s.lev[stage, i, o] = min(7, max(0, used) >> c.shift)


@inlined
def _candidates(c: Shape, s: State, f: Feed, stage: int, i: int, slot: int) -> None:
    """F3, F5, F6: what remains of the group; a frame by flow has its port."""
    low = s.fset[i, slot, 0]
    high = s.fset[i, slot, 1]
    mode = s.frm[i, slot, MODE]
    if mode == MULTICAST:
        s.fset[i, slot, i >> 6] &= ~bit(i)
        return
    low &= s.m[LIVE, 0]
    high &= s.m[LIVE, 1]
    if mode == BY_FLOW:
        count = ones(low) + ones(high)
        s.frm[i, slot, CHOICE] = -1
        if count:
            s.frm[i, slot, CHOICE] = nth(low, high, (f.head[s.frm[i, slot, KEY], H_FLOW] * count) >> 16)
        return
    if mode == ADAPTIVE:
        best = 8
        for o in range(c.ports):
            if ((low if o < 64 else high) & bit(o)) != ZERO:
                best = min(best, s.lev[stage, i, o])
        for o in range(c.ports):
            if s.lev[stage, i, o] != best:
                if o < 64:
                    low &= ~bit(o)
                else:
                    high &= ~bit(o)
    s.fset[i, slot, 0] = low
    s.fset[i, slot, 1] = high


@inlined
def _spray(c: Shape, s: State, f: Feed, i: int, slot: int, moved: bool) -> None:
    """F4: the pointer is read, and moves."""
    low = s.fset[i, slot, 0]
    high = s.fset[i, slot, 1]
    s.frm[i, slot, CHOICE] = -1
    if low | high == ZERO:
        return
    o = first_from(low, high, s.inp[i, SPRAY])
    s.frm[i, slot, CHOICE] = o
    if moved or not (f.head[s.frm[i, slot, KEY], H_BAD] or s.frm[i, slot, NEED] > min(c.beats, c.quota)):
        s.inp[i, SPRAY] = o + 1 if o + 1 < c.ports else 0


@inlined
def stages(c: Shape, s: State, f: Feed) -> None:
    """F2: frames on their way from entrance to decision."""
    t = s.g[NOW]
    for age in range(1, 5):
        stage = (t - age) & (DEPTH - 1)
        for n in range(s.ent[stage, 0]):
            i = s.ent[stage, n + 1]
            slot = s.pipe[stage, i, SLOT]
            moved = s.pipe[stage, i, BEAT] == MOVE
            if age == 1:
                dest = f.head[s.frm[i, slot, KEY], H_DEST]
                if not moved and dest >> c.addr_w == c.prefix:
                    s.frm[i, slot, GROUP] = s.table[dest & ((1 << c.addr_w) - 1)]
            elif age == 2:
                _group(c, s, stage, i, slot)
            elif s.frm[i, slot, GROUP] >= 0:
                mode = s.frm[i, slot, MODE]
                if age == 3:
                    _candidates(c, s, f, stage, i, slot)
                elif mode in (SPRAYING, ADAPTIVE):
                    _spray(c, s, f, i, slot, moved)


@inlined
def _no_way(s: State, i: int, slot: int) -> bool:
    """F7."""
    if s.frm[i, slot, MODE] == MULTICAST:
        return empty(s.fset[i, slot])
    return s.frm[i, slot, CHOICE] < 0


@inlined
def _reason(c: Shape, s: State, f: Feed, i: int, slot: int) -> int:
    """F8: why a frame is dropped whole, or 0."""
    need = s.frm[i, slot, NEED]
    if f.head[s.frm[i, slot, KEY], H_BAD]:
        return MALFORMED
    if need > c.beats or need > c.quota:
        return LONG
    if s.frm[i, slot, GROUP] < 0:
        return UNKNOWN
    if _no_way(s, i, slot):
        return NO_WAY
    if c.pfc and need > c.quota - s.il[i, s.frm[i, slot, LANE], HELD]:
        return OVERFLOW
    return 0


@inlined
def _queue(c: Shape, s: State, i: int, slot: int) -> int:
    """The queue that a frame's decision gives it."""
    v = s.frm[i, slot, LANE]
    if s.frm[i, slot, MODE] == MULTICAST:
        return c.ports * c.lanes + v
    return s.frm[i, slot, CHOICE] * c.lanes + v


@inlined
def free_cell(c: Shape, s: State, i: int, v: int) -> None:
    """A cell is given back in this cycle."""
    log(c, s, s.g[NOW] + c.free, K_FREE, i, v)
    s.il[i, v, FREED] += 1


@inlined
def _moved(c: Shape, s: State, i: int, slot: int) -> int:
    """Q3: the decision of a moved frame; returns its code."""
    s.g[MOVES] -= 1
    if _no_way(s, i, slot):
        join(c, s, i, c.ports * c.lanes + c.lanes, slot)
        return NO_WAY
    join(c, s, i, _queue(c, s, i, slot), slot)
    return 0


@inlined
def _store(c: Shape, s: State, i: int, beat: int, last: int, first: bool) -> int:
    """F9, Q1, Q2: a beat is stored; returns its code."""
    slot = s.inp[i, DEC]
    count = s.frm[i, slot, STORED] + 1
    s.frm[i, slot, STORED] = count
    s.il[i, s.inp[i, DROP_LANE], HELD] += 1
    s.g[UNSETTLED] = 1
    code = 0
    if beat == ABORT:
        s.frm[i, slot, ABORTED] = 1
        code = ABORTED_CODE
    elif count == s.frm[i, slot, NEED]:
        if not last:
            s.inp[i, DROPS] = 1
            code = CUT
    elif last:
        code = SHORT
    if last or code:
        s.frm[i, slot, DONE] = 1
    if code:
        s.frm[i, slot, DAMAGED] = 1
    if c.saf:
        if s.frm[i, slot, DONE]:
            join(c, s, i, c.ports * c.lanes + c.lanes if code else _queue(c, s, i, slot), slot)
    elif first:
        join(c, s, i, _queue(c, s, i, slot), slot)
    return code


@inlined
def decisions(c: Shape, s: State, f: Feed) -> None:
    """What happens to the beats that entered `lookup` cycles ago."""
    t = s.g[NOW]
    stage = (t - 5) & (DEPTH - 1)
    for i in range(c.ports):
        beat = s.pipe[stage, i, BEAT]
        if beat == NOTHING:
            continue
        s.pipe[stage, i, BEAT] = NOTHING
        slot = s.pipe[stage, i, SLOT]
        if beat == MOVE:
            code = _moved(c, s, i, slot)
        else:
            s.g[PIPE] -= 1
            code = 0
            first = slot >= 0
            if first:
                code = _reason(c, s, f, i, slot)
                s.inp[i, DEC] = slot
                s.inp[i, DROPS] = code
                s.inp[i, DROP_LANE] = s.frm[i, slot, LANE]
                if code:
                    drop_frame(s, i, slot)
                else:
                    log(c, s, t, K_STORED, i, 1)
            if s.inp[i, DROPS]:
                s.inp[i, INSIDE] -= 1
                free_cell(c, s, i, s.inp[i, DROP_LANE])
            else:
                code = _store(c, s, i, beat, 1 if beat == ABORT else f.last[beat], first)
        if code:
            log(c, s, t + c.drop_at, K_DROP, i, code)


@inlined
def pauses(c: Shape, s: State) -> None:
    """F11, from held as this cycle shows it, seen in the next."""
    for i in range(c.ports):
        for v in range(c.lanes):
            held = s.il[i, v, HELD]
            before = s.il[i, v, PAUSED]
            now = before
            if held >= c.xoff:
                now = 1
            elif held <= c.xon:
                now = 0
            if now != before:
                s.il[i, v, PAUSED] = now
                log(c, s, s.g[NOW] + 1, K_PAUSE, i * c.lanes + v, now)
