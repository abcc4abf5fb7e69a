# SPDX-License-Identifier: Apache-2.0
"""BlueFlame WQEs in parts (docs/sq.md, S6, S7): whole, torn, late, without a slot; cycles by hand.

A part taken at *c* is merged in P1, at c + 2; what P1 gives up is counted in the next cycle and seen in the one after.
"""

from __future__ import annotations

import pytest

from models import sq_wqe, wqe
from models.protocol import WQE
from tests.unit.sq_kit import ALL, BF, PAGE, QPN, Rig, record
from tests.unit.test_sq_store import BIG, SMALL, out, responses

TIMEOUT = 64


def test_split_in_any_order_and_sizes_behind_the_head():
    rig = Rig()
    rig.ctx()
    cuts = [(0, 16), (128, 64), (192, 10), (64, 64), (202, 54), (16, 48)]
    for i, (first, count) in enumerate(cuts):
        rig.piece(10 + i, BIG, first, count)
    rig.run()
    assert [c for c, _ in rig.wr.taken] == [24, 25, 26, 27]  # from the last piece, taken at 15
    assert b"".join(b.data for _, b in rig.wr.taken) == bytes(range(230))
    assert [r for _, _, r in responses(rig)] == [0] * 6
    assert rig.counts() == {"blueflame": 1}


def test_bytes_beyond_the_wqe_are_not_waited_for_and_later_bytes_win():
    one = sq_wqe.build(WQE.SEND, 0, QPN, inline=bytes(range(100)))  # 2 blocks
    rig = Rig()
    rig.ctx()
    rig.beats(9, [(one[:64], ALL)])
    rig.piece(10, b"\xff" * 256, 64, 20)
    rig.piece(11, b"\xff" * 256, 192, 64)
    rig.piece(12, one, 64, 20)
    rig.piece(13, one, 84, 44)
    assert b"".join(d for _, _, d in rig.run()) == bytes(range(100))
    assert [c for c, _ in rig.wr.taken] == [22, 23]


def test_two_halves_interleaved_do_not_mix():
    other = sq_wqe.build(WQE.SEND, 4, QPN, inline=bytes(range(100, 250)))  # 3 blocks
    rig = Rig()
    rig.ctx()
    for i, first in enumerate(range(0, 256, 64)):
        rig.piece(10 + 2 * i, BIG, first, 64, half=0)
        if first < 192:
            rig.piece(11 + 2 * i, other, first, 64, half=1)
    rig.run()
    # the second is whole first (15): its index is not the next, so it rings; the first then is not straight either
    assert rig.counts()["doorbells"] == 2


def test_torn_by_time_with_a_head_is_a_doorbell():
    rig = Rig({**sq_wqe.ring_image([BIG], 0x10000, 4), **record(4)})
    rig.ctx()
    rig.piece(10, BIG, 0, 64)
    rig.piece(11, BIG, 64, 64)  # merged in 13: given up in 13 + 64, P3 two later, AR 7 after that
    rig.run()
    assert rig.reads()[0][0] == 13 + TIMEOUT + 2 + 7
    assert next(c for c, values in rig.sq.changes if values[3] == 1) == 13 + TIMEOUT + 2
    assert b"".join(b.data for _, b in rig.wr.taken) == bytes(range(230))
    assert rig.counts() == {"doorbells": 1, "torn": 1, "fetched": 4}
    assert len(rig.b.taken) == 2


@pytest.mark.parametrize("first", [16, 64, 192])
def test_a_part_before_its_head_is_nothing(first):
    rig = Rig({**sq_wqe.ring_image([BIG], 0x10000, 4), **record(4)})
    rig.ctx()
    rig.piece(10, BIG, first, 48)
    for i, (at, count) in enumerate([(0, 16), (16, 48), (64, 64), (128, 64), (192, 64)]):
        if at != first:
            rig.piece(11 + i, BIG, at, count)
    rig.run()
    assert b"".join(b.data for _, b in rig.wr.taken) == bytes(range(230))
    assert rig.counts() == {"torn": 1, "doorbells": 1, "fetched": 4}
    assert rig.b.taken[0] == (15, rig.b.taken[0][1])


@pytest.mark.parametrize("size", [8, 16, 32])
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("later", [0, TIMEOUT])
def test_parts_whose_head_came_alone_never_meet_another_queues_head(size, alone, later):
    """Two queues share a BlueFlame register: A's head comes alone or is given up, its other parts come; then B's WQE,
    at once, and is a doorbell, or later, and is whole."""
    rig = Rig(record(0))
    rig.ctx(1)
    rig.ctx(2)
    a_wqe = sq_wqe.build(WQE.SEND, 0, 1, inline=b"A" * 230)
    b_wqe = sq_wqe.build(WQE.SEND, 0, 2, inline=b"B" * 230)
    at = 10
    rig.piece(at, a_wqe, 0, 8 if alone else 16)
    at += 1 if alone else TIMEOUT + 8
    for first in range(8 if alone else 16, 256, size):
        rig.piece(at, a_wqe, first, min(size, 64 - first % 64, 256 - first))
        at += 1
    at += later
    for first in range(0, 256, 16):
        rig.piece(at, b_wqe, first, 16)
        at += 1
    handed: dict[int, bytes] = {}
    for _, wr, data in rig.run():
        handed[wr.qpn] = handed.get(wr.qpn, b"") + data
    assert handed == ({2: b"B" * 230} if later else {})


def test_a_hole_is_not_filled_by_the_next_wqe_of_the_half():
    """A part of A's came before its head, B's same part comes before B's head, soon after."""
    rig = Rig(record(0))
    rig.ctx(1)
    rig.ctx(2)
    for i, (qpn, letter) in enumerate([(1, b"A"), (2, b"B")]):
        raw = sq_wqe.build(WQE.SEND, 0, qpn, inline=letter * 230)
        for k, line in enumerate((1, 0, 2, 3)):
            rig.piece(10 + 10 * i + k, raw, 64 * line, 64)
    assert rig.run() == []
    assert rig.counts()["doorbells"] == 2


def test_last_piece_just_in_time_and_a_cycle_late():
    for late in (0, 1):
        rig = Rig(record(0))
        rig.ctx()
        rig.piece(10, BIG, 0, 64)
        rig.piece(11, BIG, 64, 64)
        rig.piece(12, BIG, 128, 64)  # merged in 14: the next may come to P1 up to 77
        rig.piece(75 + late, BIG, 192, 64)
        rig.run()
        if not late:
            assert rig.counts() == {"blueflame": 1}
            assert rig.wr.taken[0][0] == 75 + 9
        else:  # it waits for a cycle of P1, then spoils its half
            assert rig.counts() == {"doorbells": 1, "torn": 2, "record_behind": 1, "discarded": 4}
            assert [c for c, _ in rig.b.taken] == [15, 16, 17, 76 + 6]


def test_a_second_head_tears_and_waits_a_cycle():
    rig = Rig(record(0))
    rig.ctx()
    rig.piece(10, BIG, 0, 64)
    rig.piece(11, BIG, 0, 64)
    rig.run()
    assert [c for c, _ in rig.b.taken] == [15, 17]
    assert rig.counts()["torn"] == 2
    assert rig.counts()["doorbells"] == 2
    assert next(c for c, values in rig.sq.changes if values[3] == 1) == 13 + 2


def test_a_doorbell_tears_a_clean_slot_of_its_half():
    rig = Rig(record(0))
    rig.ctx()
    rig.piece(10, BIG, 0, 64)
    rig.store(20, wqe.gpu_doorbell(0, QPN))
    rig.piece(30, BIG, 64, 64)
    rig.store(40, wqe.gpu_doorbell(0, QPN))
    rig.run()
    assert [c for c, _ in rig.b.taken] == [15, 26, 35, 45]
    assert rig.counts()["torn"] == 2  # the second by its time
    assert rig.counts()["doorbells"] == 3


def test_a_whole_wqe_tears_any_slot_of_its_half():
    rig = Rig()
    rig.ctx()
    rig.piece(10, BIG, 0, 64, half=1)
    rig.store(20, SMALL)
    rig.store(21, SMALL, BF + 256)
    assert out(rig)[0] == (29, 0, 40)
    assert rig.counts()["torn"] == 1
    assert [c for c, _ in rig.b.taken] == [15, 25, 27]


def test_without_a_free_slot_a_head_is_a_doorbell_and_a_part_is_nothing():
    rig = Rig(record(0))
    rig.ctx()
    for i in range(4):  # four slots, in P1 12 to 15
        rig.piece(10 + i, BIG, 0, 64, half=i)
    rig.piece(14, BIG, 64, 64, half=4)
    rig.piece(15, BIG, 0, 64, half=5)
    rig.piece(16, BIG, 64, 64, half=5)
    for i in (1, 2, 3):  # one that has a slot goes on: whole in P1 21
        rig.piece(16 + i, BIG, 64 * i, 64, half=3)
    rig.run()
    assert [c for c, _ in rig.b.taken] == [15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
    # half 3's comes when the doorbell of half 5's head has made the queue busy: a doorbell too, as the torn ones are
    assert rig.counts() == {"doorbells": 5, "torn": 3, "record_behind": 2, "discarded": 8}


def test_parts_without_a_slot_do_not_meet_the_next_wqe_of_their_half():
    # five halves at once: A's head has a slot, or has none; its other lines come later, then B's of another queue
    b_wqe = sq_wqe.build(WQE.SEND, 0, 2, inline=b"B" * 230)
    for early in (0, 1):
        rig = Rig(record(0))
        for qpn in range(1, 7):
            rig.ctx(qpn, page=PAGE if qpn < 3 else qpn + 1)
        a_wqe = sq_wqe.build(WQE.SEND, 0, 1, inline=b"A" * 230)
        for i in range(4):
            rig.piece(11 + i, sq_wqe.build(WQE.SEND, 0, 3 + i, inline=b"x" * 230), 0, 64, page=4 + i)
        rig.piece(10 if early else 15, a_wqe, 0, 64)
        for i in range(1, 4):
            rig.piece(15 + i, a_wqe, 64 * i, 64)
        for i in range(4):
            rig.piece(25 + i, b_wqe, 64 * i, 64)
        rig.aws.sort(key=lambda e: e[0])
        rig.ws.sort(key=lambda e: e[0])
        handed: dict[int, bytes] = {}
        for _, wr, data in rig.run():
            handed[wr.qpn] = handed.get(wr.qpn, b"") + data
        assert handed == ({1: b"A" * 230, 2: b"B" * 230} if early else {})


@pytest.mark.parametrize(("p1", "opens"), [(80, False), (81, True)])
def test_after_a_loss_no_clean_slot_is_opened_for_a_while(p1, opens):
    # four slots, free again from P1 80 on (76 to 79: their time); the fifth part is lost in P1 16: none until 80
    rig = Rig(record(0))
    rig.ctx()
    for i in range(5):
        rig.piece(10 + i, BIG, 64, 64, half=i)
    rig.piece(p1 - 2, SMALL, 0, 32, half=6)
    rig.piece(p1 - 1, SMALL, 32, 32, half=6)
    rig.run()
    assert rig.counts().get("blueflame", 0) == opens
    assert rig.counts()["torn"] == 4 + (not opens)  # the other part spoils its half


def test_overdue_slots_go_lowest_first_one_a_cycle_before_the_beat():
    # halves 0 to 3 opened in this order, all with heads; half 0's is merged into last
    rig = Rig(record(0))
    rig.ctx()
    for i in range(4):
        rig.piece(10 + i, BIG, 0, 64, half=i)
    rig.piece(14, BIG, 64, 64, half=0)  # merged in 16
    bell = wqe.gpu_doorbell(0, QPN)
    rig.store(10 + TIMEOUT + 1, bell, BF + 256 * 6)  # in P1 at 77: the slots of 13, 14, 15 are due from 77 on
    rig.run()
    torn = [c for c, values in rig.sq.changes if values[3]]
    assert torn[0] == 13 + TIMEOUT + 2
    # P1: 77 half 1, 78 half 2, 79 half 3, 80 half 0 (due at 80), 81 the beat
    assert rig.counts()["torn"] == 4
    assert rig.b.taken[-1][0] == 81 + 3


def test_a_beat_without_strobes_spoils_its_half():
    rig = Rig()
    rig.ctx()
    rig.beats(10, [(bytes(64), 0)])
    rig.run()
    assert rig.counts() == {"torn": 1}
    assert responses(rig) == [(15, 3, 0)]


def test_a_torn_doorbell_of_a_stranger_is_refused_without_response():
    rig = Rig()
    rig.ctx(page=2)
    rig.piece(10, BIG, 0, 64)
    rig.run()
    assert rig.counts() == {"refused": 1, "torn": 1}
    assert responses(rig) == [(15, 3, 0)]
