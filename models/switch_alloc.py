# SPDX-License-Identifier: Apache-2.0
"""Unicast matching of one cycle: rules M3 to M6 of docs/switch.md, on sets of ports.

Before: ``req[o]`` holds the inputs that ask for output ``o`` (M1), LEFT_IN and LEFT_OUT who may be matched. Each match
is handed to :func:`models.switch_queue.match` as it is found. Two arbiters are here for the literature only.
"""

from __future__ import annotations

from models.jit import inlined
from models.switch_config import ONE_FIFO, ROUND_ROBIN, WAVEFRONT, WRONG_POINTER
from models.switch_index import queue, upper, words
from models.switch_jit import ONE, ZERO, bit, first_from, has, known, lowest
from models.switch_queue import match
from models.switch_state import (
    ACCEPT,
    FIRST,
    GOT,
    GRANT,
    LEFT_IN,
    LEFT_OUT,
    NI,
    NO,
    Q_FILL,
    Q_HEAD,
    WAVE,
    Shape,
    State,
)  # fmt: skip


@inlined
def _grant(c: Shape, s: State, moves: bool) -> bool:
    """Each output left grants; False when none can. An output that nobody asks for is left no longer."""
    m = s.m
    any_ = False
    for w in range(words(c)):
        m[GOT + w] = ZERO
    for w in range(words(c)):
        outs = m[LEFT_OUT + w]
        while outs != ZERO:
            o = lowest(outs, w)
            outs &= outs - ONE
            low = s.req[o * 2] & m[LEFT_IN]
            high = upper(c, s.req[o * 2 + 1] & m[LEFT_IN + 1])
            if low | high == ZERO:
                m[LEFT_OUT + w] &= ~bit(o)
                continue
            i = first_from(words(c), low, high, s.out[o * NO + GRANT])
            s.grants[i * 2 + (o >> 6)] |= bit(o)
            m[GOT + (i >> 6)] |= bit(i)
            any_ = True
            if moves:
                s.out[o * NO + GRANT] = i + 1 if i + 1 < c.ports else 0
    return any_


@inlined
def _accept(c: Shape, s: State, first: bool, moves_grant: bool) -> None:
    """Each input with grants accepts one; in a ``first`` iteration the pointers move."""
    m = s.m
    for w in range(words(c)):
        ins = m[GOT + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            o = first_from(words(c), s.grants[i * 2], s.grants[i * 2 + 1], s.inp[i * NI + ACCEPT])
            s.grants[i * 2] = ZERO
            s.grants[i * 2 + 1] = ZERO
            m[LEFT_IN + w] &= ~bit(i)
            m[LEFT_OUT + (o >> 6)] &= ~bit(o)
            match(c, s, i, o)
            if first:
                s.inp[i * NI + ACCEPT] = o + 1 if o + 1 < c.ports else 0
                if moves_grant:
                    s.out[o * NO + GRANT] = i + 1 if i + 1 < c.ports else 0


@inlined
def _transpose(c: Shape, s: State) -> None:
    """``grants[i]``: outputs that input i may ask for; LEFT_IN: inputs that ask at all."""
    m = s.m
    for w in range(words(c)):
        m[GOT + w] = ZERO
    for w in range(words(c)):
        outs = m[LEFT_OUT + w]
        while outs != ZERO:
            o = lowest(outs, w)
            outs &= outs - ONE
            for v in range(words(c)):
                ins = s.req[o * 2 + v]
                m[GOT + v] |= ins
                while ins != ZERO:
                    s.grants[(lowest(ins, v)) * 2 + w] |= bit(o)
                    ins &= ins - ONE
    for w in range(words(c)):
        m[LEFT_IN + w] = m[GOT + w]


@inlined
def _one_each(c: Shape, s: State) -> None:
    """M5, first half: each input asks for one output, the first at or after its pointer."""
    _transpose(c, s)
    for o in range(c.ports):
        s.req[o * 2] = ZERO
        s.req[o * 2 + 1] = ZERO
    for w in range(words(c)):
        ins = s.m[LEFT_IN + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            o = first_from(words(c), s.grants[i * 2], s.grants[i * 2 + 1], s.inp[i * NI + ACCEPT])
            s.grants[i * 2] = ZERO
            s.grants[i * 2 + 1] = ZERO
            s.req[o * 2 + w] |= bit(i)


@inlined
def _oldest_only(c: Shape, s: State) -> None:
    """One FIFO an input: it asks for the output of its oldest frame alone."""
    for i in range(c.ports):
        oldest = -1
        best = 0
        for o in range(c.ports):
            if s.q[queue(c, i, o) + Q_FILL]:
                first = s.frm[known(s.q[queue(c, i, o) + Q_HEAD]) + FIRST]
                if oldest < 0 or first < best:
                    oldest = o
                    best = first
        for o in range(c.ports):
            if o != oldest:
                s.req[o * 2 + (i >> 6)] &= ~bit(i)


@inlined
def _wavefront(c: Shape, s: State) -> None:
    """M6."""
    _transpose(c, s)
    m = s.m
    p = c.ports
    wave = s.g[WAVE]
    found = False
    for k in range(p):
        left = ZERO
        for w in range(words(c)):
            ins = m[LEFT_IN + w]
            while ins != ZERO:
                i = lowest(ins, w)
                ins &= ins - ONE
                o = wave + k - i
                if o < 0:
                    o += p
                if o >= p:
                    o -= p
                if has(s.grants, i * 2, o) and has(m, LEFT_OUT, o):
                    m[LEFT_IN + w] &= ~bit(i)
                    m[LEFT_OUT + (o >> 6)] &= ~bit(o)
                    match(c, s, i, o)
                    found = True
            left |= m[LEFT_IN + w]
        if left == ZERO:
            break
    for w in range(words(c)):
        ins = m[GOT + w]
        while ins != ZERO:
            i = lowest(ins, w)
            ins &= ins - ONE
            s.grants[i * 2] = ZERO
            s.grants[i * 2 + 1] = ZERO
    if found:
        s.g[WAVE] = wave + 1 if wave + 1 < p else 0


@inlined
def allocate(c: Shape, s: State) -> None:
    """All matches of the cycle."""
    if c.alloc == WAVEFRONT:
        _wavefront(c, s)
        return
    if c.alloc == ROUND_ROBIN:
        _one_each(c, s)
    elif c.alloc == ONE_FIFO:
        _oldest_only(c, s)
    wrong = c.alloc == WRONG_POINTER
    rounds = c.alloc if ROUND_ROBIN < c.alloc < WAVEFRONT else 1
    for k in range(rounds):
        if not _grant(c, s, wrong):
            break
        _accept(c, s, k == 0, not wrong)
