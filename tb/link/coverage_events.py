# SPDX-License-Identifier: Apache-2.0
"""Samples of the link's cover groups, read off the records: frames, directions, replays, what became of errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.spec import spec
from tb.common.beats import LAST
from tb.common.coverage import Sample
from tb.common.observe import Ints, cycles, value_at
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.shape import FECS, PROFILES
from tb.link.trace import INIT, OFF, REASONS, RETRAIN, UP, End, Trace, trace

MOST = 300  # frames sampled of a direction and phase
STATES = {OFF: "off", INIT: "init", UP: "up", RETRAIN: "retrain"}
NUMBERS, CELLS = 1 << 20, 1 << 15
CABLES = {1: "1 cycle", 10: "2 m", 50: "10 m", 100: "20 m", 250: "50 m", 255: "255 cycles"}


def common(t: Trace, phase: PhaseRecords, x: End) -> dict[str, object]:
    """What every sample of a direction tells."""
    return {
        "profile": PROFILES[x.cfg.roce], "fec": FECS[x.cfg.kp4], "width": t.shape.data_w, "lanes": x.lanes,
        "cable": CABLES.get(phase.item.cfg["cable"], "other"),
    }  # fmt: skip


def frames(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample a frame that was sent: size, its last beat, lane, what its start waited for, whether it has holes."""
    t = trace(ctx, phase)
    f = spec()
    slack = f.cycles("latency.link.tx_fifo") + f.cycles("link.start_slack")
    for x, _ in t.ways():
        base = common(t, phase, x)
        n = len(x.sent.first)
        if not n:
            continue
        pick = np.unique(np.linspace(0, n - 1, MOST).astype(np.int64))
        accepted = cycles(x.s)[x.sent.first]
        # the first beat of this frame at the serialiser: only where nothing was sent again
        plain = len(x.tx) == len(x.s) and len(x.event("replay")) == 0 and len(x.event("discarded")) == 0
        seg = t.shape.segment * t.shape.bb
        for k in pick.tolist():
            size = int(x.sent.size[k])
            sample = base | {
                "size": size, "tail": (size - 1) % t.shape.bb + 1, "lane": int(x.sent.lane[k]),
                "segments": -(-size // seg), "poison": bool(x.sent.user[k]),
                "beats_in_last_segment": -(-((size - 1) % seg + 1) // t.shape.bb),
            }  # fmt: skip
            if plain:
                d = x.leaves[x.sent.first[k]]
                credits = value_of(x, d - 1, int(x.sent.lane[k]))
                late = d - accepted[k] - slack
                why = "nothing" if late == 0 else "a pause or pace" if x.cfg.roce else "pace"
                if late and not x.cfg.roce and credits < t.shape.max_beats:
                    why = "credits"
                sample["waited"] = why
                at = cycles(x.s)[x.sent.first[k] : x.sent.last[k] + 1]
                sample["holes"] = bool(len(at) > 1 and at[-1] - at[0] > 2 * (len(at) - 1))
            yield sample


def value_of(x: End, at: int, lane: int) -> int:
    """Credits of a lane at a cycle."""
    index = int(np.searchsorted(cycles(x.rows["credits"]), at, side="right")) - 1
    return int(x.credits[max(index, 0), lane])


def directions(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample a direction of a phase: delays, lowest credits, wraps, how the far core freed, pauses."""
    t = trace(ctx, phase)
    for x, y in t.ways():
        if not len(x.tx):
            continue
        sample = common(t, phase, x) | {
            "phy": "shortest" if x.cfg.phy_tx == 1 else "longest" if x.cfg.phy_tx == 255 else "between",
            "core": "all at once" if phase.item.cfg[f"{y.x}_core"] else "one by one",
            "preset": bool(x.cfg.preset), "gate": bool(x.cfg.gate), "both": len(y.tx) > 0,
        }  # fmt: skip
        _, _, _, header = x.tx_side
        last = (x.tx["flags"] & LAST) != 0
        if x.cfg.roce:
            sample["pauses"] = len(x.event("pfc received"))
            sample["refreshes"] = len(y.event("pfc sent")) > _turns(phase, y) > 0
        else:
            sample["lowest"] = int(x.credits.min())
            number = header[last] & NUMBERS - 1
            sample["number"] = "wraps" if len(number) > 1 and number.max() - number.min() > NUMBERS // 2 else "does not"
            if x.cfg.cnt_init > CELLS - 2000:
                beats = int(np.bincount(x.sent.lane, x.sent.last - x.sent.first + 1).max()) if len(x.sent.lane) else 0
                sample["cells"] = "wrap" if x.cfg.cnt_init + beats >= CELLS else "do not"
            sample["most_freed"] = int(y.freed.max()) if len(y.freed) else 0
        yield sample


def _turns(phase: PhaseRecords, y: End) -> int:
    return len(phase.item.info["timed"][y.x]["pause"])


def sets(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample a control set: kind, what it came with, the gap before it; of long phases some."""
    t = trace(ctx, phase)
    names = {1: "ack", 2: "nack", 3: "init", 4: "echo", 16: "cf"}
    for x, _ in t.ways():
        at = x.ctl_leaves
        if not len(at):
            continue
        first, _, _, _ = x.tx_side
        last = (x.tx["flags"] & LAST) != 0
        gap = np.diff(at, prepend=at[0] - (1 << 20))
        beat = np.searchsorted(x.leaves, at)
        for k in np.unique(np.linspace(0, len(at) - 1, MOST).astype(np.int64)).tolist():
            b = int(beat[k])
            with_beat = b < len(x.leaves) and x.leaves[b] == at[k]
            inside = 0 < b < len(x.leaves) and not last[b - 1] and not first[b]
            place = "with a beat" if with_beat else "inside a segment" if inside else "between"
            lanes = "one" if x.kinds[k] != 16 else _cf_lanes(int(x.ctl[2][k]))
            yield common(t, phase, x) | {
                "kind": names[int(x.kinds[k])], "place": place, "gap": int(gap[k]), "channels": lanes,
            }  # fmt: skip


def _cf_lanes(word: int) -> str:
    return "two" if word >> 19 & 31 != word >> 43 & 31 else "one"


def replays(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample a replay: why, how much, what fell into it."""
    t = trace(ctx, phase)
    f = spec()
    for x, y in t.ways():
        begins = x.event("replay")
        if not len(begins):
            continue
        timeouts, nacks, progress = x.event("time-out"), x.event("nack received"), x.event("progress")
        retrains, bad = x.event("retrain"), y.event("bad segment")
        _, _, _, header = x.tx_side
        last = np.flatnonzero((x.tx["flags"] & LAST) != 0)
        number, leave = header[last] & NUMBERS - 1, x.leaves[last]
        fly = f.cycles("latency.link.tx_out") + x.cfg.phy_tx + phase.item.cfg["cable"] + y.cfg.phy_rx
        ends = np.append(begins[1:], 1 << 40)
        newest = np.maximum.accumulate(_unwrapped(number)) if len(number) else number
        plain = _unwrapped(number)
        for k, at in enumerate(begins.tolist()):
            at -= 1
            before = int(np.searchsorted(leave, at))
            back = int(newest[before - 1] - plain[before] + 1) if 0 < before < len(plain) else 0
            # the replay lasts until its numbers reach what was sent before
            stop = before
            while stop < len(plain) and before and plain[stop] <= newest[before - 1] and leave[stop] < ends[k]:
                stop += 1
            until = int(leave[stop - 1]) if stop > before else at + 1
            span = number[before:stop]
            near_t, near_n = _last(timeouts, at + 1), _last(nacks, at + 1)
            why = "resume" if max(near_t, near_n) < at - 400 else "time-out" if near_t > near_n else "nack"
            lost_there = int(((bad > at + fly) & (bad < until + fly + 20)).sum())
            yield common(t, phase, x) | {
                "why": why, "segments": back,
                "wraps": bool(len(span) > 1 and span.max() - span.min() > NUMBERS // 2),
                "acked": bool(((progress > at + 1) & (progress <= until)).any()),
                "again": bool(((begins > at + 1) & (begins <= until + 2 * fly + 100)).any()),
                "retrain": bool(((retrains > at + 1) & (retrains <= until + 2)).any()),
                "bad": lost_there > 0,
            }  # fmt: skip


def _unwrapped(number: Ints) -> Ints:
    """Numbers modulo 2^20 as one line, small steps either way."""
    if not len(number):
        return number
    step = np.diff(number)
    step = (step + NUMBERS // 2) % NUMBERS - NUMBERS // 2
    found: Ints = np.concatenate(([0], np.cumsum(step)))
    return found


def _last(rows: Ints, at: int) -> int:
    index = int(np.searchsorted(rows, at, side="right")) - 1
    return int(rows[index]) if index >= 0 else -(1 << 30)


def errors(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample for each event of an error at a receiver, a sender, or of the states."""
    t = trace(ctx, phase)
    names = (
        "time-out", "nack sent", "duplicate", "bad segment", "gap", "fcs", "long", "underrun", "discarded", "retrain",
        "down", "refused", "pfc sent", "pfc received",
    )  # fmt: skip
    for x, _ in t.ways():
        base = common(t, phase, x)
        for name in names:
            for at in x.event(name)[:MOST].tolist():
                state = STATES[int(value_at(x.rows["state"], np.array([at - 1]))[0])]
                yield base | {"event": name, "state": state}
        for at, bits in zip(cycles(x.rows["reason"]).tolist(), x.rows["reason"]["value"].tolist(), strict=True):
            for k, reason in enumerate(REASONS):
                if bits >> k & 1:
                    yield base | {"reason": reason, "at": at}
        moves = x.state[1]
        for a, b in zip(moves[:-1].tolist(), moves[1:].tolist(), strict=True):
            yield base | {"move": f"{STATES[a]} to {STATES[b]}"}
        lost = x.rows["ev"]["value"] >> 20
        for at in x.event("down").tolist():
            here = int(lost[cycles(x.rows["ev"]) == at][0])
            yield base | {"lost": here}


def faults(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample for each script of directed faults, and for each kind of error that the phase had."""
    t = trace(ctx, phase)
    info = phase.item.info
    for kind, _ in info.get("scripts", ()):
        yield common(t, phase, t.ends["a"]) | {"script": kind, "sequence": phase.item.get_name().rstrip("0123456789")}
    for x, y in t.ways():
        failed = y.rows["fec"]["value"]
        base = common(t, phase, x)
        for _ in range(int((failed >> 5 & 1).sum() > 0)):
            yield base | {"codeword": "failed"}
        for k in np.unique(failed[failed < 32]).tolist():
            yield base | {"codeword": "corrected", "corrected": int(k)}
        for _, kind in info["fault"][y.x][:MOST]:
            yield base | {"fault": kind}
        if info["timed"][y.x]["cut"]:
            yield base | {"cut": True}
        errors = info["errors"][y.x]
        if errors.burst_thr:
            yield base | {"bursts": True}
        for kind, thr in (("lost", errors.lose_thr), ("again", errors.repeat_thr)):
            if thr:
                yield base | {"rate": kind}


def goals(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A sample for each thing that the phase was made to show."""
    info = phase.item.info
    for key in ("no_hole", "brim", "record_full"):
        if key in info:
            yield {"shown": key}
    if "credit_hole" in info:
        yield {"shown": ("credits enough", "a credit less")[info["credit_hole"]["less"]]}
    if any(info.get("over", {}).values()):
        yield {"shown": "headroom less" if "headroom" in info else "a credit more"}
    if "case" in info:
        yield {"quiet": info["case"]}
    if "strange" in info:
        yield {"strange": info["strange"]}
    if "corner" in info:
        yield {"corner": info["corner"]}
    if "headroom" in info:
        want = info["headroom"]
        yield {
            "shown": "headroom used" if want["exact"] else "headroom",
            "room": want["size"],
            "metres": want["metres"],
            "fec": want["fec"],
        }
    if "sweep" in info:
        yield {"shown": "ratio", "ratio": info["sweep"]["ratio"], "fec": info["sweep"]["fec"]}
    if "outage" in info:
        yield {"shown": "outage", "burst": info["outage"]["burst"], "fec": info["outage"]["fec"]}
