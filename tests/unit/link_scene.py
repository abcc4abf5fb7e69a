# SPDX-License-Identifier: Apache-2.0
"""Phases of the link's sequences without a simulator: the model's records of both ends, as the bench leaves them."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np

from tb.common.run import RunContext
from tb.link import env
from tb.link.model import predict
from tb.link.shape import ENDS, Shape
from tb.link.stimulus import LinkSequence

Some: Any = SimpleNamespace


def context(folder, options: dict[str, int] | None = None) -> RunContext:
    """A run with two lanes, seed 1."""
    return RunContext(
        "link", "model", 1, "unit", folder, params={"LANES": 2}, options=options or {"phases": 1, "load": 1}
    )


def played(ctx: RunContext, item: Any, cycles: int) -> Any:
    """Records of ``cycles`` cycles of a phase, those of the model."""
    s = Shape.of(ctx)
    files = {f"{x}_s": item.plays.get(f"{x}_s", s.axis.empty()) for x in ENDS}
    phase = Some(item=item, stats=Some(cycles=cycles), played=files)
    want = predict(ctx, phase)
    plan = env.plan(ctx)
    phase.beats = {name: want[name] for name in plan.streams}
    phase.rows = {name: want[name] for name in plan.rows}
    return phase


def scene(ctx: RunContext, kind: type[LinkSequence], index: int, cycles: int) -> Any:
    """The same of a phase of a sequence."""
    item = kind(kind.__name__, ctx).make(index, np.random.default_rng(1))
    return played(ctx, item, cycles)


def again(phase: Any) -> Any:
    """A copy to be tampered with, not read yet."""
    info = {k: v for k, v in phase.item.info.items() if k != "trace"}
    item = Some(cfg=dict(phase.item.cfg), info=copy.deepcopy(info))
    beats, rows = ({k: v.copy() for k, v in d.items()} for d in (phase.beats, phase.rows))
    return Some(item=item, stats=phase.stats, played=phase.played, beats=beats, rows=rows)
