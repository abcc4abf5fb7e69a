# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: one output that takes too little, and the others beside it."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem
from tb.switch.frames import Ints, fit
from tb.switch.stimulus import SwitchSequence, name

SETTLE = 40  # cycles after which the last beat offered is stored and given back
PATTERN = 4096  # bits of a sink's pattern, the most there may be: longer than a phase


class HotSpot(SwitchSequence):
    """More traffic for one output than it can take, six ways.

    - ``with``, ``without``: a third of the frames is for the hot output, which is slow; the same frames without those.
    - ``beside``: every second frame of an input is for the hot output, no cycle without a beat. What the others lose is
      what their own input spends on hot frames.
    - ``behind``: hot frames came first at every input and wait behind an egress FIFO that is full. The others' frames
      leave as through an empty switch.
    - ``lane``: hot frames fill their lane's credits at every input, to the last that a frame may start with. The other
      lanes' frames leave as through an empty switch.
    - ``shared``: the control of it. All frames are of one lane, without credits, and hot ones have every cell: nothing
      else leaves until the hot output goes on. Without it nobody knows that ``lane`` can fail.
    """

    scenes = ("with", "without", "beside", "behind", "lane", "shared")
    phases = 2 * len(scenes)
    least = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """A scene a phase; the first six native, the others RoCE."""
        roce, scene = index // len(self.scenes), self.scenes[index % len(self.scenes)]
        if scene in ("with", "without"):
            return self._share(index, roce, scene)
        if scene == "lane" and self.shape.lanes == 1:
            scene = "behind"
        item = self.begin(f"hot_{scene}_", index, rng, roce=roce)
        item.info["hot"] = scene
        hot = int(rng.integers(self.shape.ports))
        if scene == "beside":
            self._beside(item, rng, hot)
        else:
            self._stuck(item, rng, hot, scene)
        return self.finish(item, rng)

    def _share(self, index: int, roce: int, which: str) -> PhaseItem:
        """A third of each input's frames is for the hot output, which is slow; buffers take the excess."""
        s = self.shape
        rng = self.ctx.rng(f"hot_spot/{roce}")  # a pair of phases has the same frames
        item = self.begin("hot_spot", index, rng, roce=roce)
        hot, n = int(rng.integers(s.ports)), 60
        cool_ports = [p for p in range(s.ports) if p != hot]
        for i in range(s.ports):
            turn = np.array([cool_ports[(i + k) % len(cool_ports)] for k in range(n)])
            to_hot = np.arange(n) % 3 == 2
            size = fit(rng.integers(64, min(400, s.largest + 1), n), roce)
            b = self.batch(item, rng, self.dest(item, rng, np.where(to_hot, hot, turn)), size, load=0.7)
            if which == "without":
                for key in ("size", "dest", "lane", "cycle", "stated", "damage", "ecn", "grh", "flow"):
                    setattr(b, key, getattr(b, key)[~to_hot])
            item.info["batch"][i] = b
        item.ready[name("m", hot)] = np.arange(100) % 3 == 0
        item.info |= {"cool": (f"pair{roce}", which, hot), "from": self.start_at, "hot": which}
        item.info["load"] = "hot_spot" if which == "with" else "no_hot_spot"
        return self.finish(item, rng)

    def _cool(self, rng: np.random.Generator, hot: int) -> Ints:
        """An output of its own for each input; the one that would have the hot output gets no others' frames."""
        found: Ints = rng.permutation(self.shape.ports).astype(np.int64)
        return found

    def _beside(self, item: PhaseItem, rng: np.random.Generator, hot: int) -> None:
        s = self.shape
        own = self._cool(rng, hot)
        beats = int(rng.integers(1, min(3, s.max_beats) + 1))
        n = min(60, (s.cells - 24) // beats) if s.cells > 40 else 2
        size = fit(np.full(2 * n, beats * s.data_bytes), item.cfg["roce"])
        for i in range(s.ports):
            out = np.where(np.arange(2 * n) % 2, hot, own[i])
            item.info["batch"][i] = self.batch(item, rng, self.dest(item, rng, out), size)
        # One hot frame is under way, one more may have been chosen before. With round robin an input that has picked
        # the hot output asks for no other until it has its turn there, for each of its frames anew.
        item.info["undisturbed"] = (hot, 2 * beats if s.alloc else n * s.ports * beats)

    def _stuck(self, item: PhaseItem, rng: np.random.Generator, hot: int, scene: str) -> None:
        """Hot frames, time until they stand still, then the others' at a beat a cycle, then the hot output goes on."""
        s, roce = self.shape, item.cfg["roce"]
        own = self._cool(rng, hot)
        beats = 1 if scene == "shared" else int(rng.integers(1, min(4, s.max_beats) + 1))
        lane = int(rng.integers(s.lanes))
        deep = s.egress + beats + SETTLE <= s.cells  # each input has more hot beats than the egress FIFO takes
        cells = s.egress + beats if deep else max(beats, s.cells - SETTLE // 2)
        if scene == "lane":
            cells = (s.quota - s.max_beats) // beats * beats + beats  # the next one has no credit to start
        elif scene == "shared":
            cells = s.cells
        first = cells // beats
        others = 160 // beats
        begin = self.start_at + cells + s.egress + SETTLE
        pace = beats
        if scene == "lane":
            item.cfg["gate"] = 1
            if s.quota - s.max_beats < beats + 12:  # a frame starts when those before it have come home
                pace = beats + 24
        release = begin + others * pace + 2 * SETTLE
        for i in range(s.ports):
            n = first + (others if own[i] != hot else 0)
            size = fit(np.full(n, beats * s.data_bytes), roce)
            out = np.where(np.arange(n) < first, hot, own[i])
            lanes = rng.integers(s.lanes, size=n)
            if scene == "lane":
                other = (lane + rng.integers(1, s.lanes, size=n)) % s.lanes
                lanes = np.where(np.arange(n) < first, lane, other)
            elif scene == "shared":
                lanes = np.full(n, lane)
            b = self.batch(item, rng, self.dest(item, rng, out), size, lanes=lanes)
            b.cycle[first:] = begin + pace * np.arange(n - first)
            item.info["batch"][i] = b
        if scene == "behind" and deep:
            item.ready[name("m", hot)] = np.arange(PATTERN) >= release
        else:
            item.info["pause"] = [(1, (1 << s.lanes) - 1 << hot * s.lanes), (release, 0)]
        if scene == "shared":
            item.info["stopped"] = (hot, begin, release)
        else:
            item.info["undisturbed"] = (hot, 0)
