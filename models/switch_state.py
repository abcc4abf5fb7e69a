# SPDX-License-Identifier: Apache-2.0
"""State of the switch's model as arrays: what the compiled core reads and writes.

A row of an array belongs to one port, frame or queue, a column is named by one of the constants below. Registers show
what they show during the cycle that is evaluated; comments name the rule of docs/switch.md where one is meant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from models.spec import SpecError, spec
from models.switch_config import SwitchConfig

Array = npt.NDArray[Any]

# columns of State.g: the whole switch
(NOW, PIPE, MOVES, PICK, PICK_AT, PICK_LANE, MP, WAVE, UNSETTLED, LOG, TAKES, AT_TABLE, AT_GROUP, AT_UP, AT_PAUSE,
 LEFT, BUSY_UNTIL, CALM_FROM, CALM_TO, OPEN_UNTIL, WAITING, NG) = range(22)  # fmt: skip
# rows of State.m: sets of ports. IN_ASK, OUT_ASK: with unicast frames; DISCARDS: with frames to discard;
# LEFT_IN, LEFT_OUT, FRESH: what is still to be matched, and inputs whose first beat is taken now; OWES: inputs that
# have given cells back and not said so (F10)
(ALL, UP, LIVE, LIVE_NEXT, BUSY_IN, BUSY_OUT, IN_ASK, OUT_ASK, DISCARDS, OUT_WAITS, LEFT_IN, LEFT_OUT, FRESH, SET, GOT,
 CREDITS, GIVES, GAVE, DROPPING, LATE, LATE_NEXT, OWES, NM) = range(0, 46, 2)  # fmt: skip
# columns of State.inp
(
    INSIDE,
    SWALLOWS,
    OPEN,
    NEXT,
    STREAM_FIRST,
    STREAM_LANE,
    OWN,
    CUR,
    ACCEPT,
    SPRAY,
    ML,
    DROPS,
    DROP_LANE,
    DEC,
    FREE_N,
    QUEUED,
    DUE,
    HEADS,
    WAKE,
    PASSED_IN,
    PASSED_GATE,
    DROP_NEXT,
    BY_STAGES,
    WAIT,
    BEGUN,
    BEGUN_LANE,
) = range(26)
NI = 32  # fmt: skip
# columns of State.out
(BOOKED, GRANT, HEAD, FILL, LANES_OK, QUEUED_OUT, LEFT_COUNT, READY_AT, READY_CYCLE, CREDIT_AT, CREDIT_CYCLE, OUT_FIRST,
 OUT_BEAT, OUT_LANE) = range(14)  # fmt: skip
NO = 16
# columns of State.il (input, lane) and State.ol (output, lane)
HELD, GATE, FREED, FREED_BEFORE, PAUSED, HIGH, OWED = range(7)
CREDIT, PEND, PAUSE_BEFORE, GIVEN_HEAD, GIVEN_FILL = range(5)
NL = 8
# columns of State.frm
(FIRST, STORED, TAKEN, DONE, LANE, NEED, GROUP, MODE, DEST, INFO, ABORTED, DAMAGED, MARK, LINK, CHOICE,
 LENGTH) = range(16)  # fmt: skip
NF = 16
# columns of State.q
Q_HEAD, Q_TAIL, Q_FILL = range(3)
NQ = 4
# columns of State.pipe; BEAT is a played beat or one of the marks
BEAT, SLOT = range(2)
NP = 2
ABORT, MOVE = -1, -2
MOST = 128  # more than ports
DEPTH = 8  # cycles that the pipe remembers, a power of two above `lookup`
# columns of State.fifo
AT, META = range(2)
NE = 2
# owners of an input that are no output
FREE_INPUT, TO_DISCARD, TO_SET = -1, -2, -3
# a frame's group: none, or the table is not looked at yet, or there is one and the frame has all that it gives
NO_GROUP, UNREAD, AT_ONCE = -1, -2, 1 << 20
# columns of Feed.head (H1 to H4), and where what is in bits of H_INFO; ECT: a mark changes the frame
H_DEST, H_INFO, H_BEATS, NH = range(4)
INFO_LANE, INFO_BAD, INFO_ECT, INFO_NEED = 16, 20, 21, 24
FLOW = (1 << INFO_LANE) - 1
NEVER = 1 << 60
_CREDITS_AHEAD = 1 << 22  # of which the cycle is noted
# kinds of State.log. K_FREE: a cell given back that `free_cells` shows at once, when no beat was played for it; K_OWED:
# one that it shows later; K_SAID: then
(K_OUT, K_DROP, K_MC_LOST, K_FREE, K_LOST, K_ECN, K_PAUSE, K_LIVE, K_GRANT, K_STORED, K_TAKE, K_LATE, K_OWED, K_SAID,
 NK) = range(15)  # fmt: skip
# bits of META
META_INPUT, META_LANE, META_LAST, META_USER, META_MARKED, META_FIRST, META_BEAT = 8, 16, 20, 21, 22, 23, 24
GONE_LANE = 3  # bits of the lane in Feed.gone
# reasons of F10
MALFORMED, UNKNOWN, LONG, OVERFLOW, NO_WAY, CUT, SHORT, ABORTED_CODE = range(1, 9)
REASONS = ("", "malformed", "unknown", "long", "overflow", "no way", "cut", "short", "aborted")


class Shape(NamedTuple):
    """Parameters and configuration as the core wants them, all numbers."""

    ports: int
    lanes: int
    cells: int
    quota: int
    beats: int
    egress: int
    alloc: int
    saf: int
    pfc: int
    xoff: int
    xon: int
    ecn: int
    credit_en: int
    credit_init: int
    shift: int
    gate: int
    outside: int  # 1: FIFOs and sinks are not here: beats taken are logged, `booked` is lowered from outside
    record: int  # set of kinds to log
    each: int  # 1: a frame can begin with each beat, and each has a row of head
    # three that the core is compiled for, by their lengths: what it need not ask for costs nothing. Each combination
    # is compiled by itself, so there are few
    sets: tuple[int, ...]  # one a word of a set
    several: tuple[int, ...]  # one when it is known that there is one lane
    whole: tuple[int, ...]  # two when frames may be worked on as a whole, see switch_ahead
    prefix: int
    addr_w: int
    cross: int
    free: int
    drop_at: int
    ecn_at: int
    mcast_hold: int
    move_wait: int
    holds: int  # 1: a late input keeps what it owes (F10)
    frames: int  # rows of frm an input
    queues: int  # rows of q an input

    @property
    def kind(self) -> tuple[int, ...]:
        """What the core is compiled for."""
        return len(self.sets), len(self.several), len(self.whole)


class State(NamedTuple):
    """The registers, each array flat. Rows: P ports, L lanes, F frames and Q queues an input, W = 2 words of a set."""

    g: Array  # NG
    m: Array  # NM: sets
    inp: Array  # P rows of NI
    out: Array  # P, NO
    il: Array  # P, 8, NL
    ol: Array  # P, 8, NL
    frm: Array  # P, F, NF; a frame is known by where its row begins
    fset: Array  # P, F, W: ports of a frame
    spare: Array  # P, F: free rows of frm, a stack
    q: Array  # P, Q, NQ: unicast output * L + lane, multicast lane, discard
    row: Array  # P, 8, W: outputs that an input has frames for
    col: Array  # P, 8, W: inputs that have frames for an output
    mc: Array  # 8, W: inputs with multicast frames
    lp: Array  # P, P: lane pointers
    req: Array  # P, W: scratch
    grants: Array  # P, W: scratch
    pipe: Array  # DEPTH, MOST, NP
    staged: Array  # DEPTH, W: inputs with something in that stage
    ent: Array  # DEPTH, MOST: count, then inputs with a frame in that stage
    lev: Array  # DEPTH, P, P: adaptive levels
    fifo: Array  # P, EGRESS, NE
    took: Array  # P, 4: beats taken in this cycle: input, lane, owner, frame
    table: Array  # 2^ADDR_W: group or -1
    modes: Array  # GROUPS
    members: Array  # GROUPS, W
    log: Array  # n, 4: cycle, kind, port, value
    left: Array  # n, 2: beats that left: cycle, bits
    given: Array  # P, L, credit_init: cycles in which credits come back, when they run ahead

    @property
    def inputs(self) -> Array:
        """``inp`` by input and column."""
        return self.inp.reshape(-1, NI)

    @property
    def outputs(self) -> Array:
        """``ol`` by output, lane and column."""
        return self.ol.reshape(-1, 8, NL)

    def move(self, i: int, shift: int) -> None:
        """The beats of input ``i`` have got numbers higher by ``shift``."""
        self.inputs[i, NEXT] += shift
        self.frm.reshape(len(self.inputs), -1, NF)[i, :, FIRST] += shift
        beats = self.pipe.reshape(DEPTH, MOST, NP)[:, i, BEAT]
        beats[beats >= 0] += shift


class Feed(NamedTuple):
    """What is done to the switch. Beats of input i are rows off[i] to end[i]."""

    off: Array  # (P)
    end: Array  # (P)
    play: Array  # earliest cycle, and in bit 0 whether it is a last one
    taken: Array  # written: cycle of acceptance
    gone: Array  # written: cycle in which `free_cells` shows its cell, and its lane; 0: it had none, or is in the log
    cut: Array  # written: 1 for a beat taken from its source and not sent, its frame's port had died
    head: Array  # n, NH: of the first beats of an input's frames, input by input, or of all beats
    heads: Array  # (P): where the rows of an input begin
    ready: Array  # bits of all patterns
    ready_at: Array  # (P, 2) offset and length; length 0: always
    credit: Array
    credit_at: Array
    tables: Array  # (n, 3): cycle, index, group or -1
    groups: Array  # (n, 3): cycle, group, mode
    group_sets: Array  # (n, W)
    ups: Array  # (n)
    up_sets: Array  # (n, W)
    pauses: Array  # (n)
    pause_bits: Array  # (n, P * L)


def words(mask: int) -> list[int]:
    """A set as two words."""
    return [mask & (1 << 64) - 1, mask >> 64]


def shape(config: SwitchConfig, record: int, gate: bool = False, outside: bool = False, each: bool = False) -> Shape:
    """The numbers of a configuration; raises SpecError when the latency table is not that of docs/switch.md."""
    calm = not (config.saf or config.pfc or outside or each or record >> K_TAKE & 1)
    few = config.ports * config.lanes * config.credit_init <= _CREDITS_AHEAD
    whole = calm and (few or not config.credit_en)
    small = config.ports <= 64
    figure = {name: spec().cycles(f"latency.switch.{name}") for name in spec().section("latency.switch")}
    for name, value in (("lookup", 5), ("store", 6), ("match", 1)):
        if figure[name] != value:
            raise SpecError(f"latency.switch.{name} is {figure[name]}; the rules of docs/switch.md give {value}")
    address_bits = 32 if config.roce else 21
    return Shape(
        ports=config.ports, lanes=config.lanes, cells=config.depth, quota=config.quota, beats=config.beats,
        egress=config.room, alloc=config.alloc, saf=int(config.saf), pfc=int(config.pfc), xoff=config.xoff,
        xon=config.xon, ecn=config.ecn if config.roce else 0, credit_en=int(config.credit_en),
        credit_init=config.credit_init, shift=config.adapt_shift, gate=int(gate), outside=int(outside), record=record,
        each=int(each),
        sets=(0,) * (1 if small else 2), several=(0,) * (1 if small and whole and config.lanes == 1 else 2),
        whole=(0,) * (2 if whole else 1),
        prefix=config.prefix & ((1 << address_bits - config.addr_w) - 1),
        addr_w=config.addr_w, cross=figure["cross"], free=figure["free"], drop_at=figure["count"], ecn_at=figure["ecn"],
        mcast_hold=spec().cycles("switch.mcast_hold"), move_wait=spec().cycles("switch.move_wait"),
        holds=int(config.credit_en and not config.pfc), frames=config.depth + DEPTH,
        queues=config.ports * config.lanes + config.lanes + 1,
    )  # fmt: skip


def fresh(c: Shape, groups: int, log: Array, left: Array) -> State:
    """The state in reset (M9 and the rest): at cycle 0, with logs (n, 4) and (n, 2) to write to."""
    p, rows = c.ports, c.ports * c.frames
    i64, u64 = np.int64, np.uint64
    state = State(
        g=np.zeros(NG, i64), m=np.zeros(NM, u64), inp=np.zeros(p * NI, i64), out=np.zeros(p * NO, i64),
        il=np.zeros(p * 8 * NL, i64), ol=np.zeros(p * 8 * NL, i64), frm=np.zeros(rows * NF, i64),
        fset=np.zeros(rows * 2, u64), spare=(np.arange(rows, dtype=i64).reshape(p, -1)[:, ::-1] * NF).reshape(-1),
        q=np.zeros(p * c.queues * NQ, i64), row=np.zeros(p * 8 * 2, u64), col=np.zeros(p * 8 * 2, u64),
        mc=np.zeros(8 * 2, u64), lp=np.zeros(p * p, i64), req=np.zeros(p * 2, u64), grants=np.zeros(p * 2, u64),
        pipe=np.zeros(DEPTH * MOST * NP, i64), staged=np.zeros(DEPTH * 2, u64), ent=np.zeros(DEPTH * MOST, i64),
        lev=np.zeros(DEPTH * p * p, np.uint8), fifo=np.zeros(p * c.egress * NE, i64), took=np.zeros(p * 4, i64),
        table=np.full(1 << c.addr_w, -1, np.int32), modes=np.zeros(groups, i64), members=np.zeros(groups * 2, u64),
        log=log.reshape(-1), left=left.reshape(-1),
        given=np.zeros(p * c.lanes * c.credit_init if len(c.whole) > 1 and c.credit_en else 0, i64),
    )  # fmt: skip
    state.m[ALL : ALL + 2] = state.m[UP : UP + 2] = words((1 << p) - 1)
    state.inputs[:, STREAM_FIRST] = 1
    state.inputs[:, OWN] = FREE_INPUT
    state.inputs[:, FREE_N] = c.frames
    state.g[PICK] = -1
    state.out[OUT_BEAT::NO] = -1
    state.g[UNSETTLED] = 1
    state.il[GATE::NL] = c.quota
    state.ol[CREDIT::NL] = c.credit_init
    return state
