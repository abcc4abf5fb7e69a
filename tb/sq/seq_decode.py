# SPDX-License-Identifier: Apache-2.0
"""Directed stimulus: one WQE of each kind by each form, every opcode and payload, every malformation."""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from tb.common.uvm import PhaseItem
from tb.sq.stimulus import SqSequence
from tb.sq.wqes import FAULTS, INLINES, LONGEST, RING_ONLY, bad, good, max_inline, max_sges


class Smoke(SqSequence):
    """One WQE of each kind by each form, no stall."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng)
        q = s.queue(log=6, pi0=-6)
        for op in WQE:
            for form in ("bf", "cpu", "gpu"):
                one = good(rng, q.pi, q.qpn, op, inline=20) if op in INLINES else good(rng, q.pi, q.qpn, op, sges=1)
                q.post(one, form)
                q.at += 150
        s.final = {"doorbells": 18, "blueflame": 9, "refused": 0, "torn": 0, "fetched": 18, "halted": 0}
        return s.item("smoke")


class InlineSizes(SqSequence):
    """Every inline size from 0 to the largest, from the ring and by BlueFlame."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, host=(30, 0))
        for op in (WQE.SEND_IMM, WQE.WRITE):
            q = s.queue(log=11 if index == 0 else 10, pi0=-300, weight=64)
            step = 1 if not self.quick else 9
            for size in range(0, max_inline(op) + 1, step):
                one = q.fill(good(rng, q.pi, q.qpn, op, inline=size))
                if index == 1:
                    q.publish()
                    q.blueflame(one)
                    q.at += 12
                elif size % 7 == 6:
                    q.publish()
                    q.cpu()
                    q.at += 40
            q.publish()
            q.at += 100
            q.gpu()
        return s.item(f"inline{index}", m_wr=0.9 if index == 0 else 1)


class Kinds(SqSequence):
    """Every opcode with every number of data pointers, sums of 2^31, from the ring and by BlueFlame."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng)
        for op in WQE:
            if len(s.queues) == s.qps:
                break
            q = s.queue(log=8, pi0=-20)
            for n in range(max_sges(op) + 1 if op not in (WQE.NOP, WQE.ATOMIC_CS, WQE.ATOMIC_FA) else 8):
                one = q.fill(good(rng, q.pi, q.qpn, op, sges=n))
                q.publish()
                if index == 1:
                    q.blueflame(one)
                    q.at += int(rng.integers(4, 40))
            for counts in ([LONGEST], [LONGEST - 1, 1], [1] * 13 + [LONGEST - 13]):
                if op in (*INLINES, WQE.READ):
                    one = q.fill(good(rng, q.pi, q.qpn, op, sges=len(counts), counts=counts))
            q.publish()
            q.gpu()
        return s.item(f"kinds{index}", m_wr=1 if index else 0.6)


class Malformed(SqSequence):
    """Each fault between good WQEs, from the ring and by BlueFlame: the error comes, the next WQE is unharmed."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, host=(20, 9), gpu=(35, 9))
        for q in [s.queue(log=10, pi0=-40, weight=7) for _ in range(self.some(s, 4))]:
            for fault in rng.permutation(list(FAULTS)).tolist() * 2:
                q.post(good(rng, q.pi, q.qpn), str(rng.choice(["bf", "gpu"])))
                q.at += int(rng.choice([2, 100]))
                wrong = bad(rng, q.pi, q.qpn, fault)
                if index % 2 == 0 and fault not in RING_ONLY:
                    q.at += 120  # nothing is on its way: the store carries it
                    q.post(wrong, "bf")
                else:
                    q.fill(wrong)
                    if rng.random() < 0.5:
                        q.fill(good(rng, q.pi, q.qpn))
                    q.publish()
                    q.gpu()
                q.at += int(rng.choice([2, 150]))
            q.publish()
            q.at += 100
            q.gpu()
        s.final = {"halted": 0, "refused": 0}
        return s.item(f"malformed{index}", m_wr=1 if index < 2 else 0.5)
