# SPDX-License-Identifier: Apache-2.0
"""Beats that are taken and beats that leave: rules M2, O1 to O3, O6 and C1 of docs/switch.md."""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.switch_forward import free_cell
from models.switch_index import lane, lanes, ports_of, queue, words
from models.switch_jit import ONE, ZERO, bit, empty, has, known, lowest
from models.switch_queue import drop_frame, log, release
from models.switch_state import (
    ABORT,
    ABORTED,
    ALL,
    AT,
    BEGUN,
    BEGUN_LANE,
    BOOKED,
    BUSY_IN,
    BUSY_OUT,
    CREDIT,
    CREDIT_AT,
    CREDITS,
    CUR,
    DAMAGED,
    DONE,
    FILL,
    FIRST,
    FRESH,
    HEAD,
    HELD,
    INFO,
    INFO_ECT,
    INSIDE,
    K_ECN,
    K_LIVE,
    K_LOST,
    K_OUT,
    K_TAKE,
    LANE,
    LEFT,
    LEFT_COUNT,
    LIVE,
    LIVE_NEXT,
    MARK,
    META,
    META_BEAT,
    META_FIRST,
    META_INPUT,
    META_LANE,
    META_LAST,
    META_MARKED,
    META_USER,
    NE,
    NI,
    NO,
    NOW,
    OPEN,
    OUT_WAITS,
    OWES,
    OWN,
    PEND,
    Q_FILL,
    READY_AT,
    STORED,
    TAKEN,
    TAKES,
    TO_SET,
    UNSETTLED,
    UP,
    Feed,
    Shape,
    State,
)  # fmt: skip


@inlined
def _push(c: Shape, s: State, o: int, beat: int, meta: int) -> None:
    """A beat goes to the FIFO of output ``o``."""
    log(c, s, s.g[NOW], K_TAKE, o | meta, beat)
    if c.outside:
        return
    n = s.out[o * NO + FILL]
    at = s.out[o * NO + HEAD] + n
    at = at if at < c.egress else at - c.egress
    k = known(o * c.egress + at) * NE
    s.fifo[k + AT] = s.g[NOW] + c.cross
    s.fifo[k + META] = beat << META_BEAT | meta | o
    s.out[o * NO + FILL] = n + 1
    s.m[OUT_WAITS + (o >> 6)] |= bit(o)


@inlined
def marks(c: Shape, s: State, i: int, own: int, v: int, slot: int) -> None:
    """C1: a frame's first beat is taken."""
    deep = c.ecn and own >= 0 and s.q[queue(c, i, own * lanes(c) + v) + Q_FILL] + 1 >= c.ecn
    if deep and s.frm[slot + INFO] >> INFO_ECT & 1:
        s.frm[slot + MARK] = 1
        log(c, s, s.g[NOW] + c.ecn_at, K_ECN, own, 1)


@inlined
def takes(c: Shape, s: State, f: Feed) -> None:
    """M2: a beat of each match whose next beat is stored. What it changes in counters is kept for :func:`settle`."""
    m = s.m
    s.g[TAKES] = 0
    for w in range(words(c)):
        m[FRESH + w] = ZERO
    for w in range(words(c)):
        ins = m[BUSY_IN + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            slot = known(s.inp[i * NI + CUR])
            n = s.frm[slot + TAKEN]
            stored = s.frm[slot + STORED]
            if n >= stored:
                continue
            s.frm[slot + TAKEN] = n + 1
            own = s.inp[i * NI + OWN]
            v = known(s.frm[slot + LANE])
            if n == 0:
                m[FRESH + w] |= bit(i)
                s.inp[i * NI + BEGUN] = own
                s.inp[i * NI + BEGUN_LANE] = v
                marks(c, s, i, own, v, slot)
            last = 0
            beat = s.frm[slot + FIRST] + n
            user = 0
            if s.frm[slot + DONE] and n + 1 == stored:
                last = 1
                user = s.frm[slot + DAMAGED]
                if s.frm[slot + ABORTED]:
                    beat = ABORT
            meta = (i << META_INPUT) | (v << META_LANE) | (last << META_LAST) | (user << META_USER)
            meta |= s.frm[slot + MARK] << META_MARKED | (n == 0) << META_FIRST
            if own >= 0:
                _push(c, s, own, beat, meta)
            elif own == TO_SET:
                for x in range(words(c)):
                    outs = s.fset[ports_of(slot) + x]
                    while outs != ZERO:
                        _push(c, s, lowest(outs, x), beat, meta)
                        outs &= outs - ONE
            free_cell(c, s, f, i, v, beat)
            k = known(s.g[TAKES])
            s.took[k * 4] = i
            s.took[k * 4 + 1] = v
            s.took[k * 4 + 2] = own
            s.took[k * 4 + 3] = slot
            s.g[TAKES] = k + 1
            if last:
                if own == TO_SET:
                    for x in range(words(c)):
                        m[BUSY_OUT + x] &= ~s.fset[ports_of(slot) + x]
                release(s, i)
                # a branch's set is still read by settle: the row is not given away before the next cycle
                drop_frame(c, s, i, slot)


@inlined
def _booked(c: Shape, s: State, o: int, v: int) -> None:
    """O2, O3: a beat was taken for an output."""
    s.out[o * NO + BOOKED] += 1
    s.ol[lane(o, v) + CREDIT] -= 1


@inlined
def settle(c: Shape, s: State) -> None:
    """Counters of the beats taken in this cycle, as the next one shows them."""
    for k in range(s.g[TAKES]):
        i = known(s.took[k * 4])
        v = known(s.took[k * 4 + 1])
        own = s.took[k * 4 + 2]
        s.inp[i * NI + INSIDE] -= 1
        s.il[lane(i, v) + HELD] -= 1
        s.g[UNSETTLED] = 1
        if own >= 0:
            _booked(c, s, own, v)
        elif own == TO_SET:
            slot = known(s.took[k * 4 + 3])  # the input may be matched again already
            for x in range(words(c)):
                outs = s.fset[ports_of(slot) + x]
                while outs != ZERO:
                    _booked(c, s, lowest(outs, x), v)
                    outs &= outs - ONE


@inlined
def pattern(s: State, bits: Any, at: Any, o: int, column: int, t: int) -> bool:
    """Whether a pattern's bit is set at ``t``. Where it is in the pattern is known from the last time (``column``, and
    the next one): a division takes longer than all the rest."""
    n = at[o * 2 + 1]
    if n == 0:
        return True
    k = o * NO + column
    now = s.out[k] + t - s.out[k + 1]
    if now >= n:
        now -= n
        if now >= n:
            now %= n
    s.out[k] = now
    s.out[k + 1] = t
    return bits[known(at[o * 2] + now)] != 0


@inlined
def exits(c: Shape, s: State, f: Feed) -> None:
    """O6: one beat of each output, if it is there, and accepted or lost. Credits that the far end gives back."""
    t = s.g[NOW]
    m = s.m
    for w in range(words(c)):
        outs = m[CREDITS + w]
        while outs != ZERO:
            o = lowest(outs, w)
            outs &= outs - ONE
            if pattern(s, f.credit, f.credit_at, o, CREDIT_AT, t):
                m[CREDITS + w] &= ~bit(o)
                for v in range(lanes(c)):
                    s.ol[lane(o, v) + CREDIT] += s.ol[lane(o, v) + PEND]
                    s.ol[lane(o, v) + PEND] = 0
        outs = m[OUT_WAITS + w]
        while outs != ZERO:
            o = lowest(outs, w)
            outs &= outs - ONE
            at = s.out[o * NO + HEAD]
            k = known(o * c.egress + at) * NE
            if s.fifo[k + AT] > t:
                continue
            meta = s.fifo[k + META]
            if has(s.m, LIVE, o):
                if not pattern(s, f.ready, f.ready_at, o, READY_AT, t):
                    continue
                if (c.record >> K_OUT) & 1:
                    n = known(s.g[LEFT])
                    s.left[n * 2] = t
                    s.left[n * 2 + 1] = meta
                    s.g[LEFT] = n + 1
                    s.out[o * NO + LEFT_COUNT] += 1
                if c.credit_en:
                    m[CREDITS + w] |= bit(o)
                    s.ol[lane(o, (meta >> META_LANE) & 15) + PEND] += 1
            elif (meta >> META_LAST) & 1:
                log(c, s, t, K_LOST, o, 1)
            s.out[o * NO + HEAD] = at + 1 if at + 1 < c.egress else 0
            s.out[o * NO + FILL] -= 1
            s.out[o * NO + BOOKED] -= 1
            if s.out[o * NO + FILL] == 0:
                m[OUT_WAITS + w] &= ~bit(o)


@inlined
def lives(c: Shape, s: State) -> None:
    """O1: what live shows in the next cycle, from what this one shows."""
    m = s.m
    for w in range(words(c)):
        now = m[UP + w] & m[LIVE + w]
        rising = m[UP + w] & ~m[LIVE + w] & ~m[BUSY_OUT + w] & ~m[OWES + w]
        while rising != ZERO:
            o = lowest(rising, w)
            rising &= rising - ONE
            if s.out[o * NO + BOOKED] == 0 and s.inp[o * NI + INSIDE] == 0 and s.inp[o * NI + OPEN] == 0:
                now |= bit(o)
        m[LIVE_NEXT + w] = now


@inlined
def lives_settle(c: Shape, s: State) -> None:
    """The next cycle's live, and the credits of ports that are dead in this one (O3): their far ends start anew."""
    m = s.m
    for w in range(words(c)):
        changed = m[LIVE + w] ^ m[LIVE_NEXT + w]
        while changed != ZERO:
            o = lowest(changed, w)
            changed &= changed - ONE
            log(c, s, s.g[NOW] + 1, K_LIVE, o, 1 if has(m, LIVE_NEXT, o) else 0)
            s.g[UNSETTLED] = 1
        dead = m[ALL + w] & ~m[LIVE + w]
        while dead != ZERO:
            o = lowest(dead, w)
            dead &= dead - ONE
            m[CREDITS + w] &= ~bit(o)
            for v in range(lanes(c)):
                s.ol[lane(o, v) + CREDIT] = c.credit_init
                s.ol[lane(o, v) + PEND] = 0
        m[LIVE + w] = m[LIVE_NEXT + w]


@inlined
def credits_out(s: State) -> bool:
    """Whether the far ends still hold credits that they will give back."""
    return not empty(s.m, CREDITS)
