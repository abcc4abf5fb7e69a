# SPDX-License-Identifier: Apache-2.0
"""Which table entry `ctx_addr` names while none is written, so that `ctx_idle` is seen of busy and idle queues (C5).

A value is 12 bits of entry and, above them, whether the bench looks at all: around a write it does not.
"""

from __future__ import annotations

import numpy as np

from tb.common.timed import one_a_cycle

ON = 1 << 12
MOST = 400  # changes of a phase


def watching(
    rng: np.random.Generator, entries: list[int], writes: list[int], last: int, always: int | None = None
) -> list[tuple[int, int]]:
    """(cycle, value) from after the first writes up to ``last``: entries at random, or ``always`` that one."""
    late = len(writes) + 8  # a write of the table comes by so many cycles later than it was to, when all want one cycle
    off = sorted({w - 2 for w in writes})
    rows: list[tuple[int, int]] = []
    at = 1
    for begin in [*off, last]:
        while at < begin and len(rows) < MOST:
            rows.append((at, ON | (int(rng.choice(entries)) if always is None else always)))
            at += int(rng.integers(1, 2 + max(8, last // 150)))
        if begin < last:
            rows.append((max(1, begin), 0))
            at = max(at, begin + late)
    rows = [r for r in rows if not (r[1] & ON and any(w - 2 <= r[0] < w + late for w in writes))]
    return one_a_cycle([*rows, (last + 1, 0)])
