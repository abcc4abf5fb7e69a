# SPDX-License-Identifier: Apache-2.0
"""Golden model of a link's registers: every answer of the bus, its cycle, and what the link is told when.

Written from spec/csr/link.rdl (models/link_regs.py), docs/link.md (what the link's ports mean) and latency.csr and
latency.link_csr of spec/fabric.toml.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.link_regs import BLOCKS
from models.protocol import LinkCfg
from models.register_file import Key, RegisterFile
from models.registers import Field, Register
from models.spec import spec

(LINK,) = BLOCKS
Timeline = Sequence[tuple[int, int]]
EVENTS = (
    "FRAMES_SENT", "FRAMES_RECEIVED", "SEGMENTS_SENT", "REPLAYS", "TIMEOUTS", "PROGRESS", "NACKS_RECEIVED",
    "NACKS_SENT", "DUPLICATES", "BAD_SEGMENTS", "GAPS", "FCS_ERRORS", "LONG_FRAMES", "UNDERRUNS", "PAUSES_SENT",
    "PAUSES_RECEIVED", "DISCARDED", "RETRAINS", "DOWNS", "REFUSED",
)  # fmt: skip
"""Counters of ``ev[0]`` to ``ev[19]`` (docs/link.md, Events)."""
SYMBOLS = tuple(f"FEC_SYMBOLS{n}" for n in range(16))
"""Counters of corrected codewords by the number of wrong symbols."""
COUNTERS = (*EVENTS, "LOST_SEGMENTS", "FEC_FAILED", *SYMBOLS)
DOWN = EVENTS.index("DOWNS")
"""The event with which ``lost`` counts."""
OFF = 0  # state
REASONS = 8  # bits


def configuration() -> dict[str, tuple[Register, Field]]:
    """Register and field of each field of ``link_cfg_t`` that has one: they are called alike; ``preset`` has none."""
    names = {name for name, _ in LinkCfg.WIDTHS}
    return {f.name: (reg, f) for reg in LINK.registers for f in reg.fields if f.name in names and f.access == "rw"}


@dataclass
class LinkLevels:
    """What the link shows, ``(cycle, value)`` at each change, the first at cycle 0; ``credits``, ``s_pause``,
    ``m_pause`` as their ports have them. ``codewords``: ``{cycle: (symbols, failed)}``."""

    state: Timeline = ((0, 0),)
    up: Timeline = ((0, 0),)
    reason: Timeline = ((0, 0),)
    credits: Timeline = ((0, 0),)
    s_pause: Timeline = ((0, 0),)
    m_pause: Timeline = ((0, 0),)
    codewords: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def at(self, name: str, cycle: int) -> int:
        """Level ``name`` at ``cycle``."""
        rows: Timeline = getattr(self, name)
        return rows[max(0, bisect_right(rows, (cycle, 1 << 300)) - 1)][1]


class _Degrade:
    """Symbol errors over windows of codewords (IEEE 802.3 clause 119: degraded SER)."""

    def __init__(self) -> None:
        figures = spec()
        self._failed = (figures.integer("fec.llfec_t") + 1, figures.integer("fec.kp4_t") + 1)
        self.degraded = 0
        self._clear()
        self._closed = 0
        self._new = False  # a sum that was not yet judged
        self._sum = 0

    def _clear(self) -> None:
        self._count, self._first = 0, True

    def step(self, codeword: tuple[int, int] | None, kp4: int, interval: int, activate: int, deactivate: int) -> None:
        """One cycle: the sum of the codeword before is judged, then ``codeword`` is added."""
        if self._new:
            if self._sum > activate:
                self.degraded = 1
            elif self._closed and self._sum < deactivate:
                self.degraded = 0
        self._new = codeword is not None and interval > 0
        if codeword is not None:
            symbols, failed = codeword
            self._sum = (0 if self._first else self._sum) + (self._failed[kp4] if failed else symbols)
            self._count += 1
            self._closed = self._first = self._count >= interval
            if self._closed:
                self._count = 0
        if interval == 0:
            self._clear()
            self.degraded = 0


class LinkRegisters(RegisterFile):
    """Registers of a link of ``design`` (LANES, DATA_W). ``counted`` and ``levels`` may be given later, but before an
    access that reads them; after the last one :meth:`finish` tells the rest of ``cfg`` and ``degraded``."""

    def __init__(
        self,
        design: Mapping[str, int],
        counted: Mapping[Key, Sequence[int]] | None = None,
        levels: LinkLevels | None = None,
    ) -> None:
        super().__init__(BLOCKS, 1, design, counted)
        self.levels = levels or LinkLevels()
        figures = spec()
        self._count_lag = self._t["count"] - 1
        if figures.integer("latency.link_csr.copy") != 1 or figures.integer("latency.link_csr.degrade") != 3:
            raise ValueError("latency.link_csr: this model is written for a copy of 1 cycle and degrade of 3")
        self._fields = configuration()
        self._degrade = _Degrade()
        self._now = 0  # what follows is as it is in this cycle
        self._used = self._wanted()
        self._pending = 0
        self._seen = 0
        self.cfg = [(0, self._vector())]
        """``(cycle, link_cfg_t)`` at each change."""
        self.degraded = [(0, 0)]
        self.retrains: list[int] = []
        """Cycles of ``retrain_req``."""

    # --- cycle by cycle --------------------------------------------------------------------------------------------

    def _wanted(self) -> dict[str, int]:
        """The configuration as the registers have it now."""
        return {name: (self.stored(reg, 0) & f.mask) >> f.low for name, (reg, f) in self._fields.items()}

    def _vector(self) -> int:
        return LinkCfg(**self._used).pack()

    def _word_of(self, name: str) -> int:
        return self.stored(LINK.register(name), 0)

    def advance(self, to: int) -> None:
        """Let the cycles before ``to`` pass, in which no register was written that has not been told."""
        if self._now >= to:
            return
        wanted = self._wanted()
        interval, activate, deactivate = (self._word_of(f"FEC_{n}") for n in ("INTERVAL", "ACTIVATE", "DEACTIVATE"))
        fec, levels = self._degrade, self.levels
        while self._now < to:
            now = self._now
            self._seen |= levels.at("reason", now - self._count_lag) if now >= self._count_lag else 0
            self._seen |= fec.degraded << REASONS
            kp4 = self._used["kp4"]
            self._pending = int(any(wanted[n] != self._used[n] for n in wanted if n != "enable"))
            if levels.at("state", now) == OFF and not self._used["enable"]:
                self._used = dict(wanted)
            else:
                self._used["enable"] = wanted["enable"]
            self.change(self.cfg, now + 1, self._vector())
            fec.step(levels.codewords.get(now - self._count_lag), kp4, interval, activate, deactivate)
            self.change(self.degraded, now + 1, fec.degraded)
            self._now += 1

    def finish(self, cycles: int) -> None:
        """The phase ends after ``cycles``."""
        self.advance(cycles)

    # --- what a link adds to any registers -------------------------------------------------------------------------

    def before(self, at: int) -> None:
        """A write of cycle ``at`` is seen from the next cycle on."""
        self.advance(at + 1)

    def shown(self, reg: Register, field: Field, index: int, at: int) -> int:
        """State and levels of the link."""
        self.advance(at)
        then = at - self._t["status"]
        if field.name == "pending":
            return self._pending
        if field.name == "degraded":
            return self._degrade.degraded
        if reg.name.startswith("CREDIT"):
            return self.levels.at("credits", then) >> 16 * int(reg.name.removeprefix("CREDIT")) & 0xFFFF
        if reg.name == "PAUSED":
            return self.levels.at({"by_far": "m_pause", "by_core": "s_pause"}[field.name], then)
        return self.levels.at(field.name, then)

    def seen(self, reg: Register, field: Field, at: int) -> int:
        """A bit of SEEN."""
        self.advance(at)
        return self._seen >> field.low & 1

    def after(self, reg: Register, index: int, data: int, mask: int, at: int) -> None:
        """Commands: SEEN is cleared, but for what is set in the same cycle; a retrain is asked for."""
        if reg.name == "SEEN":
            causes = self.levels.at("reason", at - self._count_lag) | self._before_degraded(at) << REASONS
            self._seen &= ~(data & mask) | causes
        elif reg.name == "CTRL" and data & mask & reg.field("retrain").mask:
            self.retrains.append(at + self._t["configure"])

    def _before_degraded(self, at: int) -> int:
        """``degraded`` in cycle ``at``; the model stands one cycle further."""
        return [v for c, v in self.degraded if c <= at][-1]
