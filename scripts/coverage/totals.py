# SPDX-License-Identifier: Apache-2.0
"""Hit, total and waived by kind. `waived` are points that are not hit and need not be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

KINDS = ("line", "branch", "toggle", "expr")
Totals = dict[str, dict[str, int]]


def empty() -> Totals:
    """Nothing of any kind."""
    return {kind: {"hit": 0, "total": 0, "waived": 0} for kind in KINDS}


def by(
    names: Sequence[str],
    owner: NDArray[np.intp],
    kind: NDArray[np.intp],
    hit: NDArray[np.bool_],
    waived: NDArray[np.bool_],
) -> dict[str, Totals]:
    """Totals of each owner that has a point. Element i: a point of names[owner[i]], of KINDS[kind[i]]."""
    cell = owner * len(KINDS) + kind
    size = len(names) * len(KINDS)
    columns = {
        "hit": np.bincount(cell[hit], minlength=size),
        "total": np.bincount(cell, minlength=size),
        "waived": np.bincount(cell[waived & ~hit], minlength=size),
    }
    table = {name: column.reshape(-1, len(KINDS)) for name, column in columns.items()}
    found = {}
    for n in np.flatnonzero(table["total"].sum(axis=1)).tolist():
        found[names[n]] = {kind: {name: int(table[name][n, k]) for name in columns} for k, kind in enumerate(KINDS)}
    return dict(sorted(found.items()))


def add(many: Sequence[Totals]) -> Totals:
    """The sum."""
    total = empty()
    for one in many:
        for kind, cells in one.items():
            for name, value in cells.items():
                total[kind][name] += value
    return total
