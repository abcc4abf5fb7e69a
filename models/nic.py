# SPDX-License-Identifier: Apache-2.0
"""Golden model of the NIC: the models of its blocks, joined as docs/architecture.md says, and its memory.

Nothing is added but the merging of the two read masters (one cycle, round robin) and the wiring. Stage
stamps have the names of the RTL's (``nic``'s and ``link_taps``').
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.doorbell import Doorbell, Read, Response
from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link
from models.memory import Memory, MemoryTiming, Poke, ReadBeat, Windows
from models.protocol import DoorbellCfg, LinkCfg, Mr, RdmaCfg, WireCfg
from models.rdma import Rdma
from models.rdma_parts import Write, WriteBeat
from models.spec import spec
from models.stamps import Stamps
from models.wire import WireRx, WireTx


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
    """Configuration and surroundings of a NIC: bundles as the RTL gets them, its memory and who else writes it.

    ``place``: what stands between port and memory: the address that the memory sees. ``ready``: the memory's ready
    signals by channel (``ar aw w``), cycle to bool; always, where none is given.
    """

    doorbell: DoorbellCfg
    rdma: RdmaCfg
    regions: list[Mr]
    wire: WireCfg
    timing: MemoryTiming
    windows: Windows
    image: Mapping[int, bytes] = field(default_factory=dict)
    pokes: Iterable[Poke] = ()
    place: Callable[[int], int] = int
    ready: Mapping[str, Callable[[int], bool]] = field(default_factory=dict)


class Nic:
    """One NIC with its memory. Stores go in through ``doorbell``; ``link``, configured by the argument of that name,
    is to be connected to a cable.

    ``responses``: (cycle, BRESP) of the UAR page.
    """

    def __init__(
        self, kernel: Kernel, name: str, config: NicConfig, *, link: LinkCfg, stamps: Stamps | None = None
    ) -> None:
        self.stamps = stamps or Stamps()
        self.doorbell = Doorbell(kernel, f"{name}.doorbell", config.doorbell)
        self.rdma = Rdma(kernel, f"{name}.rdma", config.rdma, config.regions)
        self.wire_tx = WireTx(kernel, f"{name}.wire_tx", config.wire)
        self.link = Link(kernel, f"{name}.link", cfg=link)
        self.wire_rx = WireRx(kernel, f"{name}.wire_rx", config.wire, self.link.free)
        self.memory = Memory(kernel, f"{name}.memory", config.timing, config.windows, config.image, config.pokes)
        self.responses: list[tuple[int, int]] = []
        self._name = name
        self._join(kernel, config.place, config.ready)

    def _join(self, kernel: Kernel, place: Callable[[int], int], ready: Mapping[str, Callable[[int], bool]]) -> None:
        name, memory, rdma, stamp = self._name, self.memory, self.rdma, self.stamps
        tx_first, rx_first = stamp.first(f"{name}.pkt_tx"), stamp.first(f"{name}.pkt_rx")
        w_first = stamp.first(f"{name}.w")

        def uar_response(now: int, response: Response) -> None:
            self.responses.append((now, response.resp))

        def work(now: int, beat: Beat) -> None:
            if beat.last:
                stamp.add(f"{name}.wr", now)
            rdma.wr(now, beat)

        def packet_out(now: int, beat: Beat) -> None:
            tx_first(now, beat.last)
            self.wire_tx.accept(now, beat)

        def packet_in(now: int, beat: Beat) -> None:
            rx_first(now, beat.last)
            rdma.pkt(now, beat)

        def write(now: int, beat: WriteBeat) -> None:
            w_first(now, beat.last)
            memory.w(now, beat.data, beat.strb, beat.last)

        def read_data(now: int, beat: ReadBeat) -> None:
            if beat.id == 0:
                self.doorbell.r(now, beat.data, beat.resp)
            else:
                rdma.r(now, beat)

        Pump(kernel, f"{name}.uar_b", self.doorbell.b, uar_response)
        Pump(kernel, f"{name}.wr", self.doorbell.wr, work, rdma.wr_ready)
        Pump(kernel, f"{name}.pkt_tx", rdma.m_pkt, packet_out, self.wire_tx.ready)
        self.link.attach(self.wire_tx.out)
        Pump(kernel, f"{name}.frame_rx", self.link.rx, self.wire_rx.accept)
        Pump(kernel, f"{name}.pkt_rx", self.wire_rx.out, packet_in, rdma.pkt_ready)
        merge = ReadMerge(kernel, f"{name}.merge", self.doorbell.ar, rdma.ar)

        def read_address(now: int, a: Read) -> None:
            memory.ar(now, a.id, place(a.addr), a.beats)

        def write_address(now: int, a: Write) -> None:
            memory.aw(now, a.id, place(a.addr), a.beats)

        Pump(kernel, f"{name}.ar", merge.out, read_address, ready.get("ar"))
        Pump(kernel, f"{name}.aw", rdma.aw, write_address, ready.get("aw"))
        Pump(kernel, f"{name}.w", rdma.w, write, ready.get("w"))
        Pump(kernel, f"{name}.b", memory.b, rdma.b)
        Pump(kernel, f"{name}.r", memory.r, read_data)

    # The UAR page as a target of stores.

    def aw_ready(self, now: int) -> bool:
        """``s_uar_awready`` at ``now``."""
        return self.doorbell.aw_ready(now)

    def w_ready(self, now: int) -> bool:
        """``s_uar_wready`` at ``now``."""
        return self.doorbell.w_ready(now)

    def aw(self, now: int, ident: int, addr: int, beats: int) -> None:
        """AW transfer on the UAR page."""
        self.doorbell.aw(now, ident, addr & 0xFFF, beats)

    def w(self, now: int, data: bytes, strb: int, last: bool) -> None:
        """W transfer on the UAR page."""
        if last:
            self.stamps.add(f"{self._name}.uar", now)
        self.doorbell.w(now, data, strb, last)
