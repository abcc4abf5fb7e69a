# SPDX-License-Identifier: Apache-2.0
"""Timed lists: values that an HDL player (tb/hdl/timed_value.sv) gives from their cycles on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tb.common.beats import Records, StreamFormat


def timed(fmt: StreamFormat, rows: Iterable[tuple[int, int]]) -> Records:
    """Play records of (cycle, value)."""
    rows = list(rows)
    out = fmt.empty(len(rows))
    for i, (cycle, value) in enumerate(rows):
        out["cycle"][i] = cycle
        out["data"][i] = np.frombuffer(value.to_bytes(fmt.data_bytes, "little"), np.uint8)
    out["keep"] = 0xFF
    return out


def one_a_cycle(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The same in the order of their cycles, each at one of its own from 1 on: what the player will do."""
    at, found = 0, []
    for cycle, *rest in sorted(rows, key=lambda row: int(row[0])):
        at = max(at + 1, cycle)
        found.append((at, *rest))
    return found
