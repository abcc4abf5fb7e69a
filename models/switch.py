# SPDX-License-Identifier: Apache-2.0
"""The switch as a component of the event kernel: the compiled core, with bytes and FIFOs around it.

The rules are those of docs/switch.md. The switch pulls beats from what is attached (:meth:`Switch.attach`; a link's
``rx``, or a player's FIFO) and pushes into ``out[o]``, from which a link or a sink pulls. ``freed[i]`` is called with
(cycle, cells) for every ``free_cells`` that is not zero, ``paused[i]`` with (cycle, level) when ``s_pause`` changes, in
the cycle before. All ports are up; frames have one way each.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable

import numpy as np

from models.kernel import Beat, Component, Fifo, Kernel
from models.switch_config import SwitchConfig
from models.switch_core import DONE, run
from models.switch_header import headers
from models.switch_state import (
    ALL,
    BOOKED,
    CREDIT,
    CREDITS,
    INSIDE,
    K_DROP,
    K_FREE,
    K_GRANT,
    K_PAUSE,
    K_STORED,
    K_TAKE,
    LIVE,
    LOG,
    META_INPUT,
    META_LAST,
    NEXT,
    NH,
    NO,
    NOW,
    OPEN,
    PAUSE_BEFORE,
    PEND,
    UNKNOWN,
    UNSETTLED,
    Feed,
    fresh,
    shape,
)  # fmt: skip
from models.switch_volume import Stimulus, joined

_LOG_ROWS = 8192
_FIRST_ROOM = 1024


def nothing(_cycle: int, _value: int) -> None:
    """A link that does not listen to ``free_cells`` or ``s_pause``."""


class Switch(Component):
    """The switch. Set the table (:meth:`route`) before frames arrive.

    ``pause``: xoff and xon, where the switch pauses its far ends (cfg_pfc); ``credits``: cells of an output's far end,
    where the switch counts them (cfg_credit_en, :meth:`credit`). One lane.
    ``prefix``: ``destination >> 10`` of the known destinations. ``unknown_log``: (cycle, frames dropped so far) as a
    counter behind the drop port shows it. Kept when ``trace`` is set: ``grants`` (cycle, input, output) and
    ``stored_log`` (cycle at which a frame's first beat is decided to be stored, input).
    """

    def __init__(
        self, kernel: Kernel, name: str, *, ports: int = 8, roce: bool = False, prefix: int = 0,
        cells: int | None = None, egress: int | None = None, pause: tuple[int, int] | None = None,
        credits: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        xoff, xon = pause or (0, 0)
        self.config = SwitchConfig(
            ports, cells=cells, egress=egress, roce=roce, prefix=prefix, groups=max(64, 1 << (ports - 1).bit_length()),
            pfc=pause is not None, xoff=xoff, xon=xon, credit_en=credits is not None, credit_init=credits or 0,
        )  # fmt: skip
        self.ports = ports
        kinds = sum(1 << k for k in (K_DROP, K_FREE, K_GRANT, K_PAUSE, K_STORED, K_TAKE))
        self._shape = shape(self.config, kinds, outside=True, each=True)
        logs = (np.zeros((_LOG_ROWS, 4), np.int64), np.zeros((ports, 2), np.int64))
        self._state = fresh(self._shape, self.config.groups, *logs)
        self._state.m[LIVE : LIVE + 2] = self._state.m[ALL : ALL + 2]
        self._state.g[UNSETTLED] = 0
        for p in range(ports):
            self._state.members[p * 2 + (p >> 6)] = np.uint64(1 << (p & 63))
        self.out: list[Fifo[Beat]] = [Fifo(self._shape.cross, self.config.room, f"{name}.out{o}") for o in range(ports)]
        for fifo in self.out:
            fifo.producer = self
        self.freed: list[Callable[[int, int], None]] = [nothing] * ports
        self.paused: list[Callable[[int, int], None]] = [nothing] * ports
        self._credits: list[tuple[int, int, int]] = []  # cycle, output, cells
        self._pauses: list[tuple[int, int, int]] = []
        self.unknown_log: list[tuple[int, int]] = [(0, 0)]
        self.grants: list[tuple[int, int, int]] = []
        self.stored_log: list[tuple[int, int]] = []
        self.trace = False
        self._rx: list[Fifo[Beat] | None] = [None] * ports
        self._beats: list[list[Beat | None]] = [[] for _ in range(ports)]
        self._first = [True] * ports
        self._busy = False
        self._room = 0
        self._grow()

    def route(self, destination: int, port: int) -> None:
        """Table entry of the low 10 bits of ``destination``; a port that does not exist makes it unknown."""
        index = destination & ((1 << self.config.addr_w) - 1)
        self._state.table[index] = port if port < self.ports else -1

    def credit(self, now: int, o: int, cells: int) -> None:
        """``m_credit`` of output ``o`` in cycle ``now``."""
        insort(self._credits, (now, o, cells))
        self.wake(now)

    def pause(self, now: int, o: int, level: int) -> None:
        """``m_pause`` of output ``o`` from cycle ``now`` on."""
        insort(self._pauses, (now, o, level))
        self.wake(now + 1)

    def _levels(self, now: int) -> bool:
        """Credits and pauses that this cycle counts; whether there are credits."""
        while self._pauses and self._pauses[0][0] < now:  # the register behind m_pause
            _, o, level = self._pauses.pop(0)
            self._state.outputs[o, 0, PAUSE_BEFORE] = level
        came = False
        while self._credits and self._credits[0][0] <= now:
            _, o, cells = self._credits.pop(0)
            if self._state.g[NOW] > now:  # evaluated already: the next cycle shows them all the same
                self._state.outputs[o, 0, CREDIT] += cells
            else:
                self._state.outputs[o, 0, PEND] += cells
                self._state.m[CREDITS + (o >> 6)] |= np.uint64(1 << (o & 63))
            came = True
        return came

    def attach(self, i: int, rx: Fifo[Beat]) -> None:
        """Input ``i`` pulls from ``rx``."""
        self._rx[i] = rx
        rx.consumer = self

    def tick(self, now: int) -> None:
        came = self._levels(now)
        inside = self._state.inputs[:, INSIDE]
        for i, rx in enumerate(self._rx):
            # tready, as the registers show it; the core comes to the same result and takes the beat in this cycle
            if rx is not None and rx.head(now) is not None and inside[i] < self.config.depth:
                self._append(now, i, rx.pop(now))
                came = True
        if not came and not self._busy:
            return
        self._state.out[BOOKED::NO] = [fifo.reserved(now) for fifo in self.out]
        self._busy = run(self._shape, self._state, self._feed, now + 1) != DONE
        if self._state.g[LOG]:
            self._events(now, self._state.log.reshape(-1, 4)[: self._state.g[LOG]].tolist())
            self._state.g[LOG] = 0
        if self._busy:
            self.wake(now + 1)

    def _append(self, now: int, i: int, beat: Beat) -> None:
        """A beat for the core to take at ``now``."""
        if len(self._beats[i]) == self._room:
            self._grow()
        elif not self._state.inputs[i, INSIDE] and not self._state.inputs[i, OPEN]:
            self._beats[i].clear()  # nothing refers to a beat of this input
            self._state.inputs[i, NEXT] = self._feed.off[i]
        at = int(self._feed.off[i]) + len(self._beats[i])
        self._beats[i].append(beat)
        self._feed.play[at] = now << 1 | beat.last
        if self._first[i]:
            width = self.config.data_bytes
            data = np.frombuffer(beat.data.ljust(width, b"\0"), np.uint8)[None]
            self._feed.head.reshape(-1, NH)[at] = headers(self.config, data, np.array([len(beat.data)]))
        self._first[i] = beat.last
        self._feed.end[i] = at + 1

    def _grow(self) -> None:
        """Room for twice as many beats; what refers to a beat is moved along."""
        old, before = self._room, getattr(self, "_feed", None)
        self._room = max(_FIRST_ROOM, 2 * old)
        end = np.arange(1, self.ports + 1) * self._room
        play, head = np.zeros(end[-1], np.int64), np.zeros((end[-1], NH), np.int64)
        self._feed: Feed = joined(self.config, Stimulus([]), end, play, head, np.zeros_like(end))
        if before is None:
            self._state.inputs[:, NEXT] = self._feed.off
            self._feed.end[:] = self._feed.off
            return
        for i in range(self.ports):
            shift = int(self._feed.off[i] - before.off[i])
            was, new = slice(i * old, (i + 1) * old), slice(i * self._room, i * self._room + old)
            self._feed.play[new] = before.play[was]
            self._feed.head.reshape(-1, NH)[new] = before.head.reshape(-1, NH)[was]
            self._feed.end[i] = before.end[i] + shift
            self._state.move(i, shift)

    def _events(self, now: int, rows: Iterable[list[int]]) -> None:
        """What the core reports of cycle ``now``."""
        freed: dict[int, int] = {}
        at = now
        for cycle, kind, port, value in rows:
            if kind == K_TAKE:
                i = port >> META_INPUT & 0xFF
                n = value - int(self._feed.off[i])
                beat = self._beats[i][n]
                assert beat is not None
                if bool(port >> META_LAST & 1) != beat.last:  # cut
                    beat = Beat(beat.data, True, beat.side)
                self._beats[i][n] = None
                self.out[port & 0xFF].push(now, beat)
            elif kind == K_FREE:
                at = cycle
                freed[port] = freed.get(port, 0) + 1
            elif kind == K_PAUSE:
                self.paused[port](cycle, value)
            elif kind == K_DROP:
                if value == UNKNOWN:
                    self._unknown(cycle)
            elif self.trace and kind == K_GRANT:
                self.grants.append((cycle, port, value))
            elif self.trace and kind == K_STORED:
                self.stored_log.append((cycle, port))
        for i, cells in freed.items():
            self.freed[i](at, cells)

    def _unknown(self, cycle: int) -> None:
        """One more at ``cycle``: several in one cycle are one change."""
        value = (self.unknown_log[-1][1] + 1) & 0xFFFFFFFF
        if self.unknown_log[-1][0] == cycle:
            self.unknown_log.pop()
        self.unknown_log.append((cycle, value))
