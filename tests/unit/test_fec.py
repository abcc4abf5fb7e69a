# SPDX-License-Identifier: Apache-2.0
"""models/fec.py and fec_bursts.py against printed tables, exact fractions and simulated bits."""

import itertools
import math
import tomllib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from models import fec, fec_bursts
from scripts.common import ROOT

TABLES = tomllib.loads((ROOT / "tests/data/fec_tables.toml").read_text())
LLFEC, KP4 = fec.code("llfec"), fec.code("kp4")
GBPS = 8 * 106.25


def rounds_to(value, printed, hair="0.01"):
    """`value` is within the rounding of `printed`: half a unit of its last digit, and a hair for a tie."""
    digits = Decimal(printed)
    reach = (Decimal("0.5") + Decimal(hair)).scaleb(int(digits.as_tuple().exponent))
    assert abs(Decimal(value) - digits) <= reach, f"{float(value):.4e} is not {printed}"


def test_codes():
    assert (LLFEC.n, LLFEC.k, LLFEC.t, LLFEC.bits) == (272, 257, 7, 2720)
    assert (KP4.n, KP4.k, KP4.t, KP4.bits) == (544, 514, 15, 5440)
    for c in (LLFEC, KP4):
        assert c.t == (c.n - c.k) // 2
        assert round(c.rate, 5) == 0.94485
        assert c.payload * 8 * 257 == c.k * 10 * 256  # transcoding
    assert (LLFEC.detected, KP4.detected) == (8, 15)


@pytest.mark.parametrize("row", TABLES["random"], ids=lambda r: r[0])
def test_random_errors(row):
    p, *cells = row
    computed = [
        fec.symbol_error(p),
        *(fec.cer(LLFEC, p), fec.flr64(LLFEC, p), fec.flr640(LLFEC, p), fec.failures_per_s(LLFEC, p, GBPS)),
        *(fec.cer(KP4, p), fec.flr64(KP4, p), fec.failures_per_s(KP4, p, GBPS)),
    ]
    for value, printed in zip(computed, cells, strict=True):
        rounds_to(value, printed)
    assert fec.flr640(KP4, p) == pytest.approx(float(fec.cer(KP4, p)))


@pytest.mark.parametrize("name", ["llfec", "kp4"])
def test_bit_error_ratio_for_a_codeword_error_ratio(name):
    c = fec.code(name)
    for target, printed in zip(TABLES["targets"], TABLES[f"ber_{name}"], strict=True):
        p = fec.ber_for_cer(c, float(target))
        rounds_to(p, printed)
        assert float(fec.cer(c, p)) == pytest.approx(float(target), rel=1e-6)


@pytest.mark.parametrize("name", ["llfec", "kp4"])
def test_the_other_tables(name):
    c = fec.code(name)
    assert [fec.burst_bits(c, d) for d in (1, 2, 4, 8)] == TABLES["burst_bits"][name]
    rounds_to(c.miscorrected, TABLES["miscorrected"][name])
    for d, printed in zip((1, 2, 4), TABLES["flr64_d"][name], strict=True):
        rounds_to(fec.flr64(c, "1e-4", d), printed)
    for lanes, row in zip((1, 4, 8), TABLES["block_ns"][name], strict=True):
        for d, printed in zip((1, 2, 4), row, strict=True):
            rounds_to(fec.block_ns(c, d, lanes * 106.25), printed)
    # the figure for lost frames is met at the printed ratio, and no longer a unit beyond it
    p = Decimal(TABLES["frame_loss_ber"][name])
    unit = Decimal(1).scaleb(int(p.as_tuple().exponent))
    assert fec.flr64(c, p - unit) < float(TABLES["frame_loss"]) < fec.flr64(c, p + unit)


@pytest.mark.parametrize("row", TABLES["bursts"], ids=lambda r: f"{r[0]}-{r[1]}")
def test_bursts(row):
    name, p, random, *columns = row
    c = fec.code(name)
    rounds_to(fec_bursts.poisson(c, float(p), 0), random)
    for a, cells in zip((0.5, 0.75, 0.9), columns, strict=True):
        for d, printed in zip((1, 2, 4), cells, strict=True):
            counted_twice = fec_bursts.poisson(c, float(p), a, d)
            rounds_to(counted_twice, printed, hair="0.05")  # 2.46, 1.49 and 2.46 are printed as 3, 2 and 3
            exact = fec_bursts.chain(c, float(p), a, d)[-1]
            assert 0.7 * counted_twice < exact < counted_twice


@pytest.mark.parametrize("c", [LLFEC, KP4], ids=lambda c: c.name)
@pytest.mark.parametrize("p", ["1e-12", "1e-6", "1e-3"])
def test_the_chain_without_runs_is_the_binomial(c, p):
    wrong = fec_bursts.chain(c, float(p), 0)
    want = [float(x) for x in fec.pmf(c.n, fec.symbol_error(p))[: c.t + 1]] + [float(fec.cer(c, p))]
    np.testing.assert_allclose(wrong, want, rtol=1e-9)


def exact_tails(n, p):
    """floor(2^64 P(K >= j)), j = 0..n, in whole numbers."""
    q = 1 - (1 - Fraction(p)) ** 10
    a, b = q.numerator, q.denominator
    terms = [math.comb(n, k) * a**k * (b - a) ** (n - k) for k in range(n + 1)]
    return [2**64 * x // b**n for x in itertools.accumulate(reversed(terms))][::-1]


@pytest.mark.parametrize(("name", "p"), [("llfec", "1e-3"), ("llfec", "2e-3"), ("kp4", "5e-3")])
def test_thresholds_are_exact(name, p):
    c = fec.code(name)
    assert fec.thresholds(c, p) == exact_tails(c.n, p)[1:32]


# rows of the table at which enough codewords fail to be counted, and millions of them; the others are too rare
SAMPLED = [("llfec", "3e-4", 30), ("llfec", "5e-4", 5), ("llfec", "1e-3", 1), ("kp4", "1e-3", 5)]


@pytest.mark.parametrize(("name", "p", "millions"), SAMPLED)
def test_what_the_injector_draws_is_the_printed_share(name, p, millions):
    """Codewords that fail in phy_errors (docs/link.md, E3: hash(seed, 2w) below thr[t+1]) against the printed number:
    within four times the sampling error, and its rounding."""
    c = fec.code(name)
    printed = {r[0]: r[{"llfec": 2, "kp4": 6}[name]] for r in TABLES["random"]}[p]
    limit, failed = np.uint64(fec.thresholds(c, p)[c.t]), 0
    for m in range(millions):
        z = np.arange(m * 1_000_000, (m + 1) * 1_000_000, dtype=np.uint64)
        z = np.uint64(2024) + (np.uint64(2) * z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        failed += int(np.count_nonzero(z ^ (z >> np.uint64(31)) < limit))
    share, right = failed / (millions * 1e6), float(printed)
    rounding = float(Decimal("0.5").scaleb(int(Decimal(printed).as_tuple().exponent)))
    assert abs(share - right) <= 4 * math.sqrt(right / (millions * 1e6)) + rounding


def test_thresholds_at_the_ends():
    assert fec.thresholds(LLFEC, 0) == [0] * 31
    assert fec.thresholds(LLFEC, 1) == [2**64 - 1] * 31
    falling = fec.thresholds(KP4, "3e-3")
    assert falling == sorted(falling, reverse=True)
    assert fec.probability_word(0.25) == 2**62
    assert fec.probability_word(1.0) == 2**64 - 1
    with pytest.raises(ValueError, match="bit error ratio 2; allowed: 0 to 1"):
        fec.cer(LLFEC, 2)


def simulated(c, p, a, d, codewords, rng):
    """Wrong symbols of `codewords` codewords from bits drawn one run at a time."""
    bits = codewords * c.bits
    starts = np.flatnonzero(rng.random(bits) < p * (1 - a))
    ends = np.minimum(starts + rng.geometric(1 - a, len(starts)), bits)
    change = np.zeros(bits + 1, np.int32)
    np.add.at(change, starts, 1)
    np.add.at(change, ends, -1)
    bad = np.cumsum(change[:-1]) > 0
    symbols = bad.reshape(-1, 10).any(axis=1)
    return symbols.reshape(codewords // d, c.n, d).sum(axis=1).ravel()


@pytest.mark.parametrize(("name", "a", "d"), [("llfec", 0.5, 1), ("llfec", 0.9, 2), ("kp4", 0.75, 1)])
def test_the_chain_against_drawn_bits(name, a, d):
    c, p, codewords = fec.code(name), 3e-3, 8000
    wrong = fec_bursts.chain(c, p, a, d)
    seen = np.bincount(np.minimum(simulated(c, p, a, d, codewords, np.random.default_rng(5)), c.t + 1))
    # neighbours share bits where they are interleaved: twice the error of independent ones
    assert (abs(seen / codewords - wrong) <= 8 * np.sqrt(wrong / codewords) + 1e-3).all()
    assert wrong.sum() == pytest.approx(1)


@pytest.mark.parametrize("p", ["1e-5", "1e-4", "1e-3", "2e-3"])
@pytest.mark.parametrize("c", [LLFEC, KP4], ids=lambda c: c.name)
def test_the_histogram_tells_the_bit_error_ratio(c, p):
    # no sampling: the expected counts themselves
    expected = [float(x) for x in fec.pmf(c.n, fec.symbol_error(p))[: c.t + 1]]
    assert fec.ber_of(c, expected, float(fec.cer(c, p))) == pytest.approx(float(p), rel=1e-6)


def test_a_degraded_link():
    for c, near in ((LLFEC, 1.09e-4), (KP4, 3.93e-4)):
        edge = fec.degraded_ber(c)
        assert edge == pytest.approx(near, rel=5e-3)
        for factor, bad in ((0.9, False), (1.1, True)):
            counts = [round(1e9 * float(x)) for x in fec.pmf(c.n, fec.symbol_error(edge * factor))[: c.t + 1]]
            assert fec.degraded(c, counts) is bad
    assert not fec.degraded(LLFEC, [1000])
    with pytest.raises(ValueError, match="histogram without codewords"):
        fec.ber_of(LLFEC, [])
    with pytest.raises(ValueError, match="corrects 7 symbols"):
        fec.ber_of(LLFEC, [1] * 9)


def test_fixed_bursts_by_enumeration():
    c, length = LLFEC, 100
    found = fec_bursts.fixed_bursts(c, 0.25, length)
    rng = np.random.default_rng(3)
    n = 20_000
    begins, place = rng.random(n) < 0.25, rng.integers(0, c.n, n)
    flat = np.zeros((n + 1) * c.n, bool)
    for w in np.flatnonzero(begins):
        flat[w * c.n + place[w] : w * c.n + place[w] + length] = True
    seen = np.bincount(flat[: n * c.n].reshape(n, c.n).sum(axis=1), minlength=c.n + 1) / n
    assert found.sum() == pytest.approx(1)
    assert abs(np.cumsum(seen) - np.cumsum(found)).max() < 0.02
    assert fec_bursts.fixed_bursts(c, 0.0, 5)[0] == 1
    with pytest.raises(ValueError, match="allowed: 0 to 272"):
        fec_bursts.fixed_bursts(c, 0.1, 273)
    both = fec_bursts.together(np.array([0.5, 0.5]), found)
    assert both[0] == pytest.approx(found[0] / 2)
