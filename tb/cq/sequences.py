# SPDX-License-Identifier: Apache-2.0
"""Directed stimulus of the completion queues: each sequence is one test point of spec/testplan/cq.toml."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.protocol import CQE
from models.spec import spec
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.cq.consumer import M16, M24
from tb.cq.pace import pace
from tb.cq.scenario import KINDS, NO_WINDOW, Scenario, Software

NEAR = (-40, -2, -1, 0, 0, 0, 0, 1, 2, 5, 1 << 22, 1 << 23)  # ci of an arm against the entries so far


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


class Depths(PhaseSequence):
    """Rings of every size that fits the memory, across their end and 2^24; software that polls and that sleeps."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, stall=(None, 0.5, 0.3, 0.2, 0.1)[index], write=(6, index), read=(20, 3 * index))
        queues = []
        for i, log in enumerate((*range(13), 22)):
            few = int(rng.integers(1, 9))
            wrap = (1 << 24) - few if (index + i) % 2 else (int(rng.integers(1, 1 << (24 - log))) << log) - few
            style = Software(
                gap=(2, 12), every=1 + int(rng.integers(1 << min(log, 2))), arms=(0, 1)[(index + i) % 3 == 0]
            )
            queues.append(s.queue(i, style, log=log, pi0=wrap & M24))
        s.at += 10
        for n in range(60):
            for c in queues:
                if n % (1, 3, 6)[(c.log < 5) + (c.log < 2)]:
                    continue  # who posts knows how much room there is
                s.complete(c)
                s.at += int(rng.integers(1, 9 if index < 3 else 20))
            s.data(after=int(rng.integers(1, 30)))
        s.consume()
        s.final = {"written": len(s.s.completions), "dropped": 0, "overruns": 0, "refused": 0}
        return s.item(f"depths{index}")


class Collapsed(PhaseSequence):
    """D3: collapsed queues of every depth, memory preset to ones, counters across 2^16 and indexes across 2^24."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, stall=(None, 0.4, 0.2)[index], write=(4 + 10 * index, 2))
        depths, starts = {}, {}
        queues = []
        for log in range(16):
            c = s.queue(log, log=log, collapsed=1, ignore_overrun=1)
            queues.append(c)
            depths[c.cqn] = 1 << log
            starts[c.cqn] = (0, (1 << 16) - 5, int(rng.integers(1 << 16)))[index]
        s.at += 10
        for i in range(30):
            for c in queues:
                # a fresh queue's counter is that of the ones in memory: its first WQE is number 0
                s.complete(c, opcode=CQE.REQ, wqe_counter=starts[c.cqn] + i & M16)
                s.at += int(rng.integers(1, 4))
        s.final = {"written": 480, "records": 0, "overruns": 0}
        item = s.item(f"collapsed{index}")
        item.info["depths"] = depths
        return item


class Rate(PhaseSequence):
    """A completion a cycle: of one queue, of all in turn, of any; then more writes without B than allowed."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, write=(200 if index < 3 else 700, 0))
        queues = [
            s.queue(i, log=12 if index == 0 else 5, ignore_overrun=int(index > 0))
            for i in range((1, 64, 64, 64)[index])
        ]
        s.at += 10
        for i in range(1500):
            s.complete(queues[i % len(queues)] if index < 2 else queues[int(rng.integers(len(queues)))])
            s.at += 1
        s.final = {"written": 1500}
        item = s.item(f"rate{index}")
        if index < 3:
            item.info["one_a_cycle"] = 1500
        return item


class Barriers(PhaseSequence):
    """D8: data acknowledged late, its number across 2^16; what waits at H holds nobody that could go."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, stall=(None, 0.4, None)[index], done0=(1 << 16) - 1 - int(rng.integers(6)), write=(5, 3))
        queues = [s.queue(i, log=6) for i in range(8)]
        s.at += 10
        for i in range(400):
            if i < 8:  # in time
                s.data(after=5)
                s.at += 30
            elif rng.random() < 0.6:
                s.data(int(rng.integers(1, 4)), after=(10, 150, 400)[index])
            s.complete(queues[int(rng.integers(8))])
            s.at += int(rng.integers(1, (3, 3, 2)[index] + 1))
        s.consume()
        s.final = {"written": 400, "dropped": 0, "overruns": 0}
        return s.item(f"barriers{index}")


class Overrun(PhaseSequence):
    """Full rings: records that help, that do not, that say nonsense, that cannot be read; dead software."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(
            rng, stall=(None, None, 0.3, 0.2)[index], read=((10, 0), (60, 0), (100, 150), (30, 40))[index], write=(4, 2)
        )
        kinds = ("dead", "late", "ahead", "behind", "unreadable", "noise", "ignore", "lives")
        queues = []
        for i in range(16):
            kind = kinds[i % 8]
            log = int(rng.integers(0, 4))
            fields = (
                {"dbr_addr": NO_WINDOW + 8 * i, "pi0": M24}  # zeros would make sense here
                if kind == "unreadable"
                else {"ignore_overrun": 1}
                if kind == "ignore"
                else {}
            )
            style = Software(gap=(1, 4), stops=int(rng.integers(1, 3 << log)) if kind in ("dead", "late") else None)
            queues.append((kind, s.queue(i, style, log=log, **fields)))
        s.at += 10
        for n in range(30):
            for i, (kind, c) in enumerate(queues):
                size = 1 << c.log
                if kind == "ahead" and n == size:
                    s.record(c, s.at - 1, c.pi0 + size + 1 + int(rng.integers(1 << 23)) & M24)
                if kind == "behind" and n == size:
                    s.record(c, s.at - 1, c.pi0 - 1 - int(rng.integers(1 << 22)) & M24)
                if kind == "noise":
                    s.record(c, s.at, c.pi0 + n & M24, noise=int(rng.integers(1, 256)))
                s.complete(c)
                s.at += int(rng.integers(1, (10, 3, 6, 12)[index]))
                if rng.random() < 0.03 and index == 3:
                    s.arm(queues[i][1], c.pi0 + n & M24)
        s.consume(*(i for i, (kind, _) in enumerate(queues) if kind in ("dead", "late", "lives")), end=1500)
        item = s.item(f"overrun{index}")
        item.info["overruns"] = True
        return item


class Lot(PhaseSequence):
    """Many queues wait for their records at once, answered in any order; the lot, H and the FIFO run full."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        read = ((400, 0), (40, 200), (300, 300), (5, 10), (500, 0))[index]
        s = Scenario(rng, stall=(None, None, 0.5, 0.3, None)[index], read=read)
        n = (20, 24, 40, 12, 6)[index]
        most = (0, 2, 3, 1, 4)[index]
        queues = [
            s.queue(i, Software(gap=(1, 6), most=4), log=4 if index == 4 else int(rng.integers(most + 1)))
            for i in range(n)
        ]
        free = s.queue(60, log=12)
        s.at += 10
        for _ in range((4, 10, 8, 20, 12)[index]):
            for c in queues:
                for _ in range((1, 0, 0, 0, 6)[index] or int(rng.integers(1, 4))):
                    s.complete(c)
                    s.at += int(rng.integers(1, (3, 40, 60, 20, 2)[index]))
                    if rng.random() < 0.5 and index < 4:
                        s.complete(free)
                        s.at += 1
        s.consume()
        item = s.item(f"lot{index}")
        item.info["overruns"] = True
        return item


class Events(PhaseSequence):
    """Arms of every kind before and after their entries; moderation by count and time; refused arms; a slow reader."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(
            rng,
            stall=(None, None, 0.2, 0.05, 0.5, 0.3)[index],
            write=((3, 0), (40, 60), (10, 5), (3, 0), (20, 10), (200, 50))[index],
        )
        queues = []
        for i in range(24):
            count, period = ((0, 0), (1, 500), (3, 0), (4, 300), (1000, int(rng.integers(1, 400))), (7, 5))[i % 6]
            c = s.queue(i, log=6, ignore_overrun=1, mod_count=count, mod_period=period, events=int(i != 23))
            queues.append(c)
        counts = [0] * 24
        # armed so far back that the distance to the entries would turn while nothing solicited comes
        old = queues[22]
        s.arm(old, old.pi0 + 3 - (1 << 23) & M24, True)
        for i in range(8):
            s.complete(old, opcode=CQE.REQ, se=int(i == 7))
            s.at += 3
        s.at += 10
        for _ in range(600):
            which = int(rng.choice([*range(22), 23]))
            c, n = queues[which], counts[which]
            if rng.random() < 0.45:
                near = int(rng.choice([*NEAR, 1 - (1 << 23) + int(rng.integers(4))]))
                wrong = rng.random() < 0.08
                s.arm(
                    c,
                    c.pi0 + n + near & M24,
                    rng.random() < 0.4,
                    page=c.page ^ 1 << int(rng.integers(12)) if wrong else None,
                )
            else:
                for _ in range(int(rng.integers(1, 5))):
                    s.complete(
                        c, opcode=CQE.REQ if rng.random() < 0.8 else int(rng.choice(KINDS)), se=int(rng.random() < 0.15)
                    )
                    counts[which] += 1
            s.at += int(rng.integers(1, (12, 12, 4, 2, 30, 12)[index]))
        s.arm(s.s.ctxs[0][2], 0, at=s.at + 50)
        item = s.item(f"events{index}", quiet=1200)
        if index == 3:
            item.ready["m_ev"] = [0] * 300 + [1]
            s.s.ready = item.ready
        return item


class Early(PhaseSequence):
    """Rings whose software keeps up, memory that answers after 40 cycles: a completion a cycle, less one for each
    RECORD, by the rule; rings of 256, of 16 (16 queues), of 4096; then more half full rings than early places."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        log, n, entries = ((8, 1, 3000), (4, 16, 3000), (12, 1, 9000), (3, 64, 1500))[index]
        s = Scenario(rng, write=(6, 0), read=(200 if index == 3 else 40, 0))
        style = Software(gap=(2, 5), most=64, late=(1, 3))
        queues = [s.queue(i, style, log=log) for i in range(n)]
        s.at += 10
        for i in range(entries):
            s.complete(queues[i % n])
            s.at += 1
        s.consume()
        s.final = {"written": entries, "dropped": 0, "overruns": 0, "refused": 0}
        item = s.item(f"early{index}")
        if index < 3:
            # polls are 4 cycles apart at most, the record moves 2 later, and a read sees it the cycle after
            rule = pace(1 << log, n, s.s.timing.host, 4 + 2 + 1)
            assert rule.never_waits
            item.info["pace"] = (entries, n * rule.records(-(-entries // n)))
        return item


class Acked(PhaseSequence):
    """I2 across half of the 16 bits: what is acked waits for room while dma_done goes on by more than 2^15."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        few = int(rng.integers(1, 6))
        s = Scenario(rng, done0=((1 << 16) - few, (1 << 15) - few)[index], write=(5, 3))
        c = s.queue(1, log=12, ignore_overrun=1)
        s.at += 10
        for _ in range(9):  # the last one stays in H
            s.data(after=3)
            s.complete(c)
            s.at += 2
        s.at += 40
        while (s.issued - s.s.done[8][1]) & M16 < (1 << 15) + 3000:
            s.data(int(rng.integers(200, 500)), after=1)
            s.at += 2
        s.s.ready = {"mem_aw": [0] * (s.at + 20) + [1] * 3000}
        s.at += 60
        for _ in range(20):
            s.data(after=int(rng.integers(1, 30)))
            s.complete(c)
            s.at += int(rng.integers(1, 4))
        s.final = {"written": 29}
        return s.item(f"acked{index}")


class ArmStorm(PhaseSequence):
    """An arm every other cycle for a while, the most that is allowed: B go at half rate at least while no visit is due,
    at a quarter while every queue that the scan meets is; nothing is lost, every event comes in time."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, write=(3, 0), queues=int(self.ctx.param("CQS", 64)))
        n = min(8, s.s.queues)
        if index == 4:
            return self._again(s, rng)
        if index >= 2:
            return self._bound(s, rng, index == 3)
        queues = [
            s.queue(i, log=6, ignore_overrun=1, mod_count=3, mod_period=int(rng.integers(1, 60))) for i in range(n)
        ]
        s.at += 10
        for k in range(300):
            c = queues[int(rng.integers(n))]
            s.complete(c)
            if rng.random() < (1.0, 0.7)[index]:
                s.arm(queues[int(rng.integers(n))], c.pi0 + k // 8 - int(rng.integers(4)) & M24, rng.random() < 0.2)
            s.at += 1
        return s.item(f"storm{index}", quiet=600)

    @staticmethod
    def _again(s: Scenario, rng: np.random.Generator) -> PhaseItem:
        """Armed again and again, about when the deadline of the arm before is visited."""
        n = min(4, s.s.queues)
        queues = [
            s.queue(i, log=6, ignore_overrun=1, mod_count=1000, mod_period=int(rng.integers(3, 30))) for i in range(n)
        ]
        s.at += 10
        for c in queues:
            s.complete(c)
        s.at += 60
        for _ in range(600):
            c = queues[int(rng.integers(n))]
            s.arm(c, c.pi0)
            s.at += int(rng.integers(2, 12))
        return s.item("storm_again", quiet=600)

    @staticmethod
    def _bound(s: Scenario, rng: np.random.Generator, visits: bool) -> PhaseItem:
        """All queues armed in turn: events at once, or (``visits``) by their deadline only."""
        n = s.s.queues
        period = 3
        moderation: dict[str, int] = {"mod_count": 1000, "mod_period": period} if visits else {}
        queues = [s.queue(i, None, log=6, ignore_overrun=1, **moderation) for i in range(n)]
        s.at += 10
        for c in queues:
            s.complete(c)
            s.at += 2
        s.at += 60
        for i in range(700):
            if i < 500:
                s.complete(queues[int(rng.integers(n))])
            if i % 2 == 0:
                c = queues[i // 2 % n]
                s.arm(c, c.pi0)
            s.at += 1
        item = s.item(f"storm_bound{int(visits)}", quiet=600)
        late = {name: spec().cycles(f"latency.cq.{name}") for name in spec().section("latency.cq")}
        stages = late["pick"] + late["lookup"]
        # E2 of the arm; its deadline; the scan sees it, and meets all queues, each with a hit that waits 3 cycles
        scan = period + 2 + 4 * n + stages if visits else 0
        item.info["storm"] = (4 if visits else 2, stages + scan + late["event"])
        return item


class BadWrites(PhaseSequence):
    """Rings outside memory: the write fails, the queue goes into error once, an event says so, the rest is dropped."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, stall=(None, 0.3)[index], write=(10, 4))
        queues = []
        for i in range(8):
            base = (1 << 46) - 128 if i == 3 else NO_WINDOW if i % 2 else 0x80000 + 0x1000 * i  # 3: a carry far up
            queues.append(s.queue(i, log=1 if i == 5 else 4, ignore_overrun=int(i != 5), base=base))
        s.at += 10
        for n in range(200):
            c = queues[int(rng.integers(8))]
            s.complete(c)
            if rng.random() < 0.2:
                s.arm(queues[int(rng.integers(8))], c.pi0 + n // 8 & M24)
            s.at += int(rng.integers(1, (12, 3)[index]))
        return s.item(f"bad_writes{index}", checked=False)


class Refused(PhaseSequence):
    """Completions and arms for queues that are not there: number, disabled, never set up; a queue set up again."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = Scenario(rng, stall=(None, 0.3)[index])
        c = s.queue(1, log=3, ignore_overrun=1)
        off = s.queue(2, log=3, enable=0)
        s.at += 10
        good = 0
        for _ in range(60):
            kind = int(rng.integers(4))
            fields = ({}, {"cqn": off.cqn}, {"cqn": c.cqn ^ 1 << int(rng.integers(6, 24))}, {"cqn": 3})[kind]
            s.complete(c, **fields)
            good += not kind
            if kind:
                whom = (c, off, c, replace(c, cqn=c.cqn ^ 1 << 20))[kind]
                s.arm(whom, c.pi0, page=c.page ^ 5 if kind == 2 else None)
            s.at += int(rng.integers(1, 4))
        s.final = {"written": good, "refused": 60 - good}
        s.at += 400
        s.s.ctxs.append((s.at, 1, c))  # anew: index, arm and overrun state are those of a fresh queue
        s.at += 3
        for _ in range(4):
            s.complete(c)
            s.final["written"] += 1
        s.arm(c, c.pi0 + 4)
        return s.item(f"refused{index}", checked=False)
