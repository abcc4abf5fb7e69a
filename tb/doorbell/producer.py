# SPDX-License-Identifier: Apache-2.0
"""A software producer for the doorbell's bench: fills the ring, writes the record, stores to the UAR.

All of it is laid out in time beforehand: memory writes become pokes, stores become AW and W beats with
earliest cycles. ``works`` is what the producer expects to come out, put together from what it asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models import wqe
from models.memory import MemoryTiming, Poke, WindowTiming
from models.protocol import CQE_SYN, WQE, DoorbellCfg, Wr
from tb.common.axi import poke_file, timing_file
from tb.common.uvm import PhaseItem
from tb.doorbell.ports import AW, W

HALVES = (0x800, 0x900)
FULL = (1 << 64) - 1
M16 = 0xFFFF


class Posted(NamedTuple):
    """A WQE and the work request that it stands for."""

    raw: bytes
    wr: Wr
    payload: bytes


def good_wqe(
    rng: np.random.Generator, index: int, qpn: int, size: int | None = None, opcode: int | None = None
) -> Posted:
    """A well-formed WQE with random fields; ``size`` bytes inline, or a random kind."""
    op = int(rng.choice(wqe.KNOWN)) if opcode is None else opcode
    wr = Wr(opcode=op, wqe_index=index & M16, signaled=int(rng.integers(2)), se=int(rng.integers(2)))
    if op == WQE.NOP:
        return Posted(wqe.build(op, index, qpn, signaled=bool(wr.signaled), se=bool(wr.se)), wr, b"")
    payload = b""
    inline = size is not None or rng.random() < 0.6
    if inline:
        payload = rng.bytes(int(rng.integers(wqe.max_inline(op) + 1)) if size is None else size)
        wr.is_inline, wr.length = 1, len(payload)
    elif rng.random() < 0.8:
        wr.length = int(rng.choice([1, 64, 4096, 1 << 31, int(rng.integers(1, 1 << 31))]))
        wr.laddr, wr.lkey = int(rng.integers(1 << 63)), int(rng.integers(1 << 32))
    if op in wqe.WRITES:
        wr.raddr, wr.rkey = int(rng.integers(1 << 63)) * 2 + 1, int(rng.integers(1 << 32))
    if op in wqe.IMMEDIATES:
        wr.imm = int(rng.integers(1 << 32))
    raw = wqe.build(
        op, index, qpn, raddr=wr.raddr, rkey=wr.rkey, length=wr.length, laddr=wr.laddr, lkey=wr.lkey,
        inline=payload if inline else None, imm=wr.imm, signaled=bool(wr.signaled), se=bool(wr.se),
    )  # fmt: skip
    return Posted(raw, wr, payload)


def _patch(raw: bytes, at: int, new: bytes) -> bytes:
    return raw[:at] + new + raw[at + len(new) :]


ALIEN_OPCODES = (0x01, 0x02, 0x0C, 0x0E, 0x10, 0x11, 0x18, 0x88)
TOO_LONG = (237, 255, 256, 65536, 2**31 - 1)

# What can be wrong with a WQE; each takes a good one and the generator.
FAULTS = {
    "opcode": lambda raw, rng: _patch(raw, 3, bytes([int(rng.choice(ALIEN_OPCODES))])),
    "index": lambda raw, rng: _patch(raw, 1, bytes(b ^ m for b, m in zip(raw[1:3], _nonzero(rng, 2), strict=True))),
    "queue": lambda raw, rng: _patch(raw, 4, bytes(b ^ m for b, m in zip(raw[4:7], _nonzero(rng, 3), strict=True))),
    "ds zero": lambda raw, rng: _patch(raw, 7, b"\0"),
    "ds too small": lambda raw, rng: _patch(raw, 7, b"\x01") if raw[3] in wqe.WRITES else _patch(raw, 7, b"\0"),
    "ds one more": lambda raw, rng: _patch(raw, 7, bytes([raw[7] + 1])),
    "ds beyond four blocks": lambda raw, rng: _patch(raw, 7, bytes([int(rng.integers(17, 64))])),
    "inline longer than ds": lambda raw, rng: _count(raw, wqe.INLINE | int(rng.choice(TOO_LONG))),
    "inline shorter than ds": lambda raw, rng: _patch(_count(raw, wqe.INLINE | 12), 7, b"\x05"),
    "NOP with segments": lambda raw, rng: _patch(raw, 3, bytes([WQE.NOP])),
    "two data segments": lambda raw, rng: _patch(_count(raw, 4), 7, b"\x05"),
}  # fmt: skip


def _nonzero(rng: np.random.Generator, n: int) -> bytes:
    return int(rng.integers(1, 1 << 8 * n)).to_bytes(n, "big")


def _count(raw: bytes, count: int) -> bytes:
    return _patch(raw, 32 if raw[3] in wqe.WRITES else 16, count.to_bytes(4, "big"))


def bad_wqe(rng: np.random.Generator, index: int, qpn: int, fault: str) -> Posted:
    """A malformed WQE, as many blocks as its DS says (rubbish behind those it needs)."""
    opcode = int(rng.choice([op for op in wqe.KNOWN if op != WQE.NOP]))
    start = good_wqe(rng, index, qpn, size=int(rng.integers(13, 120)), opcode=opcode)
    raw = FAULTS[fault](start.raw, rng)
    raw = raw.ljust(64 * wqe.block_count(wqe.Head(raw).ds), b"\xa5")[: 64 * wqe.block_count(wqe.Head(raw).ds)]
    return Posted(raw, Wr(opcode=raw[3], wqe_index=index & M16, error=CQE_SYN.LOC_QP_OP), b"")


class Producer:
    """Lays a phase out in time. ``at`` is the cycle of the next action; every action may move it on."""

    def __init__(
        self, rng: np.random.Generator, *, sq_log: int = 6, ci0: int = 0, latency: int = 40, jitter: int = 0,
        enable: int = 1, base: int | None = None, dbr: int | None = None,
    ) -> None:  # fmt: skip
        self.rng = rng
        self.cfg = DoorbellCfg(
            enable=enable,
            qpn=int(rng.integers(1, 1 << 24)),
            sq_base=64 * int(rng.integers(256, 4096)) if base is None else base,
            sq_log=sq_log,
            dbr_addr=64 * 16 + 8 * int(rng.integers(512)) if dbr is None else dbr,
            ci0=ci0 & M16,
        )
        self.timing = MemoryTiming(
            WindowTiming(rd_latency=latency, rd_jitter=jitter), seed=int(rng.integers(1, 1 << 32))
        )
        self.at = 5
        self.pi = ci0 & M16
        self.half = 0
        self.works: list[tuple[Wr, bytes]] | None = []
        self.final: dict[str, int] = {}
        self._pokes: list[Poke] = [
            Poke(0, self.cfg.dbr_addr & ~63, 0xFF << self.cfg.dbr_addr % 64, self._record(self.pi))
        ]
        self._aw: list[tuple[int, int]] = []
        self._w: list[tuple[int, bytes, int, bool]] = []

    @property
    def next_good(self) -> Posted:
        """A random good WQE for the next index."""
        return good_wqe(self.rng, self.pi, self.cfg.qpn)

    def _record(self, index: int) -> bytes:
        return (bytes(self.cfg.dbr_addr % 64) + wqe.record(index, int(self.rng.integers(1 << 16)))).ljust(64, b"\0")

    def fill(self, posted: Posted, expected: bool = True) -> None:
        """Write a WQE into the ring at the producer index (at ``at``) and move the index on."""
        for i in range(len(posted.raw) // 64):
            slot = (self.pi + i) % (1 << self.cfg.sq_log)
            self._pokes.append(Poke(self.at, self.cfg.sq_base + 64 * slot, FULL, posted.raw[64 * i : 64 * i + 64]))
        self.pi = (self.pi + len(posted.raw) // 64) & M16
        if expected and self.works is not None:
            self.works.append((posted.wr, posted.payload))

    def publish(self, index: int | None = None, delay: int = 1) -> None:
        """Write the doorbell record, ``delay`` cycles after now; time moves on by 1."""
        addr = self.cfg.dbr_addr
        line = self._record(self.pi if index is None else index)
        self._pokes.append(Poke(self.at + delay, addr & ~63, 0xFF << addr % 64, line))
        self.at += 1

    def store(self, data: bytes, offset: int | None = None, strobes: list[int] | None = None, skew: int = 0) -> None:
        """One AXI burst from now on: W is ``skew`` cycles after AW (before it when negative)."""
        if offset is None:
            offset = HALVES[self.half]
            self.half ^= 1
        beats = [data[i : i + 64] for i in range(0, len(data), 64)]
        masks = strobes or [(1 << len(b)) - 1 for b in beats]
        self.at += 1
        aw, w = self.at + max(0, -skew), self.at + max(0, skew)
        self._aw.append((aw, len(beats) - 1 << 16 | int(self.rng.integers(16)) << 12 | offset))
        for i, (beat, mask) in enumerate(zip(beats, masks, strict=True)):
            self._w.append((w + i, beat.ljust(64, b"\xee"), mask, i == len(beats) - 1))

    def ring_cpu(self, last: Posted, offset: int | None = None) -> None:
        """The CPU's doorbell: head of its last WQE."""
        self.store(wqe.doorbell(last.raw), offset)

    def ring_gpu(self, index: int | None = None) -> None:
        """A GPU's doorbell: next index, always the first half."""
        self.store(wqe.gpu_doorbell(self.pi if index is None else index, self.cfg.qpn), HALVES[0])

    def post(self, posted: Posted, form: str = "gpu") -> None:
        """One WQE as software does it: ring, record, then ``cpu`` or ``gpu`` doorbell or ``bf`` (BlueFlame)."""
        self.fill(posted)
        self.publish()
        if form == "bf":
            self.store(posted.raw)
        elif form == "cpu":
            self.ring_cpu(posted)
        else:
            self.ring_gpu()

    def item(self, name: str, **ready: float) -> PhaseItem:
        """The phase. ``ready``: density of each ready pattern (m_wr, mem_ar, uar_b)."""
        item = PhaseItem(name)
        item.cfg = {"doorbell": self.cfg.pack()}
        aw = AW.empty(len(self._aw))
        for i, (cycle, side) in enumerate(self._aw):
            aw[i]["cycle"], aw[i]["flags"] = cycle, 1
            aw[i]["side"] = np.frombuffer(side.to_bytes(4, "little"), np.uint8)
        w = W.empty(len(self._w))
        for i, (cycle, data, mask, last) in enumerate(self._w):
            w[i]["cycle"], w[i]["flags"] = cycle, int(last)
            w[i]["data"] = np.frombuffer(data, np.uint8)
            w[i]["keep"] = np.frombuffer(mask.to_bytes(8, "little"), np.uint8)
        item.plays = {"uar_aw": aw, "uar_w": w}
        item.files = {**timing_file("mem", self.timing), **poke_file("mem", self._pokes)}
        for port, density in ready.items():
            pattern = self.rng.random(int(self.rng.integers(50, 400))) < density
            pattern[0] = True  # never stuck
            item.ready[port] = pattern
        item.info = {"timing": self.timing, "pokes": self._pokes, "works": self.works, "final": self.final}
        item.max_cycles = 400_000
        return item
