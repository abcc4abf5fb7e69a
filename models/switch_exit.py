# SPDX-License-Identifier: Apache-2.0
"""Beats that are taken and beats that leave: rules M2, O1 to O3, O6 and C1 of docs/switch.md."""

from __future__ import annotations

from typing import Any

from models.switch_forward import free_cell
from models.switch_jit import ONE, ZERO, bit, ctz, has, inlined
from models.switch_queue import drop_frame, log, release
from models.switch_state import (
    ABORT,
    ABORTED,
    ALL,
    AT,
    BOOKED,
    BUSY_IN,
    BUSY_OUT,
    CREDIT,
    CUR,
    DAMAGED,
    DONE,
    FILL,
    FIRST,
    FRESH,
    H_ECT,
    HEAD,
    HELD,
    INSIDE,
    K_ECN,
    K_LIVE,
    K_LOST,
    K_OUT,
    K_TAKE,
    KEY,
    LANE,
    LIVE,
    LIVE_NEXT,
    MARK,
    META,
    META_INPUT,
    META_LANE,
    META_LAST,
    META_MARKED,
    META_USER,
    NOW,
    OPEN,
    OUT_WAITS,
    OWN,
    PEND,
    Q_FILL,
    SOURCE,
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
    if c.outside:
        log(c, s, s.g[NOW], K_TAKE, o | meta, beat)
        return
    n = s.out[o, FILL]
    at = s.out[o, HEAD] + n
    at = at if at < c.egress else at - c.egress
    s.fifo[o, at, AT] = s.g[NOW] + c.cross
    s.fifo[o, at, SOURCE] = beat
    s.fifo[o, at, META] = meta
    s.out[o, FILL] = n + 1
    s.m[OUT_WAITS, o >> 6] |= bit(o)


@inlined
def takes(c: Shape, s: State, f: Feed) -> None:
    """M2: a beat of each match whose next beat is stored. What it changes in counters is kept for :func:`settle`."""
    m = s.m
    s.g[TAKES] = 0
    for w in range(c.words):
        m[FRESH, w] = ZERO
    for w in range(c.words):
        ins = m[BUSY_IN, w]
        while ins != ZERO:
            i = w * 64 + ctz(ins)
            ins &= ins - ONE
            slot = s.inp[i, CUR]
            n = s.frm[i, slot, TAKEN]
            stored = s.frm[i, slot, STORED]
            if n >= stored:
                continue
            s.frm[i, slot, TAKEN] = n + 1
            own = s.inp[i, OWN]
            v = s.frm[i, slot, LANE]
            if n == 0:
                m[FRESH, w] |= bit(i)
                deep = c.ecn and own >= 0 and s.q[i, own * c.lanes + v, Q_FILL] + 1 >= c.ecn
                if deep and f.head[s.frm[i, slot, KEY], H_ECT]:
                    s.frm[i, slot, MARK] = 1
                    log(c, s, s.g[NOW] + c.ecn_at, K_ECN, own, 1)
            last = 0
            beat = s.frm[i, slot, FIRST] + n
            user = 0
            if s.frm[i, slot, DONE] and n + 1 == stored:
                last = 1
                user = s.frm[i, slot, DAMAGED]
                if s.frm[i, slot, ABORTED]:
                    beat = ABORT
            meta = (i << META_INPUT) | (v << META_LANE) | (last << META_LAST) | (user << META_USER)
            meta |= s.frm[i, slot, MARK] << META_MARKED
            if own >= 0:
                _push(c, s, own, beat, meta)
            elif own == TO_SET:
                for x in range(c.words):
                    outs = s.fset[i, slot, x]
                    while outs != ZERO:
                        _push(c, s, x * 64 + ctz(outs), beat, meta)
                        outs &= outs - ONE
            free_cell(c, s, i, v)
            k = s.g[TAKES]
            s.took[k, 0] = i
            s.took[k, 1] = v
            s.took[k, 2] = own
            s.took[k, 3] = slot
            s.g[TAKES] = k + 1
            if last:
                if own == TO_SET:
                    for x in range(c.words):
                        m[BUSY_OUT, x] &= ~s.fset[i, slot, x]
                release(s, i)
                # a branch's set is still read by settle: the row is not given away before the next cycle
                drop_frame(s, i, slot)


@inlined
def _booked(c: Shape, s: State, o: int, v: int) -> None:
    """O2, O3: a beat was taken for an output."""
    s.out[o, BOOKED] += 1
    s.ol[o, v, CREDIT] -= 1


@inlined
def settle(c: Shape, s: State) -> None:
    """Counters of the beats taken in this cycle, as the next one shows them."""
    for k in range(s.g[TAKES]):
        i = s.took[k, 0]
        v = s.took[k, 1]
        own = s.took[k, 2]
        s.inp[i, INSIDE] -= 1
        s.il[i, v, HELD] -= 1
        s.g[UNSETTLED] = 1
        if own >= 0:
            _booked(c, s, own, v)
        elif own == TO_SET:
            slot = s.took[k, 3]  # the input may be matched again already
            for x in range(c.words):
                outs = s.fset[i, slot, x]
                while outs != ZERO:
                    _booked(c, s, x * 64 + ctz(outs), v)
                    outs &= outs - ONE


@inlined
def _pattern(bits: Any, at: Any, o: int, t: int) -> bool:
    """Whether a pattern's bit is set at ``t``."""
    n = at[o, 1]
    return n == 0 or bits[at[o, 0] + t % n] != 0


@inlined
def exits(c: Shape, s: State, f: Feed) -> None:
    """O6: one beat of each output, if it is there, and accepted or lost. Credits that the far end gives back."""
    t = s.g[NOW]
    if c.credit_en:
        for o in range(c.ports):
            back = _pattern(f.credit, f.credit_at, o, t)
            for v in range(c.lanes):
                if back:
                    s.ol[o, v, CREDIT] += s.ol[o, v, PEND]
                    s.ol[o, v, PEND] = 0
    for w in range(c.words):
        outs = s.m[OUT_WAITS, w]
        while outs != ZERO:
            o = w * 64 + ctz(outs)
            outs &= outs - ONE
            at = s.out[o, HEAD]
            if s.fifo[o, at, AT] > t:
                continue
            meta = s.fifo[o, at, META]
            if has(s.m[LIVE], o):
                if not _pattern(f.ready, f.ready_at, o, t):
                    continue
                log(c, s, t, K_OUT, o | meta, s.fifo[o, at, SOURCE])
                if c.credit_en:
                    s.ol[o, (meta >> META_LANE) & 15, PEND] += 1
            elif (meta >> META_LAST) & 1:
                log(c, s, t, K_LOST, o, 1)
            s.out[o, HEAD] = at + 1 if at + 1 < c.egress else 0
            s.out[o, FILL] -= 1
            s.out[o, BOOKED] -= 1
            if s.out[o, FILL] == 0:
                s.m[OUT_WAITS, w] &= ~bit(o)


@inlined
def lives(c: Shape, s: State) -> None:
    """O1: what live shows in the next cycle, from what this one shows."""
    m = s.m
    for w in range(c.words):
        now = m[UP, w] & m[LIVE, w]
        rising = m[UP, w] & ~m[LIVE, w] & ~m[BUSY_OUT, w]
        while rising != ZERO:
            o = w * 64 + ctz(rising)
            rising &= rising - ONE
            if s.out[o, BOOKED] == 0 and s.inp[o, INSIDE] == 0 and s.inp[o, OPEN] == 0:
                now |= bit(o)
        m[LIVE_NEXT, w] = now


@inlined
def lives_settle(c: Shape, s: State) -> None:
    """The next cycle's live, and the credits of ports that are dead in this one (O3): their far ends start anew."""
    m = s.m
    for w in range(c.words):
        changed = m[LIVE, w] ^ m[LIVE_NEXT, w]
        while changed != ZERO:
            o = w * 64 + ctz(changed)
            changed &= changed - ONE
            log(c, s, s.g[NOW] + 1, K_LIVE, o, 1 if has(m[LIVE_NEXT], o) else 0)
            s.g[UNSETTLED] = 1
        dead = m[ALL, w] & ~m[LIVE, w]
        while dead != ZERO:
            o = w * 64 + ctz(dead)
            dead &= dead - ONE
            for v in range(c.lanes):
                s.ol[o, v, CREDIT] = c.credit_init
                s.ol[o, v, PEND] = 0
        m[LIVE, w] = m[LIVE_NEXT, w]


@inlined
def credits_out(c: Shape, s: State) -> bool:
    """Whether the far ends still hold credits that they will give back."""
    if c.credit_en:
        for o in range(c.ports):
            for v in range(c.lanes):
                if s.ol[o, v, PEND]:
                    return True
    return False
