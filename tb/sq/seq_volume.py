# SPDX-License-Identifier: Apache-2.0
"""Rates: BlueFlame one work request a cycle; the fetch by numbers of queues and of producers."""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.sq.rates import paced
from tb.sq.stimulus import SqSequence
from tb.sq.wqes import good

PACE = 200  # cycles between two WQEs of a producer, when nothing holds it up
WEIGHT = 16
BATCH = 4  # WQEs of a queue to a doorbell where many producers share it, as DeepEP's threads do
QUEUES = (1, 16, 256)
PRODUCERS = (1, 32, 1024)
SIZES = {1: 150, 32: 1200, 1024: 4000}  # WQEs of a phase


class BlueFlameRate(SqSequence):
    """A BlueFlame store a cycle of queues that are idle, one or many: a work request a cycle."""

    phases = len(QUEUES)
    count = 4000

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s, count = self.scene(rng), self.count
        many = self.some(s, QUEUES[index])
        queues = [s.queue(log=(count // many).bit_length(), page=i) for i in range(many)]
        start = max(q.at for q in queues)
        for k in range(count):
            q = queues[k % len(queues)]
            q.at = start + k
            one = good(rng, q.pi, q.qpn, WQE.WRITE, inline=int(rng.integers(0, 29)))
            q.fill(one)
            q.blueflame(one)
        s.final = {"blueflame": count, "doorbells": 0}
        s.facts["one_a_cycle"] = count
        s.facts["rate"] = ("blueflame", {"queues": len(queues)})
        return s.item(f"blueflame_rate{index}")


class FetchRate(SqSequence):
    """Producers that post a WQE each so many cycles, over one queue or many: share of R that is used."""

    phases = len(QUEUES) * len(PRODUCERS)
    sizes = SIZES
    near: tuple[int, int] | None = None  # the memory's answers; else those of a PCIe host

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        many, producers = QUEUES[index // len(PRODUCERS)], PRODUCERS[index % len(PRODUCERS)]
        late = [(spec().cycles(f"host.pcie.{n}"), 10) for n in ("read_rtt", "gpu_read_rtt")]
        late = [self.near] * 2 if self.near else late
        s = self.scene(rng, host=late[0], gpu=late[1])
        count = self.sizes[producers]
        many = self.some(s, many)
        queues = [s.queue(log=max(5, (count // many).bit_length()), weight=WEIGHT) for _ in range(many)]
        start = max(q.at for q in queues) + 5
        gap = max(1.0, PACE / producers)
        batch = BATCH if producers > 1 else 1
        waiting = dict.fromkeys(range(len(queues)), 0)
        for k in range(count):
            i = k % len(queues)
            q = queues[i]
            q.at = start + int(k * gap)
            q.fill(good(rng, q.pi, q.qpn, WQE.READ, sges=1))
            waiting[i] += 1
            if waiting[i] == batch or k >= count - len(queues):
                q.publish()
                q.gpu()
                waiting[i] = 0
        s.facts["demand"] = paced(max(late), s.tags, max(q.at for q in queues), count)
        s.facts["shape"] = ("paced", many, producers)
        s.facts["rate"] = ("fetch", {"queues": many, "producers": producers, "weight": WEIGHT})
        return s.item(f"fetch_q{many}_p{producers}")
