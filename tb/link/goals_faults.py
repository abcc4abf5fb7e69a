# SPDX-License-Identifier: Apache-2.0
"""What sequences of errors, states and pauses ask for, read off the records alone: see ``tb.link.goals``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.link_size import flight, pause_cells
from models.spec import spec
from tb.common.beats import LAST
from tb.common.observe import Ints, cycles, value_at
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.shape import ENDS
from tb.link.trace import INIT, KINDS, REASONS, STATES, UP, End, Trace

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


def gave_up(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """The first end to leave INIT for OFF was this one, for want of an answer, with just one direction on: a, which
    hears, sent an ECHO, b, which is answered, no INIT any more."""
    x = phase.item.info["gave_up"]
    end = t.ends[x]
    at, state = end.state
    down = end.event("down")
    if not len(down):
        return [f"{x}: never gave up"]
    off = int(down[0])
    out = []
    if int(value_at(end.rows["reason"], np.array([off + 1]))[0]) != 1 << REASONS.index("no answer"):
        out.append(f"{x}: gave up at cycle {off} for another reason than that there was no answer")
    begin = int(at[(state == INIT) & (at < off)][-1])
    if off - begin != end.cfg.init_timeout:
        out.append(f"{x}: gave up after {off - begin} cycles, {end.cfg.init_timeout} were to be")
    sets = [(int(c), KINDS.get(int(k))) for c, k in zip(end.ctl_leaves, end.kinds, strict=True)]
    said = {kind for c, kind in sets if begin <= c < off}
    asked = any(kind == "init" and c > off - 2 * spec().cycles("link.init_interval") for c, kind in sets if c < off)
    if ("echo" in said) != (x == "a") or asked != (x == "a"):
        out.append(f"{x}: it sent {sorted(map(str, said))} before it gave up: not one direction alone was on")
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
    """Cells of the paused lane that came after the pause was asked for, against those that can come (models/link_size).
    ``exact``: the traffic is the worst there is: the last cell of the headroom is used."""
    want = phase.item.info["headroom"]
    a, b = t.ends["a"], t.ends["b"]
    at = cycles(b.m)
    came = int(((at >= want["from"]) & (at < want["until"])).sum())
    room = pause_cells(flight(b.cfg.phy_tx, phase.item.cfg["cable"], a.cfg.phy_rx), t.shape.bb)
    last = int(at[at < want["until"]].max())
    result = Result(ctx.run_dir)
    result.figure(
        f"headroom_used_{want['size']}B_{want['metres']}m_{want['fec']}{'_worst' if want['exact'] else ''}", came,
        "cells", target=room, passed=came <= room, response_cycles=last - want["from"],
        counted="at m_axis from the pause asked for to its end",
    )  # fmt: skip
    result.save()
    out = []
    if came > room or (want["exact"] and came != room):
        out.append(f"b: {came} cells came after the pause, {room} were computed")
    if last > want["until"] - 100:
        out.append("b: the pause was not obeyed")
    sent = int((a.leaves < want["until"]).sum())
    if sent == len(a.leaves):
        out.append("a: nothing was held back, the pause was never needed")
    return out


def credit_hole(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """The credits of a's lane against ``cells`` of it, from what a sent and what b said: with ``less`` 0 no beat leaves
    later than the wire lets it, and one frame starts with the last cell it needs; with 1 that frame is the first that
    is late, by as long as the next CF takes."""
    from tb.link.goals import figure, ideal

    want = phase.item.info["credit_hole"]
    a, b, f = t.ends["a"], t.ends["b"], spec()
    last = (a.tx["flags"] & LAST) != 0
    begins = np.zeros(len(a.tx), np.int64)
    beats = a.sent.last - a.sent.first + 1
    start = np.cumsum(beats) - beats
    begins[start] = 1
    charge = a.fill + last * f.integer("link.trailer_bytes")
    best = ideal(charge, begins, cycles(a.s), a.ctl_leaves, t.shape.rate, f.integer("link.ctl_bytes"),
                 f.cycles("latency.link.tx_fifo"), f.cycles("link.start_slack"))  # fmt: skip
    late = np.flatnonzero(a.leaves != best)
    at, _, word = b.ctl
    cf = b.kinds == 0x10
    byte = [word[cf] >> 8 * k & 0xFF for k in range(8)]
    first = (byte[2] >> 3, (byte[2] & 7) << 12 | byte[3] << 4 | byte[4] >> 4)
    second = (byte[5] >> 3, (byte[5] & 7) << 12 | byte[6] << 4 | byte[7] >> 4)
    told = np.where(second[0] == want["lane"], second[1], first[1]) - a.cfg.cnt_init
    told = (told + 0x4000 & 0x7FFF) - 0x4000  # the first one may be behind cnt_init
    told[(first[0] != want["lane"]) & (second[0] != want["lane"])] = never = -0x8000
    told = np.maximum.accumulate(told)
    told = np.concatenate(([0], np.where(told == never, 0, told)))
    heard = at[cf] + phase.item.cfg["cable"] + a.cfg.phy_rx + 1  # credits from this cycle on

    def room(cycle: Ints, sent: Ints) -> Ints:
        found: Ints = 16 * a.cfg.cells + told[np.searchsorted(heard, cycle, side="right")] - sent
        return found

    begin = best[start]
    have = room(begin, start)
    short = np.flatnonzero(have < t.shape.max_beats)
    data = int(a.sent.size.sum())
    span = int(a.leaves[-1] - a.leaves[0] + 1)
    figure(ctx, f"credits_less_{want['less']}", round(8 * data / span, 2), "Gb/s", cells=want["cells"] - want["less"],
           stalled_frames=int(np.isin(late, start).sum()), flight=want["flight"], data_w=t.shape.data_w)  # fmt: skip
    if not want["less"]:
        out = [f"a: {len(late)} beats waited for credits, {want['cells']} cells were to be enough"] if len(late) else []
        least = int(have.min())
        return out + (
            [f"a: {least} cells were left at least, the last one was to be used"] if least != t.shape.max_beats else []
        )
    if not len(late) or not len(short):
        return [f"a: nothing waited with {want['cells'] - 1} cells"]
    k = int(short[0])
    wait = 1
    while room(begin[k : k + 1] + wait, start[k : k + 1])[0] < t.shape.max_beats:
        wait += 1
    if late[0] != start[k] or a.leaves[late[0]] - best[late[0]] != wait:
        return [
            f"a: beat {late[0]} was the first to wait, {a.leaves[late[0]] - best[late[0]]} cycles; computed: "
            f"beat {start[k]}, {wait} cycles"
        ]
    return []


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


def fires_at(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """The first time-out of the end a: so many cycles after its first segment was recorded whole (R3)."""
    a = t.ends["a"]
    last = a.leaves[(a.tx["flags"] & LAST) != 0]
    fired = a.event("time-out")
    # outstanding from the cycle after the segment left on, the clock 1 in the one behind that; told a cycle later
    want = int(last[0]) + 1 + phase.item.info["fires_at"] + 1 if len(last) else -1
    if not len(fired) or fired[0] != want:
        return [f"a: the first time-out was told at cycles {fired[:1].tolist()}, {want} was right"]
    return []


GOALS_FAULTS: dict[str, Goal] = {
    "ends": ends, "up_by": up_by, "refused": refused, "gave_up": gave_up, "went_down": went_down, "paused": paused,
    "headroom": headroom, "no_hole": no_hole, "credit_hole": credit_hole, "fires_at": fires_at,
}  # fmt: skip
