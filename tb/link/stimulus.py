# SPDX-License-Identifier: Apache-2.0
"""What every sequence of the link begins with: both ends' configuration, timed levels, errors, random frames.

``item.info`` holds what the design gets in another form: ``link`` {end: LinkCfg}, ``batch`` {end: Batch}, ``timed``
{end: {level: [(cycle, value)]}}, ``fault`` {end: [(cycle, kind)]}, ``errors`` {end: PhyErrors} of what it receives.
``finish`` makes the files of them. What a phase asks of the checks stands there too (tb/link/checks.py, goals.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.link_config import LinkConfig, misfits, round_trip
from models.phy_errors import PhyErrors
from models.protocol import LinkCfg
from models.spec import spec
from tb.common.beats import StreamFormat
from tb.common.observe import Ints
from tb.common.phase import stalls
from tb.common.timed import one_a_cycle, timed
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.link.frames import MIN_ROCE, Batch, build
from tb.link.shape import ENDS, FAR, FECS, Shape, cable_cycles, phy_cycles
from tb.phy_errors.config import errors_cfg, errors_thr

LEVELS = ("enable", "retrain", "pause", "drained", "cut")
WORD = StreamFormat(data_bytes=4)
HEAL = spec().cycles("link.refresh") + 700  # cycles after which a lost last control set has been said again
QUIET = 900


class LinkSequence(PhaseSequence):
    """Common part. ``phases``: how many there are; the option ``phases`` picks as many of them by the seed, the option
    ``rounds`` makes all of them so many times, each time at random anew."""

    least = 1

    async def body(self) -> None:
        """All phases, or as many as the option ``phases`` says, another choice with each seed."""
        most = self.ctx.option("phases", 0)
        chosen = np.arange(self.phases)
        if most:
            chosen = np.sort(
                self.ctx.rng(f"{self.get_name()}/phases").permutation(self.phases)[: max(most, self.least)]
            )
        for turn in range(self.ctx.option("rounds", 1)):
            for index in chosen.tolist():
                item = self.make(index, self.ctx.rng(f"{self.get_name()}/{turn}/{index}"))
                await self.start_item(item)
                await self.finish_item(item)

    @property
    def quick(self) -> bool:
        """Few phases are asked for: short ones then, too."""
        return bool(self.ctx.option("phases", 0))

    @property
    def heal(self) -> int:
        """Quiet cycles of a phase in which control sets may get lost; a quick one does not wait for a refresh."""
        return QUIET if self.quick else HEAL

    @property
    def shape(self) -> Shape:
        """The design."""
        return Shape.of(self.ctx)

    def begin(
        self,
        label: str,
        index: int,
        *,
        roce: int = 0,
        fec: str = "llfec",
        metres: float = 2,
        preset: int = 1,
        **cfg: int,
    ) -> PhaseItem:
        """An item without frames: both ends alike, PHY delays of ``fec``, up from reset, cores that free at once."""
        tx, rx = phy_cycles(fec)
        item = PhaseItem(f"{label}{index}")
        item.quiet, item.max_cycles = QUIET, 300_000
        roce = roce and int(self.shape.lanes_a <= 8)
        fields: dict[str, int] = {
            "enable": 1, "preset": preset, "roce": roce, "kp4": FECS.index(fec), "gate": 1, "cells": self.cells(),
            "replay_max": spec().integer("link.replay_max"), "replay_timeout": spec().cycles("link.replay_timeout"),
            "retrain": 1000, "init_timeout": 3000, "init_seq": 0, "cnt_init": 0, "phy_tx": tx, "phy_rx": rx,
        }  # fmt: skip
        item.cfg = {"cable": cable_cycles(metres), "a_core": 0, "b_core": 0}
        item.info = {
            "link": {x: LinkCfg(**(fields | cfg)) for x in ENDS}, "batch": {},
            "errors": {x: PhyErrors(on=False) for x in ENDS},
            "timed": {x: {level: [] for level in LEVELS} for x in ENDS}, "fault": {x: [] for x in ENDS},
        }  # fmt: skip
        return item

    def cells(self) -> int:
        """Receive cells of a lane, in units of 16: the spec's buffer, shared; a largest frame and a bit at least."""
        share = spec().integer("link.grant_cells") // self.shape.lanes_a // 16
        return int(min(63, max(share, -(-self.shape.max_beats // 16) + 1)))

    def finish(self, item: PhaseItem, rng: np.random.Generator) -> PhaseItem:
        """Make the play files and configuration words. ValueError for ends that would not work, and not say so, but for
        what ``info["misfit"]`` names: fields that the phase sets apart on purpose."""
        info, s = item.info, self.shape
        for field, said in misfits(self.pair(item), item.cfg["cable"]).items():
            if field not in info.get("misfit", ()):
                raise ValueError(f"{item.get_name()}: {said}")
        for x in ENDS:
            link: LinkCfg = info["link"][x]
            item.cfg[f"{x}_link"] = link.pack()
            limited = info["link"][FAR[x]].gate and not link.roce
            item.cfg.setdefault(f"{x}_size", 16 * link.cells if limited else 0)
            if x in info["batch"]:
                item.plays[f"{x}_s"] = build(rng, s, link.roce, info["batch"][x])
            for level, rows in info["timed"][x].items():
                info["timed"][x][level] = one_a_cycle(rows)
                item.plays[f"{x}_{level}"] = timed(WORD, info["timed"][x][level])
            info["fault"][x] = one_a_cycle(info["fault"][x])
            item.plays[f"{x}_fault"] = timed(WORD, info["fault"][x])
            errors = info["errors"][x]
            on = errors.on or bool(info["fault"][x])
            errors = replace(errors, on=on, faults=info["fault"][x], cuts=info["timed"][x]["cut"])
            info["errors"][x] = errors
            item.cfg[f"{x}_err"], item.cfg[f"{x}_thr"] = errors_cfg(errors), errors_thr(errors)
        return item

    def both(self, item: PhaseItem, **cfg: int) -> None:
        """Set fields of both ends' configuration."""
        for x in ENDS:
            for name, value in cfg.items():
                setattr(item.info["link"][x], name, value)

    def there_and_back(self, item: PhaseItem) -> int:
        """Cycles that a retrain lasts at least (docs/link.md, B7): twice the way, PHYs and stages too."""
        return round_trip(self.pair(item), item.cfg["cable"])

    def pair(self, item: PhaseItem) -> tuple[LinkConfig, LinkConfig]:
        """Both ends as the model has them."""
        s, link = self.shape, item.info["link"]
        a, b = (LinkConfig(data_w=s.data_w, lanes=s.lanes(x), cfg=link[x]) for x in ENDS)
        return a, b

    def near_wrap(self, item: PhaseItem, rng: np.random.Generator, frames: int = 60) -> None:
        """Counters shortly before their wraps: numbers of segments below 2^20, cells below 2^15."""
        numbers, cells = (
            (1 << 20) - 1 - int(rng.integers(frames)),
            (1 << 15) - 1 - int(rng.integers(min(16 * frames, 1 << 15))),
        )
        self.both(item, init_seq=numbers, cnt_init=cells)

    # random parts

    def sizes(self, rng: np.random.Generator, n: int, kind: str, roce: int) -> Ints:
        """``n`` frame sizes: ``small``, ``mix`` of all with the corners of beats and segments, ``large``, or bytes."""
        s = self.shape
        low, top = (MIN_ROCE if roce else 1), s.largest
        if kind.isdigit():
            return np.full(n, min(max(int(kind), low), top))
        seg = spec().integer("link.segment_bytes")
        corners = np.array([1, 63, 64, 65, 127, 128, 129, seg - 1, seg, seg + 1, 2 * seg, top - 1, top])
        throw = rng.random(n)
        size = rng.integers(low, 400, n)
        if kind == "mix":
            size = np.where(throw < 0.3, rng.integers(low, top + 1, n), size)
        elif kind == "large":
            size = rng.integers(top // 2, top + 1, n)
        size = np.where(throw > 0.85, rng.choice(corners if kind != "small" else corners[:-3], n), size)
        found: Ints = np.maximum(low, size).astype(np.int64)
        return found

    def batch(
        self, item: PhaseItem, rng: np.random.Generator, end: str, size: Ints, *,
        at: int = 1, idle: float = 0.0, gaps: float = 0.0, poison: float = 0.0, bad: float = 0.0,
    ) -> Batch:  # fmt: skip
        """Frames in order from ``at`` on; a share ``idle`` of them behind a pause, ``gaps`` with holes inside.

        Lanes at random, now and then a number beyond the last lane, which counts as lane 0.
        """
        s, n = self.shape, len(size)
        roce, lanes = item.info["link"][end].roce, s.lanes(end)
        beats = np.maximum(1, -(-size // s.bb))
        lane = rng.integers(lanes, size=n)
        most = 8 if roce else 16
        lane = np.where((rng.random(n) < 0.1) & (lanes < most), rng.integers(lanes, max(most, lanes + 1), n), lane)
        wait = np.where(rng.random(n) < idle, rng.integers(1, 200, n), 0)
        cycle = at + np.cumsum(beats) - beats + np.cumsum(wait)
        b = Batch(size.astype(np.int64), lane, cycle)
        if roce:
            b.bad = rng.random(n) < bad
        else:
            b.user = rng.random(n) < poison
        if gaps:
            holed = np.repeat(rng.random(n) < gaps, beats)
            total = int(beats.sum())
            b.extra = np.where(holed & (rng.random(total) < 0.4), rng.integers(1, 9, total), 0)
        item.info["batch"][end] = b
        return b

    def late(self, item: PhaseItem, rng: np.random.Generator, low: float = 0.1) -> None:
        """Cores that free late, one cell or all at once."""
        for x in ENDS:
            item.cfg[f"{x}_core"] = int(rng.integers(2))
            item.ready[f"{x}_go"] = stalls(rng, low)
