# SPDX-License-Identifier: Apache-2.0
"""Checks of outputs beside a hot one: what their frames wait, to the cycle, from the records alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.spec import spec
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.goals_rate import figure
from tb.switch.trace import Trace


def alone() -> int:
    """Cycles of a frame through an empty switch, first beat to first beat."""
    return sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


_done: dict[str, dict[str, dict[int, int]]] = {}


def cool(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Outputs beside a hot spot: the same frames for them, with and without it, are through at about the same time, at
    each of them.

    ``info["cool"]`` is (name of the pair, "with" or "without", the hot output).
    """
    pair, which, hot = phase.item.info["cool"]
    ends = {
        o: int(out.end.max()) - phase.item.info["from"] for o, out in enumerate(t.left) if o != hot and len(out.end)
    }
    _done.setdefault(pair, {})[which] = ends
    done = _done[pair]
    if len(done) < 2:
        return []
    ratio = max(done["with"][o] / done["without"][o] for o in done["without"])
    figure(ctx, "beside_hot_spot", round(100 * ratio, 1), "percent", target=115, passed=ratio <= 1.15,
            meaning="time of the other outputs' frames with a hot spot, against without, the slowest")  # fmt: skip
    return (
        [] if ratio <= 1.15 else [f"the hot spot slows other outputs: {done['with']} against {done['without']} cycles"]
    )


def undisturbed(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames for the other outputs enter when they are offered and wait no longer than so many cycles; with 0 each
    leaves in the cycle in which it would through an empty switch. ``info["undisturbed"]``: (hot output, cycles).
    """
    hot, most = phase.item.info["undisturbed"]
    said, worst, seen = [], 0, 0
    for o, out in enumerate(t.left):
        if o == hot:
            continue
        for p in np.unique(out.source).tolist():
            mine = out.source == p
            number = out.number[mine]
            came = t.entered[p].cycle[number]
            late = came - phase.item.info["batch"][p].cycle[number]
            if late.any():
                said.append(f"input {p}: a frame for output {o} was let in {late.max()} cycles late beside the hot one")
            wait = out.cycle[mine] - came - alone() - (out.beats[mine] - 1 if t.shape.saf else 0)
            worst, seen = max(worst, int(wait.max())), seen + len(wait)
            if (wait > most).any() or (wait < 0).any():
                said.append(f"input {p}: frames for output {o} waited up to {wait.max()} cycles, not {most} at most")
    if not seen:
        said.append("no frame for another output: tests nothing")
    figure(ctx, f"beside_hot_spot_{phase.item.info['hot']}", worst, "cycles", target=most, passed=not said, frames=seen,
            meaning="longest wait of a frame for another output beyond an empty switch's latency")  # fmt: skip
    return said


def stopped(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """The control: hot frames have every cell of the inputs, so nothing leaves the others while the hot output stands
    still, and everything does afterwards. ``info["stopped"]``: (hot output, from, to)."""
    hot, begin, end = phase.item.info["stopped"]
    at = np.concatenate([out.cycle for o, out in enumerate(t.left) if o != hot])
    there = int(((at >= begin) & (at < end)).sum())
    after = int((at >= end).sum())
    figure(
        ctx, "others_behind_a_full_buffer", there, "count", target=0, passed=not there and after > 0, afterwards=after
    )
    if there or not after:
        return [
            f"{there} frames left other outputs though hot frames had every cell, {after} afterwards: tests nothing"
        ]
    return []


GOALS_HOT: dict[str, Callable[[RunContext, Trace, PhaseRecords], list[str]]] = {
    "cool": cool, "undisturbed": undisturbed, "stopped": stopped,
}  # fmt: skip
