# SPDX-License-Identifier: Apache-2.0
"""What the doorbell did in a phase, read off its ports: stores and what became of each, reads, work requests.

Nothing here asks the model. What became of a store is the counter that went up for it; a record is the line that
memory gave for it; a work request came by BlueFlame if the store that carried its index was counted so.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models import wqe
from models.doorbell import Doorbell
from models.protocol import WQE, DoorbellCfg, Wr
from models.spec import spec
from tb.common.beats import LAST, frames_from_beats
from tb.common.uvm import PhaseRecords
from tb.doorbell.ports import WR

M16 = 0xFFFF
HALF = 0x8000
FULL = (1 << 64) - 1
OUTCOMES = ("doorbells", "blueflame", "refused")


@dataclass
class Store:
    """A store at the UAR: cycles of its address and first and last data beat, offset, beats with strobes, outcome."""

    aw: int
    first: int
    last: int
    offset: int
    data: bytes
    strobes: list[int]
    outcome: str = ""
    judged: int = 0

    @cached_property
    def head(self) -> wqe.Head:
        """Its first 8 bytes."""
        return wqe.Head(self.data)

    @property
    def hint(self) -> int:
        """The index that it promises."""
        return self.head.index + self.head.blocks & M16

    @cached_property
    def form(self) -> str:
        """What software meant by it."""
        whole = all(s == FULL for s in self.strobes)
        if whole and self.head.ds and self.head.blocks == len(self.strobes):
            return "whole WQE"
        if self.strobes == [0xFF]:
            return "GPU" if not self.head.ds else "CPU"
        return "whole beats, other size" if whole else "torn"


@dataclass
class Read:
    """A read: cycles of address and data; of the record its value, of a block its address and data."""

    asked: int
    back: int
    addr: int
    is_record: bool
    bad: bool
    data: bytes
    value: int


@dataclass
class Work:
    """A work request that came out: cycle of its first beat, how it came, the WQE as memory or store showed it."""

    cycle: int
    wr: Wr
    waited: bool
    carried: bool = False
    rung: str = ""
    raw: bytes = b""

    @property
    def source(self) -> str:
        """Where its WQE came from."""
        return "BlueFlame" if self.carried else "ring"

    @cached_property
    def blocks(self) -> int:
        """Blocks of its WQE, by its DS."""
        return wqe.block_count(wqe.Head(self.raw).ds) if self.raw else 1


class View:
    """The ports of a phase."""

    def __init__(self, phase: PhaseRecords) -> None:
        self.phase = phase
        self.name = phase.item.get_name()
        self.cfg = DoorbellCfg.unpack(phase.item.cfg["doorbell"])
        self.ring = 1 << self.cfg.sq_log
        bf, size = spec().integer("uar.bf_offset"), spec().integer("uar.bf_reg_size")
        self.halves = (bf, bf + size // 2)

    @cached_property
    def status(self) -> list[tuple[int, dict[str, int]]]:
        """Each change of the counters with its cycle."""
        events = self.phase.events["status"]
        words = events["value"][:, len(Doorbell.COUNTERS) - 1 :: -1].tolist()
        named = (dict(zip(Doorbell.COUNTERS, w, strict=True)) for w in words)
        return list(zip(events["cycle"].tolist(), named, strict=True))

    @property
    def final(self) -> dict[str, int]:
        """Counters at the end."""
        return self.status[-1][1]

    @cached_property
    def halted_at(self) -> int | None:
        """Cycle at which the queue halted."""
        return next((c for c, s in self.status if s["halted"]), None)

    @cached_property
    def stores(self) -> list[Store]:
        """Every store that was judged."""
        aw, w = self.phase.beats["uar_aw"], self.phase.beats["uar_w"]
        offsets = [int.from_bytes(s.tobytes(), "little") & 0xFFF for s in aw["side"]]
        strobes = [int.from_bytes(k.tobytes(), "little") for k in w["keep"]]
        ends = (np.flatnonzero(w["flags"] & LAST) + 1).tolist()
        cycles = w["cycle"].tolist()
        outcomes = self._outcomes()
        found, begin = [], 0
        for at, offset, end, (judged, outcome) in zip(aw["cycle"].tolist(), offsets, ends, outcomes, strict=False):
            data = w["data"][begin:end].tobytes()
            found.append(
                Store(at, cycles[begin], cycles[end - 1], offset, data, strobes[begin:end], outcome, judged)
            )  # fmt: skip
            begin = end
        return found

    def _outcomes(self) -> list[tuple[int, str]]:
        found = []
        for (_, before), (cycle, now) in zip(self.status, self.status[1:], strict=False):
            found += [(cycle, o) for o in OUTCOMES if now[o] != before[o]]
        return found

    @cached_property
    def reads(self) -> list[Read]:
        """Reads that were answered, in order: one ID, so data come in the order of the addresses."""
        ar, r = self.phase.rows["mem_ar.rec"], self.phase.rows["mem_r.rec"]
        line = self.cfg.dbr_addr & -64
        found = []
        for at, addr, back, resp, data in zip(
            ar["cycle"].tolist(), ar["addr"].tolist(), r["cycle"].tolist(), r["resp"].tolist(), r["data"], strict=False
        ):
            raw, record = data.tobytes(), addr == line
            value = wqe.record_send(raw, self.cfg.dbr_addr) if record else 0
            found.append(Read(at, back, addr, record, resp >= 2, raw, value))
        return found

    @cached_property
    def records(self) -> list[Read]:
        """Reads of the doorbell record."""
        return [r for r in self.reads if r.is_record]

    @cached_property
    def works(self) -> list[Work]:
        """Work requests that came out."""
        found = []
        for f in frames_from_beats(self.phase.beats["m_wr"], WR):
            found.append(Work(f.cycle, Wr.unpack(f.side), f.cycles[-1] - f.cycle >= len(f.cycles)))
        carried = [s for s in self.stores if s.outcome == "blueflame"]
        bells = [s for s in self.stores if s.outcome == "doorbells"]
        blocks: dict[int, tuple[list[int], list[bytes]]] = {}
        for r in self.reads:
            if not r.is_record:
                times, lines = blocks.setdefault(r.addr, ([], []))
                times.append(r.back)
                lines.append(r.data)
        rung = 0
        for w in found:
            index = w.wr.wqe_index
            if carried and carried[0].head.index == index and carried[0].judged < w.cycle:
                w.carried, w.raw, w.rung = True, carried.pop(0).data, "BlueFlame"
                continue
            w.raw = self._raw(blocks, index, w.cycle)
            while rung < len(bells) and (bells[rung].hint - index - 1) & M16 >= HALF:
                rung += 1
            if rung < len(bells) and bells[rung].judged < w.cycle:
                w.rung = "late BlueFlame" if bells[rung].form == "whole WQE" else bells[rung].form
        return found

    def _raw(self, blocks: dict[int, tuple[list[int], list[bytes]]], index: int, before: int) -> bytes:
        """The WQE at ``index`` as memory gave it last before a cycle, as far as it was read."""
        raw = b""
        for i in range(wqe.MAX_BLOCKS):
            addr = self.cfg.sq_base + (index + i) % self.ring * wqe.BLOCK
            times, lines = blocks.get(addr, ([], []))
            at = bisect_right(times, before) - 1
            if at < 0:
                break
            raw += lines[at]
            if i + 1 >= wqe.block_count(wqe.Head(raw).ds):
                break
        return raw


def fault(raw: bytes, index: int, qpn: int) -> str:
    """What is wrong with a WQE, "" if nothing is."""
    head = wqe.Head(raw)
    if head.index != index:
        return "index"
    if head.qpn != qpn:
        return "queue"
    if head.opcode not in wqe.KNOWN:
        return "opcode"
    if head.ds > wqe.MAX_BLOCKS * wqe.BLOCK // wqe.UNIT:
        return "ds beyond four blocks"
    if not head.ds:
        return "ds zero"
    if head.opcode == WQE.NOP:
        return "" if head.ds == 1 else "NOP with segments"
    at = 2 if head.opcode in wqe.WRITES else 1
    units = head.ds - at
    if units < 0:
        return "ds too small"
    if not units:
        return ""
    count = int.from_bytes(raw[16 * at : 16 * at + 4], "big")
    if not count & wqe.INLINE:
        return "" if units == 1 else "several data segments"
    need = -(-(4 + (count & ~wqe.INLINE)) // wqe.UNIT)
    return "" if need == units else "inline longer than ds" if need > units else "inline shorter than ds"


def view(phase: PhaseRecords) -> View:
    """The phase's view; made once for all cover groups."""
    found: View = phase.item.info.setdefault("view", None) or View(phase)
    phase.item.info["view"] = found
    return found
