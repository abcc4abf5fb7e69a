# SPDX-License-Identifier: Apache-2.0
"""When a link with credits starts the frames that it sends into wire_rx."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Beat, Component, Kernel, Sink
from models.protocol import WireCfg
from models.spec import spec
from models.wire import WireRx, split
from tb.common.beats import Frame

ROOM = spec().integer("link.buffer_cells")


class _CreditSource(Component):
    """Sends frames into a model of ``wire_rx`` as soon as their cells fit, as a link with credits does."""

    def __init__(self, kernel: Kernel, frames: list[Frame], rx: WireRx) -> None:
        super().__init__(kernel, "credits")
        self._frames, self._rx = frames, rx
        self.used = 0
        self.start: list[int] = []
        self._next = 1
        rx.on_free = self.freed
        self.wake(1)

    def freed(self, now: int, n: int) -> None:
        """Cells come back; the source sees them one cycle later."""
        self.used -= n
        self.wake(now + 1)

    def tick(self, now: int) -> None:
        """Start the next frame when its time has come and its cells fit."""
        if len(self.start) == len(self._frames):
            return
        frame = self._frames[len(self.start)]
        beats = split(frame.data)
        begin = max(self._next, frame.cycle)
        if now < begin or self.used + len(beats) > ROOM:
            self.wake(max(begin, now + 1))
            return
        self.used += len(beats)
        self.start.append(now)
        gap = frame.gaps if isinstance(frame.gaps, int) else 0
        for i, data in enumerate(beats):
            _At(self.kernel, now + i * (1 + gap), Beat(data, i == len(beats) - 1), self._rx)
        self._next = now + (len(beats) - 1) * (1 + gap) + 1
        self.wake(self._next)


class _At(Component):
    def __init__(self, kernel: Kernel, cycle: int, beat: Beat, rx: WireRx) -> None:
        super().__init__(kernel, "beat")
        self._beat, self._rx = beat, rx
        self.wake(cycle)

    def tick(self, now: int) -> None:
        self._rx.accept(now, self._beat)


def with_credits(frames: list[Frame], cfg: WireCfg, ready: Callable[[int], bool]) -> list[Frame]:
    """``frames`` with the earliest cycles at which a link with ``link.buffer_cells`` credits starts them.

    ``ready``: that of ``m_pkt``. The buffer is filled to its last cell when it stalls.
    """
    kernel = Kernel()
    rx = WireRx(kernel, "rx", cfg)
    Sink(kernel, "m_pkt", rx.out, ready)
    source = _CreditSource(kernel, frames, rx)
    kernel.run(2_000_000)
    return [Frame(f.data, cycle, gaps=f.gaps) for f, cycle in zip(frames, source.start, strict=True)]
