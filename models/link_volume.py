# SPDX-License-Identifier: Apache-2.0
"""The golden model of a cable with its two ends over a whole stimulus at once: in which cycle what moves.

"At cycle *c*" of a level means: the input shows the value during *c*. Cycle 0 is the first one out of reset; players
offer nothing before cycle 1. Errors sit before the receiving end's PHY; cycles of faults and cuts are those in which
something passes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from models.link_config import LinkConfig, pair
from models.link_core import DONE, POOL_FULL, late, run
from models.link_crc import shares
from models.link_outcome import EndOutcome, LinkOutcome, end_outcome
from models.link_state import (
    I_ENABLE,
    I_PAUSE,
    I_REQ,
    LEVEL_ALLOW,
    LEVEL_CUT,
    LEVEL_FAULT,
    N_LOG,
    N_M,
    N_OUT,
    P_CORE_ALL,
    P_TX_AT,
    S_END,
    Plan,
    State,
)  # fmt: skip
from models.phy_errors import PhyErrors

__all__ = ["EndOutcome", "EndStimulus", "LinkConfig", "LinkOutcome", "LinkStimulus", "PhyErrors", "simulate_link"]

Array = npt.NDArray[Any]
_MAX_ROWS = 1 << 18


def _none() -> Array:
    return np.zeros(0, np.int64)


@dataclass
class EndStimulus:
    """What is done to an end. Beats: ``data`` (n, bytes of a beat), ``count`` of valid bytes, ``last``, ``user``
    (counts with the last), ``cycle`` (the earliest; offered then, or when the beat before was accepted).

    ``go``: pattern, bit (cycle modulo length), None: every cycle; ``free_all``: the core frees all that it holds.
    ``enable`` (before: as configured), ``retrain_req``, ``s_pause`` (0 before), ``drained`` (1 before; it is what is
    allowed): (cycle, value). ``errors``: of what this end receives.
    """

    data: Array = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    count: Array = field(default_factory=_none)
    last: Array = field(default_factory=_none)
    user: Array = field(default_factory=_none)
    cycle: Array = field(default_factory=_none)
    go: Sequence[int] | Array | None = None
    free_all: bool = False
    enable: Sequence[tuple[int, int]] = ()
    retrain_req: Sequence[tuple[int, int]] = ()
    s_pause: Sequence[tuple[int, int]] = ()
    drained: Sequence[tuple[int, int]] = ()
    errors: PhyErrors = field(default_factory=PhyErrors)

    @classmethod
    def of_frames(cls, frames: Sequence[bytes], beat: int = 64, cycle: Sequence[int] | int = 1, **more: Any) -> Any:
        """Frames as bytes; ``cycle``: earliest of each, or of all; no ``user``."""
        beats = np.array([-(-len(f) // beat) for f in frames], np.int64)
        data = np.zeros((int(beats.sum()), beat), np.uint8)
        count = np.full(len(data), beat, np.int64)
        ends = np.cumsum(beats)
        for frame, end, n in zip(frames, ends.tolist(), beats.tolist(), strict=True):
            data[end - n : end].reshape(-1)[: len(frame)] = np.frombuffer(frame, np.uint8)
            count[end - 1] = len(frame) - (n - 1) * beat
        last = np.zeros(len(data), np.int64)
        last[ends - 1] = 1
        at = np.repeat(np.broadcast_to(np.asarray(cycle, np.int64), (len(frames),)), beats)
        return cls(data, count, last, np.zeros(len(data), np.int64), at, **more)


@dataclass
class LinkStimulus:
    """Both ends."""

    a: EndStimulus = field(default_factory=EndStimulus)
    b: EndStimulus = field(default_factory=EndStimulus)


def load(state: State, rows: slice, config: LinkConfig, stim: EndStimulus) -> None:
    """Beats of an end into the state, with what is known of them beforehand. Raises ValueError."""
    n = len(stim.count)
    if not n:
        return
    count = np.asarray(stim.count, np.int64)
    if stim.data.shape != (n, config.beat):
        raise ValueError(f"data is {stim.data.shape}; allowed: ({n}, {config.beat})")
    last = np.asarray(stim.last, np.int64)
    if count.min() < 1 or count.max() > config.beat:
        raise ValueError(f"count is {count.min()} to {count.max()}; allowed: 1 to {config.beat}")
    data = state.data[rows]
    data[:] = np.where(np.arange(config.beat) < count[:, None], stim.data, 0)
    state.valid[rows], state.last[rows] = count, last
    state.user[rows] = np.asarray(stim.user, np.int64) & last
    state.head[rows] = data[:, 15] >> 5 if config.cfg.roce else data[:, 0] >> 4
    state.earliest[rows] = np.maximum(stim.cycle, 1)
    shares(state.crc, data, count, not config.cfg.roce, state.share[rows])


def _plan(ends: tuple[LinkConfig, LinkConfig], stims: tuple[EndStimulus, EndStimulus]) -> Plan:
    """Levels and patterns. Faults and cuts come a receive PHY later to what the core looks at."""
    rows: list[tuple[int, int, int, int]] = []
    go: list[Array] = []
    at = np.zeros((2, 2), np.int64)
    for i, (config, stim) in enumerate(zip(ends, stims, strict=True)):
        late_by = config.cfg.phy_rx
        for what, levels, shift in (
            (I_ENABLE, stim.enable, 0), (I_REQ, stim.retrain_req, 0), (I_PAUSE, stim.s_pause, 0),
            (LEVEL_ALLOW, stim.drained, 0), (LEVEL_CUT, stim.errors.cuts, late_by),
            (LEVEL_FAULT, stim.errors.faults, late_by),
        ):  # fmt: skip
            rows += [(cycle + shift, i, what, int(value)) for cycle, value in levels]
        if stim.go is not None and len(stim.go):
            at[i] = sum(map(len, go)), len(stim.go)
            go.append(np.asarray(stim.go, np.int64))
    rows.sort(key=lambda row: row[0])
    return Plan(np.array(rows, np.int64).reshape(-1, 4), np.concatenate([*go, _none()]), at)


class _Logs:
    """The core's logs, collected in parts."""

    def __init__(self) -> None:
        self.parts: list[list[list[Array]]] = [[[], [], []], [[], [], []]]

    def empty(self, state: State) -> None:
        """Take what is there."""
        for i in range(2):
            for part, column, log in zip(
                self.parts[i], (N_LOG, N_OUT, N_M), (state.log, state.out, state.m), strict=True
            ):
                part.append(log[i, : state.n[i, column]].copy())
                state.n[i, column] = 0

    def of(self, i: int) -> list[Array]:
        """Log, out and m of an end."""
        return [np.concatenate(part) for part in self.parts[i]]


def simulate_link(
    a: LinkConfig, b: LinkConfig, cable: int, stim: LinkStimulus, cycles: int, *, record: int = -1
) -> LinkOutcome:
    """Run ``cycles`` cycles from reset on, over ``cable`` cycles each way. ``record``: set of the kinds to note (G_...
    of models/link_state.py); all. Raises ValueError for what cannot be."""
    stim = LinkStimulus(*(replace(one, errors=one.errors.spread(a.data_w, cycles)) for one in (stim.a, stim.b)))
    ends, stims = (a, b), (stim.a, stim.b)
    beats = (len(stim.a.count), len(stim.b.count))
    state = pair(
        ends, cable, beats, (stim.a.errors, stim.b.errors), rows=min(_MAX_ROWS, 3 * cycles + 1024), record=record
    )
    slices = (slice(0, beats[0]), slice(beats[0], sum(beats)))
    for i in range(2):
        load(state, slices[i], ends[i], stims[i])
        state.r[i, S_END] = beats[i]
        state.p[i, P_CORE_ALL] = stims[i].free_all
    plan = _plan(ends, stims)
    logs = _Logs()
    while (why := run(state, plan, cycles, -1)) != DONE:
        if why == POOL_FULL:
            more = np.zeros_like(state.pool)
            state = state._replace(
                pool=np.concatenate([state.pool, more]),
                pool_share=np.concatenate([state.pool_share, np.zeros_like(state.pool_share)]),
            )
        else:
            logs.empty(state)
    late(state, plan, cycles)
    logs.empty(state)
    found = [
        end_outcome(
            ends[i], int(state.p[i, P_TX_AT]), logs.of(i), state.taken[slices[i]],
            ((state.data, slices[i].start), (state.data, slices[1 - i].start)), state.pool,
        )
        for i in range(2)
    ]  # fmt: skip
    return LinkOutcome(*found)
