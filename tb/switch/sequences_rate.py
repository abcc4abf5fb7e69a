# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: every frame size at the wire's pace."""

from __future__ import annotations

import numpy as np

from models.spec import spec
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem
from tb.switch.frames import fit
from tb.switch.goals_rate import due, played
from tb.switch.shape import Shape
from tb.switch.stimulus import SwitchSequence

SMALLEST, DENSE = 64, 150  # bytes; up to DENSE every size is in the spread
FRAMES = 4  # of each size


def largest(s: Shape) -> int:
    """Bytes of the largest frame that there is, or of the largest that this switch takes."""
    return min(spec().integer("frame.max_beats") * 64, s.largest)


def every(roce: int, top: int) -> list[int]:
    """All sizes that the format has, from 64 bytes to ``top``."""
    return [s for s in range(SMALLEST, top + 1) if int(fit(s, roce)) == s]


def spread(rng: np.random.Generator, roce: int, width: int, top: int) -> list[int]:
    """Every size to 150 bytes, those at the edges of each number of beats, some at random."""
    edges = {k * width + d for k in range(1, top // width + 1) for d in (-1, 0, 1)}
    near = {int(fit(s, roce)) for s in (*edges, *(x + 2 for x in edges), *rng.integers(DENSE, top + 1, 24).tolist())}
    return [s for s in every(roce, top) if s <= DENSE or s in near or s > top - 4]


class LineRate(SwitchSequence):
    """Every input to another output, frames of each size in turn, as fast as the wire brings them."""

    a_phase = 300  # sizes

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name, ctx)
        self.parts: list[tuple[int, list[int]]] = []
        s, top = self.shape, largest(self.shape)
        for roce in (0, 1):
            rng = ctx.rng(f"line_rate/{roce}")
            sizes = every(roce, top) if ctx.option("every", False) else spread(rng, roce, s.data_bytes, top)
            self.parts += [(roce, sizes[k : k + self.a_phase]) for k in range(0, len(sizes), self.a_phase)]
        self.phases = len(self.parts)
        self.wire = played(ctx, s.data_bytes)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of a size start when the wire has brought the one before, or when it is inside, if that is later."""
        s = self.shape
        roce, sizes = self.parts[index]
        item = self.begin("line_rate", index, rng, roce=roce)
        item.max_cycles = 1_000_000
        offset, at = [], 0
        for size in sizes:
            offset += [at + due(k, size, roce, s.data_bytes, self.wire) for k in range(FRAMES)]
            at += due(FRAMES, size, roce, s.data_bytes, self.wire) + (s.max_beats if s.saf else 0)
        size_of = np.repeat(np.array(sizes, np.int64), FRAMES)
        for i, o in enumerate(rng.permutation(s.ports).tolist()):
            b = self.batch(item, rng, self.dest(item, rng, np.full(len(size_of), o)), size_of)
            b.cycle = self.start_at + np.array(offset, np.int64)
            item.info["batch"][i] = b
        item.info["line_rate"] = sizes, FRAMES
        return self.finish(item, rng)
