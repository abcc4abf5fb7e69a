# SPDX-License-Identifier: Apache-2.0
"""What the switch's registers watch of a run: cells in use, credits, and beats that wait for their link.

Worked out by rules E1 to E3, O3 and O6 of docs/switch.md from what entered, was taken, left and was given back, so that
it does not lean on the core's own counters. A list of changes holds ``(cycle, value)``, the first at cycle 0.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from models.spec import spec
from models.switch_config import SwitchConfig
from models.switch_volume import Outcome, Stimulus

_LAST = 1
Changes = list[tuple[int, int]]


@dataclass
class Watched:
    """``in_use``: beats inside each input; ``credits``: of each output and lane; ``waited``: cycles in which an output
    offered a beat that was not accepted."""

    in_use: dict[int, Changes]
    credits: dict[tuple[int, int], Changes]
    waited: dict[int, list[int]]


class _Offer(NamedTuple):
    """A beat at its output: first cycle in which it is there, cycle in which it goes, lane, whether it was accepted."""

    first: int
    gone: int
    lane: int
    accepted: bool


def _bit(rows: Changes, port: int) -> Changes:
    """One port's bit of a vector's changes."""
    found: Changes = []
    for cycle, mask in rows:
        if not found or found[-1][1] != mask >> port & 1:
            found.append((cycle, mask >> port & 1))
    return found


def _at(rows: Changes, cycle: int) -> int:
    return rows[bisect_right(rows, cycle, key=lambda x: x[0]) - 1][1]


def _level(steps: dict[int, int]) -> Changes:
    """A level from its steps; a step of cycle *c* is seen in *c*."""
    found = [(0, 0)]
    found += [(cycle, 0) for cycle in sorted(steps) if steps[cycle]]
    for n in range(1, len(found)):
        found[n] = (found[n][0], found[n - 1][1] + steps[found[n][0]])
    return found


def _open(bits: npt.NDArray[np.bool_] | None, cycle: int) -> int:
    """The first cycle from ``cycle`` on in which a pattern is set; None: always."""
    while bits is not None and len(bits) and not bits[cycle % len(bits)]:
        cycle += 1
    return cycle


def in_use(config: SwitchConfig, given: Stimulus, got: Outcome, port: int) -> Changes:
    """Beats inside an input: up from the cycle after one entered, down from the cycle after one went."""
    live = _bit(got.live, port)
    flags = np.asarray(given.beats[port]["flags"]).tolist()
    rows = zip(np.asarray(got.taken[port]).tolist(), flags, got.cut[port].tolist(), strict=False)
    entered = [(cycle, flag & _LAST) for cycle, flag, cut in rows if not cut and _at(live, cycle)]
    steps: dict[int, int] = {}

    def step(cycle: int, by: int) -> None:
        steps[cycle] = steps.get(cycle, 0) + by

    for cycle, _ in entered:
        step(cycle + 1, 1)
    told = spec().cycles("latency.switch.free")
    for cycle, value in zip(got.given[port]["cycle"].tolist(), got.given[port]["value"].tolist(), strict=True):
        step(cycle - told + 1, -sum(value >> 2 * v & 3 for v in range(config.lanes)))
    # a frame that a dead port left unfinished gets an abort beat, as soon as its input would take one (E3)
    late = [(0, 0)] if config.credit_en else _bit(got.late, port)
    starts = [cycle for cycle, _ in entered]
    known = 0
    for (_, before), (fall, now) in pairwise(live):
        n = bisect_right(starts, fall)
        if before and not now and n > known and not entered[n - 1][1]:
            cycle = fall
            level = _level(steps)
            while not config.pfc and (_at(level, cycle) >= config.depth or _at(late, cycle)):
                cycle += 1
            step(cycle + 1, 1)
        known = n
    return _level(steps)


def _offers(given: Stimulus, got: Outcome, port: int) -> list[_Offer]:
    """Every beat that came to an output (O6): it stays until accepted, or goes at once while the port is dead."""
    cross = spec().cycles("latency.switch.cross")
    live = _bit(got.live, port)
    bits = None if given.ready is None else given.ready[port]
    found = []
    free = 0
    for cycle, lane in zip(got.takes[port]["cycle"].tolist(), got.takes[port]["value"].tolist(), strict=True):
        first = at = max(cycle + cross, free)
        while _at(live, at) and _open(bits, at) != at:
            at += 1
        found.append(_Offer(first, at, lane, bool(_at(live, at))))
        free = at + 1
    return found


def credits_of(config: SwitchConfig, given: Stimulus, got: Outcome, port: int, lane: int) -> Changes:
    """Credits of an output's lane; its far end gives a cell back in its first ready cycle after the beat left."""
    if not config.credit_en:
        return [(0, config.credit_init)]
    live = _bit(got.live, port)
    bits = None if given.credit_ready is None else given.credit_ready[port]
    falls = [cycle for cycle, up in live if not up]
    steps: dict[int, int] = {}
    for cycle, v in zip(got.takes[port]["cycle"].tolist(), got.takes[port]["value"].tolist(), strict=True):
        if v == lane:
            steps[cycle] = steps.get(cycle, 0) - 1
    for offer in _offers(given, got, port):
        back = _open(bits, offer.gone + 1)
        lost = bisect_right(falls, back) > bisect_right(falls, offer.gone)  # the far end has started anew
        if offer.lane == lane and offer.accepted and not lost:
            steps[back] = steps.get(back, 0) + 1
    now = config.credit_init
    found = [(0, now)]
    for cycle in sorted({*steps, *falls}):  # what happens in a cycle is seen in the next one
        now = now + steps.get(cycle, 0) if _at(live, cycle) else config.credit_init
        if now != found[-1][1]:
            found.append((cycle + 1, now))
    return found


def watch(config: SwitchConfig, given: Stimulus, got: Outcome) -> Watched:
    """All of it; ``got`` must have its ``takes``."""
    ports = range(config.ports)
    return Watched(
        in_use={p: in_use(config, given, got, p) for p in ports},
        credits={(p, v): credits_of(config, given, got, p, v) for p in ports for v in range(config.lanes)},
        waited={p: [t for o in _offers(given, got, p) for t in range(o.first, o.gone)] for p in ports},
    )
