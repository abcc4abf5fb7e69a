# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: pause by lane, both ways, and the headroom that makes it lossless."""

from __future__ import annotations

import numpy as np

from models.pfc import headroom
from tb.common.uvm import PhaseItem
from tb.switch.frames import fit
from tb.switch.stimulus import SwitchSequence


class Headroom(SwitchSequence):
    """S13, S14: worst packed frames go on for the whole response after the pause: they fit, or with a cell less do not.

    The output of one lane is paused by its far end, so that nothing leaves meanwhile.
    """

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phases 0 and 1: the headroom as computed; 2 and 3: a cell less of it. Other inputs have other traffic."""
        s = self.shape
        item = self.begin("headroom", index, rng)
        roce = item.cfg["roce"]
        lossless = index < 2
        lane, target = int(rng.integers(s.lanes)), 1
        room = headroom(2, roce=bool(roce), cell=s.data_bytes, egress=s.egress, stored=0).cells
        if room > s.quota - 8:
            raise ValueError(
                f"a lane of {s.quota} cells has no room for a headroom of {room}: the test wants another shape"
            )
        item.cfg |= {"pfc": 1, "xoff": s.quota - room + (not lossless), "xon": (s.quota - room) // 2}
        size = int(fit(s.data_bytes + 1 + 3 * (not roce), roce))  # a cell and the least that needs another
        total = item.cfg["xoff"] + room  # cells: as many as there are, or one more
        sizes = np.full(total // 2, size)
        if total % 2:
            sizes = np.append(sizes, fit(64, roce))
        n = len(sizes)
        one_lane = np.full(n, lane)
        dest = self.dest(item, rng, np.full(n, target))
        item.info["batch"][0] = self.batch(item, rng, dest, sizes, lanes=one_lane)
        item.info["batch"][0].grh[:] = False
        until = self.start_at + 2 * n + 200
        item.info["pause"] = [(1, 1 << (target * s.lanes + lane)), (until, 0)]
        for i in range(1, s.ports):
            m = 20
            out = rng.choice([p for p in range(s.ports) if p != target], m)
            item.info["batch"][i] = self.batch(
                item, rng, self.dest(item, rng, out), self.sizes(rng, m, "small", roce), load=0.5
            )
        item.info |= {"headroom": (0, lane, room, lossless), "good": lossless}
        return self.finish(item, rng)


class Pauses(SwitchSequence):
    """Lanes of outputs paused and released at random; inputs pause by thresholds; frames overflow where they must."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Odd phases have credits at the input too, so that nothing is lost."""
        s = self.shape
        item = self.begin("pauses", index, rng, roce=index // 2 % 2)
        roce = item.cfg["roce"]
        xoff = int(rng.integers(min(2, s.quota - 1), s.quota))
        item.cfg |= {"pfc": 1, "xoff": xoff, "xon": int(rng.integers(xoff)), "gate": index % 2}
        for i in range(s.ports):
            n = 40
            out = np.where(rng.random(n) < 0.5, 0, rng.integers(s.ports, size=n))
            size = self.sizes(rng, n, "mix", roce)
            item.info["batch"][i] = self.batch(item, rng, self.dest(item, rng, out), size, load=0.9, gaps=0.1)
        at, state = self.start_at, 0
        for _ in range(40):
            at += int(rng.integers(1, 80))
            state ^= 1 << int(rng.integers(s.ports * s.lanes))
            item.info["pause"].append((at, state))
        item.info["pause"].append((at + 20, 0))
        self.slow(item, rng, 0.4, 0.4)
        item.info["good"] = bool(item.cfg["gate"])
        return self.finish(item, rng)
