# SPDX-License-Identifier: Apache-2.0
"""The link's model against arithmetic: pace, latency, goodput, credits, pauses. No model in what is expected."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from models.link import cable_cycles, phy_cycles
from models.link_config import LinkConfig
from models.link_volume import EndStimulus, LinkStimulus, simulate_link
from models.spec import spec
from tests.unit.link_kit import (
    CABLE,
    CTL,
    FIRST,
    FLIGHT,
    MAX,
    OVERHEAD,
    RATE,
    RX,
    SMALL,
    TRAILER,
    TX_OUT,
    VERDICT,
    end,
    good,
    lost,
    payload,
    run,
)  # fmt: skip


def leaving(size: int, beat: int, roce: bool) -> list[int]:
    """Cycles behind its first beat's in which a frame's beats leave an idle link: the first whose bytes reach them."""
    seg, rate = 256 // beat, RATE * beat // 64
    cycles, before = [0], 0
    for k in range(-(-size // beat)):
        at = before // rate
        if k:
            cycles.append(max(at, cycles[-1] + 1))
        before += beat + (0 if roce or (k + 1) % seg else TRAILER)
    return cycles


@pytest.mark.parametrize("fec", ["llfec", "kp4"])
@pytest.mark.parametrize("roce", [0, 1])
@pytest.mark.parametrize("data_w", [512, 1024])
@pytest.mark.parametrize("size", [64, 128, 256, 300, 512, 1024, 2048, 4096, 4224])
def test_latency_at_zero_load(fec, roce, data_w, size):
    tx, rx = phy_cycles(fec)
    metres = cable_cycles(2)
    a = end(data_w=data_w, roce=roce, kp4=int(fec == "kp4"))
    o = run(a, [payload(size, roce=bool(roce))], cable=metres, cycles=1000)
    out = [FIRST + c for c in leaving(size, a.beat, bool(roce))]
    assert o.a.tx["leaves"].tolist() == out
    assert o.a.tx["cycle"].tolist() == [c + TX_OUT + tx for c in out]
    way = TX_OUT + tx + metres + rx + RX
    n = len(out)
    seg = n if roce else 256 // a.beat
    shown, free = [], 0
    for k in range(n):
        free = max(free + 1, out[min(n, (k // seg + 1) * seg) - 1] + way)
        shown.append(free)
    assert o.b.m["cycle"].tolist() == shown
    assert good(o.b) == [payload(size, roce=bool(roce))]


@pytest.mark.parametrize("roce", [0, 1])
@pytest.mark.parametrize("size", [114, 512, 4138])
def test_line_rate_is_arithmetic(roce, size):
    """Frames one behind the other, nothing to wait for: frame n begins when its bytes' time has come."""
    wire = size + (OVERHEAD if roce else TRAILER * -(-size // 256))
    frames = 4000 * RATE // wire  # before the first set is due that says nothing new
    o = run(end(roce=roce, **SMALL), [payload(size, roce=bool(roce))] * frames, cycles=8000)
    starts = o.a.tx["leaves"][o.a.tx_beat() % -(-size // 64) == 0]
    assert [int(c) for c in starts] == [FIRST + n * wire // RATE for n in range(frames)]


@pytest.mark.parametrize("data_w", [512, 1024])
def test_goodput_both_ways(data_w):
    """What left in a busy time is the rate, less nothing: data, trailers and control sets add up to the byte."""
    frames = [payload(4096)] * (150 * data_w // 512)
    o = run(end(data_w=data_w), frames, frames, cycles=11_000, cable=10)
    rate = RATE * data_w // 512
    for x in (o.a, o.b):
        tx, begin, stop = x.tx, 2000, 11_000
        inside = (tx["leaves"] >= begin) & (tx["leaves"] < stop)
        sets = (x.ctl["leaves"] >= begin) & (x.ctl["leaves"] < stop)
        data = int(tx["count"][inside].sum())
        sent = data + TRAILER * int(tx["last"][inside].sum()) + CTL * int(sets.sum())
        assert abs(sent - rate * (stop - begin)) <= 2 * (data_w // 8 + TRAILER + CTL)
        # one acknowledgement for each 2 KiB, one credit update for each KiB or, where sets are 16 cycles apart, later
        assert data / (rate * (stop - begin)) > 4096 / (4096 + 16 * TRAILER + 8 * CTL) - 0.002
        gaps = np.diff(x.ctl["leaves"])
        assert gaps.min() >= spec().cycles("link.ctl_spacing")


@pytest.mark.parametrize("cnt_init", [0, 32_700])
@pytest.mark.parametrize("lanes", [1, 4])
def test_credits_stop_a_frame_that_might_not_fit(cnt_init, lanes):
    frames = [payload(4138, n, lane=lanes - 1) for n in range(20)]
    a = end(lanes=lanes, cnt_init=cnt_init, cells=20, **SMALL)
    never = {"go": [0]}
    o = run(a, frames, cycles=6000, stim_b=never)
    beats, cells = -(-4138 // 64), 320
    fit = (cells - MAX // 64) // beats + 1  # frames that start with credits for a largest one
    assert len(o.b.m) == fit * beats
    last = {}
    for row in o.a.credits:
        last[int(row["lane"])] = int(row["value"])
    assert last == {v: cells - (fit * beats if v == lanes - 1 else 0) for v in range(lanes)}


@pytest.mark.parametrize("cnt_init", [0, 32_000])
def test_credits_are_conserved(cnt_init):
    lanes = 3
    frames = [payload(64 * (1 + n % 9), n, lane=n % lanes) for n in range(300)]
    stim = {"go": [1, 0, 0, 1, 1], "free_all": False}
    o = run(end(lanes=lanes, cnt_init=cnt_init, cells=8, **SMALL), frames, cycles=12_000, stim_b=stim)
    assert good(o.b) == frames
    freed, given = np.zeros(lanes, int), np.zeros(lanes, int)
    np.add.at(freed, o.b.free["lane"], o.b.free["value"])
    np.add.at(given, o.a.credit["lane"], o.a.credit["value"])
    cells = [sum(-(-len(f) // 64) for n, f in enumerate(frames) if n % lanes == v) for v in range(lanes)]
    assert freed.tolist() == given.tolist() == cells
    assert all(0 <= row["value"] <= 128 for row in o.a.credits)
    # never a frame's start without room for a largest one
    level = dict.fromkeys(range(lanes), 128)
    changes = {(int(r["cycle"]), int(r["lane"])): int(r["value"]) for r in o.a.credits}
    starts = {int(c): int(b) for c, b in zip(o.a.tx["leaves"], o.a.tx_beat(), strict=True)}
    first = np.concatenate([[0], np.cumsum([-(-len(f) // 64) for f in frames])[:-1]]).tolist()
    for cycle in range(12_000):
        for v in range(lanes):
            level[v] = changes.get((cycle, v), level[v])
        if starts.get(cycle, -1) in first:
            assert level[first.index(starts[cycle]) % lanes] >= MAX // 64


def test_one_credit_comes_back_in_time():
    """Freed at c, in the counter at c+1, told a cycle later; m_credit two cycles behind the PHY, credits one."""
    o = run(end(**SMALL), [payload(64)], cycles=400)
    shown = FIRST + FLIGHT + RX
    assert o.b.free.tolist() == [(shown + 2, 0, 1)]
    cf = [row for row in o.b.ctl if int(row["word"]) >> 8 & 0xFF == 0x10]
    ack = FIRST + FLIGHT + VERDICT + 1
    assert o.b.ctl["leaves"][0] == ack
    assert cf[0]["leaves"] == max(shown + 4, ack + spec().cycles("link.ctl_spacing"))
    behind = int(cf[0]["leaves"]) + FLIGHT
    assert o.a.credit.tolist() == [(behind + 2, 0, 1)]
    all_ = 16 * o.a.config.cfg.cells
    assert o.a.vector("credits") == [(0, all_), (FIRST + 1, all_ - 1), (behind + 1, all_)]


def test_native_frames_may_have_holes_and_roce_frames_not():
    frame = payload(640, roce=True)
    at = [1, 1, 1, 1, 1, 60, 60, 60, 60, 60]
    for roce in (0, 1):
        stim = EndStimulus.of_frames([frame, payload(64, 1, roce=True)], 64)
        stim.cycle[:10] = at
        stim.cycle[10:] = 1
        o = simulate_link(end(roce=roce, **SMALL), end(roce=roce, **SMALL), CABLE, LinkStimulus(stim), 1000)
        if not roce:
            assert good(o.b) == [frame, payload(64, 1, roce=True)]
            continue
        # five beats, backlog above the rate, then the ending beat; the rest of the frame is thrown away
        assert o.a.tx["kind"].tolist() == [0, 0, 0, 0, 0, 2, 0]
        after = FIRST + 5 * 64 // RATE
        assert o.a.tx["leaves"][5] == max(after, FIRST + 5)
        assert (o.a.tx["count"][5], o.a.tx["last"][5], o.a.tx["first"][5]) == (1, True, False)
        assert o.a.events(13) == [int(o.a.tx["leaves"][5]) + 1]
        assert o.a.events(16) == [60 + 4 + 1 + 1]
        assert good(o.b) == [payload(64, 1, roce=True)]
        assert o.b.events(11) == [int(o.a.tx["leaves"][5]) + FLIGHT + VERDICT + 1]


def test_pause_lasts_its_quanta():
    refresh = spec().cycles("pfc.refresh")
    a = end(roce=1, lanes=2, **SMALL)
    cycles = 100_000
    passes = [101 + refresh * k + TX_OUT + 5 + CABLE for k in range(1, cycles // refresh + 1)]
    o = run(a, [], cycles=cycles, stim_a={"s_pause": [(100, 2)]}, stim_b={"errors": lost(passes)})
    assert o.a.tx["leaves"].tolist() == [101 + refresh * k for k in range((cycles - 102) // refresh + 1)]
    begin = 101 + FLIGHT + VERDICT + 1
    quanta = 0xFFFF * 64
    assert o.b.pausing == [(0, 0), (begin, 2), (begin + -(-quanta // RATE), 0)]


@pytest.mark.parametrize("gate", [0, 1])
def test_pause_stops_a_lane_at_frames(gate):
    a = end(roce=1, lanes=2, gate=gate, **SMALL)
    frames = [payload(1000, n, roce=True, lane=n % 2) for n in range(40)]
    o = run(a, frames, cycles=4000, stim_b={"s_pause": [(200, 1), (1500, 0)]})
    begin, stop = (t + 1 + FLIGHT + VERDICT + 1 for t in (200, 1500))
    assert o.a.pausing == [(0, 0), (begin, 1), (stop, 0)]
    assert good(o.b) == frames
    starts = [int(c) for c, f, b in zip(o.a.tx["leaves"], o.a.tx["first"], o.a.tx_beat() // 16 % 2, strict=True)
              if f and b == 0]  # fmt: skip
    held = [c for c in starts if begin <= c < stop]
    assert (not held) == bool(gate)


def test_off_tells_the_place_in_the_wire():
    """Backlog by hand: 64 and 8 more after a segment's last beat, 50 less a cycle; a set before the beat."""
    o = run(end(**SMALL), [payload(320)] * 10, [payload(320)] * 10, cycles=600)
    for x in (o.a, o.b):
        backlog, at = 0, 0
        beats = {int(r["leaves"]): r for r in x.tx}
        sets = {int(r["leaves"]): r for r in x.ctl}
        for at in range(600):
            charge = 0
            if at in sets:
                assert sets[at]["off"] == backlog
                charge = CTL
            if at in beats:
                assert backlog < RATE
                assert beats[at]["off"] == backlog + charge
                charge += int(beats[at]["count"]) + TRAILER * int(beats[at]["last"])
            backlog = max(0, backlog + charge - RATE)
        assert len(beats) == 50


def test_wrong_configuration_is_refused():
    with pytest.raises(ValueError, match="data_w is 256"):
        LinkConfig(256)
    with pytest.raises(ValueError, match="lanes is 9"):
        end(lanes=9, roce=1)
    with pytest.raises(ValueError, match="retrain is 0"):
        end(retrain=0)


def test_gaps_between_tiny_frames():
    """A frame of one byte a cycle: the FIFO covers the slack, one leaves in each cycle."""
    o = run(end(**SMALL), [payload(1, n) for n in range(50)], cycles=300)
    assert all(y - x == 1 for x, y in pairwise(o.a.tx["leaves"].tolist()))
    assert len(o.b.m) == 50
