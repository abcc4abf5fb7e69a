# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch's bench."""

from __future__ import annotations

import numpy as np

from models.spec import spec
from tb.common.beats import Frame
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.switch.frames import PREFIX_BITS, frame_to, table_records

START = 100  # cycle of the first frames: the table is written before
MAX_BEATS = spec().integer("frame.max_beats")
LARGEST = MAX_BEATS * 64


def latency() -> int:
    """Cycles of a frame that is alone: the sum of the latency table's stages."""
    return sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


class SwitchSequence(PhaseSequence):
    """Common part: a table with two random destinations for each port."""

    def begin(self, name: str, index: int, rng: np.random.Generator) -> PhaseItem:
        """Item with configuration and table; ``info["dest"][port]`` are its destinations. Odd phases are RoCE."""
        roce = index % 2
        item = PhaseItem(f"{name}{index}")
        prefix = int(rng.integers(1 << PREFIX_BITS[roce]))
        item.cfg = {"roce": roce, "prefix": prefix}
        indices = rng.choice(1024, 2 * self.ports, replace=False).tolist()
        entries = {i: n % self.ports for n, i in enumerate(indices)}
        # an entry may change: written for another port before, taken out again, or of a port that is not there
        spare = [x for x in rng.permutation(1024).tolist() if x not in entries][:6]
        gone, nowhere = spare[:3], spare[3:]
        writes = [(i, 1, (entries[i] + 1) % self.ports) for i in indices[:3]] + [(i, 1, 0) for i in gone]
        writes += [(i, 1, port) for i, port in entries.items()] + [(i, 0, 0) for i in gone]
        if self.ports not in (2, 4, 8):  # a port number of that many bits may be too large
            writes += [(i, 1, self.ports + n % (8 - self.ports)) for n, i in enumerate(nowhere)]
        else:
            nowhere = []
        item.plays["table"] = table_records(writes)
        item.info |= {"gone": gone, "nowhere": nowhere}
        dest: list[list[int]] = [[] for _ in range(self.ports)]
        for i, port in entries.items():
            dest[port].append(prefix << 10 | i)
        item.info["dest"] = dest
        item.info["indices"] = set(indices)
        return item

    @property
    def ports(self) -> int:
        """Ports of the design."""
        return int(self.ctx.param("PORTS", 8))

    def frame(self, item: PhaseItem, rng: np.random.Generator, i: int, o: int, size: int, at: int, n: int = 0) -> Frame:
        """Frame ``n`` of input ``i`` to output ``o``, marked with both."""
        dest = int(rng.choice(item.info["dest"][o]))
        return Frame(frame_to(rng, item.cfg["roce"], dest, size, i << 24 | n), at)


class ZeroLoad(SwitchSequence):
    """Every pair of ports, one frame at a time, sizes 64..4096: the latency table's sum, to the cycle."""

    phases = 2
    sizes = ((64, 114, 1024, 4096), (64, 256))  # by format

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames so far apart that each is alone."""
        item = self.begin("zero_load", index, rng)
        at = START
        for i in range(self.ports):
            frames = []
            for o in range(self.ports):
                for size in self.sizes[index]:
                    frames.append(self.frame(item, rng, i, o, size, at))
                    at += -(-size // 64) + 12
            item.plays[f"s{i}"] = frames
        item.info["latency"] = latency()
        return item


class Random(SwitchSequence):
    """Random traffic on all ports, gaps inside frames, outputs that stall; phases of rising load."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Sizes of every kind; later phases without pauses and with slow outputs fill the buffers."""
        item = self.begin("random", index, rng)
        for i in range(self.ports):
            at, frames = START + int(rng.integers(20)), []
            for n in range(24):
                o = int(rng.integers(self.ports))
                size = int(rng.integers(38, 300)) if rng.random() < 0.7 else int(rng.integers(300, LARGEST + 1))
                size = LARGEST if rng.random() < 0.05 else size
                frame = self.frame(item, rng, i, o, size, at, n)
                beats = -(-size // 64)
                if rng.random() < 0.3:
                    gaps = rng.integers(0, 4, max(1, beats - 1)).tolist()
                    frame = Frame(frame.data, at, gaps=gaps)
                    beats += sum(gaps)
                frames.append(frame)
                at += int(rng.integers(0, (200, 60, 20, 5, 1, 1)[index]))
            item.plays[f"s{i}"] = frames
        for o in range(self.ports):
            if index >= 2 and rng.random() < 0.7:
                item.ready[f"m{o}"] = rng.random(int(rng.integers(100, 4000))) < rng.uniform(0.3, 1.0)
        return item


class Permutation(SwitchSequence):
    """Every input to another output at full rate: no contention, so one cycle between frames, no hole."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of one size back to back."""
        item = self.begin("permutation", index, rng)
        size = (4096, 1024, 256, 64)[index]
        target = rng.permutation(self.ports).tolist()
        for i in range(self.ports):
            item.plays[f"s{i}"] = [self.frame(item, rng, i, target[i], size, START, n) for n in range(3000 // size + 8)]
        item.info["gap"] = 1
        return item


class Incast(SwitchSequence):
    """All inputs to one output, each with frames waiting all the time: each is served once in N grants.

    Each output has its turn. One queue of an input fills its whole buffer when the frames are large.
    """

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of one size, of mixed sizes, large ones; the output at full rate or slowed."""
        item = self.begin("incast", index, rng)
        target = index % self.ports
        low, high, count = ((640, 641, 16), (65, 1500, 16), (65, 1500, 16), (2000, LARGEST + 1, 13))[index % 4]
        for i in range(self.ports):
            sizes = rng.integers(low, high, count).tolist()
            item.plays[f"s{i}"] = [self.frame(item, rng, i, target, n, START, k) for k, n in enumerate(sizes)]
        if index % 4 == 2:
            item.ready[f"m{target}"] = rng.random(500) < 0.6
        item.info["fair"] = target
        return item


class HotSpot(SwitchSequence):
    """Half of the traffic to one output that is slow; the other outputs must go on beside it."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The buffers fill with cells for the slow output until the inputs stall."""
        item = self.begin("hot_spot", index, rng)
        hot = int(rng.integers(self.ports))
        for i in range(self.ports):
            frames = []
            for n in range(45):
                o = hot if rng.random() < 0.5 else int(rng.integers(self.ports))
                frames.append(self.frame(item, rng, i, o, int(rng.choice([64, 512, 4096])), START, n))
            item.plays[f"s{i}"] = frames
        item.ready[f"m{hot}"] = np.arange(100) % 5 == 0
        item.info["stalls"] = True
        return item


class Gaps(SwitchSequence):
    """Cut-through frames with gaps, several inputs for one output: the match holds to the last beat.

    Outputs stall in the middle as well: what was chosen stays chosen.
    """

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Every input alternates between the contended output and its own."""
        item = self.begin("gaps", index, rng)
        for i in range(self.ports):
            at, frames = START, []
            for n in range(20):
                size = int(rng.integers(65, 1000))
                frame = self.frame(item, rng, i, 0 if n % 2 else i, size, at, n)
                gaps = rng.integers(0, 12, 16).tolist()
                frames.append(Frame(frame.data, at, gaps=gaps))
                at += int(rng.integers(1, 100))
            item.plays[f"s{i}"] = frames
        item.ready = {"m0": rng.random(977) < 0.7}
        return item


class Unknown(SwitchSequence):
    """Frames to nowhere among good ones: index not in the table or taken out of it, other prefix, a port that
    is not there, too short to have a destination."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Half of the frames is dropped, more cells than an input has: they must come back."""
        item = self.begin("unknown", index, rng)
        roce = item.cfg["roce"]
        written = item.info["indices"] | set(item.info["gone"]) | set(item.info["nowhere"])
        free = [x for x in range(1024) if x not in written]
        for i in range(self.ports):
            frames = []
            for n in range(70):
                size = int(rng.integers(38, 800))
                frame = self.frame(item, rng, i, int(rng.integers(self.ports)), size, START, n)
                kind = int(rng.integers(8))
                if kind in (0, 2, 3) and (low := (free, (), item.info["gone"], item.info["nowhere"])[kind]):
                    to = item.cfg["prefix"] << 10 | int(rng.choice(low))
                    frame = Frame(frame_to(rng, roce, to, self._lost(rng)), START)
                elif kind == 1:
                    frame = Frame(frame_to(rng, roce, foreign(item, rng), self._lost(rng)), START)
                elif kind == 4 and n % 4 == 0:
                    frame = Frame(frame.data[: 33 if roce else 3], START)
                frames.append(frame)
            item.plays[f"s{i}"] = frames
        return item

    @staticmethod
    def _lost(rng: np.random.Generator) -> int:
        """Size of a frame to nowhere: any, a beat, the largest, too long."""
        any_size, beat = int(rng.integers(38, LARGEST + 1)), int(rng.integers(38, 65))
        return int(rng.choice([any_size, beat, LARGEST, LARGEST + 200]))


class TooLong(SwitchSequence):
    """Frames longer than a largest one are cut there and counted; nothing overflows, nothing hangs."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Lengths around the limit, and far beyond the buffer; some are unknown as well, and dropped whole."""
        item = self.begin("too_long", index, rng)
        beats = (MAX_BEATS - 1, MAX_BEATS, MAX_BEATS + 1, MAX_BEATS + 2, 3 * MAX_BEATS, 700)
        for i in range(self.ports):
            frames = []
            for n in range(16):
                size = 64 * beats[int(rng.integers(len(beats)))] - int(rng.integers(64))
                frame = self.frame(item, rng, i, int(rng.integers(self.ports)), size, START, n)
                if n % 4 == 3:
                    frame = Frame(frame_to(rng, item.cfg["roce"], foreign(item, rng), size), START)
                frames.append(frame)
            item.plays[f"s{i}"] = frames
        item.ready["m0"] = rng.random(300) < 0.5
        return item


def foreign(item: PhaseItem, rng: np.random.Generator) -> int:
    """A destination whose upper bits differ in one bit, its index in the table."""
    other = item.cfg["prefix"] ^ 1 << int(rng.integers(PREFIX_BITS[item.cfg["roce"]]))
    return other << 10 | int(rng.choice(item.info["dest"][0])) & 0x3FF
