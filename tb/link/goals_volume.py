# SPDX-License-Identifier: Apache-2.0
"""Figures of the runs in volume: shares lost after the FEC by closed form, goodput, latency, outages, frames seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from models.fec import Code, cer, code, lost_in
from models.link_size import flight
from models.phy_errors import FAILS
from models.spec import spec
from tb.common.observe import Ints, cycles
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.shape import FECS
from tb.link.trace import End, Trace, match

Goal = Callable[[RunContext, Trace, PhaseRecords], list[str]]
SIGMAS = 4.5
_points: dict[str, list[tuple[float, float, float]]] = {}
_seen = {"frames": 0, "cycles": 0, "again": 0, "failed": 0}


def codes(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Codewords that failed and frames that were lost, against the code's arithmetic, within the sampling error.

    Codewords are independent; those of a frame's neighbours are shared, so frames lost vary as codewords failed do."""
    want = phase.item.info["codes"]
    a, b = t.ends["a"], t.ends["b"]
    c = code(want["fec"])
    ratio = float(cer(c, want["ratio"]))
    words = codewords(t, phase, c)
    failed = int((b.rows["fec"]["value"] >> 5 & 1).sum())
    sent, lost = len(a.sent.first), len(b.event("fcs")) + len(b.event("long"))
    share = lost / sent
    expected = lost_in(1 + (want["size"] - 1) / c.payload, ratio)
    # codewords that the frames lie in; each that fails takes its frames with it
    span = int(a.leaves[-1] - a.leaves[0] + 1)
    hit = t.shape.rate * span / c.payload * ratio
    out = []
    for what, got, right, events in (
        ("codewords failed", failed / words, ratio, words * ratio), ("frames lost", share, expected, hit),
    ):  # fmt: skip
        limit = SIGMAS * right * (1 / math.sqrt(events) + 1 / max(events, 1))
        if abs(got - right) > limit:
            out.append(f"{c.name} at {want['ratio']:g}: {what}: {got:.3e}, {right:.3e} +- {limit:.1e} is right")
    result = Result(ctx.run_dir)
    label = f"{want['fec']}_{want['ratio']:g}"
    result.figure(f"failed_{label}", round(100 * failed / words, 3), "percent", closed_form=round(100 * ratio, 3),
                  codewords=words, events=failed)  # fmt: skip
    result.figure(f"lost_{label}", round(100 * share, 3), "percent", closed_form=round(100 * expected, 3), frames=sent,
                  size=want["size"], profile="roce", within_sigmas=SIGMAS)  # fmt: skip
    result.save()
    return out


def as_often(what: str, events: int, right: float) -> list[str]:
    """Rare events that are independent: as many as closed form says, within SIGMAS deviations of that."""
    limit = SIGMAS * (math.sqrt(right) + 1)
    return [f"{what}: {events}, {right:.1f} +- {limit:.1f} are right"] if abs(events - right) > limit else []


def codewords(t: Trace, phase: PhaseRecords, c: Code) -> int:
    """Codewords judged in a phase."""
    return t.shape.rate * phase.stats.cycles // c.payload - 2


def transit(x: End, y: End) -> Ints:
    """Cycles from s_axis to m_axis of each delivered frame's first beat."""
    found = match(x.sent.sum ^ x.sent.user, y.got.sum ^ y.got.user)
    good = found >= 0
    took: Ints = cycles(y.m)[y.got.first[good]] - cycles(x.s)[x.sent.first[found[good]]]
    return took


def sweep(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Goodput of the end that sends as it may, mean and worst latency of the other one's frames.

    Codewords fail as often as the code's arithmetic says. Without a failure the goodput is the wire's rate less
    trailers and control sets, and each latency that of a frame alone, but for a set in front (P2). With them each
    replay costs at most the way there and back and what the rules add to it (V1, K1, R6), each time-out its time too.
    """
    want = phase.item.info["sweep"]
    a, b = t.ends["a"], t.ends["b"]
    at = cycles(b.m)
    goodput = int(a.sent.size.sum()) / int(at[-1] - at[0] + 1) * 8
    took = transit(b, a)
    fec, ratio = want["fec"], want["ratio"]
    c, f, out = code(fec), spec(), []
    for x in (a, b):
        failed = int((x.rows["fec"]["value"] >> 5 & 1).sum())
        expected = codewords(t, phase, c) * float(cer(c, ratio))
        out += as_often(f"{x.x}: codewords failed at {ratio:g}", failed, expected)
    sets = int(((a.ctl_leaves >= a.leaves[0]) & (a.ctl_leaves <= a.leaves[-1])).sum()) * f.integer("link.ctl_bytes")
    seg = t.shape.segment * t.shape.bb
    new = int(a.sent.size.sum()) + f.integer("link.trailer_bytes") * int((-(-a.sent.size // seg)).sum())
    best = (new + sets) / t.shape.rate
    span = int(at[-1] - at[0] + 1)
    way = flight(a.cfg.phy_tx, phase.item.cfg["cable"], b.cfg.phy_rx)
    again, fired = len(a.event("replay")), len(a.event("time-out"))
    replay = 2 * way + f.cycles("latency.link.verdict") + 2 * f.cycles("link.ctl_spacing") + 4 * t.shape.segment + 8
    most = best + 2 * t.shape.segment + again * replay + fired * a.cfg.replay_timeout
    if not best - 2 * t.shape.segment <= span <= most:
        out.append(f"a: delivered in {span} cycles; {best:.0f} to {most:.0f} by {again} replays, {fired} time-outs")
    add = f.cycles("latency.link.tx_fifo") + f.cycles("link.start_slack") + f.cycles("latency.link.rx")
    alone = add + way + t.shape.segment - 1
    # one cycle for a control set in front of a beat; the last one may stand behind a replay that a loss set going
    worst = alone + 1 + len(b.event("replay")) * replay + len(b.event("time-out")) * b.cfg.replay_timeout
    if int(took.min()) < alone or int(took.max()) > worst:
        out.append(f"b: latency {took.min()} to {took.max()}; {alone} to {worst} were to be")
    if not len(b.event("replay")) and float(took.mean()) > alone + 0.5:
        out.append(f"b: mean latency {took.mean():.1f}, {alone} and half a cycle at most without replays")
    result = Result(ctx.run_dir)
    more = {"metres": want["metres"], "size": want["size"], "frames": len(a.sent.first), "data_w": t.shape.data_w}
    result.figure(f"goodput_{fec}_{ratio:g}", round(goodput, 2), "Gb/s", replays=again, timeouts=fired,
                  at_most=round(int(a.sent.size.sum()) * 8 / best, 2),
                  load="full", cer=float(f"{float(cer(code(fec), ratio)):.2e}"), **more)  # fmt: skip
    result.figure(f"latency_{fec}_{ratio:g}", round(float(took.mean()), 1), "cycles", worst=int(took.max()),
                  alone=alone, load="half", replays=len(b.event("replay")), of="first beat in to first out",
                  **more)  # fmt: skip
    _points.setdefault(fec, []).append((ratio, goodput, float(took.mean())))
    if want["last"]:
        path = ctx.run_dir / "ber.png"
        plot(path)
        result.artifact("ber", path)
    result.save()
    return out


def plot(path: Path) -> None:
    """Goodput and latency against the ratio, a line for each code."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    for fec in FECS:
        rows = np.array(_points.get(fec, [])).reshape(-1, 3)
        for axis, column in zip(axes, (1, 2), strict=True):
            axis.plot(rows[:, 0], rows[:, column], "o-", ms=3, label=code(fec).name)
    for axis, title in zip(axes, ("goodput at full load, Gb/s", "latency at half load, cycles"), strict=True):
        axis.set_xscale("log")
        axis.set_xlabel("bit error ratio before the FEC")
        axis.set_title(title)
        axis.grid(alpha=0.3)
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def outage(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Longest time without a beat delivered, and when delivery went on behind the last fault."""
    want = phase.item.info["outage"]
    a, b = t.ends["a"], t.ends["b"]
    at = cycles(b.m)
    around = at[at >= want["from"] - 200]
    gaps = np.diff(around)
    k = int(gaps.argmax())
    longest, resumed = int(gaps[k]), int(around[k + 1])
    way = a.cfg.phy_tx + phase.item.cfg["cable"] + b.cfg.phy_rx
    fec, burst = want["fec"], want["burst"]
    result = Result(ctx.run_dir)
    name = f"outage_burst_{burst}_{fec}" if burst else f"outage_retrain_{fec}"
    result.figure(name, longest, "cycles", after_last_fault=resumed - want["from"] - burst, one_way=way,
                  metres=want["metres"], replays=len(a.event("replay")), retrain_cycles=0 if burst else a.cfg.retrain,
                  of="no beat at m_axis, full rate before")  # fmt: skip
    result.save()
    # a burst: NACK back and replay out again, twice when the silence lasted; a retrain: INITs and ECHOs there and back
    limit = burst + 3 * way + 400 if burst < 1000 else burst + a.cfg.replay_timeout + 3 * way + 400
    if not burst:
        limit = a.cfg.retrain + 6 * way + 400
    return [f"b: nothing delivered for {longest} cycles, at most {limit} were to be"] if longest > limit else []


def volume(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Counts what was seen so far. Where there are no bursts, codewords fail as often as the code's arithmetic says,
    beside those that a directed fault made to fail."""
    out = []
    for x, y in t.ways():
        errors = phase.item.info["errors"][y.x]
        c = code("kp4" if errors.kp4 else "llfec")
        failed = int((y.rows["fec"]["value"] >> 5 & 1).sum())
        if not errors.burst_thr:
            expected = codewords(t, phase, c) * float(cer(c, phase.item.info["ratios"][y.x]))
            forced = sum(kind == FAILS for _, kind in phase.item.info["fault"][y.x])
            out += as_often(f"{y.x}: codewords failed", min(failed, max(failed - forced, round(expected))), expected)
        _seen["frames"] += len(x.sent.first)
        _seen["again"] += len(x.event("replay"))
        _seen["failed"] += failed
    _seen["cycles"] += phase.stats.cycles
    result = Result(ctx.run_dir)
    result.figure("frames_under_errors", _seen["frames"], "count", replays=_seen["again"],
                  codewords_failed=_seen["failed"], cycles=_seen["cycles"],
                  each="compared with the model, beat by beat, and by the oracle")  # fmt: skip
    result.save()
    return out


GOALS_VOLUME: dict[str, Goal] = {"codes": codes, "sweep": sweep, "outage": outage, "volume": volume}
