# SPDX-License-Identifier: Apache-2.0
"""Wrong symbols of a codeword when bit errors come in runs, as a decision-feedback equaliser makes them.

Wherever another is or not, a run starts with probability p(1-a) a bit and has a geometric length of mean 1/(1-a), all
of it wrong: a bit is wrong with probability ``p`` (a little less, where runs meet); a = 0 is independent bits. ``d``
codewords are interleaved by symbols. Two ways, sums of positive terms both: :func:`chain` is exact, a Markov chain
along the bits; :func:`poisson` adds the symbols of a Poisson number of runs, which counts a symbol twice that two runs
hit and gives some tens of percent more. :func:`fixed_bursts` is what ``phy_errors`` makes (docs/link.md, E3).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.fec import SYMBOL, Code

Floats = npt.NDArray[np.float64]


def chain(c: Code, p: float, a: float, d: int = 1) -> Floats:
    """P(K = k) for k = 0..t, and in the last of t+2 entries P(K > t), the codeword error ratio."""
    start = p * (1 - a)
    bit = np.array([[1 - start, start], [(1 - a) * (1 - start), a + (1 - a) * start]])  # from and to: right, wrong
    rights, wrongs = bit * [1, 0], bit * [0, 1]
    power = np.linalg.matrix_power
    right = power(rights, SYMBOL)
    # the first wrong bit is bit i; no difference is taken, so nothing cancels
    wrong = np.sum([power(rights, i) @ wrongs @ power(bit, SYMBOL - 1 - i) for i in range(SYMBOL)], axis=0)
    others = power(bit, SYMBOL * (d - 1))
    share = start / (start + bit[1, 0])
    state = np.zeros((c.t + 2, 2))
    state[0] = [1 - share, share]
    for _ in range(c.n):
        more = state @ wrong
        state = state @ right
        state[1:] += more[:-1]
        state[-1] += more[-1]
        state = state @ others
    return np.asarray(state.sum(axis=1))


def run_symbols(a: float, d: int, upto: int) -> Floats:
    """P(m) of how many symbols of a codeword a run hits that starts at any bit of the ``d`` codewords; the last entry:
    ``upto`` or more."""
    hit = np.zeros(upto + 1)
    length = np.arange(1, SYMBOL * (d * upto + 1))
    share = (1 - a) * a ** (length - 1.0) / SYMBOL
    for offset in range(SYMBOL):
        whole, rest = np.divmod(1 + (offset + length - 1) // SYMBOL, d)
        np.add.at(hit, np.minimum(whole, upto), share * (d - rest) / d)
        np.add.at(hit, np.minimum(whole + 1, upto), share * rest / d)
    hit[upto] += a ** len(length)  # longer ones
    return hit


def poisson(c: Code, p: float, a: float, d: int = 1) -> float:
    """Codeword error ratio from a Poisson number of runs (Panjer's recursion)."""
    upto = 4 * c.t + 40
    hit = run_symbols(a, d, upto)
    mean = c.n * d * SYMBOL * p * (1 - a)
    total = np.zeros(upto + 1)
    total[0] = np.exp(-mean * (1 - hit[0]))
    weight = mean * np.arange(upto + 1) * hit
    for k in range(1, upto + 1):
        total[k] = weight[1 : k + 1] @ total[k - 1 :: -1][:k] / k
    return float(total[c.t + 1 :].sum())


def fixed_bursts(c: Code, start: float, length: int) -> Floats:
    """P(K = k), k = 0..n, of symbols in bursts of ``length`` <= n, of which one starts with probability ``start`` in a
    codeword, at any of its symbols: its own and what runs on from the codeword before; the union of both."""
    if not 0 <= length <= c.n:
        raise ValueError(f"burst of {length} symbols; allowed: 0 to {c.n}")
    place = np.arange(c.n)
    end = np.minimum(place + length, c.n)
    over = np.maximum(place + length - c.n, 0)  # of the codeword before
    found = np.zeros(c.n + 1)
    found[0] += (1 - start) ** 2
    np.add.at(found, end - place, start * (1 - start) / c.n)
    np.add.at(found, over, start * (1 - start) / c.n)
    for old in over.tolist():
        both = old + np.maximum(end - np.maximum(place, old), 0)
        np.add.at(found, both, start * start / c.n**2)
    return found


def together(single: Floats, bursts: Floats) -> Floats:
    """P(K = k) of the sum of independent single symbols and symbols in bursts, as ``phy_errors`` counts."""
    return np.asarray(np.convolve(single, bursts))
