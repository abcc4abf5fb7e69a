# SPDX-License-Identifier: Apache-2.0
"""The checks for ports that die and groups that are written can fail: records with one thing wrong, named by each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tb.common.beats import LAST, StreamFormat
from tb.switch.checks_ports import accounts, entered, far_ends, in_order, lives, once

AXIS = StreamFormat()
EVENT = np.dtype([("cycle", "<u4"), ("value", "<u4", (1,))])
Some: Any = SimpleNamespace
BY_FLOW, MULTICAST = 0, 3


def events(*rows: tuple[int, int]):
    """Records of an event vector of up to 32 bits."""
    out = np.zeros(len(rows), EVENT)
    for row, (cycle, value) in zip(out, rows, strict=True):
        row["cycle"], row["value"] = cycle, value
    return out


def stream(*frames: list[int]):
    """Records of frames whose beats are at these cycles."""
    out = AXIS.empty(sum(len(f) for f in frames))
    out["cycle"] = [c for f in frames for c in f]
    out["flags"] = [LAST * (k == len(f) - 1) for f in frames for k in range(len(f))]
    return out


def shape(ports: int = 2):
    return Some(ports=ports, lanes=1, addr_w=4, cells=8)


def account(frames: list[list[int]], live: list[tuple[int, int]], free: list[int]) -> list[str]:
    """One port: beats at cycles, its live, cycles at which a cell came back."""
    t = Some(shape=shape(1), s=[stream(*frames)])
    back = events(*((c, free.count(c)) for c in sorted(set(free))))
    return accounts(t, Some(rows={"live.evt": events(*live), "free.evt": back}))


UP = [(0, 0), (1, 1)]
FALLS = [*UP, (14, 0), (40, 1)]


@pytest.mark.parametrize(
    ("frames", "live", "free", "said"),
    [
        ([[10, 11]], UP, [20, 21], 0),
        ([[10, 11]], UP, [20], 1),  # lost
        ([[10, 11]], UP, [20, 21, 22], 1),  # made
        ([[10, 11]], UP, [20, 20], 0),  # two in one cycle
        # the port falls behind the second of three beats: they and the abort beat; the third is not sent
        ([[10, 11, 50]], FALLS, [20, 21, 22], 0),
        ([[10, 11, 50]], FALLS, [20, 21], 1),
        ([[10, 11, 50]], FALLS, [20, 21, 22, 55], 1),
        ([[10, 11, 50]], FALLS, [20, 21, 45], 2),  # the abort's cell comes to a neighbour that is new
        ([[10, 11], [20, 21]], FALLS, [15, 16], 0),  # what comes to a dead port is swallowed
        ([[10, 11], [20, 45]], FALLS, [15, 16], 0),  # and so is the rest of its frame
        ([[10, 11], [20, 45], [50]], FALLS, [15, 16, 60], 0),
        ([[10, 11], [20, 45], [50]], FALLS, [15, 16, 60, 61], 1),
    ],
)
def test_every_credit_of_an_epoch_comes_back(frames, live, free, said):
    assert len(account(frames, live, free)) == said


def test_a_frame_is_aborted_once():
    t = Some(shape=shape(1), s=[stream([10, 11, 50, 51])])
    phase = Some(rows={"live.evt": events(*FALLS, (45, 0), (48, 1))})
    inside, aborts = entered(t, 0, *lives(t, phase)[0])
    assert (inside.tolist(), aborts.tolist()) == ([10, 11], [14])


def left(numbers: list[int], at: list[int] | None = None):
    """Frames of input 0 that left an output."""
    n = len(numbers)
    cycle = np.array(at if at is not None else 100 + np.arange(n))
    return Some(
        source=np.zeros(n, np.int64), number=np.array(numbers, np.int64), lane=np.zeros(n, np.int64), cycle=cycle
    )


def item(dests: list[int], groups: list[tuple[int, int, int, int]]):
    """Destination d has group d."""
    table = [(1, d, 1, d) for d in range(4)]
    batch = {0: Some(dest=np.array(dests))}
    return Some(cfg={"prefix": 0, "credit_en": 1, "credit_init": 2}, ready={},
                info={"table": table, "groups": groups, "batch": batch, "port_up": [(50, 0)]})  # fmt: skip


ALONE = (1, 0, BY_FLOW, 0b01)
BOTH = (1, 0, MULTICAST, 0b11)


@pytest.mark.parametrize(
    ("groups", "outputs", "said"),
    [
        ([ALONE], [[0, 1, 2], []], 0),
        ([ALONE], [[0, 1, 1], []], 1),  # twice by one output
        ([ALONE], [[0, 1], [1]], 1),  # by two
        ([ALONE], [[0], [1]], 1),  # by one that it never had
        ([BOTH], [[0, 1], [0, 1]], 0),
        ([BOTH], [[0, 1, 1], [0, 1]], 1),  # a branch twice
        ([ALONE, (60, 0, MULTICAST, 0b11)], [[0, 1], [1]], 0),  # written meanwhile: a set
        ([ALONE, (60, 0, MULTICAST, 0b11)], [[0, 1, 1], [1]], 1),
        ([ALONE, (60, 0, BY_FLOW, 0b10)], [[0], [1]], 0),  # another way
        ([ALONE, (60, 0, BY_FLOW, 0b10)], [[0, 1], [1]], 1),
    ],
)
def test_a_frame_leaves_once_by_a_port_of_its_group(groups, outputs, said):
    t = Some(shape=shape(), left=[left(n) for n in outputs])
    assert len(once(t, Some(item=item([0, 0, 0], groups)))) == said


@pytest.mark.parametrize(
    ("groups", "live", "numbers", "said"),
    [
        ([ALONE], [(0, 0), (1, 3)], [0, 1, 2], 0),
        ([ALONE], [(0, 0), (1, 3)], [1, 0, 2], 1),  # overtaken
        ([ALONE], [(0, 0), (1, 3), (60, 2), (70, 3)], [1, 0, 2], 0),  # its port was dead: it may have been moved
        ([ALONE], [(0, 0), (1, 3), (60, 1), (70, 3)], [1, 0, 2], 1),  # another port was
        ([ALONE], [(0, 0), (1, 3), (10, 2), (20, 3)], [1, 0, 2], 1),  # before it came
        ([ALONE], [(0, 0), (1, 3), (150, 2)], [1, 0, 2], 1),  # after it left
        ([BOTH], [(0, 0), (1, 3), (60, 2), (70, 3)], [1, 0, 2], 1),  # multicast frames are never moved
        ([ALONE, (60, 0, MULTICAST, 0b11)], [(0, 0), (1, 3)], [1, 0, 2], 0),  # in which queue, nobody knows
    ],
)
def test_only_a_moved_frame_is_overtaken(groups, live, numbers, said):
    t = Some(shape=shape(), left=[left(numbers), left([])], entered=[Some(cycle=np.array([50, 51, 52]))] * 2)
    phase = Some(item=item([0, 0, 0], groups), rows={"live.evt": events(*live)})
    assert len(in_order(t, phase)) == said


@pytest.mark.parametrize(
    ("live", "frames", "said"),
    [
        (UP, [[10, 11]], 0),
        (UP, [[10, 11, 12]], 1),  # more than two cells before the first comes back
        ([*UP, (12, 0), (13, 1)], [[10, 11], [14, 15]], 0),  # a port that comes up again has a far end that is new
        ([*UP, (12, 0), (13, 1)], [[10, 11], [14, 15, 16]], 1),
    ],
)
def test_a_far_end_has_room_for_what_it_gets(live, frames, said):
    what = item([], [])
    what.ready["cr00"] = np.arange(100) == 50
    t = Some(shape=shape(1), roce=0, m=[stream(*frames)])
    assert len(far_ends(t, Some(item=what, rows={"live.evt": events(*live)}))) == said
