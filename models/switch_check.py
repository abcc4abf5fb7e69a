# SPDX-License-Identifier: Apache-2.0
"""What a stimulus of the switch's model may be: the core trusts its numbers. ValueError names field, row and what is
allowed. A row's cost is that of a few passes over arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_FIELDS = ("cycle", "flags", "keep", "data")
_CYCLES = 1 << 48


def _column(name: str, what: str, values: Sequence[Any], limit: int) -> Array:
    """Whole numbers below ``limit``."""
    found = np.asarray(values)
    if not len(values):
        return np.zeros(0, np.int64)
    if found.dtype.kind in "iub":
        bad = np.flatnonzero((found < 0) | (found >= limit)).tolist()
    else:
        bad = [n for n, v in enumerate(values) if not isinstance(v, (int, np.integer)) or not 0 <= v < limit]
    if bad:
        raise ValueError(f"{name}[{bad[0]}]: {what} is {values[bad[0]]}; allowed: whole numbers, 0 to {limit - 1}")
    return found.astype(np.int64)


def _mask(name: str, what: str, values: Sequence[Any], bits: int) -> list[int]:
    """Sets as numbers, of any width."""
    for n, value in enumerate(values):
        if not isinstance(value, (int, np.integer)) or not 0 <= value < 1 << bits:
            said = hex(value) if isinstance(value, int) else value
            raise ValueError(f"{name}[{n}]: {what} is {said}; allowed: bits 0 to {bits - 1}")
    return [int(value) for value in values]


def timed(
    name: str, rows: Sequence[tuple[int, ...]], limits: dict[str, int], mask: tuple[str, int] | None = None,
    *, one: bool = False,
) -> tuple[list[Array], list[int]]:  # fmt: skip
    """Timed values by column: the cycle, then numbers below ``limits``, then, as numbers of any width, sets of so many
    bits. Cycles must not fall, nor be the same when only ``one`` is possible."""
    names = ["cycle", *limits, *([mask[0]] if mask else [])]
    for n, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) != len(names):
            raise ValueError(f"{name}[{n}] is {row!r}; allowed: ({', '.join(names)})")
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    cycle = _column(name, "cycle", columns[0], _CYCLES)
    bad = np.flatnonzero(np.diff(cycle) < one)
    if len(bad):
        n = int(bad[0]) + 1
        order = "one a cycle, in order of cycles" if one else "in order of cycles"
        raise ValueError(f"{name}[{n}]: cycle is {cycle[n]}, {cycle[n - 1]} in the row before; allowed: {order}")
    numbers = [_column(name, what, x, top) for (what, top), x in zip(limits.items(), columns[1:], strict=False)]
    return [cycle, *numbers], _mask(name, mask[0], columns[-1], mask[1]) if mask else []


def patterns(given: Sequence[Array | None] | None, ports: int, name: str) -> tuple[Array, Array]:
    """(bits of all, (offset, length) of each output); a length of 0: every cycle."""
    chosen = list(given) if given is not None else [None] * ports
    if len(chosen) != ports:
        raise ValueError(f"{name} has {len(chosen)} entries; allowed: one an output, {ports}")
    at = np.zeros((ports, 2), np.int64)
    bits = [np.zeros(0, np.uint8)]
    offset = 0
    for o, pattern in enumerate(chosen):
        if pattern is not None:
            flat = np.asarray(pattern)
            if flat.ndim != 1 or not flat.size or flat.dtype.kind not in "iub" or flat.min() < 0 or flat.max() > 1:
                raise ValueError(f"{name}[{o}] is {pattern!r}; allowed: None, or bits, one at least")
            at[o] = offset, len(flat)
            offset += len(flat)
            bits.append(flat.astype(np.uint8))
    return np.concatenate(bits), at


def played(beats: Sequence[Any], ports: int, data_bytes: int) -> None:
    """Play records of every input. Cycles may fall: each is the earliest one of its beat, which waits for the beat
    before it too."""
    if len(beats) != ports:
        raise ValueError(f"beats has {len(beats)} entries; allowed: one an input, {ports}")
    for i, rows in enumerate(beats):
        names = rows.dtype.names if isinstance(rows, np.ndarray) else None
        if names is None or rows.ndim != 1 or not set(_FIELDS) <= set(names):
            raise ValueError(f"beats[{i}] is {type(rows).__name__}; allowed: records with {', '.join(_FIELDS)}")
        shape = {field: rows.dtype[field].shape for field in _FIELDS}
        if shape["data"] != (data_bytes,):
            raise ValueError(f"beats[{i}]: data is {shape['data']} bytes; allowed: ({data_bytes},), as data_bytes")
        if len(shape["keep"]) != 1 or shape["keep"][0] * 8 < data_bytes:
            raise ValueError(f"beats[{i}]: keep is {shape['keep']} bytes; allowed: ({data_bytes // 8},) or more")
        for field in ("keep", "data"):
            if rows.dtype[field].base != np.uint8:
                raise ValueError(f"beats[{i}]: {field} is {rows.dtype[field].base}; allowed: uint8")
        if rows.dtype["flags"].shape or rows.dtype["flags"].str[:2] not in ("<u", "<i", "|u", "|i", "|b"):
            raise ValueError(f"beats[{i}]: flags is {rows.dtype['flags']}; allowed: a whole number, lowest byte first")
        cycle = rows["cycle"]
        if cycle.shape != rows.shape or cycle.dtype.kind not in "iu":
            raise ValueError(f"beats[{i}]: cycle is {cycle.dtype}; allowed: whole numbers")
        if cycle.dtype.kind == "i" and len(rows) and cycle.min() < 0:
            n = int(np.flatnonzero(cycle < 0)[0])
            raise ValueError(f"beats[{i}][{n}]: cycle is {cycle[n]}; allowed: from 0, offered from 1 on")
