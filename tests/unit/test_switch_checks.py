# SPDX-License-Identifier: Apache-2.0
"""The switch bench's checks without a model can fail: records with one thing wrong, which each must name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.switch_config import SwitchConfig
from models.switch_traffic import Frames, measure
from tb.common.beats import StreamFormat
from tb.switch.checks import whole
from tb.switch.goals import load, stalls, stamps, theory
from tb.switch.goals_flow import headroom, reroute
from tb.switch.goals_hot import alone
from tb.switch.goals_rate import busy, due, line_rate, rate
from tb.switch.shape import Shape

AXIS = StreamFormat()
Some: Any = SimpleNamespace  # stands for a trace, a phase, an item: what a check reads of it


def beats(data: bytes, at: int = 100):
    """Records of one frame, a beat a cycle."""
    n = -(-len(data) // 64)
    out = AXIS.empty(n)
    flat = np.zeros(n * 64, np.uint8)
    flat[: len(data)] = np.frombuffer(data, np.uint8)
    out["data"] = flat.reshape(n, 64)
    out["keep"] = np.packbits((np.arange(n * 64) < len(data)).reshape(n, 64), axis=1, bitorder="little")
    out["cycle"] = at + np.arange(n)
    return out


def frames(numbers: list[int], n: int = 1):
    """What a trace says of frames of input 0, ``n`` beats each."""
    count = len(numbers)
    return Some(
        source=np.zeros(count, np.int64), number=np.array(numbers, np.int64), lane=np.zeros(count, np.int64),
        first=np.arange(count) * n, beats=np.full(count, n), damaged=np.zeros(count, bool),
    )  # fmt: skip


@pytest.mark.parametrize("size", [70, 130, 126])  # the FCS in the last beat, and across two
@pytest.mark.parametrize("at", [15, 24, 25, -1, -4, 14, 16, 26, -5, 50])
def test_a_mark_changes_its_own_bytes_alone(at, size):
    sent = bytes(range(200))[:size]
    left = bytearray(sent)
    left[at] ^= 1
    n = -(-size // 64)
    shape = Some(ports=1, lanes=1, data_bytes=64)
    t = Some(shape=shape, roce=True, left=[frames([0], n)], m=[beats(bytes(left), 200)], s=[beats(sent)],
             entered=[Some(first=np.array([0]), beats=np.array([n]))])  # fmt: skip
    phase = Some(item=Some(cfg={"ecn_at": 1}, info={}))
    assert len(whole(t, phase)) == (at not in (15, 24, 25, -1, -4))
    assert whole(t, Some(item=Some(cfg={"ecn_at": 0}, info={})))


@pytest.mark.parametrize(("back", "full"), [([], True), ([(103, 1)], False), ([(104, 1)], True)])
def test_a_full_buffer_is_one_whose_cells_are_all_in_use(back, full):
    """Four cells, beats accepted at 100 to 103; one given back."""
    rows = np.zeros(len(back), [("cycle", "<u4"), ("value", "<u4", (1,))])
    for row, (cycle, value) in zip(rows, back, strict=True):
        row["cycle"], row["value"] = cycle, value
    t = Some(shape=Some(ports=1, lanes=1, cells=4), s=[beats(bytes(4 * 64))])
    assert bool(stalls(Some(), t, Some(rows={"free.evt": rows}))) is not full


@pytest.fixture
def figures(tmp_path):
    """A run's folder for the figures that a check leaves."""
    return Some(run_dir=tmp_path, param=lambda _name, default: default, option=lambda _name, default: default)


def test_no_frame_is_faster_than_the_latency_table(figures):
    for took, said in ((alone(), 0), (alone() - 1, 1)):
        left = frames([0, 1])
        left.cycle = np.array([200, 210 + took])
        entered = Some(cycle=np.array([200 - alone(), 210]))
        t = Some(shape=Some(ports=1, alloc=1), roce=0, left=[left], entered=[entered])
        assert len(load(figures, t, Some(item=Some(info={"load": "x"})))) == said


@pytest.mark.parametrize(("percent", "said"), [(100, 0), (92, 0), (108, 0), (85, 1), (115, 1), (0, 1)])
def test_a_mean_wait_beside_the_published_one_is_named(figures, percent, said):
    """199 cycles of wait among 100 frames are the 1.99 that iSLIP with 4 iterations has at 70 %."""
    n = 100
    total = 199 * percent // 100
    left = frames(list(range(n)))
    came = 1000 + np.arange(n)
    left.cycle = came + alone() + total // n + (np.arange(n) < total % n)
    t = Some(shape=Some(ports=1, alloc=4), left=[left], entered=[Some(cycle=came)])
    assert len(theory(figures, t, Some(item=Some(info={"theory": ("islip_4", 70, 0)})))) == said


@pytest.mark.parametrize(("queued", "new", "said"), [(0, 0, 0), (1, 0, 1), (-1, 0, 1), (0, 1, 1), (2, -1, 2)])
def test_a_new_way_is_taken_at_its_cycle(figures, queued, new, said):
    left = frames([0, 1])
    left.cycle = np.array([100 + alone() + queued, 101 + alone() + new])
    t = Some(left=[frames([]), left], entered=[Some(cycle=np.array([40, 101]))])
    assert len(reroute(figures, t, Some(item=Some(info={"reroute": (100, 1, 0, 0, 1)})))) == said


@pytest.mark.parametrize(
    ("drops", "cells", "back", "lossless", "said"),
    [
        (0, 3, 300, True, 0),
        (1, 3, 300, True, 1),  # lost though there was room
        (0, 2, 300, True, 1),  # fewer came than the headroom is for
        (0, 3, 102, True, 1),  # a cell came back while they came: no headroom was needed
        (1, 3, 300, False, 0),
        (0, 3, 300, False, 1),  # a cell less, and nothing was lost
    ],
)
def test_headroom_is_used_up_and_no_more(figures, drops, cells, back, lossless, said):
    """Two cells bring the pause; of one more there is room."""
    events = np.dtype([("cycle", "<u4"), ("value", "<u4", (1,))])
    pause, free, drop = np.zeros(2, events), np.zeros(1, events), np.zeros(drops, events)
    pause["cycle"], pause["value"] = [[0, 108], [[0], [1]]]
    free["cycle"], free["value"] = back, 1
    drop["value"] = 4
    entered = Some(lane=np.zeros(1, np.int64), beats=np.array([cells]), end=np.array([102]))
    t = Some(shape=Some(ports=1, lanes=1, quota=8), entered=[entered])
    item = Some(info={"headroom": (0, 0, 1, lossless)}, cfg={"xoff": 2})
    rows = {"s_pause.evt": pause, "free.evt": free, "drop.evt": drop}
    assert len(headroom(figures, t, Some(item=item, rows=rows))) == said


def small(cells=8, max_beats=7, egress=16, saf=False, alloc=1):
    return Shape(3, 1, 64, cells, max_beats, egress, 2, 4, alloc, saf)


@pytest.mark.parametrize(("egress", "gap", "said"), [(16, 0, 0), (16, 1, 1), (8, 1, 0), (8, 0, 1)])
def test_full_rate_is_demanded_where_it_is_owed_and_nowhere_else(figures, egress, gap, said):
    """A gap where every cycle is owed, and no gap where the egress FIFO is too small for that, are both named."""
    m = beats(bytes(64 * 20))
    m["cycle"][10:] += gap
    t = Some(shape=small(egress=egress), roce=0, m=[m])
    assert len(busy(figures, t, Some(item=Some(info={"busy": 62})))) == said


@pytest.mark.parametrize(("late", "said"), [(0, 0), (1, 1), (-1, 1)])
def test_a_size_off_the_wires_rate_is_named(figures, late, said):
    sizes, n = [66, 90, 94, 126], 4
    at = np.concatenate(
        [1000 * k + np.array([due(i, s, 0, 64, rate(64)) for i in range(n)]) for k, s in enumerate(sizes)]
    )
    at[11] += late  # the last frame of the third size
    t = Some(shape=small(), roce=0, left=[Some(cycle=at)])
    assert len(line_rate(figures, t, Some(item=Some(info={"line_rate": (sizes, n)})))) == said
    t.shape = small(egress=8)
    assert "owes no full rate" in line_rate(figures, t, Some(item=Some(info={"line_rate": (sizes, n)})))[0]


@pytest.mark.parametrize("egress", [8, 16, 32])
@pytest.mark.parametrize("max_beats", [1, 3, 7])
@pytest.mark.parametrize("cells", [4, 8, 16])
@pytest.mark.parametrize("saf", [False, True])
def test_full_rate_is_owed_just_where_the_model_keeps_it(egress, max_beats, cells, saf):
    """The closed form of docs/switch.md, Sizes, against the model's answer to the same traffic."""
    if max_beats + 1 > cells or max_beats + 1 > egress:
        return
    config = SwitchConfig(ports=2, cells=cells, max_beats=max_beats, egress=egress, saf=saf)
    n = 60
    first = 1 + np.arange(n) * max_beats
    frames = [Frames(first, np.full(n, 1 - i), np.full(n, max_beats)) for i in range(2)]
    found = measure(config, frames, (40, 1 + n * max_beats))
    kept = found.throughput == 1.0
    assert kept == small(cells, max_beats, egress, saf).full_rate(max_beats)


def test_a_stamp_under_another_name_or_at_another_cycle_is_named(tmp_path):
    """Names of ports from ten on have two digits."""
    (tmp_path / "taps").mkdir()
    ports = 12
    cycle = np.array([100, 120])
    t = Some(shape=Some(ports=ports), entered=[Some(cycle=cycle)] * ports, left=[Some(cycle=cycle + alone())] * ports)
    phase = Some(item=Some(info={"stamps": 0}))
    for p in range(ports):
        (tmp_path / f"taps/sw.voq{p}.tap").write_text("105\n125\n")
        (tmp_path / f"taps/sw.xbar{p}.tap").write_text("109\n129\n")
    assert stamps(Some(run_dir=tmp_path), t, phase) == []
    (tmp_path / "taps/sw.xbar11.tap").write_text("109\n130\n")
    assert len(stamps(Some(run_dir=tmp_path), t, phase)) == 1
    (tmp_path / "taps/sw.xbar11.tap").rename(tmp_path / "taps/sw.xbar;.tap")
    assert "sw.xbar11" in stamps(Some(run_dir=tmp_path), t, phase)[0]
