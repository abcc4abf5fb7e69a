# SPDX-License-Identifier: Apache-2.0
"""Checks of the switch bench beside a hot output and a dead port can fail: records with one thing wrong each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tb.switch.goals_hot import alone, stopped, undisturbed
from tb.switch.goals_stranded import holes

Some: Any = SimpleNamespace  # stands for a trace, a phase, an item: what a check reads of it


def trace(wait: int = 0, late: int = 0, saf: bool = False):
    """Ten frames of two beats from input 0 to output 1, the fifth ``wait`` cycles late out, or ``late`` cycles in."""
    offered = 100 + 2 * np.arange(10)
    came = offered + late * (np.arange(10) == 5)
    left = came + alone() + saf + wait * (np.arange(10) == 5)
    out = Some(source=np.zeros(10, np.int64), number=np.arange(10), cycle=left, beats=np.full(10, 2))
    none = Some(source=np.zeros(0, np.int64), number=np.zeros(0, np.int64), cycle=np.zeros(0, np.int64))
    t = Some(shape=Some(ports=2, saf=saf), left=[none, out], entered=[Some(cycle=came)])
    info = {"undisturbed": (0, 0), "hot": "behind", "batch": {0: Some(cycle=offered)}}
    return t, Some(item=Some(info=info))


@pytest.mark.parametrize("saf", [False, True])
@pytest.mark.parametrize(("wait", "late", "most", "said"), [(0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 0), (0, 1, 0, 1),
                                                            (-1, 0, 0, 1)])  # fmt: skip
def test_frames_beside_a_hot_output_leave_in_their_cycle(monkeypatch, saf, wait, late, most, said):
    monkeypatch.setattr("tb.switch.goals_hot.figure", lambda *_, **__: None)
    t, phase = trace(wait, late, saf)
    phase.item.info["undisturbed"] = (0, most)
    assert len(undisturbed(Mock(), t, phase)) == said


def test_no_frame_beside_a_hot_output_tests_nothing(monkeypatch):
    monkeypatch.setattr("tb.switch.goals_hot.figure", lambda *_, **__: None)
    t, phase = trace()
    t.left = [t.left[0], t.left[0]]
    assert undisturbed(Mock(), t, phase)


@pytest.mark.parametrize(("window", "said"), [((0, 100), 0), ((0, 118), 1), ((0, 10_000), 1), ((500, 600), 1)])
def test_the_control_wants_the_others_to_stop_and_to_go_on(monkeypatch, window, said):
    monkeypatch.setattr("tb.switch.goals_hot.figure", lambda *_, **__: None)
    t, phase = trace()
    phase.item.info["stopped"] = (0, *window)
    assert len(stopped(Mock(), t, phase)) == said


def test_holes_of_a_stream():
    assert holes(np.array([10, 11, 14, 15, 17])).tolist() == [12, 13, 16]
