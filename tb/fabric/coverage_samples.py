# SPDX-License-Identifier: Apache-2.0
"""Samples of the fabric's cover groups, read off the NICs' cables, memories and UAR ports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from models.cqe import Cqe
from models.protocol import OP
from models.rdma_parts import HALF, M24
from models.spec import spec
from models.wire import parse_frame
from tb.common.beats import StreamFormat, frames_from_beats
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.fabric.experiment import Experiment, Message
from tb.fabric.layout import Place
from tb.nic.packets import Framed, completions, parse
from tb.rdma.coverage_view import EXECUTED, PAYLOAD, grouped, length_class, name_of, offset_class
from tb.rdma.coverage_view import Message as Sent

AXIS = StreamFormat()
PATHS = ("direct", "one hop", "three hops")
WAYS = (("a", "b"), ("b", "a"))


class View:
    """What a phase did on both cables."""

    def __init__(self, phase: PhaseRecords) -> None:
        self.phase = phase
        self.exp: Experiment = phase.item.info["experiment"]
        self.path = PATHS[int(self.exp.topology)]
        self.profile = "RoCE" if self.exp.roce else "native"
        self.mtu = 128 << self.exp.pmtu

    @cached_property
    def frames(self) -> dict[str, list[Framed]]:
        """Packets that each NIC put on its cable."""
        beats = {s: frames_from_beats(self.phase.beats[f"cable_{s}"], AXIS) for s in "ab"}
        return {s: [parse(f, self.exp.roce) for f in found] for s, found in beats.items()}

    def delivered(self, end: str, peer: str) -> list[tuple[Sent, Message]]:
        """Messages of ``end`` that ``peer`` acknowledged, each with what was posted."""
        answers = [f.hdr.psn for f in self.frames[peer] if f.hdr.opcode == OP.ACKNOWLEDGE]
        if not answers:
            return []
        sent = grouped([f for f in self.frames[end] if f.hdr.opcode in EXECUTED])
        asked = self.exp.from_a if end == "a" else self.exp.from_b
        last = answers[-1]
        return [
            (m, p) for m, p in zip(sent, asked, strict=False) if (last - m.packets[-1].hdr.psn & M24) < HALF
        ]  # fmt: skip

    def entries(self, end: str) -> list[Cqe]:
        """Completions written at an end."""
        rows = self.phase.rows
        return [e for _, e in completions(rows[f"mem_{end}_aw.rec"], rows[f"mem_{end}_w.rec"])]

    @property
    def alone(self) -> Message | None:
        """The message of a row of the latency table."""
        return self.exp.from_a[0] if len(self.exp.from_a) == 1 and not self.exp.from_b else None


def view(phase: PhaseRecords) -> View:
    """The phase's view; made once for all cover groups."""
    if "view" not in phase.item.info:
        phase.item.info["view"] = View(phase)
    found: View = phase.item.info["view"]
    return found


def mode(m: Message) -> str:
    """How a message was posted."""
    if m.inline:
        return "inline, BlueFlame" if m.blueflame and m.ring_bell else "inline, doorbell"
    return "fetched, host" if m.place is Place.HOST else "fetched, GPU"


def messages(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message that arrived and was acknowledged."""
    v = view(phase)
    for end, peer in WAYS:
        for m, asked in v.delivered(end, peer):
            sample: dict[str, object] = {"path": v.path, "profile": v.profile, "host": v.exp.host, "kind": m.kind}
            sample |= {"way": f"{end} to {peer}", "mode": mode(asked), "size": length_class(m.size, v.mtu)}
            sample |= {"packets": len(m.packets) > 1, "target": asked.target_place.value}
            if m.size:
                sample["offset"] = offset_class(asked.target)
            if len(v.exp.from_a) > 1 and v.exp.from_b:
                sample["pmtu"] = v.mtu
            yield sample


def frames(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame on a NIC's cable; the other NIC's frames at the same time."""
    v = view(phase)
    for end, peer in WAYS:
        firsts = np.array([p.first for p in v.frames[peer]])
        lasts = np.array([p.last for p in v.frames[peer]])
        for p in v.frames[end]:
            busy = bool(((firsts <= p.last) & (lasts >= p.first)).any()) if len(firsts) else False
            sample: dict[str, object] = {"profile": v.profile, "way": f"{end} to {peer}", "pad": p.pad}
            yield sample | {"opcode": name_of(OP, p.hdr.opcode), "at_once": busy}
    if phase.item.info.get("tshark"):
        yield {"tshark": v.profile}


def latency(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a row of the latency table: a message alone whose payload became visible at the peer."""
    v = view(phase)
    m = v.alone
    if m is None:
        return
    store, aw, w = (phase.rows[n] for n in ("store_a_w.rec", "mem_b_aw.rec", "mem_b_w.rec"))
    payload = np.repeat(aw["id"], aw["beats"].astype(np.int64))[: len(w)] == PAYLOAD
    if not len(store) or not payload.any():
        return
    cycles = int(w["visible"][payload][-1]) - int(store["cycle"][-1])
    sample: dict[str, Any] = {"path": v.path, "profile": v.profile, "host": v.exp.host}
    sample |= {"mode": "inline" if m.inline else "fetched", "bytes": len(m.payload)}
    yield sample | {"in_time": cycles * spec().value("clock.period_ns") < spec().value("target.e2e_ns")}


def moe(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message of the dispatch, and one for the whole."""
    v = view(phase)
    if not v.exp.name.startswith("moe"):
        return
    arrived = v.delivered("a", "b")
    for m, asked in arrived:
        sample: dict[str, object] = {"profile": v.profile, "signaled": asked.signaled, "bell": asked.ring_bell}
        sample["memory"] = f"{asked.place.value} to {asked.target_place.value}"
        sample["packets"] = [p.body for p in m.packets]
        yield sample
    done = sum(not e.is_error for e in v.entries("a"))
    bursts = [b.first - a.last for a, b in pairwise(v.frames["a"])]
    yield {
        "profile": v.profile, "whole": len(arrived) == len(v.exp.from_a),
        "completed": done == sum(m.signaled for m in v.exp.from_a), "dense": bursts.count(1) > len(bursts) // 4,
    }  # fmt: skip


def phases(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """Samples of a phase in which both NICs send: rings, hosts, counters that wrapped at either end."""
    v = view(phase)
    if not v.exp.from_b:
        return
    for end, side in (("a", v.exp.a), ("b", v.exp.b)):
        yield {"ring": "GPU" if side.gpu_ring else "host", "host": v.exp.host}
        own = v.frames[end]
        entries = v.entries(end)
        wraps = {
            "PSN": any(p.hdr.psn == 0 and p.hdr.opcode in EXECUTED for p in own),
            "MSN": any(p.hdr.opcode == OP.ACKNOWLEDGE and p.hdr.msn == 0 for p in own),
            "WQE index": any(x.wqe_counter > y.wqe_counter for x, y in pairwise(entries)),
            "completion ring": len({e.owner for e in entries}) == 2,
        }
        for name, happened in wraps.items():
            if happened:
                yield {"wrapped": name, "end": end}


def lost(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that did not arrive: where and why; with the beats that went the same way before its end. And
    what kept two senders to one port from losing any."""
    v = view(phase)
    if v.exp.converge:
        yield {"kept": "pauses" if v.exp.roce and phase.item.info["pauses_a"] else "credits"}
    if v.exp.ratio:
        yield {"damaged": "RoCE, dropped" if v.exp.roce else "native, sent again"}  # the checks have seen it
    beats = {end: frames_from_beats(phase.beats[f"cable_{end}"], AXIS) for end in "ab"}
    if v.exp.disguised:
        for frame in beats["a"]:
            yield {"where": f"NIC, {parse_frame(frame.data, not v.exp.roce)[0].removeprefix('drop_')}"}
    for (switch, to), port in v.exp.astray.items():
        place = "spine" if switch == 1 else "leaf"
        room = spec().integer("link.grant_cells") + spec().integer("switch.egress_beats")
        gone = 0
        for frame in beats["a" if to == "b" else "b"]:
            gone += -(-len(frame.data) // AXIS.data_bytes)
            yield {"where": f"{place}, no entry" if port is None else f"{place}, port without a link",
                   "held": port is not None and gone > room}  # fmt: skip


def compared(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """A case of the test compare."""
    case = phase.item.info.get("case")
    if case is not None:
        roce = phase.item.info["experiment"].roce
        yield {"profile": "RoCE" if roce else "native", "mode": "inline" if case.inline else "fetched"}
