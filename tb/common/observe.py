# SPDX-License-Identifier: Apache-2.0
"""What functional coverage reads off records: frames, waits, levels. By whole arrays, no loop over beats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tb.common.beats import LAST, Records

Ints = npt.NDArray[np.int64]
BEAT = 64


def nothing(_ctx: object, _phase: object) -> Iterator[dict[str, object]]:
    """Sampler of a group that a test at the pins fills with ``record``: phases give it no sample."""
    return iter(())


def spans(records: Records) -> tuple[Ints, Ints]:
    """(first, last) beat of each whole frame."""
    last = np.flatnonzero(records["flags"] & LAST)
    return np.concatenate(([0], last[:-1] + 1)).astype(np.int64) if len(last) else last, last


def cycles(records: Records) -> Ints:
    """Cycle of each beat."""
    return records["cycle"].astype(np.int64)


def fills(records: Records, beats: Ints) -> Ints:
    """Valid bytes of the beats with these indices."""
    bits: Ints = np.unpackbits(records["keep"][beats], axis=1).sum(axis=1).astype(np.int64)
    return bits


def sizes(records: Records) -> Ints:
    """Bytes of each whole frame (all beats but the last are full)."""
    first, last = spans(records)
    return (last - first) * BEAT + fills(records, last)


def holes(records: Records) -> npt.NDArray[np.bool_]:
    """By frame: beats did not follow each other cycle by cycle."""
    first, last = spans(records)
    at = cycles(records)
    return (at[last] - at[first] > last - first).astype(np.bool_)


def waits(played: Records, taken: Records) -> Ints:
    """Cycles that each accepted beat of a player was offered before it was taken."""
    at = cycles(taken)
    ready = np.maximum(cycles(played)[: len(at)], 1)
    offered = np.maximum(np.maximum.accumulate(ready), np.concatenate(([0], at[:-1] + 1))) if len(at) else at
    waited: Ints = at - offered
    return waited


def held(taken: Ints, freed: Records) -> Ints:
    """Cells held in each cycle from 0 on: one more after each cycle of ``taken``, fewer after each event."""
    end = int(max(taken.max(initial=0), freed["cycle"].max(initial=0))) + 2
    steps = np.zeros(end, np.int64)
    np.add.at(steps, taken + 1, 1)
    np.subtract.at(steps, freed["cycle"].astype(np.int64) + 1, freed["value"].astype(np.int64))
    level: Ints = np.cumsum(steps)
    return level


def value_at(events: Records, at: Ints) -> Ints:
    """Value of a changing vector (event_recorder with CHANGE) in each of these cycles."""
    index = np.searchsorted(cycles(events), at, side="right") - 1
    found: Ints = events["value"].astype(np.int64)[np.maximum(index, 0)]
    return found


def stalled(pattern: npt.ArrayLike | None, begin: Ints, end: Ints) -> npt.NDArray[np.bool_]:
    """By span of cycles, both ends included: a sink with this ready pattern was not ready in some of them."""
    if pattern is None or not len(begin):
        return np.zeros(len(begin), np.bool_)
    off = ~np.asarray(pattern).astype(bool)
    total = np.concatenate(([0], np.cumsum(np.resize(off, int(end.max()) + 2))))
    found: npt.NDArray[np.bool_] = total[end + 1] > total[begin]
    return found
