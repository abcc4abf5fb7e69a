# SPDX-License-Identifier: Apache-2.0
"""Random stimulus of the send queues: lawful producers of every kind at once, and anything at all."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem
from tb.sq.scene import FULL, HALVES, Queue, ones
from tb.sq.seq_stores import flush
from tb.sq.stimulus import SqSequence, delays, stalls
from tb.sq.wqes import FAULTS, RING_ONLY, bad, good, of_blocks


def near_wrap(rng: np.random.Generator, log: int) -> int:
    """A first index a few blocks before the wrap of index, of half the index space, or of the ring."""
    return int(rng.choice([0, 1 << log, 0x8000])) - int(rng.integers(0, 12))


class RandomProducers(SqSequence):
    """CPUs, GPUs and BlueFlame of every form on many queues, near every wrap, answers in any order, every stall."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        late = delays(rng)
        s = self.scene(rng, **late, rest=1200 + 4 * sum(max(late.values())))
        for _ in range(self.some(s, int(rng.integers(2, 14)))):
            log = int(rng.choice([3, 4, 7, 7, 8, 9, 10]))
            q = s.queue(log=log, pi0=near_wrap(rng, log), weight=int(rng.choice([0, 1, 2, 16, 255])))
            for _ in range(int(rng.integers(4, 24 if not self.quick else 8))):
                self._act(q, rng)
                q.at += int(rng.choice([0, 0, 1, 5, 40, 200]))
            q.publish()
        for _ in range(int(rng.integers(0, 20))):
            s.arm(int(rng.integers(50, 2000)), int(rng.integers(s.pages)), rng.bytes(8))
        flush(s, 1500)
        return s.item(f"random{index}", **({} if index % 3 == 0 else stalls(rng)))

    def _act(self, q: Queue, rng: np.random.Generator) -> None:
        """A batch into the ring, published at once or later, rung in some way or not at all."""
        for _ in range(int(rng.integers(1, 4))):
            fault = str(rng.choice(list(FAULTS)))
            wrong = rng.random() < 0.12 and not (fault == "more than four blocks" and q.ring < 16)
            last = bad(rng, q.pi, q.qpn, fault) if wrong else of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(4)))
            q.fill(last)
        delay = int(rng.integers(1, 200)) if rng.random() < 0.15 else 1
        q.publish(delay=delay)
        half = q.halves[int(rng.integers(len(q.halves)))]
        dice = rng.random()
        carried = last.blocks <= 4 and last.kind not in RING_ONLY
        if dice < 0.25 and carried:
            q.blueflame(last, half=half, skew=int(rng.integers(-4, 5)))
        elif dice < 0.45 and carried:
            order = rng.permutation(16).tolist()
            if rng.random() < 0.7:
                order.sort(key=bool)  # the head first
            lost = []
            if (
                rng.random() < 0.2 and len(q.halves) > 1
            ):  # not used again: what is left there may be joined to a later WQE
                half, lost = q.halves.pop(), [int(rng.integers(16))]
            q.parts(last, int(rng.choice([16, 32, 64])), order, half=half, lost=lost, gap=int(rng.integers(0, 3)))
        elif dice < 0.65:
            q.cpu(good(rng, q.pi - 1, q.qpn, 0), half=half, skew=int(rng.integers(-4, 5)))
        elif dice < 0.95:
            q.gpu(half=half, skew=int(rng.integers(-2, 3)))
        if delay > 1:
            q.at += delay


class Torture(SqSequence):
    """Anything goes: overrun rings, records that jump, stores of rubbish. Only the model says what is right."""

    phases = 12

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        late = delays(rng, 60)
        s = self.scene(rng, **late, rest=1)
        s.lawful = False
        queues = [
            s.queue(
                log=int(rng.integers(0, 6)), pi0=int(rng.integers(-40, 40)), page=int(rng.integers(3)),
                weight=int(rng.choice([0, 1, 3, 16])),
            )
            for _ in range(self.some(s, int(rng.integers(1, 6))))
        ]  # fmt: skip
        at = max(q.at for q in queues)
        for _ in range(160 if not self.quick else 60):
            q = queues[int(rng.integers(len(queues)))]
            q.at = at
            self._anything(q, rng, index)
            at = q.at + int(rng.choice([0, 0, 1, 3, 10, 40, 150]))
        return s.item(f"torture{index}", **stalls(rng, 0.1 + 0.05 * (index % 4)))

    @staticmethod
    def _anything(q: Queue, rng: np.random.Generator, index: int) -> None:
        dice = rng.random()
        half = HALVES[int(rng.integers(3 if rng.random() < 0.7 else 8))]
        q.used = 0
        if dice < 0.45:
            wrong = rng.random() < 0.15
            one = bad(rng, q.pi, q.qpn, str(rng.choice(list(FAULTS)))) if wrong else good(rng, q.pi, q.qpn)
            q.used = -one.blocks
            if one.blocks <= 4 and dice < 0.3:
                q.fill(one)
                q.publish()
                q.blueflame(one, half=half) if dice < 0.15 else q.parts(one, 32, rng.permutation(8).tolist(), half=half)
            else:
                q.post(one, str(rng.choice(["cpu", "gpu"])))
        elif dice < 0.6:
            q.publish(q.pi - int(rng.integers(0, 4)))
        elif dice < 0.62 and index % 2:
            q.publish(int(rng.integers(1 << 16)))
        elif dice < 0.8:
            q.gpu(q.pi + int(rng.integers(-3, 6)), half=half, skew=int(rng.integers(-4, 5)))
        else:
            masks = [(FULL, FULL, 0xFF, 0xF0FF, ones(0x20, 8), ones(8, 56))[int(rng.integers(6))]
                     for _ in range(int(rng.integers(1, 6)))]  # fmt: skip
            masks = masks[:4] if half == HALVES[-1] else masks  # no burst crosses 4 KiB
            raw = (good(rng, q.pi, q.qpn).raw * 5)[: 64 * len(masks)]
            q.store(raw, int(rng.choice([half, half, 0x840, 0x7C0, 0])), masks, skew=int(rng.integers(-6, 7)))
