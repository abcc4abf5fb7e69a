# SPDX-License-Identifier: Apache-2.0
"""Queues of frames (Q1) with their sets of ports, matches that hold (M2, M3), and the log of events."""

from __future__ import annotations

from typing import Any

from models.switch_jit import ZERO, bit, has, inlined
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
    NOW,
    OUT_ASK,
    OWN,
    Q_FILL,
    Q_HEAD,
    Q_TAIL,
    QUEUED,
    QUEUED_OUT,
    TO_DISCARD,
    Shape,
    State,
)  # fmt: skip


@inlined
def log(c: Shape, s: State, cycle: int, kind: int, port: int, value: int) -> None:
    """One event, if its kind is recorded."""
    if (c.record >> kind) & 1:
        n = s.g[LOG]
        s.log[n, 0] = cycle
        s.log[n, 1] = kind
        s.log[n, 2] = port
        s.log[n, 3] = value
        s.g[LOG] = n + 1


@inlined
def new_frame(s: State, i: int) -> int:
    """A free row of frm."""
    n = s.inp[i, FREE_N] - 1
    s.inp[i, FREE_N] = n
    return s.spare[i, n]


@inlined
def drop_frame(s: State, i: int, slot: int) -> None:
    """The row is free again."""
    n = s.inp[i, FREE_N]
    s.spare[i, n] = slot
    s.inp[i, FREE_N] = n + 1


@inlined
def join(c: Shape, s: State, i: int, q: int, slot: int) -> None:
    """A frame goes to the end of a queue of input ``i``."""
    fill = s.q[i, q, Q_FILL]
    if fill:
        s.frm[i, s.q[i, q, Q_TAIL], LINK] = slot
    else:
        s.q[i, q, Q_HEAD] = slot
    s.q[i, q, Q_TAIL] = slot
    s.q[i, q, Q_FILL] = fill + 1
    uni = c.ports * c.lanes
    if fill:
        return
    if q < uni:
        o = q // c.lanes
        v = q - o * c.lanes
        s.row[i, v, o >> 6] |= bit(o)
        s.col[o, v, i >> 6] |= bit(i)
        s.inp[i, QUEUED] += 1
        s.out[o, QUEUED_OUT] += 1
        s.m[IN_ASK, i >> 6] |= bit(i)
        s.m[OUT_ASK, o >> 6] |= bit(o)
    elif q < uni + c.lanes:
        s.mc[q - uni, i >> 6] |= bit(i)
    else:
        s.m[DISCARDS, i >> 6] |= bit(i)


@inlined
def leave(c: Shape, s: State, i: int, q: int) -> int:
    """The first frame leaves a queue that is not empty; returns it."""
    slot = s.q[i, q, Q_HEAD]
    fill = s.q[i, q, Q_FILL] - 1
    s.q[i, q, Q_FILL] = fill
    if fill:
        s.q[i, q, Q_HEAD] = s.frm[i, slot, LINK]
        return slot
    uni = c.ports * c.lanes
    if q < uni:
        o = q // c.lanes
        v = q - o * c.lanes
        s.row[i, v, o >> 6] &= ~bit(o)
        s.col[o, v, i >> 6] &= ~bit(i)
        s.inp[i, QUEUED] -= 1
        s.out[o, QUEUED_OUT] -= 1
        if s.inp[i, QUEUED] == 0:
            s.m[IN_ASK, i >> 6] &= ~bit(i)
        if s.out[o, QUEUED_OUT] == 0:
            s.m[OUT_ASK, o >> 6] &= ~bit(o)
    elif q < uni + c.lanes:
        s.mc[q - uni, i >> 6] &= ~bit(i)
    else:
        s.m[DISCARDS, i >> 6] &= ~bit(i)
    return slot


@inlined
def hold(s: State, i: int, own: int, slot: int) -> None:
    """Input ``i`` is matched: its register shows it from the next cycle on."""
    s.inp[i, OWN] = own
    s.inp[i, CUR] = slot
    s.m[BUSY_IN, i >> 6] |= bit(i)


@inlined
def match(c: Shape, s: State, i: int, o: int) -> None:
    """A unicast match with its lane (M3). The frame leaves its queue here: its first beat is taken in the next cycle,
    in which it does not count any more (M1)."""
    v = 0
    if c.lanes > 1:
        v = s.lp[i, o]
        while not ((s.out[o, LANES_OK] >> v) & 1 and has(s.row[i, v], o)):
            v = v + 1 if v + 1 < c.lanes else 0
        s.lp[i, o] = v + 1 if v + 1 < c.lanes else 0
    hold(s, i, o, leave(c, s, i, o * c.lanes + v))
    s.m[BUSY_OUT, o >> 6] |= bit(o)
    log(c, s, s.g[NOW], K_GRANT, i, o)


@inlined
def discard(c: Shape, s: State, i: int) -> None:
    """M7."""
    hold(s, i, TO_DISCARD, leave(c, s, i, c.ports * c.lanes + c.lanes))


@inlined
def release(s: State, i: int) -> None:
    """The last beat is taken: input and outputs are free in this very cycle (O5)."""
    s.m[BUSY_IN, i >> 6] &= ~bit(i)
    own = s.inp[i, OWN]
    if own >= 0:
        s.m[BUSY_OUT, own >> 6] &= ~bit(own)
    s.inp[i, OWN] = FREE_INPUT


@inlined
def empty(words: Any) -> bool:
    """Whether a set of ports has no member."""
    return words[0] | words[1] == ZERO
