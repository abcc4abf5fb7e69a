# SPDX-License-Identifier: Apache-2.0
"""State of the link's model: both ends of a cable as arrays, what the compiled core reads and writes.

The first index of an array is the end, 0 or 1; columns are named by the constants below. Registers show what they show
during the cycle that is evaluated. Times are absolute cycles, so that idle cycles need not be counted. Comments name
the rule of docs/link.md where one is meant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NEVER = -(1 << 40)  # a time long ago
M20, M15, HALF = (1 << 20) - 1, (1 << 15) - 1, 1 << 19
OFF, INIT, UP, RETRAIN = range(4)
ACK, NACK, C_INIT, C_ECHO, CF = 1, 2, 3, 4, 0x10
(E_SENT, E_RECEIVED, E_SEGMENT, E_REPLAY, E_TIMEOUT, E_PROGRESS, E_NACK_IN, E_NACK_OUT, E_DUPLICATE, E_BAD, E_GAP,
 E_FCS, E_LONG, E_UNDERRUN, E_PFC_OUT, E_PFC_IN, E_DISCARD, E_RETRAIN, E_DOWN, E_REFUSED) = range(20)  # fmt: skip
R_NO_ANSWER, R_NO_PROGRESS, R_FAR_RESTART, R_SEQUENCE, R_LIMIT = 8, 16, 32, 64, 128

# columns of State.p: figures and configuration of an end
(P_ROCE, P_KP4, P_GATE, P_LANES, P_CELLS, P_BB, P_RATE, P_M, P_SEG, P_TRAILER, P_OVERHEAD, P_CTL, P_SLACK, P_FIFO,
 P_SPACING, P_ACKS, P_ACK_INT, P_CF_CELLS, P_CF_INT, P_REFRESH, P_ROOM, P_TIMEOUT, P_REPLAYS, P_RETRAINS, P_RETRAIN,
 P_INIT_INT, P_INIT_TIME, P_SEQ, P_CNT, P_FLIGHT, P_PHY_RX, P_TX_AT, P_VERDICT, P_PFC_REFRESH, P_BASE, P_MASK, P_ERRORS,
 P_CORE_ALL, P_QUIET, NP) = range(40)  # fmt: skip

# columns of State.r: registers of an end
# G_: stepped up to (exclusive); I_: inputs of the cycle; S_: sender; R_: receiver; K_: control sets; B_: bring-up
(G_NOW,
 I_ENABLE, I_REQ, I_PAUSE, I_DRAINED,
 S_BACKLOG, S_HEAD, S_TAIL, S_END, S_OPEN, S_FRAME, S_DISC, S_NB, S_CRC, S_LANE, S_WP, S_AP, S_RP, S_N, S_S, S_ACKED,
 S_WANT, S_RUN, S_READ_AT, S_TIMER_AT, S_COUNT, S_LIMIT, S_AHEAD, S_SP, S_SAID, S_SAID_AT,
 R_OPEN, R_CUT, R_BEATS, R_CRC, R_START, R_STORE, R_E, R_SILENT, R_QHEAD, R_QTAIL, R_QBEAT, R_FRAME, R_SIG, R_VERDICTS,
 R_PAUSED,
 M_VALID, M_REF, M_COUNT, M_LAST, M_USER,
 K_AT, K_ACK_AT, K_ACK_REF, K_CF_AT, K_CF_REF, K_INIT_AT, K_ECHO, K_NACK, K_UNACKED, K_DUP, K_TURN, K_CP,
 J_KIND, J_NUM, J_DATA,
 B_STATE, B_AT, B_RX_ON, B_TX_ON, B_UP, B_REASON, B_SESSION, B_RESUME, B_NUM, B_DATA, B_FAR_NUM, B_FAR_DATA,
 B_FAR_CELLS, B_RETRAINS, B_SIG,
 C_FRAME, C_LANE, C_AT,
 X_PROGRESS, X_LEAVES, X_QUIET_SET, X_CUT, X_ALLOW, X_FAULT, X_AT_LEVEL,
 X_WAKE, X_LATER, X_SENT, X_LAST_SIG, NR) = range(96)  # fmt: skip

# columns of State.lane
(L_CC, L_FAR_CF, L_CF, L_SAID, L_DUE, L_CREDIT, L_CREDITS, L_QUANTA, L_FREE, L_FREE_NEXT, L_HELD, L_UNSAID,
 L_UNSAID_NEXT, L_UNSAID_2, L_UNSAID_3, NL) = range(16)  # fmt: skip

# columns of State.line and State.cur: a word on the cable; W_REF -1: no beat, -2 and less: a row of the pool
(W_AT, W_SIG, W_KIND, W_NUM, W_DATA, W_CTL_OFF, W_REF, W_COUNT, W_FLAGS, W_OFF, W_HDR, W_CRC, NW) = range(13)
F_FIRST, F_LAST = 1, 2
LINE = 2048  # cycles that a cable remembers, above the longest flight

# columns of State.rec: a recorded beat
X_REF, X_COUNT, X_FLAGS, X_HDR, X_CRC, NX = range(6)
# columns of State.pipe: a verdict on its way; V_WHAT
V_WHAT, V_CUT, V_HDR, V_START, V_N, NV = range(6)
NONE, GOOD, BAD, BROKEN, LONG = range(5)
PIPE = 16
# columns of State.store: a beat received; of State.queue: a segment or frame taken
T_REF, T_COUNT, NT = range(3)
STORE = 512
Q_START, Q_N, Q_LAST, Q_USER, NQ = range(5)
QUEUE = 512

# rows of State.log: cycle, kind, a, b
(G_CTL, G_FREE, G_CREDIT, G_PAUSE, G_CREDITS, G_UP, G_STATE, G_REASON, G_EV, G_SIG, G_FEC, NG) = range(12)
# rows of State.out (what leaves): cycle, reference, meta, trailer
O_COUNT, O_FIRST, O_LAST, O_KIND, O_OFF = 0, 8, 9, 10, 16  # bits of meta
NEW, RESENT, ENDING, PFC_FRAME = range(4)
KINDS = ("new", "again", "ending", "pfc")
# State.n: rows in use
N_LOG, N_OUT, N_M, N_POOL, NN = range(5)


class State(NamedTuple):
    """The arrays. Rows of beats: those of end 0, then those of end 1 (from p[1, P_BASE] on)."""

    p: Array  # (2, NP)
    r: Array  # (2, NR)
    lane: Array  # (2, 16, NL)
    line: Array  # (2, LINE, NW) by the cycle of leaving
    cur: Array  # (2, NW) what is behind the PHY
    was: Array  # (2, NW) what passed last (E5)
    rec: Array  # (2, room, NX)
    ends: Array  # (2, 2 * room) end(n)
    pipe: Array  # (2, PIPE, NV) by the cycle of the verdict
    store: Array  # (2, STORE, NT)
    queue: Array  # (2, QUEUE, NQ)
    n: Array  # (2, NN)
    log: Array  # (2, rows, 4)
    out: Array  # (2, rows, 4)
    m: Array  # (2, rows, 3): cycle, reference, meta as of out, O_FIRST being the user bit
    crc: Array  # (12, 256) tables
    data: Array  # (beats, BB) uint8, zeros where not valid
    valid: Array  # (beats) bytes
    last: Array  # (beats)
    user: Array  # (beats)
    head: Array  # (beats) number of the lane as the first beat says
    share: Array  # (beats)
    earliest: Array  # (beats)
    taken: Array  # (beats) written: cycle of acceptance
    pool: Array  # (rows, BB) uint8: bytes that are not a played beat's
    pool_share: Array  # (rows)
    st: Array  # (2, 13) errors of what comes to an end
    key: Array  # (2, 33) uint64


class Plan(NamedTuple):
    """What is done to both ends from outside, by cycles; used by the loop over cycles only."""

    levels: Array  # (n, 4): cycle, end, register (I_..., or one of the two below), value; sorted
    go: Array  # bits of both patterns
    go_at: Array  # (2, 2) offset and length; length 0: always


LEVEL_CUT, LEVEL_ALLOW, LEVEL_FAULT = -1, -2, -3  # "registers" of Plan.levels


def empty(width: int, beats: int, room: int, rows: int, pool: int, sides: tuple[Array, Array]) -> State:
    """A state of zeros. ``width``: bytes of a beat; ``beats``: rows of both ends; ``room``: replay buffer."""
    i64 = np.int64

    def zeros(*shape: int) -> Array:
        return np.zeros(shape, i64)

    state = State(
        p=zeros(2, NP), r=zeros(2, NR), lane=zeros(2, 16, NL), line=zeros(2, LINE, NW), cur=zeros(2, NW),
        was=zeros(2, NW), rec=zeros(2, room, NX), ends=zeros(2, 2 * room), pipe=zeros(2, PIPE, NV),
        store=zeros(2, STORE, NT), queue=zeros(2, QUEUE, NQ), n=zeros(2, NN), log=zeros(2, rows, 4),
        out=zeros(2, rows, 4), m=zeros(2, rows, 3), crc=zeros(1, 1), data=np.zeros((beats, width), np.uint8),
        valid=zeros(beats), last=zeros(beats), user=zeros(beats), head=zeros(beats),
        share=zeros(beats), earliest=zeros(beats), taken=np.full(beats, -1, i64),
        pool=np.zeros((pool, width), np.uint8), pool_share=zeros(pool), st=sides[0], key=sides[1],
    )  # fmt: skip
    state.line[:, :, W_AT] = NEVER
    state.cur[:, W_REF] = -1
    state.was[:, W_REF] = -1
    return state
