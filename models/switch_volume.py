# SPDX-License-Identifier: Apache-2.0
"""The golden model of the switch over a whole stimulus at once: what enters, leaves, is dropped, and in which cycle.

"At cycle *c*" of a table write, of ports or of pauses means: the design's input pin shows the value during *c*. Cycle 0
is the first one out of reset; the players offer nothing before cycle 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from models import switch_check as check
from models.kernel import Stuck
from models.switch_config import SwitchConfig
from models.switch_core import DONE, FULL, run
from models.switch_ecn import mark
from models.switch_header import beats as read
from models.switch_log import Events
from models.switch_state import (
    INSIDE,
    K_DROP,
    K_ECN,
    K_FREE,
    K_LIVE,
    K_LOST,
    K_MC_LOST,
    K_OUT,
    K_PAUSE,
    LOG,
    META_INPUT,
    META_LAST,
    META_MARKED,
    META_USER,
    NEXT,
    NH,
    NK,
    NOW,
    REASONS,
    Feed,
    State,
    fresh,
    shape,
    words,
)  # fmt: skip

Array = npt.NDArray[Any]
EVENT = np.dtype([("cycle", "<i8"), ("value", "<i8")])
OUT = np.dtype([("cycle", "<i8"), ("input", "<i4"), ("beat", "<i8"), ("last", "?"), ("user", "?"), ("marked", "?")])
"""A beat that left: ``beat`` counts the played beats of ``input``, -1 is an abort beat; ``user`` as ``m_axis_tuser``
(with the last beat only); ``marked`` on every beat of a frame that the ECN stage changes."""
_LOG_ROWS = 1 << 17
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
    of a frame whose port had died (E2). ``drop``: codes; ``free``: two bits a lane, lane 0 lowest.
    ``pause``, ``live``: (cycle, whole vector) of each change, the first at cycle 0. ``counters``: frames by reason of
    F10, and ``mc_lost``, ``lost``, ``ecn``. ``end``: first cycle at which nothing was left to do.
    """

    taken: list[Array]
    cut: list[Array]
    out: list[Array]
    drop: list[Array]
    mc_lost: list[Array]
    free: list[Array]
    lost: list[Array]
    ecn: list[Array]
    pause: list[tuple[int, int]]
    live: list[tuple[int, int]]
    end: int
    counters: dict[str, int]
    _config: SwitchConfig = field(repr=False)
    _beats: Sequence[Array] = field(repr=False)

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


def feed(
    config: SwitchConfig, stimulus: Stimulus, cycle: Sequence[Array], last: Sequence[Array], key: Sequence[Array],
    head: Array,
) -> Feed:  # fmt: skip
    """The core's stimulus from arrays by input: earliest cycle, last flag, row of ``head`` (-1 behind a first beat)."""
    if len(cycle) != config.ports:
        raise ValueError(f"beats has {len(cycle)} entries; allowed: one an input, {config.ports}")
    cycles, lasts, keys = (np.concatenate(x).astype(np.int64) for x in (cycle, last, key))
    return joined(config, stimulus, np.cumsum([len(x) for x in cycle]), cycles, lasts, keys, head)


def joined(
    config: SwitchConfig, stimulus: Stimulus, end: Array, cycle: Array, last: Array, key: Array, head: Array
) -> Feed:
    """The same from arrays of all inputs one behind the other; ``end``: row behind the last one of each input."""
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
        off=np.concatenate(([0], end[:-1])), end=end, cycle=cycle, last=last, key=key,
        taken=np.full(int(end[-1]), -1, np.int64), cut=np.zeros(int(end[-1]), np.bool_),
        head=np.ascontiguousarray(head),
        ready=ready, ready_at=ready_at, credit=credit, credit_at=credit_at,
        tables=np.column_stack([at, index, np.where(valid != 0, group, -1)]),
        groups=np.column_stack(numbers), group_sets=_sets(sets), ups=ups[0], up_sets=_sets(up_sets), pauses=pauses[0],
        pause_bits=np.array(bits, np.int64).reshape(-1, p * lanes),
    )  # fmt: skip


_kept: list[Array] = []


def _buffer(rows: int) -> Array:
    """A log that an earlier run has used, where there is one: new memory costs more than what is written to it."""
    log = _kept.pop() if _kept and len(_kept[-1]) >= rows else np.zeros((rows, 4), np.int64)
    _kept[:] = [log]
    return log


def play(
    config: SwitchConfig, stimulus: Stimulus, given: Feed, record: int, part: Callable[[Array], None], rows: int = 0
) -> State:
    """Run a feed to its end; returns the last state.

    ``part`` gets the log of the kinds in ``record``, in parts of ``rows`` or, without, as many as it is likely to have,
    in order of evaluation. What it gets is overwritten later.
    """
    c = shape(config, record, stimulus.gate)
    spare = 64 * c.ports * c.lanes
    # room for what every beat leaves behind, so that one part is all there is when nothing is multiplied or dropped
    likely = len(given.cycle) * sum(record >> k & 1 for k in (K_OUT, K_FREE)) * 9 // 8
    state = fresh(c, config.groups, _buffer(spare + (rows or likely)))
    state.inp[:, NEXT] = given.off
    while True:
        why = run(c, state, given, stimulus.max_cycles)
        part(state.log[: state.g[LOG]])
        state.g[LOG] = 0
        if why == DONE:
            return state
        if why != FULL:
            raise Stuck(_where(config, given, state, stimulus.max_cycles))
        if not rows:
            state = state._replace(log=np.zeros((spare + _LOG_ROWS, 4), np.int64))


def _where(config: SwitchConfig, given: Feed, state: State, limit: int) -> str:
    """What a switch that does not come to its end still holds."""
    texts = [
        f"input {i}: {int(given.end[i] - state.inp[i, NEXT])} beats to play, {int(state.inp[i, INSIDE])} inside"
        for i in range(config.ports)
        if state.inp[i, INSIDE] or given.end[i] > state.inp[i, NEXT]
    ]
    return f"switch still busy at cycle {limit}: {'; '.join(texts) or 'credits or events outstanding'}"


def _by_port(log: Events, kind: int, ports: int) -> list[Array]:
    """Events of a kind, by port."""
    found = []
    for p in range(ports):
        cycle, value, _ = log.of(kind, p)
        events = np.zeros(len(cycle), EVENT)
        events["cycle"], events["value"] = cycle, value
        found.append(events)
    return found


def _vector(log: Events, kind: int) -> list[tuple[int, int]]:
    """Changes of single bits as changes of the whole vector."""
    changes = [(0, 0)]
    for cycle, value, n in zip(*(column.tolist() for column in log.all(kind)), strict=True):
        word = changes[-1][1] & ~(1 << n) | value << n
        if changes[-1][0] == cycle:
            changes.pop()
        changes.append((cycle, word))
    return changes


def _departures(log: Events, ports: int, off: Array) -> list[Array]:
    """Beats that left each output."""
    found = []
    for o in range(ports):
        cycle, beat, bits = log.of(K_OUT, o)
        out = np.zeros(len(cycle), OUT)
        source = bits >> META_INPUT & 0xFF
        out["cycle"], out["input"] = cycle, source
        out["beat"] = np.where(beat < 0, beat, beat - off[source])
        for name, at in (("last", META_LAST), ("user", META_USER), ("marked", META_MARKED)):
            out[name] = bits >> at & 1
        found.append(out)
    return found


def simulate(config: SwitchConfig, stimulus: Stimulus) -> Outcome:
    """Run to the end. Raises ValueError for what cannot be, :class:`models.kernel.Stuck` at ``max_cycles``."""
    beats = stimulus.beats
    check.played(beats, config.ports, config.data_bytes)
    _, ups = check.timed("port_up", stimulus.port_up, {}, ("ports", config.ports))
    whole = (1 << config.ports) - 1  # where a port dies, a frame begins behind its abort beat, wherever the stream is
    everywhere = any(mask != whole for mask in ups)
    end = np.cumsum([len(b) for b in beats])
    total = int(end[-1])
    cycle, last, key = (np.empty(total, np.int64) for _ in range(3))
    head = np.empty((total, NH), np.int64)
    free = at = 0
    for b, to in zip(beats, end.tolist(), strict=True):
        cycle[at:to] = b["cycle"]
        free = read(config, b, everywhere, last[at:to], key[at:to], head, free)
        at = to
    given = joined(config, stimulus, end, cycle, last, key, head[:free])
    kinds = sum(1 << k for k in range(NK) if k in (K_OUT, K_DROP, K_MC_LOST, K_FREE, K_LOST, K_ECN, K_PAUSE, K_LIVE))
    parts: list[Array] = []
    state = play(config, stimulus, given, kinds, parts.append)
    p = config.ports
    log = Events(parts, p * config.lanes)
    drop = _by_port(log, K_DROP, p)
    mc_lost, lost, ecn = (_by_port(log, kind, p) for kind in (K_MC_LOST, K_LOST, K_ECN))
    codes = np.concatenate([d["value"] for d in drop])
    counters = {name: int((codes == n).sum()) for n, name in enumerate(REASONS) if name}
    counters |= {name: sum(map(len, x)) for name, x in (("mc_lost", mc_lost), ("lost", lost), ("ecn", ecn))}
    return Outcome(
        taken=[given.taken[given.off[i] : given.end[i]] for i in range(p)],
        cut=[given.cut[given.off[i] : given.end[i]] for i in range(p)], out=_departures(log, p, given.off),
        drop=drop,
        mc_lost=mc_lost, free=_by_port(log, K_FREE, p), lost=lost, ecn=ecn, pause=_vector(log, K_PAUSE),
        live=_vector(log, K_LIVE), end=int(state.g[NOW]), counters=counters, _config=config, _beats=beats,
    )  # fmt: skip
