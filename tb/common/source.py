# SPDX-License-Identifier: Apache-2.0
"""Model of ``stream_player``: so that a predictor can say when an input is accepted, not only be told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.kernel import Beat, Component, Kernel


class StreamSource(Component):
    """Offers ``(earliest cycle, Beat)`` in order to ``put`` whenever ``ready``; ``taken`` lists (cycle, Beat)."""

    def __init__(
        self, kernel: Kernel, name: str, items: Sequence[tuple[int, Beat]],
        ready: Callable[[int], bool], put: Callable[[int, Beat], None],
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        self._items = items
        self._ready = ready
        self._put = put
        self.taken: list[tuple[int, Beat]] = []
        if items:
            self.wake(max(1, items[0][0]))

    def tick(self, now: int) -> None:
        """Offer the next beat, if its time has come."""
        if len(self.taken) == len(self._items):
            return
        earliest, beat = self._items[len(self.taken)]
        if now < earliest:
            self.wake(earliest)
            return
        if self._ready(now):
            self.taken.append((now, beat))
            self._put(now, beat)
        if len(self.taken) < len(self._items):
            self.wake(now + 1)
