# SPDX-License-Identifier: Apache-2.0
"""Streams as records: conversions and comparison."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernel import Beat
from models.protocol import Hdr
from tb.common.beats import (
    UNKNOWN,
    Frame,
    StreamFormat,
    beats_from_frames,
    beats_from_items,
    frames_from_beats,
    items_from_beats,
)
from tb.common.compare import compare_beats, compare_events

AXIS = StreamFormat()
SIZES = (0, 1, 63, 64, 65, 127, 128, 129, 4096)


def test_frames_survive_the_way_to_beats_and_back() -> None:
    rng = np.random.default_rng(3)
    fmt = StreamFormat(side_bits=Hdr.width())
    frames = [Frame(rng.bytes(n), cycle=100 * i, side=(i << 70) | n) for i, n in enumerate(SIZES)]
    back = frames_from_beats(beats_from_frames(frames, fmt), fmt)
    assert [f.data for f in back] == [f.data for f in frames]
    assert [f.side for f in back] == [f.side for f in frames]
    assert [f.cycle for f in back] == [f.cycle for f in frames]
    assert [len(f.cycles) for f in back] == [max(1, -(-n // 64)) for n in SIZES]


@pytest.mark.parametrize(("gaps", "cycles"), [(0, [5, 6, 7, 8]), (2, [5, 8, 11, 14]), ([3], [5, 9, 10, 11])])
def test_gaps_push_later_beats_back(gaps: int | list[int], cycles: list[int]) -> None:
    records = beats_from_frames([Frame(bytes(256), cycle=5, gaps=gaps)], AXIS)
    assert records["cycle"].tolist() == cycles


def test_keep_and_last_by_hand() -> None:
    records = beats_from_frames([Frame(bytes(66))], AXIS)
    assert records["keep"].tolist() == [[255] * 8, [3, 0, 0, 0, 0, 0, 0, 0]]
    assert records["flags"].tolist() == [0, 1]


def test_model_items_and_bundles() -> None:
    fmt = StreamFormat(side_bits=Hdr.width())
    hdr = Hdr(psn=0xFFFFFF, va=1 << 63)
    items = [(7, Beat(b"abc", True, hdr)), (9, Beat(b"", True, Hdr()))]
    records = beats_from_items(items, fmt)
    assert items_from_beats(records, fmt, Hdr.unpack) == items


def test_comparison_tells_content_from_cycle() -> None:
    want = beats_from_frames([Frame(bytes(range(130)), cycle=10)], AXIS)
    assert compare_beats("x", want.copy(), want, AXIS).ok
    late = want.copy()
    late["cycle"][2] += 3
    result = compare_beats("x", late, want, AXIS)
    assert (result.mismatched, result.content, result.checked) == (1, 0, 3)
    assert "cycle differs by +3" in result.lines[0]
    assert "frame 0, beat 2" in result.lines[0]
    wrong = want.copy()
    wrong["data"][1][17] ^= 1
    result = compare_beats("x", wrong, want, AXIS)
    assert (result.mismatched, result.content) == (0, 1)
    assert "bytes 17" in "\n".join(result.lines)


def test_bytes_outside_keep_do_not_count_but_unknown_bits_do() -> None:
    want = beats_from_frames([Frame(b"abc")], AXIS)
    other = want.copy()
    other["data"][0][3:] = 0xEE
    assert compare_beats("x", other, want, AXIS).ok
    other["flags"] |= UNKNOWN
    assert compare_beats("x", other, want, AXIS).content == 1


def test_lost_and_additional_beats() -> None:
    want = beats_from_frames([Frame(bytes(128))], AXIS)
    assert compare_beats("x", want[:1], want, AXIS).missing == 1
    assert compare_beats("x", want, want[:1], AXIS).extra == 1
    assert not compare_beats("x", want[:0], want, AXIS).ok


def test_events() -> None:
    got = np.array([(4, 1), (9, 2)], [("cycle", "<u4"), ("value", "<u4")])
    assert compare_events("e", got, [(4, 1), (9, 2)]).ok
    result = compare_events("e", got, [(4, 1), (8, 3)])
    assert (result.mismatched, result.content) == (1, 1)
    wide = np.array([(4, (1, 2))], [("cycle", "<u4"), ("value", "<u4", (2,))])
    assert compare_events("e", wide, [(4, 2 << 32 | 1)]).ok
