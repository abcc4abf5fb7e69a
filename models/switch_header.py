# SPDX-License-Identifier: Apache-2.0
"""Header fields of first beats: rules H1 to H4 of docs/switch.md, for many beats at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.switch_config import SwitchConfig
from models.switch_state import H_BAD, H_DEST, H_ECT, H_FLOW, H_LANE, H_NEED, NH

Array = npt.NDArray[Any]
_POLYNOMIAL = 0x1021
_ROCE_AROUND = 18  # Ethernet header and FCS


def _shift(register: int) -> int:
    for _ in range(8):
        register = (register << 1) ^ (_POLYNOMIAL if register & 0x8000 else 0)
    return register & 0xFFFF


_TABLE = np.array([_shift(byte << 8) for byte in range(256)], np.int64)


def flow_hash(key: Array, seed: int) -> Array:
    """CRC-16 of each row of ``key`` (n, bytes), as ``binascii.crc_hqx(row, seed)``."""
    register = np.full(len(key), seed, np.int64)
    for column in key.T:
        register = (register << 8 & 0xFFFF) ^ _TABLE[register >> 8 ^ column]
    return register


def _word(data: Array, *at: int) -> Array:
    """A number from bytes, the first one highest."""
    value = np.zeros(len(data), np.int64)
    for n in at:
        value = value << 8 | data[:, n]
    return value


def _native(data: Array, valid: Array, lanes: int) -> tuple[Array, Array, Array, Array, Array]:
    """(malformed, lane, destination, stated bytes, flow key) by H1."""
    lane = data[:, 0] >> 4
    lnh = data[:, 1] & 3
    words = (data[:, 4] & 7) << 8 | data[:, 5]
    long = lnh == 3
    bad = (data[:, 0] & 15 != 0) | (lnh < 2) | (lane >= lanes) | (words < 6) | (long & (words < 16))
    bad |= (valid < 26) | (long & (valid < 64))
    dest = data[:, 4] >> 3 << 16 | _word(data, 2, 3)
    pair = np.where(long[:, None], data[:, 53:56], data[:, 13:16])
    zeros = np.zeros((len(data), 3), np.int64)
    top = np.stack([dest >> 24, dest >> 16 & 255, dest >> 8 & 255, dest & 255], axis=1)
    return bad, np.where(bad, 0, lane), dest, 4 * words + 2, np.hstack([top, data[:, 6:8], pair, zeros])


def _roce(data: Array, valid: Array, lanes: int) -> tuple[Array, Array, Array, Array, Array]:
    """The same by H2."""
    lane = data[:, 15] >> 5
    length = _word(data, 16, 17)
    bad = (_word(data, 12, 13) != 0x0800) | (data[:, 14] != 0x45) | (length < 28) | (valid < 42)
    zeros = np.zeros((len(data), 2), np.int64)
    key = np.hstack([data[:, 30:34], data[:, 26:30], data[:, 34:36], zeros])
    return bad, np.where(lane >= lanes, 0, lane), _word(data, 30, 31, 32, 33), length + _ROCE_AROUND, key


def headers(config: SwitchConfig, data: Array, valid: Array) -> Array:
    """Rows of ``Feed.head`` for first beats: ``data`` (n, data_bytes), ``valid`` bytes of each."""
    wide = data.astype(np.int64)
    bad, lane, dest, stated, key = (_roce if config.roce else _native)(wide, valid, config.lanes)
    head = np.empty((len(data), NH), np.int64)
    head[:, H_LANE] = lane
    head[:, H_BAD] = bad
    head[:, H_DEST] = dest
    head[:, H_NEED] = np.maximum(1, -(-stated // config.data_bytes))
    head[:, H_FLOW] = flow_hash(key, config.seed)
    head[:, H_ECT] = config.roce & np.isin(wide[:, 15] & 3, (1, 2))
    return head
