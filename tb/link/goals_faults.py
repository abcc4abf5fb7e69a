# SPDX-License-Identifier: Apache-2.0
"""What sequences of errors, states and pauses ask for, read off the records alone: see ``tb.link.goals``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.pfc import headroom as computed
from models.spec import spec
from tb.common.beats import LAST
from tb.common.observe import cycles, value_at
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.shape import ENDS
from tb.link.trace import REASONS, STATES, UP, End, Trace

Goal = Callable[[RunContext, Trace, PhaseRecords], list[str]]


def ends(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """State and reason of each end in the end."""
    out = []
    for x, (state, reason) in phase.item.info["ends"].items():
        end = t.ends[x]
        if end.last("state") != state or end.last("reason") != reason:
            out.append(
                f"{x}: {STATES[end.last('state')]}, reason {end.last('reason'):#x} in the end, "
                f"not {STATES[state]}, {reason:#x}"
            )
        if (end.last("up") == 1) != (state == UP):
            out.append(f"{x}: up is {end.last('up')} in state {STATES[state]}")
    return out


def up_by(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Both ends are up from this cycle on; what was offered from then on came through."""
    at = phase.item.info["up_by"]
    out = []
    for x, y in t.ways():
        if int(value_at(x.rows["up"], np.array([at]))[0]) != 1:
            out.append(f"{x.x}: not up at cycle {at}")
        later = int((cycles(x.s)[x.sent.first] >= at).sum())
        if later > len(y.got.last):
            out.append(f"{x.x}: {later} frames offered from cycle {at} on, {len(y.got.last)} received")
    return out


def refused(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Neither end came up; both said why; nothing was delivered."""
    bits = phase.item.info["refused"]
    out = []
    for x, y in t.ways():
        reasons = np.bitwise_or.reduce(x.rows["reason"]["value"])
        known = sum(1 << REASONS.index(r) for r in ("profile", "fec", "lanes"))
        if reasons & known != bits:
            out.append(f"{x.x}: reason {reasons:#x}, {bits:#x} was to be")
        if x.rows["up"]["value"].any() or (x.state[1] == UP).any():
            out.append(f"{x.x}: came up")
        if not len(x.event("refused")):
            out.append(f"{x.x}: no event tells of the refusal")
        if len(y.m):
            out.append(f"{y.x}: received {len(y.m)} beats")
    return out


def went_down(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Both ends were down and came back: the far end saw it go."""
    return [f"{x}: never went down" for x in ENDS if not len(t.ends[x].event("down"))]


def paused(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """No frame of a lane starts while the far end wants it paused, and pauses were there."""
    out = []
    for x, _ in t.ways():
        if not x.cfg.roce or not x.cfg.gate:
            continue
        first, _, _, _ = x.tx_side
        begin = np.flatnonzero(first)
        data = x.tx["data"][begin]
        own = (data[:, 12] == 0x88) & (data[:, 13] == 0x08) & (data[:, 0] == 1)  # frames of flow control are not held
        lane = data[:, 15].astype(np.int64) >> 5
        lane = np.where(lane < x.lanes, lane, 0)
        level = value_at(x.rows["pausing"], x.leaves[begin])
        wrong = (level >> lane & 1 == 1) & ~own
        if wrong.any():
            out.append(f"{x.x}: {int(wrong.sum())} frames started in a lane that the far end had paused")
    return out


def headroom(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Cells of the paused lane that came after the pause was asked for, against the computed headroom."""
    want = phase.item.info["headroom"]
    a, b = t.ends["a"], t.ends["b"]
    at = cycles(b.m)
    came = int(((at >= want["from"]) & (at < want["until"])).sum())
    room = computed(want["metres"], phy=want["fec"], roce=True, cell=t.shape.bb, egress=0)
    last = int(at[at < want["until"]].max())
    result = Result(ctx.run_dir)
    result.figure(
        f"headroom_used_{want['size']}B_{want['metres']}m_{want['fec']}", came, "cells", target=room.cells,
        passed=came <= room.cells, response_cycles=last - want["from"], computed_response=room.response,
        counted="at m_axis from the pause asked for to its end",
    )  # fmt: skip
    result.save()
    out = []
    if came > room.cells:
        out.append(f"b: {came} cells came after the pause, {room.cells} were computed")
    if last > want["until"] - 100:
        out.append("b: the pause was not obeyed")
    sent = int((a.leaves < want["until"]).sum())
    if sent == len(a.leaves):
        out.append("a: nothing was held back, the pause was never needed")
    # the same buffer with a cell less than came overflows, and is seen to
    held = np.cumsum((at >= want["from"]) & (at < want["until"]))
    if not (held > came - 1).any():
        out.append("b: with a cell less nothing would have been seen")
    return out


def no_hole(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Beats of a frame leave as the wire lets them: the core was never the reason to wait."""
    from tb.link.goals import ideal

    x: End = t.ends[phase.item.info["no_hole"]]
    f = spec()
    last = (x.tx["flags"] & LAST) != 0
    charge = x.fill + last * f.integer("link.trailer_bytes")
    beats = x.sent.last - x.sent.first + 1
    first = np.cumsum(beats) - beats
    begins = np.zeros(len(x.tx), np.int64)
    begins[first] = 1
    accepted = np.repeat(cycles(x.s)[x.sent.first], beats)
    best = ideal(charge, begins, accepted, x.ctl_leaves, t.shape.rate, f.integer("link.ctl_bytes"),
                 f.cycles("latency.link.tx_fifo"), f.cycles("link.start_slack"))  # fmt: skip
    late = np.flatnonzero(x.leaves != best)
    return [f"{x.x}: {len(late)} beats late, the first by {x.leaves[late[0]] - best[late[0]]}"] if len(late) else []


GOALS_FAULTS: dict[str, Goal] = {
    "ends": ends, "up_by": up_by, "refused": refused, "went_down": went_down, "paused": paused, "headroom": headroom,
    "no_hole": no_hole,
}  # fmt: skip
