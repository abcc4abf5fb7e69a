# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the link's bench."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from models.link import cable_cycles, phy_cycles
from models.protocol import LinkCfg
from models.spec import spec
from tb.common.beats import Frame
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.link.pace import slowest

LARGEST = spec().integer("frame.max_beats") * 64
FECS = ("llfec", "kp4")


def make_item(name: str, roce: int, fec: str = "llfec", metres: float = 2) -> PhaseItem:
    """An item without frames: both ends in the same profile, PHY delays of ``fec``, cores that free at once."""
    tx, rx = phy_cycles(fec)
    item = PhaseItem(name)
    item.quiet = 1500  # longer than the longest way there and back
    link = LinkCfg(roce=roce, phy_tx=tx, phy_rx=rx).pack()
    item.cfg = {"cable": cable_cycles(metres), "a_link": link, "b_link": link, "a_all": 0, "b_all": 0}
    return item


def frame_bytes(rng: np.random.Generator, low: int = 1, high: int = LARGEST) -> bytes:
    """A frame of random size: as many small ones as large ones, and the corners."""
    kind = rng.integers(4)
    if kind == 0:
        size = int(rng.integers(low, min(high, 130) + 1))
    elif kind == 1:
        size = int(rng.choice([low, 63, 64, 65, 127, 128, 129, high - 1, high]))
    else:
        size = int(rng.integers(low, high + 1))
    return rng.bytes(min(max(size, low), high))


class Latency(PhaseSequence):
    """One frame each way, alone, of several sizes: every delay of the path, both FEC modes and profiles."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames far apart; the end b answers 700 cycles later. Each FEC mode over each cable."""
        fec, cable = divmod(index, 4)
        item = make_item(f"latency{index}", (fec + cable) % 2, FECS[fec], metres=(2, 10, 30, 50)[cable])
        sizes = (30, 64, 65, 114, 1024, 4096, LARGEST)
        item.plays = {
            "a_s": [Frame(rng.bytes(n), 10 + 1500 * i) for i, n in enumerate(sizes)],
            "b_s": [Frame(rng.bytes(n), 710 + 1500 * i) for i, n in enumerate(sizes)],
        }
        return item


class Random(PhaseSequence):
    """Random frames both ways, PHY and cable of any length, cores that free late and slowly."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The rate at which cells are freed falls with the phase: credits run out."""
        item = make_item(f"random{index}", index % 2)
        for x in "ab":
            roce, tx, rx = index % 2, int(rng.integers(1, 256)), int(rng.integers(1, 256))
            if index < 2:
                tx, rx = ((1, 1), (255, 255))[index]
            item.cfg[f"{x}_link"] = LinkCfg(roce=roce, phy_tx=tx, phy_rx=rx).pack()
            item.cfg[f"{x}_all"] = int(rng.integers(2))
            at, frames = 1, []
            for _ in range(int(rng.integers(20, 60))):
                frames.append(Frame(frame_bytes(rng), at))
                at += int(rng.integers(1, 200)) if rng.random() < 0.4 else 0
            item.plays[f"{x}_s"] = frames
            share = (0.9, 0.5, 0.3, 0.1)[index // 2]
            item.ready[f"{x}_go"] = rng.random(int(rng.integers(100, 4097))) < share
        item.cfg["cable"] = (1, 255)[index] if index < 2 else int(rng.integers(1, 256))
        return item


class Starved(PhaseSequence):
    """Credits run out: the far core frees nothing for long times, then everything, or one cell now and then."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Largest and small frames against a core that sleeps."""
        item = make_item(f"starved{index}", index % 2, metres=50)
        item.cfg["a_all"] = item.cfg["b_all"] = index // 2
        # 50 beats and six largest leave 66 credits: one more largest frame, then none
        sizes = [50 * 64, *[LARGEST] * 16] if index % 2 else rng.integers(1, 700, 120).tolist()
        item.plays = {"a_s": [Frame(rng.bytes(int(n))) for n in sizes], "b_s": [Frame(rng.bytes(64), 200)]}
        pattern = np.zeros(4096, bool)
        if index // 2:
            pattern[1500::701] = True
        else:
            pattern[2000:] = rng.random(2096) < 0.5
        item.ready = {"b_go": pattern}
        item.quiet = 4500
        item.info = {"starved": "a"}
        return item


class LineRate(PhaseSequence):
    """Long runs at exactly 50 bytes a cycle; the check is arithmetic, besides the model."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One direction, the other silent, so that no control set of this end takes wire time."""
        item = make_item(f"line_rate{index}", index % 2, FECS[index % 2])
        beats = self.ctx.option("beats", 2000)
        # the last beat with its overhead fills a cycle, so no wire time is lost
        sizes = {0: [LARGEST], 1: [114], 2: [106 + 64 * i for i in range(20)]}[index // 2]
        frames: list[Frame] = []
        total = 0
        while total < beats:
            size = sizes[len(frames) % len(sizes)]
            frames.append(Frame(rng.bytes(size)))
            total += -(-size // 64)
        item.plays = {"a_s": frames}
        item.max_cycles = 3 * beats + 5000
        item.info = {"line_rate": True}
        return item


class ControlSets(PhaseSequence):
    """Both directions at full rate: control sets take wire time inside frames and between them."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Cells freed one a cycle, or frames at once; bursts that would send a set every cycle."""
        item = make_item(f"control{index}", index % 2)
        item.cfg["a_all"] = item.cfg["b_all"] = index // 2
        for x in "ab":
            item.plays[f"{x}_s"] = [Frame(frame_bytes(rng, 106)) for _ in range(60)]
        item.ready = {"a_go": rng.random(997) < 0.8, "b_go": np.arange(128) < 80}
        return item


class CutThrough(PhaseSequence):
    """Frames that come from a serialiser of the same rate at its slowest: start slack or a hole on the wire.

    The beats of a frame arrive as they would behind a link that starts it with a backlog of 49 bytes and
    sends control sets as closely as it may. Over the phases the sets take every place in a frame.
    """

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Each frame offset by another phase of its control sets."""
        item = make_item(f"cut_through{index}", index % 2)
        frames, at = [], 10
        for n in range(32):
            beats = (66, 40, 7, 2)[n % 4]
            cycles = slowest(beats, n // 4 + 8 * (index // 2))
            gaps = [b - a - 1 for a, b in pairwise(cycles)]
            frames.append(Frame(rng.bytes(64 * beats - int(rng.integers(0, 64))), at, gaps=gaps))
            at += cycles[-1] + 6 + n % 3
        item.plays = {"a_s": frames}
        return item
