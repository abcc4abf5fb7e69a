# SPDX-License-Identifier: Apache-2.0
"""Directed stimulus of many queues at once, and of queues that halt."""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from tb.common.uvm import PhaseItem
from tb.sq.ports import GPU, HOST, LINES
from tb.sq.scene import Queue, Scene
from tb.sq.stimulus import SqSequence, delays, stalls
from tb.sq.wqes import M16, good, of_blocks


def plain(rng: np.random.Generator, q: Queue) -> None:
    """A WQE of one block and one beat into the ring."""
    q.fill(good(rng, q.pi, q.qpn, WQE.READ, sges=1))


class Schedule(SqSequence):
    """All queues have work all the time: turns by weight, nobody twice before another once (T6)."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, **delays(rng, 60))
        many = self.some(s, 256 if not self.quick else 12)
        if index == 3:
            return self._rare(s, rng)
        weights = (
            rng.integers(0, 6, many).tolist(),
            [5] * many,
            [(1, 16, 100, 255)[i] for i in range(self.some(s, 4))],
        )[index]
        # turns enough for the stretch to be judged, however few the queues
        rounds = 100 if many < 4 else 7 if index == 2 else 30 if many < 64 else 12
        log = 11 if many < 4 or index == 2 else 8 if many < 64 else 6
        for w in weights:
            s.queue(log=log, weight=w, shared=False)
        start = max(q.at for q in s.queues)
        for q in s.queues:
            q.at = 1
            for _ in range(min(q.ring, rounds * max(1, q.ctx.weight))):
                plain(rng, q)
            q.publish()
        for i in rng.permutation(len(s.queues)).tolist():
            q = s.queues[i]
            q.at = start = start + 1
            q.gpu()
        s.facts["backlog"] = 150
        return s.item(f"schedule{index}", mem_ar=1 if index != 1 else 0.7)

    def _rare(self, s: Scene, rng: np.random.Generator) -> PhaseItem:
        """Two queues of great weight never pause; small ones ring now and then and are not kept waiting."""
        big = [s.queue(log=11, weight=255, shared=False) for _ in range(self.some(s, 2) if s.qps > 2 else 1)]
        small = [s.queue(log=6, weight=1, shared=False) for _ in range(self.some(s, 12) - len(big))]
        start = max(q.at for q in s.queues)
        for q in big:
            q.at = 1
            for _ in range(1800 if not self.quick else 600):
                plain(rng, q)
            q.publish()
            q.at = start
            q.gpu()
        bounds = []
        for k in range(24 if not self.quick else 8):
            q = small[k % len(small)]
            q.at = start + 200 + 90 * k
            if q.at > start + (3200 if not self.quick else 900):
                break
            plain(rng, q)
            q.publish()
            q.gpu()
            # its own way, a turn of each big one and one of what else may wait
            pace = 1 + (max(w.rd_latency + w.rd_jitter for w in (s.timing.host, s.timing.gpu)) + 20) / s.tags
            bounds.append((q.at, q.qpn, 40 + int(pace * sum(b.ctx.weight + 8 for b in big)) + 4 * len(small)))
        s.facts["bounds"] = bounds
        return s.item("schedule3")


class Ways(SqSequence):
    """Queues of all kinds at once with answers in any order, small tables of what is under way, each port waiting."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        if index == 4:
            return self._full(rng)
        s = self.scene(rng, host=(200, 100), gpu=(3, 60))
        for _ in range(self.some(s, (24, 8, 3, 40)[index])):
            q = s.queue(log=7, pi0=int(rng.integers(-40, 1)), weight=int(rng.integers(0, 20)))
            for _ in range(10 if not self.quick else 4):
                for _ in range(int(rng.integers(1, 5))):
                    q.fill(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(3))))
                q.publish()
                q.gpu()
                q.at += int(rng.integers(0, 300))
        low = (1, 0.2, 0.3, 0.5)[index]
        return s.item(f"ways{index}", **({} if index == 0 else stalls(rng, low)))

    def _full(self, rng: np.random.Generator) -> PhaseItem:
        """Answers so late that every place of the reorder ring is in use."""
        s = self.scene(rng, host=(700, 80), gpu=(600, 10))
        for _ in range(2):
            q = s.queue(log=11, weight=200)
            for _ in range(700 if not self.quick else 300):
                plain(rng, q)
            q.publish()
            q.gpu()
        return s.item("ways4", mem_ar=0.9)


class Errors(SqSequence):
    """Records beyond the ring, unreadable records and blocks: the error, the halt, the entry written again."""

    phases = 15

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng, **(delays(rng, 40) if index % 2 else {}))
        healthy = [s.queue(log=8, pi0=-5) for _ in range(self.some(s, 3) - 1 if index != 13 else 0)]
        kinds = (*[self._record] * 6, *[self._blocks] * 4, self._no_record, self._cut_short, self._stale,
                 self._alone, self._far)  # fmt: skip
        sick = kinds[index](s, rng, index)
        for q in healthy:  # nobody else is harmed
            for _ in range(20):
                q.post(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(4))), str(rng.choice(["bf", "gpu"])))
                q.at += int(rng.integers(1, 60))
            q.at += 400
            q.publish()
            q.gpu()
        if sick is not None:
            s.watch = sick.entry
            s.facts["rewritten"] = True
            self._heal(s, rng, sick)
        return s.item(f"errors{index}", **(stalls(rng, 0.4) if index in (3, 7) else {}))

    @staticmethod
    def _heal(s: Scene, rng: np.random.Generator, q: Queue) -> None:
        """Stores to the halted queue are refused; a new entry wakes it."""
        q.at += 600
        q.gpu()
        q.blueflame(good(rng, q.pi, q.qpn, WQE.SEND, inline=8))
        q.cpu(good(rng, q.pi, q.qpn, WQE.SEND, inline=8))
        s.final = {"halted": 1, "refused": 3}
        base, dbr = s.area(q.ring, bool(rng.integers(2))), s.record(True)
        q.again(q.at + 100, pi0=int(rng.integers(1 << 16)), sq_base=base, dbr_addr=dbr)
        q.publish(delay=0)
        q.at += 20
        for _ in range(6):
            q.post(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(4))), str(rng.choice(["bf", "gpu", "cpu"])))
            q.at += 200
            q.used = 0

    def _record(self, s: Scene, rng: np.random.Generator, index: int) -> Queue | None:
        """A full ring is legal, one more is not, nor half the index space, nor older than a ring."""
        q = s.queue(log=3, pi0=-3)
        if index == 0:
            for _ in range(8):
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
            q.publish()
            q.gpu()
            return None
        for _ in range(2):
            q.post(of_blocks(rng, q.pi, q.qpn, 2))
            q.at += 300
        q.used = 0
        far = q.pi + (0, 9, 0x8000, -9, -100, 1000)[index]
        if index == 5:  # what is published and on its way still comes
            for _ in range(8):
                q.fill(of_blocks(rng, q.pi, q.qpn, 1))
            q.publish()
            q.gpu()
            q.at += 250
            far = q.pi + 1000
        q.publish(far)
        q.gpu(far)
        q.halted()
        return q

    def _blocks(self, s: Scene, rng: np.random.Generator, index: int) -> Queue:
        """The ring reaches beyond the memory: what lies before comes, then the error; a WQE of several is cut."""
        gpu = bool(index % 2)
        size = 1 if index in (6, 7) else 3
        q = s.queue(log=5, pi0=-32, base=(GPU if gpu else HOST) + 64 * (LINES - 20))
        halt = None
        while (q.pi - q.ctx.pi0) & M16 < 29:
            at = (q.pi - q.ctx.pi0) & M16
            one = of_blocks(rng, q.pi, q.qpn, size)
            if at + one.blocks > 20 and halt is None:
                halt = q.pi
            q.fill(one, expected=halt is None)
        q.publish()
        q.gpu()
        q.halted(halt)
        return q

    def _alone(self, s: Scene, rng: np.random.Generator, _index: int) -> Queue:
        """One queue, all of whose turns are one (T7), halts: it asks for nothing more, and others may use the port."""
        q = s.queue(log=10, pi0=-1024, weight=1, base=GPU + 64 * (LINES - 40), shared=False)
        for i in range(900):
            q.fill(of_blocks(rng, q.pi, q.qpn, 1), expected=i < 40)
        q.publish()
        q.gpu()
        q.halted(q.ctx.pi0 + 40)
        q.used = 0
        return q

    def _far(self, s: Scene, rng: np.random.Generator, _index: int) -> Queue:
        """A ring across a multiple of 2^43, where no memory is: the address's carry goes all the way."""
        q = s.queue(log=4, pi0=14, base=(int(rng.integers(1, 1 << 20)) << 43) - 64 * 14)
        first = q.pi
        for _ in range(2):
            q.fill(of_blocks(rng, q.pi, q.qpn, 1), expected=False)
        q.publish()
        q.gpu()
        q.halted(first)
        return q

    def _no_record(self, s: Scene, rng: np.random.Generator, _index: int) -> Queue:
        """The record lies in no window."""
        q = s.queue(log=4, pi0=7, dbr=0x7000_0000_0000 + 8 * int(rng.integers(8)))
        q.gpu(8)
        q.halted(7)
        return q

    def _stale(self, s: Scene, rng: np.random.Generator, _index: int) -> None:
        """A doorbell promises blocks that cannot be read; the record does not: nothing happens."""
        q = s.queue(log=5, pi0=-32, base=HOST + 64 * (LINES - 20))
        for _ in range(8):
            q.post(of_blocks(rng, q.pi, q.qpn, 2))
            q.at += 200
        q.fill(of_blocks(rng, q.pi, q.qpn, 2))
        q.publish()
        q.gpu(q.pi + 6)
        q.at += 300
        s.final = {"halted": 0}

    def _cut_short(self, s: Scene, rng: np.random.Generator, _index: int) -> Queue:
        """A record goes bad in the middle of a WQE that is published in parts: the error is at its first block."""
        q = s.queue(log=4, pi0=-6)
        q.post(of_blocks(rng, q.pi, q.qpn, 2))
        q.at += 300
        first = q.pi
        q.fill(of_blocks(rng, q.pi, q.qpn, 4), expected=False)
        q.publish(first + 2)
        q.gpu(first + 2)
        q.at += 300
        q.publish(first + 17)
        q.gpu(first + 17)
        q.halted(first)
        return q
