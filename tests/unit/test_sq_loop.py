# SPDX-License-Identifier: Apache-2.0
"""The send queues' model in a closed loop at random: every WQE once, in order, whole, whatever producers and memory do.

Producers write WQEs, record and doorbell (whole, split, torn, early, merged, stale); memory answers in any order;
all outputs are stalled at random; indexes start near their wrap.
"""

from __future__ import annotations

import random

import pytest

from models import wqe
from models.kernel import Kernel
from models.protocol import SqWr
from models.sq import Sq
from tests.unit.sq_kit import BF, QPN, Rig, strobes
from tests.unit.test_sq_decode import random_wqe

FIRST_RING, FIRST_RECORD = 1 << 20, 1 << 16
QUIET = 20_000  # the last doorbell comes after that, and after its queue's last WQE


class Producer:
    """One queue: its WQEs at random times, then a last doorbell at QUIET."""

    def __init__(self, rig: Rig, rng: random.Random, qpn: int, page: int, register: int) -> None:
        self.rig, self.rng, self.qpn, self.page = rig, rng, qpn, page
        self.log = rng.randrange(3, 10)
        self.pace = rng.choice(((1, 5, 40, 400), (1, 2, 8), (1, 1, 60)))
        self.lag = rng.choice(((1, 1, 1, 30, 200), (1, 2), (1, 30)))
        self.base = FIRST_RING + (qpn << 16)
        self.dbr = FIRST_RECORD + 8 * qpn
        self.index = rng.choice((0, 0xFFF0, 0xFFFF, 0x7FF8, rng.randrange(1 << 16)))
        rig.put(self.dbr, wqe.record(self.index))
        rig.ctx(
            qpn, pi0=self.index, sq_log=self.log, sq_base=self.base, dbr_addr=self.dbr, page=page,
            weight=rng.choice((0, 1, 2, 3, 8, 255)),
        )  # fmt: skip
        self.expected: list[tuple[SqWr, bytes]] = []
        self.stores: list[tuple[int, list[tuple[bytes, int]], int]] = []
        self.half = 512 * register
        self.free = 0  # as under a lock with its flush: the parts of a WQE do not mix with those of the next
        self._produce()

    def _produce(self) -> None:
        rng, room, cycle = self.rng, 1 << self.log, self.rng.randrange(20, 200)
        while True:
            raw, wr, payload = random_wqe(rng, self.index, self.qpn)
            blocks = len(raw) // 64
            if blocks > room:
                break
            room -= blocks
            self.expected.append((wr, payload))
            for i in range(blocks):
                slot = (self.index + i) % (1 << self.log)
                self.rig.memory.poke(cycle, self.base + 64 * slot, raw[64 * i : 64 * i + 64])
            self.index = (self.index + blocks) & 0xFFFF
            shown = cycle + rng.choice(self.lag)
            self.rig.memory.poke(shown, self.dbr, wqe.record(self.index))
            self._ring(max(cycle, shown - rng.choice((0, 0, 20, 200))) + 1, raw)
            cycle = max(cycle, shown) + rng.choice(self.pace)
        self.stores.append(
            (max(QUIET, cycle + 1000), [(wqe.gpu_doorbell(self.index, self.qpn).ljust(64, b"\0"), 0xFF)], 0)
        )

    def _ring(self, cycle: int, raw: bytes) -> None:
        rng, cycle = self.rng, max(cycle, self.free)
        self.half ^= 256
        half = self.half
        style = rng.choice(("none", "cpu", "gpu", "blueflame", "blueflame", "split", "lines"))
        if style == "cpu":
            self.stores.append((cycle, [(raw[:64], 0xFF)], half))
        elif style == "gpu":
            self.stores.append((cycle, [(wqe.gpu_doorbell(self.index, self.qpn).ljust(64, b"\0"), 0xFF)], half))
        elif style == "blueflame":
            lines = [(raw[i : i + 64], strobes(0, 64)) for i in range(0, len(raw), 64)]
            self.stores.append((cycle, lines, half))
        elif style in ("split", "lines"):
            step = 16 if style == "split" else 64
            cuts = list(range(0, len(raw), step))
            if rng.random() < 0.5:
                rng.shuffle(cuts)
            gap = rng.choice((1, 3))
            for i, at in enumerate(cuts):
                line = at & ~63
                beat = (raw[line : line + 64], strobes(at - line, step))
                self.stores.append((cycle + i * gap, [beat], half + line))
            cycle += gap * len(cuts)
        self.free = cycle + 5


def play(seed: int, late: bool = False) -> tuple[Rig, list[Producer]]:
    """A run; ``late``: the model is ticked after everything that gives it something, not before."""
    rng = random.Random(seed)
    shape = rng.choice(("even", "spread", "windows"))
    more = {"even": lambda _: 0, "spread": lambda n: n * 7919 % 97, "windows": lambda n: n // 50 % 2 * 300}[shape]
    far = [40 + more(n) for n in range(997)]
    pauses = [set(rng.sample(range(256), rng.choice((0, 0, 100, 230)))) for _ in range(3)]
    ready = [lambda now, p=p: now % 256 not in p for p in pauses]
    rig = Rig(tags=rng.choice((16, 64)), latency=lambda n, _: far[n % 997], ar=ready[0], b=ready[1], wr=ready[2])
    if late:
        components, sq = rig.kernel._components, rig.sq
        last = components[-1]
        components[0], components[-1] = last, sq
        sq._number, last._number = last._number, sq._number
    producers = [Producer(rig, rng, QPN + i, i % 8, i // 8) for i in range(rng.choice((1, 3, 12)))]
    for cycle, beats, offset, page in sorted(
        ((c, b, o, p.page) for p in producers for c, b, o in p.stores), key=lambda s: s[0]
    ):
        rig.beats(cycle, beats, BF + offset, page, ident=cycle % 16)
    rig.run(2_000_000)
    return rig, producers


@pytest.mark.parametrize("seed", range(40))
def test_every_wqe_once_in_order_and_whole(seed):
    rig, producers = play(seed)
    seen: dict[int, list[tuple[SqWr, bytes]]] = {p.qpn: [] for p in producers}
    data = b""
    for _, beat in rig.wr.taken:
        data += beat.data
        if beat.last:
            seen[beat.side.qpn].append((beat.side, data))
            data = b""
    for p in producers:
        assert seen[p.qpn] == p.expected
    assert all(r.resp == 0 for _, r in rig.b.taken)
    assert rig.driver and len(rig.b.taken) == len(rig.driver.taken_aw)
    counts = rig.counts()
    total = sum(wr.blocks for p in producers for wr, _ in p.expected)
    direct = total - counts.get("fetched", 0)
    assert counts.get("blueflame", 0) <= direct <= 4 * counts.get("blueflame", 0)
    reads = len([a for _, a in rig.reads() if a >= FIRST_RING])
    assert reads == counts.get("fetched", 0) + counts.get("discarded", 0)
    assert not any(queue.busy for queue in rig.sq._table)
    for (c0, _), (c1, _) in zip(rig.ar.taken, rig.ar.taken[1:], strict=False):
        assert c0 < c1


@pytest.mark.parametrize("seed", range(12))
def test_the_order_inside_a_cycle_does_not_matter(seed):
    (a, _), (b, _) = play(seed), play(seed, late=True)
    for one, other in ((a.ar, b.ar), (a.b, b.b), (a.wr, b.wr)):
        assert one.taken == other.taken
    assert a.sq.changes == b.sq.changes
    assert a.driver and b.driver and a.driver.taken_w == b.driver.taken_w


def test_sleeps_when_there_is_nothing_to_do():
    kernel = Kernel()
    ticks = []

    class Watched(Sq):
        def tick(self, now: int) -> None:
            ticks.append(now)
            super().tick(now)

    sq = Watched(kernel, "sq")
    sq.aw(0, 0, 0)
    kernel.run()
    assert len(ticks) < 4
    sq.w(kernel.now + 1, bytes(64), strobes(0x20, 8), True)
    kernel.run()
    assert len(ticks) < 12
    assert len(sq.arms) == 1
