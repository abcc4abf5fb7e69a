# SPDX-License-Identifier: Apache-2.0
"""Golden model of the fabric: two NICs with their memories, three switches and cables, from stimulus alone.

It has every loop of the design: credits, acknowledgements, memory answers. Stage stamps have the names
of the RTL's (``tb/fabric/waterfall.py`` walks both).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from models.kernel import Beat, Kernel
from models.link import Link, connect
from models.nic import Nic, NicConfig, Pump
from models.protocol import LinkCfg
from models.spec import spec
from models.stamps import Stamps
from models.switch import Switch

LEAF_UP = 7
PORTS = 8
DIRECT, ONE_HOP, THREE_HOPS = 0, 1, 2
SWITCHES = ("leaf0", "spine", "leaf1")
USED = ((0, 1, LEAF_UP), (0, 1), (0, LEAF_UP))  # ports with a link, by switch


@dataclass(frozen=True)
class Net:
    """``topology`` as ``cfg_topology``; cycles of a cable; configuration of every cable end (the switches' wait for
    nothing, whatever it says); format; prefix of the destinations."""

    topology: int
    cable: int
    link: LinkCfg
    roce: bool
    prefix: int


def stamp_cable(stamps: Stamps, name: str, link: Link, cable: int, far: str, far_link: Link) -> None:
    """Stamps of one direction of a cable after a run: ``link`` sends, ``far_link`` receives. Pause frames count where
    rtl/link/link_taps.sv sees them: everywhere but at the cores."""
    core_tx, core_rx = stamps.first(f"{name}.core_tx"), stamps.first(f"{far}.core_rx")
    for cycle, beat in link.accepted:
        core_tx(cycle, beat.last)
    for cycle, last in far_link.core_rx:
        core_rx(cycle, last)
    for place, late in (
        (f"{name}.mac_tx", 0), (f"{name}.phy_tx", link.config.cfg.phy_tx),
        (f"{far}.phy_rx", link.config.cfg.phy_tx + cable),
    ):  # fmt: skip
        first = stamps.first(place)
        for cycle, last in link.mac_tx:
            first(cycle + late, last)
    mac_rx = stamps.first(f"{far}.mac_rx")
    for cycle, last in far_link.mac_rx:
        mac_rx(cycle, last)


def _lost(switch: Switch, port: int, roce: bool) -> Callable[[int, Beat], None]:
    """Where frames go at a port without a link; their cells come free at once."""

    def lose(now: int, _beat: Beat) -> None:
        if not roce:
            switch.credit(now, port, 1)

    return lose


def _noted(log: list[tuple[int, int]]) -> Callable[[int, int], None]:
    """What appends (cycle, lanes) to ``log``."""

    def note(cycle: int, lanes: int) -> None:
        log.append((cycle, lanes))

    return note


class Fabric:
    """The whole model. ``nics`` 0 = A, 1 = B; ``table``: (switch, destination, port) entries.

    A port without a link loses what is routed there. A frame to a port whose link has no cable in the topology is
    not modelled: that link would send until its credits end.
    """

    def __init__(self, net: Net, nics: tuple[NicConfig, NicConfig], table: Iterable[tuple[int, int, int]]) -> None:
        self.net = net
        self.kernel = Kernel()
        self.stamps = Stamps()
        self.nics = [
            Nic(self.kernel, name, config, link=net.link, stamps=self.stamps)
            for name, config in zip(("nic_a", "nic_b"), nics, strict=True)
        ]
        s = spec()
        pause = (s.integer("profile.roce.xoff"), s.integer("profile.roce.xon"))
        self.switches = [
            Switch(
                self.kernel, name, ports=PORTS, roce=net.roce, prefix=net.prefix, cells=s.integer("link.port_cells"),
                pause=pause if net.roce else None, credits=None if net.roce else 16 * net.link.cells,
            )
            for name in SWITCHES
        ]  # fmt: skip
        for switch in self.switches:
            switch.trace = True
        for which, destination, port in table:
            self.switches[which].route(destination, port)
        self.pausing: list[list[tuple[int, int]]] = [[(0, 0)], [(0, 0)]]
        """(cycle, whether its sending is paused) of each NIC's link, from (0, 0) on."""
        for nic, log in zip(self.nics, self.pausing, strict=True):
            nic.link.on_pause = _noted(log)
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
        for name, switch, used in zip(SWITCHES, self.switches, USED, strict=True):
            for port in set(range(PORTS)) - set(used):
                Pump(self.kernel, f"{name}.p{port}", switch.out[port], _lost(switch, port, net.roce))

    def _port(self, which: int, port: int) -> tuple[str, Link]:
        """A link at a switch's port."""
        switch, name = self.switches[which], f"{SWITCHES[which]}.p{port}"
        link = Link(self.kernel, name, cfg=replace(self.net.link, gate=0))
        link.attach(switch.out[port])
        switch.attach(port, link.rx)
        switch.freed[port] = link.free
        switch.paused[port] = link.pause
        link.on_credit = lambda cycle, _lane, cells: switch.credit(cycle, port, cells)
        link.on_pause = lambda cycle, lanes: switch.pause(cycle, port, lanes)
        return name, link

    def _join(self, a: tuple[str, Link], b: tuple[str, Link]) -> None:
        for _, link in (a, b):
            link.trace = True
        connect(a[1], b[1], self.net.cable)
        self._cables += [(*a, *b), (*b, *a)]

    def run(self, limit: int) -> Mapping[str, list[int]]:
        """To the end, or :class:`models.kernel.Stuck` at ``limit``; returns the stamps."""
        self.kernel.run(limit)
        for name, link, far, far_link in self._cables:
            stamp_cable(self.stamps, name, link, self.net.cable, far, far_link)
        for name, switch in zip(SWITCHES, self.switches, strict=True):
            for cycle, port in switch.stored_log:
                self.stamps.add(f"{name}.voq{port}", cycle)
        return self.stamps.cycles

    def unknown_frames(self, which: int) -> list[tuple[int, int]]:
        """(cycle, count) of the frames of unknown destination that a switch's node has counted, from (0, 0) on."""
        late = spec().cycles("latency.fabric.count")
        first, *changes = self.switches[which].unknown_log
        return [first, *((cycle + late, count) for cycle, count in changes)]

    def cable_beats(self, n: int) -> list[tuple[int, Beat]]:
        """What NIC ``n`` put on its cable, at the cycle of the cable side."""
        link = self.nics[n].link
        return [(cycle + link.tx_latency, beat) for cycle, beat in link.sent_beats]
