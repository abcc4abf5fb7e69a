# SPDX-License-Identifier: Apache-2.0
"""One cycle of one end of a cable, and many of both: the order in which a cycle's parts are evaluated.

Registers are read before they are written: what leaves and the control sets look at what the cycle shows, then the
verdict and what comes in, then bring-up. The two ends share nothing within a cycle, so they go one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.jit import inlined
from models.link_control import choose, credit_said, credits_given, credits_known, freed, unsaid
from models.link_crc import START, share
from models.link_jit import compiled
from models.link_log import note
from models.link_receive import arrive, deliver, judge
from models.link_send import pool_row, send, timer
from models.link_state import (
    B_REASON,
    B_RX_ON,
    B_SIG,
    B_STATE,
    B_TX_ON,
    B_UP,
    C_AT,
    C_FRAME,
    C_LANE,
    CF,
    F_LAST,
    G_FEC,
    G_FREE,
    G_NOW,
    G_SIG,
    I_DRAINED,
    INIT,
    J_DATA,
    J_KIND,
    J_NUM,
    L_FREE,
    L_FREE_NEXT,
    L_HELD,
    L_QUANTA,
    LEVEL_ALLOW,
    LEVEL_CUT,
    LEVEL_FAULT,
    LINE,
    M15,
    M20,
    M_LAST,
    M_REF,
    M_VALID,
    N_LOG,
    N_M,
    N_OUT,
    N_POOL,
    P_BASE,
    P_BB,
    P_CORE_ALL,
    P_ERRORS,
    P_FLIGHT,
    P_LANES,
    P_MASK,
    P_PHY_RX,
    P_RATE,
    P_ROCE,
    P_TX_AT,
    R_E,
    R_PAUSED,
    R_SIG,
    S_ACKED,
    S_AP,
    S_BACKLOG,
    S_COUNT,
    S_END,
    S_N,
    S_RUN,
    S_TIMER_AT,
    S_WANT,
    S_WP,
    UP,
    W_AT,
    W_COUNT,
    W_CRC,
    W_CTL_OFF,
    W_DATA,
    W_FLAGS,
    W_HDR,
    W_KIND,
    W_NUM,
    W_OFF,
    W_REF,
    W_SIG,
    X_ALLOW,
    X_AT_LEVEL,
    X_CUT,
    X_FAULT,
    X_LAST_SIG,
    X_PROGRESS,
    X_SENT,
    Array,
    Plan,
    State,
)  # fmt: skip
from models.link_train import changes, judge_set, train
from models.link_wake import when
from models.phy_errors import (
    AGAIN,
    LOST,
    ON,
    PHY_FAILED,
    phy_beat,
    phy_begin,
    phy_end,
    phy_fails,
    phy_set_lost,
    phy_trailer,
)  # fmt: skip

DONE, FULL, POOL_FULL = range(3)
_MARGIN = 128  # rows that a cycle writes to a log at most


@inlined
def _damage(s: Any, i: int) -> None:
    """E4: what is in State.cur passes a codeword that may have failed."""
    w, st, key = s.cur[i], s.st[i], s.key[i]
    if w[W_KIND] and phy_set_lost(st, w[W_CTL_OFF]):
        w[W_KIND] = 0
    ref = w[W_REF]
    if ref == -1:
        return
    row = pool_row(s)
    bytes_ = s.pool[row]
    for n in range(s.p[i, P_BB]):
        bytes_[n] = s.data[ref, n] if ref >= 0 else s.pool[-2 - ref, n]
    if phy_beat(st, key, bytes_, w[W_COUNT], w[W_OFF]):
        s.pool_share[row] = share(s.crc, bytes_, w[W_COUNT] if s.p[i, P_ROCE] else s.p[i, P_BB])
        w[W_REF] = -2 - row
    else:
        s.n[0, N_POOL] -= 1
    if w[W_FLAGS] & F_LAST:
        trailer = np.uint64(w[W_CRC] << 32 | w[W_HDR])
        trailer = phy_trailer(st, key, trailer, w[W_COUNT], w[W_OFF])
        w[W_HDR] = np.int64(trailer & np.uint64(START))
        w[W_CRC] = np.int64(trailer >> np.uint64(32))


@inlined
def _errors(s: Any, i: int, x: int) -> None:
    """E2 to E6: what passes ``phy_errors`` at ``x``."""
    r, w, st, key, was = s.r[i], s.cur[i], s.st[i], s.key[i], s.was[i]
    fault = r[X_FAULT]
    r[X_FAULT] = 0
    phy_begin(st, fault)
    if r[X_CUT]:
        w[W_SIG] = 0
        w[W_KIND] = 0
        w[W_REF] = -1
    elif st[ON] and fault == LOST:
        w[W_KIND] = 0
        w[W_REF] = -1
    elif st[ON] and fault == AGAIN:
        for n in range(W_KIND, len(w)):
            w[n] = was[n]
    elif phy_fails(st):
        _damage(s, i)
    if st[ON] and (w[W_KIND] != 0 or w[W_REF] != -1):
        for n in range(W_KIND, len(w)):
            was[n] = w[n]
    k = phy_end(st, key)
    if k > 0:
        note(s, i, x + 1, G_FEC, 1 if k == PHY_FAILED else 0, 0 if k == PHY_FAILED else k)


@inlined
def _incoming(s: Any, i: int, t: int) -> None:
    """State.cur: what is behind the PHY at ``t``. A cycle that the far end skipped sent nothing, at the same level."""
    d = t - s.p[1 - i, P_FLIGHT]
    w, far = s.cur[i], s.line[1 - i, d & (LINE - 1)]
    if far[W_AT] == d:
        for n in range(len(w)):
            w[n] = far[n]
    else:
        w[W_KIND] = 0
        w[W_REF] = -1
    if s.p[i, P_ERRORS] and t >= s.p[i, P_PHY_RX]:
        _errors(s, i, t - s.p[i, P_PHY_RX])


@inlined
def _skip(s: Any, i: int, t: int) -> None:
    """Cycles before ``t`` that were not evaluated: only time passed."""
    r, p = s.r[i], s.p[i]
    gap = t - r[G_NOW]
    if gap <= 0:
        return
    r[S_BACKLOG] = max(0, r[S_BACKLOG] - gap * p[P_RATE])
    if r[R_PAUSED]:
        for v in range(p[P_LANES]):
            s.lane[i, v, L_QUANTA] = max(0, s.lane[i, v, L_QUANTA] - gap * p[P_RATE])
    if r[S_N] == (r[S_ACKED] + 1) & M20 or r[S_WANT] or r[S_RUN] or r[B_TX_ON] == 0:
        r[S_TIMER_AT] = t
    r[B_SIG] = 1 if r[B_STATE] == INIT or r[B_STATE] == UP else 0


@inlined
def step(s: Any, i: int, t: int) -> None:
    """Evaluate cycle ``t`` of end ``i``."""
    r, p = s.r[i], s.p[i]
    unsaid(s, i, max(0, t - r[G_NOW]))
    _skip(s, i, t)
    state, up, reason = r[B_STATE], r[B_UP], r[B_REASON]
    on, n, acked, e = r[B_TX_ON], r[S_N], r[S_ACKED], r[R_E]
    wanted, runs, count = r[S_WANT], r[S_RUN], r[S_COUNT]
    kept = r[S_AP] != r[S_WP]
    both, either = on != 0 and r[B_RX_ON] != 0, on != 0 or r[B_RX_ON] != 0
    out = s.line[i, t & (LINE - 1)]
    out[W_AT] = t
    out[W_SIG] = r[B_SIG]
    out[W_KIND] = 0
    out[W_REF] = -1

    send(s, i, t, choose(s, i, t))
    deliver(s, i, t)
    judge(s, i, t)
    _incoming(s, i, t)
    arrive(s, i, t)
    credits_given(s, i, t)
    freed(s, i)
    w = s.cur[i]
    asked = judge_set(s, i, t, n, e, on, r[S_COUNT] > count)
    if w[W_KIND] == CF:
        if on and p[P_ROCE] == 0:
            credit_said(s, i, w[W_DATA] >> 35 & 31, w[W_DATA] >> 20 & M15)
            credit_said(s, i, w[W_DATA] >> 15 & 31, w[W_DATA] & M15)
    elif w[W_KIND]:
        r[J_KIND], r[J_NUM], r[J_DATA] = w[W_KIND], w[W_NUM], w[W_DATA]
    held = n == (acked + 1) & M20 or r[X_PROGRESS] or wanted or runs or on == 0
    timer(s, i, t, on != 0 and wanted == 0, held)
    fell = r[R_SIG] != 0 and w[W_SIG] == 0
    r[R_SIG] = w[W_SIG]
    credits_known(s, i, t)
    train(s, i, t, both, either, asked, fell, (n - 1 - acked) & M20, kept)

    changes(s, i, t, state, up, reason)
    sig = 1 if state in (INIT, UP) else 0
    if sig != r[B_SIG]:
        r[B_SIG] = sig
        note(s, i, t + 1 + p[P_TX_AT], G_SIG, sig, 0)
    r[G_NOW] = t + 1


@inlined
def _core(s: Any, i: int, t: int, go: bool) -> None:
    """The bench's core (tb/hdl/link_core.sv): cells held and freed."""
    r, p = s.r[i], s.p[i]
    lanes = p[P_LANES]
    held = 0
    for v in range(lanes):
        s.lane[i, v, L_FREE_NEXT] = 0
        held += s.lane[i, v, L_HELD]
    r[I_DRAINED] = 1 if held == 0 and r[X_ALLOW] else 0
    if r[B_UP] == 0:
        for v in range(lanes):
            s.lane[i, v, L_HELD] = 0
        r[C_FRAME] = r[C_AT] = 0
        return
    if go and held:
        if p[P_CORE_ALL]:
            for v in range(lanes):
                s.lane[i, v, L_FREE_NEXT] = min(s.lane[i, v, L_HELD], 255)
        else:
            v = r[C_AT]
            while s.lane[i, v, L_HELD] == 0:
                v = v + 1 if v + 1 < lanes else 0
            s.lane[i, v, L_FREE_NEXT] = 1
            r[C_AT] = v + 1 if v + 1 < lanes else 0
        for v in range(lanes):
            if s.lane[i, v, L_FREE_NEXT]:
                s.lane[i, v, L_HELD] -= s.lane[i, v, L_FREE_NEXT]
                note(s, i, t + 1, G_FREE, v, s.lane[i, v, L_FREE_NEXT])
    if r[M_VALID]:
        if r[C_FRAME] == 0:
            ref = r[M_REF]
            lane = s.head[max(ref, 0)]
            if ref < 0:
                lane = s.pool[-2 - ref, 15] >> 5 if p[P_ROCE] else s.pool[-2 - ref, 0] >> 4
            r[C_LANE] = lane if lane < lanes else 0
        r[C_FRAME] = 1 - r[M_LAST]
        s.lane[i, r[C_LANE], L_HELD] += 1


@inlined
def _levels(s: Any, plan: Any, t: int) -> None:
    """What is done from outside at ``t``."""
    n = s.r[0, X_AT_LEVEL]
    while n < len(plan.levels) and plan.levels[n, 0] <= t:
        i, what, value = plan.levels[n, 1], plan.levels[n, 2], plan.levels[n, 3]
        if what == LEVEL_CUT:
            s.r[i, X_CUT] = value
        elif what == LEVEL_ALLOW:
            s.r[i, X_ALLOW] = value
        elif what == LEVEL_FAULT:
            s.r[i, X_FAULT] = value
        else:
            s.r[i, what] = value
        n += 1
    s.r[0, X_AT_LEVEL] = n


@inlined
def _full(s: Any) -> int:
    """Whether a log or the pool has no room for another cycle."""
    for i in range(2):
        if s.n[i, N_LOG] > len(s.log[0]) - _MARGIN or s.n[i, N_OUT] > len(s.out[0]) - _MARGIN:
            return FULL
        if s.n[i, N_M] > len(s.m[0]) - _MARGIN:
            return FULL
    return DONE


@compiled
def run(s: State, plan: Plan, until: int, only: int) -> int:
    """Cycles of both ends, with the bench's cores, from G_NOW up to ``until``: DONE, or what is full.

    With ``only`` (an end) just its cycle ``until`` - 1, for the event kernel: X_WAKE and X_LATER are worked out, and
    X_SENT, whether something went to the cable. The pool is used again and again then.
    """
    alone = only >= 0
    t = until - 1 if alone else s.r[0, G_NOW]
    while t < until:
        if not alone:
            if _full(s) != DONE:
                return FULL
            if s.n[0, N_POOL] > len(s.pool_share) - 8:
                return POOL_FULL
            _levels(s, plan, t)
        for i in range(max(only, 0), only + 1 if alone else 2):
            if not alone:
                length = plan.go_at[i, 1]
                _core(s, i, t, length == 0 or plan.go[plan.go_at[i, 0] + t % length] != 0)
            step(s, i, t)
            if alone:
                r, w = s.r[i], s.line[i, t & (LINE - 1)]
                r[X_SENT] = 1 if w[W_KIND] or w[W_REF] != -1 or w[W_SIG] != r[X_LAST_SIG] else 0
                r[X_LAST_SIG] = w[W_SIG]
                when(s, i, t)
            else:
                for v in range(s.p[i, P_LANES]):
                    s.lane[i, v, L_FREE] = s.lane[i, v, L_FREE_NEXT]
        t += 1
    return DONE


@compiled
def offer(s: State, i: int, t: int, data: Array, last: int, user: int) -> int:
    """A beat that the core offers in cycle ``t`` and the link takes in it, for the event kernel; its row."""
    r, p = s.r[i], s.p[i]
    row = p[P_BASE] + (r[S_END] & p[P_MASK])
    r[S_END] += 1
    count = len(data)
    for n in range(p[P_BB]):
        s.data[row, n] = data[n] if n < count else 0
    s.valid[row] = count
    s.last[row] = last
    s.user[row] = user
    s.head[row] = s.data[row, 15] >> 5 if p[P_ROCE] else s.data[row, 0] >> 4
    s.share[row] = share(s.crc, s.data[row], count if p[P_ROCE] else p[P_BB])
    s.earliest[row] = t
    return row


@compiled
def late(s: State, plan: Plan, until: int) -> None:
    """Codewords of the cycles that have passed the errors and not yet the receive PHY: only what is told of them."""
    for t in range(until, until + 256):
        _levels(s, plan, t)
        for i in range(2):
            if s.p[i, P_ERRORS] and s.p[i, P_PHY_RX] <= t < until + s.p[i, P_PHY_RX]:
                s.cur[i, W_KIND] = 0
                s.cur[i, W_REF] = -1
                _errors(s, i, t - s.p[i, P_PHY_RX])
