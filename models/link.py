# SPDX-License-Identifier: Apache-2.0
"""One end of a cable as a component of the event kernel: the compiled core, with FIFOs of beats around it.

The rules are those of docs/link.md. A :class:`Link` pulls beats from what is attached and pushes what comes in into
``rx``, visible in the cycle in which ``m_axis`` shows it; the core must empty that as it comes. Both ends of a cable
share one state (:func:`connect`). There are no errors on the cable here: models/link_volume.py has them.

An idle link costs nothing: an end is evaluated when something comes or falls due. What an idle link only says again
(``link.refresh``) does not keep a run going.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable

import numpy as np

from models.kernel import Beat, Component, Fifo, Kernel
from models.link_config import LinkConfig, agree, cable_cycles, default_cfg, pair, phy_cycles
from models.link_core import offer, run
from models.link_state import (
    B_UP,
    G_CREDIT,
    G_CREDITS,
    G_CTL,
    G_EV,
    G_NOW,
    G_PAUSE,
    G_STATE,
    G_UP,
    I_PAUSE,
    I_REQ,
    L_CF,
    L_CREDITS,
    L_FREE,
    M15,
    N_LOG,
    N_M,
    N_OUT,
    NEW,
    O_FIRST,
    O_KIND,
    O_LAST,
    P_BASE,
    P_FIFO,
    P_FLIGHT,
    PFC_FRAME,
    S_HEAD,
    S_SP,
    S_TAIL,
    X_LATER,
    X_QUIET_SET,
    X_SENT,
    X_WAKE,
    Plan,
    State,
)  # fmt: skip
from models.phy_errors import PhyErrors
from models.protocol import LinkCfg
from models.spec import spec

__all__ = ["Link", "LinkCfg", "cable_cycles", "connect", "default_cfg", "phy_cycles"]

_ROWS = 4096  # beats that an end remembers: replay buffer, cable and receiver hold fewer
_LOG_ROWS = 512
_RECORD = sum(1 << kind for kind in (G_CREDIT, G_CREDITS, G_CTL, G_EV, G_PAUSE, G_STATE, G_UP))
_NO_PLAN = Plan(np.zeros((0, 4), np.int64), np.zeros(0, np.int64), np.zeros((2, 2), np.int64))
_END_OF_FRAME = 20  # bit of a header


def nothing(*_: int) -> None:
    """A core that does not listen."""


class Link(Component):
    """One end. Give it a source and :func:`connect` it before the run.

    ``cfg`` configures it (docs/link.md); without, it is up from reset on with the project's figures, ``roce``,
    ``gate`` and the PHY's delays as given. ``on_credit(cycle, lane, cells)``, ``on_pause(cycle, lanes)`` and
    ``on_up(cycle, up)`` are called for ``m_credit``, ``m_pause`` and ``up`` with the cycle in which they show the
    value, one ahead.

    Kept when ``trace`` is set: ``accepted`` (cycle, beat); ``sent_beats`` (cycle of leaving, beat) of frames' beats,
    replayed ones again; ``mac_tx``, ``mac_rx``, ``core_rx``: (cycle, last of a frame) of what passes the MAC's both
    sides, pause frames too, and of what the core gets; ``sent_ctl`` (cycle of leaving, kind, number, data); ``events``
    (cycle, number); ``credit_log`` (cycle, cells of lane 0).
    """

    def __init__(
        self, kernel: Kernel, name: str, *, roce: bool = False, phy_tx: int | None = None, phy_rx: int | None = None,
        gate: bool = True, lanes: int = 1, cfg: LinkCfg | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        if cfg is None:
            delays = {n: v for n, v in (("phy_tx", phy_tx), ("phy_rx", phy_rx)) if v is not None}
            cfg = default_cfg(roce=int(roce), gate=int(gate), **delays)
        self.config = LinkConfig(512, lanes, cfg)
        self.rx: Fifo[Beat] = Fifo(1, None, f"{name}.rx")
        self.on_credit: Callable[[int, int, int], None] = nothing
        self.on_pause: Callable[[int, int], None] = nothing
        self.on_up: Callable[[int, int], None] = nothing
        self.trace = False
        self.accepted: list[tuple[int, Beat]] = []
        self.sent_beats: list[tuple[int, Beat]] = []
        self.sent_ctl: list[tuple[int, int, int, int]] = []
        self.mac_tx: list[tuple[int, bool]] = []
        self.mac_rx: list[tuple[int, bool]] = []
        self.core_rx: list[tuple[int, bool]] = []
        self.events: list[tuple[int, int]] = []
        self.credit_log: list[tuple[int, int]] = [(0, 16 * cfg.cells * cfg.preset)]
        self.up = bool(cfg.preset)
        self.source: Fifo[Beat] | None = None
        self.far: Link | None = None
        self._i = 0
        self._beats: list[Beat | None] = [None] * _ROWS
        self._freed: list[tuple[int, int, int]] = []
        self._pauses: deque[tuple[int, int]] = deque()
        self._requests: set[int] = set()
        self._next = -1
        self._later = -1

    # -- inputs ------------------------------------------------------------------------------------

    def attach(self, source: Fifo[Beat]) -> None:
        """The core's frames come from ``source``."""
        self.source = source
        source.consumer = self
        if (first := source.head_cycle()) is not None:
            self.wake(max(first, self.kernel.now))

    def free(self, now: int, cells: int, lane: int = 0) -> None:
        """``free_cells`` of the core in cycle ``now``, not before the present one."""
        insort(self._freed, (now, lane, cells))
        self.wake(now)

    def pause(self, now: int, lanes: int) -> None:
        """``s_pause`` from cycle ``now`` on."""
        self._pauses.append((now, lanes))
        self.wake(now)

    def retrain(self, now: int) -> None:
        """``retrain_req`` in cycle ``now``."""
        self._requests.add(now)
        self.wake(now)

    # -- state -------------------------------------------------------------------------------------

    @property
    def tx_latency(self) -> int:
        """Cycles from leaving to the link's cable side."""
        return self.tx_out + self.config.cfg.phy_tx

    @property
    def tx_out(self) -> int:
        """Cycles from leaving to the PHY."""
        return spec().cycles("latency.link.tx_out")

    def credits(self, lane: int = 0) -> int:
        """Cells known to be free at the far end, as of the last cycle evaluated."""
        return int(self._state.lane[self._i, lane, L_CREDITS])

    def join(self, state: State, i: int, far: Link) -> None:
        """:func:`connect` gives the end its state."""
        self._state, self._i, self.far = state, i, far
        self._r, self._n = state.r[i], state.n[i]
        self._flight, self._room = int(state.p[i, P_FLIGHT]), int(state.p[i, P_FIFO])
        self._base = int(state.p[i, P_BASE])
        if not self.config.cfg.preset:
            self.wake(0)

    def tick(self, now: int) -> None:
        state, i, r, n = self._state, self._i, self._r, self._n
        if r[G_NOW] > now:
            self._late(now)
            return
        self._inputs(now)
        source = self.source
        if source is not None and r[S_TAIL] - r[S_HEAD] < self._room and source.head(now) is not None:
            beat = source.pop(now)
            data = np.frombuffer(beat.data, np.uint8)
            row = offer(state, i, now, data, int(beat.last), 0)
            self._beats[row - self._base] = beat
            if self.trace:
                self.accepted.append((now, beat))
        run(state, _NO_PLAN, now + 1, i)
        if r[X_SENT]:
            assert self.far is not None
            # what only says again what is known does not keep a run going
            self.far.wake(now + self._flight, idle=bool(r[X_QUIET_SET]) and not n[N_OUT])
        if n[N_OUT]:
            n[N_OUT] = 0
            if self.trace:
                self._left(now, *(int(x) for x in state.out[i, 0, 1:]))
        if n[N_M]:
            n[N_M] = 0
            self._deliver(now, *(int(x) for x in state.m[i, 0, 1:]))
        if n[N_LOG]:
            rows = state.log[i, : n[N_LOG]].tolist()
            n[N_LOG] = 0
            self._noted(rows)
        wake = int(r[X_WAKE])
        if source is not None and r[S_TAIL] - r[S_HEAD] < self._room and (head := source.head_cycle()) is not None:
            wake = min(wake, max(now + 1, head))
        self._schedule(now, wake, int(r[X_LATER]))

    def _late(self, now: int) -> None:
        """What came in a cycle that was evaluated already: neither shows before the next one."""
        while self._freed and self._freed[0][0] <= now:
            _, lane, cells = self._freed.pop(0)
            freed = self._state.lane[self._i, lane]
            if self._r[B_UP]:
                freed[L_CF] = (freed[L_CF] + cells) & M15
        while self._pauses and self._pauses[0][0] <= now:
            self._r[I_PAUSE] = self._r[S_SP] = self._pauses.popleft()[1]
        self.wake(now + 1)

    def _inputs(self, now: int) -> None:
        while self._freed and self._freed[0][0] <= now:
            _, lane, cells = self._freed.pop(0)
            self._state.lane[self._i, lane, L_FREE] += cells
        while self._pauses and self._pauses[0][0] <= now:
            self._r[I_PAUSE] = self._pauses.popleft()[1]
        self._r[I_REQ] = now in self._requests

    def _schedule(self, now: int, wake: int, later: int) -> None:
        """Wakes that are not asked for already."""
        if wake < 1 << 60 and (self._next <= now or wake < self._next):
            self._next = wake
            self.wake(wake)
        if later < 1 << 60 and (self._later <= now or later < self._later):
            self._later = later
            self.wake(later, idle=True)

    def _left(self, now: int, ref: int, meta: int, trailer: int) -> None:
        """A beat went to the cable."""
        kind = meta >> O_KIND & 3
        last = bool(meta >> O_LAST & 1) and bool(self.config.cfg.roce or trailer >> _END_OF_FRAME & 1)
        at = now + self.tx_out
        self.mac_tx.append((at, last))
        assert self.far is not None
        self.far.mac_rx.append((now + self._flight, last))
        if kind != PFC_FRAME and ref >= 0:
            beat = self._beats[ref - self._base]
            assert beat is not None
            self.sent_beats.append((now, beat if kind == NEW else Beat(beat.data, last)))

    def _deliver(self, now: int, ref: int, meta: int) -> None:
        """A beat shows at ``m_axis`` in the next cycle."""
        assert self.far is not None
        last = bool(meta >> O_LAST & 1)
        damaged = meta >> O_FIRST & 1
        if ref < 0:
            beat = Beat(b"\0", last)
        else:
            sent = self.far._beats[ref - self.far._base]
            assert sent is not None
            beat = Beat(sent.data, last, "damaged" if damaged else None)
        if self.trace:
            self.core_rx.append((now + 1, last))
        self.rx.push(now, beat)

    def _noted(self, rows: list[list[int]]) -> None:
        for cycle, kind, a, b in rows:
            if kind == G_CREDIT:
                self.on_credit(cycle, a, b)
            elif kind == G_PAUSE:
                self.on_pause(cycle, a)
            elif kind == G_UP:
                self.up = bool(a)
                self.on_up(cycle, a)
            elif not self.trace:
                continue
            elif kind == G_CREDITS and a == 0:
                self.credit_log.append((cycle, b))
            elif kind == G_CTL:
                self.sent_ctl.append((cycle, a & 0xFF, a >> 20, b))
            elif kind == G_EV:
                self.events.append((cycle, a))


def connect(a: Link, b: Link, cable: int) -> None:
    """Put a cable of ``cable`` cycles between two ends. ValueError for ends that would not work, and not say so."""
    agree((a.config, b.config), cable)
    none = PhyErrors()
    state = pair(
        (a.config, b.config), cable, (_ROWS, _ROWS), (none, none), rows=_LOG_ROWS, mask=_ROWS - 1, record=_RECORD
    )
    a.join(state, 0, b)
    b.join(state, 1, a)
