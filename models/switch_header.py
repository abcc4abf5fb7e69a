# SPDX-License-Identifier: Apache-2.0
"""Header fields of first beats: rules H1 to H4 of docs/switch.md, for many beats at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.jit import inlined
from models.switch_config import SwitchConfig
from models.switch_jit import compiled, ones
from models.switch_state import H_BEATS, H_DEST, H_INFO, INFO_BAD, INFO_ECT, INFO_LANE, INFO_NEED, NEVER, NH

Array = npt.NDArray[Any]
_POLYNOMIAL = 0x1021
_ROCE_AROUND = 18  # Ethernet header and FCS


def _shift(register: int) -> int:
    for _ in range(8):
        register = (register << 1) ^ (_POLYNOMIAL if register & 0x8000 else 0)
    return register & 0xFFFF


def _tables(count: int) -> Array:
    """Row n: what a byte gives with n bytes behind it, to be added up."""
    rows = [[_shift(byte << 8) for byte in range(256)]]
    for _ in range(count - 1):
        rows.append([(register << 8 & 0xFFFF) ^ rows[0][register >> 8] for register in rows[-1]])
    return np.array(rows, np.uint16)


_TABLES = _tables(12)


@inlined
def _word(data: Array, n: int, at: int, count: int) -> int:
    """A number from bytes, the first one highest."""
    value: Any = 0
    for k in range(at, at + count):
        value = value << 8 | np.int64(data[n, k])
    return value


@inlined
def _hash(tables: Array, value: int, count: int, behind: int) -> int:
    """H4: what the ``count`` bytes of a number give to the CRC-16 when ``behind`` bytes follow."""
    found: Any = 0
    for k in range(count):
        found ^= np.int64(tables[behind + k, value >> 8 * k & 255])
    return found


@inlined
def _info(flow: int, lane: int, bad: bool, ect: bool) -> int:
    return flow | lane << INFO_LANE | (1 << INFO_BAD if bad else 0) | (1 << INFO_ECT if ect else 0)


@inlined
def _native(data: Array, n: int, valid: int, lanes: int, tables: Array, seed: int, head: Array, to: int) -> int:
    """H1; returns the stated bytes."""
    lane = _word(data, n, 0, 1) >> 4
    lnh = _word(data, n, 1, 1) & 3
    words = _word(data, n, 4, 2) & 0x7FF
    bad = data[n, 0] & 15 != 0 or lnh < 2 or lane >= lanes or words < 6 or valid < 26
    bad = bad or (lnh == 3 and (words < 16 or valid < 64))
    dest = _word(data, n, 4, 1) >> 3 << 16 | _word(data, n, 2, 2)
    flow = _hash(tables, dest ^ seed << 16, 4, 8)
    flow ^= _hash(tables, _word(data, n, 6, 2), 2, 6)
    flow ^= _hash(tables, _word(data, n, 53 if lnh == 3 else 13, 3), 3, 3)  # and three zeros
    head[to, H_DEST] = dest
    head[to, H_INFO] = _info(flow, 0 if bad else lane, bad, False)
    return 4 * words + 2


@inlined
def _roce(data: Array, n: int, valid: int, lanes: int, tables: Array, seed: int, head: Array, to: int) -> int:
    """H2; returns the stated bytes."""
    lane = _word(data, n, 15, 1) >> 5
    length = _word(data, n, 16, 2)
    dest = _word(data, n, 30, 4)
    flow = _hash(tables, dest ^ seed << 16, 4, 8)
    flow ^= _hash(tables, _word(data, n, 26, 4), 4, 4)
    flow ^= _hash(tables, _word(data, n, 34, 2), 2, 2)  # and two zeros
    bad = _word(data, n, 12, 3) != 0x080045 or length < 28 or valid < 42
    head[to, H_DEST] = dest
    ect = _word(data, n, 15, 1) & 3 in (1, 2)
    head[to, H_INFO] = _info(flow, 0 if lane >= lanes else lane, bad, ect)
    return length + _ROCE_AROUND


@inlined
def _row(
    data: Array, n: int, valid: int, roce: bool, lanes: int, seed: int, tables: Array, head: Array, to: int
) -> None:  # fmt: skip
    """The row ``to`` of ``Feed.head`` for the first beat ``n``."""
    if roce:
        stated = _roce(data, n, valid, lanes, tables, seed, head, to)
    else:
        stated = _native(data, n, valid, lanes, tables, seed, head, to)
    head[to, H_INFO] |= max(1, (stated + data.shape[1] - 1) // data.shape[1]) << INFO_NEED


@compiled
def _fields(data: Array, valid: Array, roce: bool, lanes: int, seed: int, tables: Array, head: Array) -> None:
    for n in range(len(data)):
        _row(data, n, valid[n], roce, lanes, seed, tables, head, n)


@compiled
def _beats(
    raw: Array, at: Array, everywhere: bool, roce: bool, lanes: int, seed: int, tables: Array,
    play: Array, head: Array, free: int,
) -> int:  # fmt: skip
    """``raw``: records of an input as bytes; ``at``: where cycle, flags, keep and data begin, then bytes of cycle, keep
    and data."""
    cycle, flags, keep, data, long, keeps, width = at
    bytes_ = raw[:, data : data + width]
    begins = True
    beats_ = 0
    for n in range(len(raw)):
        when = np.int64(raw[n, cycle]) | np.int64(raw[n, cycle + 1]) << 8
        when |= np.int64(raw[n, cycle + 2]) << 16 | np.int64(raw[n, cycle + 3]) << 24
        if long == 8:
            for k in range(4, 8):
                when |= np.int64(raw[n, cycle + k]) << 8 * k
        last = np.int64(raw[n, flags]) & 1
        play[n] = when << 1 | last
        if begins or everywhere:
            valid = 0
            for k in range(keep, keep + keeps):
                valid += ones(np.uint64(raw[n, k]))
            _row(bytes_, n, valid, roce, lanes, seed, tables, head, free)
            head[free, H_BEATS] = NEVER
            free += 1
            beats_ = 0
        beats_ += 1
        begins = last != 0
        if begins:
            head[free - 1, H_BEATS] = beats_
    return free


def _plain(records: Array) -> Array:
    """Records whose cycle has four or eight bytes, lowest first."""
    if records.dtype["cycle"].newbyteorder("<") == records.dtype["cycle"] and records.dtype["cycle"].itemsize in (4, 8):
        return np.ascontiguousarray(records)
    fields: Any = records.dtype.fields
    new = np.dtype([(name, "<i8" if name == "cycle" else kind[0]) for name, kind in fields.items()])
    return records.astype(new)


def beats(config: SwitchConfig, records: Array, everywhere: bool, play: Array, head: Array, free: int) -> int:
    """One pass over the play records of an input.

    Fills ``play`` (``Feed.play``), one a record, and the rows of ``head`` from ``free`` on, one for each record with
    which a frame can begin: ``everywhere``, or behind a last one. Returns the next free row.
    """
    records = _plain(records)
    fields: Any = records.dtype.fields
    sizes = (records.dtype[name].itemsize for name in ("cycle", "keep", "data"))
    at = (*(fields[name][1] for name in ("cycle", "flags", "keep", "data")), *sizes)
    raw = records.view(np.uint8).reshape(len(records), records.dtype.itemsize)
    return int(_beats(raw, at, everywhere, config.roce, config.lanes, config.seed, _TABLES, play, head, free))


def headers(config: SwitchConfig, data: Array, valid: Array) -> Array:
    """Rows of ``Feed.head`` for first beats: ``data`` (n, data_bytes), ``valid`` bytes of each."""
    head = np.empty((len(data), NH), np.int64)
    _fields(
        np.array(data, np.uint8, order="C"),
        valid.astype(np.int64),
        config.roce,
        config.lanes,
        config.seed,
        _TABLES,
        head,
    )
    return head
