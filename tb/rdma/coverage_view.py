# SPDX-License-Identifier: Apache-2.0
"""What one rdma block did in a phase, read off its ports: packets, work requests, completions, status.

Nothing here asks the model: an incoming packet was executed when the expected PSN moved over it, a completion
is what was written to a completion ring, a message left when its last packet was on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from models import cqe
from models.protocol import OP, SYN, Hdr, Mr, RdmaCfg, Wr
from models.rdma_parts import HALF, M24, PAGE
from tb.common.beats import Records, frames_from_beats
from tb.common.uvm import PhaseRecords
from tb.rdma.ports import COUNTERS, PKT, STATUS, fields_of, placed, unpack_regions

PAYLOAD, RECEIVE, COMPLETION = 1, 2, 3  # IDs on the memory port
BODY = ("FIRST", "MIDDLE", "LAST", "LAST", "ONLY", "ONLY")
RESPONSES = range(OP.READ_RESP_FIRST, OP.ATOMIC_ACK + 1)
EXECUTED = range(OP.SEND_FIRST, OP.WRITE_ONLY_IMM + 1)


@dataclass
class Packet:
    """A packet: header, its payload's size, first and last cycle.

    Of incoming ones: ``admit`` (why it is none of this queue pair's, "" if it is), ``ahead`` (PSN less the expected
    one, negative: old), whether it was ``executed``, and where its payload went (``offset`` in the first line,
    ``page`` offset, None if nothing was written).
    """

    hdr: Hdr
    size: int
    first: int
    last: int
    admit: str = ""
    ahead: int = 0
    executed: bool = False
    addr: int | None = None

    @property
    def body(self) -> str:
        """FIRST, MIDDLE, LAST or ONLY."""
        return BODY[self.hdr.opcode % 6]

    @property
    def send(self) -> bool:
        """SEND of any kind."""
        return self.hdr.opcode <= OP.SEND_ONLY_IMM

    @property
    def has_imm(self) -> bool:
        """It carries an immediate."""
        return self.hdr.opcode % 6 in (3, 5)


@dataclass
class Message:
    """Packets of a whole message and the work request that they came from (of the requester's side)."""

    packets: list[Packet]
    wr: Wr | None = None

    @property
    def kind(self) -> str:
        """As the mlx5 opcode is called."""
        last = self.packets[-1]
        return ("SEND" if last.send else "WRITE") + ("_IMM" if last.has_imm else "")

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(p.size for p in self.packets)

    @property
    def dense(self) -> bool:
        """Its packets follow without an idle cycle."""
        return all(b.first == a.last + 1 for a, b in zip(self.packets, self.packets[1:], strict=False))


@dataclass
class Entry:
    """A completion as it was written: cycle of its write, of which queue, its number since reset.

    ``waited``: cycles from payload to response of the last payload burst that memory confirmed before it.
    """

    cycle: int
    receive: bool
    number: int
    cqe: cqe.Cqe
    waited: int | None = None


def outsider(h: Hdr, c: RdmaCfg) -> str:
    """Why a packet is none of this queue pair's; "" if it is."""
    low = h.pkey & 0x7FFF
    rules = (
        ("transport class", h.opcode >= 0x20),
        ("queue pair 0", h.dest_qp == 0),
        ("other queue pair", h.dest_qp != c.qpn),
        ("partition 0", low == 0),
        ("other partition", low != c.pkey & 0x7FFF),
        ("two limited members", not (h.pkey | c.pkey) & 0x8000),
        ("source", h.src != c.dst),
        ("destination", h.dst != c.src),
    )
    return next((name for name, broken in rules if broken), "")


@dataclass
class View:
    """One block's ports. ``end`` is its suffix in a bench of two ("" in that of one)."""

    phase: PhaseRecords
    end: str = ""
    _ends: tuple[str, ...] = field(default=("_a", "_b"))

    def __post_init__(self) -> None:
        item = self.phase.item
        self.name = item.get_name()
        self.cfg = RdmaCfg.unpack(item.cfg[f"rdma{self.end}"])
        self.regions: list[Mr] = unpack_regions(item.cfg[f"mr{self.end}"])
        self.mtu = 128 << self.cfg.pmtu
        self.far: int = item.cfg.get("far", 0)
        self.timing = item.info.get(f"timing{self.end}")

    def rows(self, channel: str) -> Records:
        """Records of a memory channel."""
        return self.phase.rows[f"mem{self.end}_{channel}.rec"]

    def _packets(self, stream: str) -> list[Packet]:
        frames = frames_from_beats(self.phase.beats[stream], PKT)
        return [Packet(Hdr.unpack(f.side), len(f.data), f.cycles[0], f.cycles[-1]) for f in frames]

    @cached_property
    def status(self) -> list[tuple[int, dict[str, int]]]:
        """Each value of the status ports with its first cycle."""
        return self._events(f"status{self.end}", STATUS)

    @cached_property
    def counters(self) -> dict[str, int]:
        """Counters at the end; empty where the bench does not record them."""
        if "counters" not in self.phase.events or not len(self.phase.events["counters"]):
            return {}
        return fields_of(int.from_bytes(self.phase.events["counters"][-1]["value"].tobytes(), "little"), COUNTERS)

    def _events(self, name: str, fields: Any) -> list[tuple[int, dict[str, int]]]:
        events = self.phase.events[name]
        words = (int.from_bytes(v.tobytes(), "little") for v in events["value"])
        return [(c, fields_of(w, fields)) for c, w in zip(events["cycle"].tolist(), words, strict=True)]

    @cached_property
    def works(self) -> list[Wr]:
        """Work requests that were taken."""
        records = self.phase.beats[f"s_wr{self.end}"]
        first = np.concatenate(([True], (records["flags"][:-1] & 1).astype(bool)))[: len(records)]
        return [Wr.unpack(int.from_bytes(s.tobytes(), "little")) for s in records["side"][first]]

    @cached_property
    def left(self) -> list[Packet]:
        """Every packet that left, answers too."""
        return self._packets(f"pkt{self.end}" if self.end else "m_pkt")

    @cached_property
    def requests(self) -> list[Packet]:
        """Request packets that left."""
        return [p for p in self.left if p.hdr.opcode in EXECUTED]

    @cached_property
    def answers(self) -> list[Packet]:
        """Acknowledge packets that left."""
        return [p for p in self.left if p.hdr.opcode == OP.ACKNOWLEDGE]

    @cached_property
    def sent(self) -> list[Message]:
        """Whole messages that left, with their work requests: those that carry data, in order."""
        whole = grouped(self.requests)
        posted = [w for w in self.works if w.opcode]
        for message, wr in zip(whole, posted, strict=False):
            message.wr = wr
        return whole

    @cached_property
    def arrived(self) -> list[Message]:
        """Whole messages that were executed."""
        return grouped([p for p in self.incoming if p.executed])

    @cached_property
    def incoming(self) -> list[Packet]:
        """Every packet that came, judged by what the ports showed."""
        other = next((e for e in self._ends if e != self.end), "")
        found = self._packets(f"pkt{other}" if self.end else "s_pkt")
        moves = [(c, s["e_psn"]) for c, s in self.status]
        moves = [(c, v) for (c, v), (_, before) in zip(moves[1:], moves, strict=False) if v != before]
        rnr = [(a.first, a.hdr.psn) for a in self.answers if a.hdr.syndrome & 0xE0 == SYN.RNR]
        expected, done = self.cfg.rq_psn, 0
        for p in found:
            p.admit = outsider(p.hdr, self.cfg)
            ahead = p.hdr.psn - expected & M24
            p.ahead = ahead if ahead < HALF else ahead - (1 << 24)
            if p.admit or p.ahead or p.hdr.opcode not in EXECUTED or done == len(moves) or moves[done][0] <= p.first:
                continue
            refusal = next((a for a in rnr if a[1] == expected and p.first < a[0] < moves[done][0]), None)
            if refusal:  # it came again
                rnr.remove(refusal)
                continue
            p.executed = True
            expected, done = moves[done][1], done + 1
        self._place([p for p in found if p.executed and p.size])
        return found

    def _place(self, written: list[Packet]) -> None:
        """Addresses of payloads from what was written: bursts are in the packets' order."""
        aw, w = self.rows("aw"), self.rows("w")
        ids = np.repeat(aw["id"], aw["beats"].astype(np.int64))[: len(w)]
        lines = w[: len(ids)][ids == PAYLOAD]
        addresses, strobes, at = lines["addr"].tolist(), lines["strb"].tolist(), 0
        for p in written:
            if at >= len(addresses):
                return
            offset = (strobes[at] & -strobes[at]).bit_length() - 1
            p.addr = addresses[at] + offset
            at += -(-(offset + p.size) // cqe.SIZE)

    @cached_property
    def completions(self) -> list[Entry]:
        """What was written to the completion rings, in order."""
        aw, w = self.rows("aw"), self.rows("w")
        ids = np.repeat(aw["id"], aw["beats"].astype(np.int64))[: len(w)]
        rows = w[: len(ids)][ids == COMPLETION]
        counts = {False: 0, True: 0}
        found = []
        confirmed, delays = self._delays()
        for cycle, addr, data in zip(rows["cycle"].tolist(), rows["addr"].tolist(), rows["data"], strict=True):
            receive = 0 <= addr - placed(self.cfg.rcq_base, self.far) < cqe.SIZE << self.cfg.rcq_log
            last = int(np.searchsorted(confirmed, cycle)) - 1
            waited = int(delays[last]) if last >= 0 else None
            found.append(Entry(cycle, receive, counts[receive], cqe.parse(data.tobytes()), waited))
            counts[receive] += 1
        return found

    def _delays(self) -> tuple[Any, Any]:
        """Of each payload burst: cycle of its response, cycles since its last beat. Responses are in order."""
        aw, w, b = self.rows("aw"), self.rows("w"), self.rows("b")
        ends = np.cumsum(aw["beats"].astype(np.int64))[: len(b)] - 1
        n = int((ends < len(w)).sum())
        own = aw["id"][:n] == PAYLOAD
        done = b["cycle"][:n].astype(np.int64)
        return done[own], (done - w["cycle"][ends[:n]])[own]

    @property
    def failed(self) -> bool:
        """It ended in the error state."""
        return bool(self.status) and self.status[-1][1]["qp_state"] == 6

    def receive(self, index: int) -> tuple[int, int, int]:
        """(size, key, address) of a receive WQE as it stood in memory at the start; zeros if none did."""
        image = self.phase.item.images.get(f"mem{self.end}", {})
        slot = self.cfg.rq_base + 16 * (index % (1 << self.cfg.rq_log))
        raw = image.get(placed(slot, self.far), b"")
        raw = raw[:16].ljust(16, b"\0")
        return tuple(int.from_bytes(raw[a:b], "big") for a, b in ((0, 4), (4, 8), (8, 16)))  # type: ignore[return-value]


def grouped(packets: list[Packet]) -> list[Message]:
    """Whole messages of a sequence of packets in order."""
    whole: list[Message] = []
    begun: list[Packet] = []
    for p in packets:
        if p.body in ("FIRST", "ONLY"):
            begun = []
        begun.append(p)
        if p.body in ("LAST", "ONLY"):
            whole.append(Message(begun))
            begun = []
    return whole


def views(phase: PhaseRecords) -> list[View]:
    """The blocks of a phase's bench; made once for all cover groups."""
    if "views" not in phase.item.info:
        ends = ("_a", "_b") if "mr_a" in phase.item.cfg else ("",)
        phase.item.info["views"] = [View(phase, e) for e in ends]
    found: list[View] = phase.item.info["views"]
    return found


def name_of(codes: type[IntEnum], value: int) -> str:
    """Name of a code, "unknown" if it has none."""
    return next((c.name for c in codes if c == value), "unknown")


def length_class(size: int, mtu: int) -> str:
    """Where a message's length lies about the path MTU."""
    for name, value in (("0", 0), ("1", 1), ("PMTU-1", mtu - 1), ("PMTU", mtu), ("PMTU+1", mtu + 1)):
        if size == value:
            return name
    return "below" if size < mtu else "two packets" if size <= 2 * mtu else "many packets"


def crossing(addr: int, size: int) -> str:
    """How a range lies about 4 KiB boundaries."""
    end = addr % PAGE + size
    return "within" if end < PAGE else "up to" if end == PAGE else "across"


def offset_class(addr: int) -> str:
    """Where in a 64-byte line it begins."""
    return {0: "0", 1: "1", 63: "63"}.get(addr % 64, "inside")
