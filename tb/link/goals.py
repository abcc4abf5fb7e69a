# SPDX-License-Identifier: Apache-2.0
"""What single sequences ask for, read off the records alone: delays, line rate, refusals, replays, recovery, pauses.

:data:`GOALS`: key of ``info`` -> check. The value under the key says what is wanted; each check describes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from models.spec import spec
from tb.common.beats import LAST
from tb.common.observe import Ints, cycles
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.goals_faults import GOALS_FAULTS
from tb.link.goals_volume import GOALS_VOLUME
from tb.link.shape import PROFILES
from tb.link.trace import Trace

Goal = Callable[[RunContext, Trace, PhaseRecords], list[str]]


def figure(ctx: RunContext, name: str, value: float, unit: str, **rest: Any) -> None:
    """A figure of the run's report."""
    result = Result(ctx.run_dir)
    result.figure(name, value, unit, **rest)
    result.save()


def latency(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames that are alone: s_axis to tx, tx to rx, last beat of the first segment to m_axis, by the latency table."""
    f = spec()
    out = []
    add = f.cycles("latency.link.tx_fifo") + f.cycles("link.start_slack") + f.cycles("latency.link.tx_out")
    rx = f.cycles("latency.link.rx")
    for x, y in t.ways():
        if not len(x.sent.first):
            continue
        s, tx, m = cycles(x.s)[x.sent.first], cycles(x.tx), cycles(y.m)[y.got.first]
        first, _, _, _ = x.tx_side
        last = (x.tx["flags"] & LAST) != 0
        beats = x.sent.last - x.sent.first + 1
        # a frame's first beat at tx, and the last beat of its first segment (RoCE: of the frame)
        at = np.cumsum(beats) - beats
        if len(tx) != int(beats.sum()):
            out.append(f"{x.x}: {len(tx)} beats on the wire, {int(beats.sum())} of frames that are alone")
            continue
        ends = np.flatnonzero(last)
        end = ends[np.searchsorted(ends, at)]
        fly = x.cfg.phy_tx + phase.item.cfg["cable"] + y.cfg.phy_rx
        to_tx = tx[at] - s - x.cfg.phy_tx
        to_m = m - tx[end] - fly + x.cfg.phy_tx
        if (to_tx != add).any():
            out.append(f"{x.x}: s_axis to tx {sorted(set(to_tx.tolist()))} cycles beside the PHY, not {add}")
        if (to_m != rx).any():
            out.append(f"{y.x}: rx to m_axis {sorted(set(to_m.tolist()))} cycles beside the PHY, not {rx}")
        if (np.diff(first) > 1).any():
            out.append(f"{x.x}: impossible marks")
        both = int(to_tx.max() + to_m.max())
        store = int((end - at).max()) if len(at) else 0
        name = f"link_cycles_{PROFILES[x.cfg.roce]}"
        figure(ctx, name, both, "cycles", transmit=int(to_tx.max()), receive=int(to_m.max()), load="zero",
               without="PHYs, cable, and the beats of a segment (RoCE: frame) before its check",
               beats_before_check=store, data_w=t.shape.data_w)  # fmt: skip
    return out


@numba.njit(cache=True)
def ideal(charge: Ints, begins: Ints, accepted: Ints, sets: Ints, rate: int, ctl: int, fifo: int, slack: int) -> Ints:
    """Cycle at which each beat leaves when nothing but the wire, the sets and its own arrival delays it (P1 to P3)."""
    out = np.zeros(len(charge), np.int64)
    backlog, now, k = 0, 0, 0
    for i in range(len(charge)):
        least = accepted[i] + fifo + (slack if begins[i] else 0)
        if i and out[i - 1] >= least:
            least = out[i - 1] + 1
        while now < least or backlog >= rate:
            add = 0
            while k < len(sets) and sets[k] <= now:
                add += ctl
                k += 1
            backlog = max(0, backlog + add - rate)
            now += 1
        out[i] = now
        add = charge[i]
        while k < len(sets) and sets[k] <= now:
            add += ctl
            k += 1
        backlog = max(0, backlog + add - rate)
        now += 1
    return out


def line_rate(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """A busy direction sends exactly the wire's rate less trailers (RoCE: preamble and gap) and control sets: every
    beat leaves when the wire alone would let it, and only frames that fill too little of a beat leave it idle."""
    f = spec()
    out = []
    want = phase.item.info["line_rate"]
    for x, _ in t.ways():
        if x.x not in want["ends"]:
            continue
        last = (x.tx["flags"] & LAST) != 0
        over = f.integer("link.overhead_roce" if x.cfg.roce else "link.trailer_bytes")
        charge = x.fill + last * over
        begins = np.zeros(len(x.tx), np.int64)
        beats = x.sent.last - x.sent.first + 1
        begins[np.cumsum(beats) - beats] = 1
        if len(x.tx) != len(x.s):
            out.append(f"{x.x}: {len(x.tx)} beats left, {len(x.s)} were given")
            continue
        best = ideal(charge, begins, cycles(x.s), x.ctl_leaves, t.shape.rate, f.integer("link.ctl_bytes"),
                     f.cycles("latency.link.tx_fifo"), f.cycles("link.start_slack"))  # fmt: skip
        late = np.flatnonzero(x.leaves != best)
        if len(late):
            k = int(late[0])
            out.append(f"{x.x}: beat {k} left {x.leaves[k] - best[k]:+d} cycles later than the wire would let it")
        # a stretch of the run without its ends: bytes of the wire in it
        span = int(x.leaves[-1] - x.leaves[0] + 1)
        sets = int(((x.ctl_leaves >= x.leaves[0]) & (x.ctl_leaves <= x.leaves[-1])).sum())
        wire = int(charge.sum()) + sets * f.integer("link.ctl_bytes")
        data = int(x.sent.size.sum())
        if want.get("full") and not -2 <= span - wire / t.shape.rate <= 2:
            out.append(f"{x.x}: {wire} bytes of wire in {span} cycles, {wire / t.shape.rate:.1f} were enough")
        if label := want.get("label"):
            best_gbps = data / wire * t.shape.rate * 8
            figure(ctx, f"goodput_{label}", round(data / span * 8, 2), "Gb/s", target=round(best_gbps, 2),
                   passed=abs(data / span * 8 / best_gbps - 1) <= 2 / span, of_wire=t.shape.rate * 8, bytes=data,
                   cycles=span, overhead_bytes=int(charge.sum()) - data, control_sets=sets,
                   metres=want["metres"], profile=PROFILES[x.cfg.roce], size=want["size"])  # fmt: skip
    return out


def starts_after(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Beats of the end a that leave before a cycle are as many as the credits allow: (cycle, beats)."""
    cycle, beats = phase.item.info["starts_after"]
    left = int((t.ends["a"].leaves < cycle).sum())
    return [] if left == beats else [f"a: {left} beats left before cycle {cycle}, {beats} were to"]


def brim(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """The far core is filled to its last cell; a buffer with one cell less would have overflowed, and is seen to."""
    from tb.link.checks import held, overrun

    most = int(held(t.ends["a"], t.ends["b"]).max())
    cells = 16 * t.ends["b"].cfg.cells
    out = [] if most == cells else [f"b: {most} cells held at most, {cells} were to be"]
    if not overrun(t, phase, less=1):
        out.append("b: with one cell less than was granted nothing would have been seen")
    return out


def events(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Events that must have come: {(end, event): least number}."""
    want: dict[tuple[str, str], int] = phase.item.info["events"]
    return [
        f"{x}: event '{name}' came {len(t.ends[x].event(name))} times, at least {least} were to"
        for (x, name), least in want.items()
        if len(t.ends[x].event(name)) < least
    ]


def never(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Events that must not have come: [(end, event)]."""
    want: list[tuple[str, str]] = phase.item.info["never"]
    return [f"{x}: event '{name}' came" for x, name in want if len(t.ends[x].event(name))]


GOALS: dict[str, Goal] = {
    "latency": latency, "line_rate": line_rate, "starts_after": starts_after, "brim": brim, "events": events,
    "never": never,
} | GOALS_FAULTS | GOALS_VOLUME  # fmt: skip
