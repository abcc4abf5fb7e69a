# SPDX-License-Identifier: Apache-2.0
"""CRC-32 of IEEE 802.3 beat by beat: a beat's own share is worked out once, sums of beats are made of shares.

The register after a beat is the register moved on by the beat's length (as over zeros), XORed with what the beat alone
makes of a register of zeros. So an intact beat's bytes are looked at once, however often it is sent.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from models.jit import inlined
from models.link_jit import compiled

Array = npt.NDArray[Any]

START = 0xFFFFFFFF
RESIDUE = 0xDEBB20E3
"""Register behind a frame whose last four bytes are its FCS."""
_POLY = 0xEDB88320


@cache
def tables(beat: int) -> Array:
    """(12, 256): 0..7 bytes followed by so many zero bytes; 8..11 a register's bytes moved on by ``beat`` bytes."""
    t = np.zeros((12, 256), np.int64)
    for byte in range(256):
        register = byte
        for _ in range(8):
            register = register >> 1 ^ (_POLY if register & 1 else 0)
        t[0, byte] = register
    for k in range(1, 8):
        t[k] = t[0, t[k - 1] & 0xFF] ^ t[k - 1] >> 8
    for k in range(4):
        moved: Array = np.arange(256, dtype=np.int64) << 8 * k
        for _ in range(beat):
            moved = t[0, moved & 0xFF] ^ moved >> 8
        t[8 + k] = moved
    return t


@inlined
def share(t: Any, data: Any, count: int) -> int:
    """What ``data[:count]`` makes of a register of zeros."""
    r: Any = 0
    n = 0
    while n + 8 <= count:
        r ^= np.int64(data[n]) | np.int64(data[n + 1]) << 8 | np.int64(data[n + 2]) << 16 | np.int64(data[n + 3]) << 24
        r = (
            t[7, r & 255] ^ t[6, r >> 8 & 255] ^ t[5, r >> 16 & 255] ^ t[4, r >> 24]
            ^ t[3, np.int64(data[n + 4])] ^ t[2, np.int64(data[n + 5])]
            ^ t[1, np.int64(data[n + 6])] ^ t[0, np.int64(data[n + 7])]
        )  # fmt: skip
        n += 8
    while n < count:
        r = t[0, (r ^ np.int64(data[n])) & 255] ^ r >> 8
        n += 1
    return r


@inlined
def add(t: Any, register: int, beat_share: int, count: int, width: int) -> int:
    """The register behind a beat of ``count`` bytes; ``width``: bytes that the tables move on by."""
    r = register
    if count == width:
        r = t[8, r & 255] ^ t[9, r >> 8 & 255] ^ t[10, r >> 16 & 255] ^ t[11, r >> 24]
    else:
        for _ in range(count):
            r = t[0, r & 255] ^ r >> 8
    return r ^ beat_share


@inlined
def with_header(t: Any, register: int, header: int) -> int:
    """The CRC of beats and the header behind them, lowest byte first."""
    r = register ^ header
    return (t[3, r & 255] ^ t[2, r >> 8 & 255] ^ t[1, r >> 16 & 255] ^ t[0, r >> 24]) ^ START


@compiled
def shares(t: Array, data: Array, count: Array, padded: bool, out: Array) -> None:
    """Shares of many beats: of all their bytes (``padded``) or of the valid ones."""
    width = data.shape[1]
    for n in range(len(count)):
        out[n] = share(t, data[n], width if padded else count[n])
