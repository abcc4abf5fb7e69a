# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the link without errors: frames alone, full rate, random traffic, credits that run out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from models.phy_errors import LOST
from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.link.frames import Batch
from tb.link.shape import ENDS, FECS
from tb.link.stimulus import LinkSequence

METRES = (2, 10, 20, 50)
REACH = 44  # units of 16 cells: what the longest cable and the slower PHY need at full rate


class Latency(LinkSequence):
    """Frames alone, 64 to 4096 bytes, both FEC modes and profiles, cables of 2 to 50 m: every delay."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The end b answers between two frames of a."""
        fec, cable = divmod(index, 4)
        item = self.begin(
            "latency", index, roce=(fec + cable) % 2, fec=FECS[fec], metres=METRES[cable], init_seq=(1 << 20) - 3
        )
        sizes = np.array([64, 256, 1500, 4096, self.shape.largest])
        for x, at in (("a", 10), ("b", 460)):
            b = self.batch(item, rng, x, sizes)
            b.cycle = at + 900 * np.arange(len(sizes))
        item.info["latency"] = True
        return self.finish(item, rng)


class LineRate(LinkSequence):
    """Sizes back to back over 1, 20 and 50 m, one direction or both: goodput is arithmetic."""

    phases = 12

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phases 0 to 2: every so-many-th size from 64 bytes on, each cable; 3 to 5: 4 KB over each; 6 to 11: RoCE."""
        metres = (1, 20, 50)[index % 3]
        item = self.begin("line_rate", index, metres=metres, roce=int(index >= 6), fec=FECS[index // 3 % 2])
        frames = self.ctx.option("frames", 200)
        step = max(1, (self.shape.largest - 63) // frames)
        roce = item.info["link"]["a"].roce
        alike = index % 6 >= 3
        sizes = np.full(frames // 4, 4096) if alike else np.arange(64 + index % step, self.shape.largest + 1, step)
        ends = "ab" if index % 2 else "a"
        for x in ends:
            self.batch(item, rng, x, sizes)
            if not roce:
                self.full_lanes(item, x)
        # frames whose last beats are nearly empty need more cycles of the stream than of the wire
        label = f"{'roce_' if roce else ''}4096_{metres}m" if alike else ""
        item.info["line_rate"] = {
            "ends": ends, "full": alike, "metres": metres, "size": "4096" if alike else "64 to largest",
            "label": label,
        }  # fmt: skip
        return self.finish(item, rng)

    def full_lanes(self, item: PhaseItem, x: str) -> None:
        """One lane with the whole buffer, so that credits reach over the longest cable."""
        item.info["batch"][x].lane[:] = 0
        for link in item.info["link"].values():
            link.cells = REACH


class Random(LinkSequence):
    """Random frames both ways over PHYs and cables of any length, cores that free late; counters near their wraps."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Every other phase is RoCE; bring-up instead of preset in the last ones."""
        item = self.begin("random", index, roce=index % 2, preset=int(index < 4))
        self.near_wrap(item, rng)
        for x in ENDS:
            tx, rx = ((1, 1), (255, 255))[index] if index < 2 else rng.integers(1, 256, 2).tolist()
            item.info["link"][x].phy_tx, item.info["link"][x].phy_rx = tx, rx
            n = 10 * self.ctx.option("load", 4) + int(rng.integers(20))
            size = self.sizes(rng, n, ("mix", "mix", "small", "large")[int(rng.integers(4))], index % 2)
            self.batch(
                item, rng, x, size, at=1 + 3 * int(index < 4), idle=0.3, gaps=0.0 if index % 2 else 0.3, poison=0.05
            )
        item.cfg["cable"] = (1, 255)[index] if index < 2 else int(rng.integers(1, 256))
        trip = self.there_and_back(item)
        self.both(item, retrain=trip + 1, init_timeout=2 * trip + 100)
        if index >= 4:
            self.both(item, replay_timeout=2500)
            for b in item.info["batch"].values():
                b.cycle += 4000
        self.late(item, rng, (0.6, 0.1)[index // 2 % 2])
        if index >= 2 and not index % 2:
            self.ungated(item, self.ctx.rng(f"{item.get_name()}/gate"))
        item.quiet = 2500
        return self.finish(item, rng)

    def ungated(self, item: PhaseItem, rng: np.random.Generator) -> None:
        """Native, an end or both at random: no frame waits for credits, as there are never more than there is room."""
        self.both(item, cells=63)
        first = int(rng.integers(2))
        for x in ENDS[first : first + 1 + int(rng.integers(2))]:
            item.info["link"][x].gate = 0
            b = item.info["batch"][x]
            keep = np.cumsum(b.beats(self.shape.bb)) <= 16 * 63
            if b.extra is not None:
                b.extra = b.extra[: int(b.beats(self.shape.bb)[keep].sum())]
            b.size, b.lane, b.cycle, b.user, b.bad = (v[keep] for v in (b.size, b.lane, b.cycle, b.user, b.bad))


class Starved(LinkSequence):
    """Credits to the last one: what may leave leaves, the next frame waits for one cell; the far core at its brim. And
    the record to its last beat, while no acknowledgement comes back."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0: one-beat frames until too few credits are left for a largest frame. 1: then a largest frame to the brim.
        2: one cell too few for it: it starts only when the far core has freed one. 3: the record."""
        s = self.shape
        if index == 3:
            return self.recorded(rng)
        item = self.begin("starved", index, metres=10)
        self.near_wrap(item, rng)
        units = -(-s.max_beats // 16) + 1 + int(rng.integers(3))
        self.both(item, cells=units)
        cells, m = 16 * units, s.max_beats
        wake, one = 1500, 1000
        singles = cells - m + (0, 0, 1)[index] if index else cells - m + 20
        sizes = np.concatenate((np.full(singles, 40), np.full(2 if index else 0, s.largest)))
        b = self.batch(item, rng, "a", sizes)
        b.lane[:] = int(rng.integers(s.lanes_a))
        pattern = np.zeros(2048, np.bool_)
        pattern[wake:] = True
        if index == 2:
            pattern[one] = True  # one cell
        item.ready["b_go"] = pattern
        item.quiet = 2300
        item.max_cycles = 400_000
        if index == 0:
            item.info["starts_after"] = (wake, cells - m + 1)
        elif index == 1:
            item.info |= {"starts_after": (wake, cells), "brim": True}
        else:
            item.info["starts_after"] = (one, cells - m + 1)
        if index == 2:
            item.info["brim"] = True
        return self.finish(item, rng)

    def recorded(self, rng: np.random.Generator) -> PhaseItem:
        """S8: one-beat frames over two lanes with credits to spare, what comes back lost, until the record is full."""
        s = self.shape
        item = self.begin("recorded", 3, cells=63, replay_timeout=2600)
        self.near_wrap(item, rng)
        b = self.batch(item, rng, "a", np.full(1200, 40))
        b.lane = np.arange(1200) % s.lanes_a
        item.info["fault"]["a"] = [(c, LOST) for c in range(1, 1700)]
        room = min(spec().integer("link.replay_beats"), 16 * 63 * s.lanes_a) - s.max_beats + 1
        item.info |= {"starts_after": (1700, room), "record_full": True}
        return self.finish(item, rng)


class CutThrough(LinkSequence):
    """S15: frames as slow as a link of the same rate may deliver them, its control sets at every place: no hole.

    Native: a segment's beats come behind its check. RoCE: whole frames, so the start slack is never needed there.
    """

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames offset by another place of the sets each."""
        item = self.begin("cut_through", index, cells=63)
        frames = [(k, beats) for k in range(8) for beats in (self.shape.max_beats, 13, 5, 2)]
        at, cycle, extra, size = 10, [], [], []
        for n, (k, beats) in enumerate(frames):
            when = slowest(self.shape.bb, self.shape.rate, self.shape.segment, beats, k + 8 * index)
            cycle.append(at)
            extra += [0] + [b - a - 1 for a, b in pairwise(when)]
            size.append(self.shape.bb * beats - int(rng.integers(0, self.shape.bb)))
            at += when[-1] + 6 + n % 3
        b = Batch(np.array(size), np.zeros(len(size), np.int64), np.array(cycle))
        b.extra = np.array(extra)
        item.info["batch"]["a"] = b
        item.info["no_hole"] = "a"
        return self.finish(item, rng)


def slowest(bb: int, rate: int, segment: int, beats: int, phase: int) -> list[int]:
    """Cycles at which a core gets a frame's beats, at the slowest: backlog of a cycle less a byte at the start, sets as
    close as they may be, the first of them ``phase`` cycles in; each segment behind its last beat, one beat a cycle."""
    f = spec()
    spacing, ctl, trailer = f.cycles("link.ctl_spacing"), f.integer("link.ctl_bytes"), f.integer("link.trailer_bytes")
    backlog, now = rate - 1, 0
    left: list[int] = []
    while len(left) < beats:
        add = ctl if now % spacing == phase % spacing else 0
        if backlog < rate:
            left.append(now)
            add += bb + trailer * (len(left) % segment == 0 or len(left) == beats)
        backlog = max(0, backlog + add - rate)
        now += 1
    out: list[int] = []
    for k in range(beats):
        end = min(beats - 1, (k // segment + 1) * segment - 1)
        at = left[end] + k % segment
        out.append(max(at, out[-1] + 1) if out else at)
    return [c - out[0] for c in out]
