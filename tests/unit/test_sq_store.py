# SPDX-License-Identifier: Apache-2.0
"""Stores of the send queues (docs/sq.md, C, S, B): places, strobes, assembly, binding, responses, cycles by hand.

A beat taken at *c* is in P0 at c + 1, P1 c + 2, P2 c + 3, P3 c + 4; its response is at B at c + 5, its BlueFlame at
m_wr at c + 9; what P1 counts is seen at c + 4, what P3 counts at c + 6.
"""

from __future__ import annotations

import pytest

from models import sq_wqe, wqe
from models.kernel import Kernel
from models.protocol import WQE, SqCtx
from models.sq import Sq
from tests.unit.sq_kit import ALL, BF, PAGE, QPN, Rig, record, strobes

SMALL = sq_wqe.build(WQE.SEND, 0, QPN, inline=bytes(range(40)))  # 1 block
BIG = sq_wqe.build(WQE.SEND, 0, QPN, inline=bytes(range(230)))  # 4 blocks


def out(rig: Rig, limit: int = 100_000):
    return [(cycle, wr.wqe_index, len(data)) for cycle, wr, data in rig.run(limit)]


def responses(rig: Rig):
    return [(cycle, r.id, r.resp) for cycle, r in rig.b.taken]


def test_blueflame_takes_nine_cycles_and_its_response_five():
    rig = Rig()
    rig.ctx()
    rig.store(10, SMALL.ljust(64, b"\0"), ident=5)
    assert rig.run()[0][2] == bytes(range(40))
    assert [c for c, _ in rig.wr.taken] == [19]
    assert responses(rig) == [(15, 5, 0)]
    assert rig.counts() == {"blueflame": 1}
    assert rig.sq.changes[1][0] == 16
    assert rig.reads() == []


def test_four_blocks_count_from_their_last_beat():
    rig = Rig()
    rig.ctx()
    last = rig.store(10, BIG)
    assert last == 13
    rig.run()
    assert [c for c, _ in rig.wr.taken] == [22, 23, 24, 25]
    assert b"".join(b.data for _, b in rig.wr.taken) == bytes(range(230))
    assert responses(rig) == [(18, 3, 0)]


def test_blueflames_one_a_cycle():
    rig = Rig()
    rig.ctx(pi0=0xFFFC)
    for i in range(12):
        rig.store(10 + i, sq_wqe.build(WQE.SEND, 0xFFFC + i, QPN, inline=b"x").ljust(64, b"\0"), BF + 256 * (i & 1))
    got = out(rig)
    assert [c for c, _, _ in got] == list(range(19, 31))
    assert [i for _, i, _ in got] == [(0xFFFC + i) & 0xFFFF for i in range(12)]
    assert [c for c, _, _ in responses(rig)] == list(range(15, 27))
    assert rig.counts() == {"blueflame": 12}


@pytest.mark.parametrize("half", range(8))
def test_every_half_takes_a_blueflame_and_a_doorbell(half):
    rig = Rig(record(1))
    rig.ctx()
    rig.store(10, SMALL, BF + 256 * half)
    rig.store(20, wqe.gpu_doorbell(1, QPN), BF + 256 * half)
    rig.run()
    assert rig.counts() == {"blueflame": 1, "doorbells": 1}


@pytest.mark.parametrize(
    ("offset", "first", "count"),
    [(0, 0, 8), (0, 0x20, 4), (0, 0x21, 8), (0, 0x20, 9), (0x20, 0, 8), (0x40, 0x20, 8), (0x7C0, 0, 64), (BF, 0, 4),
     (BF, 4, 8), (BF, 7, 57), (BF + 256, 0, 7)],
)  # fmt: skip
def test_bad_places_and_strobes_are_refused(offset, first, count):
    rig = Rig()
    rig.ctx()
    rig.beats(10, [(SMALL, strobes(first, count))], offset)
    rig.run()
    assert responses(rig) == [(15, 3, 2)]
    assert rig.counts() == {"refused": 1}
    assert not rig.sq.arms


def test_arm_goes_out_in_the_cycle_after_p3():
    rig = Rig()
    rig.ctx()
    line = bytes(range(64))
    rig.beats(10, [(line, strobes(0x20, 8))], 0, page=5)
    rig.run()
    assert rig.sq.arms == [(15, 5, line[0x20:0x28])]
    assert responses(rig) == [(15, 3, 0)]
    assert rig.counts() == {}


@pytest.mark.parametrize(
    ("change", "store"),
    [({"enable": 0}, {}), ({"page": 2}, {}), ({}, {"page": 2}), ({}, {"qpn": QPN + 16}), ({}, {"qpn": QPN | 0x800000})],
)
def test_binding(change, store):
    rig = Rig()
    rig.ctx(**change)
    for at, data in ((10, wqe.gpu_doorbell(1, store.get("qpn", QPN))), (11, None)):
        one = data or sq_wqe.build(WQE.SEND, 0, store.get("qpn", QPN), inline=bytes(44))
        rig.store(at, one, page=store.get("page", PAGE))
    rig.run()
    assert [r for _, _, r in responses(rig)] == [2, 2]
    assert rig.counts() == {"refused": 2}


def test_before_the_entry_is_written_everything_is_refused():
    rig = Rig()
    rig.store(10, wqe.gpu_doorbell(1, QPN))
    rig.ctx(cycle=13)  # seen by P2 from cycle 14 on: not by the first, whose P2 is at 13, but by the second
    rig.store(11, SMALL)
    assert out(rig) == [(20, 0, 40)]
    assert [r for _, _, r in responses(rig)] == [2, 0]


def test_entry_of_a_queue_that_is_not_idle():
    rig = Rig(record(1))
    rig.ctx()
    rig.store(10, wqe.gpu_doorbell(1, QPN))
    rig.ctx(cycle=20)
    with pytest.raises(ValueError, match="not idle"):
        rig.run()


def test_a_burst_is_refused_as_a_whole_but_its_good_beats_work():
    rig = Rig(record(0))
    rig.ctx()
    bell = wqe.gpu_doorbell(0, QPN)
    # lines 3 of the half (a part without head), then line 0 of the next half: a doorbell, then a part; then line 0 bad
    rig.beats(10, [(bell, 0xF), (bell, 0xFF), (bell, 0xFF)], BF + 192)
    rig.beats(13, [(bell, 0xFF)], ident=4)
    rig.beats(14, [(bell, 0xFF00)], BF - 64, ident=7)
    rig.beats(15, [(bell, 0xFF), (bell, 0xFF)], BF - 64, ident=8)
    rig.run()
    assert responses(rig) == [(17, 3, 0), (18, 4, 0), (19, 7, 2), (21, 8, 2)]
    assert rig.counts()["doorbells"] == 3
    assert rig.counts()["refused"] == 2


def test_line_wraps_in_its_page():
    rig = Rig()
    rig.ctx()
    arm = bytes(range(64))
    rig.beats(10, [(arm, ALL), (arm, strobes(0x20, 8))], 0xFC0)
    rig.run()
    assert rig.sq.arms == [(16, PAGE, arm[0x20:0x28])]


@pytest.mark.parametrize("ds", [0, 17, 63])
def test_a_head_with_a_ds_of_no_wqe_is_a_doorbell(ds):
    rig = Rig(record(0))
    rig.ctx(sq_log=15)
    rig.store(10, wqe.control(0, WQE.SEND, QPN, ds) + bytes(48))
    rig.run()
    hint = -(-ds // 4)
    counts = {"doorbells": 1} | ({"record_behind": 1, "discarded": min(hint, 8)} if hint else {})
    assert rig.counts() == counts


# -- direct or not --------------------------------------------------------------------------------


def test_not_the_next_index_is_a_doorbell():
    rig = Rig({**sq_wqe.ring_image([SMALL], 0x10000, 4), **record(2)})
    rig.ctx()
    rig.store(10, sq_wqe.build(WQE.SEND, 1, QPN, inline=bytes(40)))
    rig.run()
    assert rig.counts()["doorbells"] == 1


def test_direct_register_not_free_is_a_doorbell():
    stalled = Rig(record(20), wr=lambda now: now > 400)
    stalled.ctx(sq_log=6)
    last = 9
    for i in range(8):
        last = stalled.store(last + 1, sq_wqe.build(WQE.SEND, 4 * i, QPN, inline=bytes(230)))
    stalled.run()
    # of four beats each: the FIFO holds two WQEs, then V3, V2, V1 and the direct register one each; the seventh rings
    assert stalled.counts()["blueflame"] == 6
    assert stalled.counts()["doorbells"] == 2


# -- responses ------------------------------------------------------------------------------------


def test_eight_responses_owed_stop_the_stores():
    rig = Rig(b=lambda now: now >= 100)
    rig.ctx()
    for i in range(20):
        rig.beats(10 + i, [(bytes(64), strobes(0x28, 8))], 0, ident=i % 16)
    rig.run()
    assert rig.driver is not None
    # eight pass; four of each wait in the FIFOs: 12 are taken at once, then one per response from 100 on
    assert rig.driver.taken_w[:12] == list(range(10, 22))
    # response taken at 100; P0 at 101 makes room for the W at 102
    assert rig.driver.taken_w[12:] == list(range(102, 110))
    assert [c for c, _ in rig.b.taken] == list(range(100, 120))
    assert [r.id for _, r in rig.b.taken] == [i % 16 for i in range(20)]


def test_arms_leave_a_gap():
    rig = Rig()
    rig.ctx()
    for i in range(4):
        rig.beats(10 + i, [(bytes(64), strobes(0x20, 8))], 0, ident=i)
    rig.run()
    # FIFO, P0, P1, P2, P3: 10 to 15; each waits until P1 is empty
    assert [c for c, _, _ in rig.sq.arms] == [15, 17, 19, 21]


def test_data_before_address_and_address_before_data():
    rig = Rig()
    rig.ctx()
    rig.aws = [(20, 1, PAGE << 12 | BF), (21, 2, PAGE << 12 | BF)]
    one = sq_wqe.build(WQE.SEND, 1, QPN, inline=bytes(40))
    rig.ws = [(10, SMALL, ALL, True), (40, one, ALL, True)]
    assert out(rig) == [(29, 0, 40), (49, 1, 40)]


def test_transfers_while_not_ready_are_refused():
    kernel = Kernel()
    sq = Sq(kernel, "sq")
    for i in range(4):
        sq.aw(i, 0, 0)
    assert not sq.aw_ready(4)
    with pytest.raises(ValueError, match="not ready"):
        sq.aw(4, 0, 0)
    for i in range(4):
        sq.w(i, bytes(64), 0, True)
    assert not sq.w_ready(4)
    with pytest.raises(ValueError, match="not ready"):
        sq.w(4, bytes(64), 0, True)
    with pytest.raises(ValueError, match="there are 64 pages"):
        Sq(kernel, "other").aw(0, 0, 64 << 12)
    with pytest.raises(ValueError, match="powers of two"):
        Sq(kernel, "odd", qps=3)
    with pytest.raises(ValueError, match=r"allowed: 0\.\.255"):
        sq.ctx(0, 256, SqCtx())
    with pytest.raises(ValueError, match="waits for none"):
        sq.r(0, 0, bytes(64))
