# SPDX-License-Identifier: Apache-2.0
"""Checks of frames whose port died beside a stream without a gap: when it is held back, and when they are gone.

All from the records, by the rules' closed form (docs/switch.md, Q3, Q5): with the pin low at F, an input is late at
F + W + 2. H, the first cycle in which no beat enters, is that with ``tready``, and what the far end makes of it else.
Frames go at H+1, H+2 .., the last of n at H + n: behind it the input is not stranded, and not late at H + n + 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.spec import spec
from tb.common.observe import Ints, cycles
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.goals_rate import figure
from tb.switch.trace import Trace, bits_of

NO_WAY = 5


def holes(at: Ints) -> Ints:
    """Cycles between the first beat and the last in which none was accepted."""
    return np.setdiff1d(np.arange(at[0], at[-1]), at)


def moves(t: Trace, phase: PhaseRecords, p: int) -> Ints:
    """Cycles in which frames left a dead port's queue at input ``p``, by those that were counted for want of a way."""
    bits = bits_of(phase.rows["drop.evt"], 4 * t.shape.ports).reshape(-1, t.shape.ports, 4)[:, p]
    told = spec().cycles("latency.switch.lookup") - 1 + spec().cycles("latency.switch.count")
    found: Ints = cycles(phase.rows["drop.evt"])[bits @ np.array([1, 2, 4, 8]) == NO_WAY] - told
    return found


def stranded(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """``info["stranded"]``: (means, way, cycle of the pin's fall, port, frames waiting an input, response)."""
    means, way, fall, old, waiting, response = phase.item.info["stranded"]
    late = fall + spec().cycles("switch.move_wait") + 2
    said, last, total = [], 0, 0
    for p in (p for p in range(t.shape.ports) if p != old):
        hole = holes(cycles(t.s[p]))
        hole = hole[hole >= fall + (way == "start")]
        went = moves(t, phase, p)
        if way == "start":  # a free cycle at the fall: one may have gone at once, if another queue was started
            went = went[went != fall + 1]
        if way in ("empty", "gaps"):
            said += _never_late(t, phase, p, way, hole, went, waiting)
            continue
        n = len(went) if way in ("none", "start") else _moved(t, p, waiting, fall)
        total += n
        if not n:
            continue
        if not len(hole):
            said.append(f"input {p} was never held back, due from cycle {late} on")
            continue
        first = int(hole[0])
        said += _held_back(t, phase, p, means, way == "start", late, first, n, response)
        last = max(last, first + n)
        if way in ("none", "start") and went.tolist() != list(range(first + 1, first + 1 + n)):
            said.append(f"input {p}: frames were moved at {went.tolist()}, not one a cycle from {first + 1} on")
    if way == "none" and total != waiting * (t.shape.ports - 1):
        said.append(f"{total} frames were moved, {waiting} waited at each input")
    if way not in ("empty", "gaps"):
        said += [] if total else ["no frame was moved: tests nothing"]
        figure(ctx, f"stranded_{means}_{way}", last - fall, "cycles", passed=not said, frames=total,
               after="port_up low to the last frame that waited for the port moved")  # fmt: skip
    return said + _all_there(t, phase, way)


def _moved(t: Trace, p: int, waiting: int, fall: int) -> int:
    """Frames of the first ``waiting`` that left after the fall: those of the group's other port had left before."""
    late: set[int] = set()
    for out in t.left:
        late |= set(out.number[(out.source == p) & (out.number < waiting) & (out.cycle > fall)].tolist())
    return len(late)


def _pauses(t: Trace, phase: PhaseRecords, p: int) -> tuple[Ints, Ints]:
    """Cycles in which an input's lanes were all paused at first, and were none any more; (-1) where they differ."""
    bits = bits_of(phase.rows["s_pause.evt"], t.shape.ports * t.shape.lanes)
    mine = bits.reshape(-1, t.shape.ports, t.shape.lanes)[:, p].astype(np.int64)
    at = cycles(phase.rows["s_pause.evt"])
    whole = np.where(mine.all(axis=1), 1, np.where(mine.any(axis=1), 7, 0))
    step = np.diff(np.concatenate(([0], whole)))
    return at[step > 0], at[step < 0]


def _never_late(t: Trace, phase: PhaseRecords, p: int, way: str, hole: Ints, went: Ints, waiting: int) -> list[str]:
    """No pause, the stream as it was offered, and a frame moved in the cycle behind each gap."""
    said = []
    rises, _ = _pauses(t, phase, p)
    if len(rises):
        said.append(f"input {p} pauses at {rises.tolist()} though nothing is late")
    due = hole[:waiting] + 1 if way == "gaps" else hole[:0]
    if went.tolist() != due.tolist():
        said.append(f"input {p}: frames were moved at {went.tolist()}, not {due.tolist()}")
    offered = phase.item.info["batch"][p].cycle
    late = t.entered[p].cycle - offered[: len(t.entered[p].cycle)]
    if late.any():
        said.append(f"input {p}: a frame entered {late.max()} cycles after it was offered, and nothing was late")
    return said


def _held_back(
    t: Trace, phase: PhaseRecords, p: int, means: str, one_more: bool, late: int, first: int, n: int, response: int
) -> list[str]:
    """How the far end was stopped, and until when. ``one_more``: a first beat may have been taken as the port died."""
    s, said = t.shape, []
    begins = range(late, late + 1 + one_more)
    over = first + n + 2  # no longer late
    rises, falls = _pauses(t, phase, p)
    at = cycles(t.s[p])
    if means == "tready":
        again = int(at[at > first][0])
        if first not in begins or again != over:
            said.append(f"input {p}: not ready from {first} to {again}, due from {late} to {over}")
    if means == "pause":
        if len(rises) != 1 or int(rises[0]) not in begins or falls.tolist() != [over]:
            said.append(f"input {p}: paused {rises.tolist()} to {falls.tolist()}, due {late} to {over}")
        if not 0 <= first - late - response <= 2:
            said.append(f"input {p}: the player stopped at {first}, {response} after {late}: tests nothing")
    elif len(rises):
        said.append(f"input {p}: a pause without PFC at {rises.tolist()}")
    rows = phase.rows["free.evt"]
    bits = bits_of(rows, s.ports * s.lanes * 2).reshape(-1, s.ports, s.lanes, 2)[:, p].astype(np.int64)
    count, when = bits[..., 0] + 2 * bits[..., 1], cycles(rows)
    told = spec().cycles("latency.switch.free")
    kept = (when >= late + one_more + told) & (when < over + told) & count.any(axis=1)
    if means == "credits":
        if first > late + 1 + s.cells:
            said.append(f"input {p}: beats entered until {first}, late at {late}, {s.cells} cells")
        if kept.any():
            said.append(f"input {p}: cells given back at {when[kept][:4].tolist()}, late from {late} to {over}")
        back = count[when == over + told]
        if not len(back) or back.max() < 3:
            said.append(f"input {p}: no lane gives three cells back at {over + told}, when what is owed may go")
    elif not kept.any():
        said.append(f"input {p}: cells kept back without credits")
    if means != "credits" and (count > 2).any():
        said.append(f"input {p}: three cells given back at once, nothing was owed")
    return said


def _all_there(t: Trace, phase: PhaseRecords, way: str) -> list[str]:
    """Each frame left, or was counted. When a moved one leaves is for the allocator and the streams beside it."""
    said = []
    lost = int(bits_of(phase.rows["lost.evt"], t.shape.ports).sum())
    dropped = sum(len(moves(t, phase, p)) for p in range(t.shape.ports))
    sent = sum(len(e.first) for e in t.entered)
    gone: set[tuple[int, int]] = set()
    for o, out in enumerate(t.left):
        gone |= set(zip(out.source.tolist(), out.number.tolist(), strict=True))
        if out.damaged.any():
            said.append(f"output {o}: damaged frames")
    if len(gone) + dropped + lost != sent:
        said.append(f"{sent} frames entered, {len(gone)} left, {dropped} had no way, {lost} were lost with the port")
    if way != "start" and lost:
        said.append(f"{lost} frames were lost with the port")
    return said


GOALS_STRANDED: dict[str, Callable[[RunContext, Trace, PhaseRecords], list[str]]] = {"stranded": stranded}
