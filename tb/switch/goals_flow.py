# SPDX-License-Identifier: Apache-2.0
"""Checks that sequences ask for, continued: multicast, drops, pauses, marks, ways around a dead port."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

from models.spec import spec
from tb.common.beats import frames_from_beats
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.trace import Trace, bits_of

BY_SCAPY = 20  # changed frames of a phase that scapy looks at
CODES = ("", "malformed", "unknown", "long", "overflow", "no way", "cut", "short", "aborted")


def codes(t: Trace, phase: PhaseRecords, inputs: slice = slice(None)) -> dict[str, int]:
    """Drops of a phase by reason, of all ``inputs`` or of some."""
    bits = bits_of(phase.rows["drop.evt"], 4 * t.shape.ports).reshape(-1, t.shape.ports, 4)[:, inputs]
    seen = np.bincount((bits @ np.array([1, 2, 4, 8])).ravel(), minlength=len(CODES))
    return {name: int(n) for name, n in zip(CODES, seen.tolist(), strict=False) if name}


def multicast(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """S6: each multicast frame leaves each port of its set but its own input, and no other, once.

    ``info["multicast"]``: {input: {number: set of ports}}; ports that are down all the time are not in the sets.
    """
    wanted = phase.item.info["multicast"]
    seen: dict[tuple[int, int], list[int]] = {}
    for o, out in enumerate(t.left):
        for p, n in zip(out.source.tolist(), out.number.tolist(), strict=True):
            seen.setdefault((p, n), []).append(o)
    bad = []
    for p, frames in wanted.items():
        for n, ports in frames.items():
            got = seen.get((p, n), [])
            if sorted(got) != sorted(ports):
                bad.append(f"multicast frame {n} of input {p} left by {got}, its set is {sorted(ports)}")
    return bad[:5]


def given_up(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """M8: the last cycle in which a pick may be matched, and who is picked when after it was given up.

    ``info["given_up"]``: (cycles from the last cycle to that in which its branch is free, input, number, that branch,
    number and output of its other lane's frame or -1, next input, number, output).
    """
    store, match, cross = (spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))
    hold = spec().cycles("switch.mcast_hold")
    bad = []
    for late, i, mine, branch, second, to, j, theirs, away in phase.item.info["given_up"]:
        last = int(t.entered[i].cycle[mine]) + store + 1 + hold
        again = last + 1 + hold + 2  # the next pick's match
        due = [(i, mine, branch, last + late)] if late <= 0 else [(j, theirs, away, again)]
        if late > 0 and second >= 0:
            due.append((i, second, to, again + 3))
        for p, number, o, at in due:
            out = t.left[o]
            left = out.cycle[(out.source == p) & (out.number == number)].tolist()
            if left != [at + match + cross]:
                bad.append(f"branch free {late} cycles after the last: frame {p}/{number} left {o} at {left}, "
                           f"due at {at + match + cross}")  # fmt: skip
    return bad[:5]


def want_codes(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Exactly so many drops of each reason; None: at least one."""
    found = codes(t, phase)
    out = []
    for name, n in phase.item.info["codes"].items():
        if (n is None and not found[name]) or (n is not None and found[name] != n):
            out.append(f"drops for '{name}': {found[name]}, wanted {'some' if n is None else n}")
    return out


def survivors(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames that leave, whole, are exactly those of ``info["survivors"]``: {input: numbers}."""
    out = []
    for p, numbers in phase.item.info["survivors"].items():
        got = np.concatenate([x.number[(x.source == p) & ~x.damaged] for x in t.left])
        lost, extra = np.setdiff1d(numbers, got), np.setdiff1d(got, numbers)
        if len(lost) or len(extra):
            out.append(f"input {p}: good frames {lost[:5].tolist()} lost, bad frames {extra[:5].tolist()} delivered")
    return out


def headroom(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """S13, S14: what arrives after the pause, ``cells`` of it, fits, or with a cell less room does not.

    ``info["headroom"]``: (input, lane, cells that arrive after the beat that brought the pause, lossless).
    """
    p, lane, cells, lossless = phase.item.info["headroom"]
    bits = bits_of(phase.rows["s_pause.evt"], t.shape.ports * t.shape.lanes)[:, p * t.shape.lanes + lane]
    raised = np.flatnonzero(bits)
    out = []
    if not len(raised):
        return [f"input {p}, lane {lane} was never paused: the test tests nothing"]
    came = int((np.repeat(t.entered[p].lane, t.entered[p].beats) == lane).sum())
    if came != phase.item.cfg["xoff"] + cells:
        out.append(f"{came} cells came, not {cells} after the {phase.item.cfg['xoff']} that bring the pause")
    back = bits_of(phase.rows["free.evt"], t.shape.ports * t.shape.lanes * 2)
    mine = back[:, 2 * (p * t.shape.lanes + lane) :][:, :2].any(axis=1)
    if lossless and int(phase.rows["free.evt"]["cycle"][mine].min()) <= int(t.entered[p].end[-1]):
        out.append("a cell came back before the last one was stored: the headroom was not used up")
    lost = codes(t, phase, slice(p, p + 1))["overflow"]  # a neighbour's loss is not an answer
    if lossless and lost:
        out.append(f"{lost} frames lost though {cells} cells of headroom were kept")
    if not lossless and not lost:
        out.append("a cell less than the headroom, and nothing was lost: the test of losslessness cannot fail")
    result = Result(ctx.run_dir)
    result.figure("pfc_headroom", cells, "cells", quota=t.shape.quota, xoff=phase.item.cfg["xoff"])
    result.save()
    return out


def scapy_agrees(frame: bytes) -> bool:
    """Scapy finds a congested packet whose header checksum is the one that it would have written."""
    from scapy.layers.inet import IP
    from scapy.layers.l2 import Ether

    ip = Ether(frame[:-4])[IP]
    found = ip.chksum
    del ip.chksum
    return bool(ip.tos & 3 == 3 and IP(bytes(ip)).chksum == found)


def marks(_ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Marked frames: CE where the sender was ECN capable, checksum and FCS right, all other bytes as they were; no
    multicast frame among them (C1).

    ``info["marks"]``: "some" must be marked, "all" that can be, or "none". ``info["kinds"]``: {input: 1 for multicast}.
    """
    out, changed, able = [], 0, 0
    kinds = phase.item.info.get("kinds", {})
    sent = [frames_from_beats(r, t.shape.axis) for r in t.s]
    for o, m in enumerate(t.m):
        for k, frame in enumerate(frames_from_beats(m, t.shape.axis)):
            data = frame.data
            source, number = int(t.left[o].source[k]), int(t.left[o].number[k])
            was = sent[source][number].data
            cast = bool(kinds and kinds[source][number])
            if zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
                out.append(f"output {o}, frame {k}: FCS wrong")
            total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(14, 34, 2))
            if (total & 0xFFFF) + (total >> 16) not in (0xFFFF, 0x1FFFE):
                out.append(f"output {o}, frame {k}: IPv4 checksum wrong")
            able += was[15] & 3 in (1, 2) and not cast
            if data == was:
                continue
            changed += 1
            if cast:
                out.append(f"output {o}, frame {k}: a multicast frame was marked")
            if was[15] & 3 not in (1, 2) or data[15] != was[15] | 3:
                out.append(f"output {o}, frame {k}: ECN field {was[15] & 3} became {data[15] & 3}")
            if (data[:15], data[16:24], data[26:-4]) != (was[:15], was[16:24], was[26:-4]):
                out.append(f"output {o}, frame {k}: a mark changed other bytes")
            if changed <= BY_SCAPY and not scapy_agrees(data):
                out.append(f"output {o}, frame {k}: scapy reads another ECN field or checksum")
    events = int(bits_of(phase.rows["ecn.evt"], t.shape.ports).sum())
    if events != changed:
        out.append(f"{events} marks counted, {changed} frames changed")
    want = phase.item.info["marks"]
    if (
        (want == "none" and changed)
        or (want == "some" and not 0 < changed < able)
        or (want == "all" and changed != able)
    ):
        out.append(f"{changed} of {able} frames marked, wanted {want}")
    return out[:8]


def reroute(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Cycles from a port's end to the first beat on the new way, for a frame that waited for it and for a new one.

    Exact: live falls a cycle after the pin, and what waits goes on as if it had entered in the cycle before (O1, Q3),
    so that it takes as long from the pin's fall as a new frame from its entrance. ``info["reroute"]``: (cycle of
    port_up's fall, new output, input, number of the waiting frame, of the new one).
    """
    at, o, p, queued, new = phase.item.info["reroute"]
    out = t.left[o]
    result = Result(ctx.run_dir)
    bad = []
    alone = sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))
    for key, number, since in (("queued", queued, at), ("new", new, int(t.entered[p].cycle[new]))):
        when = out.cycle[(out.source == p) & (out.number == number)]
        if not len(when):
            bad.append(f"the {key} frame did not leave by output {o}")
            continue
        took, due = int(when[0]) - at, since + alone - at
        result.figure(f"reroute_{key}", took, "cycles", target=due, passed=took == due,
                      after="port_up low to m_axis of the new way")  # fmt: skip
        if took != due:
            bad.append(f"the {key} frame left {took} cycles after the port's end, due after {due}")
    result.save()
    return bad


GOALS_FLOW: dict[str, Callable[[RunContext, Trace, PhaseRecords], list[str]]] = {
    "multicast": multicast, "codes": want_codes, "survivors": survivors, "headroom": headroom, "marks": marks,
    "reroute": reroute, "given_up": given_up,
}  # fmt: skip
