# SPDX-License-Identifier: Apache-2.0
"""Losses and repetitions by rate (docs/link.md, E5): the drawn list against the rule, cycle by cycle; its shares."""

from __future__ import annotations

import math

import pytest

from models.fec import probability_word
from models.phy_errors import AGAIN, FAILS, LOST, PhyErrors

MASK = (1 << 64) - 1
BYTES = {False: 320, True: 640}


def drawn(seed: int, i: int) -> int:
    """hash(seed, i) of E3."""
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


@pytest.mark.parametrize(("kp4", "data_w", "seed"), [(False, 512, 0), (True, 512, MASK), (False, 1024, 12345)])
def test_each_cycle(kp4: bool, data_w: int, seed: int) -> None:
    """A draw a cycle from the place of its first byte; a directed fault stands."""
    lose, repeat, rate = 1 << 62, 3 << 61, 50 * data_w // 512
    errors = PhyErrors(seed, kp4, faults=[(5, FAILS), (90, LOST)], lose_thr=lose, repeat_thr=repeat)
    want = {}
    for x in range(1, 300):
        w, p = divmod(rate * x, BYTES[kp4])
        d = drawn(seed, (1 << 62) + 2048 * w + p)
        if d < lose or MASK - d < repeat:
            want[x] = LOST if d < lose else AGAIN
    want |= {5: FAILS, 90: LOST}
    spread = errors.spread(data_w, 300)
    assert spread.faults == sorted(want.items())
    assert (spread.lose_thr, spread.repeat_thr) == (0, 0)


def test_shares() -> None:
    """As many as the rates say, within five deviations."""
    errors = PhyErrors(7, lose_thr=probability_word(1e-3), repeat_thr=probability_word(3e-4))
    n = 1_000_000
    kinds = [kind for _, kind in errors.spread(512, n).faults]
    for kind, share in ((LOST, 1e-3), (AGAIN, 3e-4)):
        assert abs(kinds.count(kind) - n * share) < 5 * math.sqrt(n * share)
