# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: frames alone, random traffic, permutations, volume."""

from __future__ import annotations

import numpy as np

from models.spec import spec
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem
from tb.switch.frames import fit
from tb.switch.stimulus import ADAPTIVE, BY_FLOW, SPRAY, SwitchSequence


def latency() -> int:
    """Cycles of a frame that is alone: the sum of the latency table's stages."""
    return sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


class ZeroLoad(SwitchSequence):
    """Every pair of ports, one frame at a time, four sizes: the latency table's sum, to the cycle."""

    phases = 2
    sizes_of = (64, 256, 1500, 4096)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames so far apart that each is alone."""
        s = self.shape
        item = self.begin("zero_load", index, rng)
        roce = item.cfg["roce"]
        n = s.ports * len(self.sizes_of)
        outputs = np.repeat(np.arange(s.ports), len(self.sizes_of))
        size = np.tile(np.minimum(fit(self.sizes_of, roce), s.largest), s.ports)
        at = self.start_at
        for i in range(s.ports):
            b = self.batch(item, rng, self.dest(item, rng, outputs), size)
            beats = b.beats(s.data_bytes)
            room = beats * (2 if s.saf else 1) + latency() + 3  # until it is gone
            b.cycle = at + np.cumsum(room) - room
            at = int(b.cycle[-1] + room[-1])
            item.info["batch"][i] = b
        if self.ctx.param("TAPS", 0):
            item.info["stamps"] = index
        item.info |= {"latency": latency(), "sizes": sorted({int(x) for x in size}), "pairs": n}
        return self.finish(item, rng)


class Random(SwitchSequence):
    """Random traffic on all ports: loads, sizes, lanes, both formats, holes, stalls, slow credits, gates, groups."""

    phases = 8
    frames = 22

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Later phases are denser; groups of several ports take a third of the frames."""
        s = self.shape
        item = self.begin("random", index, rng)
        roce = item.cfg["roce"]
        extra = [
            self.route(item, mode, rng.choice(s.ports, int(rng.integers(2, s.ports + 1)), replace=False))
            for mode in (BY_FLOW, SPRAY, ADAPTIVE)
        ]
        for i in range(s.ports):
            n = int(self.frames * rng.uniform(0.7, 1.3))
            dest = self.dest(item, rng, rng.integers(s.ports, size=n))
            dest = np.where(rng.random(n) < 0.3, rng.choice(extra, n), dest)
            kind = ("mix", "small", "small", "mix", "large")[int(rng.integers(5))]
            size = self.sizes(rng, n, kind, roce)
            load = (0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0, 1.0)[index % 8]
            item.info["batch"][i] = self.batch(item, rng, dest, size, load=load, gaps=0.3 * float(rng.random() < 0.5))
        if index % 8 >= 2:
            self.slow(item, rng, 0.6, 0.3)
        if index % 4 >= 2:
            self.credits(item, rng, slow=index % 8 >= 4)
        item.cfg["gate"] = int(index % 3 == 2)
        item.cfg["ecn_at"] = int(rng.integers(9))
        item.cfg["adapt_shift"] = int(rng.integers(8))
        if index % 8 >= 6:
            item.info["load"] = "random"
        return self.finish(item, rng)


class Permutation(SwitchSequence):
    """Every input to another output at a beat a cycle, one size class a phase: no output ever idles."""

    phases = 8
    classes = (64, 65, 128, 256, 512, 1024, 1500, 4096)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of one size back to back."""
        s = self.shape
        item = self.begin("permutation", index, rng)
        roce = item.cfg["roce"]
        size = min(int(fit(self.classes[index % len(self.classes)], roce)), s.largest)
        if not roce and self.classes[index] % 64 and size + 4 <= s.largest:
            size += 4  # native sizes are words and a VCRC: the next larger one
        n = 6000 // max(size, s.data_bytes) + 12
        for i, o in enumerate(rng.permutation(s.ports).tolist()):
            b = self.batch(item, rng, self.dest(item, rng, np.full(n, o)), np.full(n, size))
            item.info["batch"][i] = b
        item.info["busy"] = size
        return self.finish(item, rng)


class Volume(SwitchSequence):
    """Many frames, small ones most, all knobs at random: phases of some ten thousand, ``packets`` in all."""

    a_phase = 20_000

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name, ctx)
        packets = self.ctx.option("packets", 2_000)
        self.a_phase = min(self.a_phase, packets)
        self.phases = max(1, round(packets / self.a_phase))

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Loads from half to full, outputs that stall a little, credits and gates by turns."""
        s = self.shape
        item = self.begin("volume", index, rng)
        roce = item.cfg["roce"]
        item.max_cycles, item.wall_limit_s = 10_000_000, 3600
        extra = [
            self.route(item, mode, rng.choice(s.ports, int(rng.integers(2, s.ports + 1)), replace=False))
            for mode in (BY_FLOW, SPRAY, ADAPTIVE)
        ]
        n = self.a_phase // s.ports
        load = (0.5, 0.7, 0.9, 1.0)[index % 4]
        for i in range(s.ports):
            dest = self.dest(item, rng, rng.integers(s.ports, size=n))
            dest = np.where(rng.random(n) < 0.2, rng.choice(extra, n), dest)
            item.info["batch"][i] = self.batch(item, rng, dest, self.sizes(rng, n, "small", roce), load=load, gaps=0.05)
        if index % 3 == 1:
            self.slow(item, rng, 0.3, 0.8)
        if index % 3 == 2:
            self.credits(item, rng, slow=False)
        item.cfg["gate"] = int(index % 4 == 1)
        item.cfg["ecn_at"] = int(rng.integers(0, 20))
        item.info["load"] = f"volume_{round(100 * load)}"
        item.info["speed"] = True
        return self.finish(item, rng)


class Eighty(SwitchSequence):
    """The largest switch: every port to every other in turns, then at random."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """A few hundred frames an output."""
        s = self.shape
        item = self.begin("eighty", index, rng)
        n = 40
        for i in range(s.ports):
            out = (i + np.arange(n)) % s.ports if index == 0 else rng.integers(s.ports, size=n)
            size = self.sizes(rng, n, "small", item.cfg["roce"])
            item.info["batch"][i] = self.batch(item, rng, self.dest(item, rng, out), size, load=0.8)
        if index == 1:
            self.slow(item, rng, 0.3, 0.5)
        item.info |= {"load": f"ports_{s.ports}", "cost": True}
        return self.finish(item, rng)
