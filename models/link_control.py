# SPDX-License-Identifier: Apache-2.0
"""Control sets of a link's end and the credits that they carry (K, C of docs/link.md)."""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.link_log import event, note
from models.link_state import (
    ACK,
    B_DATA,
    B_FAR_CELLS,
    B_FAR_DATA,
    B_FAR_NUM,
    B_NUM,
    B_RX_ON,
    B_STATE,
    B_TX_ON,
    B_UP,
    C_ECHO,
    C_INIT,
    CF,
    E_NACK_OUT,
    G_CREDIT,
    G_CREDITS,
    G_CTL,
    INIT,
    K_ACK_AT,
    K_ACK_REF,
    K_AT,
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
    L_CREDIT,
    L_CREDITS,
    L_DUE,
    L_FAR_CF,
    L_FREE,
    L_SAID,
    L_UNSAID,
    L_UNSAID_2,
    L_UNSAID_3,
    L_UNSAID_NEXT,
    LINE,
    M15,
    M20,
    NACK,
    P_ACK_INT,
    P_ACKS,
    P_CF_CELLS,
    P_CF_INT,
    P_INIT_INT,
    P_LANES,
    P_REFRESH,
    P_ROCE,
    P_SPACING,
    R_E,
    S_BACKLOG,
    UP,
    W_CTL_OFF,
    W_DATA,
    W_KIND,
    W_NUM,
    X_QUIET_SET,
)  # fmt: skip


@inlined
def _update(s: Any, i: int) -> int:
    """K5: a CF's contents, {VC1, CF1, VC2, CF2}; what it says counts as said."""
    r, lanes = s.r[i], s.p[i, P_LANES]
    some = False
    top, most = -1, 0
    for v in range(lanes):
        if s.lane[i, v, L_UNSAID]:
            some = True
        level = min(s.lane[i, v, L_UNSAID_3], 255)
        if level > most:
            top, most = v, level
    one = two = -1
    for n in range(2 * lanes):
        v = (r[K_CP] + n) % lanes
        if some and s.lane[i, v, L_UNSAID] == 0:
            continue
        if one < 0:
            one = v
        elif two < 0:
            two = v
    passed = two
    if top not in (-1, one):
        two, passed = top, one
    said_1, said_2 = s.lane[i, one, L_CF], s.lane[i, two, L_CF]
    s.lane[i, one, L_SAID] = said_1
    s.lane[i, two, L_SAID] = said_2
    r[K_CP] = (passed + 1) % lanes
    return one << 35 | said_1 << 20 | two << 15 | said_2


@inlined
def choose(s: Any, i: int, t: int) -> bool:
    """A control set leaves, if one is due; whether."""
    r, p = s.r[i], s.p[i]
    if t - r[K_AT] < p[P_SPACING]:
        return False
    kind = num = data = 0
    r[X_QUIET_SET] = 0
    if r[K_ECHO] and (r[B_STATE] == INIT or r[B_STATE] == UP):
        kind, num, data = C_ECHO, r[B_FAR_NUM], r[B_FAR_DATA]
        r[K_ECHO] = 0
    elif r[B_STATE] == INIT and r[B_TX_ON] == 0 and t - r[K_INIT_AT] >= p[P_INIT_INT]:
        kind, num, data = C_INIT, r[B_NUM], r[B_DATA]
        r[K_INIT_AT] = t
    elif r[B_RX_ON] and p[P_ROCE] == 0:
        if r[K_NACK]:
            kind = NACK
            r[K_NACK] = 0
            event(s, i, t, E_NACK_OUT, 0)
        else:
            since = t - r[K_ACK_AT]
            wish = r[K_UNACKED] >= p[P_ACKS] or (r[K_UNACKED] > 0 and since >= p[P_ACK_INT]) or r[K_DUP] != 0
            ack = wish or t - r[K_ACK_REF] >= p[P_REFRESH]
            most = 0
            for v in range(p[P_LANES]):
                most = max(most, s.lane[i, v, L_UNSAID])
            news = most >= p[P_CF_CELLS] or (most > 0 and t - r[K_CF_AT] >= p[P_CF_INT])
            cf = news or t - r[K_CF_REF] >= p[P_REFRESH]
            if ack and (not cf or r[K_TURN] == 0):
                kind = ACK
                r[K_TURN] = 1
                r[X_QUIET_SET] = 0 if wish or r[K_UNACKED] > 0 else 1
            elif cf:
                kind = CF
                r[K_TURN] = 0
                r[X_QUIET_SET] = 1 if most == 0 else 0
        if kind in (ACK, NACK):
            num = (r[R_E] - 1) & M20
            r[K_UNACKED] = r[K_DUP] = 0
            r[K_ACK_AT] = r[K_ACK_REF] = t
        elif kind == CF:
            data = _update(s, i)
            r[K_CF_AT] = r[K_CF_REF] = t
    if kind == 0:
        return False
    r[K_AT] = t
    w = s.line[i, t & (LINE - 1)]
    w[W_KIND] = kind
    w[W_NUM] = num
    w[W_DATA] = data
    w[W_CTL_OFF] = r[S_BACKLOG]
    note(s, i, t, G_CTL, kind | r[S_BACKLOG] << 8 | num << 20, data)
    return True


@inlined
def unsaid(s: Any, i: int, skipped: int) -> None:
    """C4, before all else of a cycle; ``skipped``: in so many cycles before nothing changed, and they were left out."""
    for v in range(s.p[i, P_LANES]):
        x = s.lane[i, v]
        now = (x[L_CF] - x[L_SAID]) & M15
        for _ in range(min(skipped, 3) + 1):
            x[L_UNSAID_3] = x[L_UNSAID_2]
            x[L_UNSAID_2] = x[L_UNSAID]
            x[L_UNSAID] = x[L_UNSAID_NEXT]
            x[L_UNSAID_NEXT] = now


@inlined
def credit_said(s: Any, i: int, lane: int, cf: int) -> None:
    """C2, C3: a CF behind the PHY."""
    if lane < s.p[i, P_LANES]:
        x = s.lane[i, lane]
        x[L_DUE] += (cf - x[L_FAR_CF]) & M15
        x[L_FAR_CF] = cf


@inlined
def credits_given(s: Any, i: int, t: int) -> None:
    """C3: ``m_credit`` at ``t`` + 1, before the CF of this cycle counts."""
    for v in range(s.p[i, P_LANES]):
        x = s.lane[i, v]
        x[L_CREDIT] = min(x[L_DUE], 255)
        if x[L_CREDIT]:
            x[L_DUE] -= x[L_CREDIT]
            note(s, i, t + 1, G_CREDIT, v, x[L_CREDIT])


@inlined
def freed(s: Any, i: int) -> None:
    """C1: free_cells of this cycle."""
    for v in range(s.p[i, P_LANES]):
        x = s.lane[i, v]
        if x[L_FREE]:
            if s.r[i, B_UP]:
                x[L_CF] = (x[L_CF] + x[L_FREE]) & M15
            x[L_FREE] = 0


@inlined
def credits_known(s: Any, i: int, t: int) -> None:
    """C2: the register as ``t`` + 1 shows it; that the end goes to OFF at ``t`` it does not know yet."""
    for v in range(s.p[i, P_LANES]):
        x = s.lane[i, v]
        now = s.r[i, B_FAR_CELLS] - ((x[L_CC] - x[L_FAR_CF]) & M15) & 0xFFFF
        if now != x[L_CREDITS]:
            x[L_CREDITS] = now
            note(s, i, t + 1, G_CREDITS, v, now)
