# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: many inputs for one output, full buffers, lanes, marks by depth."""

from __future__ import annotations

import numpy as np

from models.switch_traffic import arrivals
from tb.common.uvm import PhaseItem
from tb.switch.frames import fit
from tb.switch.stimulus import MULTICAST, SwitchSequence, name


class Incast(SwitchSequence):
    """All inputs to one output, each with frames waiting all the time: each is served once in N grants."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of one size, of mixed sizes, large ones, mixed with a slow output; buffers fill."""
        s = self.shape
        item = self.begin("incast", index, rng)
        roce = item.cfg["roce"]
        target = int(rng.integers(s.ports))
        low, high, count = (
            (640, 641, 20),
            (65, 1500, 20),
            (2000, s.largest, 6 + 2 * s.cells // s.max_beats),
            (65, 1500, 20),
        )[index % 4]
        for i in range(s.ports):
            size = fit(rng.integers(min(low, s.largest - 1), min(high, s.largest) + 1, count), roce)
            dest = self.dest(item, rng, np.full(count, target))
            lanes = np.full(count, index % s.lanes)
            item.info["batch"][i] = self.batch(item, rng, dest, size, lanes=lanes)
        if index % 4 == 3:
            item.ready[name("m", target)] = rng.random(500) < 0.6
        item.info["fair"] = target
        item.info["shares"] = target
        if index % 4 == 2 and s.ports > 2:
            item.info["stalls"] = True
        return self.finish(item, rng)


class FullBuffers(SwitchSequence):
    """Half of the traffic to one slow output until the inputs stall; nothing is lost, everything comes through."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Large frames, so that few fill a buffer."""
        s = self.shape
        item = self.begin("full", index, rng)
        hot, n = int(rng.integers(s.ports)), 2 * s.cells // s.max_beats + 12
        for i in range(s.ports):
            out = np.where(rng.random(n) < 0.7, hot, rng.integers(s.ports, size=n))
            size = self.sizes(rng, n, "large", item.cfg["roce"])
            item.info["batch"][i] = self.batch(item, rng, self.dest(item, rng, out), size, gaps=0.2)
        item.ready[name("m", hot)] = np.arange(97) % 3 == 0
        item.info["stalls"] = True
        return self.finish(item, rng)


class Lanes(SwitchSequence):
    """S5, S16: lanes share an output in turns; one that is held back does not stop the others."""

    phases = 7

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Of the first four, even phases: an input with frames of every lane; odd ones: one lane paused. The others:
        one lane without credit, with frames of one beat, of some and of the largest."""
        s = self.shape
        if index >= 4:
            return self._credits(index, rng)
        item = self.begin("lanes", index, rng, roce=index // 2 % 2)
        roce = item.cfg["roce"]
        target = int(rng.integers(s.ports))
        if index % 2 == 0 or s.lanes == 1:
            n = 6 * s.lanes
            for i in range(s.ports):
                lanes = np.tile(rng.permutation(s.lanes), 6)
                dest = self.dest(item, rng, np.full(n, target))
                size = fit(np.full(n, min(200, s.largest)), roce)
                item.info["batch"][i] = self.batch(item, rng, dest, size, lanes=lanes)
            item.ready[name("m", target)] = rng.random(200) < 0.9
            item.info |= {"lanes_turn": (0, target), "lanes_from": s.lanes, "shares": target}
            return self.finish(item, rng)
        lane = int(rng.integers(s.lanes))
        begin, end = self.start_at, self.start_at + 1500
        bit = 1 << (target * s.lanes + lane)
        item.info["pause"] = [(begin - 10, bit), (end, 0)]
        bytes_ = int(fit(min(300, s.largest), roce))
        beats = -(-bytes_ // s.data_bytes)
        n = int(2000 // s.ports // beats) + 8
        for i in range(s.ports):
            lanes = rng.integers(s.lanes, size=n)
            lanes = np.where(lanes == lane, (lane + 1) % s.lanes, lanes)
            lanes[: min(4, s.quota // int(beats))] = lane  # first in line: what a queue without lanes would choke on
            item.info["batch"][i] = self.batch(
                item, rng, self.dest(item, rng, np.full(n, target)), np.full(n, bytes_), lanes=lanes
            )
        # the first frames of other lanes arrive behind those that are held back
        item.info["blocked_lane"] = (target, lane, begin + 80, end)
        return self.finish(item, rng)

    def _credits(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One lane's frames come first and use up its credits, of which none comes back; then those of the others."""
        s = self.shape
        item = self.begin("lane_credits", index, rng, roce=int(rng.integers(2)))
        target = int(rng.integers(s.ports))
        lane = 0 if index == 4 else int(rng.integers(s.lanes))
        beats = (1, int(rng.integers(1, s.max_beats + 1)), s.max_beats)[index - 4]
        room = s.max_beats + 1 + int(rng.integers(min(s.max_beats, 255 - s.max_beats - 1)))  # 255: credit_return's most
        item.cfg |= {"credit_en": 1, "credit_init": room}
        # Frames of a lane that start: with M+1 credits and more, not with M. A beat that the same lane's frame before
        # takes in that cycle is not counted yet: where that decides, it may be one more.
        due = -(-(room - s.max_beats) // beats)
        edge = int((room - s.max_beats) % beats == 0)
        each = -(-(due + edge + 3) // s.ports)  # of a lane, at each input
        order = np.array([lane] * each + [v for _ in range(each) for v in range(s.lanes) if v != lane])
        for i in range(s.ports):
            dest = self.dest(item, rng, np.full(len(order), target))
            size = fit(np.full(len(order), beats * s.data_bytes), item.cfg["roce"])
            item.info["batch"][i] = self.batch(item, rng, dest, size, lanes=order)
            item.info["batch"][i].grh[:] = False
        until = self.start_at + (2 * each + s.lanes * (due + edge)) * beats * (1 + s.saf) + 100
        item.ready[name("cr", target)] = np.arange(4096) >= until
        item.info["credit_lane"] = (target, lane, until, due, edge)
        return self.finish(item, rng)


class Marks(SwitchSequence):
    """ECN: queues of a known depth; checksum and FCS stay right, capable unicast frames are marked and no others."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Never, from depth three on, always, always beside multicast frames, which wait in queues as deep."""
        s = self.shape
        item = self.begin("marks", index, rng, roce=1)
        item.cfg["ecn_at"] = (0, 3, 1, 1)[index]
        item.info["marks"] = ("none", "some", "all", "all")[index]
        n = 24
        sets = [self.route(item, MULTICAST, rng.choice(s.ports, 2, replace=False)) for _ in range(2 * (index == 3))]
        if sets:
            item.info |= {"kinds": {}, "good": False, "corner": "marks beside multicast"}
        for i in range(s.ports):
            out = np.where(rng.random(n) < 0.6, 1, rng.integers(s.ports, size=n))
            size = np.concatenate((rng.integers(64, 200, n - 6), rng.integers(4 * 64 - 3, 4 * 64 + 8, 6)))
            size = np.minimum(size, s.largest)
            dest = self.dest(item, rng, out)
            if sets:
                cast = rng.random(n) < 0.5
                dest = np.where(cast, rng.choice(sets, n), dest)
                item.info["kinds"][i] = cast.astype(np.int64)
            lanes = rng.integers(min(4, s.lanes), size=n)  # over more of them no queue gets deep
            item.info["batch"][i] = self.batch(item, rng, dest, size, load=0.6, lanes=lanes)
        self.slow(item, rng, 0.4, 0.5)
        return self.finish(item, rng)


class Uniform(SwitchSequence):
    """Single beats, Bernoulli arrivals, every output as likely: the traffic whose mean wait is published."""

    phases = 3
    loads = (50, 70, 80)
    slots = 3000

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """A load a phase."""
        s = self.shape
        item = self.begin("uniform", index, rng)
        for i in range(s.ports):
            cycle = self.start_at + arrivals(rng, self.loads[index] / 100, 1, self.slots)
            n = len(cycle)
            size = fit(np.full(n, 64), item.cfg["roce"])
            b = self.batch(item, rng, self.dest(item, rng, rng.integers(s.ports, size=n)), size)
            b.cycle = cycle
            item.info["batch"][i] = b
        name = "wavefront" if s.alloc > 4 else f"islip_{s.alloc}"
        item.info |= {"theory": (name, self.loads[index], self.start_at + self.slots // 10), "load": "uniform"}
        return self.finish(item, rng)
