# SPDX-License-Identifier: Apache-2.0
"""What coverage reads off records."""

import numpy as np

from tb.common import observe
from tb.common.beats import Frame, StreamFormat, beats_from_frames
from tb.common.phase import event_dtype

AXIS = StreamFormat()
FRAMES = [Frame(bytes(1)), Frame(bytes(64), 5), Frame(bytes(130), 9, gaps=(0, 3))]


def test_frames_by_arrays():
    records = beats_from_frames(FRAMES, AXIS)
    first, last = observe.spans(records)
    assert (first.tolist(), last.tolist()) == ([0, 1, 2], [0, 1, 4])
    assert observe.sizes(records).tolist() == [1, 64, 130]
    assert observe.holes(records).tolist() == [False, False, True]
    assert [len(a) for a in observe.spans(records[:0])] == [0, 0] and len(observe.sizes(records[:0])) == 0
    assert observe.sizes(records[:4]).tolist() == [1, 64]  # an unfinished frame is none


def test_waits_count_from_when_a_beat_could_be_offered():
    played = beats_from_frames([Frame(bytes(64)), Frame(bytes(64)), Frame(bytes(64), 20)], AXIS)
    taken = played.copy()
    taken["cycle"] = [1, 6, 20]
    assert observe.waits(played, taken).tolist() == [0, 4, 0]
    assert observe.waits(played[:0], taken[:0]).tolist() == []


def test_levels():
    freed = np.array([(4, 2), (6, 1)], event_dtype(8))
    assert observe.held(np.array([1, 2, 3]), freed).tolist() == [0, 0, 1, 2, 3, 1, 1, 0]
    assert observe.held(np.array([], int), freed[:0]).tolist() == [0, 0]
    changes = np.array([(0, 512), (5, 500), (9, 3)], event_dtype(16))
    assert observe.value_at(changes, np.array([0, 4, 5, 8, 9, 99])).tolist() == [512, 512, 500, 500, 3, 3]


def test_stalls_are_the_sink_s_and_repeat_with_its_pattern():
    spans = np.array([0, 1, 2, 4]), np.array([0, 3, 2, 5])
    assert observe.stalled([1, 1, 0], *spans).tolist() == [False, True, True, True]
    assert observe.stalled([1], *spans).tolist() == [False] * 4
    assert observe.stalled(None, *spans).tolist() == [False] * 4
    assert observe.stalled([0], spans[0][:0], spans[1][:0]).tolist() == []
