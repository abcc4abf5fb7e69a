# SPDX-License-Identifier: Apache-2.0
"""Golden model of ``phy_errors`` (docs/link.md, E2 to E6): parts for a compiled loop over cycles, and the whole of it.

A direction of a cable has two arrays, from :meth:`PhyErrors.arrays`: ``st`` (int64, where it is) and ``key`` (uint64,
what is drawn from). In each cycle, in this order, all of it compiled::

    phy_begin(st, fault)                    the cycle's fault, before what passes; 0: none
    if phy_fails(st):                       a codeword within reach fails (rare)
        phy_set_lost(st, ctl_off)           a control set there is lost
        phy_beat(st, key, data, count, off) damages the `count` valid bytes of a beat, uint8, in place; whether it did
        phy_trailer(st, key, trailer, count, off) -> the trailer as it leaves
    k = phy_end(st, key)                    -1; k symbols corrected in a codeword that ended; PHY_FAILED

Faults 1 and 2 and `cut` are the caller's (:func:`phy_pass` has them): lost is not there, and repeated is a copy of what
left last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from models.jit import inlined
from models.spec import spec

Array = npt.NDArray[Any]

LOST, AGAIN, FAILS = 1, 2, 3
"""Faults (E5)."""
PHY_FAILED = 255
"""Of :func:`phy_end`: a codeword ended that failed."""

# st
AT, W, K0, K1, FORCED, CARRY, ON, SIZE, N, T, RATE, BURST = range(12)
# key: seed, thresholds 1..31, burst
SEED, BURST_THR = 0, 32

GOLDEN, MUL_1, MUL_2 = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
U1, U27, U30, U31, TOP, ODD = (np.uint64(n) for n in (1, 27, 30, 31, 1 << 63, 0x0101010101010101))
U2, U3, U8, FF = (np.uint64(n) for n in (2, 3, 8, 255))


@dataclass(frozen=True)
class PhyErrors:
    """Errors of one direction of a cable.

    ``thr``: floor(2^64 P(K >= j)) for j = 1, 2, .. (models/fec.py makes them), 31 at most; ``burst_thr`` likewise, of
    a start in a codeword; ``burst_len`` in symbols; ``on``: cfg_on from reset on. ``faults``: (cycle, kind), ``cuts``:
    (cycle, level) from which on the direction is cut or not; both in ascending order, from cycle 1. ``lose_thr``,
    ``repeat_thr``: likewise, that a cycle's own is lost, that what passed last comes again; :meth:`spread` draws them.
    """

    seed: int = 1
    kp4: bool = False
    thr: Sequence[int] = ()
    burst_thr: int = 0
    burst_len: int = 0
    on: bool = True
    faults: Sequence[tuple[int, int]] = field(default=())
    cuts: Sequence[tuple[int, int]] = field(default=())
    lose_thr: int = 0
    repeat_thr: int = 0

    def spread(self, data_w: int, cycles: int) -> PhyErrors:
        """The same without rates of losses and repetitions: what they make of the cycles before ``cycles`` is among the
        faults (E5), where no directed one stands."""
        if not self.lose_thr and not self.repeat_thr:
            return self
        rate = spec().integer("link.rate_bytes") * data_w // 512
        size = spec().integer(f"fec.{'kp4' if self.kp4 else 'llfec'}_bytes")
        word, at = np.divmod(rate * np.arange(1, max(cycles, 1), dtype=np.uint64), np.uint64(size))
        draw = draws(self.seed, word * np.uint64(1 << 11) + at + np.uint64(1 << 62))
        lost = draw < np.uint64(self.lose_thr)
        hit = np.flatnonzero(lost | (~draw < np.uint64(self.repeat_thr)))
        drawn = {int(k) + 1: LOST if lost[k] else AGAIN for k in hit}
        return replace(self, faults=sorted((drawn | dict(self.faults)).items()), lose_thr=0, repeat_thr=0)

    def arrays(self, data_w: int) -> tuple[Array, Array]:
        """(st, key) as they are at cycle 0, for a stream of ``data_w`` bits."""
        if len(self.thr) > 31:
            raise ValueError(f"thr: {len(self.thr)} thresholds; at most 31, for 1 wrong symbol and up")
        code = "kp4" if self.kp4 else "llfec"
        st = np.zeros(12, np.int64)
        st[ON], st[BURST] = self.on, self.burst_len
        st[SIZE], st[N], st[T] = (spec().integer(f"fec.{code}_{x}") for x in ("bytes", "n", "t"))
        st[RATE] = spec().integer("link.rate_bytes") * data_w // 512
        key = np.zeros(33, np.uint64)
        key[SEED], key[BURST_THR] = self.seed, self.burst_thr
        key[1 : 1 + len(self.thr)] = self.thr
        return st, key


def draws(seed: int, i: Array) -> Array:
    """:func:`phy_hash` of many (uint64) at once."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (i + U1) * GOLDEN
        z = (z ^ (z >> U30)) * MUL_1
        z = (z ^ (z >> U27)) * MUL_2
        found: Array = z ^ (z >> U31)
    return found


@inlined
def phy_hash(seed: Any, i: Any) -> Any:
    """Output function of splitmix64 at its (i+1)-th state from ``seed``; all uint64."""
    z = seed + (i + U1) * GOLDEN
    z = (z ^ (z >> U30)) * MUL_1
    z = (z ^ (z >> U27)) * MUL_2
    return z ^ (z >> U31)


@inlined
def phy_switch(st: Any, on: int) -> None:
    """cfg_on changes with this cycle, before :func:`phy_begin`; off: what was judged is forgotten."""
    st[ON] = on
    if not on:
        st[K0] = st[K1] = st[FORCED] = st[CARRY] = 0


@inlined
def phy_begin(st: Any, fault: int) -> None:
    """The cycle's fault: with FAILS the codeword of its first byte fails."""
    if fault == FAILS and st[ON] != 0:
        st[FORCED] = 1


@inlined
def phy_fails(st: Any) -> bool:
    """Whether a codeword that this cycle's bytes may lie in fails."""
    return st[FORCED] != 0 or st[K0] > st[T] or st[K1] > st[T]


@inlined
def _failed(st: Any, which: int) -> bool:
    return st[K1] > st[T] if which else st[FORCED] != 0 or st[K0] > st[T]


@inlined
def phy_set_lost(st: Any, ctl_off: int) -> bool:
    """Whether a control set whose first byte is at ``ctl_off`` has a byte in a failed codeword."""
    first = st[AT] + ctl_off
    return (first < st[SIZE] and _failed(st, 0)) or (first + 7 >= st[SIZE] and _failed(st, 1))


@inlined
def _mask(st: Any, key: Any, which: int) -> Any:
    """What the codeword's bytes 0 to 7 are XORed with; 0 when it has not failed."""
    if not _failed(st, which):
        return np.uint64(0)
    return phy_hash(key[SEED], np.uint64(st[W] + which) + TOP) | ODD


@inlined
def phy_beat(st: Any, key: Any, data: Any, count: int, off: int) -> bool:
    """Damage ``data[:count]``, a beat whose first byte is at ``off``, in place; whether a byte was in a failed one."""
    edge = min(max(st[SIZE] - st[AT] - off, 0), count)
    for which in range(2):
        mask = _mask(st, key, which)
        if mask != np.uint64(0):
            for i in range(edge if which else 0, count if which else edge):
                data[i] ^= np.uint8((mask >> (U8 * np.uint64(i & 7))) & FF)
    return (edge > 0 and _failed(st, 0)) or (edge < count and _failed(st, 1))


@inlined
def phy_trailer(st: Any, key: Any, trailer: Any, count: int, off: int) -> Any:
    """The trailer, uint64, behind ``count`` bytes that begin at ``off``, as it leaves."""
    edge = min(max(st[SIZE] - st[AT] - off - count, 0), 8)
    for which in range(2):
        mask = _mask(st, key, which)
        for i in range(edge if which else 0, 8 if which else edge):
            trailer ^= mask & (FF << (U8 * np.uint64(i)))
    return trailer


@inlined
def _judge(st: Any, key: Any) -> int:
    """Wrong symbols of codeword w+2, and the bursts that run on beyond it."""
    i = U2 * np.uint64(st[W] + 2)
    draw = phy_hash(key[SEED], i)
    k = 0
    for j in range(1, 32):
        if draw < key[j]:
            k += 1
    n = st[N]
    carry = st[CARRY]
    old = min(carry, n)  # symbols 0 to old-1 are a burst of before
    k += old
    st[CARRY] = carry - old
    if phy_hash(key[SEED], i + U1) < key[BURST_THR]:
        place = np.int64(phy_hash(~key[SEED], i + U1) % np.uint64(n))
        end = place + st[BURST]
        k += max(min(end, n) - max(place, old), 0)
        st[CARRY] = max(st[CARRY], end - n)
    return k


@inlined
def phy_end(st: Any, key: Any) -> int:
    """To the next cycle. -1; or, cw_done is 1 in it: corrected symbols of the codeword that ended, or PHY_FAILED."""
    st[AT] += st[RATE]
    if st[AT] < st[SIZE]:
        return -1
    ended = -1
    if st[ON] != 0:
        ended = PHY_FAILED if _failed(st, 0) else st[K0]
        st[K0] = st[K1]
        st[K1] = _judge(st, key)
        st[FORCED] = 0
    st[AT] -= st[SIZE]
    st[W] += 1
    return ended


@inlined
def phy_pass(st: Any, key: Any, side: Any, data: Any, was_side: Any, was_data: Any, fault: int, cut: int) -> None:
    """A cycle's word, in place: ``side`` (uint64): sig, ctl_valid, ctl, ctl_off, valid, first, last, off, trailer,
    count of valid bytes; ``data`` (uint8). ``was_*``: what passed last, zeros at first; kept here. Between
    :func:`phy_begin` and :func:`phy_end`."""
    on = st[ON] != 0
    if cut:
        side[0] = 0
    if cut or (on and fault == LOST):
        side[1] = 0
        side[4] = 0
    elif on and fault == AGAIN:
        for i in range(1, len(side)):
            side[i] = was_side[i]
        for i in range(np.int64(side[9])):
            data[i] = was_data[i]
    elif phy_fails(st):
        if side[1] != 0 and phy_set_lost(st, np.int64(side[3])):
            side[1] = 0
        if side[4] != 0:
            off, count = np.int64(side[7]), np.int64(side[9])
            phy_beat(st, key, data, count, off)
            if side[6] != 0:
                side[8] = phy_trailer(st, key, side[8], count, off)
    if not on:
        for i in range(len(was_side)):
            was_side[i] = 0
    elif side[1] != 0 or side[4] != 0:
        for i in range(len(side)):
            was_side[i] = side[i]
        for i in range(np.int64(side[9])):
            was_data[i] = data[i]
