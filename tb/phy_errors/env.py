# SPDX-License-Identifier: Apache-2.0
"""Bench plan of phy_errors alone: models/link_errors.py over the played words; shares against models/fec.py."""

from __future__ import annotations

import math

import numpy as np

from models import fec, fec_bursts
from models.link_errors import Passed, pass_words
from models.phy_errors import PHY_FAILED, PhyErrors
from tb.common.beats import StreamFormat
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.phy_errors.config import CFG_W, LEVEL, THR_W
from tb.phy_errors.coverage import COVERAGE
from tb.phy_errors.words import SIDE_W, Words, to_records

SIGMAS = 5.0
"""How far a share may be from closed form, in standard deviations of its sample."""


def outcome(phase: PhaseRecords) -> Passed:
    """What the model makes of a phase; kept in its item."""
    info = phase.item.info
    if "passed" not in info:
        words: Words = info["words"]
        info["passed"] = pass_words(
            info["errors"], info["data_w"], phase.stats.cycles, words.at, words.side, words.data, info["on"],
            info["sig"],
        )  # fmt: skip
    passed: Passed = info["passed"]
    return passed


def predict(_ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Words, changes of the signal, codewords one by one (with `each`) and counted."""
    passed = outcome(phase)
    dump = phase.item.info["dump"]
    told = []
    if phase.item.cfg["each"]:
        for cycle, k in passed.ended.tolist():
            if cycle <= dump:
                told.append((cycle, 65 if k == PHY_FAILED else k << 1 | 1))
    value = sum(n << 32 * i for i, n in enumerate(passed.counts(dump)))
    return {
        "m": to_records(passed.at, passed.side, passed.data),
        "m_sig": passed.sig,
        "codeword": told,
        "counts": [(dump, value)] if value else [],
    }


def recorded_counts(phase: PhaseRecords) -> list[int]:
    """Judged codewords with 0..15 corrected symbols and failed ones, as the design told them."""
    rows = phase.events["counts"]["value"]
    counts = [int(x) for x in rows[0]] if len(rows) else [0] * 17
    counts[0] -= 2  # codewords 0 and 1 are not judged
    return counts


def expected(errors: PhyErrors, p: str, start: float) -> list[float]:
    """Shares of 0..t corrected symbols and of failed codewords in closed form. p: bit error ratio; start: a burst's."""
    c = fec.code("kp4" if errors.kp4 else "llfec")
    # no more than 31 single symbols are drawn
    terms = [float(x) for x in fec.pmf(c.n, fec.symbol_error(p))]
    single = np.array([*terms[:31], sum(terms[31:])])
    both = fec_bursts.together(single, fec_bursts.fixed_bursts(c, start, errors.burst_len))
    return [*both[: c.t + 1].tolist(), float(both[c.t + 1 :].sum())]


def shares(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """A sample's counts against closed form, each within its sampling error."""
    if "ber" not in phase.item.info:
        return []
    errors: PhyErrors = phase.item.info["errors"]
    counts = recorded_counts(phase)
    want = expected(errors, phase.item.info["ber"], phase.item.info["start"])
    got = [*counts[: len(want) - 1], counts[16]]
    total = sum(got)
    wrong = []
    if total != sum(counts):
        wrong.append(f"{sum(counts) - total} codewords with more symbols corrected than the code can")
    for k, (n, share) in enumerate(zip(got, want, strict=True)):
        sigma = math.sqrt(total * share * (1 - share))
        if abs(n - total * share) > SIGMAS * sigma + 1:
            name = "failed" if k == len(want) - 1 else f"with {k} symbols corrected"
            wrong.append(f"{n} of {total} codewords {name}; closed form {total * share:.1f}, deviation {sigma:.1f}")
    return wrong


def rates(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Words that were lost and that came again, of one in each cycle, against the rates within the sampling error."""
    if "rates" not in phase.item.info:
        return []
    words: Words = phase.item.info["words"]
    rows = phase.beats["m"]
    rows = rows[rows["cycle"] <= words.at[-1]]
    total = len(words.at)
    lost = total - len(rows)
    same = (rows["data"][1:] == rows["data"][:-1]).all(axis=1) & (rows["side"][1:] == rows["side"][:-1]).all(axis=1)
    wrong = []
    for what, n, share in zip(("lost", "repeated"), (lost, int(same.sum())), phase.item.info["rates"], strict=True):
        sigma = math.sqrt(total * share * (1 - share))
        if abs(n - total * share) > SIGMAS * sigma:
            wrong.append(f"{n} of {total} words {what}; {total * share:.1f} were to be, deviation {sigma:.1f}")
    return wrong


def _check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    return shares(ctx, phase) + rates(ctx, phase)


def figures(ctx: RunContext, phase: PhaseRecords) -> None:
    """Shares into the run's result."""
    info = phase.item.info
    if "ber" not in info:
        return
    errors: PhyErrors = info["errors"]
    c = fec.code("kp4" if errors.kp4 else "llfec")
    counts = recorded_counts(phase)
    want = expected(errors, info["ber"], info["start"])[-1]
    share = counts[16] / sum(counts)
    result = Result(ctx.run_dir)
    conditions = {"code": c.name, "ber": info["ber"], "bursts": info["start"], "codewords": sum(counts)}
    passed = not shares(ctx, phase)
    name = phase.item.get_name()
    result.figure(f"failed_{name}", round(1e6 * share, 2), "ppm", round(1e6 * want, 2), passed, **conditions)
    if not info["start"]:
        told = fec.ber_of(c, counts[: c.t + 1], counts[16])
        near = abs(told / float(info["ber"]) - 1) < 0.05
        result.figure(f"ber_{name}", round(1e6 * told, 1), "ppm", 1e6 * float(info["ber"]), near, **conditions)
    result.save()


def plan(data_w: int) -> BenchPlan:
    """The plan for a width of the stream."""
    fmt = StreamFormat(data_w // 8, SIDE_W)
    return BenchPlan(
        plays={"s": fmt, "fault": LEVEL, "cut": LEVEL, "on": LEVEL, "sig": LEVEL},
        streams={"m": fmt},
        events={"m_sig": 1, "codeword": 7, "counts": 17 * 32},
        cfgs={"errors": CFG_W, "thr": THR_W, "dump": 32, "each": 1},
        coverage=COVERAGE,
        predict=predict,
        check=_check,
        observe=figures,
    )
