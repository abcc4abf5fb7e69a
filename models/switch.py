# SPDX-License-Identifier: Apache-2.0
"""Golden model of the switch: virtual output queues, one iteration of round-robin grant and accept, cut-through.

The rules are X1 to X9 of rtl/switch/README.md, the figures ``switch.*``, ``link.buffer_cells``,
``frame.max_beats`` and ``latency.switch.*`` of spec/fabric.toml. The switch pulls beats from ``rx[i]``
(:meth:`Switch.attach`; a link's ``rx``, or a player's FIFO) and pushes into ``out[o]``, from which a link or
a sink pulls. ``freed[i]`` is called with (cycle, cells) for every ``free_cells`` that is not zero.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from models.kernel import Beat, Component, Fifo, Kernel
from models.spec import spec

INDEX_BITS = 10


def destination(beat: bytes, roce: bool) -> int | None:
    """Destination in a frame's first beat: DLID, or IPv4 address; None when the beat is too short for it."""
    start, end = (30, 34) if roce else (2, 4)
    return int.from_bytes(beat[start:end], "big") if len(beat) >= end else None


def nothing(_cycle: int, _cells: int) -> None:
    """A core that does not listen to ``free_cells``."""


@dataclass
class _Input:
    """One input: its pipeline, its queues and its match."""

    ports: int
    rx: Fifo[Beat] | None = None
    stages: deque[tuple[int, Beat]] = field(default_factory=deque)  # (cycle of the decision, beat)
    used: int = 0  # cells, as the register will show it
    changed: deque[tuple[int, int]] = field(default_factory=deque)  # (visible at, change of used)
    # frame being decided
    in_frame: bool = False
    dst: int | None = None
    stored: int = 0
    cut: bool = False
    # virtual output queues: (visible at, beat)
    voq: list[deque[tuple[int, Beat]]] = field(default_factory=list)
    match: int | None = None
    match_from: int = 0  # the match may be used from this cycle on
    idle_from: int = 0
    accept_ptr: int = 0

    def __post_init__(self) -> None:
        self.voq = [deque() for _ in range(self.ports)]


class Switch(Component):
    """The switch. Set the table (:meth:`route`) before frames arrive.

    ``prefix``: bits 31:10 of the known IPv4 destinations, or bits 15:10 of the known DLIDs.
    """

    def __init__(
        self, kernel: Kernel, name: str, *, ports: int = 8, roce: bool = False, prefix: int = 0,
        cells: int | None = None, egress: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        s = spec()
        self.ports = ports
        self.roce = roce
        self.prefix = prefix if roce else prefix & 0x3F
        self.cells = cells or s.integer("link.buffer_cells")
        self.egress = egress or s.integer("switch.egress_beats")
        self.max_beats = s.integer("frame.max_beats")
        self._store = s.cycles("latency.switch.store")
        self._lookup = s.cycles("latency.switch.lookup")
        self._match = s.cycles("latency.switch.match")
        self._free = s.cycles("latency.switch.free")
        self._count = s.cycles("latency.switch.count")
        cross = s.cycles("latency.switch.cross")
        self.table: dict[int, int] = {}
        self.out: list[Fifo[Beat]] = [Fifo(cross, self.egress, f"{name}.out{o}") for o in range(ports)]
        for fifo in self.out:
            fifo.producer = self
        self.freed: list[Callable[[int, int], None]] = [nothing] * ports
        self.unknown_log: list[tuple[int, int]] = [(0, 0)]
        self.long_log: list[tuple[int, int]] = [(0, 0)]
        self.grants: list[tuple[int, int, int]] = []  # (cycle, input, output), kept when trace is set
        self.stored_log: list[tuple[int, int]] = []  # (cycle a frame's first beat is stored, input), likewise
        self.trace = False
        self._in = [_Input(ports) for _ in range(ports)]
        self._grant_ptr = [0] * ports
        self._out_idle_from = [0] * ports
        self._out_busy = [False] * ports

    # -- configuration -----------------------------------------------------------------------------

    def route(self, destination: int, port: int) -> None:
        """Table entry of the low 10 bits of ``destination``."""
        self.table[destination & ((1 << INDEX_BITS) - 1)] = port

    def attach(self, i: int, rx: Fifo[Beat]) -> None:
        """Input ``i`` pulls from ``rx``."""
        self._in[i].rx = rx
        rx.consumer = self

    def look_up(self, beat: bytes) -> int | None:
        """Output port for a frame with this first beat; None: unknown destination."""
        dest = destination(beat, self.roce)
        if dest is None or dest >> INDEX_BITS != self.prefix:
            return None
        port = self.table.get(dest & ((1 << INDEX_BITS) - 1))
        return port if port is not None and port < self.ports else None

    # -- evaluation ----------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        again = self._arbitrate(now)
        for i, inp in enumerate(self._in):
            gone = self._decide(now, i, inp) if inp.stages and inp.stages[0][0] <= now else 0
            if inp.match is not None and inp.match_from <= now and self._take(now, inp):
                gone += 1
                again = True
            if gone:
                inp.changed.append((now + 1, -gone))
                self.freed[i](now + self._free, gone)
                again = True
            if inp.rx is not None and inp.rx.head(now) is not None:
                again |= self._accept(now, inp)
        if again:
            self.wake(now + 1)

    def _accept(self, now: int, inp: _Input) -> bool:
        """s_axis: a beat enters if a cell is free as the registers show it."""
        assert inp.rx is not None
        while inp.changed and inp.changed[0][0] <= now:
            inp.used += inp.changed.popleft()[1]
        if inp.used >= self.cells:
            return False  # woken when a beat leaves
        inp.stages.append((now + self._lookup, inp.rx.pop(now)))
        inp.changed.append((now + 1, 1))
        self.wake(now + self._lookup)
        return True

    def _decide(self, now: int, i: int, inp: _Input) -> int:
        """Route, drop or cut the beat whose turn it is; returns the cells given back (0 or 1)."""
        _, beat = inp.stages.popleft()
        first = not inp.in_frame
        if first:
            inp.dst = self.look_up(beat.data)
            inp.stored = 0
            inp.cut = False
            if inp.dst is None:
                self._log(self.unknown_log, now + self._count)
        inp.in_frame = not beat.last
        if inp.dst is None or inp.cut:
            return 1
        inp.stored += 1
        if first and self.trace:
            self.stored_log.append((now, i))
        if inp.stored == self.max_beats and not beat.last:
            inp.cut = True
            self._log(self.long_log, now + self._count)
            beat = Beat(beat.data, True, beat.side)
        visible = now + self._store - self._lookup
        inp.voq[inp.dst].append((visible, beat))
        self.wake(visible)
        return 0

    def _take(self, now: int, inp: _Input) -> bool:
        """The matched VOQ gives a beat to the crossbar, if it has one."""
        o = inp.match
        assert o is not None
        queue = inp.voq[o]
        if not queue or queue[0][0] > now:
            return False
        beat = queue.popleft()[1]
        self.out[o].push(now, beat)
        if beat.last:
            inp.match = None
            inp.idle_from = now + 1
            self._out_busy[o] = False
            self._out_idle_from[o] = now + 1
        return True

    def _arbitrate(self, now: int) -> bool:
        """Grant and accept among idle inputs and idle outputs with room; True if anything was matched."""
        ports = self.ports
        wishes: dict[int, list[int]] = {}
        for i, inp in enumerate(self._in):
            if inp.match is None and inp.idle_from <= now:
                for o, queue in enumerate(inp.voq):
                    if queue and queue[0][0] <= now:
                        wishes.setdefault(o, []).append(i)
        if not wishes:
            return False
        offers: dict[int, list[int]] = {}
        for o, inputs in wishes.items():
            if self._out_busy[o] or self._out_idle_from[o] > now:
                continue
            if self.out[o].reserved(now) > self.egress - self.max_beats:
                continue
            ptr = self._grant_ptr[o]
            offers.setdefault(min(inputs, key=lambda i: (i - ptr) % ports), []).append(o)
        for i, outputs in offers.items():
            inp = self._in[i]
            o = min(outputs, key=lambda out: (out - inp.accept_ptr) % ports)
            inp.match = o
            inp.match_from = now + self._match
            inp.accept_ptr = (o + 1) % ports
            self._grant_ptr[o] = (i + 1) % ports
            self._out_busy[o] = True
            if self.trace:
                self.grants.append((now, i, o))
        return bool(offers)

    @staticmethod
    def _log(log: list[tuple[int, int]], cycle: int) -> None:
        """One more at ``cycle``: several in one cycle are one change."""
        value = (log[-1][1] + 1) & 0xFFFFFFFF
        if log[-1][0] == cycle:
            log[-1] = (cycle, value)
        else:
            log.append((cycle, value))
