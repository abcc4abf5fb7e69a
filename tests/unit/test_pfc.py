# SPDX-License-Identifier: Apache-2.0
"""Headroom of a paused lane: packing at the edges of cells, cables, both kinds of PHY."""

import pytest

from models.pfc import PHYS, headroom, reach, thresholds, worst_cells
from models.spec import spec

ETH = spec().integer("link.overhead_roce")
NATIVE = spec().integer("link.trailer_bytes")


@pytest.mark.parametrize("overhead", [ETH, NATIVE])
@pytest.mark.parametrize("data", [1, 63, 84, 85, 86, 170, 171, 172, 500, 1023])
def test_no_packing_of_short_frames_is_worse_than_the_bound(data, overhead):
    """Frames of k cells and a byte are the worst; the bound is not below any mix of frames up to four cells."""
    whole = worst_cells(data, 64, overhead)
    best = [0] * (data + 1)
    for total in range(data + 1):
        for n in (64, 65, 128, 129, 192, 193):
            if n + overhead <= total:
                best[total] = max(best[total], best[total - n - overhead] + -(-n // 64))
    assert whole >= best[data]


@pytest.mark.parametrize(
    ("data", "cells"),
    [(0, 0), (1, 2), (65 + ETH, 2), (65 + ETH + 1, 4), (2 * (65 + ETH), 4), (10 * (65 + ETH), 20)],
)
def test_a_byte_beyond_a_cell_fills_two(data, cells):
    assert worst_cells(data, 64, ETH) == cells


def test_cells_larger_than_a_smallest_frame():
    """128-byte cells: 129 bytes for two are worse than a 64-byte frame for one; a bigger overhead turns that round."""
    assert worst_cells(10 * (129 + ETH), 128, ETH) == 20
    assert worst_cells(10 * (64 + 2), 128, 2) == 2 * -(-10 * (64 + 2) // (129 + 2))


def test_a_byte_less_than_the_edge_is_a_cell_less():
    """S13: at a cell's boundary the headroom moves by whole frames, never down."""
    last = 0
    for data in range(2000):
        now = worst_cells(data, 64, ETH)
        assert now >= last
        last = now


def test_longer_cables_and_slower_decoders_want_more():
    assert headroom(2).cells < headroom(50).cells < headroom(100).cells
    assert headroom(2).cells < headroom(2, phy="kp4").cells
    extra = headroom(102).cells - headroom(2).cells
    assert extra == 2 * 100 * spec().value("cable.ns_per_m_fibre")  # a cell a cycle, both ways


def test_parts():
    room = headroom(2, egress=128)
    assert room.cells == room.arriving + room.stored + room.queued + room.pipeline
    # the egress FIFO and its link's, which a paused lane's frames leave all the same
    assert room.queued == 128 + spec().integer("latency.link.fifo_beats")
    assert room.pipeline == spec().cycles("latency.switch.lookup") + 2
    assert room.arriving <= room.response  # a cell a cycle at most
    assert headroom(2, egress=64).cells == room.cells - 64


@pytest.mark.parametrize(("roce", "cell", "cells"), [(True, 64, 66), (True, 128, 33), (False, 64, 4), (False, 128, 2)])
def test_the_links_receiver_holds_what_it_has_not_checked(roce, cell, cells):
    """RoCE: a frame is passed on when its FCS was right, so nearly all of a largest one is there and unseen; native: a
    segment."""
    room = headroom(2, roce=roce, cell=cell)
    assert (room.stored, room.cells - cells) == (cells, headroom(2, roce=roce, cell=cell, stored=0).cells)


def test_the_response_by_hand():
    """2 m, LL-FEC: (66 x 64 + 20 + 64 + 20 bytes at 50 a cycle, 87) + 2 x (24 + 64 + 10 ns) + 16 + links: the pause is
    seen a cycle late, leaves in 3, the last beats too, and come out 5 behind the PHY."""
    assert headroom(2).response == 87 + 2 * 98 + 16 + 1 + 3 + 3 + 5
    assert headroom(2, phy="kp4").response == headroom(2).response + 2 * 29


def test_a_lane_of_the_fabrics_switches_reaches_two_metres():
    """The rest of the buffer still holds a largest frame before the pause."""
    for phy in PHYS:
        assert headroom(2, phy=phy).cells + spec().integer("frame.max_beats") < spec().integer("link.port_cells")


def test_the_roce_profiles_threshold_leaves_the_headroom():
    """What the fabric's switches and NICs are set to holds all that can arrive over 2 m with the slower decoder."""
    room = headroom(2, phy="kp4", roce=True).cells
    assert spec().integer("profile.roce.xoff") + room <= spec().integer("link.port_cells")
    assert spec().integer("profile.roce.xoff") <= thresholds(spec().integer("link.port_cells"), room)[0]


def test_thresholds_leave_exactly_the_headroom():
    assert thresholds(512, 434) == (78, 39)
    assert thresholds(256, 255) == (1, 0)
    assert thresholds(256, 0) == (256, 128)
    for room in (256, 914, -1):
        with pytest.raises(ValueError, match=rf"headroom is {room} cells; allowed: 0 to 255.*link\.buffer_cells"):
            thresholds(256, room)


def test_the_longest_cable_is_the_longest():
    longest = reach(1024)
    assert headroom(longest).cells < 1024 <= headroom(longest + 1).cells
    assert reach(100) == -1
    assert reach(1024, phy="kp4") < longest


@pytest.mark.parametrize(
    ("metres", "phy", "said"), [(-1, "llfec", "metres is -1"), (2, "fec", "phy is 'fec'; allowed")]
)
def test_a_cable_that_cannot_be_is_named(metres, phy, said):
    with pytest.raises(ValueError, match=said):
        headroom(metres, phy=phy)
