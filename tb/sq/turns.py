# SPDX-License-Identifier: Apache-2.0
"""Reads of a phase by the queue they belong to, off the addresses alone: blocks, records, turns."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from models.spec import spec
from tb.common.uvm import PhaseRecords
from tb.sq.scene import Queue

# cycles from the end of a queue's turn to its next one in T1c, when nobody is before it
BACK_AGAIN = sum(spec().cycles(f"latency.sq.{step}") for step in ("push", "active", "turn", "turn", "turn"))


class Block(NamedTuple):
    """A WQE block read: cycle of AR, number of the queue in the scene, slot in its ring."""

    cycle: int
    queue: int
    slot: int


@dataclass
class Turns:
    """Block reads in order, record reads (cycle, address), and the scene's queues."""

    queues: list[Queue]
    blocks: list[Block]
    records: list[tuple[int, int]]

    def unfair(self, first: int, last: int) -> list[str]:
        """Breaches of T6 between two cycles in which every queue has blocks to ask for."""
        weights = [max(1, q.ctx.weight) for q in self.queues]
        # T7: while the others' turns are shorter than a queue's way back to T1c, whoever has the port keeps it
        spare = any(sum(weights) - w < BACK_AGAIN for w in weights)
        most = [max(w, BACK_AGAIN) if spare else w for w in weights]
        since = [Counter[int]() for _ in weights]  # by queue: blocks of the others since its last one
        run = [0] * len(weights)
        taken = Counter[int]()
        before = -1
        lines: list[str] = []
        for b in self.blocks:
            if not first <= b.cycle <= last:
                continue
            i = b.queue
            if i != before:
                for j, n in since[i].items():
                    if taken[i] and n > most[j]:
                        lines.append(f"queue {i} waited for {n} blocks of queue {j} of weight {weights[j]}")
                since[i].clear()
                run[i] = 0
            run[i] += 1
            if run[i] > most[i] and len(self.queues) > 1:
                lines.append(f"queue {i} of weight {weights[i]} had {run[i]} blocks in a turn, cycle {b.cycle}")
            for j in range(len(weights)):
                if j != i:
                    since[j][i] += 1
            taken[i] += 1
            before = i
        rounds = [taken[i] / weights[i] for i in range(len(weights))]
        if not spare and max(rounds) - min(rounds) > 2:
            lines.append(f"shares by weight differ: {min(rounds):.2f} to {max(rounds):.2f} turns")
        if min(rounds) < 3:
            lines.append(f"the stretch has {min(rounds):.1f} turns of a queue only: nothing was judged")
        return lines[:6]


def turns(phase: PhaseRecords) -> Turns:
    """Made once for a phase."""
    found: Turns | None = phase.item.info.get("turns")
    if found is None:
        queues = phase.item.info["queues"]
        places = [(p, i) for i, q in enumerate(queues) for p in q.places]
        areas = sorted((base, base + 64 * ring, i) for (base, ring, _), i in places)
        starts = [a[0] for a in areas]
        lines = {record & ~63 for (_, _, record), _ in places}
        blocks, records = [], []
        for r in phase.rows["mem_ar.rec"]:
            addr, cycle = int(r["addr"]), int(r["cycle"])
            at = bisect_right(starts, addr) - 1
            if at >= 0 and areas[at][0] <= addr < areas[at][1]:
                blocks.append(Block(cycle, areas[at][2], (addr - areas[at][0]) // 64))
            elif addr in lines:
                records.append((cycle, addr))
        found = Turns(queues, blocks, records)
        phase.item.info["turns"] = found
    return found
