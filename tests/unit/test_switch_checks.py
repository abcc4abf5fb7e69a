# SPDX-License-Identifier: Apache-2.0
"""The switch bench's checks without a model can fail: records with one thing wrong, which each must name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tb.common.beats import StreamFormat
from tb.switch.checks import whole
from tb.switch.goals import stalls

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
