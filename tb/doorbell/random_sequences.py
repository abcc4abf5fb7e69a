# SPDX-License-Identifier: Apache-2.0
"""Random stimulus of the doorbell: lawful producers, and anything at all."""

from __future__ import annotations

import numpy as np

from models import wqe
from models.protocol import WQE
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.doorbell.producer import FAULTS, FULL, HALVES, Posted, Producer, bad_wqe


class RandomProducers(PhaseSequence):
    """CPU and GPU producers at random, near every wrap, memory delays, stalls on every ready."""

    phases = 9

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        log = (4, 5, 6, 10, 15)[index % 5]
        small = log < 10
        latency, jitter = int(rng.integers(1, 120)), int(rng.integers(0, 20))
        wrap = int(rng.choice([0, 1 << min(log, 15), 0x8000]))
        p = Producer(rng, sq_log=log, ci0=wrap - int(rng.integers(0, 12)), latency=latency, jitter=jitter)
        for _ in range(36):
            room = (1 << log) - 4
            posted = p.next_good
            for _ in range(int(rng.integers(1, 5))):
                posted = (
                    p.next_good if rng.random() < 0.9 else bad_wqe(rng, p.pi, p.cfg.qpn, str(rng.choice(list(FAULTS))))
                )
                room -= len(posted.raw) // 64
                if room < 0:
                    posted = p.next_good
                    break
                p.fill(posted)
            self._ring(p, posted)
            if small:  # the next batch may reuse the slots: this one must be through
                p.at += 600 + 3 * latency
                if rng.random() < 0.3:  # nothing is on its way: the store carries it
                    p.post(p.next_good, "bf")
                    p.at += 200
            elif rng.random() < 0.7:
                p.at += int(rng.integers(0, 2 * latency))
        p.at += 1500
        p.publish()
        p.ring_gpu()
        ready = {"m_wr": 1.0, "mem_ar": 1.0, "uar_b": 1.0} if index % 3 == 0 else {
            "m_wr": rng.uniform(0.25, 1), "mem_ar": rng.uniform(0.3, 1), "uar_b": rng.uniform(0.2, 1)
        }  # fmt: skip
        return p.item(f"random{index}", **ready)

    @staticmethod
    def _ring(p: Producer, last: Posted) -> None:
        rng = p.rng
        if rng.random() < 0.15:  # the record comes later than a doorbell; software rings again
            delay = int(rng.integers(1, 200))
            p.publish(delay=delay)
            p.ring_gpu()
            p.at += delay
        else:
            p.publish()
        if rng.random() < 0.3:
            p.post(p.next_good, "bf")
        elif rng.random() < 0.5:
            p.ring_gpu()
        else:
            head = wqe.doorbell(wqe.build(WQE.NOP, p.pi - 1, p.cfg.qpn))
            p.store(head, skew=int(rng.integers(-4, 5)))


class Torture(PhaseSequence):
    """Anything goes: overrun rings, records that jump, stores of rubbish. Only the model says what is right."""

    phases = 20

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        log = index % 6
        p = Producer(
            rng,
            sq_log=log,
            ci0=int(rng.integers(-40, 40)),
            latency=int(rng.integers(1, 60)),
            jitter=int(rng.integers(6)),
        )
        p.works = None
        for _ in range(60):
            dice = rng.random()
            if dice < 0.45:
                posted = (
                    p.next_good if rng.random() < 0.9 else bad_wqe(rng, p.pi, p.cfg.qpn, str(rng.choice(list(FAULTS))))
                )
                form = str(rng.choice(["bf", "bf", "cpu", "gpu"])) if len(posted.raw) <= 256 else "gpu"
                p.post(posted, form)
            elif dice < 0.6:
                p.publish(p.pi - int(rng.integers(0, 4)))
            elif dice < 0.62 and index % 2:
                p.publish(int(rng.integers(1 << 16)))
            elif dice < 0.8:
                bell = wqe.gpu_doorbell(p.pi + int(rng.integers(-3, 6)), p.cfg.qpn)
                p.store(bell, HALVES[int(rng.integers(2))], skew=int(rng.integers(-4, 5)))
            else:
                masks = [(FULL, FULL, 0xFF, 0xF0FF)[int(rng.integers(4))] for _ in range(int(rng.integers(1, 6)))]
                raw = (p.next_good.raw * 5)[: 64 * len(masks)]
                p.store(raw, int(rng.choice([*HALVES, 0x840])), masks, skew=int(rng.integers(-6, 7)))
            p.at += int(rng.choice([0, 1, 3, 10, 40, 150]))
        return p.item(
            f"torture{index}", m_wr=rng.uniform(0.1, 1), mem_ar=rng.uniform(0.2, 1), uar_b=rng.uniform(0.1, 1)
        )
