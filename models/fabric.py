# SPDX-License-Identifier: Apache-2.0
"""Golden model of the fabric: two NICs with their memories, three switches and cables, from stimulus alone.

It has every loop of the design: credits, acknowledgements, memory answers. Stage stamps have the names
of the RTL's (``tb/fabric/waterfall.py`` walks both).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link, connect
from models.nic import Nic, NicConfig
from models.switch import Switch

LEAF_UP = 7
PORTS = 8
DIRECT, ONE_HOP, THREE_HOPS = 0, 1, 2


@dataclass(frozen=True)
class Net:
    """``topology`` as ``cfg_topology``; cycles of cables and PHY sides; format; prefix of the destinations."""

    topology: int
    cable: int
    phy_tx: int
    phy_rx: int
    roce: bool
    prefix: int


class Stamps:
    """Cycles of events by stamp name."""

    def __init__(self) -> None:
        self.cycles: dict[str, list[int]] = {}

    def add(self, name: str, cycle: int) -> None:
        """One event."""
        self.cycles.setdefault(name, []).append(cycle)

    def firsts(self, name: str) -> Callable[[int, Beat], None]:
        """A FIFO's ``on_pop`` that stamps the first beat of each frame or packet."""
        inside = False

        def popped(cycle: int, beat: Beat) -> None:
            nonlocal inside
            if not inside:
                self.add(name, cycle)
            inside = not beat.last

        return popped


def stamp_link(stamps: Stamps, name: str, link: Link, cable: int, far: str, far_link: Link) -> None:
    """Stamps of one direction of a cable: ``link`` sends, ``far_link`` receives."""
    link.tx.trace = True
    inside = False
    for cycle, beat in link.tx.sent_beats:
        if not inside:
            mac = cycle + link.tx.f.tx_out
            stamps.add(f"{name}.mac_tx", mac)
            stamps.add(f"{name}.phy_tx", mac + link.phy_tx)
            stamps.add(f"{far}.phy_rx", mac + link.phy_tx + cable)
            stamps.add(f"{far}.mac_rx", mac + link.phy_tx + cable + far_link.phy_rx)
            stamps.add(f"{far}.core_rx", mac + link.phy_tx + cable + far_link.phy_rx + far_link.tx.f.rx)
        inside = not beat.last
    inside = False
    for cycle, beat in link.tx.accepted:
        if not inside:
            stamps.add(f"{name}.core_tx", cycle)
        inside = not beat.last


class Fabric:
    """The whole model. ``nics`` 0 = A, 1 = B; ``table``: (switch, destination, port) entries."""

    def __init__(self, net: Net, nics: tuple[NicConfig, NicConfig], table: Iterable[tuple[int, int, int]]) -> None:
        self.net = net
        self.kernel = Kernel()
        self.stamps = Stamps()
        self.nics = [
            Nic(self.kernel, name, config, roce=net.roce, phy_tx=net.phy_tx, phy_rx=net.phy_rx, stamps=self.stamps)
            for name, config in zip(("nic_a", "nic_b"), nics, strict=True)
        ]
        self.switches = [
            Switch(self.kernel, name, ports=PORTS, roce=net.roce, prefix=net.prefix)
            for name in ("leaf0", "spine", "leaf1")
        ]
        for switch in self.switches:
            switch.trace = True
        for which, destination, port in table:
            self.switches[which].route(destination, port)
        self._cables: list[tuple[str, Link, str, Link]] = []
        ports = {n: (f"{name}.link", self.nics[n].link) for n, name in ((0, "nic_a"), (1, "nic_b"))}
        if net.topology == DIRECT:
            self._join(ports[0], ports[1])
        elif net.topology == ONE_HOP:
            self._join(ports[0], self._port(0, 0))
            self._join(ports[1], self._port(0, 1))
        else:
            self._join(ports[0], self._port(0, 0))
            self._join(ports[1], self._port(2, 0))
            self._join(self._port(0, LEAF_UP), self._port(1, 0))
            self._join(self._port(2, LEAF_UP), self._port(1, 1))

    def _port(self, which: int, port: int) -> tuple[str, Link]:
        """A link at a switch's port."""
        switch, name = self.switches[which], f"{('leaf0', 'spine', 'leaf1')[which]}.p{port}"
        link = Link(self.kernel, name, roce=self.net.roce, phy_tx=self.net.phy_tx, phy_rx=self.net.phy_rx)
        link.attach(switch.out[port])
        switch.attach(port, link.rx)
        switch.freed[port] = link.free
        return name, link

    def _join(self, a: tuple[str, Link], b: tuple[str, Link]) -> None:
        for _, link in (a, b):
            link.tx.trace = True
        connect(a[1], b[1], self.net.cable)
        self._cables += [(*a, *b), (*b, *a)]

    def run(self, limit: int) -> Mapping[str, list[int]]:
        """To the end, or :class:`models.kernel.Stuck` at ``limit``; returns the stamps."""
        self.kernel.run(limit)
        for name, link, far, far_link in self._cables:
            stamp_link(self.stamps, name, link, self.net.cable, far, far_link)
        for name, switch in zip(("leaf0", "spine", "leaf1"), self.switches, strict=True):
            for cycle, port in switch.stored_log:
                self.stamps.add(f"{name}.voq{port}", cycle)
        return self.stamps.cycles

    def cable_beats(self, n: int) -> list[tuple[int, Beat]]:
        """What NIC ``n`` put on its cable, at the cycle of the cable side."""
        link = self.nics[n].link
        return [(cycle + link.tx_latency, beat) for cycle, beat in link.tx.sent_beats]
