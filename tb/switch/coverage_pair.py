# SPDX-License-Identifier: Apache-2.0
"""What two switches back to back went through: samples of the group ``pair``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb.common.beats import LAST
from tb.common.coverage import Sample
from tb.common.observe import cycles
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.shape import Shape
from tb.switch.stimulus import name
from tb.switch.trace import bits_of


def pair(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase without a fall of the link (``credit``: the fewest its ends had), or one a fall of an end."""
    s = Shape.of(ctx)
    rows = phase.rows["live.evt"]
    state = bits_of(rows, 2 * s.ports)
    credit = phase.rows["credit.evt"]
    have = np.ascontiguousarray(credit["value"]).view("<u2").reshape(len(credit), -1)
    for n in range(2):
        end = (n + 1) * s.ports - 1
        mine = have[:, end * s.lanes : (end + 1) * s.lanes].min(axis=1)
        if not phase.item.info["light"]:
            yield {"least": "too few for a frame" if mine.min() <= s.max_beats else "enough"}
            continue
        at, m = cycles(rows), phase.beats[name("m", 10 * n + s.ports - 1)]
        for fall in at[1:][(state[1:, end] == 0) & (state[:-1, end] == 1)].tolist():
            before = np.searchsorted(cycles(m), fall) - 1
            held = mine[np.searchsorted(cycles(credit), fall - 1, side="right") - 1]
            back = at[(at > fall) & (state[:, end] == 1)]
            yield {
                "where": "in a frame" if before >= 0 and not m["flags"][before] & LAST else "between frames",
                "far_end": "empty" if held == phase.item.cfg["credit_init"] else "holds cells",
                "dark": int(back[0]) - fall if len(back) else -1,
            }  # fmt: skip
