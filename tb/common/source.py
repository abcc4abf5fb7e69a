# SPDX-License-Identifier: Apache-2.0
"""Models of the players, so that a predictor can say when an input is accepted, not only be told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from models.kernel import Beat, Component, Kernel


class StoreTarget(Protocol):
    """Model of an AXI4 write slave: asked for its ready signals, given AW and W at their cycles."""

    def aw_ready(self, now: int) -> bool:
        """AWREADY at ``now``."""

    def w_ready(self, now: int) -> bool:
        """WREADY at ``now``."""

    def aw(self, now: int, ident: int, addr: int, beats: int) -> None:
        """AW transfer."""

    def w(self, now: int, data: bytes, strb: int, last: bool) -> None:
        """W transfer."""


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


class StoreSource(Component):
    """Model of ``axi_store_player``: a store starts at its cycle, or one after the one ahead was handed over.

    ``stores``: (earliest cycle, byte address, [(64 bytes, strobes), ...]). AW and the first W beat are offered
    together, W beats back to back. ``aw_taken``: (cycle, address, beats); ``w_taken``: (cycle, data, strobes, last).
    """

    def __init__(
        self, kernel: Kernel, name: str, stores: Sequence[tuple[int, int, list[tuple[bytes, int]]]], target: StoreTarget
    ) -> None:
        super().__init__(kernel, name)
        self._stores = stores
        self._target = target
        self._index = 0
        self._from = 1
        self._aw_done = False
        self._beat = 0
        self.aw_taken: list[tuple[int, int, int]] = []
        self.w_taken: list[tuple[int, bytes, int, bool]] = []
        if stores:
            self.wake(max(1, stores[0][0]))

    def tick(self, now: int) -> None:
        """Offer what is left of the present store."""
        if self._index == len(self._stores):
            return
        earliest, addr, beats = self._stores[self._index]
        start = max(earliest, self._from)
        if now < start:
            self.wake(start)
            return
        if not self._aw_done and self._target.aw_ready(now):
            self._aw_done = True
            self.aw_taken.append((now, addr, len(beats)))
            self._target.aw(now, 0, addr, len(beats))
        if self._beat < len(beats) and self._target.w_ready(now):
            data, strobes = beats[self._beat]
            self._beat += 1
            self.w_taken.append((now, data, strobes, self._beat == len(beats)))
            self._target.w(now, data, strobes, self._beat == len(beats))
        if self._aw_done and self._beat == len(beats):
            self._index += 1
            self._from, self._aw_done, self._beat = now + 1, False, 0
        self.wake(now + 1)
