# SPDX-License-Identifier: Apache-2.0
"""How often a ring's record is read and whether its completions ever wait: the rule under "Latency" of docs/cq.md."""

from __future__ import annotations

from dataclasses import dataclass

from models.memory import WindowTiming
from models.spec import spec


@dataclass(frozen=True)
class Pace:
    """``ring`` entries, a completion of the queue every ``n`` cycles, ``d`` cycles from a write's C2 until the record
    in memory counts it, ``r`` from there to the C2 of the RECORD that it asked for."""

    ring: int
    n: int
    d: int
    r: int

    @property
    def unread(self) -> int:
        """Entries beyond a record when its RECORD is there, at most."""
        return -(-(self.r + self.d) // self.n)

    @property
    def never_waits(self) -> bool:
        """No completion finds the ring full."""
        return max(self.ring // 2, self.unread + 1) + -(-self.r // self.n) <= self.ring

    def records(self, entries: int) -> int:
        """Reads of the record for so many entries of the queue, at most."""
        return -(-entries // max(1, self.ring // 2 - self.unread))


def pace(ring: int, n: int, memory: WindowTiming, software: int) -> Pace:
    """With that memory (no jitter) and software that moves the record within ``software`` cycles of an entry."""
    late = {name: spec().cycles(f"latency.cq.{name}") for name in spec().section("latency.cq")}
    d = late["index"] + late["form"] + memory.wr_visible + software
    r = late["index"] + memory.rd_latency + late["record"] + late["fifo"] + late["pick"] + late["lookup"]
    return Pace(ring, n, d, r)
