# SPDX-License-Identifier: Apache-2.0
"""Golden model of the link: pacing, credits and control sets of one end of a cable, delays of the PHY.

The rules are L1 to L8 of rtl/link/README.md, the figures ``link.*``, ``phy.*``, ``cable.*`` and
``latency.link.*`` of spec/fabric.toml. A :class:`Link` pulls beats from ``source`` (a Fifo that the core
fills) and pushes what it sends into the far end's ``rx`` (a Fifo that the far core must empty as it
comes: there is no stall). Control sets go the same way. Constant delays are latencies, not components.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from dataclasses import dataclass
from functools import cache
from math import ceil

from models.kernel import Beat, Component, Fifo, Kernel
from models.spec import spec


@dataclass(frozen=True)
class LinkFigures:
    """The figures of one profile. Bytes, cells and cycles as their names in spec/fabric.toml say."""

    rate: int
    overhead: int
    ctl_bytes: int
    ctl_spacing: int
    start_slack: int
    buffer_cells: int
    update_cells: int
    update_interval: int
    max_beats: int
    tx_fifo: int
    tx_out: int
    rx: int
    credit: int
    free: int
    fifo_beats: int


@cache
def link_figures(roce: bool) -> LinkFigures:
    """Figures of the native or RoCE profile, from spec/fabric.toml."""
    s = spec()
    return LinkFigures(
        rate=s.integer("link.rate_bytes"),
        overhead=s.integer("link.overhead_roce" if roce else "link.overhead_native"),
        ctl_bytes=s.integer("link.ctl_bytes"),
        ctl_spacing=s.cycles("link.ctl_spacing"),
        start_slack=s.cycles("link.start_slack"),
        buffer_cells=s.integer("link.buffer_cells"),
        update_cells=s.integer("link.credit_update_cells"),
        update_interval=s.cycles("link.credit_update_interval"),
        max_beats=s.integer("frame.max_beats"),
        tx_fifo=s.cycles("latency.link.tx_fifo"),
        tx_out=s.cycles("latency.link.tx_out"),
        rx=s.cycles("latency.link.rx"),
        credit=s.cycles("latency.link.credit"),
        free=s.cycles("latency.link.free"),
        fifo_beats=s.integer("latency.link.fifo_beats"),
    )


def phy_cycles(fec: str) -> tuple[int, int]:
    """Delays (transmit, receive) of the PHY in cycles for ``fec`` = "llfec" or "kp4": sums of its parts."""
    period = spec().value("clock.period_ns")
    parts = spec().section(f"phy.{fec}")

    def total(side: str) -> int:
        return ceil(round(sum(float(c.value) for n, c in parts.items() if n.startswith(side)) / period, 6))

    return total("tx_"), total("rx_")


def cable_cycles(metres: float, medium: str = "fibre") -> int:
    """Delay of a cable of ``metres`` ("fibre" or "copper") in cycles, rounded up, 1 at least."""
    ns = metres * spec().value(f"cable.ns_per_m_{medium}")
    return max(1, ceil(round(ns / spec().value("clock.period_ns"), 6)))


class LinkTx(Component):
    """Transmit side. Give it ``source`` and ``far_rx`` before the run; ``free`` and ``credit_set`` as things happen.

    ``flight`` is the number of cycles from a beat's leaving the serialiser to its being visible in
    ``far_rx``; ``ctl_flight`` from a control set's leaving to its being visible behind the far PHY.
    """

    def __init__(self, kernel: Kernel, name: str, roce: bool, cnt_init: int = 0) -> None:
        """``cnt_init``: value of CC and CF at reset, 0..65535, as the RTL's parameter CNT_INIT."""
        super().__init__(kernel, name)
        self.f = link_figures(roce)
        self.source: Fifo[Beat] | None = None
        self.far_rx: Fifo[Beat] | None = None
        self.far_tx: LinkTx | None = None
        self.flight = self.ctl_flight = 0
        self.sent_beats: list[tuple[int, Beat]] = []  # at the cycle of leaving; kept when trace is set
        self.sent_ctl: list[tuple[int, int]] = []
        self.credit_log: list[tuple[int, int]] = [(0, self.f.buffer_cells)]
        self.frames_log: list[tuple[int, int]] = [(0, 0)]
        self.accepted: list[tuple[int, Beat]] = []
        self.trace = False
        self.frames = 0
        # input FIFO: (earliest cycle to leave, beat)
        self._fifo: deque[tuple[int, Beat]] = deque()
        self._first_in = True
        self._left_at = -1  # last cycle in which a beat left
        # serialiser: backlog as it stands at cycle _backlog_at; idle cycles are accounted when asked
        self._backlog = 0
        self._backlog_at = 0
        self._in_frame = False
        # credits, modulo 2^16
        self._cc = self._far_cf = cnt_init
        self._credits_in: deque[tuple[int, int]] = deque()  # (visible in credits at, CF)
        self._cf = self._cf_sent = cnt_init
        self._freed: list[tuple[int, int]] = []  # (visible in CF at, cells)
        self._ctl_at = -self.f.update_interval  # last control set; none yet: the interval has passed

    # -- inputs ------------------------------------------------------------------------------------

    def attach(self, source: Fifo[Beat]) -> None:
        """Pull beats from ``source``."""
        self.source = source
        source.consumer = self

    def free(self, now: int, cells: int) -> None:
        """The core gives back ``cells`` in cycle ``now`` (the present one or a later one)."""
        insort(self._freed, (now + self.f.free, cells))
        self.wake(now + self.f.free)

    def credit_set(self, now: int, cf: int) -> None:
        """A control set with counter ``cf`` is visible behind the PHY at ``now``, not before the present."""
        self._credits_in.append((now + self.f.credit, cf))
        self.wake(now + self.f.credit)

    # -- state -------------------------------------------------------------------------------------

    def credits(self) -> int:
        """Cells known to be free at the far end."""
        return self.f.buffer_cells - ((self._cc - self._far_cf) & 0xFFFF)

    def _backlog_now(self, now: int) -> int:
        return max(0, self._backlog - self.f.rate * (now - self._backlog_at))

    def tick(self, now: int) -> None:
        f = self.f
        while self._credits_in and self._credits_in[0][0] <= now:
            self._far_cf = self._credits_in.popleft()[1]
            if self.trace:
                self._log(self.credit_log, now, self.credits())
        while self._freed and self._freed[0][0] <= now:
            self._cf = (self._cf + self._freed.pop(0)[1]) & 0xFFFF

        backlog = self._backlog_now(now)
        charge = self._control_set(now)
        fill = len(self._fifo)
        # pace and credits
        if self._fifo:
            earliest, beat = self._fifo[0]
            if earliest > now:
                self.wake(earliest)
            elif backlog >= f.rate:
                self.wake(now + (backlog - f.rate) // f.rate + 1)
            elif self._in_frame or self.credits() >= f.max_beats:
                charge += self._leave(now, beat)
            # else: a control set wakes
        if charge:
            self._backlog = max(0, backlog + charge - f.rate)
            self._backlog_at = now + 1
        # input: room as the registers show it, before this cycle's departure
        source = self.source
        if source is not None and fill < f.fifo_beats and source.head(now) is not None:
            beat = source.pop(now)
            earliest = now + f.tx_fifo + (f.start_slack if self._first_in else 0)
            self._first_in = beat.last
            self._fifo.append((earliest, beat))
            self.wake(earliest)
            if self.trace:
                self.accepted.append((now, beat))

    def _leave(self, now: int, beat: Beat) -> int:
        """The head leaves at ``now``; returns its wire time in bytes."""
        self._fifo.popleft()
        self._cc = (self._cc + 1) & 0xFFFF
        self._in_frame = not beat.last
        if self.far_rx is not None:
            self.far_rx.push(now, beat, self.flight - self.far_rx.latency)
        if beat.last:
            self.frames += 1
        if self.trace:
            self.sent_beats.append((now, beat))
            self._log(self.credit_log, now + 1, self.credits())
            if beat.last:
                self._log(self.frames_log, now + self.f.tx_out, self.frames & 0xFFFFFFFF)
        self.wake(now + 1)
        return len(beat.data) + (self.f.overhead if beat.last else 0)

    def _control_set(self, now: int) -> int:
        """Send a control set if one is due at ``now``; returns its wire time in bytes."""
        f = self.f
        unsaid = (self._cf - self._cf_sent) & 0xFFFF
        if not unsaid:
            return 0
        due = self._ctl_at + (f.ctl_spacing if unsaid >= f.update_cells else f.update_interval)
        if now < due:
            self.wake(due)
            return 0
        self._ctl_at = now
        self._cf_sent = self._cf
        if self.trace:
            self.sent_ctl.append((now, self._cf))
        if self.far_tx is not None:
            self.far_tx.credit_set(now + self.ctl_flight, self._cf)
        return f.ctl_bytes

    @staticmethod
    def _log(log: list[tuple[int, int]], cycle: int, value: int) -> None:
        """Append a change of a level; the last value of a cycle counts."""
        if log and log[-1][0] == cycle:
            log.pop()
        if not log or log[-1][1] != value:
            log.append((cycle, value))


class Link:
    """One end of a cable: ``tx`` and the FIFO ``rx`` whose items become visible at ``m_axis``'s cycle.

    ``phy_tx``, ``phy_rx``: cycles, as in ``link_cfg_t``.
    """

    def __init__(
        self, kernel: Kernel, name: str, *, roce: bool = False, phy_tx: int = 1, phy_rx: int = 1, cnt_init: int = 0
    ) -> None:
        self.name = name
        self.phy_tx = phy_tx
        self.phy_rx = phy_rx
        self.tx = LinkTx(kernel, f"{name}.tx", roce, cnt_init)
        self.rx: Fifo[Beat] = Fifo(1, None, f"{name}.rx")

    def attach(self, source: Fifo[Beat]) -> None:
        """The core's frames come from ``source``."""
        self.tx.attach(source)

    def free(self, now: int, cells: int) -> None:
        """``free_cells`` of the core in cycle ``now``."""
        self.tx.free(now, cells)

    @property
    def tx_latency(self) -> int:
        """Cycles from leaving the serialiser to the link's cable side."""
        return self.tx.f.tx_out + self.phy_tx


def connect(a: Link, b: Link, cable: int) -> None:
    """Put a cable of ``cable`` cycles between two ends."""
    for here, there in ((a, b), (b, a)):
        here.tx.far_rx = there.rx
        here.tx.far_tx = there.tx
        here.tx.ctl_flight = here.tx_latency + cable + there.phy_rx
        here.tx.flight = here.tx.ctl_flight + there.tx.f.rx
