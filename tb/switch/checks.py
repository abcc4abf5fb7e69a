# SPDX-License-Identifier: Apache-2.0
"""What must hold of a switch whatever its model says: cells given back, frames whole, in order and once, credits kept.

These always run. What single sequences ask for through ``info`` is in ``tb.switch.goals``. ``info["good"]`` False: some
frames are meant to be lost (drops, dead ports), so their number is not held against what entered; what did leave is.
"""

from __future__ import annotations

import numpy as np

from tb.common.observe import Ints
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.goals import GOALS
from tb.switch.stimulus import name
from tb.switch.trace import Trace, bits_of, trace

ABORTED = 8

MARK_BYTES = (15, 24, 25)  # IPv4 TOS and header checksum behind the Ethernet header
FCS_BYTES = 4


def freed(t: Trace, phase: PhaseRecords) -> Ints:
    """(ports, lanes) cells given back in a phase."""
    s = t.shape
    bits = bits_of(phase.rows["free.evt"], s.ports * s.lanes * 2)
    pairs = bits.reshape(-1, s.ports, s.lanes, 2)
    return np.asarray(pairs[..., 0].sum(axis=0, dtype=np.int64) + 2 * pairs[..., 1].sum(axis=0, dtype=np.int64))


def conservation(t: Trace, phase: PhaseRecords) -> list[str]:
    """Each beat that entered gave one cell back; with ports that die a beat may have been swallowed, an abort added."""
    back = freed(t, phase).sum(axis=1)
    up = phase.item.cfg["up"]  # a port that is down from the start on swallows everything
    taken = np.array([len(r) * (up >> p & 1) for p, r in enumerate(t.s)])
    if not phase.item.info["port_up"]:
        return [f"input {p}: {taken[p]} beats in, {back[p]} cells given back" for p in np.flatnonzero(back != taken)]
    codes = bits_of(phase.rows["drop.evt"], 4 * t.shape.ports).reshape(-1, t.shape.ports, 4) @ np.array([1, 2, 4, 8])
    # an abort ends a frame: no more of them than frames that entered, whatever became of those
    most = taken + np.array([len(e.first) for e in t.entered]) + (codes == ABORTED).sum(axis=0)
    # and a beat that left gave its cell back, once for all branches of a multicast frame
    least = np.zeros(t.shape.ports, np.int64)
    for p in range(t.shape.ports):
        longest: dict[int, int] = {}
        for out in t.left:
            for n, beats in zip(out.number[out.source == p].tolist(), out.beats[out.source == p].tolist(), strict=True):
                longest[n] = max(longest.get(n, 0), beats)
        least[p] = sum(longest.values())
    wrong = np.flatnonzero((back > most) | (back < least))
    return [f"input {p}: {back[p]} cells given back, {least[p]} at least, {most[p]} at most" for p in wrong]


def whole(t: Trace, phase: PhaseRecords) -> list[str]:
    """Bytes of a frame that left are those that entered, and a frame that is not damaged has all of its beats."""
    out = []
    marked = bool(phase.item.cfg["ecn_at"]) and t.roce
    for o, frames in enumerate(t.left):
        m = t.m[o]
        if not len(frames.first):
            continue
        for p in range(t.shape.ports):
            mine = np.flatnonzero((frames.source == p) & ~frames.damaged)
            entered = t.entered[p]
            beyond = frames.number[mine] >= len(entered.first)
            if beyond.any():
                out.append(f"output {o}: a frame with tag {p}/{frames.number[mine][beyond][0]} never entered")
                continue
            number = frames.number[mine]
            if (entered.beats[number] != frames.beats[mine]).any():
                bad = mine[entered.beats[number] != frames.beats[mine]][0]
                out.append(f"output {o}: frame {p}/{frames.number[bad]} left with {frames.beats[bad]} beats")
                continue
            count = frames.beats[mine]
            step = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
            a, b = (
                m[np.repeat(frames.first[mine], count) + step],
                t.s[p][np.repeat(entered.first[number], count) + step],
            )
            valid = np.unpackbits(b["keep"], axis=1, bitorder="little")[:, : t.shape.data_bytes]
            other = (a["data"] != b["data"]) & (valid != 0)
            if marked:  # a mark changes the ECN field, the header's checksum and the FCS, nothing else
                at = step[:, None] * t.shape.data_bytes + np.arange(t.shape.data_bytes)
                size = (count - 1) * t.shape.data_bytes + valid[np.cumsum(count) - 1].sum(axis=1)
                other &= ~(np.isin(at, MARK_BYTES) | (at >= np.repeat(size, count)[:, None] - FCS_BYTES))
            differ = other.any(axis=1) | (a["keep"] != b["keep"]).any(axis=1)
            if differ.any():
                out.append(f"output {o}: {int(differ.sum())} beats of input {p} with other bytes than entered")
    return out


def once_in_order(t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames of an input, output and lane leave in the order in which they entered, none twice. A port that dies lets
    frames overtake each other, and a group that is written meanwhile may copy them."""
    out = []
    if phase.item.info["port_up"]:
        if phase.item.info.get("rewritten"):
            return []
        for p in range(t.shape.ports):
            number = np.concatenate([frames.number[frames.source == p] for frames in t.left])
            kinds = phase.item.info.get("kinds", {}).get(p)
            alone = number if kinds is None else number[kinds[number] == 0]
            often = np.flatnonzero(np.bincount(alone) > 1)
            if len(often):
                out.append(f"input {p}: frames {often[:5].tolist()} left more than once")
        return out
    total = 0
    for o, frames in enumerate(t.left):
        total += len(frames.first)
        for p in range(t.shape.ports):
            kinds = phase.item.info.get("kinds", {}).get(p)  # unicast and multicast frames wait in queues of their own
            for v in range(t.shape.lanes):
                number = frames.number[(frames.source == p) & (frames.lane == v)]
                for part in [number] if kinds is None else [number[kinds[number] == k] for k in (0, 1)]:
                    if len(part) > 1 and (np.diff(part) <= 0).any():
                        out.append(f"input {p} to output {o}, lane {v}: frames out of order or twice")
    entered = sum(len(e.first) for e in t.entered)
    copies = phase.item.info.get("copies", 0)  # branches of multicast frames beyond the first
    if phase.item.info["good"] and total != entered + copies:
        out.append(f"{entered} frames entered, {copies} copies more were due, {total} left")
    return out


def credit_kept(t: Trace, phase: PhaseRecords) -> list[str]:
    """The far end of an output never holds more beats of a lane than it said it has cells for."""
    item = phase.item
    if not item.cfg["credit_en"] or item.info["port_up"]:
        return []
    out = []
    for o, frames in enumerate(t.left):
        if not len(frames.first):
            continue
        at = t.m[o]["cycle"].astype(np.int64)
        pattern = item.ready.get(name("cr", o))
        lane = np.repeat(frames.lane, frames.beats)
        go = np.ones(1, np.bool_) if pattern is None else np.asarray(pattern).astype(bool)
        # beats between two returns are held together
        before = np.cumsum(np.resize(go, int(at.max()) + 2))
        held = np.bincount(before[at[: len(lane)]] * 8 + lane)
        if held.max() > item.cfg["credit_init"]:
            out.append(f"output {o}: {held.max()} beats at the far end, room for {item.cfg['credit_init']}")
    return out


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Everything that always holds, then what the item asks for."""
    t = trace(ctx, phase)
    out = conservation(t, phase) + whole(t, phase) + once_in_order(t, phase) + credit_kept(t, phase)
    for key, goal in GOALS.items():
        if key in phase.item.info:
            out += goal(ctx, t, phase)
    return out
