# SPDX-License-Identifier: Apache-2.0
"""When an end has to be evaluated again, if nothing comes in: what lets the event kernel leave idle links alone."""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.link_send import pause_wanted
from models.link_state import (
    B_RX_ON,
    B_STATE,
    B_TX_ON,
    B_UP,
    I_ENABLE,
    INIT,
    J_KIND,
    K_ACK_AT,
    K_ACK_REF,
    K_AT,
    K_CF_AT,
    K_CF_REF,
    K_DUP,
    K_ECHO,
    K_NACK,
    K_UNACKED,
    L_CF,
    L_CREDITS,
    L_DUE,
    L_QUANTA,
    L_SAID,
    M15,
    M20,
    M_VALID,
    OFF,
    P_ACK_INT,
    P_ACKS,
    P_BASE,
    P_CF_CELLS,
    P_CF_INT,
    P_GATE,
    P_LANES,
    P_M,
    P_MASK,
    P_PFC_REFRESH,
    P_RATE,
    P_REFRESH,
    P_ROCE,
    P_ROOM,
    P_SLACK,
    P_SPACING,
    P_TIMEOUT,
    R_PAUSED,
    R_QHEAD,
    R_QTAIL,
    R_VERDICTS,
    S_ACKED,
    S_AP,
    S_BACKLOG,
    S_DISC,
    S_FRAME,
    S_HEAD,
    S_N,
    S_RUN,
    S_SAID,
    S_SAID_AT,
    S_TAIL,
    S_TIMER_AT,
    S_WANT,
    S_WP,
    UP,
    X_LAST_SIG,
    X_LATER,
    X_WAKE,
)  # fmt: skip

FOREVER = 1 << 60


@inlined
def _fifo(s: Any, i: int, t: int) -> int:
    """The cycle from ``t`` on in which the head of the FIFO may go somewhere; FOREVER when others have to say so."""
    r, p = s.r[i], s.p[i]
    paced = t + max(0, r[S_BACKLOG] // p[P_RATE])
    if r[S_HEAD] == r[S_TAIL]:
        return paced if p[P_ROCE] and r[S_FRAME] and r[B_TX_ON] else FOREVER
    if r[B_UP] == 0 or r[S_DISC]:
        return t
    if r[B_TX_ON] == 0:
        return FOREVER
    if r[S_FRAME]:
        return paced
    row = p[P_BASE] + (r[S_HEAD] & p[P_MASK])
    lane = s.head[row] if s.head[row] < p[P_LANES] else 0
    if p[P_ROCE]:
        if p[P_GATE] and s.lane[i, lane, L_QUANTA]:
            return FOREVER
    elif (p[P_GATE] and s.lane[i, lane, L_CREDITS] < p[P_M]) or r[S_WP] - r[S_AP] + p[P_M] > p[P_ROOM]:
        return FOREVER
    return max(paced, s.taken[row] + 1 + p[P_SLACK])


@inlined
def _sets(s: Any, i: int, t: int) -> int:
    """The first cycle from ``t`` on in which a control set with news may leave."""
    r, p = s.r[i], s.p[i]
    first = max(t, r[K_AT] + p[P_SPACING])
    if r[K_ECHO] or r[K_NACK]:
        return first
    best = FOREVER
    if r[B_RX_ON] == 0 or p[P_ROCE]:
        return best
    if r[K_DUP] or r[K_UNACKED] >= p[P_ACKS]:
        best = first
    elif r[K_UNACKED]:
        best = max(first, r[K_ACK_AT] + p[P_ACK_INT])
    for v in range(p[P_LANES]):
        u = (s.lane[i, v, L_CF] - s.lane[i, v, L_SAID]) & M15
        if u >= p[P_CF_CELLS]:
            best = min(best, first)
        elif u:
            best = min(best, max(first, r[K_CF_AT] + p[P_CF_INT]))
    return best


@inlined
def when(s: Any, i: int, t: int) -> None:
    """After cycle ``t``: X_WAKE, the next cycle with something to do; X_LATER, the next one in which a link says again
    what it said before, or looks whether an answer is late."""
    r, p = s.r[i], s.p[i]
    t += 1
    r[X_LATER] = FOREVER
    busy = r[M_VALID] or r[R_QHEAD] != r[R_QTAIL] or r[R_VERDICTS] or r[J_KIND]
    if r[X_LAST_SIG] != (1 if r[B_STATE] == UP or r[B_STATE] == INIT else 0):
        busy = 1
    elif r[B_STATE] == UP:
        busy = busy or r[S_WANT] or r[S_RUN] or pause_wanted(s, i, t)
    elif r[B_STATE] != OFF or r[I_ENABLE]:
        busy = 1
    for v in range(p[P_LANES]):
        if s.lane[i, v, L_DUE]:
            busy = 1
    if busy:
        r[X_WAKE] = t
        return
    r[X_WAKE] = min(_fifo(s, i, t), _sets(s, i, t))
    later = FOREVER
    if r[B_STATE] == UP:
        if p[P_ROCE]:
            if r[S_SAID]:
                later = r[S_SAID_AT] + p[P_PFC_REFRESH]
            if r[R_PAUSED]:
                for v in range(p[P_LANES]):
                    q = s.lane[i, v, L_QUANTA]
                    if q:
                        later = min(later, t + (q - 1) // p[P_RATE])
        else:
            later = min(r[K_ACK_REF], r[K_CF_REF]) + p[P_REFRESH]
            later = max(later, r[K_AT] + p[P_SPACING])
            if r[S_N] != (r[S_ACKED] + 1) & M20:
                later = min(later, r[S_TIMER_AT] + p[P_TIMEOUT])
    r[X_LATER] = max(t, later)
