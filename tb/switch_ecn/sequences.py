# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the ECN stage."""

from __future__ import annotations

import numpy as np

from models.spec import spec
from tb.common.beats import Frame
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.switch_ecn.frames import MARK, frame, random_frame

LARGEST = spec().integer("frame.max_beats") * 64


def beat_bytes(ctx: RunContext) -> int:
    """Bytes of a beat in this build."""
    return int(ctx.param("DATA_W", 512)) // 8


def make_item(name: str, ctx: RunContext, roce: int = 1) -> PhaseItem:
    """An item without frames."""
    item = PhaseItem(name)
    item.cfg = {"roce": roce}
    item.info = {"beat": beat_bytes(ctx)}
    item.quiet = 50
    return item


class Lengths(PhaseSequence):
    """Every length from 62 to 300 bytes and around the beats' edges to the largest, marked, FCS right or wrong."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Back to back, then with gaps inside; ECN 1, then 2."""
        beat = beat_bytes(self.ctx)
        item = make_item(f"lengths{index}", self.ctx)
        edges = [k * beat + d for k in range(5, LARGEST // beat + 1) for d in range(-1, 5)]
        sizes = [*range(62, 301), *(n for n in edges if 300 < n <= LARGEST)]
        frames, at = [], 1
        for size in sizes:
            gaps = int(rng.integers(1, 4)) if index >= 2 and size < 1000 else 0
            frames.append(Frame(frame(rng, size, 1 + index % 2, right=rng.random() < 0.8), at, MARK, gaps))
            at += -(-size // beat) * (1 + gaps) if index >= 2 else 0
        item.plays = {"s_axis": frames}
        return item


class Checksums(PhaseSequence):
    """Checksums at both ends of their range: the subtraction borrows around the end."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Each corner with each ECN field, marked and not, a one-beat frame and a longer one."""
        item = make_item("checksums", self.ctx)
        item.plays = {
            "s_axis": [
                Frame(frame(rng, size, ecn, checksum=value), 1, side)
                for value in (0, 1, 2, 3, 0x00FF, 0x0100, 0x0101, 0xFF00, 0xFFFD, 0xFFFE, 0xFFFF)
                for ecn in range(4)
                for side in (0, MARK)
                for size in (64, 200)
            ]
        }
        return item


class Random(PhaseSequence):
    """Frames of every kind at random, damaged ones and others between them, gaps, back to back."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Load differs by phase."""
        item = make_item(f"random{index}", self.ctx)
        frames, at = [], 1
        for _ in range(300):
            frames.append(random_frame(rng, beat_bytes(self.ctx), at))
            beats = -(-len(frames[-1].data) // beat_bytes(self.ctx))
            at += int(rng.integers(0, 3 * beats + 2)) if index % 2 else 0
        item.plays = {"s_axis": frames}
        return item


class Native(PhaseSequence):
    """The same frames with the stage in native mode: nothing changes."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Back to back."""
        item = make_item("native", self.ctx, roce=0)
        item.plays = {"s_axis": [random_frame(rng, beat_bytes(self.ctx), 1) for _ in range(200)]}
        return item
