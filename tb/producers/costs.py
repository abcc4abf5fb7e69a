# SPDX-License-Identifier: Apache-2.0
"""What a producer's steps cost, from ``producers`` in spec/fabric.toml: cycles, each time anew at random."""

from __future__ import annotations

from random import Random

from models.spec import spec


class Costs:
    """Figures of ``producers.<kind>``, each divided by ``haste`` (1: as they stand; more: a shorter run, the same
    proportions), at least 1 cycle. ``spread`` off: the figures themselves; ``stalls``: one step in so
    many is late, in place of the figure."""

    def __init__(
        self, kind: str, rng: Random, haste: float = 1.0, spread: bool = True, stalls: int | None = None
    ) -> None:
        figures = spec()
        self._rng = rng
        names = list(figures.section(f"producers.{kind}"))
        self._mean = {n: max(1.0, figures.cycles(f"producers.{kind}.{n}") / haste) for n in names}
        self._stalls = (figures.integer("producers.stalls") if stalls is None else stalls) if spread else 0
        self._spread = figures.integer("producers.spread") / 100 if spread else 0.0

    def mean(self, name: str) -> int:
        """The figure itself."""
        return round(self._mean[name])

    def draw(self, name: str) -> int:
        """This time's cost."""
        mean = self._mean[name]
        if self._stalls and self._rng.random() * self._stalls < 1:
            mean += self._mean["stall"]
        return max(1, round(mean * (1 + self._spread * (2 * self._rng.random() - 1))))
