# SPDX-License-Identifier: Apache-2.0
"""From a beat in the pipe to its queue: rules F1 to F11, Q1 to Q5 of docs/switch.md."""

from __future__ import annotations

from models.jit import inlined
from models.switch_exact import used_of
from models.switch_index import ahead, cell, lane, lanes, piped, ports_of, words
from models.switch_jit import ONE, ZERO, bit, empty, first_from, has, known, lowest, nth, ones
from models.switch_queue import drop_frame, join, leave, log
from models.switch_state import (
    ABORT,
    ABORTED,
    ABORTED_CODE,
    ALL,
    AT_ONCE,
    BEAT,
    BEGUN,
    BEGUN_LANE,
    BY_STAGES,
    CALM_FROM,
    CALM_TO,
    CHOICE,
    CUT,
    DAMAGED,
    DEC,
    DEPTH,
    DEST,
    DONE,
    DROP_LANE,
    DROP_NEXT,
    DROPPING,
    DROPS,
    FLOW,
    FREED,
    FRESH,
    GIVES,
    GONE_LANE,
    GROUP,
    HELD,
    HIGH,
    IN_ASK,
    INFO,
    INFO_BAD,
    INSIDE,
    K_DROP,
    K_FREE,
    K_LATE,
    K_OWED,
    K_PAUSE,
    K_SAID,
    K_STORED,
    LANE,
    LATE,
    LATE_NEXT,
    LENGTH,
    LIVE,
    LONG,
    MALFORMED,
    MODE,
    MOST,
    MOVE,
    MOVES,
    NEED,
    NI,
    NO_GROUP,
    NO_WAY,
    NOW,
    OPEN_UNTIL,
    OVERFLOW,
    OWED,
    OWES,
    PAUSED,
    PIPE,
    SHORT,
    SLOT,
    SPRAY,
    STORED,
    UNKNOWN,
    UNREAD,
    UNSETTLED,
    UP,
    WAIT,
    WAITING,
    Feed,
    Shape,
    State,
)  # fmt: skip

BY_FLOW, SPRAYING, ADAPTIVE, MULTICAST = range(4)


@inlined
def moves(c: Shape, s: State) -> None:
    """Q3: frames for a dead port leave their queue, and are in the pipe as if entered in the cycle before. Q5: how long
    one has waited, and who is late in the next cycle."""
    m = s.m
    t = s.g[NOW]
    stage = (t - 1) & (DEPTH - 1)
    s.g[WAITING] = 0
    for i in range(c.ports):
        out = -1
        lane = 0
        for w in range(words(c)):
            if not has(m, IN_ASK, i):
                break
            for v in range(lanes(c)):
                waits = s.row[cell(i, v) + w] & ~m[LIVE + w]
                own = s.inp[i * NI + BEGUN]
                if has(m, FRESH, i) and own >= 0 and own >> 6 == w and s.inp[i * NI + BEGUN_LANE] == v:
                    waits &= ~bit(own)
                if waits != ZERO:
                    o = lowest(waits, w)
                    if out < 0 or o < out:
                        out = o
                        lane = v
        late = out >= 0 and (has(m, LATE, i) or s.inp[i * NI + WAIT] == c.move_wait)
        m[LATE_NEXT + (i >> 6)] &= ~bit(i)
        if late:
            m[LATE_NEXT + (i >> 6)] |= bit(i)
        if late or has(m, LATE, i):
            s.g[WAITING] = 1
        if out >= 0 and has(s.staged, stage * 2, i):
            s.inp[i * NI + WAIT] = min(s.inp[i * NI + WAIT] + 1, c.move_wait)
            s.g[WAITING] = 1
            continue
        s.inp[i * NI + WAIT] = 0
        if out < 0:
            continue
        slot = leave(c, s, i, out * lanes(c) + lane)
        s.staged[stage * 2 + (i >> 6)] |= bit(i)
        s.pipe[piped(stage, i) + BEAT] = MOVE
        s.pipe[piped(stage, i) + SLOT] = slot
        n = s.ent[stage * MOST] + 1
        s.ent[stage * MOST] = n
        s.ent[stage * MOST + n] = i
        s.g[MOVES] += 1


@inlined
def _group(c: Shape, s: State, f: Feed, stage: int, i: int, slot: int) -> None:
    """The group is read; for an adaptive one, the level of each output as the next cycle will show it."""
    group = s.frm[slot + GROUP]
    if group < 0:
        return
    group = known(group)
    mode = s.modes[group]
    s.frm[slot + MODE] = mode
    s.fset[ports_of(slot)] = s.members[group * 2]
    s.fset[ports_of(slot) + 1] = s.members[group * 2 + 1]
    several = ones(s.members[group * 2]) + ones(s.members[group * 2 + 1]) > 1
    if mode == ADAPTIVE and several:  # one alone needs no level
        v = known(s.frm[slot + LANE])
        for w in range(words(c)):
            outs = s.members[group * 2 + w]
            while outs != ZERO:
                o = lowest(outs, w)
                outs &= outs - ONE
                used = used_of(c, s, f, o, v)
                s.lev[(stage * c.ports + i) * c.ports + o] = min(7, max(0, used) >> c.shift)


@inlined
def _candidates(c: Shape, s: State, f: Feed, stage: int, i: int, slot: int) -> None:
    """F3, F5, F6: what remains of the group; a frame by flow has its port."""
    low = s.fset[ports_of(slot)]
    high = s.fset[ports_of(slot) + 1]
    mode = s.frm[slot + MODE]
    if mode == MULTICAST:
        s.fset[ports_of(slot) + (i >> 6)] &= ~bit(i)
        return
    low &= s.m[LIVE]
    high &= s.m[LIVE + 1]
    if mode == BY_FLOW:
        count = ones(low) + ones(high)
        s.frm[slot + CHOICE] = -1
        if count:
            s.frm[slot + CHOICE] = nth(low, high, ((s.frm[slot + INFO] & FLOW) * count) >> 16)
        return
    if mode == ADAPTIVE and ones(low) + ones(high) > 1:
        best = 8
        best_low = ZERO
        best_high = ZERO
        for w in range(words(c)):
            outs = low if w == 0 else high
            while outs != ZERO:
                o = lowest(outs, w)
                outs &= outs - ONE
                level = s.lev[(stage * c.ports + i) * c.ports + o]
                if level < best:
                    best = level
                    best_low = ZERO
                    best_high = ZERO
                if level == best:
                    if w == 0:
                        best_low |= bit(o)
                    else:
                        best_high |= bit(o)
        low = best_low
        high = best_high
    s.fset[ports_of(slot)] = low
    s.fset[ports_of(slot) + 1] = high


@inlined
def _spray(c: Shape, s: State, f: Feed, i: int, slot: int, moved: bool) -> None:
    """F4: the pointer is read, and moves."""
    low = s.fset[ports_of(slot)]
    high = s.fset[ports_of(slot) + 1]
    s.frm[slot + CHOICE] = -1
    if low | high == ZERO:
        return
    o = first_from(words(c), low, high, s.inp[i * NI + SPRAY])
    s.frm[slot + CHOICE] = o
    if moved or not (s.frm[slot + INFO] >> INFO_BAD & 1 or s.frm[slot + NEED] > min(c.beats, c.quota)):
        s.inp[i * NI + SPRAY] = o + 1 if o + 1 < c.ports else 0


@inlined
def _look_up(c: Shape, s: State, slot: int) -> None:
    """The table is read."""
    dest = s.frm[slot + DEST]
    s.frm[slot + GROUP] = s.table[dest & ((1 << c.addr_w) - 1)] if dest >> c.addr_w == c.prefix else NO_GROUP


@inlined
def _at_once(c: Shape, s: State, f: Feed, calm: bool, stage: int) -> None:
    """Frames that are decided in three cycles. While nothing is written and no port changes, the stages show what they
    would show in their own cycles, levels are those of this one, and an input's frames come in their order: all
    stages in one. An input with a frame that went by stages keeps to them until that one is decided."""
    t = s.g[NOW]
    for n in range(s.ent[stage * MOST]):
        i = known(s.ent[stage * MOST + n + 1])
        slot = known(s.pipe[piped(stage, i) + SLOT])
        if calm and s.inp[i * NI + BY_STAGES] < t:
            _look_up(c, s, slot)
            if s.frm[slot + GROUP] >= 0:
                _group(c, s, f, stage, i, slot)
                _candidates(c, s, f, stage, i, slot)
                if s.frm[slot + MODE] in (SPRAYING, ADAPTIVE):
                    _spray(c, s, f, i, slot, False)
                s.frm[slot + GROUP] = AT_ONCE
            continue
        if s.frm[slot + GROUP] == UNREAD:  # it was calm in the cycle before: the table is the same
            _look_up(c, s, slot)
        s.inp[i * NI + BY_STAGES] = s.g[OPEN_UNTIL] = t + 2
        _group(c, s, f, stage, i, slot)


@inlined
def stages(c: Shape, s: State, f: Feed) -> None:
    """F2: frames on their way from entrance to decision."""
    t = s.g[NOW]
    calm = ahead(c) and s.g[CALM_FROM] <= t < s.g[CALM_TO] and s.g[MOVES] == 0
    for w in range(words(c)):
        calm &= s.m[UP + w] == s.m[ALL + w] and s.m[LIVE + w] == s.m[ALL + w]
    for age in range(1, 5):
        stage = (t - age) & (DEPTH - 1)
        if ahead(c):
            if (age == 1 and calm) or (age > 2 and s.g[OPEN_UNTIL] < t):
                continue
            if age == 2:
                _at_once(c, s, f, calm, stage)
                continue
        for n in range(s.ent[stage * MOST]):
            i = known(s.ent[stage * MOST + n + 1])
            slot = known(s.pipe[piped(stage, i) + SLOT])
            moved = s.pipe[piped(stage, i) + BEAT] == MOVE
            if age == 1:
                if not moved:
                    _look_up(c, s, slot)
            elif age == 2:
                _group(c, s, f, stage, i, slot)
            elif 0 <= s.frm[slot + GROUP] < AT_ONCE:
                mode = s.frm[slot + MODE]
                if age == 3:
                    _candidates(c, s, f, stage, i, slot)
                elif mode in (SPRAYING, ADAPTIVE):
                    _spray(c, s, f, i, slot, moved)


@inlined
def _no_way(s: State, i: int, slot: int) -> bool:
    """F7."""
    if s.frm[slot + MODE] == MULTICAST:
        return empty(s.fset, ports_of(slot))
    return s.frm[slot + CHOICE] < 0


@inlined
def _reason(c: Shape, s: State, f: Feed, i: int, slot: int) -> int:
    """F8: why a frame is dropped whole, or 0."""
    need = s.frm[slot + NEED]
    if s.frm[slot + INFO] >> INFO_BAD & 1:
        return MALFORMED
    if need > c.beats or need > c.quota:
        return LONG
    if s.frm[slot + GROUP] < 0:
        return UNKNOWN
    if _no_way(s, i, slot):
        return NO_WAY
    if c.pfc and need > c.quota - s.il[lane(i, s.frm[slot + LANE]) + HELD]:
        return OVERFLOW
    return 0


@inlined
def _queue(c: Shape, s: State, i: int, slot: int) -> int:
    """The queue that a frame's decision gives it."""
    v = known(s.frm[slot + LANE])
    if s.frm[slot + MODE] == MULTICAST:
        return c.ports * lanes(c) + v
    return s.frm[slot + CHOICE] * lanes(c) + v


@inlined
def free_cell(c: Shape, s: State, f: Feed, i: int, v: int, beat: int) -> None:
    """A beat's cell is given back in this cycle."""
    if not ahead(c) and c.holds and (has(s.m, OWES, i) or (has(s.m, LATE, i) and has(s.m, LIVE, i))):
        log(c, s, s.g[NOW] + c.free, K_OWED, i, v)
        s.il[lane(i, v) + OWED] += 1
        s.m[OWES + (i >> 6)] |= bit(i)
        return
    if c.outside or beat < 0:
        log(c, s, s.g[NOW] + c.free, K_FREE, i, v)
    else:
        f.gone[beat] = (s.g[NOW] + c.free) << GONE_LANE | v
    if c.gate:
        s.il[lane(i, v) + FREED] += 1
        s.m[GIVES + (i >> 6)] |= bit(i)


@inlined
def _moved(c: Shape, s: State, i: int, slot: int) -> int:
    """Q3: the decision of a moved frame; returns its code."""
    s.g[MOVES] -= 1
    if _no_way(s, i, slot):
        join(c, s, i, c.ports * lanes(c) + lanes(c), slot)
        return NO_WAY
    join(c, s, i, _queue(c, s, i, slot), slot)
    return 0


@inlined
def _store(c: Shape, s: State, i: int, beat: int, last: int, first: bool) -> int:
    """F9, Q1, Q2: a beat is stored; returns its code."""
    slot = known(s.inp[i * NI + DEC])
    count = s.frm[slot + STORED] + 1
    s.frm[slot + STORED] = count
    s.il[lane(i, known(s.inp[i * NI + DROP_LANE])) + HELD] += 1
    s.g[UNSETTLED] = 1
    code = 0
    if beat == ABORT:
        s.frm[slot + ABORTED] = 1
        code = ABORTED_CODE
    elif count == s.frm[slot + NEED]:
        if not last:
            s.inp[i * NI + DROPS] = 1
            code = CUT
    elif last:
        code = SHORT
    if last or code:
        s.frm[slot + DONE] = 1
    if code:
        s.frm[slot + DAMAGED] = 1
    if c.saf:
        if s.frm[slot + DONE]:
            join(c, s, i, c.ports * lanes(c) + lanes(c) if code else _queue(c, s, i, slot), slot)
    elif first:
        join(c, s, i, _queue(c, s, i, slot), slot)
    return code


@inlined
def _decision(c: Shape, s: State, f: Feed, i: int, beat: int, slot: int) -> None:
    """What happens to a beat."""
    if beat == MOVE:
        code = _moved(c, s, i, known(slot))
    else:
        s.g[PIPE] -= 1
        code = 0
        first = slot >= 0
        if first:
            slot = known(slot)
            code = _reason(c, s, f, i, slot)
            s.inp[i * NI + DEC] = slot
            s.inp[i * NI + DROPS] = code
            s.inp[i * NI + DROP_LANE] = s.frm[slot + LANE]
            if code:
                drop_frame(c, s, i, slot)
            else:
                log(c, s, s.g[NOW], K_STORED, i, 1)
            if ahead(c) and s.frm[slot + LENGTH] > (1 if code else s.frm[slot + NEED]):
                s.m[DROPPING + (i >> 6)] |= bit(i)
                s.inp[i * NI + DROP_NEXT] = beat + (1 if code else s.frm[slot + NEED])
        if s.inp[i * NI + DROPS]:
            s.inp[i * NI + INSIDE] -= 1
            free_cell(c, s, f, i, known(s.inp[i * NI + DROP_LANE]), beat)
        elif ahead(c):
            s.g[UNSETTLED] = 1
            join(c, s, i, _queue(c, s, i, slot), slot)
        else:
            code = _store(c, s, i, beat, 1 if beat == ABORT else f.play[beat] & 1, first)
    if code:
        log(c, s, s.g[NOW] + c.drop_at, K_DROP, i, code)


@inlined
def decisions(c: Shape, s: State, f: Feed) -> None:
    """What happens to the beats that entered `lookup` cycles ago."""
    t = s.g[NOW]
    stage = (t - 5) & (DEPTH - 1)
    for w in range(words(c)):
        ins = s.staged[stage * 2 + w]
        s.staged[stage * 2 + w] = ZERO
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            _decision(c, s, f, i, s.pipe[piped(stage, i) + BEAT], s.pipe[piped(stage, i) + SLOT])


@inlined
def owes(c: Shape, s: State) -> None:
    """F10: what is said of cells that were given back, now or before."""
    m = s.m
    for w in range(words(c)):
        ins = m[OWES + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            m[OWES + w] &= ~bit(i)
            kept = c.quota if has(m, LATE, i) and has(m, LIVE, i) else 0
            for v in range(lanes(c)):
                at = lane(i, v)
                said = max(0, min(s.il[at + OWED] - kept, 3))
                s.il[at + OWED] -= said
                if s.il[at + OWED]:
                    m[OWES + w] |= bit(i)
                for _ in range(said):
                    log(c, s, s.g[NOW] + c.free, K_SAID, i, v)
                if c.gate and said:
                    s.il[at + FREED] += said
                    m[GIVES + w] |= bit(i)


@inlined
def late_settle(c: Shape, s: State) -> None:
    """Who is late in the next cycle."""
    m = s.m
    for w in range(words(c)):
        changed = m[LATE + w] ^ m[LATE_NEXT + w]
        while changed != ZERO:
            i = lowest(changed, w)
            changed &= changed - ONE
            log(c, s, s.g[NOW] + 1, K_LATE, i, 1 if has(m, LATE_NEXT, i) else 0)
        m[LATE + w] = m[LATE_NEXT + w]


@inlined
def pauses(c: Shape, s: State) -> None:
    """F11, from held as this cycle shows it, seen in the next."""
    for i in range(c.ports):
        for v in range(lanes(c)):
            held = s.il[lane(i, v) + HELD]
            high = s.il[lane(i, v) + HIGH]
            if held >= c.xoff:
                high = 1
            elif held <= c.xon:
                high = 0
            s.il[lane(i, v) + HIGH] = high
            now = 1 if has(s.m, LATE_NEXT, i) else high
            if now != s.il[lane(i, v) + PAUSED]:
                s.il[lane(i, v) + PAUSED] = now
                log(c, s, s.g[NOW] + 1, K_PAUSE, i * lanes(c) + v, now)
