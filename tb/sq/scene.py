# SPDX-License-Identifier: Apache-2.0
"""A phase of the send queues' bench, laid out in time beforehand: queues in memory, and what software does to them.

Memory writes become pokes, stores become AW and W beats with earliest cycles, table entries are written at given
cycles. Each :class:`Queue` has a clock of its own (``at``); the scene brings everything into order. ``works`` of a
queue is what must come out of it, put together from what was posted, not from what the model thinks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from models.memory import MemoryTiming, Poke, WindowTiming
from models.protocol import CQE_SYN, SqCtx, SqWr
from tb.common.axi import poke_file, timing_file
from tb.common.beats import Records
from tb.common.run import RunContext
from tb.common.timed import timed
from tb.common.uvm import PhaseItem
from tb.sq.ports import AW, CTX, GPU, HOST, LINES, WATCH, W
from tb.sq.watch import watching
from tb.sq.wqes import M16, Posted

FULL = (1 << 64) - 1
BF = 0x800  # eight halves of 256 bytes from here on
HALVES = tuple(range(BF, 0x1000, 0x100))
ARM = 0x20
RINGS = 16384  # first line of a window that rings may have; records are below


def ones(first: int, count: int) -> int:
    """Strobes of ``count`` bytes from byte ``first`` on."""
    return ((1 << count) - 1) << first


def at_last(place: int, data: bytes) -> bytes:
    """64 bytes with ``data`` at ``place``."""
    return (bytes(place) + data).ljust(64, b"\xee")


class Queue:
    """A send queue and its producer. ``at``: the cycle of its next action; each action may move it on."""

    def __init__(self, scene: Scene, ctx: SqCtx, entry: int) -> None:
        self.scene, self.ctx, self.entry = scene, ctx, entry
        self.rng = scene.rng
        self.qpn, self.page = ctx.qpn, ctx.page
        self.places = [(ctx.sq_base, 1 << ctx.sq_log, ctx.dbr_addr)]  # base, blocks, record: all that it ever had
        self.ring = 1 << ctx.sq_log
        self.pi = ctx.pi0
        # nobody else's (one lock a register), unless more than four queues have the page
        pair = 2 * (sum(q.page == ctx.page for q in scene.queues) % 4)
        self.halves = list(HALVES[pair : pair + 2])
        self.half = self.halves[0]
        self.at = 0
        self.used = 0  # blocks written since the ring was last known to be empty
        self.works: list[tuple[SqWr, bytes]] = []
        self.last: Posted | None = None
        self.kinds: dict[int, str] = {}  # index: what is wrong with the WQE there
        self.spans: dict[int, int] = {}  # index of a WQE posted: its blocks
        self.carried: set[tuple[int, int]] = set()  # (queue, index) of malformed WQEs that a store carried

    # -- memory -------------------------------------------------------------------------------

    def fill(self, posted: Posted, expected: bool = True, delay: int = 0) -> Posted:
        """Write a WQE into the ring at the producer index and move that on; waits first when the ring has no room."""
        self.room(posted.blocks)
        for i in range(posted.blocks):
            slot = (self.pi + i) % self.ring
            addr = self.ctx.sq_base + 64 * slot
            self.scene.poke(self.at + delay, addr, FULL, posted.raw[64 * i : 64 * i + 64])
        self.spans[self.pi] = posted.blocks
        if posted.kind:
            self.kinds[self.pi] = posted.kind
        self.pi = self.pi + posted.blocks & M16
        self.used += posted.blocks
        self.last = posted
        if expected:
            self.works.append((posted.wr, posted.payload))
        return posted

    def room(self, blocks: int) -> None:
        """Wait until everything posted so far is taken when ``blocks`` more may not fit."""
        if self.used + blocks <= self.ring:
            return
        self.publish()
        self.gpu()
        self.at += self.scene.rest
        self.used = 0

    def publish(self, index: int | None = None, delay: int = 1) -> None:
        """Write the doorbell record, ``delay`` cycles after now; time moves on by 1."""
        addr = self.ctx.dbr_addr
        value = self.pi if index is None else index
        line = at_last(addr % 64, struct.pack(">HHHH", *self.rng.integers(1 << 16, size=3).tolist(), value & M16))
        self.scene.poke(self.at + delay, addr & ~63, ones(addr % 64, 8), line)
        self.at += 1

    # -- stores -------------------------------------------------------------------------------

    def store(
        self, data: bytes, offset: int, strobes: Sequence[int] | None = None, *, skew: int = 0, page: int | None = None
    ) -> None:
        """One burst to byte ``offset`` of the page (whole lines in ``data``); time moves on by 1."""
        self.at += 1
        self.scene.store(self.at, self.page if page is None else page, offset, data, strobes, skew=skew)

    def toggle(self) -> int:
        """The other half of the register for the next store; returns the present one."""
        half = self.half
        self.half ^= 0x100
        return half

    def cpu(self, posted: Posted | None = None, half: int | None = None, **kw: Any) -> None:
        """A CPU's doorbell: the first 8 bytes of the last WQE."""
        last = posted or self.last
        assert last is not None, "nothing was posted"
        self.store(last.raw[:8], self.toggle() if half is None else half, [0xFF], **kw)

    def gpu(self, index: int | None = None, half: int | None = None, **kw: Any) -> None:
        """A GPU's doorbell: the next index, opcode and DS zero; always the same half."""
        value = (self.pi if index is None else index) & M16
        self.store(struct.pack(">II", value << 8, self.qpn << 8), half or self.halves[0], [0xFF], **kw)

    def blueflame(self, posted: Posted | None = None, half: int | None = None, **kw: Any) -> None:
        """The whole WQE in one burst."""
        last = posted or self.last
        assert last is not None, "nothing was posted"
        if last.kind:
            self.carried.add((last.wr.qpn, last.wr.wqe_index))
        self.store(last.raw, self.toggle() if half is None else half, **kw)

    def parts(
        self, posted: Posted, size: int | Sequence[int], order: Iterable[int] | None = None,
        half: int | None = None, gap: int = 0, lost: Iterable[int] = (),
    ) -> None:  # fmt: skip
        """The WQE in stores of ``size`` bytes (or of these sizes in turn), in ``order``, without those ``lost``."""
        half = self.toggle() if half is None else half
        pieces, place, turn = [], 0, 0
        sizes = [size] if isinstance(size, int) else list(size)
        while place < len(posted.raw):
            n = min(sizes[turn % len(sizes)], 64 - place % 64)
            pieces.append((place, n))
            place, turn = place + n, turn + 1
        missing = set(lost)
        for i in order if order is not None else range(len(pieces)):
            if i in missing or i >= len(pieces):
                continue
            place, n = pieces[i]
            data = at_last(place % 64, posted.raw[place : place + n])
            self.store(data, half + place, [ones(place % 64, n)])
            self.at += gap

    def post(self, posted: Posted, form: str = "gpu", **kw: Any) -> Posted:
        """One WQE as software does it: ring, record, then ``gpu`` or ``cpu`` doorbell or ``bf`` (BlueFlame)."""
        self.fill(posted)
        self.publish()
        if form == "bf":
            self.blueflame(posted, **kw)
        elif form == "cpu":
            self.cpu(posted, **kw)
        else:
            self.gpu(**kw)
        return posted

    def halted(self, index: int | None = None) -> None:
        """The queue's own error is due, at ``index`` (the producer index by default): nothing else follows."""
        value = (self.pi if index is None else index) & M16
        self.works.append((SqWr(qpn=self.qpn, wqe_index=value, error=CQE_SYN.LOC_QP_OP), b""))

    def again(self, at: int, **changes: int) -> None:
        """A new table entry for this queue at cycle ``at``; producer and ring start anew."""
        for name, value in changes.items():
            setattr(self.ctx, name, value)
        copy = SqCtx.unpack(self.ctx.pack())
        self.scene.entry(at, self.entry, copy)
        self.places.append((copy.sq_base, 1 << copy.sq_log, copy.dbr_addr))
        self.page, self.pi, self.ring, self.used = copy.page, copy.pi0, 1 << copy.sq_log, 0
        self.at = at + 1


class Scene:
    """The phase. ``rest``: cycles after which a queue's posted WQEs are surely taken."""

    def __init__(
        self, ctx: RunContext, rng: np.random.Generator, *, host: tuple[int, int] = (40, 0),
        gpu: tuple[int, int] = (20, 0), rest: int = 0,
    ) -> None:  # fmt: skip
        self.rng = rng
        self.qps, self.pages, self.tags = (ctx.param(n, d) for n, d in (("QPS", 256), ("PAGES", 64), ("TAGS", 512)))
        near, far = (WindowTiming(rd_latency=late, rd_jitter=jitter) for late, jitter in (host, gpu))
        self.timing = MemoryTiming(near, far, seed=int(rng.integers(1, 1 << 32)))
        self.rest = rest or 300 + 4 * max(sum(host), sum(gpu))
        self.queues: list[Queue] = []
        self.arms: list[tuple[int, bytes]] = []
        self.final: dict[str, int] = {}
        self.facts: dict[str, Any] = {}  # for the sequence's own checks
        self.watch: int | None = None  # the entry that ctx_addr names all the time; else entries at random (C5)
        self.lawful = True  # software keeps to the rules: what was posted comes
        self.pokes: list[Poke] = []
        self._entries: list[tuple[int, int, SqCtx]] = []
        self._stores: list[tuple[int, int, int, list[tuple[bytes, int]]]] = []
        self._free = [RINGS + int(rng.integers(64)), RINGS + int(rng.integers(64))]  # next line of each window
        self._low = [64, 64]  # the same for records
        self._records: list[int] = []
        self._numbers = rng.permutation(self.qps).tolist()

    # -- queues -------------------------------------------------------------------------------

    def area(self, lines: int, gpu: bool) -> int:
        """Address of so many lines that nothing else uses."""
        first = self._free[gpu] + int(self.rng.integers(0, 4))
        if lines > 1 and first < LINES // 2 and (first + lines > LINES // 2 or self.rng.random() < 0.3):
            first = LINES // 2 - int(self.rng.integers(1, lines))  # across the border of 4 MiB
            first = max(first, self._free[gpu])
        self._free[gpu] = first + lines
        if first + lines > LINES:
            raise ValueError(f"{'GPU' if gpu else 'host'} memory has no {lines} lines left")
        return (GPU if gpu else HOST) + 64 * first

    def _line(self) -> int:
        gpu = bool(self.rng.integers(2))
        self._low[gpu] += 1 + int(self.rng.integers(0, 2))
        return (GPU if gpu else HOST) + 64 * self._low[gpu]

    def record(self, shared: bool) -> int:
        """Address of a doorbell record: eight in a line when ``shared``, else its own line."""
        if not shared:
            return self._line() + 8 * int(self.rng.integers(8))
        if not self._records:
            line = self._line()
            self._records = [line + 8 * int(i) for i in self.rng.permutation(8)]
        return self._records.pop()

    def queue(
        self, *, log: int = 6, pi0: int | None = None, weight: int = 16, page: int | None = None, enable: int = 1,
        gpu: bool | None = None, at: int = 0, shared: bool = True, base: int | None = None, dbr: int | None = None,
        entry: int | None = None,
    ) -> Queue:  # fmt: skip
        """A queue of 2^``log`` blocks at a place of its own; its entry is written at ``at``, or as soon as possible."""
        rng = self.rng
        entry = self._numbers.pop() if entry is None else entry
        where = bool(rng.integers(2)) if gpu is None else gpu
        ctx = SqCtx(
            enable=enable,
            qpn=entry + self.qps * int(rng.integers((1 << 24) // self.qps)),
            page=int(rng.integers(self.pages)) if page is None else page % self.pages,
            weight=weight,
            sq_base=self.area(1 << log, where) if base is None else base,
            sq_log=log,
            dbr_addr=self.record(shared) if dbr is None else dbr,
            pi0=(int(rng.integers(1 << 16)) if pi0 is None else pi0) & M16,
        )
        self.entry(at, entry, SqCtx.unpack(ctx.pack()))
        q = Queue(self, ctx, entry)
        self.queues.append(q)
        q.at = -1
        q.publish(ctx.pi0)
        q.at = len(self._entries) + 6
        return q

    def together(self, gap: int = 0) -> int:
        """All queues' clocks to the latest of them, and ``gap`` more."""
        at = max(q.at for q in self.queues) + gap
        for q in self.queues:
            q.at = at
        return at

    # -- actions ------------------------------------------------------------------------------

    def entry(self, at: int, entry: int, ctx: SqCtx) -> None:
        """A write of the table."""
        self._entries.append((at, entry, ctx))

    def poke(self, at: int, addr: int, strobes: int, line: bytes) -> None:
        """Another agent's write of a line of memory."""
        self.pokes.append(Poke(at, addr, strobes, line))

    def store(
        self, at: int, page: int, offset: int, data: bytes, strobes: Sequence[int] | None = None, *, skew: int = 0
    ) -> None:
        """A burst at cycle ``at``: W ``skew`` cycles after AW, before it when negative."""
        beats = [data[i : i + 64] for i in range(0, len(data), 64)]
        masks = strobes if strobes is not None else [ones(0, len(b)) for b in beats]
        rows = [(b.ljust(64, b"\xee"), m) for b, m in zip(beats, masks, strict=True)]
        side = len(rows) - 1 << 28 | int(self.rng.integers(16)) << 24 | (page % self.pages) << 12 | offset
        self._stores.append((at, skew, side, rows))

    def arm(self, at: int, page: int, data: bytes) -> None:
        """A completion queue is armed."""
        self.store(at, page, ARM, at_last(ARM, data), [ones(ARM, 8)])

    # -- the phase ----------------------------------------------------------------------------

    def _streams(self) -> tuple[Records, Records]:
        rows = sorted(self._stores, key=lambda s: s[0])  # stable: of one cycle, in the order of the calls
        aw, w = AW.empty(len(rows)), W.empty(sum(len(s[3]) for s in rows))
        k = 0
        for i, (at, skew, side, beats) in enumerate(rows):
            aw[i]["cycle"], aw[i]["flags"] = at + max(0, -skew), 1
            aw[i]["side"] = np.frombuffer(side.to_bytes(8, "little"), np.uint8)
            for j, (data, mask) in enumerate(beats):
                w[k]["cycle"], w[k]["flags"] = at + max(0, skew) + j, int(j == len(beats) - 1)
                w[k]["data"] = np.frombuffer(data, np.uint8)
                w[k]["keep"] = np.frombuffer(mask.to_bytes(8, "little"), np.uint8)
                k += 1
            page, place = side >> 12 & 0xFFF, side & 0xFFF
            if place & ~63 == 0 and beats[0][1] == ones(ARM, 8):
                self.arms.append((page, beats[0][0][ARM : ARM + 8]))
        return aw, w

    def _contexts(self) -> Records:
        rows = sorted(self._entries, key=lambda e: e[0])
        out = CTX.empty(len(rows))
        for i, (at, entry, ctx) in enumerate(rows):
            out[i]["cycle"], out[i]["flags"] = at, 1
            out[i]["data"] = np.frombuffer(ctx.pack().to_bytes(CTX.data_bytes, "little"), np.uint8)
            out[i]["side"] = np.frombuffer(entry.to_bytes(4, "little"), np.uint8)
        return out

    def item(self, name: str, **ready: float) -> PhaseItem:
        """The phase. ``ready``: share of cycles in which a port is ready (m_wr, mem_ar, uar_b)."""
        item = PhaseItem(name)
        aw, w = self._streams()
        look = watching(
            np.random.default_rng(len(aw)), [q.entry for q in self.queues] or [0], [e[0] for e in self._entries],
            max([q.at for q in self.queues], default=0) + 300, self.watch,
        )  # fmt: skip
        item.plays = {"ctx": self._contexts(), "uar_aw": aw, "uar_w": w, "watch": timed(WATCH, look)}
        item.files = {**timing_file("mem", self.timing), **poke_file("mem", self.pokes)}
        for port, share in ready.items():
            if share >= 1:
                continue
            pattern = self.rng.random(int(self.rng.integers(50, 400))) < share
            pattern[0] = True  # never stuck
            item.ready[port] = pattern
        item.info = {
            "timing": self.timing, "pokes": self.pokes, "queues": self.queues, "lawful": self.lawful,
            "arms": self.arms, "final": self.final, "facts": self.facts,
        }  # fmt: skip
        item.max_cycles = 400_000
        return item
