# SPDX-License-Identifier: Apache-2.0
"""How slowly a link of the same rate may deliver a frame: what cut-through has to live with."""

from __future__ import annotations

from functools import cache

from models.spec import spec


@cache
def slowest(beats: int, next_ctl: int) -> tuple[int, ...]:
    """Cycles of a frame's ``beats``, the first at 0, behind a serialiser that starts it with a backlog of one
    byte below its rate and sends control sets as closely as it may, the first in cycle ``next_ctl``."""
    rate, ctl = spec().integer("link.rate_bytes"), spec().integer("link.ctl_bytes")
    spacing = spec().cycles("link.ctl_spacing")
    cycles: list[int] = []
    backlog, cycle = rate - 1, 0
    while len(cycles) < beats:
        if backlog < rate:
            cycles.append(cycle)
            backlog += 64
        if cycle == next_ctl:
            backlog += ctl
            next_ctl += spacing
        backlog = max(0, backlog - rate)
        cycle += 1
    return tuple(cycles)
