# SPDX-License-Identifier: Apache-2.0
"""What returns to the send queues (docs/sq.md, D1 to D7, V1, V2): order, records, discards, halts; cycles by hand.

R at *c*: D0 c + 1, D1 c + 2, D2 c + 3, WQE register c + 4, V1 to V3 c + 5 to c + 7, m_wr c + 8.
"""

from __future__ import annotations

import pytest

from models import sq_wqe, wqe
from models.protocol import CQE_SYN, WQE
from tests.unit.sq_kit import BASE, DBR, LATENCY, QPN, Rig, record
from tests.unit.test_sq_turn import RECORD_LINE, blocks, image, indexes, records, sends

OP = CQE_SYN.LOC_QP_OP


def big(index: int, size: int = 230, qpn: int = QPN, fill: int = 0) -> bytes:
    return sq_wqe.build(WQE.SEND, index, qpn, inline=bytes((fill + i) & 0xFF for i in range(size)))


def rung(image_, hint, cycle=10, **kwargs):
    """A rig whose queue is rung at ``cycle`` with ``hint``; run."""
    ctx = {name: kwargs.pop(name) for name in ("pi0", "sq_log", "weight") if name in kwargs}
    rig = Rig(image_, **kwargs)
    rig.ctx(**ctx)
    rig.store(cycle, wqe.gpu_doorbell(hint, QPN))
    return rig, rig.run()


# -- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1), (1, 3, 0, 2)])
def test_any_order_of_returns_is_the_order_of_issue(order):
    # reads issued for AR 21..24; R of the n-th at 200 + 10 x order[n]
    rig, out = rung(image(3), 3, latency=lambda n, _: 200 + 10 * order[n] - 21 - n)
    assert [c for c, _ in rig.memory.returned] == [200, 210, 220, 230]
    assert indexes(out) == [0, 1, 2]
    at = [200 + 10 * o for o in order]
    # an item's D0 is a cycle after its R, and after the one before it
    leaves, last = [], 0
    for cycle in at:
        last = max(cycle + 1, last + 1)
        leaves.append(last)
    assert [c for c, _, _ in out] == [leave + 7 for leave in leaves[1:]]


def test_a_wqe_of_four_blocks_counts_from_its_last():
    rig, out = rung({**sq_wqe.ring_image([big(0)], BASE, 4), **record(4)}, 4)
    assert rig.memory.returned[-1][0] == 25 + LATENCY
    assert [c for c, _, _ in out] == [25 + LATENCY + 8 + k for k in range(4)]
    assert b"".join(d for _, _, d in out) == bytes(range(230))


def test_blocks_of_two_queues_interleave():
    lines = {**sq_wqe.ring_image([big(0, qpn=1)], BASE, 4), DBR: wqe.record(4)}
    lines |= {**sq_wqe.ring_image([big(0, qpn=2, fill=7)], BASE + 0x8000, 4), DBR + 64: wqe.record(4)}
    rig = Rig(lines)
    for i in range(2):
        rig.ctx(1 + i, weight=1, sq_base=BASE + 0x8000 * i, dbr_addr=DBR + 64 * i)
        rig.store(10 + i, wqe.gpu_doorbell(4, 1 + i))
    out = rig.run()
    for qpn, fill in ((1, 0), (2, 7)):
        assert b"".join(d for _, wr, d in out if wr.qpn == qpn) == bytes((fill + i) & 0xFF for i in range(230))
    firsts = [a - BASE for c, a in rig.reads() if a & ~0x81C0 == BASE]
    assert firsts != sorted(firsts)  # they did interleave


def test_index_wraps_inside_a_wqe_and_the_ring_too():
    rig, out = rung({**sq_wqe.ring_image([big(0xFFFE)], BASE, 3), **record(2)}, 2, pi0=0xFFFE, sq_log=3)
    assert [slot for _, slot in blocks(rig)] == [6, 7, 0, 1]
    assert b"".join(d for _, _, d in out) == bytes(range(230))
    assert out[0][1].wqe_index == 0xFFFE


def test_output_stall_holds_d1_and_d2_but_not_r():
    ready = lambda now: now < 140 or now >= 300  # noqa: E731
    rig = Rig(image(40, sq_log=6), tags=64, wr=ready)
    rig.ctx(weight=64, sq_log=6)
    rig.store(10, wqe.gpu_doorbell(40, QPN))
    out = rig.run()
    assert indexes(out) == list(range(40))
    # record's R 121; block k's R 122 + k, at m_wr 130 + k up to 139; then the rest without a gap from 300 on
    assert [c for c, _, _ in out] == [*range(130, 140), *range(300, 330)]
    assert [c for c, _ in rig.memory.returned] == list(range(121, 162))
    assert rig.sq.changes[-1][0] < 330


# -- records --------------------------------------------------------------------------------------


def test_the_record_decides_not_the_hint():
    rig, out = rung(image(4, published=2), 4)
    assert indexes(out) == [0, 1]
    assert rig.counts() == {"doorbells": 1, "fetched": 2, "discarded": 2, "record_behind": 1}
    assert records(rig) == [21]


def test_what_was_thrown_away_is_read_again():
    rig = Rig(image(4, published=2))
    rig.ctx()
    rig.memory.lines[BASE + 128] = bytes(64)  # not written yet
    rig.memory.poke(150, BASE + 128, sends(4)[2])
    rig.memory.poke(151, DBR, wqe.record(4))
    rig.store(10, wqe.gpu_doorbell(4, QPN))
    rig.store(300, wqe.gpu_doorbell(4, QPN))
    out = rig.run()
    assert [(wr.wqe_index, wr.length, wr.error) for _, wr, _ in out] == [(i, 1 + i, 0) for i in range(4)]
    assert rig.counts() == {"doorbells": 2, "fetched": 4, "discarded": 2, "record_behind": 1}


def test_a_record_ahead_of_the_doorbell_is_followed_at_once():
    rig, out = rung(image(5), 1)
    assert indexes(out) == list(range(5))
    # record's R 121, D3 125, AR 132
    assert blocks(rig) == [(22, 0), (132, 1), (133, 2), (134, 3), (135, 4)]
    assert rig.counts() == {"doorbells": 1, "fetched": 5}


def test_nothing_published_is_nothing():
    rig, out = rung(record(0), 0)
    assert out == []
    assert rig.counts() == {"doorbells": 1}
    assert rig.reads() == [(21, RECORD_LINE)]


def test_an_old_record_changes_nothing():
    rig = Rig(image(4))
    rig.ctx(sq_log=3)
    rig.lines.update(sq_wqe.ring_image(sends(4), BASE, 3))
    rig.store(10, wqe.gpu_doorbell(4, QPN))
    rig.memory.poke(250, DBR, wqe.record(0xFFFC))  # eight behind 4: the whole ring
    rig.store(300, wqe.gpu_doorbell(4, QPN))
    assert indexes(rig.run()) == [0, 1, 2, 3]
    assert rig.counts() == {"doorbells": 2, "fetched": 4, "record_behind": 1}


def test_beyond_the_ring_behind_halts():
    rig = Rig(image(4))
    rig.ctx(sq_log=3)
    rig.lines.update(sq_wqe.ring_image(sends(4), BASE, 3))
    rig.store(10, wqe.gpu_doorbell(4, QPN))
    rig.memory.poke(250, DBR, wqe.record(0xFFFB))
    rig.store(300, wqe.gpu_doorbell(4, QPN))
    out = rig.run()
    assert [(wr.wqe_index, wr.opcode, wr.error) for _, wr, _ in out[4:]] == [(4, 0, OP)]
    assert rig.counts()["halted"] == 1


@pytest.mark.parametrize("sq_log", [0, 3, 14, 15])
def test_a_record_of_the_whole_ring_is_the_most(sq_log):
    size = 1 << sq_log
    for published, halted in ((size, 0), (size + 1, 1)):
        rig = Rig(record(published), tags=512, latency=8)
        rig.ctx(sq_log=sq_log, weight=255)
        rig.store(10, wqe.gpu_doorbell(1, QPN))
        rig.run(1_000_000)
        if sq_log < 15 or not halted:
            assert rig.counts().get("halted", 0) == halted
        else:  # 2^15 + 1 ahead is 2^15 - 1 behind: old
            assert rig.counts() == {"doorbells": 1, "record_behind": 1, "discarded": 1}
        if not halted:
            assert rig.counts()["fetched"] == size


# -- halts ----------------------------------------------------------------------------------------


def test_record_beyond_the_ring_halts():
    rig = Rig(record(17))
    rig.ctx()
    rig.store(10, wqe.gpu_doorbell(0, QPN))
    rig.store(400, wqe.gpu_doorbell(1, QPN))
    rig.store(401, sq_wqe.build(WQE.SEND, 0, QPN, inline=bytes(44)))
    out = rig.run()
    assert [(c, wr.qpn, wr.opcode, wr.wqe_index, wr.error, wr.blocks) for c, wr, _ in out] == [
        (121 + 8, QPN, 0, 0, OP, 0)
    ]
    assert [r.resp for _, r in rig.b.taken] == [0, 2, 2]
    assert rig.counts() == {"doorbells": 1, "refused": 2, "halted": 1}
    assert rig.reads() == [(21, RECORD_LINE)]


@pytest.mark.parametrize("bad", [RECORD_LINE, BASE, BASE + 64, BASE + 128])
def test_a_read_with_an_error_halts_after_what_came_before(bad):
    rig = Rig(image(3))
    rig.ctx()
    rig.memory.bad.add(bad)
    rig.store(10, wqe.gpu_doorbell(3, QPN))
    out = rig.run()
    good = 0 if bad == RECORD_LINE else (bad - BASE) // 64
    assert [(wr.wqe_index, wr.error) for _, wr, _ in out] == [*((i, 0) for i in range(good)), (good, OP)]
    assert out[-1][1].opcode == 0
    assert {k: v for k, v in rig.counts().items() if k != "fetched"} == {"doorbells": 1, "halted": 1}
    assert rig.counts().get("fetched", 0) == good


def test_a_discarded_block_with_an_error_is_no_error():
    rig = Rig(image(3, published=2))
    rig.ctx()
    rig.memory.bad.add(BASE + 128)
    rig.store(10, wqe.gpu_doorbell(3, QPN))
    assert indexes(rig.run()) == [0, 1]
    assert rig.counts() == {"doorbells": 1, "fetched": 2, "discarded": 1, "record_behind": 1}


def test_an_error_inside_a_wqe_names_its_first_block():
    rig = Rig({**sq_wqe.ring_image([sends(1)[0], big(1)], BASE, 4), **record(5)})
    rig.ctx()
    rig.memory.bad.add(BASE + 64 * 3)
    rig.store(10, wqe.gpu_doorbell(5, QPN))
    assert [(wr.wqe_index, wr.error) for _, wr, _ in rig.run()] == [(0, 0), (1, OP)]


def test_a_halted_queue_starts_again_when_its_entry_is_written():
    rig = Rig(record(17))
    rig.ctx()
    rig.store(10, wqe.gpu_doorbell(0, QPN))
    rig.store(14, wqe.gpu_doorbell(0, QPN))
    rig.ctx(cycle=400, pi0=16)
    rig.memory.poke(400, BASE, sends(1, first=16)[0])
    rig.store(410, wqe.gpu_doorbell(17, QPN))
    out = rig.run()
    assert [(wr.wqe_index, wr.error) for _, wr, _ in out] == [(0, OP), (16, 0)]


def test_other_queues_go_on():
    lines = {**image(2), DBR + 64: wqe.record(100)}
    rig = Rig(lines)
    rig.ctx()
    rig.ctx(1, sq_base=BASE + 0x8000, dbr_addr=DBR + 64)
    rig.store(10, wqe.gpu_doorbell(1, 1))
    rig.store(11, wqe.gpu_doorbell(2, QPN))
    out = rig.run()
    assert sorted((wr.qpn, wr.wqe_index, wr.error) for _, wr, _ in out) == [(1, 0, OP), (QPN, 0, 0), (QPN, 1, 0)]


@pytest.mark.parametrize(("p3", "reads"), [(230, [21, 237]), (231, [21]), (235, [21])])
def test_a_turn_of_a_halted_queue_ends_without_reads(p3, reads):
    # block 2 is read in turn 2, AR 132, with an error: D2 235, halted from 236 on; rung in p3, T1c hands over in p3 + 5
    rig = Rig(image(16, published=12))
    rig.ctx(weight=2)
    rig.memory.bad.add(BASE + 64 * 2)
    rig.store(10, wqe.gpu_doorbell(12, QPN))
    rig.store(p3 - 4, wqe.gpu_doorbell(12, QPN))
    assert [wr.error for _, wr, _ in rig.run()] == [0, 0, OP]
    assert records(rig) == reads
    assert rig.counts() == {"doorbells": 2, "fetched": 2, "halted": 1}


# -- WQEs that are too long, or not whole ---------------------------------------------------------


@pytest.mark.parametrize("ds", [17, 20, 21, 63])
def test_too_long_is_an_error_and_its_blocks_are_passed_over(ds):
    need = -(-ds // 4)
    long = wqe.control(0, WQE.WRITE, QPN, ds).ljust(64, b"\xee")
    lines = {BASE: long, **sq_wqe.ring_image(sends(1, first=need), BASE, 5), **record(need + 1)}
    rig, out = rung(lines, need + 1, sq_log=5, weight=32)
    assert [(c, wr.opcode, wr.wqe_index, wr.error) for c, wr, _ in out] == [
        (130, WQE.WRITE, 0, OP), (130 + need, WQE.SEND, need, 0),
    ]  # fmt: skip
    assert rig.counts() == {"doorbells": 1, "fetched": need + 1}


def test_half_a_wqe_waits_for_the_other():
    rig = Rig({**sq_wqe.ring_image([big(0)], BASE, 4), **record(2)})
    rig.ctx()
    rig.store(10, wqe.gpu_doorbell(2, QPN))
    rig.store(150, sq_wqe.build(WQE.SEND, 0, QPN, inline=bytes(44)))  # the queue is not idle: a doorbell
    rig.memory.poke(300, DBR, wqe.record(4))
    rig.store(400, wqe.gpu_doorbell(4, QPN))
    out = rig.run()
    assert b"".join(d for _, _, d in out) == bytes(range(230))
    assert [slot for _, slot in blocks(rig)] == [0, 1, 2, 3]
    assert rig.counts()["doorbells"] == 3


def test_straight_again_after_the_last_block():
    # block 0's R 122, D2 125, D3 126: idle from 127 on
    for p3, straight in ((126, False), (127, True)):
        rig = Rig(image(1))
        rig.ctx()
        rig.store(10, wqe.gpu_doorbell(1, QPN))
        rig.store(p3 - 4, sq_wqe.build(WQE.SEND, 1, QPN, inline=bytes(44)))
        out = rig.run()
        assert rig.counts().get("blueflame", 0) == straight
        if straight:
            assert [c for c, _, _ in out] == [130, p3 + 5]


# -- both ways at the decoder ---------------------------------------------------------------------


def test_direct_and_fetched_take_turns():
    # queue 1's blocks come one a cycle; queue 2's BlueFlame WQEs too
    lines = {**sq_wqe.ring_image(sends(16, qpn=1), BASE, 4), DBR: wqe.record(16)}
    rig = Rig(lines)
    rig.ctx(1, weight=16)
    rig.ctx(2)
    rig.store(10, wqe.gpu_doorbell(16, 1))
    for i in range(4):  # P3 at 125 + 2 i: in the direct register at 126 + 2 i, block k in the WQE register at 126 + k
        rig.store(121 + 2 * i, sq_wqe.build(WQE.SEND, i, 2, inline=bytes(44)))
    out = rig.run()
    order = "".join(str(wr.qpn) for _, wr, _ in out)
    # 126: direct (reset: it is first) before block 0; 127 block 0 (the register held it); 128: direct is not last
    assert order == "21212121" + "1" * 12
    assert [c for c, _, _ in out] == list(range(130, 150))


def test_a_fetched_wqe_that_waits_is_not_overtaken_by_a_straight_one():
    # the output stops; queue 1's stores fill everything up to the direct register, then queue 2's block is fetched,
    # then (direct register free again) queue 2's next WQE comes straight: the fetched one first
    lines = {**sq_wqe.ring_image(sends(1, qpn=2), BASE, 4), DBR: wqe.record(1)}
    rig = Rig(lines, wr=lambda now: now >= 300 and now % 4 == 0)
    rig.ctx(1)
    rig.ctx(2)
    for i in range(11):  # eight in the FIFO, V3, V2, V1
        rig.store(10 + i, sq_wqe.build(WQE.SEND, i, 1, inline=bytes(44)))
    rig.store(40, wqe.gpu_doorbell(1, 2))
    rig.store(200, sq_wqe.build(WQE.SEND, 1, 2, inline=bytes(44)))
    out = rig.run()
    assert [(wr.qpn, wr.wqe_index) for _, wr, _ in out] == [*((1, i) for i in range(11)), (2, 0), (2, 1)]
    assert rig.counts()["blueflame"] == 12


def test_a_straight_wqe_that_waits_is_not_overtaken_by_a_fetched_one():
    lines = {**sq_wqe.ring_image(sends(1, first=1, qpn=2), BASE, 4), DBR: wqe.record(2)}
    rig = Rig(lines, wr=lambda now: now >= 400)
    rig.ctx(1)
    rig.ctx(2)
    for i in range(11):
        rig.store(10 + i, sq_wqe.build(WQE.SEND, i, 1, inline=bytes(44)))
    rig.store(40, sq_wqe.build(WQE.SEND, 0, 2, inline=bytes(44)))
    rig.store(60, wqe.gpu_doorbell(2, 2))
    out = rig.run()
    assert [(wr.qpn, wr.wqe_index) for _, wr, _ in out] == [*((1, i) for i in range(11)), (2, 0), (2, 1)]
    assert rig.counts()["blueflame"] == 12


def test_a_turn_between_a_hint_and_its_record_asks_for_nothing_twice():
    # weight 2. First record's D3 59; 1, 2, 3 issued from 65 on, rung in 67; second record in 73, 4 to 15 up to 85. Its
    # D3, in 112, says nothing new, but somebody rang: third record in 118 and, by the hint, 16 and 17, not published
    # as far as is known; the third record, D3 157, says that they count, and that 18 and 19 are there
    rig = Rig(image(20, sq_log=5, published=16), latency=34)
    rig.ctx(weight=2, sq_log=5)
    rig.memory.poke(120, DBR, wqe.record(20))
    rig.store(10, wqe.gpu_doorbell(1, QPN))
    rig.store(62, wqe.gpu_doorbell(16, QPN))
    rig.store(90, wqe.gpu_doorbell(20, QPN))
    assert [(wr.wqe_index, wr.error) for _, wr, _ in rig.run()] == [(i, 0) for i in range(20)]
    assert records(rig) == [21, 74, 119]
    assert [slot for _, slot in blocks(rig)] == list(range(20))
    assert [c for c, slot in blocks(rig) if slot in (15, 16, 17, 18)] == [86, 120, 121, 164]
