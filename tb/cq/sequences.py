# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the completion queues: each sequence is one test point of spec/testplan/cq.toml."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem, PhaseSequence
from tb.cq.scenario import KINDS, Scenario, Software


class Smoke(PhaseSequence):
    """One completion of each kind, an arm and its event; nothing stalls."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng)
        c = s.queue(5, log=2)
        s.at += 20
        for op in KINDS:
            s.data()
            s.complete(c, opcode=op)
            s.at += 60
        s.arm(c, c.pi0)
        s.consume()
        s.final = {"written": len(KINDS), "dropped": 0, "refused": 0, "overruns": 0, "events": 1}
        return s.item("smoke")
