# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the example block."""

from __future__ import annotations

import numpy as np

from tb.common.beats import Frame
from tb.common.phase import stalls
from tb.common.uvm import PhaseItem, PhaseSequence


class Smoke(PhaseSequence):
    """A few frames back to back, sink always ready."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Sizes around a beat's edge."""
        item = PhaseItem("smoke")
        item.cfg = {"mask": 0x5A}
        item.plays = {"s_axis": [Frame(bytes(range(n))) for n in (1, 63, 64, 65, 128, 200)]}
        return item


class RandomBackPressure(PhaseSequence):
    """Random frames, gaps and stalls."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Load and stall probability vary with the phase."""
        item = PhaseItem(f"random{index}")
        item.cfg = {"mask": int(rng.integers(256))}
        frames = []
        at = 1
        for _ in range(60):
            size = int(rng.choice((63, 64, 65, 128, 129))) if rng.random() < 0.2 else int(rng.integers(1, 600))
            frame = Frame(rng.bytes(size), at, gaps=rng.integers(0, 2 + index, 10).tolist())
            frames.append(frame)
            at += int(rng.integers(0, 20))
        item.plays = {"s_axis": frames}
        item.ready = {"m_axis": stalls(rng)}
        return item


class Volume(PhaseSequence):
    """Long full-rate run for the simulator's speed; ``beats`` is an option of the test."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of 64 beats."""
        item = PhaseItem("volume")
        item.cfg = {"mask": 0xFF}
        beats = self.ctx.option("beats", 64_000)
        item.plays = {"s_axis": [Frame(rng.bytes(4096)) for _ in range(beats // 64)]}
        item.max_cycles = beats + 1000
        return item
