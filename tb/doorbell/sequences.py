# SPDX-License-Identifier: Apache-2.0
"""Directed stimulus of the doorbell: each sequence is one test point of spec/testplan/doorbell.toml."""

from __future__ import annotations

import numpy as np

from models import wqe
from models.protocol import CQE_SYN, WQE, Wr
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.doorbell.ports import LINES
from tb.doorbell.producer import FAULTS, FULL, M16, Producer, bad_wqe, good_wqe

LOC_QP_OP = CQE_SYN.LOC_QP_OP


class Smoke(PhaseSequence):
    """One WQE of each kind by each form, no stall."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, ci0=-6)
        for op in wqe.KNOWN:
            for form in ("bf", "cpu", "gpu"):
                p.post(good_wqe(rng, p.pi, p.cfg.qpn, opcode=op), form)
                p.at += 150
        p.final = {"blueflame": 5, "doorbells": 10, "refused": 0, "halted": 0}
        return p.item("smoke")


class BlueFlame(PhaseSequence):
    """1 to 4 blocks through both halves, back to back; a WQE out of order or early becomes a doorbell."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, ci0=0xFFF0, sq_log=9)
        for gap in (60, 8, 2):
            for size in (0, 12, 28, 29, 44, 60, 92, 93, 100, 156, 157, 220):
                for op in (WQE.WRITE, WQE.SEND) if size else (WQE.WRITE, WQE.SEND, WQE.WRITE_IMM, WQE.SEND_IMM):
                    p.post(good_wqe(rng, p.pi, p.cfg.qpn, size=size, opcode=op), "bf")
                    p.at += gap
            p.at += 600
        # two filled, the second one's store first: it is the record that counts
        for _ in range(4):
            first = p.next_good
            p.fill(first)
            second = p.next_good
            p.fill(second)
            p.publish()
            p.store(second.raw)
            p.at += int(rng.integers(1, 8))
            p.store(first.raw)
            p.at += 400
        density = {} if index == 0 else {"m_wr": 0.3 * index, "uar_b": 0.4}
        return p.item(f"blueflame{index}", **density)


class Inline(PhaseSequence):
    """Every inline size, 0 to the largest, from the ring and by BlueFlame."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, ci0=-300, sq_log=15, latency=30)
        for op in (WQE.SEND, WQE.WRITE_IMM):
            for size in range(wqe.max_inline(op) + 1):
                posted = good_wqe(rng, p.pi, p.cfg.qpn, size=size, opcode=op)
                if index == 1:
                    p.post(posted, "bf")
                    p.at += 6
                else:
                    p.fill(posted)
                    if size % 7 == 6:
                        p.publish()
                        p.ring_cpu(posted)
                        p.at += 40
        p.at += 200
        p.publish()
        p.ring_gpu()
        return p.item(f"inline{index}", m_wr=0.8)


class Wraps(PhaseSequence):
    """Every ring size and start around the wrap of ring and index, WQEs of 1 to 4 blocks at every offset."""

    phases = 30

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        turn, log = divmod(index, 15)
        log += 1
        ring = 1 << log
        p = Producer(rng, sq_log=log, ci0=-1 - turn, latency=20)  # two blocks across the end, then up to it
        for batch in range(24 - 16 * turn):
            for i in range(min(4, max(1, ring // 4))):
                blocks = int(rng.integers(1, min(4, ring) + 1)) if batch or i else 2
                p.fill(
                    good_wqe(
                        rng, p.pi, p.cfg.qpn, size=max(0, 64 * blocks - 20 - int(rng.integers(16))), opcode=WQE.SEND
                    )
                )
            p.publish()
            p.ring_gpu()
            p.at += 150
        return p.item(f"wraps{log}.{turn}")


class Merge(PhaseSequence):
    """Doorbells while the record is being read: every WQE comes, each once, with its own index."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, sq_log=8, ci0=-20, latency=(5, 40, 100, 200)[index], jitter=index * 3)
        for _ in range(40):
            for _ in range(int(rng.integers(1, 3))):
                posted = good_wqe(rng, p.pi, p.cfg.qpn, size=int(rng.integers(90)))
                p.fill(posted)
            p.publish()
            p.ring_cpu(posted) if rng.random() < 0.5 else p.ring_gpu()
            p.at += int(rng.integers(1, (4, 12, 40, 30)[index]))
        # late copies of old doorbells: nothing moves back
        for back in (1, 7, 30, 200):
            p.ring_gpu(p.pi - back)
            p.at += int(rng.integers(2, 60))
        p.at += 500
        p.ring_gpu(p.pi - 3)
        # a producer without the lock writes an older record: nothing moves back, the queue lives on
        p.at += 300
        for back in (1, 5, 256):
            p.publish(p.pi - back)
            p.ring_gpu(p.pi - back)
            p.at += int(rng.integers(2, 400))
        p.at += 300
        for _ in range(3):
            p.post(p.next_good)
        p.final = {"halted": 0}
        return p.item(f"merge{index}")


class RecordBehind(PhaseSequence):
    """The record lags the doorbell, and the blocks in the ring are stale until then."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, sq_log=5, ci0=-9, latency=50)
        behind = 0
        for turn in range(12):
            ahead = (p.pi + int(rng.integers(1, 9))) & M16  # promised before anything is there
            seen = p.pi
            if turn % 3 == 1:
                p.fill(p.next_good)
                p.publish()
                seen = p.pi
            p.ring_gpu(ahead)
            behind += 0 < (ahead - seen) & M16 < 0x8000
            p.at += int(rng.integers(100, 200))
            p.fill(p.next_good)
            p.publish()
            p.ring_gpu()
            p.at += int(rng.integers(150, 250))
        p.final = {"record_behind": behind, "halted": 0}
        return p.item(f"behind{index}", mem_ar=1.0 - 0.2 * index)


class Fence(PhaseSequence):
    """A producer without the fence between WQE and doorbell: the stale block must be seen, with it the WQE."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, sq_log=5, ci0=-2, latency=40)
        assert p.works is not None
        for _ in range(6):
            posted = good_wqe(rng, p.pi, p.cfg.qpn, size=12)
            if index == 0:
                p.publish(p.pi + 1)
                p.ring_gpu(p.pi + 1)
                p.works.append((Wr(wqe_index=p.pi, error=LOC_QP_OP), b""))  # the block still is zero
                p.at += 100
                p.fill(posted, expected=False)
            else:
                p.post(posted)
            p.at += 100
        return p.item(f"fence{index}")


class Beyond(PhaseSequence):
    """The record beyond the ring, unreadable record, unreadable block: error at the consumer index, halt."""

    phases = 9

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        log = 3 if index < 6 else 5
        end = LINES * 64
        base = end - 64 * 20 if index in (6, 7) else None  # blocks 20 and on are in no window
        p = Producer(rng, sq_log=log, ci0=-3 if index < 6 else -32 + 65536 * 0, latency=30, base=base)
        if index == 0:  # a full ring is legal
            for _ in range(1 << log):
                p.fill(good_wqe(rng, p.pi, p.cfg.qpn, size=20, opcode=WQE.SEND))
            p.publish()
            p.ring_gpu()
            p.final = {"halted": 0}
        elif index < 5:  # one more, half the index space, older than a ring ago
            p.post(good_wqe(rng, p.pi, p.cfg.qpn, size=100, opcode=WQE.SEND))
            p.at += 200
            far = (p.pi + ((1 << log) + 1, 0x8000, -(1 << log) - 1, -100)[index - 1]) & M16
            p.publish(far)
            p.ring_gpu(far)
            self._halted(p, p.pi)
        elif index == 5:  # published WQEs still come
            for _ in range(8):
                p.fill(good_wqe(rng, p.pi, p.cfg.qpn, size=12, opcode=WQE.WRITE))
            p.publish()
            p.ring_gpu()
            p.at += 50
            p.publish(p.pi + 100)
            p.ring_gpu()
            self._halted(p, p.pi)
            return p.item("beyond5", m_wr=0.1)
        elif index in (6, 7):  # ring reaches beyond the memory: the blocks before it come, then the error
            size = 20 if index == 6 else 100  # index 7: a WQE of two blocks is cut
            while p.pi != (p.cfg.ci0 + 30) & M16:
                at = (p.pi - p.cfg.ci0) & M16
                posted = good_wqe(rng, p.pi, p.cfg.qpn, size=36 if index == 7 and at == 0 else size, opcode=WQE.SEND)
                p.fill(posted, expected=at + len(posted.raw) // 64 <= 20)
                if index == 7 and at == 27:
                    break
            p.publish()
            p.ring_gpu()
            self._halted(p, p.cfg.ci0 + (20 if index == 6 else 19))
        else:  # record in no window
            p = Producer(rng, sq_log=log, ci0=7, latency=30, dbr=end + 64 * 5 + 8)
            p.store(wqe.gpu_doorbell(8, p.cfg.qpn))
            self._halted(p, 7)
        return p.item(f"beyond{index}")

    @staticmethod
    def _halted(p: Producer, at: int) -> None:
        assert p.works is not None
        p.works.append((Wr(wqe_index=at & M16, error=LOC_QP_OP), b""))
        p.at += 400
        p.ring_gpu()
        p.store(good_wqe(p.rng, p.pi, p.cfg.qpn, size=8).raw)
        p.final = {"halted": 1, "refused": 2}


class Malformed(PhaseSequence):
    """Each fault between good WQEs, from the ring and by BlueFlame."""

    phases = 2 * len(FAULTS)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        fault = list(FAULTS)[index // 2]
        p = Producer(rng, sq_log=8, ci0=-4, latency=30)
        for turn in range(6):
            p.post(p.next_good, "bf" if turn % 2 else "gpu")
            p.at += 100
            bad = bad_wqe(rng, p.pi, p.cfg.qpn, fault)
            if index % 2 == 0 and len(bad.raw) <= 256 and fault != "queue":
                p.post(bad, "bf")
            else:
                p.fill(bad)
                if rng.random() < 0.5:
                    p.fill(p.next_good)
                p.publish()
                p.ring_gpu()
            p.at += 150
        return p.item(f"malformed {fault}{index % 2}")


class Late(PhaseSequence):
    """The blocks of one WQE are published one by one: it waits for its last; too large ones are reported at once."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, sq_log=6, ci0=-5, latency=25)
        for _ in range(8):
            if index == 0:
                posted = good_wqe(rng, p.pi, p.cfg.qpn, size=int(rng.integers(110, 221)), opcode=WQE.WRITE)
            else:
                posted = bad_wqe(rng, p.pi, p.cfg.qpn, "ds beyond four blocks")
            first = p.pi
            p.fill(posted)
            p.at += 2
            for done in range(1, len(posted.raw) // 64 + 1):
                p.publish(first + done)
                p.ring_gpu(first + done)
                p.at += int(rng.integers(5, 90))
                if done == 1:  # a BlueFlame store into an unfinished WQE is a doorbell
                    p.store(good_wqe(rng, first + 1, p.cfg.qpn, size=4).raw)
            p.at += 150
            p.post(p.next_good)
            p.at += 100
        return p.item(f"late{index}")


class Refused(PhaseSequence):
    """Stores that are no doorbells: answered and counted, without effect; torn stores are doorbells."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        p = Producer(rng, sq_log=6, ci0=3, latency=20, enable=0 if index == 2 else 1)
        one = wqe.build(WQE.SEND, p.pi, p.cfg.qpn, inline=rng.bytes(180))
        bell = wqe.doorbell(one)
        alien = wqe.doorbell(wqe.build(WQE.SEND, p.pi, p.cfg.qpn ^ 1 << int(rng.integers(24)), length=4))
        refused = 0
        for offset in (0x000, 0x020, 0x7C0, 0x808, 0x840, 0x880, 0x8FF, 0x901, 0xA00, 0xB00, 0xFC0, 0x801):
            p.store(bell, offset, [FULL])
            p.store(one, offset)
            refused += 2
        for mask in (0, 0x7F, 0xFE, 0xFF00, FULL ^ 1, FULL ^ 0x80, 0xF0):
            p.store(bell, strobes=[mask])
            refused += 1
        p.store(one[:192], strobes=[0xF, FULL, FULL])
        p.store(alien)
        p.store(alien.ljust(64, b"\0"))
        p.store(one + bytes(64))
        p.store(one * 3)
        refused += 5
        p.at += 200
        if index == 2:
            p.ring_gpu()
            p.store(one)
            p.final = {"refused": refused + 2, "doorbells": 0, "blueflame": 0}
            return p.item("disabled")
        # torn BlueFlame stores: what the ring holds counts, not what the store carried
        torn: list[tuple[bytes, list[int]]] = [
            (one, [FULL, FULL, FULL, FULL >> 1]), (one, [FULL, 0, FULL, FULL]), (one, [0xFF, FULL, FULL, FULL]),
            (one[:192], [FULL] * 3), (one[:64], [FULL]), (one[:64], [0xFFFF]), (one[:128], [0xFF, 0]),
        ]  # fmt: skip
        for _, masks in torn:
            posted = good_wqe(rng, p.pi, p.cfg.qpn, size=int(rng.integers(173, 190)), opcode=WQE.SEND)
            p.fill(posted)
            p.publish()
            p.store(posted.raw[: 64 * len(masks)], strobes=masks)
            p.at += 150
        p.final = {"refused": refused, "doorbells": len(torn), "blueflame": 0}
        return p.item(f"refused{index}", uar_b=1.0 if index == 0 else 0.2)
