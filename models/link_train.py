# SPDX-License-Identifier: Apache-2.0
"""Bring-up of a link's end: INIT and ECHO, retraining, ACK and NACK as they are judged (B, R2, R4 of docs/link.md)."""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.link_log import event, note
from models.link_state import (
    ACK,
    B_AT,
    B_DATA,
    B_FAR_CELLS,
    B_FAR_DATA,
    B_FAR_NUM,
    B_NUM,
    B_REASON,
    B_RESUME,
    B_RETRAINS,
    B_RX_ON,
    B_SESSION,
    B_STATE,
    B_TX_ON,
    B_UP,
    C_ECHO,
    C_INIT,
    E_DOWN,
    E_NACK_IN,
    E_PROGRESS,
    E_REFUSED,
    E_RETRAIN,
    G_PAUSE,
    G_REASON,
    G_STATE,
    G_UP,
    HALF,
    I_DRAINED,
    I_ENABLE,
    I_REQ,
    INIT,
    J_DATA,
    J_KIND,
    J_NUM,
    K_ACK_AT,
    K_ACK_REF,
    K_CF_AT,
    K_CF_REF,
    K_CP,
    K_DUP,
    K_ECHO,
    K_INIT_AT,
    K_NACK,
    K_TURN,
    K_UNACKED,
    L_CC,
    L_CF,
    L_DUE,
    L_FAR_CF,
    L_QUANTA,
    L_SAID,
    M20,
    NACK,
    NEVER,
    OFF,
    P_CELLS,
    P_CNT,
    P_INIT_TIME,
    P_KP4,
    P_LANES,
    P_RETRAIN,
    P_RETRAINS,
    P_ROCE,
    P_ROOM,
    P_SEQ,
    R_E,
    R_FAR_RESTART,
    R_LIMIT,
    R_NO_ANSWER,
    R_NO_PROGRESS,
    R_PAUSED,
    R_SEQUENCE,
    R_SILENT,
    RETRAIN,
    S_ACKED,
    S_AP,
    S_COUNT,
    S_DISC,
    S_FRAME,
    S_LIMIT,
    S_N,
    S_NB,
    S_OPEN,
    S_RUN,
    S_S,
    S_SAID,
    S_WANT,
    S_WP,
    UP,
    X_PROGRESS,
)  # fmt: skip

TO_OFF, TO_RETRAIN = 1, 2  # what a set that is judged asks for


@inlined
def fresh(s: Any, i: int, t: int) -> None:
    """B2, B6: everything of a session is forgotten; counters as at a fresh start at ``t``."""
    r, p = s.r[i], s.p[i]
    for v in range(p[P_LANES]):
        x = s.lane[i, v]
        x[L_CC] = x[L_FAR_CF] = x[L_CF] = x[L_SAID] = p[P_CNT]
        x[L_DUE] = x[L_QUANTA] = 0
    r[S_N] = r[S_S] = p[P_SEQ]
    r[S_ACKED] = (p[P_SEQ] - 1) & M20
    r[S_AP] = r[S_WP]
    r[S_WANT] = r[S_RUN] = r[S_OPEN] = r[S_NB] = r[S_COUNT] = r[S_SAID] = 0
    r[R_E] = r[R_SILENT] = r[B_RETRAINS] = r[B_FAR_CELLS] = 0
    r[K_ECHO] = r[K_NACK] = r[K_UNACKED] = r[K_DUP] = r[K_TURN] = r[K_CP] = 0
    r[K_ACK_AT] = r[K_CF_AT] = r[K_INIT_AT] = NEVER  # not K_AT: the wire has not forgotten its last set
    r[K_ACK_REF] = r[K_CF_REF] = t


@inlined
def _init(s: Any, i: int, t: int, num: int, data: int, e: int) -> int:
    """B4: an INIT; what it asks for."""
    r, p = s.r[i], s.p[i]
    refused = (data >> 11 ^ p[P_ROCE]) & 1 | ((data >> 10 ^ p[P_KP4]) & 1) << 1
    if (data >> 6 & 15) + 1 != p[P_LANES]:
        refused |= 4
    if refused:
        event(s, i, t, E_REFUSED, 0)
        r[B_REASON] |= refused
        return 0
    resume = data >> 15 & 1
    ours = r[B_RESUME] if r[B_STATE] == INIT else 1
    if resume and ours == 0:
        return 0
    if r[B_RX_ON]:
        if num == r[B_FAR_NUM] and data == r[B_FAR_DATA]:
            r[K_ECHO] = 1
            return 0
        if resume:
            return TO_RETRAIN
        r[B_REASON] |= R_FAR_RESTART
        return TO_OFF
    if resume == 0 and ours:
        r[B_REASON] |= R_FAR_RESTART
        return TO_OFF
    if resume and (e - num) & M20 > HALF:
        r[B_REASON] |= R_SEQUENCE
        return TO_OFF
    r[B_RX_ON] = r[B_UP] = 1
    r[B_FAR_NUM] = num
    r[B_FAR_DATA] = data
    r[K_ECHO] = 1
    if resume:
        r[K_ACK_REF] = r[K_CF_REF] = NEVER
    else:
        r[R_E] = num
        r[B_FAR_CELLS] = 16 * (data & 63)
    return 0


@inlined
def judge_set(s: Any, i: int, t: int, n: int, e: int, on: int, began: bool) -> int:
    """The set that was behind the PHY a cycle ago (R2, B4, B5). ``n``, ``e``, ``on``: n, e and tx_on at ``t``;
    ``began``: a replay begins at ``t``. Returns what it asks for."""
    r = s.r[i]
    kind, num, data = r[J_KIND], r[J_NUM], r[J_DATA]
    r[J_KIND] = 0
    r[X_PROGRESS] = 0
    if kind in (ACK, NACK):
        if on == 0 or s.p[i, P_ROCE]:
            return 0
        ahead = (num - r[S_ACKED]) & M20
        if 1 <= ahead <= (n - 1 - r[S_ACKED]) & M20:
            r[S_ACKED] = num
            r[S_AP] = s.ends[i, num & (2 * s.p[i, P_ROOM] - 1)]
            r[S_COUNT] = 1 if began else 0
            r[X_PROGRESS] = 1
            event(s, i, t, E_PROGRESS, 0)
        elif ahead != 0:
            return 0
        if kind == NACK:
            r[S_WANT] = 1
            event(s, i, t, E_NACK_IN, 0)
        return 0
    if kind == C_INIT and (r[B_STATE] == INIT or r[B_STATE] == UP):
        return _init(s, i, t, num, data, e)
    if kind == C_ECHO and r[B_STATE] == INIT and on == 0 and num == r[B_NUM] and data == r[B_DATA]:
        r[B_TX_ON] = 1
        if r[B_RESUME] and s.p[i, P_ROCE] == 0:
            r[S_WANT] = 1
    return 0


@inlined
def _to_init(s: Any, i: int, t: int, resume: int) -> None:
    """B3: the entry into INIT."""
    r, p = s.r[i], s.p[i]
    if resume == 0:
        fresh(s, i, t + 1)
    r[B_SESSION] = (r[B_SESSION] + 1) & 7
    r[B_RESUME] = resume
    r[B_NUM] = (r[S_ACKED] + 1) & M20
    kind = resume << 15 | r[B_SESSION] << 12 | p[P_ROCE] << 11 | p[P_KP4] << 10
    r[B_DATA] = kind | (p[P_LANES] - 1) << 6 | p[P_CELLS]
    r[K_INIT_AT] = NEVER
    r[B_STATE] = INIT
    r[B_AT] = t + 1


@inlined
def _pauses_over(s: Any, i: int, t: int) -> None:
    """F2, F3: pauses end with a session, and what was said of them is forgotten."""
    r = s.r[i]
    r[S_SAID] = 0
    for v in range(s.p[i, P_LANES]):
        s.lane[i, v, L_QUANTA] = 0
    if r[R_PAUSED]:
        r[R_PAUSED] = 0
        note(s, i, t + 1, G_PAUSE, 0, 0)


@inlined
def _to_off(s: Any, i: int, t: int, lost: int) -> None:
    """B2."""
    r = s.r[i]
    event(s, i, t, E_DOWN, lost)
    if r[S_FRAME]:
        r[S_DISC] = 1
        r[S_FRAME] = 0
    fresh(s, i, t + 1)
    _pauses_over(s, i, t)
    r[B_RX_ON] = r[B_TX_ON] = r[B_UP] = 0
    r[B_STATE] = OFF
    r[B_AT] = t + 1


@inlined
def _to_retrain(s: Any, i: int, t: int, kept: bool) -> None:
    """B7; ``kept``: something is recorded."""
    r, p = s.r[i], s.p[i]
    event(s, i, t, E_RETRAIN, 0)
    r[B_RETRAINS] += int(kept)
    _pauses_over(s, i, t)
    if p[P_ROCE] and r[S_FRAME]:
        r[S_DISC] = 1
        r[S_FRAME] = 0
    r[S_WANT] = r[S_RUN] = r[S_OPEN] = r[S_COUNT] = 0
    r[R_SILENT] = r[K_NACK] = r[K_ECHO] = 0
    r[B_RX_ON] = r[B_TX_ON] = 0
    r[B_STATE] = RETRAIN
    r[B_AT] = t + 1


@inlined
def train(s: Any, i: int, t: int, both: bool, either: bool, asked: int, fell: bool, lost: int, kept: bool) -> None:
    """The state machine, at the end of a cycle. ``both``, ``either``: of rx_on and tx_on at ``t``; ``asked``: by
    the set judged; ``fell``: `sig` fell behind the PHY; ``lost``: segments outstanding at ``t``; ``kept``: ap is
    not wp at ``t``. All reasons of a cycle are noted."""
    r, p = s.r[i], s.p[i]
    state, spent = r[B_STATE], t + 1 - r[B_AT]
    if state == OFF:
        if r[I_ENABLE] and r[I_DRAINED] and spent >= p[P_RETRAIN]:
            _to_init(s, i, t, 0)
        return
    forgets = fell and state == INIT and either
    again = asked == TO_RETRAIN or (state == UP and (fell or r[S_LIMIT] or r[I_REQ])) or (forgets and r[B_RESUME])
    anew = forgets and r[B_RESUME] == 0
    unanswered = state == INIT and spent >= p[P_INIT_TIME] and not both
    stuck = again and p[P_ROCE] == 0 and r[B_RETRAINS] >= p[P_RETRAINS]
    off = r[I_ENABLE] == 0 or asked == TO_OFF or unanswered or stuck or anew
    if both and not off and not again:
        r[B_REASON] = 0
    else:
        if unanswered:
            r[B_REASON] |= R_NO_ANSWER
        if anew:
            r[B_REASON] |= R_FAR_RESTART
        if stuck:
            r[B_REASON] |= R_NO_PROGRESS
        if state == UP and r[S_LIMIT]:
            r[B_REASON] |= R_LIMIT
    if off:
        _to_off(s, i, t, lost)
    elif again:
        _to_retrain(s, i, t, kept)
    elif state == INIT and both:
        r[B_STATE] = UP
    elif state == RETRAIN and spent >= p[P_RETRAIN]:
        _to_init(s, i, t, 1)
    if r[X_PROGRESS]:
        r[B_RETRAINS] = 0


@inlined
def changes(s: Any, i: int, t: int, state: int, up: int, reason: int) -> None:
    """Levels that are not what they were at ``t``."""
    r = s.r[i]
    if r[B_STATE] != state:
        note(s, i, t + 1, G_STATE, r[B_STATE], 0)
    if r[B_UP] != up:
        note(s, i, t + 1, G_UP, r[B_UP], 0)
    if r[B_REASON] != reason:
        note(s, i, t + 1, G_REASON, r[B_REASON], 0)
