# SPDX-License-Identifier: Apache-2.0
"""Rates that are demanded (tb/sq/rates.py): BlueFlame one work request a cycle; the fetch bound by the port alone, for
1, 16 and 256 queue pairs, with the work published beforehand and with 1, 32 and 1,024 producers."""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from tb.common.uvm import PhaseItem
from tb.sq.rates import Demand, round_trip
from tb.sq.seq_volume import QUEUES, WEIGHT, BlueFlameRate, FetchRate
from tb.sq.stimulus import SqSequence
from tb.sq.wqes import good

ANSWER = 100  # cycles of a read at the memory
BLUEFLAMES = 512
BLOCKS = 2048  # of a phase


class BlueFlameFull(BlueFlameRate):
    """The same, a few hundred stores."""

    count = BLUEFLAMES

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        item = super().make(index, rng)
        facts = item.info["facts"]
        facts["shape"] = ("blueflame", facts.pop("rate")[1]["queues"])
        return item


class FetchFull(SqSequence):
    """All work is published, a doorbell each: a read a cycle from first to last, but for a lone queue's wait for
    its record."""

    phases = len(QUEUES)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, host=(ANSWER, 0), gpu=(ANSWER, 0))
        many = self.some(s, QUEUES[index])
        each = (BLOCKS if not self.quick else BLOCKS // 4) // many
        queues = [s.queue(log=max(3, each.bit_length()), weight=WEIGHT, shared=False) for _ in range(many)]
        start = max(q.at for q in queues)
        for q in queues:
            q.at = 1
            for _ in range(each):
                q.fill(good(rng, q.pi, q.qpn, WQE.READ, sges=1))
            q.publish()
        for i, q in enumerate(queues):
            q.at = start + i
            q.gpu()
        # the queues' first turns, record and hint's blocks, fill the port until the first record is judged, or do not
        first = sum(1 + min(WEIGHT, each) for _ in queues)
        lag = max(0, round_trip(ANSWER) - first)
        s.facts["demand"] = Demand(ANSWER, s.tags, lag, works=many * each)
        s.facts["shape"] = ("fetch", many)
        return s.item(f"fetch_full{index}")


class FetchPaced(FetchRate):
    """The volume test's producers, fewer WQEs of each."""

    sizes = {1: 12, 32: 300, 1024: 1500}
    near = (ANSWER, 10)
