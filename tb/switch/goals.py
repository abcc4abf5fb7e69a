# SPDX-License-Identifier: Apache-2.0
"""What single sequences ask for: latency, full rate, fairness, hot spots, lanes. Read off the records alone.

:data:`GOALS`: key of ``info`` -> check. The value under the key says what is wanted; each check describes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from models.spec import SPEC_DIR, Spec, spec
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.goals_flow import GOALS_FLOW
from tb.switch.trace import Trace, bits_of, latencies

Goal = Callable[[RunContext, Trace, PhaseRecords], list[str]]
PROFILE = ("native", "RoCE")


def _figure(ctx: RunContext, name: str, value: float, unit: str, **rest: Any) -> None:
    result = Result(ctx.run_dir)
    result.figure(name, value, unit, ports=int(ctx.param("PORTS", 8)), **rest)
    result.save()


def alone() -> int:
    """Cycles of a frame through an empty switch, first beat to first beat."""
    return sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


def latency(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames that are alone take the sum of the latency table; stored ones a cycle more for each further beat."""
    want = phase.item.info["latency"]
    beats = np.concatenate([out.beats for out in t.left]) if t.shape.saf else 1
    times = Counter((latencies(t) - (beats - 1)).tolist())
    worst = max(times)
    sizes = phase.item.info["sizes"]
    limit = spec().cycles("target.switch_cycles")
    below = worst < limit
    _figure(ctx, "switch_cycles", worst, "cycles", target=limit, passed=below, load="zero", pairs="all", sizes=sizes)
    if not below:
        return [f"zero-load latency is {worst} cycles; target: below {limit}"]
    return [] if set(times) == {want} else [f"zero-load latency is {dict(times)} cycles (value: frames), not {want}"]


def stream_limited(size: int, overhead: int, width: int) -> bool:
    """A frame of ``size`` bytes takes longer on the stream (a beat a cycle) than on the wire."""
    return -(-size // width) * spec().integer("link.rate_bytes") > size + overhead


def limited_sizes(overhead: int, width: int, top: int) -> list[tuple[int, int]]:
    """Ranges of frame sizes, 64 bytes to ``top``, that the stream's beats slow below the wire's rate."""
    found: list[tuple[int, int]] = []
    for size in range(64, top + 1):
        if not stream_limited(size, overhead, width):
            continue
        if found and found[-1][1] == size - 1:
            found[-1] = (found[-1][0], size)
        else:
            found.append((size, size))
    return found


def busy(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Outputs that have work in every cycle send a beat in every cycle: one size class of the permutation."""
    out, share = [], []
    size = int(phase.item.info["busy"])
    for o, m in enumerate(t.m):
        if not len(m):
            out.append(f"output {o} sent nothing")
            continue
        at = m["cycle"].astype(np.int64)
        share.append(len(at) / (at[-1] - at[0] + 1))
        if share[-1] < 1:
            out.append(f"output {o}: {len(at)} beats in {at[-1] - at[0] + 1} cycles, frames of {size} bytes")
    overhead = spec().integer("link.overhead_roce" if t.roce else "link.trailer_bytes")  # limited sizes: one segment
    rate = spec().integer("link.rate_bytes")
    per_cycle = size / -(-size // t.shape.data_bytes)
    pieces = 1 if t.roce else -(-size // spec().integer("link.segment_bytes"))
    wire = size * rate / (size + overhead * pieces)
    ranges = limited_sizes(overhead, t.shape.data_bytes, t.shape.largest)
    _figure(
        ctx, f"stream_limited_{PROFILE[t.roce].lower()}", sum(b - a + 1 for a, b in ranges), "count",
        sizes=", ".join(f"{a}..{b}" if b > a else str(a) for a, b in ranges), of="frame sizes from 64 bytes on",
        wire=f"{rate} bytes a cycle, {overhead} bytes after each {'frame' if t.roce else 'segment'}",
        beat=t.shape.data_bytes,
    )  # fmt: skip
    _figure(
        ctx, f"line_rate_{PROFILE[t.roce].lower()}_{size}", round(100 * min(share, default=0), 2), "percent",
        target=100, passed=not out, bytes_a_cycle=round(per_cycle, 2), wire_bytes_a_cycle=round(wire, 2),
        limit="stream" if stream_limited(size, overhead, t.shape.data_bytes) else "wire",
    )  # fmt: skip
    return out


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
    _figure(ctx, "least_share", round(100 * float(used.min()) * len(used), 1), "percent", target=50,
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


_cool: dict[str, dict[str, float]] = {}


def cool(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Outputs beside a hot spot: the same frames for them, with and without it, are through at about the same time.

    ``info["cool"]`` is (name of the pair, "with" or "without", the hot output).
    """
    pair, which, hot = phase.item.info["cool"]
    ends = [int(out.end.max()) for o, out in enumerate(t.left) if o != hot and len(out.end)]
    _cool.setdefault(pair, {})[which] = max(ends) - phase.item.info["from"]
    done = _cool[pair]
    if len(done) < 2:
        return []
    ratio = done["with"] / done["without"]
    _figure(ctx, "beside_hot_spot", round(100 * ratio, 1), "percent", target=115, passed=ratio <= 1.15,
            meaning="time of the other outputs' frames with a hot spot, against without")  # fmt: skip
    return (
        [] if ratio <= 1.15 else [f"the hot spot slows other outputs: {done['with']} against {done['without']} cycles"]
    )


def load(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Latency under load as figures. Whatever the traffic, no frame is faster than through an empty switch."""
    times = latencies(t)
    if not len(times):
        return ["nothing left the switch"]
    if times.min() < alone():
        return [f"a frame took {times.min()} cycles; an empty switch takes {alone()}"]
    for key, value in (("mean", times.mean()), ("p99", np.percentile(times, 99)), ("max", times.max())):
        _figure(ctx, f"latency_{phase.item.info['load']}_{key}", round(float(value), 1), "cycles",
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
    _figure(ctx, f"mean_wait_{key}_{load}", round(mean, 2), "cycles", target=due, passed=passed, load=load,
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
    _figure(
        ctx, "beside_blocked_lane", round(100 * share, 1), "percent", target=100 * due, passed=share > due, lane=lane
    )
    if share <= due:
        return [f"output {o}: {count} beats of other lanes in {end - begin - store} cycles beside lane {lane}"]
    return [] if (out.lane == lane).any() else [f"output {o}: lane {lane} never came"]


GOALS: dict[str, Goal] = {
    "latency": latency, "busy": busy, "fair": fair, "shares": shares, "stalls": stalls, "cool": cool, "load": load,
    "theory": theory, "lanes_turn": lanes_turn, "blocked_lane": blocked_lane, **GOALS_FLOW,
}  # fmt: skip
