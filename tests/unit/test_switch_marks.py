# SPDX-License-Identifier: Apache-2.0
"""Checks of the switch bench that read marks, picks and cells off the records can fail: one thing wrong in each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.switch_ecn import mark
from tb.common.beats import frames_from_beats
from tb.switch.checks import conservation
from tb.switch.frames import Batch, build
from tb.switch.goals import fair, latency
from tb.switch.goals_flow import given_up, marks
from tb.switch.goals_hot import alone
from tb.switch.shape import Shape

SHAPE = Shape(1, 1, 64, 8, 4, 16, 2, 4, 1, False)
EVENTS = np.dtype([("cycle", "<u4"), ("value", "<u4", (1,))])
Some: Any = SimpleNamespace  # stands for a trace, a phase, an item: what a check reads of it


@pytest.fixture
def figures(tmp_path):
    """A run's folder for the figures that a check leaves."""
    return Some(run_dir=tmp_path, param=lambda _name, default: default, option=lambda _name, default: default)


def events(n: int, value: int = 1):
    """``n`` events of one value."""
    out = np.zeros(n, EVENTS)
    out["cycle"], out["value"] = 100 + np.arange(n), value
    return out


@pytest.mark.parametrize(("back", "said"), [(5, 0), (4, 1), (6, 1), (0, 1)])
def test_a_cell_lost_and_a_cell_made_are_both_named(back, said):
    """Five beats in: so many cells come back, no more and no fewer."""
    t = Some(shape=SHAPE, s=[SHAPE.axis.empty(5)])
    phase = Some(item=Some(info={"port_up": []}, cfg={"up": 1}), rows={"free.evt": events(back)})
    assert len(conservation(t, phase)) == said


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 1, 2] * 3, 0),
        ([0, 1, 2] * 3 + [0, 0], 0),  # two have nothing left
        ([0, 1, 2, 0, 1, 2, 0, 1, 0, 2], 1),  # one of three missing, in the last window that counts
        ([1, 0, 1, 2, 0, 2, 0, 1, 2], 1),  # in the first
        ([0, 1, 2, 0, 1, 1, 2, 0, 2], 1),  # in the middle
    ],
)
def test_an_input_missing_in_any_window_is_named(order, said):
    t = Some(shape=Some(ports=3), left=[Some(source=np.array(order))])
    assert len(fair(Some(), t, Some(item=Some(info={"fair": 0})))) == said


def sent(size: int = 150):
    """Records of three frames with ECN fields 2, 1 and 0, and their bytes."""
    n = 3
    size_of = np.full(n, size)
    b = Batch(size_of, np.full(n, 3), np.zeros(n, np.int64), 100 + 10 * np.arange(n), ecn=np.array([2, 1, 0]))
    records = build(np.random.default_rng(1), SHAPE, 1, 0, b)
    return records, [f.data for f in frames_from_beats(records, SHAPE.axis)]


def marked(change, want: str = "all", kinds: Any = None, count: int = 2):
    """What `marks` says of the three frames with the capable two marked, byte ``change`` = (frame, byte) flipped."""
    records, before = sent()
    out = records.copy()
    beats = -(-len(before[0]) // 64)
    for k, data in enumerate(before):
        left = bytearray(mark(data))
        if change is not None and change[0] == k:
            left[change[1]] ^= 1
        flat = out["data"][k * beats : (k + 1) * beats].reshape(-1).copy()
        flat[: len(left)] = np.frombuffer(bytes(left), np.uint8)
        out["data"][k * beats : (k + 1) * beats] = flat.reshape(beats, -1)
    t = Some(shape=SHAPE, s=[records], m=[out], left=[Some(source=np.zeros(3, np.int64), number=np.arange(3))])
    info = {"marks": want} | ({"kinds": kinds} if kinds else {})
    return marks(Some(), t, Some(item=Some(info=info), rows={"ecn.evt": events(count)}))


def test_right_marks_are_right():
    assert marked(None) == []
    assert marked(None, "some")  # all that could be were
    assert marked(None, "none")
    assert marked(None, count=3)


@pytest.mark.parametrize("frame", [0, 1, 2])  # of the two marked ones and the one left alone
@pytest.mark.parametrize(("byte", "what"), [(-1, "FCS"), (-4, "FCS"), (24, "checksum"), (60, "other bytes")])
def test_a_byte_wrong_in_a_frame_is_named(frame, byte, what):
    said = marked((frame, byte), count=2 + (frame == 2))
    assert any(what in s or (what == "FCS" and "FCS wrong" in s) for s in said)


def test_a_multicast_frame_that_is_marked_is_named():
    assert any("multicast" in s for s in marked(None, kinds={0: np.array([0, 1, 0])}))
    assert marked(None, kinds={0: np.array([0, 0, 1])}) == []


@pytest.mark.parametrize(("off", "said"), [(0, 0), (1, 1), (-1, 1)])
@pytest.mark.parametrize("late", [-1, 0, 1])
def test_a_pick_that_ends_at_another_cycle_is_named(off, said, late):
    """Frames of M8 by hand: entered at 100, in the queue from 106, given up at 107 + 256."""
    g = 100 + 6 + 1 + 256
    none = Some(source=np.zeros(0, np.int64), number=np.zeros(0, np.int64), cycle=np.zeros(0, np.int64))
    matched = g + late if late <= 0 else g + 1 + 256 + 2
    out = Some(source=np.array([0 if late <= 0 else 1]), number=np.array([0]), cycle=np.array([matched + 9 + off]))
    left = [none, out, none] if late <= 0 else [none, none, out]
    t = Some(entered=[Some(cycle=np.array([100])), Some(cycle=np.array([130]))], left=left)
    row = (late, 0, 0, 1, -1, -1, 1, 0, 2)
    assert len(given_up(Some(), t, Some(item=Some(info={"given_up": [row]})))) == said


@pytest.mark.parametrize("saf", [False, True])
@pytest.mark.parametrize(("extra", "said"), [(0, 0), (1, 1)])
def test_storing_is_no_part_of_the_figure_with_the_target(figures, saf, extra, said):
    """A frame of three beats: stored, two cycles more, in a figure of its own."""
    beats = np.array([1, 3])
    came = np.array([100, 200])
    left = Some(source=np.zeros(2, np.int64), number=np.arange(2), beats=beats,
                cycle=came + alone() + (beats - 1) * saf + extra)  # fmt: skip
    t = Some(shape=Some(ports=1, saf=saf), left=[left], entered=[Some(cycle=came)])
    phase = Some(item=Some(info={"latency": alone(), "sizes": [64, 190]}))
    assert len(latency(figures, t, phase)) == said
    text = "".join(p.read_text() for p in figures.run_dir.glob("*.json"))
    assert ("switch_cycles_stored" in text) is saf
    assert ("switch_cycles_without_storing" in text) is saf
