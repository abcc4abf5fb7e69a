# SPDX-License-Identifier: Apache-2.0
"""Stimulus of rdma: a queue pair between two ends, its memory, work requests and packets.

Addresses: send and receive completion rings, receive ring and doorbell record in host memory; a data
region in host and one in GPU memory, each with a read-only one beside it. Counters start near their wraps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from models.memory import MemoryTiming, Poke, WindowTiming
from models.protocol import OP, QP, SYN, WQE, Hdr, Mr, RdmaCfg, Wr
from models.rdma_parts import M24
from tb.common.axi import poke_file, timing_file
from tb.common.beats import Frame
from tb.common.uvm import PhaseItem
from tb.rdma.ports import WINDOWS, pack_regions, placed

RECORD = 0x0100
RECV_RING = 0x1000
SEND_CQ = 0x2_0000
RECV_CQ = 0x4_0000
HOST_DATA, HOST_BYTES = 0x8_0000, 0x8_0000
GPU_DATA, GPU_BYTES = 1 << 32, 0x10_0000
HOLE = 0x40_0000  # in no window: memory answers DECERR
HOST_KEY, GPU_KEY, READ_KEY, HOLE_KEY = 0x1000_01A5, 0x2000_025A, 0x3000_0333, 0x4000_0444

WIDE = {"local_write": 1, "remote_write": 1}
REGIONS = [
    Mr(valid=1, key=HOST_KEY, base=HOST_DATA, length=HOST_BYTES, **WIDE),
    Mr(valid=1, key=GPU_KEY, base=GPU_DATA, length=GPU_BYTES, **WIDE),
    Mr(valid=1, key=READ_KEY, base=HOST_DATA, length=HOST_BYTES),
    Mr(valid=1, key=HOLE_KEY, base=HOLE, length=0x10_0000, **WIDE),
]

DEFAULT = RdmaCfg(
    state=QP.RTS, qpn=0x000A11, dest_qpn=0x000B22, src=0xC0A8_0001, dst=0xC0A8_0002, pkey=0xFFFF, pmtu=3,
    sq_psn=0xFFFFF0, rq_psn=0xFFFFFA, msn0=0xFFFFFC, remote_write=1, min_rnr=12, ack_timeout=0,
    scq_base=SEND_CQ, scq_log=6, scq_pi0=0xFFFFFE, rcq_base=RECV_CQ, rcq_log=5, rcq_pi0=0xFFFFFD,
    rq_base=RECV_RING, rq_log=5, rq_dbr=RECORD, rq_ci0=0xFFFB,
)  # fmt: skip

QUICK = MemoryTiming(WindowTiming(4, 6, 12), WindowTiming(3, 5, 9))


@dataclass
class Receive:
    """A posted receive WQE."""

    addr: int = 0
    size: int = 0
    key: int = HOST_KEY


@dataclass
class Arrival:
    """A whole message from the peer, as it should end in memory."""

    send: bool
    data: bytes
    addr: int
    imm: int | None
    se: int


@dataclass
class Scene:
    """One phase's stimulus; :meth:`item` makes the phase."""

    name: str
    cfg: RdmaCfg = field(default_factory=lambda: replace(DEFAULT))
    regions: list[Mr] = field(default_factory=lambda: list(REGIONS))
    timing: MemoryTiming = QUICK
    image: dict[int, bytes] = field(default_factory=dict)
    pokes: list[Poke] = field(default_factory=list)
    wrs: list[Frame] = field(default_factory=list)
    packets: list[Frame] = field(default_factory=list)
    receives: list[Receive] = field(default_factory=list)
    ready: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    max_cycles: int = 60_000
    quiet: int = 700
    wqe_index: int = 0xFFF8
    far: int = 0  # where else the GPU window is seen
    posted: list[Wr] = field(default_factory=list)
    arriving: list[Arrival] = field(default_factory=list)

    @property
    def mtu(self) -> int:
        """Path MTU, bytes."""
        return 128 << self.cfg.pmtu

    def wr(self, data: bytes | int = b"", *, cycle: int = 1, **fields: Any) -> Wr:
        """Add a work request; ``data`` bytes go inline, an int is the length of a read from memory."""
        given: dict[str, Any] = {"opcode": WQE.WRITE, "signaled": 1, "raddr": 0x7000, "rkey": 0x77}
        if isinstance(data, bytes):
            given |= {"is_inline": 1, "length": len(data)}
        else:
            given |= {"length": data, "lkey": HOST_KEY, "laddr": HOST_DATA}
        wr = Wr(**{"wqe_index": self.wqe_index} | given | fields)
        self.wqe_index = wr.wqe_index + 1 & 0xFFFF
        self.posted.append(wr)
        self.wrs.append(Frame(data if wr.is_inline and isinstance(data, bytes) else b"", cycle, wr.pack()))
        return wr

    def packet(self, opcode: int, psn: int, data: bytes = b"", *, cycle: int = 1, gaps: int = 0, **fields: Any) -> Hdr:
        """Add a packet from the peer; ``psn`` is an offset to the first PSN expected (``absolute`` for others)."""
        c = self.cfg
        base = c.rq_psn if opcode not in range(OP.READ_RESP_FIRST, OP.ATOMIC_ACK + 1) else c.sq_psn
        given = {
            "dst": c.src, "src": c.dst, "opcode": int(opcode), "pkey": c.pkey, "dest_qp": c.qpn,
            "psn": base + psn & M24, "len": len(data),
        }  # fmt: skip
        hdr = Hdr(**given | fields)
        self.packets.append(Frame(data, cycle, hdr.pack(), gaps))
        return hdr

    def ack(self, psn: int, syndrome: int = SYN.ACK_NO_CREDIT, *, cycle: int = 1, **fields: Any) -> Hdr:
        """Add an acknowledge packet; ``psn`` is an offset to the first PSN sent."""
        return self.packet(OP.ACKNOWLEDGE, psn, cycle=cycle, syndrome=syndrome, msn=1, **fields)

    def message(
        self, kind: str, psn: int, data: bytes, *, cycle: int = 1, gaps: int = 0, ackreq: bool = True,
        imm: int | None = None, va: int = HOST_DATA, rkey: int = HOST_KEY, se: int = 0, expected: bool = True,
    ) -> int:  # fmt: skip
        """Add the packets of a SEND or WRITE from the peer; returns the PSN offset after them.

        ``expected``: it is executed (for the checks that need no model); the receive WQEs must be known before.
        """
        size = max(1, -(-len(data) // self.mtu))
        if expected:
            used = sum(a.send or a.imm is not None for a in self.arriving)
            addr = self.receives[used].addr if kind == "SEND" else va
            self.arriving.append(Arrival(kind == "SEND", data, addr, imm, se))
        for i in range(size):
            last = i == size - 1
            place = "ONLY" if size == 1 else "FIRST" if i == 0 else "LAST" if last else "MIDDLE"
            name = f"{kind}_{place}" + ("_IMM" if last and imm is not None else "")
            fields: dict[str, int] = {}
            if kind == "WRITE" and i == 0:
                fields |= {"va": va, "rkey": rkey, "dmalen": len(data)}
            if last and imm is not None:
                fields["imm"] = imm
            part = data[i * self.mtu : (i + 1) * self.mtu]
            fields |= {"ackreq": int(last and ackreq), "se": int(last and se)}
            self.packet(OP[name], psn + i, part, cycle=cycle, gaps=gaps, **fields)
        return psn + size

    def item(self) -> PhaseItem:
        """The phase."""
        item = PhaseItem(self.name)
        image = dict(self.image)
        c = self.cfg
        for i, r in enumerate(self.receives):
            slot = (c.rq_ci0 + i) % (1 << c.rq_log)
            segment = r.size.to_bytes(4, "big") + r.key.to_bytes(4, "big") + r.addr.to_bytes(8, "big")
            image[c.rq_base + 16 * slot] = segment
        if c.rq_dbr < WINDOWS.host_bytes:
            image[c.rq_dbr] = (c.rq_ci0 + len(self.receives) & 0xFFFF).to_bytes(4, "big")
        item.cfg = {"rdma": c.pack(), "mr": pack_regions(self.regions), "far": self.far}
        item.plays = {"s_wr": self.wrs, "s_pkt": self.packets}
        item.images = {"mem": {placed(addr, self.far): data for addr, data in image.items()}}
        item.files = {**timing_file("mem", self.timing), **poke_file("mem", self.pokes)}
        item.ready = dict(self.ready)
        item.info = {"timing": self.timing, "pokes": self.pokes, "scene": self, **self.info}
        item.max_cycles = self.max_cycles
        item.quiet = self.quiet
        return item


def pattern(size: int, seed: int = 0) -> bytes:
    """Bytes that differ from place to place."""
    return np.random.default_rng(seed).bytes(size)
