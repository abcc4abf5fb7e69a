# SPDX-License-Identifier: Apache-2.0
"""How large a buffer is (docs/link.md): what is sent never waits for credits when a lane has the computed cells. The
need of a traffic is measured on ends that wait for none: what had left and was not known to be free when a frame
started, and a largest frame."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from models.link_config import default_cfg, phy_cycles
from models.link_size import credit_cells, flight, largest, longest_cable
from models.link_volume import EndStimulus, LinkStimulus, simulate_link
from models.spec import spec
from tests.unit.link_kit import CABLE, FLIGHT, MAX, SMALL, end

CELLS = 63


def need(sizes, lane, at, *, lanes=1, data_w=512, cable=CABLE):
    """Cells that a lane has to have for these frames (beats, lane, earliest cycle of each) never to wait."""
    config = end(lanes, data_w, gate=0, cells=CELLS, replay_max=255, **SMALL)
    beats, lane = np.asarray(sizes), np.asarray(lane)
    stop = np.cumsum(beats)
    start, n = stop - beats, int(stop[-1])
    data, count, last = np.zeros((n, config.beat), np.uint8), np.full(n, config.beat), np.zeros(n, np.int64)
    data[start, 0], count[stop - 1], last[stop - 1] = lane << 4, 1, 1
    stim = EndStimulus(data, count, last, last * 0, np.repeat(at, beats))
    o = simulate_link(config, config, cable, LinkStimulus(stim, EndStimulus()), int(np.max(at)) + 2 * n + 900)
    assert len(o.a.tx) == n
    worst = 0
    for v in range(lanes):
        known = o.a.credits[o.a.credits["lane"] == v]
        begins = o.a.tx["leaves"][start[lane == v]]
        value = np.concatenate(([16 * CELLS], known["value"]))[np.searchsorted(known["cycle"], begins, side="right")]
        out = (16 * CELLS - value.astype(np.int64)) & 0x7FFF
        worst = max(worst, int(out.max(initial=0)))
    return -(-MAX // config.beat) + worst


def random_traffic(rng, lanes, segment):
    """Bursts of a busy lane that others touch now and then, behind idle times and single frames."""
    sizes, lane, at, t = [], [], [], 1
    for _ in range(12):
        t += int(rng.integers(1, 300))
        for _ in range(int(rng.integers(12))):
            sizes.append(int(rng.integers(1, segment + 1)))
            lane.append(int(rng.integers(lanes)))
            at.append(t)
            t += int(rng.integers(20))
        busy, mix, often = int(rng.integers(lanes)), rng.choice((0, 0.02, 0.1, 0.3)), int(rng.integers(1, segment + 1))
        for _ in range(400 // often):
            sizes.append(often if rng.random() < 0.7 else int(rng.integers(1, segment + 1)))
            lane.append(busy if rng.random() > mix else int(rng.integers(lanes)))
            at.append(t)
        t += 420
    return sizes, lane, at


@pytest.mark.parametrize("data_w", [512, 1024])
@pytest.mark.parametrize("lanes", [1, 2, 3, 5, 8, 16])
def test_no_traffic_waits_for_credits(lanes, data_w):
    rng = np.random.default_rng([lanes, data_w])
    cell = data_w // 8
    enough = credit_cells(FLIGHT, cell, lanes)
    worst = max(need(*random_traffic(rng, lanes, 256 // cell), lanes=lanes, data_w=data_w) for _ in range(12))
    assert credit_cells(FLIGHT, cell) - 3 <= worst <= enough


MET = [1, 4, 3, 3, 3, 3, 3, 3, 3, 4]


@pytest.mark.parametrize("cable", [20, 60, 250])
def test_one_lane_reaches_its_cells(cable):
    """A frame alone, and what follows so much later that an ACK falls due with the sixteenth cell after its CF."""
    sizes = MET + [1] * (300 + 4 * cable)
    at = [400] + [441] * (len(sizes) - 1)
    got = need(sizes, [0] * len(sizes), at, cable=cable)
    # the credits that the measurement lends end at 1008 cells
    assert got == credit_cells(FLIGHT + cable - CABLE)
    late = [400] + [442] * (len(sizes) - 1)
    assert need(sizes, [0] * len(sizes), late, cable=cable) == got - 1


def test_wide_beats_reach_their_cells():
    rng = np.random.default_rng(7)
    traffic = [random_traffic(rng, 1, 2) for _ in range(10)]
    assert max(need(*x, data_w=1024) for x in traffic) == credit_cells(FLIGHT, 128)


def crowd(lanes, offset):
    """Lane 0 at full rate until its CFs are in step, then all lanes filled so that none is far ahead, a CF's time each
    and a lane fewer, then the last of them alone, at full rate."""
    lane = [0] * (96 + offset)
    for left in range(lanes, 1, -1):
        lane += [lanes - left + n % left for n in range(32)]
    lane += [lanes - 1] * 300
    return [1] * len(lane), lane, [1] * len(lane)


@pytest.mark.parametrize("lanes", [3, 4, 8, 16])
def test_a_crowd_of_lanes_needs_more_than_one_does_and_no_more_than_computed(lanes):
    got = max(need(*crowd(lanes, offset), lanes=lanes) for offset in range(32))
    assert credit_cells(FLIGHT) < got <= credit_cells(FLIGHT, 64, lanes)


def test_the_lane_with_the_most_goes_with_the_turn():
    """Sixteen lanes, of which one is busy and the others are touched once a CF: every CF names the busy one."""
    sizes = [1] * 3000
    lane = [5 if n % 16 else n // 16 % 16 for n in range(3000)]
    config = end(16, gate=0, cells=CELLS, **SMALL)
    frames = [bytes([v << 4]) + bytes(63) for v in lane]
    o = simulate_link(
        config, config, CABLE, LinkStimulus(EndStimulus.of_frames(frames, 64, [1] * len(sizes)), EndStimulus()), 3000
    )
    words = [int(w) for w in o.b.ctl["word"] if int(w) >> 8 & 0xFF == 0x10][2:]
    named = [{w >> 19 & 0x1F, w >> 43 & 0x1F} for w in words]
    assert len(named) > 80
    assert all(5 in pair for pair in named)
    others = {v for pair in named for v in pair}
    assert others == set(range(16)), "and none of the others starves"


@pytest.mark.parametrize("fec", ["llfec", "kp4"])
@pytest.mark.parametrize("cell", [64, 128])
def test_the_figures_hold_the_longest_cable(fec, cell):
    """Cells that the fabric grants, and the record: ACKs come like CFs, from the verdict on, for whole segments."""
    s = spec()
    tx, rx = phy_cycles(fec)
    way = flight(tx, longest_cable(), rx)
    computed = [credit_cells(way, cell, lanes) for lanes in range(1, 17)]
    assert all(a <= b for a, b in pairwise(computed))
    assert computed[-1] <= s.integer("link.grant_cells") <= 16 * 63
    assert s.integer("link.grant_cells") == 16 * default_cfg().cells
    record = 2 * way + s.cycles("latency.link.verdict") + 2 * s.cycles("link.ctl_spacing") + 2 * (256 // cell) + 4
    assert record + largest(cell) <= s.integer("link.replay_beats")
