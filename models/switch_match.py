# SPDX-License-Identifier: Apache-2.0
"""What a cycle matches, and to whom the outputs are open: rules O4, M1, M7 and M8 of docs/switch.md."""

from __future__ import annotations

from models.jit import inlined
from models.switch_alloc import allocate
from models.switch_exact import booked, credit
from models.switch_index import ahead, cell, lane, lanes, ports_of, queue, upper, words
from models.switch_jit import ONE, ZERO, bit, empty, first_from, has, known, lowest
from models.switch_queue import discard, hold, leave, log
from models.switch_state import (
    ALL,
    BOOKED,
    BUSY_IN,
    BUSY_OUT,
    CREDIT,
    DISCARDS,
    FILL,
    IN_ASK,
    K_MC_LOST,
    LANES_OK,
    LEFT_IN,
    LEFT_OUT,
    LIVE,
    ML,
    MP,
    NI,
    NO,
    NOW,
    OUT_ASK,
    PAUSE_BEFORE,
    PICK,
    PICK_AT,
    PICK_LANE,
    Q_HEAD,
    SET,
    TO_DISCARD,
    TO_SET,
    Feed,
    Shape,
    State,
)  # fmt: skip


@inlined
def has_room(c: Shape, s: State, f: Feed, o: int) -> bool:
    """O4: room for a largest frame and a beat that may be taken now."""
    most = c.egress - c.beats - 1
    if ahead(c):
        return s.out[o * NO + FILL] <= most or booked(c, s, f, o) <= most
    return s.out[o * NO + BOOKED] <= most


@inlined
def lane_ok(c: Shape, s: State, f: Feed, o: int, v: int) -> bool:
    """O4: credit and pause of a lane."""
    if s.ol[lane(o, v) + PAUSE_BEFORE]:
        return False
    if not c.credit_en or s.ol[lane(o, v) + CREDIT] > c.beats:
        return True
    return ahead(c) and credit(c, s, f, o, v) > c.beats


@inlined
def _pick(c: Shape, s: State) -> None:
    """M8: one multicast frame is picked."""
    low = ZERO
    high = ZERO
    for v in range(lanes(c)):
        low |= s.mc[v * 2]
        high |= upper(c, s.mc[v * 2 + 1])
    if low | high == ZERO:
        return
    i = first_from(words(c), low, high, s.g[MP])
    v = s.inp[i * NI + ML]
    while not has(s.mc, v * 2, i):
        v = v + 1 if v + 1 < lanes(c) else 0
    s.g[PICK] = i
    s.g[PICK_AT] = s.g[NOW]
    s.g[PICK_LANE] = v


@inlined
def _end_pick(c: Shape, s: State, i: int, v: int) -> None:
    """M8: matched or given up, the next one has its turn."""
    s.g[MP] = i + 1 if i + 1 < c.ports else 0
    s.inp[i * NI + ML] = v + 1 if v + 1 < lanes(c) else 0
    s.g[PICK] = -1


@inlined
def _multicast(c: Shape, s: State, f: Feed) -> None:
    """M8: what is picked holds its input and outputs (in LEFT_IN, LEFT_OUT), and is matched when all are free."""
    i = s.g[PICK]
    if i < 0:
        if s.g[NOW] >= s.g[PICK_AT]:  # without a pick: the first cycle in which one may be made
            _pick(c, s)
        return
    t = s.g[NOW]
    if t < s.g[PICK_AT] + 2:
        return
    v = known(s.g[PICK_LANE])
    i = known(i)
    q = c.ports * lanes(c) + v
    slot = known(s.q[queue(c, i, q) + Q_HEAD])
    m = s.m
    ready = not has(m, BUSY_IN, i)
    open_all = True  # no branch waits for credit or a pause
    for w in range(words(c)):
        m[SET + w] = s.fset[ports_of(slot) + w] & m[LIVE + w]
        if m[SET + w] & m[BUSY_OUT + w] != ZERO:
            ready = False
        outs = m[SET + w]
        while outs != ZERO:
            o = lowest(outs, w)
            outs &= outs - ONE
            ready &= has_room(c, s, f, o)
            open_all &= lane_ok(c, s, f, o, v)
    if open_all:
        for w in range(words(c)):
            m[LEFT_OUT + w] &= ~m[SET + w]
        m[LEFT_IN + (i >> 6)] &= ~bit(i)
    if not (ready and open_all):
        if t == s.g[PICK_AT] + 1 + c.mcast_hold:
            _end_pick(c, s, i, v)
            s.g[PICK_AT] = t + 1 + c.mcast_hold
        return
    leave(c, s, i, q)
    if empty(m, SET):
        hold(s, i, TO_DISCARD, slot)
        log(c, s, s.g[NOW] + 1, K_MC_LOST, i, 1)
    else:
        hold(s, i, TO_SET, slot)
        for w in range(words(c)):
            s.fset[ports_of(slot) + w] = m[SET + w]
            m[BUSY_OUT + w] |= m[SET + w]
    _end_pick(c, s, i, v)
    s.g[PICK_AT] = 0


@inlined
def _requests(c: Shape, s: State, f: Feed) -> bool:
    """M1: ``req`` of each output in LEFT_OUT, the lanes that are open; False when nobody asks."""
    m = s.m
    asked = False
    for w in range(words(c)):
        outs = m[LEFT_OUT + w]
        while outs != ZERO:
            o = lowest(outs, w)
            outs &= outs - ONE
            low = ZERO
            high = ZERO
            ready = 0
            for v in range(lanes(c)):  # who asks first: most often nobody, and the rest takes longer
                some = s.col[cell(o, v)] & m[LEFT_IN]
                more = upper(c, s.col[cell(o, v) + 1] & m[LEFT_IN + 1])
                if some | more != ZERO and (ready or has_room(c, s, f, o)) and lane_ok(c, s, f, o, v):
                    ready |= 1 << v
                    low |= some
                    high |= more
            if low | high == ZERO:
                m[LEFT_OUT + w] &= ~bit(o)
                continue
            asked = True
            s.req[o * 2] = low
            s.req[o * 2 + 1] = high
            s.out[o * NO + LANES_OK] = ready
    return asked


@inlined
def match_all(c: Shape, s: State, f: Feed) -> None:
    """All matches of the cycle; BUSY_IN and BUSY_OUT say who is not free (O5)."""
    m = s.m
    for w in range(words(c)):
        m[LEFT_IN + w] = m[ALL + w] & ~m[BUSY_IN + w]
        m[LEFT_OUT + w] = m[LIVE + w] & ~m[BUSY_OUT + w]
    _multicast(c, s, f)
    some_in = False
    some_out = False
    for w in range(words(c)):
        ins = m[LEFT_IN + w] & m[DISCARDS + w]
        m[LEFT_IN + w] &= m[IN_ASK + w] & ~ins
        m[LEFT_OUT + w] &= m[OUT_ASK + w]
        some_in |= m[LEFT_IN + w] != ZERO
        some_out |= m[LEFT_OUT + w] != ZERO
        while ins != ZERO:
            discard(c, s, lowest(ins, w))
            ins &= ins - ONE
    if some_in and some_out and _requests(c, s, f):
        allocate(c, s)
