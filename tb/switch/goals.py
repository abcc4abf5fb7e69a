# SPDX-License-Identifier: Apache-2.0
"""What single sequences ask for: latency, fairness, lanes, stamps. Read off the records alone.

:data:`GOALS`: key of ``info`` -> check. The value under the key says what is wanted; each check describes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from models.spec import SPEC_DIR, Spec, spec
from tb.common.run import RunContext
from tb.common.taps import read_stamps
from tb.common.uvm import PhaseRecords
from tb.switch.goals_flow import GOALS_FLOW
from tb.switch.goals_hot import GOALS_HOT, alone
from tb.switch.goals_rate import PROFILE, busy, figure, line_rate
from tb.switch.goals_stranded import GOALS_STRANDED
from tb.switch.trace import Trace, bits_of, latencies

TAPS = "sw"  # prefix of the stamps in tb_switch
CROSSED = 2  # cycles from a beat taken to the crossbar's output
Goal = Callable[[RunContext, Trace, PhaseRecords], list[str]]


def latency(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames that are alone take the sum of the latency table; stored ones a cycle more for each further beat.

    The target is one for cut through. Stored first, a frame of n beats takes n - 1 cycles more: the figure with its
    target is then what is left without them, and says so, and ``switch_cycles_stored`` has what frames really took.
    """
    want = phase.item.info["latency"]
    beats = np.concatenate([out.beats for out in t.left]) if t.shape.saf else 1
    took = latencies(t)
    times = Counter((took - (beats - 1)).tolist())
    worst = max(times)
    sizes = phase.item.info["sizes"]
    limit = spec().cycles("target.switch_cycles")
    below = worst < limit
    name, rest = "switch_cycles", {}
    if t.shape.saf:
        name, rest = "switch_cycles_without_storing", {"not_counted": "the frame's beats - 1, while it is stored"}
        figure(ctx, "switch_cycles_stored", int(took.max()), "cycles", load="zero", pairs="all", sizes=sizes,
               meaning="store and forward, worst frame, its storing counted; no target")  # fmt: skip
    figure(ctx, name, worst, "cycles", target=limit, passed=below, load="zero", pairs="all", sizes=sizes, **rest)
    if not below:
        return [f"zero-load latency is {worst} cycles; target: below {limit}"]
    return [] if set(times) == {want} else [f"zero-load latency is {dict(times)} cycles (value: frames), not {want}"]


def stamps(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Stage stamps: a file for each port, by its number, with the cycle of each frame's decision and crossing.

    ``info["stamps"]``: number of the phase. Nothing is dropped or moved, and every output is always ready.
    """
    found = read_stamps(ctx.run_dir / "taps", phase.item.info["stamps"])
    ports = range(t.shape.ports)
    names = {f"{TAPS}.{stage}{p}" for p in ports for stage in ("voq", "xbar")}
    if set(found) != names:
        return [f"stamps are {sorted(set(found) - names)} beyond, {sorted(names - set(found))} missing"]
    lookup, cross = spec().cycles("latency.switch.lookup"), spec().cycles("latency.switch.cross")
    said = []
    for p in ports:
        want = {"voq": t.entered[p].cycle + lookup, "xbar": t.left[p].cycle - cross + CROSSED}
        for stage, cycles in want.items():
            got = found[f"{TAPS}.{stage}{p}"]
            if got != cycles.tolist():
                said.append(f"{TAPS}.{stage}{p}: {len(got)} stamps, from {got[:3]}; due {len(cycles)}: {cycles[:3]}")
    return said


def fair(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """In any N frames in a row of this output with N persistent inputs, each input is served once."""
    o = phase.item.info["fair"]
    order = t.left[o].source
    counts = np.bincount(order, minlength=t.shape.ports)
    inputs = np.flatnonzero(counts)
    n = len(inputs)
    if n < 2:
        return [f"output {o}: frames of {n} input(s): the test tests nothing"]
    until = int(counts[inputs].min()) * n  # until the first of them has nothing left
    for k in range(until - n + 1):
        if len(set(order[k : k + n].tolist())) != n:
            return [f"output {o}: frames {k}..{k + n - 1} came from inputs {order[k : k + n].tolist()}, not each once"]
    return []


def shares(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """S16: beats of each source at this output while all had work, as a share; none below half of its due."""
    o = phase.item.info["shares"]
    out = t.left[o]
    last = min(out.end[out.source == p].max() for p in np.unique(out.source))
    senders = np.unique(out.source)  # an input that got nothing while the others had work counts, with nothing
    there = out.end <= last
    beats = np.bincount(out.source[there], weights=out.beats[there], minlength=t.shape.ports)
    part = beats / beats.sum()
    used = part[senders]
    figure(ctx, "least_share", round(100 * float(used.min()) * len(used), 1), "percent", target=50,
            passed=bool(used.min() * len(used) > 0.5), shares=[round(100 * float(x), 1) for x in part])  # fmt: skip
    return [] if used.min() * len(used) > 0.5 else [f"output {o}: shares of the inputs are {part.round(3).tolist()}"]


def stalls(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Some input had all of its cells in use: as many beats accepted and not given back as it has cells."""
    most = [peak(t, phase, p) for p in range(t.shape.ports)]
    return [] if max(most) >= t.shape.cells else [f"most cells in use are {most} of {t.shape.cells}: tests nothing"]


def peak(t: Trace, phase: PhaseRecords, p: int) -> int:
    """Most cells of an input in use at once; a cell counts as given back from the cycle of its event on."""
    rows = phase.rows["free.evt"]
    bits = bits_of(rows, t.shape.ports * t.shape.lanes * 2).reshape(len(rows), t.shape.ports, t.shape.lanes * 2)[:, p]
    back = bits @ np.tile([1, 2], t.shape.lanes)
    came = t.s[p]["cycle"].astype(np.int64)
    at = np.concatenate((came, rows["cycle"].astype(np.int64)))
    change = np.concatenate((np.ones(len(came), np.int64), -back))
    order = np.lexsort((change, at))
    return int(np.cumsum(change[order]).max(initial=0))


def load(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Latency under load as figures. Whatever the traffic, no frame is faster than through an empty switch."""
    times = latencies(t)
    if not len(times):
        return ["nothing left the switch"]
    if times.min() < alone():
        return [f"a frame took {times.min()} cycles; an empty switch takes {alone()}"]
    for key, value in (("mean", times.mean()), ("p99", np.percentile(times, 99)), ("max", times.max())):
        figure(ctx, f"latency_{phase.item.info['load']}_{key}", round(float(value), 1), "cycles",
                frames=len(times), profile=PROFILE[t.roce], alloc=t.shape.alloc)  # fmt: skip
    return []


def theory(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Mean wait of single beats under Bernoulli arrivals, uniform: what is published of the allocator
    (spec/crossbar.toml), and no less than behind output queues: (N - 1) / N x L / (2 (1 - L)).

    ``info["theory"]``: (name in the file's [wait], load in percent, cycle from which arrivals count).
    """
    key, load, warm = phase.item.info["theory"]
    known = Spec(SPEC_DIR / "crossbar.toml", clock=False)
    near = known.value("tolerance.percent") / 100
    waits, at = [], []
    for out in t.left:
        for p in range(t.shape.ports):
            mine = out.source == p
            came = t.entered[p].cycle[out.number[mine]]
            at.append(came)
            waits.append(out.cycle[mine] - came - alone())
    mean = float(np.concatenate(waits)[np.concatenate(at) >= warm].mean())
    due = known.value(f"wait.{key}.load_{load}")
    share, n = load / 100, t.shape.ports
    least = (n - 1) / n * share / (2 * (1 - share))
    passed = abs(mean - due) <= near * due and mean >= least * (1 - near)
    figure(ctx, f"mean_wait_{key}_{load}", round(mean, 2), "cycles", target=due, passed=passed, load=load,
            behind_output_queues=round(least, 2), tolerance_percent=round(100 * near))  # fmt: skip
    if passed:
        return []
    return [f"load {load} %: mean wait {mean:.2f} cycles, known: {due}, behind output queues: {least:.2f}"]


def lanes_turn(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """S5: while an input has frames of every lane for this output, any LANES frames in a row are of each lane once."""
    source, o = phase.item.info["lanes_turn"]
    out = t.left[o]
    order = out.lane[out.source == source]
    n = t.shape.lanes
    # until the first lane has nothing left: one that was served twice before all had frames is through earlier
    until = min((int(np.flatnonzero(order == v)[-1]) + 1 if v in order else 0) for v in range(n))
    skip = phase.item.info.get("lanes_from", 0)
    for k in range(skip, until - n + 1):
        if len(set(order[k : k + n].tolist())) != n:
            return [f"output {o}: frames {k}.. are of lanes {order[k : k + n].tolist()}, not each once"]
    return [] if until > 2 * n else [f"output {o}: {until} frames: the test tests nothing"]


def blocked_lane(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """S16: while one lane of this output is held back, the others fill it; the lane goes on afterwards."""
    o, lane, begin, end = phase.item.info["blocked_lane"]
    out = t.left[o]
    store = spec().cycles("latency.switch.cross") + 2
    inside = (out.cycle >= begin + store) & (out.cycle < end)
    if (out.lane[inside] == lane).any():
        return [f"output {o}: a frame of lane {lane} left while that lane was held back"]
    at = t.m[o]["cycle"].astype(np.int64)
    count = int(((at >= begin + store) & (at < end)).sum())
    share = count / (end - begin - store)
    # in a buffer of few frames that is full, the last one is asked for before it is whole inside, and stalls there
    due = 0.95 if t.shape.cells >= 3 * t.shape.max_beats * t.shape.lanes else 0.85
    figure(
        ctx, "beside_blocked_lane", round(100 * share, 1), "percent", target=100 * due, passed=share > due, lane=lane
    )
    if share <= due:
        return [f"output {o}: {count} beats of other lanes in {end - begin - store} cycles beside lane {lane}"]
    return [] if (out.lane == lane).any() else [f"output {o}: lane {lane} never came"]


def credit_lane(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """S16, O4: until credits come back each lane sends the frames that it may start with more than M of them, no more
    and no fewer, though one of them stands still before the others begin.

    ``info["credit_lane"]``: (output, that lane, cycle of the first return, frames a lane, one more at most).
    """
    o, lane, until, due, edge = phase.item.info["credit_lane"]
    out = t.left[o]
    before = out.cycle < until + spec().cycles("latency.switch.cross")
    count = np.bincount(out.lane[before], minlength=t.shape.lanes)
    kept = bool(((count >= due) & (count <= due + edge)).all())
    figure(ctx, f"beside_lane_without_credit_{due}", int(count.min()), "count", target=due,
            passed=kept, lane=lane, of="frames a lane before credits return")  # fmt: skip
    if not kept:
        return [f"output {o}: {count.tolist()} frames by lane before credits return, {due} due; lane {lane} came first"]
    return [] if len(out.cycle) > count.sum() else [f"output {o}: nothing waited for credit: tests nothing"]


GOALS: dict[str, Goal] = {
    "latency": latency, "busy": busy, "line_rate": line_rate, "stamps": stamps,
    "fair": fair, "shares": shares, "stalls": stalls, "load": load,
    "theory": theory, "lanes_turn": lanes_turn, "blocked_lane": blocked_lane,
    "credit_lane": credit_lane, **GOALS_FLOW, **GOALS_HOT,
    **GOALS_STRANDED,
}  # fmt: skip
