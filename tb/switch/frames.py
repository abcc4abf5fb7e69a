# SPDX-License-Identifier: Apache-2.0
"""Frames for the switch, built by whole arrays: headers as docs/switch.md H1 and H2 read them, a tag, random bytes.

A frame's tag is its input and its number among that input's frames, in the four bytes that hold the BTH's
AckReq byte and PSN (native: from byte 16, behind a GRH from byte 56; RoCE: from byte 50): it names the frame at the
output without a model.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tb.common.beats import LAST, Records, keep_bits
from tb.switch.shape import Shape

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
TAG_NATIVE, TAG_GLOBAL, TAG_ROCE = 16, 56, 50
MIN_NATIVE, MIN_GLOBAL, MIN_ROCE = 26, 66, 64  # bytes; RoCE: an Ethernet frame with its FCS
ETH_IPV4 = 0x0800
UDP_PORT = 4791


@dataclass
class Batch:
    """Frames of one input, an entry a frame; ``extra``: further cycles before each beat but a frame's first.

    ``stated``: bytes that the header speaks of, -1 for the truth. ``cycle``: earliest of the first beat. ``damage``:
    how the header is wrong (:data:`DAMAGES`), 0 not at all. ``ecn``: the IPv4 field, RoCE only. ``gap``: bytes of a
    global route header or none. ``qp``, ``src``: what the flow hash looks at besides the destination.
    """

    size: Ints
    dest: Ints
    lane: Ints
    cycle: Ints
    stated: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    damage: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    ecn: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    grh: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    flow: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    extra: Ints | None = None

    def __post_init__(self) -> None:
        n = len(self.size)
        defaults = {"stated": -1, "damage": 0, "ecn": 2, "grh": False, "flow": 0}
        for name, value in defaults.items():
            if not len(getattr(self, name)):
                kind = np.bool_ if name == "grh" else np.int64
                setattr(self, name, np.full(n, value, kind))

    def __len__(self) -> int:
        return len(self.size)

    def beats(self, width: int) -> Ints:
        """Beats of each frame."""
        found: Ints = np.maximum(1, -(-self.size // width))
        return found


# Damages of a header, by number; each is one reason of H1 or H2 ("short": fewer valid bytes than the header has).
DAMAGES = {
    0: ("", "version", "lnh", "lane", "pktlen", "global_pktlen"),
    1: ("", "ethertype", "ihl", "total_length"),
}


def _below(flow: Ints, limit: int, least: int = 0) -> Ints:
    """Numbers from ``least`` to below ``limit``, every other one the largest of them."""
    return np.where(flow % 2 == 1, limit - 1, least + flow % (limit - least))


def native_size(size: npt.ArrayLike) -> Ints:
    """The next smaller size that a native frame can have: words and a VCRC."""
    found: Ints = np.maximum(MIN_NATIVE, (np.asarray(size, np.int64) - 2) // 4 * 4 + 2)
    return found


def fit(size: npt.ArrayLike, roce: int) -> Ints:
    """A size that the format can have, not larger but for the smallest."""
    return np.maximum(MIN_ROCE, np.asarray(size, np.int64)) if roce else native_size(size)


def _put(flat: Bytes, at: Ints, value: npt.ArrayLike, width: int) -> None:
    """Big-endian ``value`` at the offsets ``at``."""
    words = np.broadcast_to(np.asarray(value, np.int64), at.shape)
    for k in range(width):
        flat[at + k] = (words >> 8 * (width - 1 - k) & 0xFF).astype(np.uint8)


def _native(flat: Bytes, at: Ints, b: Batch, lanes: int) -> None:
    stated = np.where(b.stated < 0, b.size, b.stated)
    words = (stated - 2) // 4
    vl, version, lnh = b.lane.copy(), np.zeros(len(b), np.int64), np.where(b.grh, 3, 2)
    names = np.array(DAMAGES[0])[b.damage]
    version[names == "version"] = 1 + b.flow[names == "version"] % 15
    lnh[names == "lnh"] = b.flow[names == "lnh"] % 2
    vl[names == "lane"] = lanes + b.flow[names == "lane"] % (16 - lanes)
    words[names == "pktlen"] = _below(b.flow[names == "pktlen"], 6)
    words[names == "global_pktlen"] = _below(b.flow[names == "global_pktlen"], 16, 6)
    lnh[names == "global_pktlen"] = 3
    _put(flat, at, vl << 4 | version, 1)
    _put(flat, at + 1, (flat[at + 1] & 0xF0).astype(np.int64) | lnh, 1)
    _put(flat, at + 2, b.dest & 0xFFFF, 2)
    _put(flat, at + 4, (b.dest >> 16 & 0x1F) << 3 | words >> 8 & 7, 1)
    _put(flat, at + 5, words & 0xFF, 1)
    _put(flat, at + 6, b.flow & 0xFFFF, 2)


def _roce(flat: Bytes, at: Ints, b: Batch) -> None:
    total = np.where(b.stated < 0, b.size, b.stated) - 18
    names = np.array(DAMAGES[1])[b.damage]
    kind = np.full(len(b), ETH_IPV4, np.int64)
    kind[names == "ethertype"] = ETH_IPV4 ^ 1 << b.flow[names == "ethertype"] % 16
    ihl = np.full(len(b), 0x45, np.int64)
    ihl[names == "ihl"] = 0x45 ^ 1 << b.flow[names == "ihl"] % 8
    total[names == "total_length"] = _below(b.flow[names == "total_length"], 28)
    _put(flat, at + 12, kind, 2)
    _put(flat, at + 14, ihl, 1)
    _put(flat, at + 15, b.lane << 5 | b.ecn & 3, 1)
    _put(flat, at + 16, total, 2)
    _put(flat, at + 20, 0x4000, 2)  # do not fragment
    _put(flat, at + 22, 64, 1)
    _put(flat, at + 23, 17, 1)  # UDP
    _put(flat, at + 24, 0, 2)
    _put(flat, at + 26, 0x0A000000 | b.flow >> 16 & 0xFFFF, 4)
    _put(flat, at + 30, b.dest, 4)
    _put(flat, at + 34, 0xC000 | b.flow & 0x3FFF, 2)
    _put(flat, at + 36, UDP_PORT, 2)
    _put(flat, at + 38, total - 20, 2)
    _put(flat, at + 40, 0, 2)
    check = np.zeros(len(b), np.int64)
    for k in range(14, 34, 2):
        check += flat[at + k].astype(np.int64) << 8 | flat[at + k + 1]
    check = (check & 0xFFFF) + (check >> 16)
    check = (check & 0xFFFF) + (check >> 16)
    _put(flat, at + 24, check ^ 0xFFFF, 2)


def _seal(flat: Bytes, at: Ints, size: Ints) -> None:
    """The FCS of each Ethernet frame, least significant byte first."""
    view = flat.data
    crc = [zlib.crc32(view[a : a + n - 4]) for a, n in zip(at.tolist(), size.tolist(), strict=True)]
    words = np.array(crc, np.int64)
    for k in range(4):
        flat[at + size - 4 + k] = (words >> 8 * k & 0xFF).astype(np.uint8)


def build(rng: np.random.Generator, shape: Shape, roce: int, port: int, b: Batch) -> Records:
    """Play records of ``b`` for input ``port``. Bytes behind a frame's end in its last beat are random, not valid."""
    fmt, w = shape.axis, shape.data_bytes
    if not len(b):
        return fmt.empty()
    beats = b.beats(w)
    first = np.cumsum(beats) - beats
    n = int(beats.sum())
    flat = np.frombuffer(bytearray(rng.bytes(n * w)), np.uint8)
    at = first * w
    number = np.arange(len(b))
    if roce:
        _roce(flat, at, b)
        tag = np.full(len(b), TAG_ROCE)
    else:
        _native(flat, at, b, shape.lanes)
        tag = np.where(flat[at + 1] & 3 == 3, TAG_GLOBAL, TAG_NATIVE)
    _put(flat, at + tag, port << 24 | number, 4)
    if roce:
        sealed = b.size >= MIN_ROCE
        _seal(flat, at[sealed], b.size[sealed])
    out = fmt.empty(n)
    out["data"] = flat.reshape(-1, w)
    owner = np.repeat(number, beats)
    index = np.arange(n) - first[owner]
    out["keep"] = keep_bits(np.minimum(w, b.size[owner] - index * w), fmt)
    out["flags"] = (index == beats[owner] - 1) * LAST
    cycle = b.cycle[owner] + index
    if b.extra is not None:
        total = np.cumsum(np.where(index == 0, 0, b.extra))
        cycle += total - total[first][owner]
    out["cycle"] = cycle
    return out


def tags(records: Records, first: Ints, roce: int) -> tuple[Ints, Ints]:
    """(input, number) by the tags of the frames whose first beats these are."""
    head = records["data"][first]
    at = np.full(len(first), TAG_ROCE) if roce else np.where(head[:, 1] & 3 == 3, TAG_GLOBAL, TAG_NATIVE)
    rows = np.arange(len(first))
    word = np.zeros(len(first), np.int64)
    for k in range(4):
        word = word << 8 | head[rows, at + k]
    return word >> 24, word & 0xFFFFFF


def lanes_of(records: Records, first: Ints, roce: int, lanes: int) -> Ints:
    """Lane by a good frame's first beat."""
    at = 15 if roce else 0
    field_ = records["data"][first][:, at].astype(np.int64) >> (5 if roce else 4)
    return np.where(field_ < lanes, field_, 0)
