# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the links' Reed-Solomon codes: what a bit error ratio before the FEC makes of codewords and frames.

Bits fail independently with probability ``p`` unless said otherwise, a 10-bit symbol with q = 1 - (1-p)^10, symbols
of a codeword are binomial; a bounded-distance decoder corrects up to t of them and marks the codeword bad beyond.
Probabilities are sums of positive terms in decimal arithmetic of 60 digits or in doubles: no cancellation, and none is
too small (1e-146 for RS(544,514) at p = 1e-12). Numbers of the codes: ``[fec]`` in spec/fabric.toml.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import cache

import numpy as np

from models.spec import spec

Ber = float | str | Decimal
"""A bit error ratio; a float counts as the decimal number that it is shown as."""

SYMBOL = spec().integer("fec.symbol_bits")
DEGRADED_CER = 1e-9
"""A link is degraded when its codewords fail more often than this."""
_FRAME_BITS = (64 + 20) * 8 * 257 / 256
_EXACT = Context(prec=60)


@dataclass(frozen=True)
class Code:
    """RS(n, k) over GF(2^10) that corrects ``t`` symbols; ``payload``: bytes of a codeword before transcoding."""

    name: str
    n: int
    k: int
    t: int
    payload: int

    @property
    def bits(self) -> int:
        """Bits of a codeword on the wire."""
        return self.n * SYMBOL

    @property
    def rate(self) -> float:
        """Share of message symbols."""
        return self.k / self.n

    @property
    def miscorrected(self) -> float:
        """Share of all words that lie within t symbols of a codeword: of damage beyond d - t symbols that much is
        taken for another codeword instead of being detected."""
        ball = sum(math.comb(self.n, i) * (2**SYMBOL - 1) ** i for i in range(self.t + 1))
        return float(ball / 2 ** (SYMBOL * (self.n - self.k)))

    @property
    def detected(self) -> int:
        """Wrong symbols up to which every pattern is corrected or detected: d - t - 1, d = n - k + 1."""
        return self.n - self.k - self.t


@cache
def code(name: str) -> Code:
    """``llfec``: RS(272,257), ``kp4``: RS(544,514)."""
    n, k, t, payload = (spec().integer(f"fec.{name}_{x}") for x in ("n", "k", "t", "bytes"))
    return Code(f"RS({n},{k})", n, k, t, payload)


def _decimal(p: Ber) -> Decimal:
    value = p if isinstance(p, Decimal) else Decimal(str(p))
    if not 0 <= value <= 1:
        raise ValueError(f"bit error ratio {p}; allowed: 0 to 1")
    return value


def symbol_error(p: Ber) -> Decimal:
    """q: a symbol has a wrong bit."""
    with localcontext(_EXACT):
        rest = 1 - _decimal(p)
        # sum of p (1-p)^i: 1 - (1-p)^10 without cancellation
        return _decimal(p) * sum((rest**i for i in range(1, SYMBOL)), Decimal(1))


def pmf(n: int, q: Decimal) -> list[Decimal]:
    """P(K = k), k = 0..n, of a binomial."""
    with localcontext(_EXACT):
        return [
            math.comb(n, k) * (q**k if k else Decimal(1)) * ((1 - q) ** (n - k) if k < n else 1) for k in range(n + 1)
        ]


def tails(n: int, q: Decimal, upto: int) -> list[Decimal]:
    """P(K >= j), j = 0..upto."""
    terms = pmf(n, q)
    with localcontext(_EXACT):
        found = [sum(reversed(terms[upto:]), Decimal(0))]
        for j in range(upto - 1, -1, -1):
            found.append(found[-1] + terms[j])
    return found[::-1]


@cache
def _cer(c: Code, p: Decimal) -> Decimal:
    return tails(c.n, symbol_error(p), c.t + 1)[-1]


def cer(c: Code, p: Ber) -> Decimal:
    """Codeword error ratio: P(K > t)."""
    return _cer(c, _decimal(p))


def lost_in(codewords: float, ratio: float | Decimal) -> float:
    """1 - (1 - ratio)^codewords: what touches so many codewords is hit."""
    return -math.expm1(codewords * math.log1p(-float(ratio)))


def flr64(c: Code, p: Ber, d: int = 1) -> float:
    """Loss of a 64-byte Ethernet frame (84 bytes with preamble and gap) at a random place, ``d``-way interleaved."""
    return lost_in(d + (_FRAME_BITS - 1) / (SYMBOL * c.k), cer(c, p))


def flr640(c: Code, p: Ber) -> float:
    """Loss of 640 bytes that begin with a codeword."""
    return lost_in(640 / c.payload, cer(c, p))


def failures_per_s(c: Code, p: Ber, gbps: float) -> float:
    """Failed codewords a second at a raw rate."""
    return float(cer(c, p)) * gbps * 1e9 / c.bits


def burst_bits(c: Code, d: int) -> int:
    """Longest burst that ``d``-way interleaved codewords correct, wherever it begins."""
    return SYMBOL * (d * c.t - 1) + 1


def block_ns(c: Code, d: int, gbps: float) -> float:
    """Time on the wire of the ``d`` codewords for which a receiver waits."""
    return d * c.bits / gbps


def ber_for_cer(c: Code, target: float) -> float:
    """The bit error ratio at which codewords fail with ratio ``target``: bisection of the logarithm."""
    if not 0 < target < 0.5:
        raise ValueError(f"codeword error ratio {target}; allowed: above 0, below 0.5")
    low, high = -40.0, math.log10(0.05)
    while high - low > 1e-9:
        mid = (low + high) / 2
        low, high = (mid, high) if cer(c, 10**mid) < Decimal(target) else (low, mid)
    return float(10**low)


def thresholds(c: Code, p: Ber) -> list[int]:
    """``thr`` of phy_errors (docs/link.md, E3): floor(2^64 P(K >= j)), j = 1..31, at most 2^64 - 1."""
    with localcontext(_EXACT):
        return [min(int(x * 2**64), 2**64 - 1) for x in tails(c.n, symbol_error(p), 31)[1:]]


def probability_word(probability: float) -> int:
    """floor(2^64 probability), at most 2^64 - 1: ``burst_thr`` of phy_errors."""
    return min(int(Decimal(probability) * 2**64), 2**64 - 1)


# ---- what the counters tell ---------------------------------------------------------------------------------


def symbol_error_of(c: Code, corrected: Sequence[float], failed: float = 0) -> float:
    """q most likely to give a histogram of corrected symbols (entry k: codewords with k, 0..t) and ``failed``
    codewords, of which only K > t is known: expectation maximisation. 0 when nothing was wrong."""
    total = sum(corrected) + failed
    if len(corrected) > c.t + 1:
        raise ValueError(f"histogram of {len(corrected)} entries; {c.name} corrects {c.t} symbols")
    if not total:
        raise ValueError("histogram without codewords")
    seen = sum(k * x for k, x in enumerate(corrected))
    q = (seen + failed * (c.t + 1)) / total / c.n
    for _ in range(10_000 if failed else 0):
        rest = np.array([float(x) for x in pmf(c.n, Decimal(q))[c.t + 1 :]])
        mean = float((rest * np.arange(c.t + 1, c.n + 1)).sum() / rest.sum())
        last, q = q, (seen + failed * mean) / total / c.n
        if abs(q - last) <= 1e-9 * q:
            break
    return q


def ber_of(c: Code, corrected: Sequence[float], failed: float = 0) -> float:
    """Bit error ratio before the FEC that a histogram of corrected symbols tells."""
    return -math.expm1(math.log1p(-symbol_error_of(c, corrected, failed)) / SYMBOL)


@cache
def degraded_ber(c: Code) -> float:
    """The bit error ratio from which a link counts as degraded."""
    return ber_for_cer(c, DEGRADED_CER)


def degraded(c: Code, corrected: Sequence[float], failed: float = 0) -> bool:
    """Whether the histogram's bit error ratio is beyond that of a codeword error ratio of DEGRADED_CER."""
    return ber_of(c, corrected, failed) > degraded_ber(c)
