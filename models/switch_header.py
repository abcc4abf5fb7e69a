# SPDX-License-Identifier: Apache-2.0
"""Header fields of first beats: rules H1 to H4 of docs/switch.md, for many beats at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.switch_config import SwitchConfig
from models.switch_jit import compiled, inlined, ones
from models.switch_state import H_BAD, H_DEST, H_ECT, H_FLOW, H_LANE, H_NEED, NH

Array = npt.NDArray[Any]
_POLYNOMIAL = 0x1021
_ROCE_AROUND = 18  # Ethernet header and FCS


def _shift(register: int) -> int:
    for _ in range(8):
        register = (register << 1) ^ (_POLYNOMIAL if register & 0x8000 else 0)
    return register & 0xFFFF


_TABLE = np.array([_shift(byte << 8) for byte in range(256)], np.int64)


@inlined
def _word(data: Array, n: int, at: int, count: int) -> int:
    """A number from bytes, the first one highest."""
    value: Any = 0
    for k in range(at, at + count):
        value = value << 8 | np.int64(data[n, k])
    return value


@inlined
def _hash(table: Array, register: int, value: int, count: int) -> int:
    """H4: CRC-16 over the ``count`` bytes of a number, the highest first."""
    for k in range(count - 1, -1, -1):
        register = (register << 8 & 0xFFFF) ^ table[register >> 8 ^ (value >> 8 * k & 255)]
    return register


@inlined
def _native(data: Array, n: int, valid: int, lanes: int, table: Array, flow: int, head: Array) -> int:
    """H1; returns the stated bytes."""
    lane = _word(data, n, 0, 1) >> 4
    lnh = _word(data, n, 1, 1) & 3
    words = _word(data, n, 4, 2) & 0x7FF
    bad = data[n, 0] & 15 != 0 or lnh < 2 or lane >= lanes or words < 6 or valid < 26
    bad = bad or (lnh == 3 and (words < 16 or valid < 64))
    dest = _word(data, n, 4, 1) >> 3 << 16 | _word(data, n, 2, 2)
    flow = _hash(table, flow, dest, 4)
    flow = _hash(table, flow, _word(data, n, 6, 2), 2)
    flow = _hash(table, flow, _word(data, n, 53 if lnh == 3 else 13, 3), 3)
    head[n, H_BAD] = bad
    head[n, H_LANE] = 0 if bad else lane
    head[n, H_DEST] = dest
    head[n, H_FLOW] = _hash(table, flow, 0, 3)
    return 4 * words + 2


@inlined
def _roce(data: Array, n: int, valid: int, lanes: int, table: Array, flow: int, head: Array) -> int:
    """H2; returns the stated bytes."""
    lane = _word(data, n, 15, 1) >> 5
    length = _word(data, n, 16, 2)
    flow = _hash(table, flow, _word(data, n, 30, 4), 4)
    flow = _hash(table, flow, _word(data, n, 26, 4), 4)
    flow = _hash(table, flow, _word(data, n, 34, 2), 2)
    head[n, H_BAD] = _word(data, n, 12, 3) != 0x080045 or length < 28 or valid < 42
    head[n, H_LANE] = 0 if lane >= lanes else lane
    head[n, H_DEST] = _word(data, n, 30, 4)
    head[n, H_FLOW] = _hash(table, flow, 0, 2)
    head[n, H_ECT] = _word(data, n, 15, 1) & 3 in (1, 2)
    return length + _ROCE_AROUND


@inlined
def _row(data: Array, valid: int, roce: bool, lanes: int, seed: int, table: Array, head: Array) -> None:
    """A first beat's row of ``Feed.head``; both arrays have one row."""
    head[0, H_ECT] = 0
    if roce:
        stated = _roce(data, 0, valid, lanes, table, seed, head)
    else:
        stated = _native(data, 0, valid, lanes, table, seed, head)
    head[0, H_NEED] = max(1, (stated + data.shape[1] - 1) // data.shape[1])


@compiled
def _fields(data: Array, valid: Array, roce: bool, lanes: int, seed: int, table: Array, head: Array) -> None:
    for n in range(len(data)):
        _row(data[n : n + 1], valid[n], roce, lanes, seed, table, head[n : n + 1])


@compiled
def _beats(
    raw: Array, at: Array, everywhere: bool, roce: bool, lanes: int, seed: int, table: Array,
    last: Array, key: Array, head: Array, free: int,
) -> int:  # fmt: skip
    """``raw``: records of an input as bytes; ``at``: where flags, keep and data begin, then bytes of keep and data."""
    flags, keep, data, keeps, width = at
    begins = True
    for n in range(len(raw)):
        last[n] = raw[n, flags] & 1
        key[n] = -1
        if begins or everywhere:
            valid = 0
            for k in range(keep, keep + keeps):
                valid += ones(np.uint64(raw[n, k]))
            _row(raw[n : n + 1, data : data + width], valid, roce, lanes, seed, table, head[free : free + 1])
            key[n] = free
            free += 1
        begins = last[n] != 0
    return free


def beats(
    config: SwitchConfig, records: Array, everywhere: bool, last: Array, key: Array, head: Array, free: int
) -> int:
    """One pass over the play records of an input.

    Fills ``last`` and ``key``, one a record, and the rows of ``head`` from ``free`` on, one for each record with which
    a frame can begin: ``everywhere``, or behind a last one. Returns the next free row.
    """
    fields: Any = records.dtype.fields
    keep, data = records.dtype["keep"].itemsize, records.dtype["data"].itemsize
    at = (fields["flags"][1], fields["keep"][1], fields["data"][1], keep, data)
    raw = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.dtype.itemsize)
    return int(_beats(raw, at, everywhere, config.roce, config.lanes, config.seed, _TABLE, last, key, head, free))


def headers(config: SwitchConfig, data: Array, valid: Array) -> Array:
    """Rows of ``Feed.head`` for first beats: ``data`` (n, data_bytes), ``valid`` bytes of each."""
    head = np.empty((len(data), NH), np.int64)
    _fields(
        np.array(data, np.uint8, order="C"),
        valid.astype(np.int64),
        config.roce,
        config.lanes,
        config.seed,
        _TABLE,
        head,
    )
    return head
