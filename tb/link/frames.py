# SPDX-License-Identifier: Apache-2.0
"""Frames for the link, built by whole arrays: a lane where the link looks for it, random bytes, an FCS (RoCE)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numba
import numpy as np
import numpy.typing as npt

from tb.common.beats import LAST, Records, keep_bits
from tb.common.observe import Ints
from tb.link.shape import Shape

MIN_ROCE = 64
PFC_DEST = bytes.fromhex("0180c2000001")
LANE_NATIVE, LANE_ROCE = 0, 15  # bytes with the lane
Flags = npt.NDArray[np.bool_]


_TABLE = np.array([zlib.crc32(bytes([i])) ^ zlib.crc32(b"\0") ^ 0 for i in range(256)], np.uint32)


@numba.njit(cache=True)
def _crc(flat: npt.NDArray[np.uint8], at: Ints, size: Ints, table: npt.NDArray[np.uint32]) -> Ints:
    out = np.zeros(len(at), np.int64)
    for i in range(len(at)):
        c = np.uint32(0xFFFFFFFF)
        for k in range(at[i], at[i] + size[i]):
            c = table[(c ^ flat[k]) & np.uint32(0xFF)] ^ (c >> np.uint32(8))
        out[i] = c ^ np.uint32(0xFFFFFFFF)
    return out


def checksums(flat: npt.NDArray[np.uint8], at: Ints, size: Ints) -> Ints:
    """The FCS of each frame: CRC-32 of IEEE 802.3 over ``size`` bytes from ``at`` on."""
    found: Ints = _crc(flat, at.astype(np.int64), size.astype(np.int64), _TABLE)
    return found


@dataclass
class Batch:
    """Frames of one end, an entry a frame.

    ``cycle``: earliest of the first beat; ``user``: the frame is said to be damaged (native); ``bad``: its FCS is wrong
    (RoCE); ``extra``: further cycles before each beat but a frame's first, an entry a beat; ``whole``: bytes of frames
    that are given as they are, by index.
    """

    size: Ints
    lane: Ints
    cycle: Ints
    user: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    bad: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    extra: Ints | None = None
    whole: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("user", "bad"):
            if not len(getattr(self, name)):
                setattr(self, name, np.zeros(len(self.size), np.bool_))
        for index, data in self.whole.items():
            self.size[index] = len(data)

    def __len__(self) -> int:
        return len(self.size)

    def beats(self, width: int) -> Ints:
        """Beats of each frame."""
        found: Ints = np.maximum(1, -(-self.size // width))
        return found


def pfc_frame(enabled: int, times: list[int]) -> bytes:
    """An IEEE 802.1Qbb frame: classes enabled, eight times in quanta of 512 bits."""
    head = PFC_DEST + bytes(6) + bytes.fromhex("88080101") + enabled.to_bytes(2, "big")
    body = (head + b"".join(t.to_bytes(2, "big") for t in times)).ljust(MIN_ROCE - 4, b"\0")
    return body + zlib.crc32(body).to_bytes(4, "little")


def build(rng: np.random.Generator, shape: Shape, roce: int, b: Batch) -> Records:
    """Play records of ``b``. Bytes behind a frame's end in its last beat are random, not valid."""
    fmt, w = shape.axis, shape.bb
    if not len(b):
        return fmt.empty()
    beats = b.beats(w)
    first = np.cumsum(beats) - beats
    n = int(beats.sum())
    flat = np.frombuffer(bytearray(rng.bytes(n * w)), np.uint8)
    at = first * w
    if roce:
        flat[at] &= 0xFE  # no multicast address: no frame of flow control by chance
        flat[at + 12], flat[at + 13] = 0x08, 0x00
        flat[at + LANE_ROCE] = flat[at + LANE_ROCE] & 0x1F | b.lane.astype(np.uint8) << 5
        words = checksums(flat, at, b.size - 4) ^ b.bad
        for k in range(4):
            flat[at + b.size - 4 + k] = (words >> 8 * k & 0xFF).astype(np.uint8)
    else:
        flat[at] = flat[at] & 0x0F | b.lane.astype(np.uint8) << 4
    for index, data in b.whole.items():
        flat[at[index] : at[index] + len(data)] = np.frombuffer(data, np.uint8)
    out = fmt.empty(n)
    out["data"] = flat.reshape(-1, w)
    owner = np.repeat(np.arange(len(b)), beats)
    step = np.arange(n) - first[owner]
    out["keep"] = keep_bits(np.minimum(w, b.size[owner] - step * w), fmt)
    out["flags"] = (step == beats[owner] - 1) * LAST
    cycle = b.cycle[owner] + step
    if b.extra is not None:
        total = np.cumsum(np.where(step == 0, 0, b.extra))
        cycle += total - total[first][owner]
    out["cycle"] = cycle
    out["side"][:, 0] = b.user[owner]
    return out


def lanes_of(records: Records, first: Ints, roce: int, lanes: int) -> Ints:
    """Lane of the frames whose first beats these are."""
    head = records["data"][first]
    lane = head[:, LANE_ROCE].astype(np.int64) >> 5 if roce else head[:, LANE_NATIVE].astype(np.int64) >> 4
    return np.where(lane < lanes, lane, 0)
