# SPDX-License-Identifier: Apache-2.0
"""Queues of frames (Q1) with their sets of ports, matches that hold (M2, M3), and the log of events."""

from __future__ import annotations

from models.jit import inlined
from models.switch_index import cell, lanes, queue
from models.switch_jit import bit, has, known
from models.switch_state import (
    BUSY_IN,
    BUSY_OUT,
    CUR,
    DISCARDS,
    FREE_INPUT,
    FREE_N,
    IN_ASK,
    K_GRANT,
    LANES_OK,
    LINK,
    LOG,
    NI,
    NO,
    NOW,
    OUT_ASK,
    OWN,
    Q_FILL,
    Q_HEAD,
    Q_TAIL,
    QUEUED,
    QUEUED_OUT,
    TO_DISCARD,
    WAKE,
    Shape,
    State,
)  # fmt: skip


@inlined
def log(c: Shape, s: State, cycle: int, kind: int, port: int, value: int) -> None:
    """One event, if its kind is recorded."""
    if (c.record >> kind) & 1:
        n = known(s.g[LOG])
        s.log[n * 4] = cycle
        s.log[n * 4 + 1] = kind
        s.log[n * 4 + 2] = port
        s.log[n * 4 + 3] = value
        s.g[LOG] = n + 1


@inlined
def new_frame(c: Shape, s: State, i: int) -> int:
    """A free row of frm."""
    n = s.inp[i * NI + FREE_N] - 1
    s.inp[i * NI + FREE_N] = n
    return known(s.spare[i * c.frames + n])


@inlined
def drop_frame(c: Shape, s: State, i: int, slot: int) -> None:
    """The row is free again."""
    n = s.inp[i * NI + FREE_N]
    s.spare[i * c.frames + n] = slot
    s.inp[i * NI + FREE_N] = n + 1


@inlined
def join(c: Shape, s: State, i: int, q: int, slot: int) -> None:
    """A frame goes to the end of a queue of input ``i``."""
    at = queue(c, i, q)
    fill = s.q[at + Q_FILL]
    if fill:
        s.frm[known(s.q[at + Q_TAIL]) + LINK] = slot
    else:
        s.q[at + Q_HEAD] = slot
    s.q[at + Q_TAIL] = slot
    s.q[at + Q_FILL] = fill + 1
    uni = c.ports * lanes(c)
    if fill:
        return
    if q < uni:
        o = q // lanes(c)
        v = q - o * lanes(c)
        s.row[cell(i, v) + (o >> 6)] |= bit(o)
        s.col[cell(o, v) + (i >> 6)] |= bit(i)
        s.inp[i * NI + QUEUED] += 1
        s.out[o * NO + QUEUED_OUT] += 1
        s.m[IN_ASK + (i >> 6)] |= bit(i)
        s.m[OUT_ASK + (o >> 6)] |= bit(o)
    elif q < uni + lanes(c):
        s.mc[(q - uni) * 2 + (i >> 6)] |= bit(i)
    else:
        s.m[DISCARDS + (i >> 6)] |= bit(i)


@inlined
def leave(c: Shape, s: State, i: int, q: int) -> int:
    """The first frame leaves a queue that is not empty; returns it."""
    at = queue(c, i, q)
    slot = known(s.q[at + Q_HEAD])
    fill = s.q[at + Q_FILL] - 1
    s.q[at + Q_FILL] = fill
    if fill:
        s.q[at + Q_HEAD] = s.frm[slot + LINK]
        return slot
    uni = c.ports * lanes(c)
    if q < uni:
        o = q // lanes(c)
        v = q - o * lanes(c)
        s.row[cell(i, v) + (o >> 6)] &= ~bit(o)
        s.col[cell(o, v) + (i >> 6)] &= ~bit(i)
        s.inp[i * NI + QUEUED] -= 1
        s.out[o * NO + QUEUED_OUT] -= 1
        if s.inp[i * NI + QUEUED] == 0:
            s.m[IN_ASK + (i >> 6)] &= ~bit(i)
        if s.out[o * NO + QUEUED_OUT] == 0:
            s.m[OUT_ASK + (o >> 6)] &= ~bit(o)
    elif q < uni + lanes(c):
        s.mc[(q - uni) * 2 + (i >> 6)] &= ~bit(i)
    else:
        s.m[DISCARDS + (i >> 6)] &= ~bit(i)
    return slot


@inlined
def hold(s: State, i: int, own: int, slot: int) -> None:
    """Input ``i`` is matched: its register shows it from the next cycle on."""
    s.inp[i * NI + OWN] = own
    s.inp[i * NI + CUR] = slot
    s.inp[i * NI + WAKE] = 0
    s.m[BUSY_IN + (i >> 6)] |= bit(i)


@inlined
def match(c: Shape, s: State, i: int, o: int) -> None:
    """A unicast match with its lane (M3). The frame leaves its queue here: its first beat is taken in the next cycle,
    in which it does not count any more (M1)."""
    v = 0
    if lanes(c) > 1:
        v = s.lp[i * c.ports + o]
        while not ((s.out[o * NO + LANES_OK] >> v) & 1 and has(s.row, cell(i, v), o)):
            v = v + 1 if v + 1 < lanes(c) else 0
        s.lp[i * c.ports + o] = v + 1 if v + 1 < lanes(c) else 0
    hold(s, i, o, leave(c, s, i, o * lanes(c) + v))
    s.m[BUSY_OUT + (o >> 6)] |= bit(o)
    log(c, s, s.g[NOW], K_GRANT, i, o)


@inlined
def discard(c: Shape, s: State, i: int) -> None:
    """M7."""
    hold(s, i, TO_DISCARD, leave(c, s, i, c.ports * lanes(c) + lanes(c)))


@inlined
def release(s: State, i: int) -> None:
    """The last beat is taken: input and outputs are free in this very cycle (O5)."""
    s.m[BUSY_IN + (i >> 6)] &= ~bit(i)
    own = s.inp[i * NI + OWN]
    if own >= 0:
        s.m[BUSY_OUT + (own >> 6)] &= ~bit(own)
    s.inp[i * NI + OWN] = FREE_INPUT
