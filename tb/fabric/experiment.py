# SPDX-License-Identifier: Apache-2.0
"""An experiment on the fabric: who sends what to whom over which path, and the files that make it so.

The host posts a message as software does: WQE into the ring, doorbell record, then the store into the UAR
page, each visible before the next. What memory must hold afterwards follows from the messages alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from models import wqe
from models.fec import code, thresholds
from models.link import cable_cycles, default_cfg
from models.link_config import LinkConfig, agree
from models.memory import LINE, MemoryTiming, Poke, WindowTiming
from models.phy_errors import PhyErrors
from models.protocol import WQE, DoorbellCfg, LinkCfg, Mr, RdmaCfg, WireCfg
from models.spec import spec
from tb.common.axi import Store, poke_file, store_file, timing_file
from tb.common.beats import Frame
from tb.common.uvm import PhaseItem
from tb.fabric import layout
from tb.fabric.layout import RECORD, Place, Side
from tb.phy_errors.config import errors_thr

PAGE_HALF = (0x800, 0x900)
SETTLE = 4  # cycles from a WQE's or a record's being visible to the next step of the software


class Topology(IntEnum):
    """Value of ``cfg_topology``; ``hops`` switches lie between the NICs."""

    DIRECT = 0
    ONE_HOP = 1
    THREE_HOPS = 2

    @property
    def hops(self) -> int:
        """Switches on the path."""
        return (0, 1, 3)[self]


@dataclass(frozen=True)
class Message:
    """One work request: ``payload`` inline or from ``source`` (offset in ``place``), to ``target`` at the peer.

    ``at``: cycle of the store into the UAR page, at the NIC port. ``blueflame``: the store carries the WQE.
    ``ring_bell`` False: the WQE waits for a later message's doorbell.
    """

    payload: bytes
    target: int = 0
    op: int = WQE.WRITE
    at: int = 1000
    source: int = 0
    place: Place = Place.HOST
    target_place: Place = Place.HOST
    inline: bool = False
    blueflame: bool = False
    ring_bell: bool = True
    signaled: bool = True
    imm: int = 0


@dataclass
class Experiment:
    """Messages of both NICs over one path. ``host``, ``fec``: sections of spec; ``pmtu``: code 1..5.

    ``disguised``: B's wire has the other format. ``astray``: port, or None for no entry, that the table of a switch
    (0 leaf 0, 1 spine, 2 leaf 1) has for end ``a`` or ``b`` in place of the right one. With either, no frame arrives:
    an end that sends must not have a way. ``converge``: leaf 0 sends what is meant for either end to B, which drops
    its own: both send to one port at once, A's messages arrive there, and no answer does. ``ratio``: bit error ratio of
    every cable (a build with ERRORS), ``seed`` of the errors. ``cells``: sixteens of cells that each end of a link
    grants; 0: what the specification says.
    """

    name: str
    topology: Topology = Topology.THREE_HOPS
    host: str = "pcie"
    roce: bool = False
    fec: str = "llfec"
    pmtu: int = 5
    a: Side = layout.A
    b: Side = layout.B
    from_a: list[Message] = field(default_factory=list)
    from_b: list[Message] = field(default_factory=list)
    max_cycles: int = 400_000
    disguised: bool = False
    astray: Mapping[tuple[int, str], int | None] = field(default_factory=dict)
    converge: bool = False
    ratio: float = 0.0
    seed: int = 1
    cells: int = 0

    @property
    def lost(self) -> bool:
        """Nothing that is sent arrives."""
        return self.disguised or bool(self.astray)

    def roce_at(self, end: str) -> bool:
        """Format of an end's wire."""
        return self.roce ^ (self.disguised and end == "b")

    def sides(self) -> tuple[tuple[str, Side, Side, list[Message], list[Message]], ...]:
        """(suffix, side, peer, its messages, the peer's messages) of both NICs."""
        return (
            ("a", self.a, self.b, self.from_a, self.from_b),
            ("b", self.b, self.a, self.from_b, self.from_a),
        )


NET_WIDTH = 2 + 8 + 1 + 22 + LinkCfg.width()
QP_WIDTH = (
    DoorbellCfg.width() + RdmaCfg.width() + 4 * Mr.width() + WireCfg.width()
)  # fmt: skip
TABLE_SIDE = 3 + 10 + 1 + 3


def memory_timing(host: str) -> MemoryTiming:
    """Delays of both windows as the NIC's port sees them, from ``host.<host>``."""
    s, h = spec(), f"host.{host}"
    oneway = s.cycles(f"{h}.oneway")

    def window(prefix: str) -> WindowTiming:
        visible = oneway + s.cycles(f"{h}.{prefix}visible")
        return WindowTiming(visible, visible + oneway, s.cycles(f"{h}.{prefix}read_rtt"))

    return MemoryTiming(window(""), window("gpu_"))


def prefix(exp: Experiment) -> int:
    """Upper 22 bits of every destination; natively the upper 6 of the LID."""
    return (exp.a.ipv4 if exp.roce else exp.a.lid) >> 10


def table(exp: Experiment) -> list[tuple[int, int, int]]:
    """Forwarding entries (switch, destination, port): leaf 0, spine, leaf 1."""
    ports: dict[tuple[int, str], int | None] = {(0, "a"): 0, (0, "b"): 1}
    if exp.topology is not Topology.ONE_HOP:
        ports |= {(0, "b"): 7, (1, "a"): 0, (1, "b"): 1, (2, "a"): 7, (2, "b"): 0}
    if exp.converge:
        ports[0, "a"] = 1
    to = {end: side.ipv4 if exp.roce else side.lid for end, side in (("a", exp.a), ("b", exp.b))}
    return [(switch, to[end], port) for (switch, end), port in (ports | dict(exp.astray)).items() if port is not None]


def link_cfg(exp: Experiment) -> LinkCfg:
    """Configuration of every cable end."""
    fields = {"cells": exp.cells} if exp.cells else {}
    return default_cfg(roce=int(exp.roce), kp4=int(exp.fec == "kp4"), **fields)


def net_cfg(exp: Experiment) -> int:
    """Word of ``net.cfg``: topology, cable, format, prefix, link. ValueError for a link that its cable breaks."""
    link, cable = link_cfg(exp), cable_cycles(spec().value("cable.length_m"))
    agree((LinkConfig(cfg=link), LinkConfig(cfg=link)), cable)
    word = int(exp.topology)
    for value, width in (
        (cable, 8), (int(exp.roce), 1), (prefix(exp), 22),
        (link.pack(), LinkCfg.width()),
    ):  # fmt: skip
        word = word << width | value
    return word


def qp_cfg(exp: Experiment, end: str, me: Side, peer: Side) -> int:
    """Word of ``qp_<end>.cfg``: doorbell, rdma, regions, wire."""
    word = layout.doorbell_cfg(me).pack()
    for value, width in (
        (layout.rdma_cfg(me, peer, roce=exp.roce, pmtu=exp.pmtu).pack(), RdmaCfg.width()),
        (layout.pack_regions(layout.regions()), 4 * Mr.width()),
        (layout.wire_cfg(me, peer, roce=exp.roce_at(end)).pack(), WireCfg.width()),
    ):
        word = word << width | value
    return word


def line_pokes(cycle: int, addr: int, data: bytes) -> list[Poke]:
    """Writes of ``data`` at ``addr``, a line each, visible at ``cycle``."""
    out = []
    for at in range(addr & ~(LINE - 1), addr + len(data), LINE):
        lo, hi = max(at, addr), min(at + LINE, addr + len(data))
        strobes = ((1 << hi - lo) - 1) << lo - at
        out.append(Poke(cycle, at, strobes, (bytes(lo - at) + data[lo - addr : hi - addr]).ljust(LINE, b"\0")))
    return out


@dataclass
class Stimulus:
    """What one host does: memory image, later writes, stores into the UAR page."""

    image: dict[int, bytes]
    pokes: list[Poke]
    stores: list[Store]


def receives(messages: Iterable[Message]) -> list[Message]:
    """Messages that take a receive WQE, in order."""
    return [m for m in messages if m.op in (WQE.SEND, WQE.SEND_IMM, WQE.WRITE_IMM)]


def stimulus(me: Side, messages: list[Message], incoming: list[Message], record: int = RECORD) -> Stimulus:
    """Memory and stores of ``me``, which posts ``messages`` and receives ``incoming``."""
    image: dict[int, bytes] = {}
    for m in messages:
        if not m.inline and m.payload:
            image[m.place.base + m.source] = m.payload
    # receive WQEs: one data segment each, aimed where the message's sender expects its data
    index = me.recv_index
    for m in receives(incoming):
        slot = index % (1 << me.recv_log)
        room = max(1, len(m.payload))
        image[layout.RECV_RING + 16 * slot] = wqe.pointer(
            room, m.target_place.key, m.target_place.base + m.target
        )  # fmt: skip
        index += 1
    receive_count = index & 0xFFFF
    image[record] = wqe.record(me.send_index, receive_count)
    pokes: list[Poke] = []
    stores: list[Store] = []
    at_index, half = me.send_index, 0
    for m in messages:
        common: dict[str, Any] = {"signaled": m.signaled, "imm": m.imm}
        if m.op in wqe.WRITES:
            common |= {"raddr": m.target_place.base + m.target, "rkey": m.target_place.key}
        if m.inline:
            entry = wqe.build(m.op, at_index, me.qpn, inline=m.payload, **common)
        else:
            entry = wqe.build(
                m.op, at_index, me.qpn, length=len(m.payload), laddr=m.place.base + m.source, lkey=m.place.key, **common
            )
        blocks = len(entry) // wqe.BLOCK
        for i in range(blocks):
            slot = (at_index + i) % (1 << me.send_log)
            block = entry[i * wqe.BLOCK : (i + 1) * wqe.BLOCK]
            pokes += line_pokes(m.at - 2 * SETTLE, me.ring + slot * wqe.BLOCK, block)
        at_index = (at_index + blocks) & 0xFFFF
        if not m.ring_bell:
            continue
        pokes += line_pokes(m.at - SETTLE, record, wqe.record(at_index, receive_count))
        if m.blueflame:
            stores.append(Store(PAGE_HALF[half], entry, m.at))
        elif me.gpu_ring:
            stores.append(Store(PAGE_HALF[0], wqe.gpu_doorbell(at_index, me.qpn), m.at))
            continue  # IBGDA does not alternate
        else:
            stores.append(Store(PAGE_HALF[half], wqe.doorbell(entry), m.at))
        half = 1 - half
    return Stimulus(image, pokes, stores)


def phase_item(exp: Experiment) -> PhaseItem:
    """All files of the experiment."""
    item = PhaseItem(exp.name)
    item.cfg = {"net": net_cfg(exp)}
    thr = thresholds(code(exp.fec), exp.ratio) if exp.ratio else ()
    item.cfg |= {"err": exp.seed << 1 | (exp.ratio > 0), "thr": errors_thr(PhyErrors(thr=thr))}
    item.info = {"experiment": exp}
    item.max_cycles = exp.max_cycles
    item.quiet = 2000  # longer than a frame is out of sight: three hops of PHYs and cables, stored whole (RoCE)
    if exp.ratio:  # or waits for the link's time-out, twice if the replay is damaged too
        item.quiet += 2 * spec().integer("link.replay_timeout")
    entries: list[Frame] = []
    for switch, dest, port in table(exp):
        side = (1 << switch) << 14 | (dest & 0x3FF) << 4 | 1 << 3 | port
        entries.append(Frame(b"\0", 1 + len(entries), side))
    item.plays = {"tbl": entries}
    for suffix, me, peer, messages, incoming in exp.sides():
        item.cfg[f"qp_{suffix}"] = qp_cfg(exp, suffix, me, peer)
        s = stimulus(me, messages, incoming)
        item.images[f"mem_{suffix}"] = s.image
        item.info[suffix] = s
        item.files |= timing_file(f"mem_{suffix}", memory_timing(exp.host))
        item.files |= poke_file(f"mem_{suffix}", s.pokes)
        item.files |= store_file(f"store_{suffix}", s.stores)
    return item


def expected_memory(messages: Iterable[Message]) -> dict[int, bytes]:
    """``{address: bytes}`` that the receiver's memory must hold after ``messages``, later ones on top."""
    out: dict[int, bytes] = {}
    for m in messages:
        if m.payload:
            out[m.target_place.base + m.target] = m.payload
    return out
