# SPDX-License-Identifier: Apache-2.0
"""Golden model of the example block: a 512-bit FIFO that XORs a mask, with its ready and its frame count.

Latency table: ``latency.example`` in spec/fabric.toml.
"""

from __future__ import annotations

from models.kernel import Beat, Fifo, Kernel
from models.spec import spec


class Example:
    """``put(now, beat)`` at the cycle of an input transfer; ``out`` is pulled by a sink.

    ``ready(now)`` is ``s_axis_tready`` at ``now``: fewer than ``depth`` beats inside before the
    cycle's own transfers.
    """

    def __init__(self, kernel: Kernel, depth: int, mask: int) -> None:
        self._xor = bytes(b ^ mask for b in range(256))
        self.depth = depth
        self.out: Fifo[Beat] = Fifo(spec().cycles("latency.example.through"), depth, "example.out")

    def ready(self, now: int) -> bool:
        """Value of ``s_axis_tready`` at ``now``."""
        return self.out.reserved(now) < self.depth

    def put(self, now: int, beat: Beat) -> None:
        """An input transfer at ``now``."""
        self.out.push(now, Beat(beat.data.translate(self._xor), beat.last, beat.side))


def frame_counts(taken: list[tuple[int, Beat]]) -> list[tuple[int, int]]:
    """(cycle, value) of each change of ``frames`` for the output transfers ``taken``, from (0, 0) on."""
    delay = spec().cycles("latency.example.frames")
    counts = [(0, 0)]
    for cycle, beat in taken:
        if beat.last:
            counts.append((cycle + delay, (counts[-1][1] + 1) % 65536))
    return counts
