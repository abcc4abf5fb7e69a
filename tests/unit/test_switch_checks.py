# SPDX-License-Identifier: Apache-2.0
"""The switch bench's checks without a model can fail: records with one thing wrong, which each must name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tb.common.beats import StreamFormat
from tb.switch.checks import whole
from tb.switch.goals import alone, load, stalls, theory
from tb.switch.goals_flow import headroom, reroute

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
    return Some(run_dir=tmp_path, param=lambda _name, default: default)


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
