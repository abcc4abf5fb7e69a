# SPDX-License-Identifier: Apache-2.0
"""The golden model of the switch over a whole stimulus at once: what enters, leaves, is dropped, and in which cycle.

"At cycle *c*" of a table write, of ports or of pauses means: the design's input pin shows the value during *c*. Cycle 0
is the first one out of reset; the players offer nothing before cycle 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from models import switch_check as check
from models.kernel import Stuck
from models.switch_config import SwitchConfig
from models.switch_core import DONE, FULL, run
from models.switch_ecn import mark
from models.switch_header import beats as read
from models.switch_log import Events, departures, events, freed
from models.switch_state import (
    HEADS,
    INSIDE,
    K_DROP,
    K_ECN,
    K_FREE,
    K_LATE,
    K_LIVE,
    K_LOST,
    K_MC_LOST,
    K_OUT,
    K_OWED,
    K_PAUSE,
    K_SAID,
    K_TAKE,
    LEFT,
    LEFT_COUNT,
    LOG,
    META_LANE,
    NEXT,
    NH,
    NO,
    NOW,
    REASONS,
    Feed,
    State,
    fresh,
    shape,
    words,
)  # fmt: skip

Array = npt.NDArray[Any]
_LOG_ROWS, _LEFT_ROWS = 1 << 14, 1 << 17
_LAST = 1


@dataclass
class Stimulus:
    """All that is done to a switch. Lists over inputs and outputs have one entry a port.

    ``beats``: records with ``cycle``, ``flags`` (bit 0: last), ``keep``, ``data``. The cycle is the earliest one, and
    may be below that of the beat before; nothing is offered before 1, nor before the beat before was accepted.
    ``ready``, ``credit_ready``: pattern of an output, bit (cycle modulo length); None: every cycle.
    ``table``: (cycle, index, valid, group), one a cycle at most; ``groups``: (cycle, group, mode, mask of ports), too.
    ``port_up``: (cycle, mask of ports), all up before the first; ``pause``: (cycle, mask, bit output * lanes + lane).
    Of two in one cycle the last one counts.
    ``gate``: a first beat passes only while its lane has credit for a largest frame.
    """

    beats: Sequence[Array]
    ready: Sequence[Array | None] | None = None
    table: Sequence[tuple[int, int, int, int]] = ()
    groups: Sequence[tuple[int, int, int, int]] = ()
    port_up: Sequence[tuple[int, int]] = ()
    pause: Sequence[tuple[int, int]] = ()
    credit_ready: Sequence[Array | None] | None = None
    gate: bool = False
    max_cycles: int = 1_000_000


@dataclass
class Outcome:
    """What a switch made of a stimulus. Lists over inputs (``taken``, ``cut``, ``drop``, ``mc_lost``, ``free``) or
    outputs (``out``, ``lost``, ``ecn``).

    ``taken``: cycle at which each played beat was accepted; ``cut``: those that were not sent to the switch, the rest
    of a frame whose port had died (E2). ``drop``: codes.
    ``pause``, ``live``, ``late`` (Q5): (cycle, whole vector) of each change, the first at cycle 0. ``counters``: frames
    by reason of F10, and ``mc_lost``, ``lost``, ``ecn``. ``end``: first cycle at which nothing was left to do.
    ``takes``: of each output, the beats taken for it, lost ones too, with their lanes; empty unless asked for.
    """

    taken: list[Array]
    cut: list[Array]
    out: list[Array]
    drop: list[Array]
    mc_lost: list[Array]
    lost: list[Array]
    ecn: list[Array]
    pause: list[tuple[int, int]]
    live: list[tuple[int, int]]
    late: list[tuple[int, int]]
    end: int
    counters: dict[str, int]
    _config: SwitchConfig = field(repr=False)
    _beats: Sequence[Array] = field(repr=False)
    _gone: Sequence[tuple[Array, Array, Array]] = field(repr=False)
    _owed: Sequence[tuple[Array, Array]] = field(repr=False)
    _said: Sequence[tuple[Array, Array]] = field(repr=False)
    takes: list[Array] = field(default_factory=list)

    @cached_property
    def free(self) -> list[Array]:
        """What ``free_cells`` shows of cells given back, made on first use: two bits a lane, lane 0 lowest."""
        return self._freed(self._said)

    @cached_property
    def given(self) -> list[Array]:
        """The same as if nothing of it had been held back while an input was late (F10)."""
        return self._freed(self._owed)

    def _freed(self, more: Sequence[tuple[Array, Array]]) -> list[Array]:
        """Cells that were not owed, and ``more``."""
        parts = zip(self._gone, more, strict=True)
        return [freed(gone, np.append(at, x), np.append(lane, y)) for (gone, at, lane), (x, y) in parts]

    def out_beats(self, output: int) -> tuple[Array, Array]:
        """(data, keep) of the beats that left ``output``, as they left it."""
        rows = self.out[output]
        width = self._config.data_bytes
        data = np.zeros((len(rows), width), np.uint8)
        keep = np.zeros((len(rows), width // 8), np.uint8)
        for i, played in enumerate(self._beats):
            mine = np.flatnonzero((rows["input"] == i) & (rows["beat"] >= 0))
            data[mine] = played["data"][rows["beat"][mine]]
            keep[mine] = played["keep"][rows["beat"][mine], : width // 8]
        aborts = rows["beat"] < 0
        keep[aborts, 0] = 1
        if rows["marked"].any():
            starts = self._starts(rows)
            for first, after in zip(starts, [*starts[1:], len(rows)], strict=True):
                if rows["marked"][first]:
                    self._mark(data, keep, rows, first, after)
        return data, keep

    @staticmethod
    def _starts(rows: Array) -> list[int]:
        """Rows in which a frame begins: a port that dies cuts one off without a last beat."""
        if not len(rows):
            return []
        beat = rows["beat"]
        follows = (rows["input"][1:] == rows["input"][:-1]) & ~rows["last"][:-1]
        follows &= (beat[1:] == beat[:-1] + 1) | (beat[1:] < 0)
        return [0, *(np.flatnonzero(~follows) + 1).tolist()]

    def _mark(self, data: Array, keep: Array, rows: Array, first: int, after: int) -> None:
        """The ECN stage's work on the frame of rows ``first`` to ``after``; of one cut off, what left of it."""
        seen, kept = data[first:after], keep[first:after]
        if not rows["last"][after - 1]:  # the stage had all of it
            played = self._beats[rows["input"][first]]
            begin = int(rows["beat"][first])
            end = begin + int(np.flatnonzero(played["flags"][begin:] & _LAST)[0]) + 1
            seen, kept = played["data"][begin:end].copy(), played["keep"][begin:end, : keep.shape[1]]
        valid = np.unpackbits(kept, axis=1, bitorder="little").astype(bool)
        new = mark(seen[valid].tobytes(), self._config.data_bytes, bool(rows["user"][after - 1]))
        seen[valid] = np.frombuffer(new, np.uint8)
        data[first:after] = seen[: after - first]


def _sets(masks: Sequence[int]) -> Array:
    """Sets of ports, two words each."""
    return np.array([words(mask) for mask in masks], np.uint64).reshape(-1, 2)


def joined(config: SwitchConfig, stimulus: Stimulus, end: Array, play: Array, head: Array, heads: Array) -> Feed:
    """The core's stimulus from arrays of all inputs one behind the other; ``end``: row behind the last one of each
    input; the others as in :class:`Feed`."""
    p, lanes = config.ports, config.lanes
    limits = {"index": 1 << config.addr_w, "valid": 2, "group": config.groups}
    (at, index, valid, group), _ = check.timed("table", stimulus.table, limits, one=True)
    numbers, sets = check.timed("groups", stimulus.groups, {"group": config.groups, "mode": 4}, ("ports", p), one=True)
    ups, up_sets = check.timed("port_up", stimulus.port_up, {}, ("ports", p))
    pauses, masks = check.timed("pause", stimulus.pause, {}, ("lanes of outputs", p * lanes))
    bits = [[mask >> n & 1 for n in range(p * lanes)] for mask in masks]
    ready, ready_at = check.patterns(stimulus.ready, p, "ready")
    credit, credit_at = check.patterns(stimulus.credit_ready, p, "credit_ready")
    return Feed(
        off=np.concatenate(([0], end[:-1])), end=end, play=play, taken=np.empty(int(end[-1]), np.int64),
        gone=np.zeros(int(end[-1]), np.int64), cut=np.zeros(int(end[-1]), np.bool_),
        head=np.ascontiguousarray(head).reshape(-1), heads=heads,
        ready=ready, ready_at=ready_at.reshape(-1), credit=credit, credit_at=credit_at.reshape(-1),
        tables=np.column_stack([at, index, np.where(valid != 0, group, -1)]),
        groups=np.column_stack(numbers), group_sets=_sets(sets), ups=ups[0], up_sets=_sets(up_sets), pauses=pauses[0],
        pause_bits=np.array(bits, np.int64).reshape(-1, p * lanes),
    )  # fmt: skip


_kept: dict[str, Array] = {}


def _buffer(name: str, rows: int, width: int) -> Array:
    """An array that an earlier run has used, where there is one: new memory costs more than what is written to it. For
    what no outcome refers to."""
    if name not in _kept or len(_kept[name]) < rows:
        _kept[name] = np.zeros((rows, width), np.int64)
    return _kept[name]


def play(
    config: SwitchConfig, stimulus: Stimulus, given: Feed, record: int, part: Callable[[Array, Array], None],
    each: bool = False, rows: int = 0,
) -> State:  # fmt: skip
    """Run a feed to its end; returns the last state.

    ``part`` gets the log of the kinds in ``record``, and the beats that left, in parts of ``rows`` or, without, as
    many as there are likely to be, in order of evaluation. What it gets is overwritten later. ``each``:
    as in :class:`Shape`.
    """
    c = shape(config, record, stimulus.gate, each=each)
    spare = 64 * c.ports * c.lanes
    most = c.ports * (c.beats + 1)  # beats of a cycle
    # room for all beats, so that one part is all there is when nothing is multiplied
    log = np.empty((spare + _LOG_ROWS, 4), np.int64)
    state = fresh(c, config.groups, log, _buffer("left", most + (rows or len(given.play) * 9 // 8), 2))
    state.inputs[:, NEXT] = given.off
    state.inputs[:, HEADS] = given.heads
    while True:
        why = run(c, state, given, stimulus.max_cycles)
        part(state.log.reshape(-1, 4)[: state.g[LOG]], state.left.reshape(-1, 2)[: state.g[LEFT]])
        state.g[LOG] = state.g[LEFT] = 0
        if why == DONE:
            return state
        if why != FULL:
            raise Stuck(_where(config, given, state, stimulus.max_cycles))
        if not rows:
            state = state._replace(log=np.empty(log.size, np.int64), left=np.empty(2 * (most + _LEFT_ROWS), np.int64))


def _where(config: SwitchConfig, given: Feed, state: State, limit: int) -> str:
    """What a switch that does not come to its end still holds."""
    texts = [
        f"input {i}: {int(given.end[i] - state.inputs[i, NEXT])} beats to play, {int(state.inputs[i, INSIDE])} inside"
        for i in range(config.ports)
        if state.inputs[i, INSIDE] or given.end[i] > state.inputs[i, NEXT]
    ]
    return f"switch still busy at cycle {limit}: {'; '.join(texts) or 'credits or events outstanding'}"


def _takes(parts: list[Array], ports: int) -> list[Array]:
    """Beats taken for each output: cycle and lane."""
    rows = np.concatenate(parts)
    rows = rows[rows[:, 1] == K_TAKE]
    output, lane = rows[:, 2] & 0xFF, rows[:, 2] >> META_LANE & 0xF
    return [events(rows[output == p, 0], lane[output == p]) for p in range(ports)]


def simulate(config: SwitchConfig, stimulus: Stimulus, takes: bool = False) -> Outcome:
    """Run to the end; ``takes``: keep these too. Raises ValueError for what cannot be, :class:`models.kernel.Stuck` at
    ``max_cycles``."""
    beats = stimulus.beats
    check.played(beats, config.ports, config.data_bytes)
    _, ups = check.timed("port_up", stimulus.port_up, {}, ("ports", config.ports))
    whole = (1 << config.ports) - 1  # where a port dies, a frame begins behind its abort beat, wherever the stream is
    everywhere = any(mask != whole for mask in ups)
    end = np.cumsum([len(b) for b in beats])
    n = int(end[-1])
    play_, head = _buffer("play", n, 1).reshape(-1)[:n], _buffer("head", n, NH)
    heads = np.zeros(config.ports, np.int64)
    free = at = 0
    for i, to in enumerate(end.tolist()):
        heads[i] = free
        free = read(config, beats[i], everywhere, play_[at:to], head, free)
        at = to
    given = joined(config, stimulus, end, play_, head[:free], heads)
    of_interest = (K_OUT, K_DROP, K_MC_LOST, K_FREE, K_LOST, K_ECN, K_PAUSE, K_LIVE, K_LATE, K_OWED, K_SAID)
    kinds = sum(1 << k for k in of_interest)
    kinds |= int(takes) << K_TAKE
    parts: list[Array] = []
    left: list[Array] = []

    def part(log: Array, beats_left: Array) -> None:
        parts.append(log)
        left.append(beats_left)

    state = play(config, stimulus, given, kinds, part, everywhere)
    p = config.ports
    log = Events([x[x[:, 1] != K_TAKE] for x in parts] if takes else parts, p * config.lanes)
    drop = log.by_port(K_DROP, p)
    mc_lost, lost, ecn = (log.by_port(kind, p) for kind in (K_MC_LOST, K_LOST, K_ECN))
    codes = np.concatenate([d["value"] for d in drop])
    counters = {name: int((codes == n).sum()) for n, name in enumerate(REASONS) if name}
    counters |= {name: sum(map(len, x)) for name, x in (("mc_lost", mc_lost), ("lost", lost), ("ecn", ecn))}
    spans = [slice(*span) for span in zip(given.off.tolist(), given.end.tolist(), strict=True)]
    return Outcome(
        taken=[given.taken[span] for span in spans], cut=[given.cut[span] for span in spans],
        out=departures(left, state.out[LEFT_COUNT::NO], given.off),
        drop=drop, mc_lost=mc_lost, lost=lost, ecn=ecn, pause=log.vector(K_PAUSE),
        live=log.vector(K_LIVE), late=log.vector(K_LATE), end=int(state.g[NOW]), counters=counters,
        _config=config, _beats=beats,
        _gone=[(given.gone[span], *log.of(K_FREE, i)) for i, span in enumerate(spans)],
        _owed=[log.of(K_OWED, i) for i in range(p)], _said=[log.of(K_SAID, i) for i in range(p)],
        takes=_takes(parts, p) if takes else [],
    )  # fmt: skip
