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
from tb.switch.checks_ports import accounts, far_ends, in_order, once
from tb.switch.goals import GOALS
from tb.switch.trace import Trace, bits_of, trace

MARK_BYTES = (15, 24, 25)  # IPv4 TOS and header checksum behind the Ethernet header
FCS_BYTES = 4


def freed(t: Trace, phase: PhaseRecords) -> Ints:
    """(ports, lanes) cells given back in a phase."""
    s = t.shape
    bits = bits_of(phase.rows["free.evt"], s.ports * s.lanes * 2)
    pairs = bits.reshape(-1, s.ports, s.lanes, 2)
    return np.asarray(pairs[..., 0].sum(axis=0, dtype=np.int64) + 2 * pairs[..., 1].sum(axis=0, dtype=np.int64))


def conservation(t: Trace, phase: PhaseRecords) -> list[str]:
    """Each beat that entered gave one cell back."""
    if phase.item.info["port_up"]:
        return accounts(t, phase)
    back = freed(t, phase).sum(axis=1)
    up = phase.item.cfg["up"]  # a port that is down from the start on swallows everything
    taken = np.array([len(r) * (up >> p & 1) for p, r in enumerate(t.s)])
    return [f"input {p}: {taken[p]} beats in, {back[p]} cells given back" for p in np.flatnonzero(back != taken)]


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
    """Frames of an input, output and lane leave in the order in which they entered, none twice."""
    if phase.item.info["port_up"]:
        return once(t, phase) + in_order(t, phase)
    out = []
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


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Everything that always holds, then what the item asks for."""
    t = trace(ctx, phase)
    out = conservation(t, phase) + whole(t, phase) + once_in_order(t, phase) + far_ends(t, phase)
    for key, goal in GOALS.items():
        if key in phase.item.info:
            out += goal(ctx, t, phase)
    return out
