# SPDX-License-Identifier: Apache-2.0
"""What became of frames: samples of the cover group ``frame``. Read off the records; a share of very long phases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.spec import spec
from tb.common.coverage import Sample
from tb.common.observe import Ints, fills, holes, stalled
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.stimulus import name
from tb.switch.trace import Left, Trace, trace

MOST = 400  # samples an output and phase
PROFILES = ("native", "roce")
ALLOCS = ("round robin", "iSLIP 1", "iSLIP 2", "iSLIP 3", "iSLIP 4", "wavefront")
MODES = ("by flow", "sprayed", "adaptive", "multicast")


def alone() -> int:
    """Cycles of a frame that is alone."""
    return sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


def ways(phase: PhaseRecords) -> dict[int, tuple[int, int]]:
    """(mode, ports) of each destination as the tables stood before the first frame."""
    info = phase.item.info
    groups: dict[int, tuple[int, int]] = {}
    for _, group, mode, ports in info["groups"]:
        groups.setdefault(group, (mode, ports.bit_count()))
    entries: dict[int, int] = {}
    for _, index, valid, group in info["table"]:
        if valid:
            entries.setdefault(index, group)
    return {i: groups[g] for i, g in entries.items() if g in groups}


def contended(t: Trace, out: Left, k: Ints) -> Ints:
    """Inputs that had a frame for this output waiting, stored and not yet begun, as these frames began."""
    there = np.zeros((len(k), t.shape.ports), np.bool_)
    entered = np.zeros(len(out.source), np.int64)
    for p in range(t.shape.ports):
        mine = out.source == p
        entered[mine] = t.entered[p].cycle[out.number[mine]]
    ready = entered + spec().cycles("latency.switch.store")
    begun = out.cycle - spec().cycles("latency.switch.cross")
    for p in range(t.shape.ports):
        mine = out.source == p
        if mine.any():
            # waiting at cycle c: ready before it, not yet begun
            r, b = np.sort(ready[mine]), np.sort(begun[mine])
            there[:, p] = np.searchsorted(r, begun[k], "left") > np.searchsorted(b, begun[k], "left")
    found: Ints = there.sum(axis=1).astype(np.int64)
    return found


def frames(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that left."""
    t = trace(ctx, phase)
    s, item = t.shape, phase.item
    way = ways(phase)
    hole = [holes(r) for r in t.s]
    low = (1 << s.addr_w) - 1
    shape = {
        "ports": s.ports, "lanes": s.lanes, "width": s.data_bytes * 8, "alloc": ALLOCS[s.alloc],
        "store": "store and forward" if s.saf else "cut through", "profile": PROFILES[t.roce],
        "credit": "by credit" if item.cfg["credit_en"] else "free", "gate": "credits" if item.cfg["gate"] else "none",
    }  # fmt: skip
    for o, out in enumerate(t.left):
        if not len(out.first):
            continue
        k = np.unique(np.linspace(0, len(out.first) - 1, min(MOST, len(out.first))).astype(np.int64))
        inputs = contended(t, out, k)
        stall = stalled(item.ready.get(name("m", o)), out.cycle[k], out.end[k])
        idle = np.concatenate(([-1], out.cycle[1:] - out.end[:-1] - 1))
        fill = fills(t.m[o], out.first[k] + out.beats[k] - 1)
        for j, n in enumerate(k.tolist()):
            p, number = int(out.source[n]), int(out.number[n])
            batch = item.info["batch"].get(p)
            dest = int(batch.dest[number]) & low if batch is not None and number < len(batch) else -1
            mode, ports = way.get(dest, (0, 1))
            waited = int(out.cycle[n] - t.entered[p].cycle[number]) - alone()
            yield shape | {
                "source": p, "output": o, "beats": int(out.beats[n]), "lane": int(out.lane[n]),
                "mode": "alone" if ports == 1 and mode != 3 else MODES[mode], "waited": waited,
                "contenders": "all" if inputs[j] >= s.ports > 2 else int(inputs[j]), "sink": bool(stall[j]),
                "holes": bool(hole[p][number]), "damaged": bool(out.damaged[n]), "tail": int(fill[j]),
                "idle": int(idle[n]), "largest": int(out.beats[n]) - s.max_beats,
                "straddle": int(out.beats[n]) > 1 and int(fill[j]) < 4,
            }  # fmt: skip
