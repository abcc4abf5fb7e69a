# SPDX-License-Identifier: Apache-2.0
"""Software that consumes completion queues, as rdma-core (providers/mlx5/cq.c) and NVSHMEM's IBGDA do.

It sees memory only: an entry of a ring is there when its opcode is not INVALID and its owner bit is that of the pass
over the ring. It is written without a look at the design or its model.
"""

from __future__ import annotations

from collections.abc import Callable

from models.protocol import CQE

M16, M24 = 0xFFFF, 0xFFFFFF
LINE = 64
Look = Callable[[int], bytes]  # byte address of a line -> its 64 bytes


class RingReader:
    """Consumer of a ring of 2^``log`` entries at ``base``, consumer index ``ci``."""

    def __init__(self, base: int, log: int, ci: int) -> None:
        self.base, self.log, self.ci = base, log, ci
        self.got: list[bytes] = []

    def poll(self, look: Look, most: int) -> int:
        """Take up to ``most`` entries; how many there were."""
        n = 0
        while n < most:
            line = look(self.base + (self.ci & ((1 << self.log) - 1)) * LINE)
            op_own = line[63]
            if op_own >> 4 == CQE.INVALID or (op_own & 1) != (self.ci >> self.log & 1):
                break
            self.got.append(line)
            self.ci = (self.ci + 1) & M24
            n += 1
        return n


class CollapsedReader:
    """Consumer of a collapsed queue: one slot, memory preset to 0xff, ``depth`` WQEs under way at most.

    ``wait(index)``: whether all WQEs below ``index`` (first one: ``start``) are done, by the counter in the slot.
    """

    def __init__(self, base: int, depth: int) -> None:
        self.base, self.depth = base, depth

    def done(self, look: Look, index: int) -> bool:
        """NVSHMEM: (index - counter - 2) modulo 2^16 at or beyond the depth."""
        counter = int.from_bytes(look(self.base)[60:62], "big")
        return (index - counter - 2) & M16 >= self.depth
