# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the completion queues at ends that the other sequences do not reach: collapsed queues that may overrun,
the event clock across its 22 bits."""

from __future__ import annotations

import numpy as np

from models.protocol import CQE
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.cq.consumer import M24
from tb.cq.scenario import Scenario

CLOCK = 1 << 22  # cycles of the event clock (E3)


class BoundedCollapsed(PhaseSequence):
    """X4: a collapsed queue without ignore-overrun has the consumer index of a ring of its size: records that move in
    time, that move late, that stand still."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, stall=(None, 0.4, 0.2)[index], read=((10, 0), (40, 30), (100, 0))[index], write=(4, 2))
        queues = [s.queue(i, log=i % 5, collapsed=1) for i in range(12)]
        s.at += 10
        for n in range(50):
            for i, c in enumerate(queues):
                size = 1 << c.log
                if i % 3 == 0:  # at once
                    s.record(c, s.at, c.pi0 + n & M24)
                elif i % 3 == 1 and n % max(1, size // 2) == 0:  # some entries at a time
                    s.record(c, s.at + 1, c.pi0 + n & M24)
                s.complete(c)
                s.at += int(rng.integers(1, (12, 6, 12)[index]))
        item = s.item(f"bounded_collapsed{index}", quiet=800)
        item.info["overruns"] = True
        return item


class ClockWrap(PhaseSequence):
    """E3, E6: arms and entries whose deadlines lie before, at and behind the wrap of the event clock."""

    phases = 1

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng)
        queues = [
            s.queue(i, None, log=6, ignore_overrun=1, mod_count=1000, mod_period=int(rng.integers(50, 900)))
            for i in range(32)
        ]
        s.at = CLOCK - 1500
        for n in range(20):
            for c in queues:
                s.complete(c, opcode=CQE.REQ)
                s.arm(c, c.pi0 + n & M24)
                s.at += int(rng.integers(2, 8))
        item = s.item("clock_wrap", quiet=2000)
        item.max_cycles = CLOCK + 20_000
        return item
