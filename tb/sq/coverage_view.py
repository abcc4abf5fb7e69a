# SPDX-License-Identifier: Apache-2.0
"""What the send queues did in a phase, read off their ports: beats stored, reads and answers, work requests, counters.

Nothing here asks the model. A work request came from the ring when the block last read for its place before it holds
its index, else by BlueFlame.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import defaultdict, deque
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from models import wqe
from models.protocol import SqWr
from tb.common.beats import LAST, frames_from_beats
from tb.common.uvm import PhaseRecords
from tb.sq.ports import COUNTERS, GPU, WR
from tb.sq.scene import ARM, BF, FULL, Queue, ones

HALF = 0x8000


class StoreBeat(NamedTuple):
    """A W beat: cycle, page, line of the page, strobes, first 8 bytes, beats of its burst, is the last, AW before W."""

    cycle: int
    page: int
    line: int
    strobes: int
    head: bytes
    beats: int
    last: bool
    ahead: int

    @property
    def form(self) -> str:
        """What software may have meant by it."""
        if self.line == 0 and self.strobes == ones(ARM, 8):
            return "arm"
        if self.line < BF // 64:
            return "no register"
        first = self.strobes & 0xFF
        if self.line % 4 or not first:
            return "part" if self.strobes else "nothing"
        if first != 0xFF:
            return "head in pieces"
        ds = self.head[7] & 0x3F
        if self.strobes == 0xFF:
            return "CPU" if ds else "GPU"
        if not ds or ds > 16:
            return "doorbell with more"
        return "whole block" if self.strobes == FULL and ds <= 4 else "head and more"


@dataclass
class Read:
    """A read: queue's number in the scene (-1: nobody's), slot or -1 for a record, cycles of AR and R, answer."""

    asked: int
    queue: int
    slot: int
    addr: int
    gpu: bool
    back: int = 0
    place: int = 0
    bad: bool = False
    data: bytes = b""


class Work(NamedTuple):
    """A work request: cycle of its first beat, what it says, its queue's number, whether the ring gave it, waited."""

    cycle: int
    wr: SqWr
    queue: int
    ring: bool
    waited: bool


class View:
    """The ports of a phase."""

    def __init__(self, phase: PhaseRecords) -> None:
        self.phase = phase
        self.name = phase.item.get_name()
        self.queues: list[Queue] = phase.item.info["queues"]
        self.rewritten = bool(phase.item.info["facts"].get("rewritten"))

    @cached_property
    def stores(self) -> list[StoreBeat]:
        """Every W beat that was taken."""
        aw, w = self.phase.beats["uar_aw"], self.phase.beats["uar_w"]
        sides = [int.from_bytes(s.tobytes(), "little") for s in aw["side"]]
        found, burst, beat = [], 0, 0
        for at, flags, keep, data in zip(w["cycle"].tolist(), w["flags"].tolist(), w["keep"], w["data"], strict=True):
            if burst >= len(sides):
                break
            side = sides[burst]
            line = (side & 0xFFF) // 64 + beat
            strobes = int.from_bytes(keep.tobytes(), "little")
            ahead = at - int(aw["cycle"][burst]) if not beat else 0
            head, count = data[:8].tobytes(), (side >> 28) + 1
            found.append(StoreBeat(at, side >> 12 & 0xFFF, line % 64, strobes, head, count, bool(flags & LAST), ahead))
            burst, beat = (burst + 1, 0) if flags & LAST else (burst, beat + 1)
        return found

    @cached_property
    def responses(self) -> list[int]:
        """BRESP of each burst, in order."""
        return [int(s[0]) & 3 for s in self.phase.beats["uar_b"]["side"]]

    @cached_property
    def counts(self) -> list[tuple[int, dict[str, int]]]:
        """Each change of the counters with its cycle."""
        events = self.phase.events["count"]
        words = events["value"][:, ::-1].tolist()
        return [(c, dict(zip(COUNTERS, w, strict=True))) for c, w in zip(events["cycle"].tolist(), words, strict=True)]

    @property
    def final(self) -> dict[str, int]:
        """Counters at the end."""
        return self.counts[-1][1]

    @cached_property
    def reads(self) -> list[Read]:
        """Reads that were answered, in the order of their addresses."""
        places = [(p, i) for i, q in enumerate(self.queues) for p in q.places]
        areas = sorted((base, base + 64 * ring, i) for (base, ring, _), i in places)
        starts = [a[0] for a in areas]
        lines = {record & ~63: i for (_, _, record), i in places}
        open_reads: dict[int, deque[Read]] = defaultdict(deque)
        found = []
        ar = self.phase.rows["mem_ar.rec"]
        for cycle, ident, addr in zip(ar["cycle"].tolist(), ar["id"].tolist(), ar["addr"].tolist(), strict=True):
            at = bisect_right(starts, addr) - 1
            queue, slot = lines.get(addr, -1), -1
            if at >= 0 and areas[at][0] <= addr < areas[at][1]:
                queue, slot = areas[at][2], (addr - areas[at][0]) // 64
            found.append(Read(cycle, queue, slot, addr, addr >= GPU))
            open_reads[ident].append(found[-1])
        r = self.phase.rows["mem_r.rec"]
        for i, (cycle, ident, resp) in enumerate(
            zip(r["cycle"].tolist(), r["id"].tolist(), r["resp"].tolist(), strict=True)
        ):
            read = open_reads[ident].popleft()
            read.back, read.place, read.bad, read.data = cycle, i, resp >= 2, r["data"][i].tobytes()
        return [x for x in found if x.back]

    @cached_property
    def under_way(self) -> int:
        """Most reads under way at once."""
        ends: list[int] = []
        most = 0
        for x in self.reads:
            while ends and ends[0] < x.asked:
                heapq.heappop(ends)
            heapq.heappush(ends, x.back)
            most = max(most, len(ends))
        return most

    @cached_property
    def works(self) -> list[Work]:
        """Work requests that came out."""
        numbers = {q.qpn: i for i, q in enumerate(self.queues)}
        blocks: dict[tuple[int, int], tuple[list[int], list[bytes]]] = defaultdict(lambda: ([], []))
        for x in sorted(self.reads, key=lambda x: x.back):
            if x.slot >= 0:
                times, data = blocks[x.queue, x.slot]
                times.append(x.back)
                data.append(x.data)
        found = []
        for f in frames_from_beats(self.phase.beats["m_wr"], WR):
            wr = SqWr.unpack(f.side)
            i = numbers.get(wr.qpn, -1)
            ring = False
            if i >= 0:
                times, data = blocks[i, wr.wqe_index % self.queues[i].ring]
                at = bisect_right(times, f.cycle) - 1
                ring = at >= 0 and (wr.error != 0 or wqe.Head(data[at]).index == wr.wqe_index)
            found.append(Work(f.cycle, wr, i, ring, f.cycles[-1] - f.cycle >= len(f.cycles)))
        return found


def view(phase: PhaseRecords) -> View:
    """The phase's view; made once for all cover groups."""
    found: View = phase.item.info.get("view") or View(phase)
    phase.item.info["view"] = found
    return found
