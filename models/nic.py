# SPDX-License-Identifier: Apache-2.0
"""Golden model of the NIC: the models of its blocks, joined as docs/architecture.md says, and its memory.

Nothing is added but the merging of the two read masters (one cycle, round robin) and the wiring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.doorbell import Doorbell, Read
from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link
from models.memory import Memory
from models.spec import spec


class ReadMerge(Component):
    """Two FIFOs of reads into one, round robin; ``out`` is what the memory port shows."""

    def __init__(self, kernel: Kernel, name: str, first: Fifo[Read], second: Fifo[Read]) -> None:
        super().__init__(kernel, name)
        self._sources = (first, second)
        first.consumer = second.consumer = self
        self._depth = spec().integer("latency.nic.read_merge_depth")
        self.out: Fifo[Read] = Fifo(spec().cycles("latency.nic.read_merge"), self._depth, f"{name}.out")
        self.out.producer = self
        self._next = 0

    def tick(self, now: int) -> None:
        if self.out.reserved(now) >= self._depth:
            return
        for which in (self._next, 1 - self._next):
            if self._sources[which].head(now) is not None:
                self.out.push(now, self._sources[which].pop(now))
                self._next = 1 - which
                self.wake(now + 1)
                return


class Pump(Component):
    """Takes an item from ``fifo`` in each cycle in which ``ready(now)``, and gives it to ``put(now, item)``."""

    def __init__(
        self, kernel: Kernel, name: str, fifo: Fifo[Any], put: Callable[[int, Any], None],
        ready: Callable[[int], bool] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        self._fifo, self._put, self._ready = fifo, put, ready
        fifo.consumer = self

    def tick(self, now: int) -> None:
        if self._fifo.head(now) is None:
            return
        if self._ready is None or self._ready(now):
            self._put(now, self._fifo.pop(now))
        else:
            self.wake(now + 1)


@dataclass
class NicConfig:
    """Configuration and surroundings of a NIC: bundles as the RTL gets them, memory and what else writes it."""

    doorbell: DoorbellCfg
    rdma: RdmaCfg
    regions: list[Mr]
    wire: WireCfg
    timing: MemoryTiming
    windows: Windows
    image: Mapping[int, bytes] = field(default_factory=dict)
    pokes: Iterable[Poke] = ()


class Nic:
    """One NIC with its memory. Stores go in through ``doorbell``; ``link`` is to be connected to a cable."""

    def __init__(
        self, kernel: Kernel, name: str, config: NicConfig, *, phy_tx: int, phy_rx: int, stamps: Stamps | None = None
    ) -> None:  # fmt: skip
        self.name = name
        roce = bool(config.wire.roce)
        self.doorbell = Doorbell(kernel, f"{name}.doorbell", config.doorbell)
        self.rdma = Rdma(kernel, f"{name}.rdma", config.rdma, config.regions)
        self.wire_tx = WireTx(kernel, f"{name}.wire_tx", config.wire)
        self.wire_rx = WireRx(kernel, f"{name}.wire_rx", config.wire)
        self.link = Link(kernel, f"{name}.link", roce=roce, phy_tx=phy_tx, phy_rx=phy_rx)
        self.memory = Memory(kernel, f"{name}.memory", config.timing, config.windows, config.image, config.pokes)
        self.merge = ReadMerge(kernel, f"{name}.merge", self.doorbell.ar, self.rdma.ar)
        self.responses: list[tuple[int, int]] = []  # (cycle, BRESP) of the UAR page
