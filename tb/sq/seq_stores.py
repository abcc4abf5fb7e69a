# SPDX-License-Identifier: Apache-2.0
"""Directed stimulus of the stores: BlueFlame whole, in parts and torn, the forms that are refused, bindings."""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.sq.scene import FULL, HALVES, Scene, ones
from tb.sq.stimulus import SqSequence, stalls
from tb.sq.wqes import good, of_blocks

SLOTS = spec().integer("sq.bf_slots")
TIMEOUT = spec().cycles("sq.bf_timeout")


def flush(scene: Scene, gap: int = 300) -> None:
    """Every queue's record and doorbell once more, after everything."""
    scene.together(gap)
    for q in scene.queues:
        q.publish()
        q.gpu()


class BlueFlame(SqSequence):
    """Whole WQEs back to back, one queue and many, 1 to 4 blocks, all halves; early and late ones become doorbells."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng)
        n = self.some(s, (1, 16, 64, 4, 2, 3)[index])
        queues = [s.queue(log=10 if n < 8 else 7, pi0=-9, page=i) for i, _ in enumerate(range(n))]
        start = max(q.at for q in queues)
        rounds = (64, 8, 2, 40, 40, 20)[index]
        if index < 3:  # one a cycle: all of them straight on
            stores = []
            for turn in range(rounds):
                for q in queues:
                    q.at = start
                    one = q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                    stores.append((q.page, HALVES[turn % 8], one.raw))
            for q in queues:
                q.publish()
            for k, (page, half, raw) in enumerate(stores):
                s.store(start + 20 + k, page, half, raw)
            s.final = {"blueflame": len(stores), "doorbells": 0, "torn": 0}
            s.facts["one_a_cycle"] = len(stores)
            return s.item(f"blueflame{index}")
        for q in queues:
            for turn in range(rounds):
                one = of_blocks(rng, q.pi, q.qpn, 1 + turn % 4)
                if index == 5 and turn % 2:  # filled two, the second's store first: the record counts
                    first = q.fill(one)
                    second = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + turn % 3))
                    q.publish()
                    q.blueflame(second)
                    q.at += int(rng.integers(1, 90))
                    q.blueflame(first)
                    q.at += int(rng.integers(1, 200))
                    continue
                q.post(one, "bf", half=HALVES[turn % 8])
                q.at += int(rng.integers(0, (3, 12, 100)[index - 3]))
        flush(s)
        return s.item(f"blueflame{index}", **({} if index == 3 else stalls(rng, 0.3)))


class Parts(SqSequence):
    """WQEs in parts of 8 to 64 bytes, several at once: whole again and straight on when the head comes first. In the
    last phase queues share a register, take its halves in turn, whichever of them stores, and each is stored after all
    parts of the one before: heads alone, late parts, parts before their head."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng)
        if index == 5:
            self._shared(s, rng)
            flush(s)
            return s.item("parts5", **stalls(rng, 0.5))
        queues = [s.queue(log=9, pi0=-7, page=i) for i in range(self.some(s, 4))]
        size = (16, 32, 64, 48, (16, 48, 32, 32, 64))[index]
        for turn in range(20 if not self.quick else 6):
            for q in queues[: 1 + turn % len(queues)]:
                one = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(4))))
                q.publish()
                order = rng.permutation(16).tolist()  # those that do not exist are left out
                if turn % 5:
                    order.sort(key=bool)  # the head first
                q.parts(one, size, order, gap=int(rng.integers(0, 3)))
            s.together(int(rng.choice([30, 70, 120])))
        flush(s)
        return s.item(f"parts{index}", **({} if index < 3 else stalls(rng, 0.5)))

    def _shared(self, s: Scene, rng: np.random.Generator) -> None:
        """2 to 4 queues of one page on one register."""
        queues = [s.queue(log=9, pi0=-7 * (i + 1), page=0) for i in range(self.some(s, 4))]
        at = 0
        for turn in range(120 if not self.quick else 24):
            q = queues[int(rng.integers(len(queues)))]
            one = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(4))))
            q.at = max(q.at, at)
            q.publish()
            half = HALVES[turn % 2]
            form = rng.random()
            size = int(rng.choice([8, 16, 32]))
            if form < 0.2:
                q.blueflame(one, half=half)
            elif form < 0.4:  # its head, then long nothing: the rest finds the slot given up
                q.parts(one, 16, [0], half=half)
                q.at += TIMEOUT + int(rng.integers(10))
                q.parts(one, 16, range(1, 16), half=half)
            else:
                order = rng.permutation(32).tolist()
                if form < 0.8:
                    order.sort(key=bool)
                q.parts(one, size, order, half=half)
            at = q.at + int(rng.choice([0, 1, 3, 60]))


class Torn(SqSequence):
    """Parts that never come, time-outs to the cycle, heads over heads, a whole WQE over parts, more keys than slots."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng)
        kinds = (self._lost, self._late, self._over, self._evicted, self._at_once, self._rubbish)
        kinds[index](s, rng)
        flush(s)
        return s.item(f"torn{index}", **({} if index in (0, 1) else stalls(rng, 0.5)))

    def _lost(self, s: Scene, rng: np.random.Generator) -> None:
        """A part is missing: with its head it is a doorbell, without nothing."""
        q = s.queue(log=8, pi0=-30)
        torn = headless = 0
        for turn in range(24):
            one = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + turn % 4))
            q.publish()
            lost = int(rng.integers(0, len(one.raw) // 16))
            q.parts(one, 16, lost=[lost], half=HALVES[turn % 8])
            torn += 1
            headless += lost == 0
            q.at += TIMEOUT + 100
        s.final = {"torn": torn, "doorbells": torn - headless + 1, "blueflame": 0}

    def _late(self, s: Scene, rng: np.random.Generator) -> None:
        """Gaps around the time-out between two parts."""
        q = s.queue(log=8, pi0=-30)
        for gap in range(TIMEOUT - 6, TIMEOUT + 5):
            for first in (0, 1):
                one = q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                q.publish()
                q.parts(one, 32, (first, 1 - first), half=HALVES[int(rng.integers(8))], gap=gap)
                q.at += TIMEOUT + 150

    def _over(self, s: Scene, rng: np.random.Generator) -> None:
        """The same half again before the first WQE is whole."""
        a = s.queue(log=9, pi0=-30)
        b = s.queue(log=9, pi0=-10, page=a.page) if s.qps > 1 else a
        for turn in range(30):
            half = HALVES[int(rng.integers(8))]
            blocks = 1 + turn % 4
            one = a.fill(of_blocks(rng, a.pi, a.qpn, blocks))
            a.publish()
            a.parts(one, 16 if turn % 2 else 64, half=half, lost=[] if turn % 5 == 0 else [int(rng.integers(4))])
            b.at = max(a.at, b.at) + int(rng.choice([0, 1, 5, TIMEOUT - 4]))
            two = b.fill(of_blocks(rng, b.pi, b.qpn, 1 + turn % 3))
            b.publish()
            if turn % 3 == 0:
                b.blueflame(two, half=half)
            elif turn % 3 == 1:
                b.parts(two, 32, half=half)
            else:
                b.gpu(half=half)  # a doorbell between: no business of the slot's
                b.parts(two, 16, half=half)
            a.at = b.at + int(rng.choice([2, 40, 150]))

    def _evicted(self, s: Scene, rng: np.random.Generator) -> None:
        """One half more than there are slots, and two, and many: parts without a slot never meet a later WQE."""
        # a page each: a half belongs to one queue
        queues = [s.queue(log=8, pi0=-30, page=i) for i in range(min(self.some(s, 12), s.pages))]
        keys = [(q, h) for q in queues for h in HALVES]
        for turn in range(16):
            picked = [keys[int(i)] for i in rng.permutation(len(keys))[: SLOTS + 1 + turn % 6]]
            heads, rest = [], []
            at = s.together(int(rng.choice([0, 20, TIMEOUT, TIMEOUT + 150])))
            for q, half in {id(q): (q, h) for q, h in picked}.values():
                one = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(2))))
                q.publish()
                cut = int(rng.choice([16, 32]))
                heads.append((q, half, one, cut))
                rest.append((q, half, one, cut))
            for q, half, one, cut in heads:
                s.store(at := at + 1, q.page, half, one.raw[:cut], [ones(0, cut)])
            for q, half, one, cut in rest:
                for line in range(one.blocks):
                    first = cut if line == 0 else 0
                    data = one.raw[64 * line : 64 * line + 64]
                    mask = ones(first, 64 - first)
                    s.store(at := at + 1, q.page, half + 64 * line + first, data, [mask])
            for q in queues:
                q.at = max(q.at, at + int(rng.choice([10, 100])))

    def _at_once(self, s: Scene, rng: np.random.Generator) -> None:
        """All slots time out in the same cycles as new stores come, one a cycle."""
        queues = [s.queue(log=9, pi0=-30, page=i) for i in range(self.some(s, 8))]
        for turn in range(10):
            at = s.together(40)
            half = HALVES[turn % 8]
            for q in queues[:SLOTS]:
                one = q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                q.publish()
                s.store(at := at + 1, q.page, half, one.raw[:16], [ones(0, 16)])
            due = at + TIMEOUT
            for k in range(14):
                q = queues[k % len(queues)]
                one = q.fill(of_blocks(rng, q.pi, q.qpn, 1))
                q.at = due - 10 + k
                q.publish()
                s.store(due - 7 + k, q.page, HALVES[(turn + 1 + k) % 8], one.raw)
            for q in queues:
                q.at = due + 60

    def _rubbish(self, s: Scene, rng: np.random.Generator) -> None:
        """Parts of bytes here and there, bursts over several halves, doubled parts, two WQEs that make one."""
        s.lawful = False
        queues = [s.queue(log=9, pi0=-30, page=i) for i in range(self.some(s, 5))]
        for turn in range(60):
            q = queues[int(rng.integers(len(queues)))]
            q.at = max(x.at for x in queues)
            one = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + int(rng.integers(4))))
            q.publish()
            dice = turn % 4
            if dice == 0:
                half = HALVES[int(rng.integers(8))]
                q.parts(one, 32, [0, 0, 1, 1, *range(2, 8), 3], half=half)
            elif dice == 1:  # a burst of several lines, perhaps into the next half
                beats = int(rng.integers(1, 8))
                data = (one.raw * 8)[: 64 * beats]
                kinds = (FULL, FULL, 0, ones(16, 48), ones(8, 8), 0xFF)
                masks = [kinds[int(i)] for i in rng.integers(0, len(kinds), beats)]
                q.store(data, 0x800 + 64 * int(rng.integers(0, 32 - beats)), masks)
            elif dice == 2:
                mask = int(rng.integers(1, 1 << 63)) & ~0xFF
                q.store(one.raw[:64], HALVES[int(rng.integers(8))] + 64 * int(rng.integers(4)), [mask])
            else:
                q.blueflame(one)
            q.at += int(rng.choice([0, 0, 3, 30, 200]))


class Binding(SqSequence):
    """Stores that are no doorbells of theirs: answered, counted, without effect; arms; entries rewritten."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        s = self.scene(rng)
        if index == 3:
            return self._rewritten(s, rng)
        q = s.queue(log=8, pi0=-5)
        other = s.queue(log=8, page=q.page + 1)
        off = s.queue(log=8, enable=0, page=q.page) if s.qps > 2 else None
        at = q.at
        refused = 0
        one = good(rng, q.pi, q.qpn, WQE.SEND, inline=30)
        for turn in range(12):
            one = q.fill(of_blocks(rng, q.pi, q.qpn, 1 + turn % 4))
            q.publish()
            q.store(one.raw, HALVES[turn % 8], page=other.page)
            q.store(one.raw[:8], HALVES[turn % 8], [0xFF], page=other.page)
            refused += 1 + (other.page != q.page) * 2 - 1
        strangers = [q.qpn ^ s.qps << int(rng.integers(24 - s.qps.bit_length() + 1)) for _ in range(8)]
        strangers += [int(rng.integers(1 << 24)) for _ in range(0 if s.qps < 4 else 8)]
        strangers += [off.qpn] if off else []
        for number in strangers:
            if number in (q.qpn, other.qpn):
                continue
            q.store(good(rng, q.pi, number, WQE.NOP).raw, HALVES[0])
            q.store(good(rng, q.pi, number, WQE.NOP).raw[:8], HALVES[1], [0xFF])
            refused += 2
        for place in (0, 0x40, 0x20, 0x7C0, 0x400):  # no register is there
            for mask in (0xFF, FULL, 0):
                q.store(one.raw[:64], place, [mask])
                refused += 1
        for mask in (0x7F, 0xFE, 0x0F, FULL ^ 1, FULL ^ 0x80, 0xF0, 1):  # a head in pieces
            q.store(one.raw[:64], HALVES[int(rng.integers(8))], [mask])
            refused += 1
        for mask in (ones(0x20, 7), ones(0x21, 8), ones(0x1F, 8), ones(0x20, 9), ones(0x20, 8) | 1):
            q.store(one.raw[:64], 0, [mask])
            refused += 1
        for line in (1, 5):  # the bytes of an arm in another line
            q.store(one.raw[:64], 64 * line, [ones(0x20, 8)])
            refused += 1
        for _ in range(12):
            s.arm(q.at, int(rng.integers(s.pages)), rng.bytes(8))
            q.at += int(rng.integers(1, 3))
        for turn in range(24):  # back to back, now and then a doorbell between them
            s.arm(q.at, int(rng.integers(s.pages)), rng.bytes(8))
            q.at += 1
            if turn % 5 == 4:
                q.at -= 1
                q.gpu()
                q.at += 1
        # bursts of good and refused beats: one refused is enough
        for half in HALVES:
            q.gpu(half=half)
            q.store(bytes(64), half + 64, [0])
            q.store(bytes(4) + (q.qpn << 8).to_bytes(4, "big") + bytes(56), half, [FULL])
            q.store(q.last.raw[:64] if q.last else b"", half, [0xFFFF if half % 0x200 else ones(0, 12)])
        for masks in ([0, FULL], [FULL, 0xFF], [0xFF, FULL], [FULL, 0], [FULL, FULL, FULL]):
            q.store((one.raw * 4)[: 64 * len(masks)], 0x7C0, masks)
        s.store(q.at + 3, q.page, 0, bytes(128), [ones(0x20, 8), FULL])
        q.at = max(q.at, at) + 200
        flush(s)
        s.final = {"halted": 0}
        if index == 0 and other.page != q.page:
            s.facts["refused_at_least"] = refused
        return s.item(f"binding{index}", **({} if index == 0 else stalls(rng, 0.2)))

    def _rewritten(self, s: Scene, rng: np.random.Generator) -> PhaseItem:
        """An idle queue's entry again: other page, ring, index; stores before it are refused, after it taken."""
        s.facts["rewritten"] = True
        q = s.queue(log=6, pi0=0xFFFA)
        stranger = q.page
        for turn in range(8):
            for _ in range(3):
                q.post(of_blocks(rng, q.pi, q.qpn, 1 + turn % 4), str(rng.choice(["bf", "gpu", "cpu"])))
                q.at += 250
            s.store(q.at + 4, q.page + 1, HALVES[0], q.last.raw if q.last else b"", None)
            q.again(
                q.at + 30, page=(q.page + 1) % s.pages, weight=int(rng.integers(256)), pi0=int(rng.integers(1 << 16))
            )
            q.publish(delay=0)
            s.store(q.at + 6, stranger, HALVES[0], bytes(3) + bytes([0]) + (q.qpn << 8).to_bytes(4, "big"), [0xFF])
            stranger = q.page
            q.at += 20
        return s.item("rewritten")
