# SPDX-License-Identifier: Apache-2.0
"""Stage stamps of a model: cycles of events by name, as the RTL's ``latency_tap`` writes them."""

from __future__ import annotations

from collections.abc import Callable


class Stamps:
    """Cycles of events by stamp name, in order."""

    def __init__(self) -> None:
        self.cycles: dict[str, list[int]] = {}

    def add(self, name: str, cycle: int) -> None:
        """One event."""
        self.cycles.setdefault(name, []).append(cycle)

    def first(self, name: str) -> Callable[[int, bool], None]:
        """``(cycle, last)`` for every beat of a stream: stamps the first beat of each frame or packet."""
        inside = False

        def beat(cycle: int, last: bool) -> None:
            nonlocal inside
            if not inside:
                self.add(name, cycle)
            inside = not last

        return beat
