# SPDX-License-Identifier: Apache-2.0
"""Directed stimulus of ring, index and doorbell record: wraps, merged and old doorbells, records behind, parts."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem
from tb.sq.scene import Queue
from tb.sq.stimulus import SqSequence, delays, stalls
from tb.sq.wqes import M16, bad, good, of_blocks


class Wraps(SqSequence):
    """Every ring size, first indexes around the wrap of ring and index, WQEs of 1 to 4 blocks at every offset."""

    phases = 16

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        ring = 1 << index
        s = self.scene(rng, host=(20, 0), gpu=(9, 0))
        rounds = 24 if index < 6 else 8
        # two blocks across the end of ring and index, up to it, and around half of the index space
        for i in range(self.some(s, 3 if index < 15 else 2)):
            q = s.queue(log=index, pi0=(-1, -2, 0x8000 - 1)[i], weight=int(rng.integers(1, 9)), gpu=bool(i % 2))
            for batch in range(rounds if not self.quick else 6):
                for k in range(min(4, max(1, ring // 4))):
                    blocks = int(rng.integers(1, min(4, ring) + 1)) if batch or k else min(2, ring)
                    q.fill(of_blocks(rng, q.pi, q.qpn, blocks))
                q.publish()
                q.gpu() if rng.random() < 0.5 else q.cpu()
                q.at += 250
                q.used = 0
        return s.item(f"wraps{index}", m_wr=1 if index % 2 else 0.8)


class Merge(SqSequence):
    """Doorbells while the record is being read, late copies of old ones, older records: each WQE once, in order."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        late = (5, 40, 100, 200)[index]
        s = self.scene(rng, host=(late, index * 3), gpu=(late // 2 + 1, index))
        for i in range(self.some(s, 3)):
            q = s.queue(log=8, pi0=-20 * i, weight=(16, 1, 200)[i], shared=False)
            for _ in range(40):
                for _ in range(int(rng.integers(1, 3))):
                    q.fill(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(2))))
                q.publish()
                q.cpu() if rng.random() < 0.5 else q.gpu()
                q.at += int(rng.integers(1, (4, 12, 40, 30)[index]))
            for back in (1, 7, 30, 200):  # late copies of old doorbells
                q.gpu(q.pi - back)
                q.at += int(rng.integers(2, 60))
            q.at += 500
            q.gpu(q.pi - 3)
            q.at += 300
            for back in (1, 5, 256):  # a producer without the lock writes an older record
                q.publish(q.pi - back)
                q.gpu(q.pi - back)
                q.at += int(rng.integers(2, 500))
            q.at += 400
            q.used = 0
            for _ in range(3):
                q.post(good(rng, q.pi, q.qpn))
        s.final = {"halted": 0, "refused": 0}
        return s.item(f"merge{index}", **(stalls(rng, 0.4) if index > 1 else {}))


class Older(SqSequence):
    """D2, D5: a record that is older than the one seen, but not yet taken, while much is on its way."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, host=(20, 0), gpu=(20, 0))
        q = s.queue(log=10, pi0=-100, weight=(4, 64)[index], shared=False)
        for _ in range(24 if not self.quick else 8):
            for _ in range(24):
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
            q.publish()
            q.gpu()
            q.at += int(rng.integers(35, 60))
            q.publish(q.pi - int(rng.integers(1, 20)))
            q.gpu()
            q.at += int(rng.integers(5, 90))
            q.publish()
            q.gpu()
            q.at += 400
        s.final = {"halted": 0}
        return s.item(f"older{index}", m_wr=0.2)


def caught_up(q: Queue, after: int) -> None:
    """The record shows all that is in the ring, and a doorbell says so."""
    q.at += after
    q.publish()
    q.gpu()


class Behind(SqSequence):
    """The record lags the doorbell, and the blocks in the ring are stale until then; 4 on: doorbells in quick
    succession that run ahead of it, turns that find the record of another still on its way."""

    phases = 7

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        if index >= 4:
            return self._busy(rng, index)
        s = self.scene(rng, host=(50, 0), gpu=(30, 0))
        behind = 0
        for i in range(self.some(s, 2)):
            q = s.queue(log=5, pi0=-9 - i, weight=(1, 3, 16, 255)[index], shared=False)
            for turn in range(12):
                ahead = (q.pi + int(rng.integers(1, 9))) & M16  # promised before anything is there
                seen = q.pi
                if turn % 3 == 1:
                    q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                    q.publish()
                    seen = q.pi
                q.gpu(ahead)
                behind += 0 < (ahead - seen) & M16 < 0x8000
                q.at += int(rng.integers(150, 250))
                q.fill(of_blocks(rng, q.pi, q.qpn, 1 + turn % 4))
                q.publish()
                q.gpu()
                q.at += int(rng.integers(200, 300))
                q.used = 0
        s.final = {"record_behind": behind, "halted": 0}
        return s.item(f"behind{index}", mem_ar=1.0 - 0.2 * index)

    def _busy(self, rng: np.random.Generator, index: int) -> PhaseItem:
        s = self.scene(rng, host=(90, 60), gpu=(40, 90))
        for i in range(self.some(s, (1, 4, 12)[index - 4])):
            q = s.queue(log=9, pi0=-20 - i, weight=(2, 3, 5, 9)[i % 4], shared=False)
            for turn in range(100 if not self.quick else 40):
                for _ in range(int(rng.integers(0, 9))):
                    q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                if rng.random() < 0.6:
                    q.publish()
                q.gpu()
                q.at += int(rng.integers(2, (30, 60, 120)[index - 4]))
                if turn % 20 == 19:
                    caught_up(q, 800)
                    q.at += 900
                    q.used = 0
            caught_up(q, 800)
        s.final = {"halted": 0}
        return s.item(f"behind{index}", mem_ar=(1.0, 0.7, 1.0)[index - 4])


class Late(SqSequence):
    """The blocks of one WQE are published one by one: it waits for its last; too large ones are reported at once."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, host=(25, 0), gpu=(12, 0))
        for i in range(self.some(s, 4)):
            q = s.queue(log=6, pi0=-5, weight=1 + 15 * i, shared=False)
            for _ in range(8):
                first = q.pi
                one = (
                    of_blocks(rng, q.pi, q.qpn, int(rng.integers(2, 5))) if index == 0
                    else bad(rng, q.pi, q.qpn, "more than four blocks")
                )  # fmt: skip
                q.fill(one)
                q.at += 2
                for done in range(1, one.blocks + 1):
                    q.publish(first + done)
                    q.gpu(first + done)
                    q.at += int(rng.integers(5, 120))
                    if done == 1:  # a BlueFlame store into an unfinished WQE is a doorbell
                        q.blueflame(good(rng, first + 1, q.qpn, inline=4, op=0x0A))
                q.at += 200
                q.used = 0
                q.post(of_blocks(rng, q.pi, q.qpn, 1), str(rng.choice(["bf", "gpu"])))
                q.at += 150
        return s.item(f"late{index}")


class Fence(SqSequence):
    """D1: a producer without the fence between WQE and doorbell: the stale block is seen, with the fence the WQE."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, **delays(rng, 40))
        q = s.queue(log=5, pi0=-2)
        for _ in range(6):
            one = good(rng, q.pi, q.qpn, 0x0A, inline=12)
            if index == 0:
                q.publish(q.pi + 1)
                q.gpu(q.pi + 1)
                q.at += 150
                q.fill(one, expected=False)  # too late: the block still was zero
                stale = bad(rng, q.pi - 1, q.qpn, "ds zero").wr
                stale.opcode = 0
                q.works.append((stale, b""))
            else:
                q.post(one)
            q.at += 150
        return s.item(f"fence{index}")


class Edges(SqSequence):
    """A doorbell in every cycle of another's way, from its store to the idle queue: it is never lost; a BlueFlame store
    while the queue's last WQE waits for the decoder: it does not overtake."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        if index == 5:
            return self._between(rng)
        s = self.scene(rng, host=(8, 0), gpu=(8, 0))
        if index == 4:
            q = s.queue(log=11, weight=64)
            for gap in range(40, 420, 9 if not self.quick else 40):
                for _ in range(8):
                    q.fill(good(rng, q.pi, q.qpn, 0x08, inline=200))
                q.publish()
                q.gpu()
                q.at += gap
                for _ in range(2):
                    q.post(of_blocks(rng, q.pi, q.qpn, 1), "bf")
                q.at += 500
            return s.item("edges4", m_wr=0.12)
        q = s.queue(log=11, weight=(16, 1, 2, 16)[index])
        ahead = (0, 0, 0, 2)[index]  # blocks that the first doorbell does not promise: a turn of their own
        for gap in range(90 if not self.quick else 30):
            for _ in range(1 + index % 3 + ahead):
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
            q.publish()
            q.gpu(q.pi - ahead)
            q.at += gap
            for wait in (12, 130):  # the next one while that one's turn is under way
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                q.publish()
                q.gpu()
                q.at += wait
        s.final = {"doorbells": 3 * (90 if not self.quick else 30), "halted": 0}
        return s.item(f"edges{index}")

    def _between(self, rng: np.random.Generator) -> PhaseItem:
        """A doorbell between another's hint and its record, at every distance."""
        s = self.scene(rng, host=(34, 0), gpu=(34, 0))
        q = s.queue(log=11, pi0=-50, weight=2)
        for trial in range(64 if not self.quick else 12):
            first = q.pi
            for _ in range(16):
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
            q.publish(delay=0)
            start = q.at
            q.gpu(first + 1)
            for _ in range(4):
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
            q.publish(delay=110 + trial % 5)
            q.at = start + 48 + trial % 8
            q.gpu(first + 16)
            q.at = start + 76 + trial // 8
            q.gpu()
            q.at += 300
            q.gpu()
            q.at += 200
        s.final = {"halted": 0}
        return s.item("edges5")


class Held(SqSequence):
    """T2: turns that find the record still on its way and more asked for than is published: they wait, and what was
    asked for is not asked for again. Rare: four scenes that a search of 1,800 on the model found."""

    phases = 4
    SCENES = ((94, 13, 23, 6, 4, 21, 144, 4), (1526, 20, 8, 4, 4, 12, 62, 3), (2771, 23, 9, 5, 4, 10, 176, 3),
              (1644, 10, 26, 5, 4, 41, 177, 5))  # fmt: skip

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        seed, latency, jitter, queues, weight, gap, lag, most = self.SCENES[index]
        own = np.random.default_rng(seed)
        own.integers(1 << 16, size=7)  # the search drew as many before it made the scene
        s = self.scene(own, host=(latency, jitter), gpu=(latency, jitter))
        for _ in range(self.some(s, queues)):
            q = s.queue(log=9, pi0=-20, weight=weight, shared=False)
            for turn in range(60):
                for _ in range(int(own.integers(1, most + 1))):
                    q.fill(of_blocks(own, q.pi, q.qpn, 1))
                q.publish(delay=int(own.integers(0, lag + 1)))
                q.gpu((q.pi - int(own.integers(0, 3))) & M16)
                q.at += int(own.integers(1, gap + 1))
                if turn % 20 == 19:
                    caught_up(q, 1500)
                    q.at += 1500
                    q.used = 0
            caught_up(q, 800)
        s.final = {"halted": 0}
        return s.item(f"held{index}")


class NullTurns(SqSequence):
    """D7, C5: a turn with nothing to ask for begins while the last item of the turn before goes to D2: the queue
    is not idle until it is done. Drawn from seeds that a search on the model found: chance meets it once in some
    hundred thousand items."""

    phases = 2
    seeds = (279, 34)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        rng = np.random.default_rng(self.seeds[index])
        late = [int(rng.integers(1, 24)) for _ in range(2)]
        s = self.scene(rng, host=(late[0], 0), gpu=(late[1], 0))
        queues = [s.queue(log=11, weight=int(rng.integers(1, 4)), shared=False) for _ in range(min(3, s.qps))]
        s.watch = queues[0].entry
        start = max(q.at for q in queues)
        for _ in range(40):
            for q in queues:
                q.at = start + int(rng.integers(0, 12))
                for _ in range(int(rng.integers(1, 6))):
                    q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                q.publish(delay=0)
                for _ in range(int(rng.integers(2, 8))):
                    q.gpu(q.pi - int(rng.integers(0, 6)))
                    q.at += int(rng.integers(0, 12))
            start = max(q.at for q in queues) + 150
        return s.item(f"null{index}", m_wr=(0.1, 0.2, 0.4)[int(rng.integers(3))])
