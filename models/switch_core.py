# SPDX-License-Identifier: Apache-2.0
"""One cycle of the switch, and many: the order in which a cycle's parts are evaluated.

Registers are read before they are written: entrances, beats taken and matches look at what the cycle shows; stored
beats, counters and ports' states become visible by being written after all who read them.
"""

from __future__ import annotations

from models.jit import inlined
from models.switch_ahead import drops, takes_ahead
from models.switch_entrance import due, entrances, gates, gates_settled
from models.switch_exit import credits_out, exits, lives, lives_settle, settle, takes
from models.switch_forward import decisions, late_settle, moves, owes, pauses, stages
from models.switch_index import ahead, lane, lanes, words
from models.switch_jit import ZERO, compiled, empty
from models.switch_match import match_all
from models.switch_state import (
    ALL,
    AT_GROUP,
    AT_PAUSE,
    AT_TABLE,
    AT_UP,
    BUSY_IN,
    BUSY_UNTIL,
    CALM_FROM,
    CALM_TO,
    DEPTH,
    DISCARDS,
    DROPPING,
    DUE,
    IN_ASK,
    LEFT,
    LIVE,
    LOG,
    MOST,
    MOVES,
    NEVER,
    NI,
    NOW,
    OUT_WAITS,
    OWES,
    PAUSE_BEFORE,
    PICK,
    PIPE,
    UNSETTLED,
    UP,
    WAITING,
    Feed,
    Shape,
    State,
)  # fmt: skip

DONE, FULL, LIMIT = range(3)


@inlined
def _written(s: State, f: Feed) -> int:
    """The next cycle in which tables, groups or ports change."""
    best = NEVER
    if s.g[AT_UP] < len(f.ups):
        best = f.ups[s.g[AT_UP]]
    if s.g[AT_TABLE] < len(f.tables):
        best = min(best, f.tables[s.g[AT_TABLE], 0])
    if s.g[AT_GROUP] < len(f.groups):
        best = min(best, f.groups[s.g[AT_GROUP], 0])
    return best


@inlined
def _calm(s: State, f: Feed) -> None:
    """Something was written in this cycle: no frame is in the pipe before and behind a write when it is calm."""
    s.g[CALM_FROM] = s.g[NOW] + DEPTH
    s.g[CALM_TO] = _written(s, f) - DEPTH


@inlined
def _ports(s: State, f: Feed) -> None:
    """``port_up`` as this cycle shows it."""
    n = s.g[AT_UP]
    if n == len(f.ups) or f.ups[n] > s.g[NOW]:
        return
    while n < len(f.ups) and f.ups[n] <= s.g[NOW]:
        s.m[UP] = f.up_sets[n, 0]
        s.m[UP + 1] = f.up_sets[n, 1]
        n += 1
        s.g[UNSETTLED] = 1
    s.g[AT_UP] = n
    _calm(s, f)


@inlined
def _writes(c: Shape, s: State, f: Feed) -> None:
    """End of a cycle: table and group writes, and pauses, as the next cycle sees them."""
    t = s.g[NOW]
    n = s.g[AT_PAUSE]
    while n < len(f.pauses) and f.pauses[n] <= t:
        for o in range(c.ports):
            for v in range(lanes(c)):
                s.ol[lane(o, v) + PAUSE_BEFORE] = f.pause_bits[n, o * lanes(c) + v]
        n += 1
    s.g[AT_PAUSE] = n
    if s.g[CALM_FROM] <= t < s.g[CALM_TO]:
        return
    n = s.g[AT_TABLE]
    while n < len(f.tables) and f.tables[n, 0] <= t:
        s.table[f.tables[n, 1]] = f.tables[n, 2]
        n += 1
    k = s.g[AT_GROUP]
    while k < len(f.groups) and f.groups[k, 0] <= t:
        group = f.groups[k, 1]
        s.modes[group] = f.groups[k, 2]
        s.members[group * 2] = f.group_sets[k, 0]
        s.members[group * 2 + 1] = f.group_sets[k, 1]
        k += 1
    if s.g[AT_TABLE] == n and s.g[AT_GROUP] == k:
        return
    s.g[AT_TABLE] = n
    s.g[AT_GROUP] = k
    _calm(s, f)


@inlined
def cycle(c: Shape, s: State, f: Feed) -> None:
    """Evaluate cycle NOW; NOW is one more afterwards."""
    held_changed = s.g[UNSETTLED]
    s.g[UNSETTLED] = 0
    _ports(s, f)
    lives(c, s)
    entrances(c, s, f)
    if ahead(c):
        takes_ahead(c, s, f)
    else:
        takes(c, s, f)
    match_all(c, s, f)
    if s.g[WAITING] or s.m[LIVE] != s.m[ALL] or s.m[LIVE + 1] != s.m[ALL + 1]:
        moves(c, s)
    if c.pfc and (held_changed or s.g[WAITING]):
        pauses(c, s)
    if s.g[PIPE] or s.g[MOVES]:
        stages(c, s, f)
        decisions(c, s, f)
    if ahead(c):
        drops(c, s, f)
    else:
        exits(c, s, f)
        settle(c, s)
        if not empty(s.m, OWES):
            owes(c, s)
        if s.g[WAITING]:
            late_settle(c, s)
    if c.gate:
        gates(c, s)
    lives_settle(c, s)
    _writes(c, s, f)
    s.g[NOW] += 1


@inlined
def quiet(c: Shape, s: State) -> bool:
    """Whether the next cycles change nothing unless something comes from outside."""
    if s.g[UNSETTLED] or s.g[PIPE] or s.g[MOVES] or s.g[WAITING] or s.g[PICK] >= 0 or not empty(s.m, OWES):
        return False
    m = s.m
    if not (empty(m, BUSY_IN) and empty(m, IN_ASK) and empty(m, DISCARDS) and empty(m, OUT_WAITS)):
        return False
    if not empty(m, DROPPING):
        return False
    for w in range(words(c)):
        if m[UP + w] != m[LIVE + w]:
            return False
        for v in range(lanes(c)):
            if s.mc[v * 2 + w] != ZERO:
                return False
    return not credits_out(s) and (c.gate == 0 or gates_settled(s))


@inlined
def _next_event(c: Shape, s: State, f: Feed) -> int:
    """The first cycle, from NOW on, in which something comes from outside; -1: never again."""
    best = -1
    for i in range(c.ports):
        n = s.inp[i * NI + DUE]
        if n != NEVER and (best < 0 or n < best):
            best = n
    n = _written(s, f)
    if n != NEVER and (best < 0 or n < best):
        best = n
    if s.g[AT_PAUSE] < len(f.pauses) and (best < 0 or f.pauses[s.g[AT_PAUSE]] < best):
        best = f.pauses[s.g[AT_PAUSE]]
    return best if best < 0 else max(best, s.g[NOW])


@inlined
def skip_to(s: State, t: int) -> None:
    """Nothing happens before ``t``: the pipe's lists of cycles long gone are forgotten."""
    if t > s.g[NOW]:
        for stage in range(DEPTH):
            s.ent[stage * MOST] = 0
        s.g[NOW] = t


@compiled
def run(c: Shape, s: State, f: Feed, limit: int) -> int:
    """Cycles up to the end, to ``limit``, or until the log wants to be emptied: DONE, LIMIT or FULL."""
    room = len(s.log) // 4 - (16 + 4 * lanes(c)) * c.ports
    left = len(s.left) // 2 - (c.ports * (c.beats + 1) if ahead(c) else c.ports)
    if c.outside or s.g[NOW] == 0:
        due(c, s, f)
        s.g[CALM_TO] = _written(s, f) - DEPTH
    while True:
        if s.g[LOG] > room or s.g[LEFT] > left:
            return FULL
        if quiet(c, s):
            t = _next_event(c, s, f)
            if t < 0:
                if s.g[BUSY_UNTIL] < limit:
                    s.g[NOW] = max(s.g[NOW], s.g[BUSY_UNTIL] + 1)
                    return DONE
                t = limit
            skip_to(s, min(t, limit))
        if s.g[NOW] >= limit:
            return LIMIT
        cycle(c, s, f)
