# SPDX-License-Identifier: Apache-2.0
"""Where every nanosecond goes: the stages of a message from A to B, measured by stage stamps, beside the model's.

A path is a chain of boundaries (stamps); a segment lies between two neighbours. A segment is RTL, a constant
of the model that was measured between two stamps, or RTL with constants inside (memory reads), which
are listed apart. Budgets are ``budget.*`` of spec/fabric.toml.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.link import cable_cycles, phy_cycles
from models.spec import spec
from tb.fabric.experiment import Experiment, Topology

# (switch, port in, port out) on the way from A to B
HOPS = {
    Topology.DIRECT: (),
    Topology.ONE_HOP: (("leaf0", 0, 1),),
    Topology.THREE_HOPS: (("leaf0", 0, 7), ("spine", 0, 1), ("leaf1", 7, 0)),
}
VISIBLE = "visible"  # boundary that is no stamp: the payload's last beat in the peer's memory
START = "nic_a.uar"

Stamps = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Constant:
    """Part of a segment that the environment takes: cycles from spec, with the mark of its figure."""

    name: str
    cycles: int
    mark: str


@dataclass(frozen=True)
class Segment:
    """From the boundary before to ``end``. ``budget``: cycles; ``constants``: inside it; ``constant``: nothing else."""

    name: str
    end: str
    budget: float
    constants: tuple[Constant, ...] = ()
    constant: bool = False
    mark: str = "D"


def _figure(name: str) -> tuple[int, str]:
    return spec().cycles(name), spec().constant(name).mark


def segments(exp: Experiment, fetched: bool) -> list[Segment]:
    """Segments from the store's acceptance at A's port to the payload's being visible at B."""
    s = spec()
    phy_tx, phy_rx = phy_cycles(exp.fec)
    wire = cable_cycles(s.value("cable.length_m"))
    rtt, rtt_mark = _figure(f"host.{exp.host}.read_rtt")
    oneway, oneway_mark = _figure(f"host.{exp.host}.oneway")
    visible, visible_mark = _figure(f"host.{exp.host}.visible")
    budget = {n: s.value(c.name) for n, c in s.section("budget").items()}

    def read(what: str) -> tuple[Constant, ...]:
        return (Constant(what, rtt, rtt_mark),) if fetched else ()

    def fixed(name: str, end: str, cycles: float) -> Segment:
        return Segment(name, end, cycles, constant=True, mark="A")

    out = [
        Segment("NIC: doorbell, decode", "nic_a.wr", budget["nic_doorbell"], read("memory: WQE and record read")),
        Segment("NIC: RDMA, packet", "nic_a.pkt_tx", budget["nic_rdma_tx"], read("memory: payload read")),
        Segment("NIC: headers, CRCs", "nic_a.link.core_tx", budget["nic_wire_tx"]),
        Segment("NIC: credits, pace", "nic_a.link.mac_tx", budget["nic_link_tx"]),
        fixed("Tx PHY", "nic_a.link.phy_tx", budget["phy_tx"]),
    ]
    for k, (switch, port_in, port_out) in enumerate(HOPS[exp.topology], 1):
        near, far = f"{switch}.p{port_in}", f"{switch}.p{port_out}"
        out += [
            fixed("cable", f"{near}.phy_rx", wire),
            fixed(f"hop {k}: Rx PHY", f"{near}.mac_rx", phy_rx),
            Segment(f"hop {k}: MAC receive", f"{near}.core_rx", budget["hop_mac_rx"]),
            Segment(f"hop {k}: parse, lookup", f"{switch}.voq{port_in}", budget["hop_lookup"]),
            Segment(f"hop {k}: VOQ, allocator, crossbar", f"{far}.core_tx", budget["hop_voq"]),
            Segment(f"hop {k}: egress", f"{far}.mac_tx", budget["hop_egress"]),
            fixed(f"hop {k}: Tx PHY", f"{far}.phy_tx", phy_tx),
        ]
    memory = (Constant("NIC to host, posted", oneway, oneway_mark), Constant("memory visible", visible, visible_mark))
    out += [
        fixed("cable", "nic_b.link.phy_rx", wire),
        fixed("Rx PHY", "nic_b.link.mac_rx", budget["phy_rx"]),
        Segment("NIC: MAC receive", "nic_b.link.core_rx", budget["nic_link_rx"]),
        Segment("NIC: CRCs, parse", "nic_b.pkt_rx", budget["nic_wire_rx"]),
        Segment("NIC: checks, DMA write", "nic_b.w", budget["nic_rdma_rx"]),
        Segment("memory", VISIBLE, oneway + visible, memory, constant=True),
    ]
    return out


def walk(stamps: Stamps, path: Sequence[Segment], visible: Mapping[int, int], after: int = 0) -> dict[str, int]:
    """Cycle of each boundary for the first message after ``after``: each is the first stamp at or after the one before.

    ``visible``: for the cycle of a W transfer, the cycle at which it shows. Raises LookupError naming a
    boundary without a stamp.
    """

    def first(name: str, at: int) -> int:
        events = stamps.get(name, ())
        i = bisect_left(events, at)
        if i == len(events):
            raise LookupError(f"no stamp {name} at or after cycle {at}")
        return events[i]

    at = first(START, after)
    cycles = {START: at}
    for segment in path:
        at = visible[at] if segment.end == VISIBLE else first(segment.end, at)
        cycles[segment.end] = at
    return cycles


def stages(
    exp: Experiment, path: Sequence[Segment], rtl: Mapping[str, int], model: Mapping[str, int], period: float
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of the waterfall; fields as in the report. Host rows ahead of the NIC's port are constants only."""
    rows: list[dict[str, Any]] = []

    def row(name: str, cycles: int, modelled: int, budget: float, kind: str, mark: str) -> None:
        rows.append({
            "path": exp.name, "name": name, "cycles": cycles, "ns": cycles * period, "budget_ns": budget * period,
            "model_cycles": modelled, "kind": kind, "mark": mark,
        })  # fmt: skip

    for name, figure in (("store leaves the core", "store"), ("host to NIC, posted", "oneway")):
        cycles, mark = _figure(f"host.{exp.host}.{figure}")
        row(name, cycles, cycles, cycles, "constant", mark)
    before = START
    for segment in path:
        cycles, modelled = rtl[segment.end] - rtl[before], model[segment.end] - model[before]
        inside = sum(c.cycles for c in segment.constants)
        if segment.constants and segment.constant:
            # constants only: what is measured beyond them shows in the last
            for i, c in enumerate(segment.constants):
                last = i == len(segment.constants) - 1
                rest, rest_model = (cycles - inside, modelled - inside) if last else (0, 0)
                row(c.name, c.cycles + rest, c.cycles + rest_model, c.cycles, "constant", c.mark)
        else:
            kind = "constant" if segment.constant else "rtl"
            row(segment.name, cycles - inside, modelled - inside, segment.budget, kind, segment.mark)
            for c in segment.constants:
                row(c.name, c.cycles, c.cycles, c.cycles, "constant", c.mark)
        before = segment.end
    return rows


def hop_cycles(exp: Experiment, at: Mapping[str, int]) -> list[int]:
    """Port to port of each switch: cable in to cable out, PHYs included."""
    return [at[f"{s}.p{o}.phy_tx"] - at[f"{s}.p{i}.phy_rx"] for s, i, o in HOPS[exp.topology]]
