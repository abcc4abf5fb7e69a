# SPDX-License-Identifier: Apache-2.0
"""What the link's stimulus reached: sizes, reasons to wait, credits, control sets, counters near their wrap.

All is read off the records of both ends: when a beat was accepted, when it stood on the wire, what the
credits were then. A beat leaves the serialiser 1 + PHY cycles before it stands at `tx`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.link import cable_cycles, phy_cycles
from models.protocol import LinkCfg
from models.spec import spec
from tb.common.beats import LAST, Records
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, Sample, each
from tb.common.observe import Ints, cycles, fills, sizes, spans, value_at
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.pace import slowest

MAX_BEATS = spec().integer("frame.max_beats")
LARGEST = MAX_BEATS * 64
BUFFER = spec().integer("link.buffer_cells")
RATE = spec().integer("link.rate_bytes")
CTL = spec().integer("link.ctl_bytes")
SPACING = spec().cycles("link.ctl_spacing")
LEVEL = spec().integer("link.credit_update_cells")
INTERVAL = spec().cycles("link.credit_update_interval")
TX_FIFO, SLACK = spec().cycles("latency.link.tx_fifo"), spec().cycles("link.start_slack")
TX_OUT = spec().cycles("latency.link.tx_out")
ALONE = 64  # cycles without a beat, after which a frame is alone
LONG = 1000  # beats of a run whose rate is looked at
FULL = 0.97  # share of the wire from which a direction runs at full rate
WRAP = 1 << 16
FECS = {phy_cycles(fec): fec for fec in ("llfec", "kp4")}
CABLES = {cable_cycles(m): f"{m} m" for m in (2, 10, 30, 50)}
PROFILES = ("native", "roce")


@dataclass(frozen=True)
class Way:
    """One direction: what the end ``x`` sent, in the time of its serialiser."""

    x: str
    y: str
    cfg: LinkCfg
    far: LinkCfg
    accepted: Ints
    tx: Records
    leave: Ints
    first: Ints
    last: Ints
    size: Ints

    @property
    def profile(self) -> str:
        """Profile of the sending end."""
        return PROFILES[self.cfg.roce]


def ways(phase: PhaseRecords) -> Iterator[Way]:
    """Both directions of a phase."""
    for x, y in (("a", "b"), ("b", "a")):
        tx = phase.beats[f"{x}_tx"]
        cfg, far = (LinkCfg.unpack(phase.item.cfg[f"{end}_link"]) for end in (x, y))
        accepted, leave = cycles(phase.beats[f"{x}_s"]), cycles(tx) - TX_OUT - cfg.phy_tx
        yield Way(x, y, cfg, far, accepted, tx, leave, *spans(tx), sizes(tx))


def frames(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame: size, what its start waited for, credits and counters then; delays when it was alone."""
    init = ctx.param("CNT_INIT", 0)
    for way in ways(phase):
        if not len(way.first):
            continue
        start = way.leave[way.first]
        credits = phase.events[f"{way.x}_credits"]
        now, before = value_at(credits, start), value_at(credits, start - 1)
        waited = start - way.accepted[way.first] - TX_FIFO - SLACK
        tail = fills(way.tx, way.last)
        idle = np.concatenate(([ALONE + 1], way.accepted[way.first[1:]] - way.leave[way.last[:-1]]))
        cc = init + way.first
        far_cf = cc - (BUFFER - now)
        for i in range(len(start)):
            reason = "nothing" if waited[i] == 0 else "credits" if before[i] < MAX_BEATS else "pacing"
            sample = {
                "size": int(way.size[i]), "tail": int(tail[i]), "profile": way.profile, "way": way.x + way.y,
                "start": reason, "credits": int(now[i]),
            }  # fmt: skip
            if init:
                sample["counters"] = "neither" if cc[i] < WRAP else "CC passed" if far_cf[i] < WRAP else "both passed"
            if idle[i] > ALONE and reason == "nothing":
                sample |= {
                    "alone": int(way.size[i]), "fec": FECS.get((way.cfg.phy_tx, way.far.phy_rx), "other"),
                    "cable": CABLES.get(phase.item.cfg["cable"], "other"),
                }  # fmt: skip
            yield sample


def directions(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a direction of a phase: delays, lowest credits, cells freed at once, where CC passes 2^16."""
    init = ctx.param("CNT_INIT", 0)
    busy = {w.x: len(w.tx) for w in ways(phase)}
    for way in ways(phase):
        if not len(way.tx):
            continue
        sample = {
            "profile": way.profile, "phy_tx": way.cfg.phy_tx, "phy_rx": way.far.phy_rx,
            "cable": phase.item.cfg["cable"], "lowest": int(phase.events[f"{way.x}_credits"]["value"].min()),
            "core": "all at once" if phase.item.cfg[f"{way.y}_all"] else "one by one",
            "freed": int(phase.events[f"{way.y}_free"]["value"].max(initial=0)),
        }  # fmt: skip
        if 0 <= (at := WRAP - init - 1) < len(way.tx):
            sample["cc"] = "a frame's end" if way.tx["flags"][at] & LAST else "in a frame"
        if init and np.any(np.diff(phase.events[f"{way.y}_ctl"]["value"].astype(np.int64)) < 0):
            sample["cf"] = "passed"
        overhead = spec().integer("link.overhead_roce" if way.cfg.roce else "link.overhead_native")
        if len(way.tx) >= LONG:
            # all before the last frame began, against the time until then
            sets = phase.events[f"{way.x}_ctl"]["cycle"].astype(np.int64) - TX_OUT - way.cfg.phy_tx
            begin, end = way.leave[0], way.leave[way.first[-1]]
            charged = int(way.size[:-1].sum()) + overhead * (len(way.size) - 1)
            charged += CTL * int(np.count_nonzero((sets >= begin) & (sets < end)))
            share, other = charged / (RATE * int(end - begin)), busy[way.y] >= LONG // 2
            # short tails leave wire time unused: only chosen sizes reach the rate to the byte
            if share > (FULL if other else 1 - 1 / int(end - begin)):
                same = set(way.size.tolist())
                name = {LARGEST: "largest", 114: "two beats"}.get(same.pop(), "mixed") if len(same) == 1 else "mixed"
                sample["busy_rate" if other else "lone_rate"] = name
        yield sample


def control_sets(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a control set: where in the frames it fell, why and how soon it was sent, cells it reports."""
    for way in ways(phase):
        events = phase.events[f"{way.x}_ctl"]
        if len(events) < 2:
            continue
        at, cf = cycles(events), events["value"].astype(np.int64) & 0xFFFF
        on = cycles(way.tx)
        last = (way.tx["flags"] & LAST).astype(bool)
        index = np.searchsorted(on, at, side="right") - 1  # the beat of the same cycle or before
        first_of = np.concatenate(([True], last[:-1])) if len(last) else last
        for k in range(1, len(at)):
            b = int(index[k])
            if b < 0 or (on[b] < at[k] and (last[b] or b + 1 == len(on))):
                place = "outside of frames"
            elif on[b] < at[k]:
                place = "between beats"
            else:
                place = "last beat" if last[b] else "first beat" if first_of[b] else "inner beat"
            cells = int(cf[k] - cf[k - 1]) & 0xFFFF
            yield {
                "place": place, "profile": way.profile, "cells": cells, "gap": int(at[k] - at[k - 1]),
                "reason": "level" if cells >= LEVEL else "interval",
            }  # fmt: skip


def cut_through(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that came in with holes: which slow link it came from, how near its wire was to a hole."""
    for way in ways(phase):
        for f, b in zip(way.first.tolist(), way.last.tolist(), strict=True):
            n = b - f + 1
            came = way.accepted[f : b + 1] - way.accepted[f]
            if n < 2 or came[-1] == n - 1 or way.leave[f] - way.accepted[f] != TX_FIFO + SLACK:
                continue
            pattern = tuple(came.tolist())
            matches = tuple(k for k in range(SPACING) if slowest(n, k) == pattern)
            if matches:
                margin = int((way.leave[f + 1 : b + 1] - way.accepted[f + 1 : b + 1]).min()) - TX_FIFO
                yield {
                    "beats": n,
                    "phases": matches if n == MAX_BEATS else (),
                    "margin": margin,
                    "profile": way.profile,
                }


SIZES = [Bin("one byte", 1), Bin("below a beat", range(2, 64)), Bin("a beat", 64), Bin("a byte more", 65),
         Bin("two beats", range(66, 129)), Bin("several", range(129, LARGEST)), Bin("largest", LARGEST)]  # fmt: skip
LENGTHS = [Bin("1 cycle", 1), Bin("between", range(2, 255)), Bin("255 cycles", 255)]


def _at(k: int) -> Bin:
    return Bin(str(k), lambda found: k in found)


COVERAGE = Coverage(
    "link",
    [
        Group(
            "frame",
            frames,
            [
                Cover("size", SIZES, points=("random",)),
                Cover("profile", each(*PROFILES), points=("random",)),
                Cover("way", each("ab", "ba"), points=("random",)),
                Cover("tail", [Bin("below the rate", range(1, RATE)), Bin("the rate", RATE),
                               Bin("above the rate", range(RATE + 1, 64)), Bin("full", 64)], points=("random",)),
                Cover("start", [Bin("nothing", "nothing", ("delays", "cut_through")),
                                Bin("pacing", "pacing", ("line_rate",)),
                                Bin("credits", "credits", ("starvation",))]),
                Cover("credits", [Bin("a largest frame", MAX_BEATS),
                                  Bin("below two", range(MAX_BEATS + 1, 2 * MAX_BEATS)),
                                  Bin("more", range(2 * MAX_BEATS, BUFFER)), Bin("all", BUFFER)],
                      points=("starvation",)),
                Cover("counters", each("neither", "CC passed", "both passed"), points=("wrap",)),
                Cover("alone", [Bin("30 bytes", 30), *SIZES[2:]], points=("delays",)),
                Cover("fec", each("llfec", "kp4"), points=("delays",)),
                Cover("cable", each(*CABLES.values()), points=("delays",)),
                Cross("size_by_profile", ("size", "profile"), points=("random",)),
                Cross("tail_by_profile", ("tail", "profile"), points=("line_rate", "random")),
                Cross("start_by_profile", ("start", "profile"), points=("random",)),
                Cross("start_by_counters", ("start", "counters"), points=("wrap",)),
                Cross("fec_by_cable", ("fec", "cable"), points=("delays",)),
                Cross("fec_by_profile", ("fec", "profile"), points=("delays",)),
                Cross("alone_by_fec", ("alone", "fec"), points=("delays",)),
            ],
        ),
        Group(
            "direction",
            directions,
            [
                Cover("profile", each(*PROFILES), points=("random",)),
                Cover("phy_tx", LENGTHS, points=("random",)),
                Cover("phy_rx", LENGTHS, points=("random",)),
                Cover("cable", LENGTHS, points=("random",)),
                Cover("lowest", [Bin("none", 0), Bin("too few for a frame", range(1, MAX_BEATS)),
                                 Bin("enough", range(MAX_BEATS, BUFFER))], points=("starvation",)),
                Cover("core", each("one by one", "all at once"), points=("random", "control_sets")),
                Cover("freed", [Bin("1", 1), Bin("some", range(2, 255)), Bin("255", 255)],
                      points=("random", "control_sets")),
                Cover("cc", [Bin("passes in a frame", "in a frame"), Bin("passes at a frame's end", "a frame's end")],
                      points=("wrap",)),
                Cover("cf", [Bin("passes", "passed")], points=("wrap",)),
                Cover("lone_rate", each("largest", "two beats", "mixed"), points=("line_rate",)),
                Cover("busy_rate", [Bin("with control sets", "mixed")], points=("control_sets",)),
                Cross("lone_rate_by_profile", ("lone_rate", "profile"), points=("line_rate",)),
                Cross("busy_rate_by_profile", ("busy_rate", "profile"), points=("control_sets",)),
                Cross("lowest_by_core", ("lowest", "core"), points=("starvation",)),
            ],
        ),
        Group(
            "control",
            control_sets,
            [
                Cover("place", each("first beat", "inner beat", "last beat", "between beats", "outside of frames"),
                      points=("control_sets",)),
                Cover("profile", each(*PROFILES), points=("control_sets",)),
                Cover("cells", [Bin("1", 1), Bin("below the level", range(2, LEVEL)), Bin("the level", LEVEL),
                                Bin("above", range(LEVEL + 1, 255)), Bin("255", 255)], points=("control_sets",)),
                Cover("reason", each("level", "interval"), points=("control_sets",)),
                Cover("gap", [Bin("the spacing", SPACING), Bin("below the interval", range(SPACING + 1, INTERVAL)),
                              Bin("the interval", INTERVAL), Bin("later", range(INTERVAL + 1, 1 << 20))],
                      points=("control_sets",)),
                Cross("place_by_profile", ("place", "profile"), points=("control_sets",)),
                Cross("place_by_reason", ("place", "reason"), points=("control_sets",)),
                Cross("reason_by_gap", ("reason", "gap"), points=("control_sets",),
                      never=[("interval", "the spacing"), ("interval", "below the interval")],
                      why="below the level a set waits for the interval (L7)"),
            ],
        ),
        Group(
            "cut",
            cut_through,
            [
                Cover("beats", each(2, 7, 40, MAX_BEATS), points=("cut_through",)),
                Cover("phases", [_at(k) for k in range(SPACING)], points=("cut_through",)),
                Cover("margin", each(0, 1), points=("cut_through",)),
                Cover("profile", each(*PROFILES), points=("cut_through",)),
                Cross("beats_by_profile", ("beats", "profile"), points=("cut_through",)),
                Cross("phases_by_profile", ("phases", "profile"), points=("cut_through",)),
            ],
        ),
    ],
)  # fmt: skip
