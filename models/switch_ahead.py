# SPDX-License-Identifier: Apache-2.0
"""Whole frames at once, where nothing can come between their beats: rules E, F9, M2 and O6 of docs/switch.md.

Cut through, without pauses of lanes and with all ports up (``Shape.ahead``), a frame's beats come, are taken and leave
in cycles that are known once the first one is: nothing else has a say (O4 keeps room and credit for a largest frame).
They are written down at once; counters run ahead, and are made exact for who has to know: who finds too little.
"""

from __future__ import annotations

from models.jit import inlined
from models.switch_exact import drain, returned, taken_at
from models.switch_exit import marks, pattern
from models.switch_forward import free_cell
from models.switch_index import lane, lanes, ports_of, words
from models.switch_jit import ONE, ZERO, bit, known, lowest
from models.switch_queue import drop_frame, log, release
from models.switch_state import (
    BUSY_IN,
    BUSY_OUT,
    BUSY_UNTIL,
    CREDIT,
    CREDIT_AT,
    CREDIT_CYCLE,
    CUR,
    CUT,
    DROP_LANE,
    DROP_NEXT,
    DROPPING,
    DUE,
    FILL,
    FIRST,
    FREED,
    FREED_BEFORE,
    GATE,
    GAVE,
    GIVEN_FILL,
    GIVEN_HEAD,
    GIVES,
    GONE_LANE,
    HEAD,
    INSIDE,
    K_DROP,
    K_OUT,
    LANE,
    LEFT,
    LEFT_COUNT,
    LENGTH,
    MARK,
    META_BEAT,
    META_FIRST,
    META_INPUT,
    META_LANE,
    META_LAST,
    META_MARKED,
    META_USER,
    NEED,
    NEVER,
    NEXT,
    NI,
    NO,
    NOW,
    OPEN,
    OUT_BEAT,
    OUT_FIRST,
    OUT_LANE,
    OWN,
    PASSED_GATE,
    PASSED_IN,
    READY_AT,
    SHORT,
    STREAM_FIRST,
    STREAM_LANE,
    TAKEN,
    TO_SET,
    UNSETTLED,
    WAKE,
    Feed,
    Shape,
    State,
)  # fmt: skip


@inlined
def follow(c: Shape, s: State, f: Feed, i: int, beat: int, last: int) -> None:
    """Behind a beat accepted now: those of its frame of which the cycle is known too. The next one waits for its
    turn, or for a cell."""
    t = s.g[NOW]
    inside = s.inp[i * NI + INSIDE]
    end = f.end[i]
    gate = lane(i, known(s.inp[i * NI + STREAM_LANE])) + GATE
    while True:
        beat += 1
        if beat >= end:
            t = NEVER
            break
        play = f.play[beat]
        t = max(t + 1, play >> 1)
        if last or inside >= c.cells:
            break
        last = play & 1
        f.taken[beat] = t
        inside += 1
        if c.gate:
            s.il[gate] -= 1
    s.inp[i * NI + INSIDE] = inside
    s.inp[i * NI + NEXT] = beat
    s.inp[i * NI + DUE] = t
    s.inp[i * NI + OPEN] = 1 - last
    s.inp[i * NI + STREAM_FIRST] = last


@inlined
def drops(c: Shape, s: State, f: Feed) -> None:
    """Beats behind the first one of a frame that is dropped, and behind the last one stored of one that is cut."""
    for w in range(words(c)):
        ins = s.m[DROPPING + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            beat = known(s.inp[i * NI + DROP_NEXT])
            if beat < s.inp[i * NI + NEXT] and f.taken[beat] + 5 <= s.g[NOW]:
                s.inp[i * NI + INSIDE] -= 1
                free_cell(c, s, f, i, known(s.inp[i * NI + DROP_LANE]), beat)
                s.inp[i * NI + DROP_NEXT] = beat + 1
                if f.play[beat] & 1 or beat + 1 == f.end[i]:
                    s.m[DROPPING + w] &= ~bit(i)


@inlined
def _next_set(s: State, f: Feed, o: int, t: int, credits: bool) -> int:
    """The first cycle from ``t`` on in which ``o`` is ready, or gives credits back."""
    if credits:
        n = f.credit_at[o * 2 + 1]
        for _ in range(n):
            if pattern(s, f.credit, f.credit_at, o, CREDIT_AT, t):
                return t
            t += 1
    else:
        n = f.ready_at[o * 2 + 1]
        for _ in range(n):
            if pattern(s, f.ready, f.ready_at, o, READY_AT, t):
                return t
            t += 1
    return t if n == 0 else NEVER


@inlined
def _send(c: Shape, s: State, f: Feed, o: int, slot: int, n: int, end: int, p: int, base: int) -> int:
    """Beats ``n`` to ``end`` of a frame for ``o``, the first one taken after ``p`` at the earliest: when each is taken
    and leaves, and its credit comes back. Returns when the last one is taken."""
    v = known(s.frm[slot + LANE])
    first = s.frm[slot + FIRST]
    head = s.out[o * NO + HEAD]
    fill = s.out[o * NO + FILL]
    fifo = o * c.egress
    to = head + fill - 1
    to = c.egress - 1 if to < 0 else to
    to = to - c.egress if to >= c.egress else to
    leaves = s.fifo[known(fifo + to)]  # the last one's row is kept when it is gone
    back = 0
    always = f.ready_at[o * 2 + 1] == 0
    row = known(s.g[LEFT])
    base |= o
    for beat in range(first + n, first + end):
        p = max(p + 1, f.taken[beat] + 6)
        f.gone[beat] = (p + c.free) << GONE_LANE | v
        if fill == c.egress:
            s.out[o * NO + HEAD] = head
            s.out[o * NO + FILL] = fill
            drain(c, s, o)
            head = s.out[o * NO + HEAD]
            fill = s.out[o * NO + FILL]
        leaves = max(p + c.cross, leaves + 1)
        if not always:
            leaves = min(NEVER, _next_set(s, f, o, leaves, False))
        to = to + 1 if to + 1 < c.egress else 0
        s.fifo[known(fifo + to)] = leaves
        fill += 1
        s.left[row * 2] = leaves
        s.left[row * 2 + 1] = beat << META_BEAT | base
        row += 1
        if c.credit_en:
            k = lane(o, v)
            s.ol[k + CREDIT] -= 1
            if s.ol[k + GIVEN_FILL] == c.credit_init:
                returned(c, s, o, v)
            # credits of several beats come back in one cycle: never before those of the beat before
            back = min(NEVER, _next_set(s, f, o, max(leaves + 1, s.out[o * NO + CREDIT_CYCLE]), True))
            at = s.ol[k + GIVEN_HEAD] + s.ol[k + GIVEN_FILL]
            at = at - c.credit_init if at >= c.credit_init else at
            s.given[known((o * lanes(c) + v) * c.credit_init + at)] = back
            s.ol[k + GIVEN_FILL] += 1
    s.out[o * NO + HEAD] = head
    s.out[o * NO + FILL] = fill
    s.out[o * NO + OUT_BEAT] = first + end - 1
    s.g[BUSY_UNTIL] = max(s.g[BUSY_UNTIL], leaves, back)
    if (c.record >> K_OUT) & 1:
        at = known(s.g[LEFT])
        if n == 0:
            s.left[at * 2 + 1] |= 1 << META_FIRST
        s.left[row * 2 - 1] |= _ending(s, slot, end)
        s.g[LEFT] = row
        s.out[o * NO + LEFT_COUNT] += end - n
    return p


@inlined
def _ending(s: State, slot: int, end: int) -> int:
    """Bits of the last beat before ``end``."""
    length = s.frm[slot + LENGTH]
    need = s.frm[slot + NEED]
    if end < min(length, need):
        return 0
    return 1 << META_LAST | (1 << META_USER if length != need else 0)


@inlined
def _begin(s: State, o: int, beat: int, v: int) -> None:
    """A frame's first beat goes to ``o``."""
    s.out[o * NO + OUT_FIRST] = beat
    s.out[o * NO + OUT_LANE] = v


@inlined
def _end(c: Shape, s: State, f: Feed, i: int, slot: int, v: int) -> None:
    """The last beat is taken now: counters become exact."""
    t = s.g[NOW]
    n = s.frm[slot + TAKEN]
    s.inp[i * NI + INSIDE] -= n - s.inp[i * NI + PASSED_IN]
    s.inp[i * NI + PASSED_IN] = 0
    if c.gate:
        at = lane(i, v)
        for k in range(s.inp[i * NI + PASSED_GATE], n):
            p = taken_at(c, f, known(s.frm[slot + FIRST] + k))
            if p >= t:
                s.il[at + FREED] += 1
                s.m[GIVES + (i >> 6)] |= bit(i)
            elif p == t - 1:
                s.il[at + FREED_BEFORE] += 1
                s.m[GAVE + (i >> 6)] |= bit(i)
            else:
                s.il[at + GATE] += 1
        s.inp[i * NI + PASSED_GATE] = 0
    if s.inp[i * NI + OWN] == TO_SET:
        for x in range(words(c)):
            s.m[BUSY_OUT + x] &= ~s.fset[ports_of(slot) + x]
    release(s, i)
    drop_frame(c, s, i, slot)
    s.g[UNSETTLED] = 1


@inlined
def _take(c: Shape, s: State, f: Feed, i: int) -> None:
    """M2: beats of a match, all of which the cycle is known; WAKE: when to look again."""
    slot = known(s.inp[i * NI + CUR])
    n = s.frm[slot + TAKEN]
    length = s.frm[slot + LENGTH]
    need = s.frm[slot + NEED]
    stored = min(length, need)
    v = known(s.frm[slot + LANE])
    first = known(s.frm[slot + FIRST])
    own = s.inp[i * NI + OWN]
    p = s.g[NOW]
    if n == 0:
        marks(c, s, i, own, v, slot)
        if own >= 0:
            _begin(s, own, first, v)
        else:
            for x in range(words(c)):
                outs = s.fset[ports_of(slot) + x]
                while outs != ZERO:
                    _begin(s, lowest(outs, x), first, v)
                    outs &= outs - ONE
    elif n < stored:
        p = max(p, taken_at(c, f, first + n - 1) + 1)
    base = i << META_INPUT | v << META_LANE | s.frm[slot + MARK] << META_MARKED
    arrived = min(stored, s.inp[i * NI + NEXT] - first)
    if n < arrived:
        for x in range(words(c)):
            outs = s.fset[ports_of(slot) + x]
            if own >= 0:
                outs = bit(own) if own >> 6 == x else ZERO
            while outs != ZERO:
                _send(c, s, f, lowest(outs, x), slot, n, arrived, p - 1, base)
                outs &= outs - ONE
        n = arrived
        if n == stored and length != need:
            log(c, s, f.taken[first + n - 1] + 5 + c.drop_at, K_DROP, i, CUT if length > need else SHORT)
    s.frm[slot + TAKEN] = n
    s.inp[i * NI + WAKE] = s.g[NOW] + 1
    if n == stored:
        p = taken_at(c, f, first + n - 1)
        s.inp[i * NI + WAKE] = p
        if p <= s.g[NOW]:
            _end(c, s, f, i, slot, v)


@inlined
def takes_ahead(c: Shape, s: State, f: Feed) -> None:
    """All matches with something to take, or that end."""
    for w in range(words(c)):
        ins = s.m[BUSY_IN + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            if s.inp[i * NI + WAKE] <= s.g[NOW]:
                _take(c, s, f, i)
