# SPDX-License-Identifier: Apache-2.0
"""Receiver of a link's end: segments and frames, verdicts, what the core gets, pauses (V, F1, F2, B9)."""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.link_crc import RESIDUE, START, add, with_header
from models.link_log import event, note, note_m
from models.link_state import (
    B_RX_ON,
    B_UP,
    BAD,
    BROKEN,
    E_BAD,
    E_DUPLICATE,
    E_FCS,
    E_GAP,
    E_LONG,
    E_PFC_IN,
    E_RECEIVED,
    F_FIRST,
    F_LAST,
    G_PAUSE,
    GOOD,
    HALF,
    K_DUP,
    K_NACK,
    K_UNACKED,
    L_QUANTA,
    LONG,
    M20,
    M_COUNT,
    M_LAST,
    M_REF,
    M_USER,
    M_VALID,
    NONE,
    P_BB,
    P_LANES,
    P_M,
    P_RATE,
    P_ROCE,
    P_SEG,
    P_VERDICT,
    PIPE,
    Q_LAST,
    Q_N,
    Q_START,
    Q_USER,
    QUEUE,
    R_BEATS,
    R_CRC,
    R_CUT,
    R_E,
    R_FRAME,
    R_OPEN,
    R_PAUSED,
    R_QBEAT,
    R_QHEAD,
    R_QTAIL,
    R_SILENT,
    R_START,
    R_STORE,
    R_VERDICTS,
    STORE,
    T_COUNT,
    T_REF,
    V_CUT,
    V_HDR,
    V_N,
    V_START,
    V_WHAT,
    W_COUNT,
    W_CRC,
    W_FLAGS,
    W_HDR,
    W_REF,
)  # fmt: skip

ABORT_REF = -1  # B9's beat: one byte 0


@inlined
def deliver(s: Any, i: int, t: int) -> None:
    """What ``m_axis`` shows at ``t`` + 1 (V3, B9)."""
    r = s.r[i]
    if r[M_VALID] and r[M_LAST] and r[M_REF] != ABORT_REF:
        event(s, i, t, E_RECEIVED, 0)
    r[M_VALID] = 0
    if r[B_UP] == 0:
        r[R_QHEAD] = r[R_QTAIL]
        r[R_QBEAT] = 0
        if r[R_FRAME]:
            r[R_FRAME] = 0
            r[M_VALID] = r[M_LAST] = r[M_USER] = r[M_COUNT] = 1
            r[M_REF] = ABORT_REF
            note_m(s, i, t + 1, ABORT_REF, 1, 1, 1)
        return
    if r[R_QHEAD] == r[R_QTAIL]:
        return
    q = s.queue[i, r[R_QHEAD] & (QUEUE - 1)]
    b = s.store[i, q[Q_START] + r[R_QBEAT] & (STORE - 1)]
    r[R_QBEAT] += 1
    ends = r[R_QBEAT] == q[Q_N]
    last = q[Q_LAST] if ends else 0
    r[M_VALID] = 1
    r[M_REF] = b[T_REF]
    r[M_COUNT] = b[T_COUNT]
    r[M_LAST] = last
    r[M_USER] = q[Q_USER] if last else 0
    r[R_FRAME] = 1 - last
    if ends:
        r[R_QHEAD] += 1
        r[R_QBEAT] = 0
    note_m(s, i, t + 1, r[M_REF], r[M_COUNT], last, r[M_USER])


@inlined
def _taken(s: Any, i: int, start: int, n: int, last: int, user: int) -> None:
    """A segment or frame goes to the core."""
    q = s.queue[i, s.r[i, R_QTAIL] & (QUEUE - 1)]
    q[Q_START] = start
    q[Q_N] = n
    q[Q_LAST] = last
    q[Q_USER] = user
    s.r[i, R_QTAIL] += 1


@inlined
def _native(s: Any, i: int, t: int, what: int, v: Any) -> None:
    """V2."""
    r = s.r[i]
    if v[V_CUT] and r[R_SILENT] == 0:
        what = BROKEN
    if what != GOOD:
        event(s, i, t, E_BAD, 0)
        if r[R_SILENT] == 0:
            r[K_NACK] = 1
            r[R_SILENT] = 1
        return
    behind = (r[R_E] - v[V_HDR]) & M20
    if behind == 0:
        r[R_E] = (r[R_E] + 1) & M20
        r[K_UNACKED] += 1
        r[R_SILENT] = 0
        _taken(s, i, v[V_START], v[V_N], v[V_HDR] >> 20 & 1, v[V_HDR] >> 21 & 1)
    elif behind <= HALF:
        event(s, i, t, E_DUPLICATE, 0)
        if r[R_SILENT] == 0:
            r[K_DUP] = 1
    elif r[R_SILENT] == 0:
        event(s, i, t, E_GAP, 0)
        r[K_NACK] = 1
        r[R_SILENT] = 1


@inlined
def _pauses(s: Any, i: int, b: Any) -> int:
    """F2: the lanes for which a frame of one beat sets quanta, -1 when it is no pause frame."""
    if b[0] != 0x01 or b[1] != 0x80 or b[2] != 0xC2 or b[3] != 0 or b[4] != 0 or b[5] != 0x01:
        return -1
    if b[12] != 0x88 or b[13] != 0x08 or b[14] != 0x01 or b[15] != 0x01:
        return -1
    lanes = 0
    for v in range(min(s.p[i, P_LANES], 8)):
        if b[17] >> v & 1:
            lanes |= 1 << v
            s.lane[i, v, L_QUANTA] = (b[18 + 2 * v] << 8 | b[19 + 2 * v]) * 64
    return lanes


@inlined
def _roce(s: Any, i: int, t: int, what: int, v: Any) -> int:
    """F1, F2; the lanes whose quanta are set."""
    if what == LONG:
        event(s, i, t, E_LONG, 0)
    if v[V_CUT] or what in (BAD, BROKEN):
        event(s, i, t, E_FCS, 0)
    if what != GOOD:
        return 0
    if v[V_N] == 1:
        ref = s.store[i, v[V_START] & (STORE - 1), T_REF]
        lanes = _pauses(s, i, s.data[ref]) if ref >= 0 else _pauses(s, i, s.pool[-2 - ref])
        if lanes >= 0:
            event(s, i, t, E_PFC_IN, 0)
            return lanes
    _taken(s, i, v[V_START], v[V_N], 1, 0)
    return 0


@inlined
def judge(s: Any, i: int, t: int) -> None:
    """The verdict of this cycle, if there is one, and the quanta."""
    r, p = s.r[i], s.p[i]
    lanes = 0
    if r[R_VERDICTS]:
        v = s.pipe[i, t & (PIPE - 1)]
        what = v[V_WHAT]
        if what != NONE:
            v[V_WHAT] = NONE
            r[R_VERDICTS] -= 1
            if r[B_RX_ON]:
                if p[P_ROCE]:
                    lanes = _roce(s, i, t, what, v)
                else:
                    _native(s, i, t, what, v)
    if p[P_ROCE] and (r[R_PAUSED] or lanes):
        paused = 0
        for n in range(min(p[P_LANES], 8)):
            if lanes >> n & 1 == 0:
                s.lane[i, n, L_QUANTA] = max(0, s.lane[i, n, L_QUANTA] - p[P_RATE])
            if s.lane[i, n, L_QUANTA] > 0:
                paused |= 1 << n
        if paused != r[R_PAUSED]:
            r[R_PAUSED] = paused
            note(s, i, t + 1, G_PAUSE, paused, 0)


@inlined
def arrive(s: Any, i: int, t: int) -> None:
    """The beat behind the PHY, in State.cur (V1)."""
    r, p, w = s.r[i], s.p[i], s.cur[i]
    if r[B_RX_ON] == 0:
        r[R_OPEN] = 0
    if w[W_REF] == -1:
        return
    flags = w[W_FLAGS]
    roce = p[P_ROCE]
    if flags & F_FIRST and r[B_RX_ON]:
        r[R_CUT] = r[R_OPEN]
        r[R_OPEN] = 1
        r[R_BEATS] = 0
        r[R_CRC] = START
        r[R_START] = r[R_STORE]
    if r[R_OPEN]:
        ref, count = w[W_REF], w[W_COUNT]
        r[R_BEATS] += 1
        if r[R_BEATS] <= (p[P_M] if roce else p[P_SEG]):
            b = s.store[i, r[R_STORE] & (STORE - 1)]
            b[T_REF] = ref
            b[T_COUNT] = count
            r[R_STORE] += 1
        part = s.share[ref] if ref >= 0 else s.pool_share[-2 - ref]
        r[R_CRC] = add(s.crc, r[R_CRC], part, count if roce else p[P_BB], p[P_BB])
    if flags & F_LAST == 0:
        return
    v = s.pipe[i, t + p[P_VERDICT] & (PIPE - 1)]
    r[R_VERDICTS] += 1
    if r[R_OPEN] == 0:
        v[V_WHAT] = BROKEN
        v[V_CUT] = 0
        return
    r[R_OPEN] = 0
    beats = r[R_BEATS]
    if roce:
        what = LONG if beats > p[P_M] else GOOD if r[R_CRC] == RESIDUE else BAD
    else:
        fits = beats <= p[P_SEG] and beats == (w[W_HDR] >> 22 & 3) + 1
        what = GOOD if fits and with_header(s.crc, r[R_CRC], w[W_HDR]) == w[W_CRC] else BAD
    v[V_WHAT] = what
    v[V_CUT] = r[R_CUT]
    v[V_HDR] = w[W_HDR]
    v[V_START] = r[R_START]
    v[V_N] = beats
