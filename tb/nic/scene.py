# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the NIC: what its host posts, what the peer puts on the cable, who they are.

Layout, messages and the host's steps are the fabric's (``tb.fabric``); the peer is a script of frames here.
Cycles of frames are the earliest at the peer link's core side; the NIC sees them a link latency later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.link import cable_cycles, default_cfg
from models.memory import MemoryTiming, Poke, WindowTiming
from models.protocol import OP, SYN, WQE, DoorbellCfg, Hdr, LinkCfg, Mr, RdmaCfg, WireCfg
from models.spec import spec
from tb.common.axi import Store, poke_file, store_file, timing_file
from tb.common.beats import Frame
from tb.common.uvm import PhaseItem
from tb.fabric import layout
from tb.fabric.experiment import Message, Stimulus, stimulus
from tb.fabric.layout import Side
from tb.nic import frames

M24 = 0xFFFFFF
SENDS = (WQE.SEND, WQE.SEND_IMM)
WITH_IMM = (WQE.SEND_IMM, WQE.WRITE_IMM)
QUICK = MemoryTiming(WindowTiming(4, 6, 12), WindowTiming(3, 5, 9))


@dataclass
class Expect:
    """What must be seen, model or not; None: not looked at.

    ``answers``: (syndrome, PSN offset, MSN offset) of the acknowledge packets. ``requests``: (opcode, PSN offset).
    ``sends``, ``receives``: (WQE offset, error syndrome or 0). ``error``, ``halted``: state at the end. ``counts``:
    final values of ``good fcs format icrc refused``. ``memory``: bytes by address. ``stores``: BRESP of each store.
    """

    answers: Sequence[tuple[int, int, int]] | None = None
    requests: Sequence[tuple[int, int]] | None = None
    sends: Sequence[tuple[int, int]] | None = None
    receives: Sequence[tuple[int, int]] | None = None
    error: bool = False
    halted: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    memory: dict[int, bytes] = field(default_factory=dict)
    stores: Sequence[int] | None = None


@dataclass
class Scene:
    """One phase. ``far``: where else the GPU window is seen. ``expect`` None: everything must go well.

    ``ready``: patterns of the memory's ready signals by channel (``ar aw w``).
    """

    name: str
    roce: bool = False
    pmtu: int = 3
    me: Side = layout.A
    peer: Side = layout.B
    timing: MemoryTiming = QUICK
    messages: list[Message] = field(default_factory=list)
    incoming: list[Message] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    pokes: list[Poke] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    image: dict[int, bytes] = field(default_factory=dict)
    far: int = 0
    ready: dict[str, Any] = field(default_factory=dict)
    expect: Expect | None = None
    max_cycles: int = 60_000
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.doorbell: DoorbellCfg = layout.doorbell_cfg(self.me)
        self.rdma: RdmaCfg = layout.rdma_cfg(self.me, self.peer, roce=self.roce, pmtu=self.pmtu)
        self.regions: list[Mr] = layout.regions()
        self.wire: WireCfg = layout.wire_cfg(self.me, self.peer, roce=self.roce)
        self.peer_psn = 0  # offset of the peer's next PSN

    @property
    def mtu(self) -> int:
        """Path MTU, bytes."""
        return 128 << self.pmtu

    @property
    def fec(self) -> str:
        """Section of the PHY's delays."""
        return "kp4" if self.roce else "llfec"

    # -- the peer -------------------------------------------------------------------------------

    def header(self, opcode: int, psn: int, **fields: int) -> Hdr:
        """Header of a packet from the peer to the NIC; ``psn`` counts from the first one of its direction."""
        c = self.rdma
        base = c.sq_psn if OP.READ_RESP_FIRST <= opcode <= OP.ATOMIC_ACK else c.rq_psn
        given = {
            "dst": c.src, "src": c.dst, "opcode": int(opcode), "pkey": c.pkey, "dest_qp": c.qpn, "psn": base + psn & M24
        }  # fmt: skip
        return Hdr(**given | fields)

    def packet(self, opcode: int, psn: int, data: bytes = b"", *, cycle: int = 1, **fields: int) -> bytes:
        """A good frame from the peer; returns it."""
        frame = frames.assemble(self.header(opcode, psn, **fields), data, self.roce)
        self.raw(frame, cycle)
        return frame

    def raw(self, frame: bytes, cycle: int) -> None:
        """Any bytes from the peer."""
        self.frames.append(Frame(frame, cycle))

    def ack(self, psn: int, cycle: int, syndrome: int = SYN.ACK_NO_CREDIT) -> None:
        """An acknowledge packet for PSN offset ``psn`` of the NIC's."""
        self.packet(OP.ACKNOWLEDGE, psn, cycle=cycle, syndrome=syndrome, msn=1)

    def packets_of(self, m: Message, psn: int) -> list[tuple[Hdr, bytes]]:
        """A message as the peer's packets from PSN offset ``psn`` on; the last one asks for an answer."""
        kind = "SEND" if m.op in SENDS else "WRITE"
        count = max(1, -(-len(m.payload) // self.mtu))
        out = []
        for i in range(count):
            last = i == count - 1
            place = "ONLY" if count == 1 else "FIRST" if i == 0 else "LAST" if last else "MIDDLE"
            imm = last and m.op in WITH_IMM
            fields: dict[str, int] = {"ackreq": int(last)}
            if kind == "WRITE" and i == 0:
                fields |= {
                    "va": m.target_place.base + m.target, "rkey": m.target_place.key, "dmalen": len(m.payload)
                }  # fmt: skip
            if imm:
                fields["imm"] = m.imm
            opcode = OP[f"{kind}_{place}" + ("_IMM" if imm else "")]
            out.append((self.header(opcode, psn + i, **fields), m.payload[i * self.mtu : (i + 1) * self.mtu]))
        return out

    def arrives(self, m: Message) -> None:
        """The peer sends ``m`` from cycle ``m.at`` on, and it is expected (receive WQE included)."""
        self.incoming.append(m)
        for h, data in self.packets_of(m, self.peer_psn):
            self.raw(frames.assemble(h, data, self.roce), m.at)
            self.peer_psn += 1

    # -- the host -------------------------------------------------------------------------------

    def own_packets(self) -> int:
        """Request packets of all messages."""
        return sum(max(1, -(-len(m.payload) // self.mtu)) for m in self.messages if m.op != WQE.NOP)

    # -- files ----------------------------------------------------------------------------------

    def item(self) -> PhaseItem:
        """The phase."""
        item = PhaseItem(self.name)
        link = default_cfg(roce=int(self.roce), kp4=int(self.fec == "kp4"))
        cable = cable_cycles(spec().value("cable.length_m"))
        qp = self.doorbell.pack()
        for value, width in (
            (self.rdma.pack(), RdmaCfg.width()), (layout.pack_regions(self.regions), 4 * Mr.width()),
            (self.wire.pack(), WireCfg.width()),
        ):  # fmt: skip
            qp = qp << width | value
        item.cfg = {"net": cable << LinkCfg.width() | link.pack(), "qp": qp, "far": self.far}
        s = stimulus(self.me, self.messages, self.incoming)
        s = Stimulus(s.image | self.image, s.pokes + self.pokes, s.stores + self.stores)
        item.plays = {"peer": sorted(self.frames, key=lambda f: f.cycle)}
        item.images = {"mem": s.image}
        item.ready = {f"mem_{channel}": bits for channel, bits in self.ready.items()}
        item.files |= timing_file("mem", self.timing)
        item.files |= poke_file("mem", s.pokes)
        item.files |= store_file("store", sorted(s.stores, key=lambda x: x.cycle))
        item.info = {"scene": self, "stimulus": s, **self.info}
        item.max_cycles = self.max_cycles
        item.quiet = 400  # longer than a frame is out of sight between two NICs' cores
        return item
