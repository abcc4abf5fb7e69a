# SPDX-License-Identifier: Apache-2.0
"""Figures against their targets over all runs: of each, the worst one and the job that measured it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scripts.regress.records import Record
from scripts.report import Figure


@dataclass
class Worst:
    """One figure of one test, over its parameter sets, simulators and seeds."""

    key: str
    """block/test/name"""
    name: str
    block: str
    test: str
    figure: Figure
    record: Record
    runs: int = 0
    missed: int = 0
    low: float = 0
    high: float = 0
    conditions: dict[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The worst value."""
        return self.figure.value

    @property
    def target(self) -> float:
        """What is demanded; never None here."""
        return self.figure.target if self.figure.target is not None else 0

    @property
    def ok(self) -> bool:
        """No run missed the target."""
        return self.missed == 0

    @property
    def used(self) -> float:
        """How much of the target is used up: 1 is just met, more is missed."""
        if not self.target or not self.value:
            return 1.0 if not self.ok else 0.0
        share = self.target / self.value if more_is_better(self.figure) else self.value / self.target
        return max(share, 0.0)


def more_is_better(figure: Figure) -> bool:
    """The target is a floor. A figure does not say so: its verdict and the side it lies on do."""
    if figure.target is None or figure.value == figure.target:
        return False
    return (figure.value > figure.target) == (figure.passed is not False)


def worst(records: Iterable[Record]) -> list[Worst]:
    """Every figure with a target, the tightest first."""
    found: dict[str, Worst] = {}
    for r in records:
        for name, f in r.figures.items():
            if f.target is None:
                continue
            key = f"{r.job.block}/{r.job.test}/{name}"
            w = found.get(key)
            if w is None:
                w = found[key] = Worst(key, name, r.job.block, r.job.test, f, r, low=f.value, high=f.value)
            elif _rank(f) > _rank(w.figure):
                w.figure, w.record = f, r
            w.runs += 1
            w.missed += f.passed is False
            w.low, w.high = min(w.low, f.value), max(w.high, f.value)
    for w in found.values():
        w.conditions = dict(w.figure.conditions)
    return sorted(found.values(), key=lambda w: (w.ok, -w.used, w.key))


def _rank(f: Figure) -> tuple[bool, float]:
    return f.passed is False, -f.value if more_is_better(f) else f.value
