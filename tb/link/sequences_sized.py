# SPDX-License-Identifier: Apache-2.0
"""Buffers of exactly the size that models/link_size.py computes, used to the last cell, and the same with a cell less:
credits that keep the line full, credits that overrun the buffer, the headroom behind a pause.

The step of a cell: an end's ``cells`` are counted by sixteens, so ``cnt_init`` of the far end is set apart: from its
first CF on the sender has so many credits less (or more) than it was granted. LinkConfig refuses that elsewhere. The
other way round the far end would have more credits than cells, and say so, from the sender's first CF on: that one is
a refresh, as the sender frees nothing, and the phase is over before it.
"""

from __future__ import annotations

import numpy as np

from models.link_size import credit_cells, flight, pause_cells
from models.spec import spec
from tb.common.observe import Ints
from tb.common.uvm import PhaseItem
from tb.link.frames import Batch
from tb.link.goals import ideal
from tb.link.shape import FECS
from tb.link.stimulus import LinkSequence

LONG = 4096  # cycles of a pattern: longer than the part that matters
BEATS = 2400  # of a phase with another cnt_init at each end: it ends before the first refresh (link.refresh)


class Sized(LinkSequence):
    """Native. 0: the computed cells keep the line full over the longest cable of the specification, and are needed to
    the last one. 1: with a cell less the computed frame waits. 2: a credit more than there are cells: the buffer is
    overrun by that cell, and the core sees it."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0, 1: frames of every number of beats up to a segment's, as short as they can be: a cell a cycle."""
        if index == 2:
            return self.overrun(rng)
        s = self.shape
        item = self.begin("sized", index, metres=50, fec=FECS[1])
        self.near_wrap(item, rng)
        a, b = (item.info["link"][x] for x in "ab")
        far = flight(a.phy_tx, item.cfg["cable"], b.phy_rx)
        cells = credit_cells(far, s.bb)
        units = -(-cells // 16)
        self.both(item, cells=units)
        less = 16 * units - cells + index
        b.cnt_init = a.cnt_init - less & 0x7FFF
        item.info["misfit"] = ("cnt_init",)
        beats = rng.integers(1, s.segment + 1, 2 * BEATS // (s.segment + 1))
        if s.segment > 2:  # a frame alone, the rest 41 cycles later: an ACK falls due with the sixteenth cell's CF
            beats[:10] = (1, 4, 3, 3, 3, 3, 3, 3, 3, 4)
            beats[10:850] = 1  # a frame starts in every cycle until that matters
        frames = self.batch(item, rng, "a", (beats - 1) * s.bb + 1)
        frames.cycle[1:] += 40 * int(s.segment > 2)
        frames.lane[:] = lane = int(rng.integers(s.lanes_a))
        frames.user[:] = False
        item.info["credit_hole"] = {"lane": lane, "cells": cells, "less": index, "flight": far}
        item.info["settled"] = not less
        item.cfg["b_core"] = 0
        item.quiet = 600
        return self.finish(item, rng)

    def overrun(self, rng: np.random.Generator) -> PhaseItem:
        """Some cells are freed, so that a CF tells of them and of one that there is not; then nothing is."""
        s = self.shape
        item = self.begin("sized", 2, metres=10)
        self.near_wrap(item, rng)
        units = -(-s.max_beats // 16) + 1 + int(rng.integers(3))
        self.both(item, cells=units)
        a, b = (item.info["link"][x] for x in "ab")
        b.cnt_init = a.cnt_init + 1 & 0x7FFF
        item.info["misfit"] = ("cnt_init",)
        freed = 20
        singles = 16 * units + freed + 1 - s.max_beats
        frames = self.batch(item, rng, "a", np.concatenate((np.full(singles, 40), [s.largest])))
        frames.lane[:] = int(rng.integers(s.lanes_a))
        pattern = np.zeros(LONG, np.bool_)
        pattern[700 : 700 + freed] = True
        item.ready["b_go"] = pattern
        item.info |= {"over": {"b": 1}, "settled": False}
        item.quiet = 2000
        return self.finish(item, rng)


class Brink(LinkSequence):
    """RoCE: the worst that can come after a pause (docs/link.md): b has just begun a largest frame when its core asks
    for the pause; a's largest frame is about to come out; a beat a cycle follows; a largest frame starts in the last
    cycle before the pause holds a. 0: into a buffer of the computed headroom. 1: of a cell less: a frame is lost."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Even: the headroom. Odd: a cell less. 2, 3: 50 m with the slower decoder."""
        s, f = self.shape, spec()
        metres, fec = (2, 50)[index // 2], FECS[index // 2]
        item = self.begin("brink", index, roce=1, metres=metres, fec=fec)
        item.info["paused"] = bool(item.info["link"]["a"].roce)
        if not item.info["paused"]:  # more lanes than RoCE has
            return self.finish(item, rng)
        a, b = (item.info["link"][x] for x in "ab")
        there, back = (flight(x.phy_tx, item.cfg["cable"], y.phy_rx) for x, y in ((a, b), (b, a)))
        room = pause_cells(back, s.bb)
        between = room - 2 * s.max_beats
        small = s.bb + 1  # two beats, as short as they can be
        lane = int(rng.integers(s.lanes_a))
        # what goes before the first largest frame decides where its end stands in the wire's cycle
        for before in range(64, 2048):
            sizes = np.array([before, s.largest] + [small] * (between // 2) + [s.largest] * 6)
            left = self.leaving(sizes)
            beats = -(-sizes // s.bb)
            end = np.cumsum(beats) - 1
            if left[end[1] + between] - left[end[1]] == between:
                break
        frames = Batch(sizes, np.full(len(sizes), lane), np.full(len(sizes), 400))
        frames.cycle = 400 + np.cumsum(beats) - beats
        item.info["batch"]["a"] = frames
        # the pause rises when the first largest frame comes out
        at = int(left[end[1]]) + 399 + there + f.cycles("latency.link.rx")
        # and b's largest frame has left in that cycle, behind one whose backlog makes it take longest
        waits = (s.largest + f.integer("link.overhead_roce") - 1) // s.rate + 1
        for ahead in range(s.largest, 64, -1):
            mine = self.leaving(np.array([ahead, s.largest, 64]))
            k = -(-ahead // s.bb)
            if mine[k + s.max_beats] - mine[k] == waits:
                break
        item.info["batch"]["b"] = Batch(
            np.array([ahead, s.largest]), np.zeros(2, np.int64), np.array([1, 1 + k]) + at - int(mine[k])
        )
        hold = 1500
        item.info["timed"]["b"]["pause"] = [(at, 1 << lane), (at + hold, 0)]
        pattern = np.ones(LONG, np.bool_)
        pattern[at + 1 : at + hold] = False
        item.ready["b_go"] = pattern
        item.cfg["b_core"], item.cfg["b_size"] = 1, room - index % 2
        item.info["headroom"] = {
            "lane": lane, "from": at, "until": at + hold, "metres": metres, "fec": fec, "size": small, "exact": True,
        }  # fmt: skip
        item.info["over"] = {"b": index % 2}
        item.quiet = 1500
        return self.finish(item, rng)

    def leaving(self, sizes: Ints) -> Ints:
        """Cycles in which the beats of RoCE frames leave that are all there from cycle 1 on, a beat a cycle."""
        f, s = spec(), self.shape
        beats = -(-sizes // s.bb)
        owner = np.repeat(np.arange(len(sizes)), beats)
        place = np.arange(len(owner)) - (np.cumsum(beats) - beats)[owner]
        fill = np.minimum(s.bb, sizes[owner] - place * s.bb)
        charge = fill + (place == beats[owner] - 1) * f.integer("link.overhead_roce")
        found: Ints = ideal(
            charge, (place == 0).astype(np.int64), 1 + np.arange(len(owner)), np.zeros(0, np.int64), s.rate,
            f.integer("link.ctl_bytes"), f.cycles("latency.link.tx_fifo"), f.cycles("link.start_slack"),
        )  # fmt: skip
        return found
