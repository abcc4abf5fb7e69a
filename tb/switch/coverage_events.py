# SPDX-License-Identifier: Apache-2.0
"""What happened beside the frames: samples of the groups ``drop``, ``input``, ``output``, ``port`` and ``table``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb.common.coverage import Sample
from tb.common.observe import cycles, held
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.coverage_frames import ALLOCS, PROFILES
from tb.switch.goals_flow import CODES
from tb.switch.shape import Shape
from tb.switch.stimulus import name
from tb.switch.trace import bits_of, trace

LONGEST = 300_000  # cycles of a phase that are looked at one by one


def _store(s: Shape) -> str:
    return "store and forward" if s.saf else "cut through"


def drops(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a drop, cut or mark of a damaged frame; ``at_once``: inputs that report in one cycle."""
    s = Shape.of(ctx)
    rows = bits_of(phase.rows["drop.evt"], 4 * s.ports).reshape(-1, s.ports, 4) @ np.array([1, 2, 4, 8])
    for row in rows[:2000]:
        for code in row[row > 0].tolist():
            yield {
                "reason": CODES[code], "profile": PROFILES[phase.item.cfg["roce"]], "store": _store(s),
                "at_once": int((row > 0).sum()), "width": s.data_bytes * 8, "lanes": s.lanes,
            }  # fmt: skip


def inputs(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an input of a phase: most cells held, cells given back at once, pauses, what the gate held back."""
    s = Shape.of(ctx)
    bits = bits_of(phase.rows["free.evt"], s.ports * s.lanes * 2).reshape(-1, s.ports, s.lanes, 2)
    count = bits[..., 0] + 2 * bits[..., 1]
    pause = bits_of(phase.rows["s_pause.evt"], s.ports * s.lanes).reshape(-1, s.ports, s.lanes)
    for p in range(s.ports):
        taken = phase.beats[name("s", p)]
        if not len(taken) or phase.stats.cycles > LONGEST:
            continue
        total = count[:, p].sum(axis=1)
        events = np.zeros(len(total), [("cycle", "<i8"), ("value", "<i8")])
        events["cycle"], events["value"] = phase.rows["free.evt"]["cycle"], total
        most = int(held(cycles(taken), events).max())
        yield {
            "cells": min(100, 100 * most // s.cells), "freed": int(count[:, p].max(initial=0)),
            "lanes_freed": int((count[:, p] > 0).sum(axis=1).max(initial=0)), "lanes": s.lanes,
            "pauses": int((np.diff(pause[:, p].astype(np.int8), axis=0) > 0).sum()),
            "ends": int((np.diff(pause[:, p].astype(np.int8), axis=0) < 0).sum()),
            "pfc": bool(phase.item.cfg["pfc"]), "profile": PROFILES[phase.item.cfg["roce"]],
        }  # fmt: skip


def outputs(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an output of a phase: marks, frames lost at a dead port, pauses from the far end."""
    s = Shape.of(ctx)
    ecn, lost = (bits_of(phase.rows[f"{k}.evt"], s.ports).sum(axis=0) for k in ("ecn", "lost"))
    paused = 0
    for _, value in phase.item.info["pause"]:
        paused |= value
    lane_mask = (1 << s.lanes) - 1
    for o in range(s.ports):
        sample: dict[str, object] = {"lost": int(lost[o]), "paused": bool(paused >> o * s.lanes & lane_mask)}
        if phase.item.cfg["roce"] and phase.item.cfg["ecn_at"]:
            sample |= {"marks": int(ecn[o]), "depth": int(phase.item.cfg["ecn_at"])}
        yield sample
    if "multicast" in phase.item.info or "kinds" in phase.item.info:
        lonely = bits_of(phase.rows["mc_lost.evt"], s.ports)
        yield {"mc_lost": int(lonely.sum())}


def ports(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a port that fell or came back: what was going on there."""
    s = Shape.of(ctx)
    if not phase.item.info["port_up"]:
        return
    t = trace(ctx, phase)
    rows = phase.rows["live.evt"]
    state = bits_of(rows, s.ports).astype(np.int8)
    free = bits_of(phase.rows["free.evt"], s.ports * s.lanes * 2).reshape(-1, s.ports, s.lanes, 2)
    freed, freed_at = (free[..., 0] + 2 * free[..., 1]).sum(axis=2), phase.rows["free.evt"]["cycle"].astype(np.int64)
    for k in range(2, len(rows)):
        at = int(rows["cycle"][k])
        for p in np.flatnonzero(state[k] != state[k - 1]).tolist():
            fell = state[k, p] == 0
            m, r = t.m[p]["cycle"].astype(np.int64), t.s[p]
            before = np.searchsorted(m, at) - 1
            mid_out = bool(before >= 0 and not t.m[p]["flags"][before] & 1)
            seen = np.searchsorted(r["cycle"].astype(np.int64), at) - 1
            mid_in = bool(seen >= 0 and not r["flags"][seen] & 1)
            came = r["cycle"][: seen + 1].astype(np.int64)  # those of a dark port are swallowed
            came = came[state[np.searchsorted(rows["cycle"], came, "right") - 1, p] == 1]
            cells = len(came) - int(freed[: np.searchsorted(freed_at, at), p].sum())
            yield {
                "event": "falls" if fell else "comes back", "output": "in a frame" if mid_out else "between frames",
                "input": "in a frame" if mid_in else "between frames", "store": _store(s),
                "down": int((state[k] == 0).sum()), "profile": PROFILES[t.roce], "lanes": s.lanes,
                "alloc": ALLOCS[s.alloc], "cells": max(0, min(100, 100 * cells // s.cells)),
                "pfc": bool(phase.item.cfg["pfc"]),
            }  # fmt: skip


def tables(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a write: before the first frame or while frames are decided."""
    first = min((int(b.cycle[0]) for b in phase.item.info["batch"].values() if len(b)), default=0)
    for at, _, valid, _ in phase.item.info["table"]:
        yield {"entry": "valid" if valid else "taken out", "when": "before" if at < first else "meanwhile"}
    for at, _, mode, members in phase.item.info["groups"]:
        yield {"mode": mode, "members": members.bit_count(), "when": "before" if at < first else "meanwhile"}


def figures(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase that was run for a figure."""
    info = phase.item.info
    s = Shape.of(ctx)
    if "speed" in info:
        yield {"volume": sum(len(b) for b in info["batch"].values())}
    if "cost" in info:
        yield {"large": s.ports}
    if "headroom" in info:
        yield {"headroom": "enough" if info["headroom"][3] else "a cell less"}
    if "reroute" in info:
        yield {"reroute": PROFILES[phase.item.cfg["roce"]]}
    if "blocked_lane" in info:
        yield {"blocked_lane": info["blocked_lane"][1]}
    if "credit_lane" in info:
        yield {
            "credit_lane": info["credit_lane"][1],
            "credit_frame": int(phase.item.info["batch"][0].beats(s.data_bytes)[0]),
        }
    if "hot" in info:
        yield {"hot_spot": info["hot"]}
    if "latency" in info:
        yield {"zero_load": PROFILES[phase.item.cfg["roce"]]}
    if "busy" in info:
        yield {"full_rate": int(info["busy"])}
    if "corner" in info:
        yield {"corner": info["corner"]}
    if "stranded" in info:
        means, way = info["stranded"][:2]
        yield {"late": means, "way": way} if way not in ("gaps", "empty") else {"not_late": way, "means": means}
    if "theory" in info:
        yield {"theory": info["theory"][1]}
    if "fair" in info:
        yield {"fair": "iSLIP" if 1 <= s.alloc <= 4 else ("round robin", "", "", "", "", "wavefront")[s.alloc]}
