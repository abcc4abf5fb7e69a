# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the RoCE profile: bad and long frames, underruns, pauses by lane, headroom."""

from __future__ import annotations

import numpy as np

from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.link.frames import pfc_frame
from tb.link.shape import ENDS, FECS
from tb.link.stimulus import LinkSequence


class BadFrames(LinkSequence):
    """Frames with a wrong FCS, frames beyond the largest, and cores that stall in mid-frame (S15): dropped, counted."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0: FCS. 1: long ones too. 2: underruns. 3: all of it, both ways."""
        s = self.shape
        item = self.begin("bad_frames", index, roce=1, metres=10)
        for x in ENDS:
            n = 10 * self.ctx.option("load", 4)
            size = self.sizes(rng, n, "mix", 1)
            if index in (1, 3):
                long = rng.random(n) < 0.2
                size = np.where(long, s.largest + rng.integers(1, 3 * s.bb + 2, n), size)
            b = self.batch(item, rng, x, size, idle=0.3, bad=0.3 if index in (0, 1, 3) else 0.0)
            if index >= 2:
                beats = b.beats(s.bb)
                hit = np.repeat(rng.random(n) < 0.3, beats)
                b.extra = np.where(hit & (rng.random(len(hit)) < 0.3), rng.integers(3, 30, len(hit)), 0)
        self.late(item, rng, 0.5)
        seen = {0: ("fcs",), 1: ("fcs", "long"), 2: ("underrun", "fcs"), 3: ("fcs", "underrun")}[index]
        item.info["events"] = {("b", "fcs"): 1, **{(x, e): 1 for x, e in (("a", "underrun"),) if "underrun" in seen}}
        if index == 1:
            item.info["events"][("b", "long")] = 1
        return self.finish(item, rng)


class Pauses(LinkSequence):
    """PFC both ways: lanes paused and released by the cores at random, pauses that last (refresh), frames of flow
    control with times of every length played at the link as a far end of another make would send them."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0, 1: random pauses. 2: a pause beyond its refresh. 3: quanta that run out by themselves."""
        s = self.shape
        item = self.begin("pauses", index, roce=1, metres=(2, 50)[index % 2], fec=FECS[index // 2], gate=1)
        lanes = s.lanes_a
        for x in ENDS:
            n = 15 * self.ctx.option("load", 4)
            b = self.batch(item, rng, x, self.sizes(rng, n, "small", 1), idle=0.2)
            if index == 3 and x == "a":
                for k in rng.choice(n, 8, replace=False).tolist():
                    times = [int(t) for t in rng.choice((0, 1, 2, 5, 40, 200), 8)]
                    b.whole[k] = pfc_frame(int(rng.integers(1, 256)), times)
                    b.size[k] = len(b.whole[k])
                    b.bad[k] = False
            level = []
            at, now = int(rng.integers(5, 60)), 0
            if index < 2:
                for _ in range(20):
                    now ^= 1 << int(rng.integers(lanes))
                    level.append((at, now))
                    at += int(rng.integers(1, 120))
                level.append((at, 0))
            elif index == 2:
                refresh = spec().cycles("pfc.refresh")
                level = [(at, 1 << int(rng.integers(lanes))), (at + refresh + int(rng.integers(20, 400)), 0)]
            item.info["timed"][x]["pause"] = level
        self.late(item, rng, 0.5)
        draw = self.ctx.rng(f"{item.get_name()}/gate")
        for x in ENDS:  # an end whose core minds the pauses itself now and then
            item.info["link"][x].gate = int(index == 2 or draw.integers(2))
        item.info["paused"] = True
        item.quiet = 2500
        item.info["events"] = {(x, "pfc sent"): 2 for x in ENDS} if index < 3 else {("b", "pfc received"): 2}
        if index == 2:
            item.info["events"] = {(x, "pfc sent"): 3 for x in ENDS}
        return self.finish(item, rng)


class Headroom(LinkSequence):
    """S13, S14: the core of b asks for a pause while a sends at full rate: what still comes fits the headroom that is
    computed for this cable and PHY, whatever frames are packed."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames a byte longer than a cell, smallest, largest; b sends largest frames that the pause must wait for."""
        s = self.shape
        metres = (2, 50)[index % 2]
        fec = FECS[index // 2 % 2]
        item = self.begin("headroom", index, roce=1, metres=metres, fec=fec)
        size = (s.bb + 1, max(64, s.bb), s.largest)[index // 2]
        beats = -(-size // s.bb)
        b = self.batch(item, rng, "a", np.full(2400 // beats, size))
        lane = int(rng.integers(s.lanes_a))
        b.lane[:] = lane
        self.batch(item, rng, "b", np.full(24, s.largest))
        at = 900 + int(rng.integers(120))
        hold = 1500
        item.info["timed"]["b"]["pause"] = [(at, 1 << lane), (at + hold, 0)]
        item.info["headroom"] = {
            "lane": lane,
            "from": at,
            "until": at + hold,
            "metres": metres,
            "fec": fec,
            "size": size,
            "exact": False,
        }
        item.info["paused"] = True
        item.quiet = 1500
        return self.finish(item, rng)
