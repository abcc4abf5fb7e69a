# SPDX-License-Identifier: Apache-2.0
"""Doorbells and turns of the send queues (docs/sq.md, B4, A1, T0 to T6): who asks, when, for what; cycles by hand.

A doorbell in P3 at *c* is in its source at c + 1, active at c + 2, T1a to T1c c + 3 to c + 5, its record is issued in
c + 6 and at AR in c + 7. R at *c*: D0 c + 1, D1 c + 2, D2 c + 3, D3 c + 4; pushed from D3 it is at AR 7 later.
"""

from __future__ import annotations

import pytest

from models import sq_wqe, wqe
from models.protocol import WQE
from tests.unit.sq_kit import BASE, DBR, LATENCY, QPN, Rig, record

RECORD_LINE = DBR & ~63


def sends(count: int, first: int = 0, qpn: int = QPN):
    """``count`` WQEs of a block each; the length tells the index."""
    return [
        sq_wqe.build(WQE.SEND, first + i, qpn, sges=[(1 + (first + i & 0xFFFF), 1, 64 * i)]) for i in range(count)
    ]  # fmt: skip


def image(count: int, first: int = 0, sq_log: int = 4, published: int | None = None):
    shown = first + count if published is None else published
    return {**sq_wqe.ring_image(sends(count, first), BASE, sq_log), **record(shown)}


def blocks(rig: Rig):
    """Block reads: (cycle, slot)."""
    return [(cycle, (addr - BASE) // 64) for cycle, addr in rig.reads() if addr != RECORD_LINE]


def records(rig: Rig):
    return [cycle for cycle, addr in rig.reads() if addr == RECORD_LINE]


def indexes(out):
    return [wr.wqe_index for _, wr, _ in out]


def test_doorbell_reads_record_and_blocks_at_once():
    rig = Rig(image(3))
    rig.ctx()
    rig.store(10, wqe.doorbell(sends(3)[2]))
    out = rig.run()
    assert records(rig) == [21]
    assert blocks(rig) == [(22, 0), (23, 1), (24, 2)]
    assert [r.id for _, r in rig.ar.taken] == [0, 1, 2, 3]
    assert [c for c, _, _ in out] == [22 + LATENCY + 8 + k for k in range(3)]
    assert [wr.length for _, wr, _ in out] == [1, 2, 3]
    assert rig.counts() == {"doorbells": 1, "fetched": 3}


@pytest.mark.parametrize("sq_log", range(16))
def test_rings_of_every_size_wrap_with_the_index(sq_log):
    first, count = 0xFFFE, min(4, 1 << sq_log)
    rig = Rig(image(count, first, sq_log))
    rig.ctx(sq_log=sq_log, pi0=first)
    rig.store(10, wqe.gpu_doorbell(first + count, QPN))
    assert indexes(rig.run()) == [(first + i) & 0xFFFF for i in range(count)]
    assert blocks(rig) == [(22 + i, (first + i) & ((1 << sq_log) - 1)) for i in range(count)]


def test_ring_base_at_the_end_of_the_address_space():
    rig = Rig(record(2))
    rig.ctx(sq_base=(1 << 64) - 64)
    rig.store(10, wqe.gpu_doorbell(2, QPN))
    rig.run()
    assert rig.reads()[1:3] == [(22, (1 << 64) - 64), (23, 0)]


def test_full_rings_of_all_indexes_come_out_once():
    rig = Rig(image(32, sq_log=15), tags=256)
    rig.ctx(sq_log=15, weight=255)
    rig.store(10, wqe.gpu_doorbell(32, QPN))
    assert indexes(rig.run()) == list(range(32))
    assert [c for c, _ in blocks(rig)] == list(range(22, 54))


@pytest.mark.parametrize(("hint", "ahead"), [(0, 0), (16, 8), (17, 0), (0x8000, 0), (0xFFFF, 0)])
def test_hint_outside_the_ring_is_not_believed(hint, ahead):
    rig = Rig(image(1))
    rig.ctx(weight=8)
    rig.store(10, wqe.gpu_doorbell(hint, QPN))
    rig.run(3000)
    assert records(rig) == [21]
    before = [slot for c, slot in blocks(rig) if c < 100]
    assert before == list(range(ahead))


# -- merging --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p3", list(range(15, 30)) + list(range(118, 136)))
def test_second_doorbell_at_every_cycle(p3):
    # first: P3 14, T1c hands over in 19, record at AR 21, its R 121, D3 125; block R 122, D3 126: idle from 127 on
    rig = Rig(image(2, published=1))
    rig.ctx()
    rig.memory.poke(60, DBR, wqe.record(1))
    rig.store(10, wqe.gpu_doorbell(1, QPN))
    rig.store(p3 - 4, wqe.gpu_doorbell(1, QPN))
    rig.run()
    if p3 < 19:
        expected = [21]
    elif p3 <= 125:
        expected = [21, 132]
    else:
        expected = [21, p3 + 7]
    assert records(rig) == expected
    assert rig.counts() == {"doorbells": 2, "fetched": 1}


def test_doorbell_in_the_cycle_of_the_end_of_a_turn():
    # weight 2, three blocks: turn 1 asks 2 (issued 20..22), turn 2 from D3 125 on: issued in 131, its only item
    for p3, again in ((130, 132 + 6), (131, 138), (132, 139), (133, 140)):
        rig = Rig(image(3))
        rig.ctx(weight=2)
        rig.store(10, wqe.gpu_doorbell(3, QPN))
        rig.store(p3 - 4, wqe.gpu_doorbell(3, QPN))
        rig.run()
        assert blocks(rig) == [(22, 0), (23, 1), (132, 2)]
        # T5 in 131 with rung or B4: issued 6 later; from 132 on by the doorbell itself
        assert records(rig) == [21, again]


def test_the_furthest_hint_stays():
    # the second and third merge: the older one does not move the hint back, a later one does ahead
    for hints in ((3, 1), (1, 3), (3, 3)):
        rig = Rig(image(3))
        rig.ctx()
        for i, hint in enumerate(hints):
            rig.store(10 + i, wqe.gpu_doorbell(hint, QPN))
        rig.run()
        assert records(rig) == [21]
        assert [c for c, _ in blocks(rig)] == [22, 23, 24]
    rig = Rig(image(3, first=0xFFFE))
    rig.ctx(pi0=0xFFFE)
    rig.store(10, wqe.gpu_doorbell(0x10001, QPN))
    rig.store(11, wqe.gpu_doorbell(0xFFFF, QPN))
    assert indexes(rig.run()) == [0xFFFE, 0xFFFF, 0]
    assert records(rig) == [21]


def test_a_doorbell_of_half_a_circle_ahead_does_not_move_the_hint():
    rig = Rig(image(3))
    rig.ctx()
    rig.store(10, wqe.gpu_doorbell(3, QPN))
    rig.store(11, wqe.gpu_doorbell(3 + 0x8000, QPN))
    rig.run()
    assert [c for c, _ in blocks(rig)] == [22, 23, 24]
    rig = Rig(image(3))
    rig.ctx(sq_log=15)
    rig.store(10, wqe.gpu_doorbell(3, QPN))
    rig.store(11, wqe.gpu_doorbell(2 + 0x8000, QPN))  # a distance of 2^15 - 1 does; beyond the ring: not believed
    rig.run()
    assert [c for c, _ in blocks(rig)] == [132, 133, 134]


def test_a_hint_that_was_asked_for_is_forgotten():
    rig = Rig(image(3, published=2))
    rig.ctx()
    rig.store(10, wqe.gpu_doorbell(5, QPN))
    rig.memory.poke(200, DBR, wqe.record(3))
    rig.store(300, wqe.gpu_doorbell(3, QPN))  # behind the hint of before, which nobody stands for any more
    assert indexes(rig.run()) == [0, 1, 2]
    assert blocks(rig) == [(22, 0), (23, 1), (24, 2), (25, 3), (26, 4), (312, 2)]


# -- turns ----------------------------------------------------------------------------------------


FAR = 0x100000  # rings of several queues, 0x8000 each


def several(weights, counts, **kwargs):
    """Queue pairs 1, 2, ..: their rings from FAR on, their records in lines from DBR on."""
    lines = {}
    for i, count in enumerate(counts):
        lines |= sq_wqe.ring_image(sends(count, qpn=1 + i), FAR + 0x8000 * i, 8)
        lines[DBR + 64 * i] = wqe.record(count)
    rig = Rig(lines, **kwargs)
    for i, weight in enumerate(weights):
        rig.ctx(1 + i, weight=weight, sq_base=FAR + 0x8000 * i, sq_log=8, dbr_addr=DBR + 64 * i)
        rig.store(10 + i, wqe.gpu_doorbell(counts[i], 1 + i))
    return rig


def test_two_queues_by_hand():
    rig = several((2, 1), (6, 3))
    rig.run()
    names = {RECORD_LINE: "r1", RECORD_LINE + 64: "r2"}
    seen = [(c, names.get(a) or (1 + (a - FAR) // 0x8000, a % 0x8000 // 64)) for c, a in rig.reads()]
    assert seen == [
        (21, "r1"), (22, (1, 0)), (23, (1, 1)), (24, "r2"), (25, (2, 0)),
        (132, (1, 2)), (133, (1, 3)),  # record's R 121, D3 125
        (134, (1, 4)),  # in 132 nobody is in T1c: it goes on
        (135, (2, 1)),  # R 124, D3 128: in T1c in 133
        (136, (2, 2)),  # goes on: queue 1, again in 133, is in T1c in 138
        (140, (1, 5)),
    ]  # fmt: skip


def test_weights_share_the_reads():
    rig = several((1, 2, 4, 0, 3), (200,) * 5, tags=512, latency=20)
    rig.run()
    window = [1 + (a - FAR) // 0x8000 for c, a in rig.reads() if 100 <= c < 320 and a >= FAR]
    # a round of 1 + 2 + 4 + 1 + 3 = 11 blocks: 20 rounds, a block every cycle
    assert len(window) == 220
    assert [window.count(1 + i) for i in range(5)] == [20, 40, 80, 20, 60]


def test_a_lone_queue_goes_on():
    rig = Rig(image(16), latency=20)
    rig.ctx(weight=3)
    rig.store(10, wqe.gpu_doorbell(16, QPN))
    rig.run()
    cycles = [c for c, _ in blocks(rig)]
    # record's R 41, D3 45, AR 52; a block a cycle from there on, whatever the weight
    assert cycles == [22, 23, 24, *range(52, 65)]


# -- room -----------------------------------------------------------------------------------------


def test_places_bound_the_reads_under_way():
    rig = Rig(image(16), tags=8)
    rig.ctx(weight=16)
    rig.store(10, wqe.gpu_doorbell(16, QPN))
    rig.run()
    # eight places; the record's R 121, D0 122, the next issue 123, at AR 124
    assert [c for c, _ in rig.reads()] == [*range(21, 29), *range(124, 132), 227]
    assert [r.id for _, r in rig.ar.taken] == [i % 8 for i in range(17)]


def test_ar_fifo_bounds_what_waits():
    rig = Rig(image(8), ar=lambda now: now >= 60)
    rig.ctx(weight=16)
    rig.store(10, wqe.gpu_doorbell(8, QPN))
    rig.store(12, wqe.gpu_doorbell(8, QPN))
    rig.run()
    # four wait; the first leaves in 60, so the fifth is issued in 61: a read each cycle all the same
    assert [c for c, _ in rig.reads()][:9] == list(range(60, 69))


def test_a_record_that_says_what_is_known_makes_no_turn():
    # weight 1, five published: a record is asked for in the turn of block 3, which goes on to 4; its answer is no news
    rig = Rig(image(5), latency=30)
    rig.ctx(weight=1)
    rig.store(10, wqe.gpu_doorbell(1, QPN))
    rig.store(57, wqe.gpu_doorbell(5, QPN))
    rig.store(400, wqe.gpu_doorbell(5, QPN))
    assert indexes(rig.run()) == [0, 1, 2, 3, 4]
    # record's R 51, D3 55, block 1 issued in 61, which is P3 of the doorbell: so 2 in 62, the last one, for a record is
    # wanted: issued in 68; 3 and, while it is read, 4 behind it
    assert [c for c, _ in blocks(rig)] == [22, 62, 63, 70, 71]
    assert records(rig) == [21, 69, 411]
    assert [r.id for _, r in rig.ar.taken] == list(range(8))


@pytest.mark.parametrize(("latency", "d3", "asks"), [(6, 56, (58, 64)), (7, 58, (59, 65))])
def test_a_record_judged_late_in_a_turn_makes_another(latency, d3, asks):
    # weight 2, lone. With L the latency: blocks 1 to 3 issued from 31 + L on; rung in 33 + L; the second
    # record is at AR in 40 + L, in D3 in 44 + 2 L; its turn goes on to 15, issued in 51 + L: p is 16.
    # L = 6: the record's D3, with 20, before its last item; L = 7: in the same cycle. Block 16 is issued 6 later
    rig = Rig(image(20, sq_log=5, published=16), latency=latency)
    rig.ctx(weight=2, sq_log=5)
    rig.memory.poke(40, DBR, wqe.record(20))
    rig.store(10, wqe.gpu_doorbell(1, QPN))
    rig.store(28 + latency, wqe.gpu_doorbell(16, QPN))
    assert indexes(rig.run()) == list(range(20))
    assert records(rig) == [21, 40 + latency]
    assert d3 == 44 + 2 * latency
    assert tuple(c for c, slot in blocks(rig) if slot in (15, 16)) == asks


def test_sources_take_turns():
    # queue 1's record wants more in D3 125, queue 2 is rung in P3 125; the last one moved was queue 1's from RING:
    # JUDGE is next.
    rig = several((8, 8), (2, 2))
    rig.aws.clear()
    rig.ws.clear()
    rig.store(10, wqe.gpu_doorbell(1, 1))
    rig.store(121, wqe.gpu_doorbell(1, 2))
    rig.run()
    names = {RECORD_LINE: "r1", RECORD_LINE + 64: "r2"}
    seen = [(c, names.get(a) or (1 + (a - FAR) // 0x8000, a % 0x8000 // 64)) for c, a in rig.reads()]
    assert seen[:5] == [(21, "r1"), (22, (1, 0)), (132, (1, 1)), (133, "r2"), (134, (2, 0))]
