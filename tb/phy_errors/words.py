# SPDX-License-Identifier: Apache-2.0
"""Words of a cable for the bench of phy_errors: arrays as models/link_errors.py has them, and their play records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.link_errors import CTL_OFF, CTL_VALID, OFF, SIDE, VALID
from models.phy_errors import RATE, SIZE, PhyErrors
from models.protocol import CableSide
from tb.common.beats import LAST, Records, StreamFormat, keep_bits

Array = npt.NDArray[Any]
REACH = 320
"""What passes ends before this place (docs/link.md, E2)."""
SIDE_W = CableSide.width() - 1
WIDTHS = CableSide.WIDTHS[1:]  # without the signal, which is a level


@dataclass
class Words:
    """``at`` (n) cycles, ``side`` (n, 10) as SIDE, ``data`` (n, bytes of a beat)."""

    at: Array
    side: Array
    data: Array

    def records(self) -> Records:
        """As the player and the monitor have them: keep is the count, every word is a frame."""
        return to_records(self.at, self.side, self.data)


def to_records(at: Array, side: Array, data: Array) -> Records:
    """Records of words."""
    fmt = StreamFormat(data.shape[1], SIDE_W)
    out = fmt.empty(len(at))
    out["cycle"], out["flags"], out["data"] = at, LAST, data
    out["keep"] = keep_bits(side[:, -1].astype(np.int64), fmt)
    for n, row in enumerate(side.tolist()):
        word = 0
        for (_, width), value in zip(WIDTHS, row[1:-1], strict=True):
            word = word << width | value
        out["side"][n] = np.frombuffer(word.to_bytes(fmt.side_bytes, "little"), np.uint8)
    return out


def make(rng: np.random.Generator, at: Array, beat: int, sets: float = 0.4, beats: float = 0.8) -> Words:
    """Random words at these cycles, a share with a control set, a share with a beat, none without both. Places: as a
    link has them, and now and then anything that E2 allows."""
    n = len(at)
    side = np.zeros((n, len(SIDE)), np.uint64)
    side[:, CTL_VALID] = rng.random(n) < sets
    side[:, VALID] = rng.random(n) < beats
    side[side[:, VALID] == 0, CTL_VALID] = 1
    near = rng.integers(0, 2 * beat, (n, 2))
    far = rng.integers(0, [REACH - 8 + 1, REACH - 8 - beat + 1], (n, 2))
    side[:, [CTL_OFF, OFF]] = np.where(rng.random((n, 2)) < 0.8, np.minimum(near, [REACH - 8, REACH - 8 - beat]), far)
    side[:, [2, 8]] = np.frombuffer(rng.bytes(16 * n), np.uint64).reshape(n, 2)
    side[:, [5, 6]] = rng.random((n, 2)) < 0.5
    count = np.where(rng.random(n) < 0.5, beat, rng.integers(1, beat + 1, n))
    side[:, 9] = count * (side[:, VALID] != 0)
    data = rng.integers(0, 256, (n, beat), np.uint8)
    return Words(np.asarray(at, np.int64), side, data)


def place(errors: PhyErrors, data_w: int, cycle: int) -> int:
    """Bytes from a cycle's first byte to the end of its codeword."""
    st, _ = errors.arrays(data_w)
    size, rate = int(st[SIZE]), int(st[RATE])
    return size - cycle * rate % size
