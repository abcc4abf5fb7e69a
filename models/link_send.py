# SPDX-License-Identifier: Apache-2.0
"""Sender of a link's end: input FIFO, pace, segments, replay, pause frames (P, S, R, F3 of docs/link.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.jit import inlined
from models.link_crc import START, add, share, with_header
from models.link_log import event, note_out
from models.link_state import (
    B_TX_ON,
    B_UP,
    E_DISCARD,
    E_PFC_OUT,
    E_REPLAY,
    E_SEGMENT,
    E_SENT,
    E_TIMEOUT,
    E_UNDERRUN,
    ENDING,
    F_FIRST,
    F_LAST,
    HALF,
    I_PAUSE,
    L_CC,
    L_CREDITS,
    L_QUANTA,
    LINE,
    M15,
    M20,
    N_POOL,
    NEW,
    P_BASE,
    P_BB,
    P_CTL,
    P_FIFO,
    P_GATE,
    P_LANES,
    P_M,
    P_MASK,
    P_OVERHEAD,
    P_PFC_REFRESH,
    P_RATE,
    P_REPLAYS,
    P_ROCE,
    P_ROOM,
    P_SEG,
    P_SLACK,
    P_TIMEOUT,
    P_TRAILER,
    PFC_FRAME,
    RESENT,
    S_ACKED,
    S_AHEAD,
    S_AP,
    S_BACKLOG,
    S_COUNT,
    S_CRC,
    S_DISC,
    S_END,
    S_FRAME,
    S_HEAD,
    S_LANE,
    S_LIMIT,
    S_N,
    S_NB,
    S_OPEN,
    S_READ_AT,
    S_RP,
    S_RUN,
    S_S,
    S_SAID,
    S_SAID_AT,
    S_SP,
    S_TAIL,
    S_TIMER_AT,
    S_WANT,
    S_WP,
    W_COUNT,
    W_CRC,
    W_FLAGS,
    W_HDR,
    W_OFF,
    W_REF,
    X_COUNT,
    X_CRC,
    X_FLAGS,
    X_HDR,
    X_LEAVES,
    X_REF,
)  # fmt: skip


@inlined
def pool_row(s: Any) -> int:
    """A free row of the pool, zeroed."""
    row = s.n[0, N_POOL] & (len(s.pool_share) - 1)
    s.n[0, N_POOL] += 1
    for n in range(s.pool.shape[1]):
        s.pool[row, n] = 0
    return row


@inlined
def put(s: Any, i: int, t: int, off: int, ref: int, count: int, flags: int, kind: int, hdr: int, crc: int) -> None:
    """A beat leaves at ``t``."""
    w = s.line[i, t & (LINE - 1)]
    w[W_REF] = ref
    w[W_COUNT] = count
    w[W_FLAGS] = flags
    w[W_OFF] = off
    w[W_HDR] = hdr
    w[W_CRC] = crc
    note_out(s, i, t, ref, count, flags, kind, off, hdr | crc << 31)
    s.r[i, X_LEAVES] = 1


@inlined
def pause_wanted(s: Any, i: int, t: int) -> bool:
    """F3."""
    r, p = s.r[i], s.p[i]
    if p[P_ROCE] == 0:
        return False
    return r[S_SP] != r[S_SAID] or (r[S_SAID] != 0 and t - r[S_SAID_AT] >= p[P_PFC_REFRESH])


@inlined
def _pause_frame(s: Any, i: int, t: int, off: int) -> int:
    """A pause frame leaves (F3); returns its charge."""
    r, p = s.r[i], s.p[i]
    row = pool_row(s)
    b = s.pool[row]
    b[0], b[1], b[2], b[5] = 0x01, 0x80, 0xC2, 0x01
    b[12], b[13], b[14], b[15] = 0x88, 0x08, 0x01, 0x01
    for v in range(min(p[P_LANES], 8)):
        b[17] |= np.uint8(1 << v)
        if r[S_SP] >> v & 1:
            b[18 + 2 * v] = b[19 + 2 * v] = 0xFF
    register = add(s.crc, START, share(s.crc, b, 60), 60, p[P_BB])
    for n in range(4):
        b[60 + n] = np.uint8((register ^ START) >> 8 * n & 0xFF)
    s.pool_share[row] = share(s.crc, b, 64)
    put(s, i, t, off, -2 - row, 64, F_FIRST | F_LAST, PFC_FRAME, 0, 0)
    r[S_SAID] = r[S_SP]
    r[S_SAID_AT] = t
    event(s, i, t, E_PFC_OUT, 0)
    return 64 + p[P_OVERHEAD]


@inlined
def _take(s: Any, i: int) -> int:
    """The head of the FIFO; its row."""
    row = s.p[i, P_BASE] + (s.r[i, S_HEAD] & s.p[i, P_MASK])
    s.r[i, S_HEAD] += 1
    return row


@inlined
def _discard(s: Any, i: int, t: int) -> None:
    """S5, S4: the head is thrown away."""
    row = _take(s, i)
    s.r[i, S_DISC] = 1 - s.last[row]
    if s.last[row]:
        event(s, i, t, E_DISCARD, 0)


@inlined
def _replay(s: Any, i: int, t: int) -> bool:
    """R4 to R7: begins and ends; whether no new beat may leave in this cycle."""
    r, p = s.r[i], s.p[i]
    anew = r[S_AHEAD]
    r[S_AHEAD] = 1 if 1 <= (r[S_ACKED] + 1 - r[S_S]) & M20 <= HALF else 0
    if r[S_OPEN] == 0:
        busy = r[S_WANT] != 0
        if busy and r[S_AP] != r[S_WP] and p[P_REPLAYS] != 255 and r[S_COUNT] == p[P_REPLAYS]:
            r[S_LIMIT] = 1
            return True
        if busy or (anew and r[S_RUN]):
            if busy and r[S_AP] != r[S_WP]:
                r[S_COUNT] += 1
                event(s, i, t, E_REPLAY, 0)
            r[S_WANT] = r[S_AHEAD] = 0
            r[S_RUN] = 1 if r[S_AP] != r[S_WP] else 0
            r[S_S] = (r[S_ACKED] + 1) & M20
            r[S_RP] = r[S_AP]
            r[S_READ_AT] = t + 2
            return True
    if r[S_RUN] == 0:
        return False
    if r[B_TX_ON] and t >= r[S_READ_AT] and r[S_BACKLOG] < p[P_RATE]:
        r[X_LEAVES] = RESENT + 1
    return True


@inlined
def _again(s: Any, i: int, t: int, off: int) -> int:
    """A recorded beat leaves once more; returns its charge."""
    r, p = s.r[i], s.p[i]
    x = s.rec[i, r[S_RP] & (p[P_ROOM] - 1)]
    put(s, i, t, off, x[X_REF], x[X_COUNT], x[X_FLAGS], RESENT, x[X_HDR], x[X_CRC])
    charge = x[X_COUNT]
    r[S_RP] += 1
    r[S_OPEN] = 1
    if x[X_FLAGS] & F_LAST:
        r[S_OPEN] = 0
        r[S_S] = (r[S_S] + 1) & M20
        charge += p[P_TRAILER]
        event(s, i, t, E_SEGMENT, 0)
    if r[S_RP] == r[S_WP]:
        r[S_RUN] = 0
    return charge


@inlined
def _new_native(s: Any, i: int, t: int, off: int) -> int:
    """The FIFO's head leaves, and is recorded (R1); returns its charge."""
    r, p = s.r[i], s.p[i]
    row = _take(s, i)
    charge = s.valid[row]
    flags = 0
    if r[S_NB] == 0:
        flags = F_FIRST
        r[S_CRC] = START
    r[S_NB] += 1
    r[S_CRC] = add(s.crc, r[S_CRC], s.share[row], p[P_BB], p[P_BB])
    end = s.last[row]
    hdr = crc = 0
    x = s.rec[i, r[S_WP] & (p[P_ROOM] - 1)]
    r[S_WP] += 1
    r[S_OPEN] = 1
    if end or r[S_NB] == p[P_SEG]:
        flags |= F_LAST
        hdr = (s.valid[row] - 1) << 24 | (r[S_NB] - 1) << 22 | (s.user[row] & end) << 21 | end << 20 | r[S_S]
        crc = with_header(s.crc, r[S_CRC], hdr)
        r[S_NB] = 0
        r[S_OPEN] = 0
        s.ends[i, r[S_N] & (2 * p[P_ROOM] - 1)] = r[S_WP]
        r[S_N] = (r[S_N] + 1) & M20
        r[S_S] = (r[S_S] + 1) & M20
        charge += p[P_TRAILER]
        event(s, i, t, E_SEGMENT, 0)
    x[X_REF] = row
    x[X_COUNT] = s.valid[row]
    x[X_FLAGS] = flags
    x[X_HDR] = hdr
    x[X_CRC] = crc
    s.lane[i, r[S_LANE], L_CC] = (s.lane[i, r[S_LANE], L_CC] + 1) & M15
    put(s, i, t, off, row, s.valid[row], flags, NEW, hdr, crc)
    r[S_FRAME] = 1 - end
    if end:
        event(s, i, t, E_SENT, 0)
    return charge


@inlined
def _new_roce(s: Any, i: int, t: int, off: int) -> int:
    """The FIFO's head leaves; returns its charge."""
    r, p = s.r[i], s.p[i]
    row = _take(s, i)
    flags = 0 if r[S_FRAME] else F_FIRST
    charge = s.valid[row]
    if s.last[row]:
        flags |= F_LAST
        charge += p[P_OVERHEAD]
        event(s, i, t, E_SENT, 0)
    put(s, i, t, off, row, s.valid[row], flags, NEW, 0, 0)
    r[S_FRAME] = 1 - s.last[row]
    return charge


@inlined
def _may_start(s: Any, i: int, t: int, row: int) -> bool:
    """S1 to S3 and P3's slack; the lane of the frame becomes S_LANE."""
    r, p = s.r[i], s.p[i]
    if t <= s.taken[row] + p[P_SLACK]:
        return False
    lane = s.head[row] if s.head[row] < p[P_LANES] else 0
    r[S_LANE] = lane
    if p[P_ROCE]:
        return p[P_GATE] == 0 or s.lane[i, lane, L_QUANTA] == 0
    if p[P_GATE] and s.lane[i, lane, L_CREDITS] < p[P_M]:
        return False
    return r[S_WP] - r[S_AP] + p[P_M] <= p[P_ROOM]


@inlined
def _leave(s: Any, i: int, t: int, off: int) -> int:
    """What leaves at ``t``, if anything; returns its charge."""
    r, p = s.r[i], s.p[i]
    native = p[P_ROCE] == 0
    if native and _replay(s, i, t):
        return _again(s, i, t, off) if r[X_LEAVES] else 0
    some = r[S_HEAD] < r[S_TAIL]
    if some and (r[B_UP] == 0 or r[S_DISC]):
        _discard(s, i, t)
        some = False
        if native:
            return 0
    if r[B_TX_ON] == 0 or r[S_BACKLOG] >= p[P_RATE]:
        return 0
    if r[S_FRAME]:
        if some:
            return _new_native(s, i, t, off) if native else _new_roce(s, i, t, off)
        if native:
            return 0
        row = pool_row(s)  # S4: the byte 0, whose share is 0
        s.pool_share[row] = 0
        put(s, i, t, off, -2 - row, 1, F_LAST, ENDING, 0, 0)
        r[S_FRAME] = 0
        r[S_DISC] = 1
        event(s, i, t, E_UNDERRUN, 0)
        return 1 + p[P_OVERHEAD]
    if pause_wanted(s, i, t):
        return _pause_frame(s, i, t, off)
    if some and _may_start(s, i, t, p[P_BASE] + (r[S_HEAD] & p[P_MASK])):
        return _new_native(s, i, t, off) if native else _new_roce(s, i, t, off)
    return 0


@inlined
def send(s: Any, i: int, t: int, ctl: bool) -> None:
    """A cycle of the sender; ``ctl``: a control set leaves too."""
    r, p = s.r[i], s.p[i]
    r[X_LEAVES] = 0
    r[S_LIMIT] = 0
    fill = r[S_TAIL] - r[S_HEAD]
    charge = p[P_CTL] if ctl else 0
    charge += _leave(s, i, t, r[S_BACKLOG] + charge)
    r[S_BACKLOG] = max(0, r[S_BACKLOG] + charge - p[P_RATE])
    if fill < p[P_FIFO] and r[S_TAIL] < r[S_END]:
        row = p[P_BASE] + (r[S_TAIL] & p[P_MASK])
        if s.earliest[row] <= t:
            s.taken[row] = t
            r[S_TAIL] += 1
    r[S_SP] = r[I_PAUSE] & ((1 << p[P_LANES]) - 1)


@inlined
def timer(s: Any, i: int, t: int, may: bool, held: bool) -> None:
    """R3, behind what else makes a replay wanted; ``may``: tx_on and none wanted at ``t``; ``held``: what keeps the
    timer at 0 was so."""
    r, p = s.r[i], s.p[i]
    if t - r[S_TIMER_AT] == p[P_TIMEOUT] and may:
        r[S_WANT] = 1
        event(s, i, t, E_TIMEOUT, 0)
    if held:
        r[S_TIMER_AT] = t + 1
