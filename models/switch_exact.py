# SPDX-License-Identifier: Apache-2.0
"""What registers show in this cycle when frames are worked on as a whole (switch_ahead): their counters have all beats
of a frame in them at once, so they never promise too much; who finds too little asks here."""

from __future__ import annotations

from models.jit import inlined
from models.switch_index import ahead, lane, lanes
from models.switch_jit import has, known
from models.switch_state import (
    BOOKED,
    BUSY_IN,
    CREDIT,
    CUR,
    FILL,
    FIRST,
    GATE,
    GIVEN_FILL,
    GIVEN_HEAD,
    GONE_LANE,
    HEAD,
    INSIDE,
    LANE,
    NI,
    NO,
    NOW,
    OUT_BEAT,
    OUT_FIRST,
    OUT_LANE,
    PASSED_GATE,
    PASSED_IN,
    TAKEN,
    Feed,
    Shape,
    State,
)  # fmt: skip


@inlined
def taken_at(c: Shape, f: Feed, beat: int) -> int:
    """Cycle in which a beat is taken."""
    return (f.gone[beat] >> GONE_LANE) - c.free


@inlined
def _left(c: Shape, s: State, f: Feed, i: int) -> None:
    """INSIDE as this cycle shows it."""
    if has(s.m, BUSY_IN, i):
        slot = known(s.inp[i * NI + CUR])
        k = s.inp[i * NI + PASSED_IN]
        while k < s.frm[slot + TAKEN] and taken_at(c, f, known(s.frm[slot + FIRST] + k)) < s.g[NOW]:
            s.inp[i * NI + INSIDE] -= 1
            k += 1
        s.inp[i * NI + PASSED_IN] = k


@inlined
def _given(c: Shape, s: State, f: Feed, i: int) -> None:
    """The gate's credit as this cycle shows it."""
    if has(s.m, BUSY_IN, i):
        slot = known(s.inp[i * NI + CUR])
        k = s.inp[i * NI + PASSED_GATE]
        at = lane(i, known(s.frm[slot + LANE]))
        while k < s.frm[slot + TAKEN] and taken_at(c, f, known(s.frm[slot + FIRST] + k)) < s.g[NOW] - 1:
            s.il[at + GATE] += 1
            k += 1
        s.inp[i * NI + PASSED_GATE] = k


@inlined
def full(c: Shape, s: State, f: Feed, i: int) -> bool:
    """E1: no cell is free."""
    if s.inp[i * NI + INSIDE] >= c.cells:
        _left(c, s, f, i)
    return s.inp[i * NI + INSIDE] >= c.cells


@inlined
def closed(c: Shape, s: State, f: Feed, i: int, v: int) -> bool:
    """The gate has too little credit for a largest frame."""
    at = lane(i, v)
    if s.il[at + GATE] < c.beats:
        _given(c, s, f, i)
    return s.il[at + GATE] < c.beats


@inlined
def drain(c: Shape, s: State, o: int) -> None:
    """FILL: beats for ``o`` that are not gone as this cycle shows it."""
    at = s.out[o * NO + HEAD]
    n = s.out[o * NO + FILL]
    while n > 0 and s.fifo[known(o * c.egress + at)] < s.g[NOW]:
        at = at + 1 if at + 1 < c.egress else 0
        n -= 1
    s.out[o * NO + HEAD] = at
    s.out[o * NO + FILL] = n


@inlined
def returned(c: Shape, s: State, o: int, v: int) -> None:
    """CREDIT with all that has come back."""
    k = lane(o, v)
    base = (o * lanes(c) + v) * c.credit_init
    at = s.ol[k + GIVEN_HEAD]
    n = s.ol[k + GIVEN_FILL]
    while n > 0 and s.given[known(base + at)] < s.g[NOW]:
        at = at + 1 if at + 1 < c.credit_init else 0
        n -= 1
        s.ol[k + CREDIT] += 1
    s.ol[k + GIVEN_HEAD] = at
    s.ol[k + GIVEN_FILL] = n


@inlined
def _to_come(c: Shape, s: State, f: Feed, o: int) -> int:
    """Beats for ``o`` that are counted already, and taken now or later."""
    beat = s.out[o * NO + OUT_BEAT]
    n = 0
    while beat >= s.out[o * NO + OUT_FIRST] and taken_at(c, f, known(beat)) >= s.g[NOW]:
        beat -= 1
        n += 1
    return n


@inlined
def booked(c: Shape, s: State, f: Feed, o: int) -> int:
    """O2, exactly."""
    drain(c, s, o)
    return s.out[o * NO + FILL] - _to_come(c, s, f, o)


@inlined
def credit(c: Shape, s: State, f: Feed, o: int, v: int) -> int:
    """O3, exactly."""
    returned(c, s, o, v)
    found = s.ol[lane(o, v) + CREDIT]
    if s.out[o * NO + OUT_LANE] == v:
        found += _to_come(c, s, f, o)
    return found


@inlined
def used_of(c: Shape, s: State, f: Feed, o: int, v: int) -> int:
    """F5: what an output has in use, by credit or else by beats."""
    if ahead(c):
        return c.credit_init - credit(c, s, f, o, v) if c.credit_en else booked(c, s, f, o)
    return c.credit_init - s.ol[lane(o, v) + CREDIT] if c.credit_en else s.out[o * NO + BOOKED]
