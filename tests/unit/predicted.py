# SPDX-License-Identifier: Apache-2.0
"""A phase without a simulator: what the model predicts, in the form in which a bench records it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from tb.common.beats import beats_from_items
from tb.common.phase import event_dtype
from tb.common.uvm import BenchPlan


def predicted(plan: BenchPlan, ctx: Any, item: Any) -> Any:
    """Records of a phase, those of the plan's model; to be tampered with."""
    played = {name: item.plays.get(name, fmt.empty()) for name, fmt in plan.plays.items()}
    phase = SimpleNamespace(item=item, played=played, beats={}, events={}, rows={})
    for name, want in plan.predict(ctx, phase).items():  # type: ignore[arg-type]
        if name in plan.rows:
            phase.rows[name] = want
        elif name in plan.events:
            bits = plan.events[name]
            rows = np.zeros(len(want), event_dtype(bits))
            for i, (cycle, value) in enumerate(want):
                rows[i]["cycle"] = cycle
                size = rows[i]["value"].nbytes
                rows[i]["value"] = np.frombuffer(value.to_bytes(size, "little"), rows["value"].dtype).reshape(
                    rows[i]["value"].shape
                )
            phase.events[name] = rows
        else:
            phase.beats[name] = want if isinstance(want, np.ndarray) else beats_from_items(want, plan.streams[name])
    return phase
