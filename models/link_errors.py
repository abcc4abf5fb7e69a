# SPDX-License-Identifier: Apache-2.0
"""``phy_errors`` alone: what leaves, and what becomes of the codewords, of words that come at given cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.jit import inlined
from models.link_jit import compiled
from models.phy_errors import (
    ON,
    PHY_FAILED,
    RATE,
    SIZE,
    Array,
    PhyErrors,
    phy_begin,
    phy_end,
    phy_pass,
    phy_switch,
)

Levels = Sequence[tuple[int, int]]
SIDE = ("sig", "ctl_valid", "ctl", "ctl_off", "valid", "first", "last", "off", "trailer", "count")
"""Columns of a word's side, all but the count as in cable_side_t."""
CTL_VALID, CTL_OFF, VALID, LAST_BEAT, OFF, TRAILER, COUNT = 1, 3, 4, 6, 7, 8, 9


@dataclass(frozen=True)
class Passed:
    """``at`` (n), ``side`` (n, 10), ``data`` (n, bytes of a beat): words that left, a cycle each. ``sig``: changes
    (cycle, level), the first at cycle 0. ``ended`` (m, 2): codewords (cycle of cw_done, symbols or PHY_FAILED)."""

    at: Array
    side: Array
    data: Array
    sig: list[tuple[int, int]]
    ended: Array

    def counts(self, before: int) -> list[int]:
        """Codewords with 0..15 corrected symbols and failed ones, of those told before a cycle."""
        k = self.ended[self.ended[:, 0] < before, 1]
        return [int((k == n).sum()) for n in range(16)] + [int((k == PHY_FAILED).sum())]


@inlined
def _copy(to: Any, source: Any) -> None:
    for i in range(len(to)):
        to[i] = source[i]


@compiled
def _run(
    st: Any, key: Any, cycles: int, at: Any, side: Any, data: Any, per_cycle: Any, out: Any, out_side: Any,
    out_data: Any, sig: Any, ended: Any, was: Any, was_data: Any, now: Any, now_data: Any,
) -> tuple[int, int]:  # fmt: skip
    """All cycles; (words that left, codewords that ended). Bits of ``per_cycle``: fault 1:0, cut 2, signal 3, on 4."""
    word, left, n = 0, 0, 0
    on = st[ON]
    for x in range(cycles):
        for i in range(len(now)):
            now[i] = 0
        if word < len(at) and at[word] == x:
            _copy(now, side[word])
            _copy(now_data, data[word])
            word += 1
        bits = np.int64(per_cycle[x])
        now[0] = (bits >> 3) & 1
        if (bits >> 4) & 1 != on:
            on = (bits >> 4) & 1
            phy_switch(st, on)
        phy_begin(st, bits & 3)
        phy_pass(st, key, now, now_data, was, was_data, bits & 3, (bits >> 2) & 1)
        sig[x] = np.uint8(now[0])
        if now[1] != 0 or now[4] != 0:
            out[left] = x
            _copy(out_side[left], now)
            _copy(out_data[left], now_data)
            left += 1
        k = phy_end(st, key)
        if k >= 0:
            ended[n, 0] = x + 1
            ended[n, 1] = k
            n += 1
    return left, n


def _level(changes: Levels, init: int, cycles: int) -> Array:
    """A level in each cycle."""
    found = np.full(cycles, init, np.uint8)
    for cycle, value in changes:
        found[cycle:] = value
    return found


def pass_words(
    errors: PhyErrors, data_w: int, cycles: int, at: Array, side: Array, data: Array, on: Levels = (), sig: Levels = ()
) -> Passed:
    """Cycles 0 to ``cycles`` - 1. ``at`` ascending; ``side`` (n, 10) and ``data`` (n, bytes of a beat) of the words;
    ``on``, ``sig``: changes of cfg_on, which begins as ``errors`` says, and of the signal, which begins as 1."""
    if len(at) and ((np.diff(at) < 1).any() or at[0] < 0):
        raise ValueError("two words in one cycle, or out of order")
    beat = data_w // 8
    errors = errors.spread(data_w, cycles)
    st, key = errors.arrays(data_w)
    faults = np.zeros(cycles, np.uint8)
    for cycle, kind in errors.faults:
        if cycle < cycles:
            faults[cycle] = kind
    bits = faults | _level(errors.cuts, 0, cycles) << 2 | _level(sig, 1, cycles) << 3
    bits |= _level(on, int(errors.on), cycles) << 4
    room = len(at) + len(errors.faults) + 1
    out, out_side, out_data = (
        np.zeros(room, np.int64),
        np.zeros((room, 10), np.uint64),
        np.zeros((room, beat), np.uint8),
    )
    seen = np.zeros(cycles, np.uint8)
    ended = np.zeros((cycles * int(st[RATE]) // int(st[SIZE]) + 2, 2), np.int64)
    left, n = _run(
        st, key, cycles, np.asarray(at, np.int64), np.asarray(side, np.uint64), np.asarray(data, np.uint8), bits,
        out, out_side, out_data, seen, ended, np.zeros(10, np.uint64), np.zeros(beat, np.uint8),
        np.zeros(10, np.uint64), np.zeros(beat, np.uint8),
    )  # fmt: skip
    changes = np.concatenate([[0], np.flatnonzero(np.diff(seen)) + 1])
    return Passed(out[:left], out_side[:left], out_data[:left], [(int(c), int(seen[c])) for c in changes], ended[:n])
