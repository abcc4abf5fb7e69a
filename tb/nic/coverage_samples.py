# SPDX-License-Identifier: Apache-2.0
"""Samples of the NIC's cover groups, read off the cable, the memory port, the UAR port and the counters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from models import wqe
from models.protocol import CQE_SYN, OP
from models.spec import spec
from tb.common.beats import StreamFormat, frames_from_beats
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.fabric.layout import GPU_DATA, SEND_CQ
from tb.nic.packets import Framed, completions, parse
from tb.nic.status import STATUS
from tb.rdma.coverage_errors import key_fault, syndrome_class
from tb.rdma.coverage_view import EXECUTED, crossing, grouped, length_class, name_of, offset_class, outsider
from tb.rdma.ports import fields_of

if TYPE_CHECKING:
    from tb.nic.scene import Scene

AXIS = StreamFormat()
VERDICTS = ("good", "icrc", "format", "fcs")
HALVES = (0x800, 0x900)
LINE = 1 << 6


class View:
    """What a phase did: frames both ways with the NIC's verdicts, status, the scene that was played."""

    def __init__(self, phase: PhaseRecords) -> None:
        self.phase = phase
        self.scene: Scene = phase.item.info["scene"]
        self.format = "RoCE" if self.scene.roce else "native"

    @cached_property
    def status(self) -> list[tuple[int, dict[str, int]]]:
        """Each value of the status ports with its first cycle."""
        events = self.phase.events["status"]
        words = (int.from_bytes(v.tobytes(), "little") for v in events["value"])
        return [(c, fields_of(w, STATUS)) for c, w in zip(events["cycle"].tolist(), words, strict=True)]

    @cached_property
    def received(self) -> list[tuple[str, Framed | None]]:
        """Frames that the NIC judged: verdict, and the packet of a good one."""
        verdicts = []
        for (_, before), (_, now) in zip(self.status, self.status[1:], strict=False):
            for v in VERDICTS:
                verdicts += [v] * (now[v] - before[v])
        frames = frames_from_beats(self.phase.beats["peer"], AXIS)
        return [
            (v, parse(f, self.scene.roce) if v == "good" else None) for v, f in zip(verdicts, frames, strict=False)
        ]  # fmt: skip

    @cached_property
    def good(self) -> list[Framed]:
        """Packets of the good frames received."""
        return [p for _, p in self.received if p is not None]

    @cached_property
    def sent(self) -> list[Framed]:
        """Packets that the NIC sent."""
        return [parse(f, self.scene.roce) for f in frames_from_beats(self.phase.beats["peer_rx"], AXIS)]


def view(phase: PhaseRecords) -> View:
    """The phase's view; made once for all cover groups."""
    if "view" not in phase.item.info:
        phase.item.info["view"] = View(phase)
    found: View = phase.item.info["view"]
    return found


def frames(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame: which way, format, verdict or opcode, pad; the other way's frames at the same time."""
    v = view(phase)
    for verdict, _ in v.received:
        yield {"format": v.format, "verdict": verdict}
    for way, packets, others in (("in", v.good, v.sent), ("out", v.sent, v.good)):
        firsts = np.array([p.first for p in others])
        lasts = np.array([p.last for p in others])
        for p in packets:
            busy = bool(((firsts <= p.last) & (lasts >= p.first)).any()) if len(firsts) else False
            sample: dict[str, object] = {"format": v.format, "way": way, "pad": p.pad, "size": size_class(p.size)}
            yield sample | {"opcode": name_of(OP, p.hdr.opcode), "at_once": busy}


def size_class(size: int) -> str:
    """Payload bytes of a frame."""
    return "0" if not size else "up to 64" if size <= 64 else "up to 1024" if size <= 1024 else "more"


def posted(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message that left: how it was posted, where its data were."""
    v = view(phase)
    if v.scene.expect is not None:
        return
    left = grouped([p for p in v.sent if p.hdr.opcode in EXECUTED])
    for m, asked in zip(left, v.scene.messages, strict=False):
        way = "BlueFlame" if asked.blueflame and asked.ring_bell else "doorbell"
        data = "inline" if asked.inline else "host" if asked.place.base < GPU_DATA else "GPU"
        sample: dict[str, object] = {"format": v.format, "kind": m.kind, "way": way, "data": data, "pmtu": v.scene.mtu}
        sample["length"] = length_class(m.size, v.scene.mtu)
        if not asked.inline and m.size:
            sample["offset"] = offset_class(asked.source)
        yield sample | {"packets": len(m.packets) > 1}


def arrived(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message from the peer in a phase without errors (its bytes were compared with memory)."""
    v = view(phase)
    if v.scene.expect is not None:
        return
    for m, asked in zip(grouped([p for p in v.good if p.hdr.opcode in EXECUTED]), v.scene.incoming, strict=False):
        addr = asked.target_place.base + asked.target
        sample: dict[str, object] = {"format": v.format, "kind": m.kind, "pmtu": v.scene.mtu}
        sample |= {"length": length_class(m.size, v.scene.mtu), "memory": "host" if addr < GPU_DATA else "GPU"}
        if m.size:
            sample |= {"offset": offset_class(addr), "page": crossing(addr, m.size)}
        yield sample | {"packets": len(m.packets) > 1}


def answers(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an acknowledge packet sent, with what it refuses, and one a stranger that was dropped."""
    v = view(phase)
    c = v.scene.rdma
    done, naks = c.msn0, 0
    for a in v.sent:
        if a.hdr.opcode != OP.ACKNOWLEDGE:
            continue
        code = syndrome_class(a.hdr.syndrome)
        yield {"format": v.format, "syndrome": code}
        asked = [p for p in v.good if p.hdr.psn == a.hdr.psn and p.hdr.opcode in range(0x20) and p.first < a.first]
        h = asked[0].hdr if asked else None
        if code == "ACK":
            if a.hdr.msn == done:
                yield {"refused": "duplicate"}
            if naks and h is not None:
                yield {"refused": "repeated, taken"}
        elif code == "NAK 60":
            yield {"refused": "gap again" if naks else "gap"}
        elif code == "RNR":
            yield {"refused": "no receive WQE"}
        elif h is not None and code == "NAK 62":
            yield {"refused": key_fault(v.scene.regions, h.rkey, h.va, h.dmalen, "remote_write")}
        elif h is not None and code == "NAK 61":
            yield {"refused": "opcode" if h.opcode not in EXECUTED else "length"}
        naks += code in ("NAK 60", "RNR")
        done = a.hdr.msn
    for p in v.good:
        if why := outsider(p.hdr, c):
            yield {"stranger": why}


def host(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a store, a completion, a halt."""
    v = view(phase)
    halted = next((c for c, s in v.status if s["halted"]), None)
    aw, w, b = (phase.rows[f"store_{n}.rec"] for n in ("aw", "w", "b"))
    first = np.concatenate(([True], w["last"][:-1].astype(bool)))[: len(w)]
    heads = w[first]
    for addr, resp, cycle, head in zip(
        aw["addr"].tolist(), b["resp"].tolist(), b["cycle"].tolist(), heads, strict=False
    ):
        sample: dict[str, object] = {"response": resp}
        if resp:
            shift = addr % LINE
            strobes = int(head["strb"]) >> shift & 0xFF
            qpn = wqe.Head(head["data"].tobytes()[shift : shift + 8].ljust(8, b"\0")).qpn
            late = halted is not None and cycle > halted
            sample["refused"] = (
                "halted" if late else "offset" if addr not in HALVES else "half a doorbell" if strobes != 0xFF
                else "other queue" if qpn != v.scene.me.qpn else "none"
            )  # fmt: skip
        yield sample
    for addr, entry in completions(phase.rows["mem_aw.rec"], phase.rows["mem_w.rec"]):
        queue = "send" if SEND_CQ <= addr < SEND_CQ + 0x2_0000 else "receive"
        yield {"queue": queue, "error": name_of(CQE_SYN, entry.syndrome) if entry.is_error else "none"}
    if halted is not None:
        yield {"state": "halted"}
    if v.status[-1][1]["qp_state"] == 6:
        yield {"state": "error"}


def reads(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a read address that follows another within a few cycles: whose they are."""
    rows = phase.rows["mem_ar.rec"]
    stalled = "mem_ar" in phase.item.ready
    ids, cycles = rows["id"].tolist(), rows["cycle"].tolist()
    near = 8 if stalled else 1
    for i in range(1, len(ids)):
        if cycles[i] - cycles[i - 1] <= near:
            sample: dict[str, object] = {"turn": f"{ids[i - 1]} then {ids[i]}", "stalled": stalled}
            if i > 1 and cycles[i] - cycles[i - 2] <= 2 * near and ids[i] == ids[i - 2] != ids[i - 1]:
                sample["alternates"] = f"{ids[i]} {ids[i - 1]} {ids[i]}"
                sample["contended"] = "the port stalls" if stalled else "the port is ready"
            yield sample


def credits(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase: cells that the peer sent against those that the NIC's buffer has."""
    v = view(phase)
    cells = len(phase.beats["peer"]) / spec().integer("link.grant_cells")
    dropped = any(verdict != "good" for verdict, _ in v.received) or any(outsider(p.hdr, v.scene.rdma) for p in v.good)
    yield {"buffers": cells, "dropped": dropped}


def phases(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """Samples of a phase: memory, counters that wrapped, Linux's captures, what tshark read."""
    v = view(phase)
    if phase.item.info.get("tshark"):
        yield {"tshark": v.format}
    if phase.item.get_name().startswith("softroce"):
        yield from linux(v)
        return
    if v.scene.expect is not None or not phase.item.get_name().startswith("random"):
        return
    timing = v.scene.timing
    yield {
        "memory": "slow" if timing.host.rd_latency > 100 else "fast",
        "format": v.format,
        "stalled": bool(v.scene.ready),
    }
    yield {"ring": "GPU" if v.scene.me.gpu_ring else "host"}
    wraps = {
        "PSN sent": any(p.hdr.psn == 0 and p.hdr.opcode in EXECUTED for p in v.sent),
        "PSN received": any(p.hdr.psn == 0 and p.hdr.opcode in EXECUTED for p in v.good),
        "MSN": any(p.hdr.opcode == OP.ACKNOWLEDGE and p.hdr.msn == 0 for p in v.sent),
    }
    entries = [e for _, e in completions(phase.rows["mem_aw.rec"], phase.rows["mem_w.rec"])]
    wraps["WQE index"] = any(a.wqe_counter > b.wqe_counter for a, b in pairwise(entries))
    wraps["completion ring"] = len({e.owner for e in entries}) == 2
    for name, happened in wraps.items():
        if happened:
            yield {"wrapped": name}


def linux(v: View) -> Iterator[Sample]:
    """Frames of a capture."""
    for verdict, p in v.received:
        yield {"linux_in": name_of(OP, p.hdr.opcode) if p is not None else f"wrong {verdict}"}
    for p in v.sent:
        yield {"linux_out": syndrome_class(p.hdr.syndrome)}
