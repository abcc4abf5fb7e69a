# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever the model says: frames as scapy reads them, memory and completions as software sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.protocol import OP, QP, SYN, Hdr, Wr
from tb.common.beats import StreamFormat, frames_from_beats
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.fabric import layout
from tb.fabric.env import check_ring, wanted_receives, wanted_sends
from tb.fabric.experiment import expected_memory
from tb.nic import frames
from tb.nic.scene import M24, Expect, Scene
from tb.nic.status import last_status
from tb.rdma import oracle
from tb.wire.trusted import dissected

AXIS = StreamFormat()
Reader = Callable[[int, int], bytes]


def sent(phase: PhaseRecords) -> list[bytes]:
    """Frames that the NIC sent."""
    return [f.data for f in frames_from_beats(phase.beats["peer_rx"], AXIS)]


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Everything this module knows of a phase."""
    scene: Scene = phase.item.info["scene"]
    raw = sent(phase)
    out = [f"frame {i} sent: {wrong}" for i, f in enumerate(raw) if (wrong := frames.complaint(f, scene.roce))]
    if out:
        return out[:5]  # nothing more can be read from them
    packets = [frames.dissect(f, scene.roce) for f in raw]
    out += addressed(scene, packets)
    out += good(phase, scene, packets) if scene.expect is None else as_expected(phase, scene, scene.expect, packets)
    rule = phase.item.info.get("check")
    if rule is not None:
        out += rule(phase, packets)
    if phase.item.info.get("tshark"):
        out += tshark(phase, scene, raw)
    return out


def addressed(scene: Scene, packets: list[tuple[Hdr, bytes]]) -> list[str]:
    """Every packet goes from the NIC's queue pair to the peer's."""
    c = scene.rdma
    want = (c.src, c.dst, c.dest_qpn, c.pkey)
    wrong = [h for h, _ in packets if (h.src, h.dst, h.dest_qp, h.pkey) != want]
    return [f"{len(wrong)} packets sent from or to a wrong place, first {wrong[0]}"] if wrong else []


def memory(phase: PhaseRecords) -> Reader:
    """Memory after the phase."""
    phase.item.info["pokes"] = phase.item.info["stimulus"].pokes
    return oracle.reader(phase)


def answers(scene: Scene, packets: list[tuple[Hdr, bytes]]) -> list[tuple[int, int, int]]:
    """(syndrome, PSN offset, MSN offset) of the acknowledge packets sent."""
    c = scene.rdma
    return [
        (h.syndrome, h.psn - c.rq_psn & M24, h.msn - c.msn0 & M24) for h, _ in packets if h.opcode == OP.ACKNOWLEDGE
    ]


def good(phase: PhaseRecords, scene: Scene, packets: list[tuple[Hdr, bytes]]) -> list[str]:
    """Everything posted left and completed, everything that came is in memory, acknowledged and reported."""
    read = memory(phase)
    me = scene.me
    works = [
        Wr(
            opcode=m.op, is_inline=int(m.inline), length=len(m.payload), imm=m.imm,
            raddr=m.target_place.base + m.target, rkey=m.target_place.key,
        )
        for m in scene.messages
    ]  # fmt: skip
    source = iter([m.payload for m in scene.messages if not m.inline])

    def payload(_addr: int, _size: int) -> bytes:
        return next(source)

    requests = [p for p in packets if p[0].opcode != OP.ACKNOWLEDGE]
    carried = [m.payload if m.inline else b"" for m in scene.messages]
    out = oracle.check_requests(requests, works, carried, payload, scene.rdma.sq_psn, scene.mtu)
    for addr, data in expected_memory(scene.incoming).items():
        if read(addr, len(data)) != data:
            out.append(f"memory: {len(data)} bytes at {addr:#x} differ")
    out += check_ring("send CQ", read, layout.SEND_CQ, me, wanted_sends(me, scene.messages))
    out += check_ring("receive CQ", read, layout.RECV_CQ, me, wanted_receives(me, scene.incoming))
    got = answers(scene, packets)
    if bad := [a for a in got if a[0] != SYN.ACK_NO_CREDIT]:
        out.append(f"NAKs left: {bad}")
    if scene.incoming and (not got or got[-1][1:] != (scene.peer_psn - 1 & M24, len(scene.incoming))):
        out.append(f"last answer is {got[-1:]}, wanted PSN {scene.peer_psn - 1} and MSN {len(scene.incoming)}")
    status = last_status(phase)
    wanted = dict.fromkeys(status, 0) | {"good": len(scene.frames), "qp_state": int(QP.RTS)}
    if status != wanted:
        out.append(f"status {status}, wanted {wanted}")
    return out


def as_expected(phase: PhaseRecords, scene: Scene, e: Expect, packets: list[tuple[Hdr, bytes]]) -> list[str]:
    """What an :class:`Expect` says."""
    read = memory(phase)
    c = scene.rdma
    status = last_status(phase)
    seen: dict[str, Any] = {"error state": status["qp_state"] == QP.ERR, "halted": bool(status["halted"])}
    want: dict[str, Any] = {"error state": e.error, "halted": e.halted}
    if e.answers is not None:
        seen["answers"] = answers(scene, packets)
        want["answers"] = [(int(s), p & M24, m & M24) for s, p, m in e.answers]
    if e.requests is not None:
        seen["requests"] = [(h.opcode, h.psn - c.sq_psn & M24) for h, _ in packets if h.opcode != OP.ACKNOWLEDGE]
        want["requests"] = [(int(o), p) for o, p in e.requests]
    for name, base, log, start, first, entries in (
        ("send completions", c.scq_base, c.scq_log, c.scq_pi0, scene.me.send_index, e.sends),
        ("receive completions", c.rcq_base, c.rcq_log, c.rcq_pi0, c.rq_ci0, e.receives),
    ):
        if entries is not None:
            found = oracle.completions(read, base, log, start)
            seen[name] = [(x.wqe_counter - first & 0xFFFF, x.syndrome if x.is_error else 0) for x in found]
            want[name] = [(i, int(s)) for i, s in entries]
    for name, value in e.counts.items():
        seen[f"counter {name}"], want[f"counter {name}"] = status[name], value
    for addr, data in e.memory.items():
        seen[f"memory at {addr:#x}"], want[f"memory at {addr:#x}"] = read(addr, len(data)), data
    if e.stores is not None:
        seen["store responses"] = phase.rows["store_b.rec"]["resp"].tolist()
        want["store responses"] = list(e.stores)
    return [f"{n}: design {seen[n]}, wanted {want[n]}" for n in want if seen[n] != want[n]]


def tshark(phase: PhaseRecords, scene: Scene, raw: list[bytes]) -> list[str]:
    """Both directions as one capture, dissected by tshark: none malformed."""
    played = [f.data for f in frames_from_beats(phase.played["peer"], AXIS)]
    try:
        return dissected(raw + played, scene.roce, phase.folder.path / "capture.pcap")
    except FileNotFoundError:
        return ["tshark is not installed: this test needs it (Debian package tshark)"]
