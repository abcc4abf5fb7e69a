# SPDX-License-Identifier: Apache-2.0
"""What became of frames: samples of the cover group ``frame``. Read off the records; a share of very long phases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.spec import spec
from tb.common.coverage import Sample
from tb.common.observe import Ints, cycles, fills, holes, stalled
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.stimulus import name
from tb.switch.trace import Left, Trace, bits_of, trace

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


def inside(t: Trace, phase: PhaseRecords, p: int, at: Ints) -> Ints:
    """Beats that input ``p`` had accepted and not given back when these frames entered."""
    rows = phase.rows["free.evt"]
    bits = bits_of(rows, t.shape.ports * t.shape.lanes * 2).reshape(len(rows), t.shape.ports, t.shape.lanes, 2)[:, p]
    back = np.concatenate(([0], np.cumsum((bits[..., 0] + 2 * bits[..., 1].astype(np.int64)).sum(axis=1))))
    found: Ints = np.searchsorted(cycles(t.s[p]), at) - back[np.searchsorted(cycles(rows), at, side="right")]
    return np.maximum(found, 0)


def events(t: Trace, phase: PhaseRecords, out: Left, o: int, came: Ints) -> list[str]:
    """What happened while these frames of an output were inside: a port fell or came back, else the far end of their
    output held them (it stalled, paused the lane, or gives credits late), else nothing."""
    moved = cycles(phase.rows["live.evt"])
    ports = np.searchsorted(moved, out.cycle, side="right") > np.searchsorted(moved, came, side="right")
    item = phase.item
    slow = any(name(k, o) in item.ready for k in ("m", "cr"))
    at = np.array([0, *(c for c, _ in item.info["pause"])], np.int64)
    masks = [0, *(m for _, m in item.info["pause"])]
    found = []
    for port, a, b, v in zip(ports.tolist(), came.tolist(), out.cycle.tolist(), out.lane.tolist(), strict=True):
        low, high = np.searchsorted(at, a, side="right") - 1, np.searchsorted(at, b, side="right")
        held = slow or any(m >> o * t.shape.lanes + v & 1 for m in masks[low:high])
        found.append("a port" if port else "far end" if held else "none")
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
        came = np.zeros(len(out.source), np.int64)
        used = np.zeros(len(out.source), np.int64)
        for p in np.unique(out.source).tolist():
            mine = out.source == p
            came[mine] = t.entered[p].cycle[out.number[mine]]
            used[mine] = inside(t, phase, p, came[mine])
        happened = events(t, phase, out, o, came)
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
                "size": int(out.beats[n]), "lane_of": "the only one" if s.lanes == 1 else "of several",
                "occupancy": int(used[n]) >= s.max_beats, "event": happened[n],
                "allocator": "wavefront" if s.alloc > 4 else "iSLIP" if s.alloc else "round robin",
                "straddle": int(out.beats[n]) > 1 and int(fill[j]) < 4,
            }  # fmt: skip
