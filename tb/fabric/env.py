# SPDX-License-Identifier: Apache-2.0
"""Bench of the fabric: what it records, what the model says of it, and what must hold whatever the model says."""

from __future__ import annotations

from typing import Any

import numpy as np

from models import cqe, wqe
from models.fabric import Fabric, Net
from models.link import cable_cycles
from models.nic import NicConfig
from models.protocol import CQE, WQE
from models.spec import spec
from models.wire import GOOD
from tb.common.axi import memory_after, memory_prediction, memory_rows, store_items, store_prediction, store_rows
from tb.common.beats import Records, StreamFormat, frames_from_beats
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.source import StoreSource
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, Prediction
from tb.fabric import layout
from tb.fabric.coverage import COVERAGE
from tb.fabric.experiment import (
    NET_WIDTH,
    QP_WIDTH,
    TABLE_SIDE,
    Experiment,
    Message,
    expected_memory,
    link_cfg,
    memory_timing,
    prefix,
    receives,
    table,
)  # fmt: skip
from tb.nic.status import status_changes
from tb.rdma.env import joined
from tb.rdma.ports import fields_of
from tb.wire import trusted

AXIS = StreamFormat()
TABLE = StreamFormat(4, TABLE_SIDE)
STATUS = (
    *((f"unknown{n}", 32) for n in (2, 1, 0)), ("dropped1", 32), ("dropped0", 32),
    ("qp_state1", 3), ("qp_state0", 3), ("halted1", 1), ("halted0", 1),
)  # fmt: skip
PAUSING = (("pausing1", 1), ("pausing0", 1))
OTHER = {"a": "b", "b": "a"}
SCAPY_FRAMES = 400  # scapy and the bitwise VCRC take some ms a frame: of more, an even sample of this many


def model_of_item(item: PhaseItem) -> Fabric:
    """The fabric's model with the item's experiment; stores are the caller's."""
    exp: Experiment = item.info["experiment"]
    net = Net(int(exp.topology), cable_cycles(spec().value("cable.length_m")), link_cfg(exp), exp.roce, prefix(exp))
    nics = []
    for suffix, me, peer, _, _ in exp.sides():
        s = item.info[suffix]
        nics.append(
            NicConfig(
                doorbell=layout.doorbell_cfg(me),
                rdma=layout.rdma_cfg(me, peer, roce=exp.roce, pmtu=exp.pmtu),
                regions=layout.regions(),
                wire=layout.wire_cfg(me, peer, roce=exp.roce_at(suffix)),
                timing=memory_timing(exp.host),
                windows=layout.WINDOWS,
                image=s.image,
                pokes=s.pokes,
            )
        )
    return Fabric(net, (nics[0], nics[1]), table(exp))


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every record, from the stimulus alone. With errors on the cables nobody says in which cycle what comes (the
    link's bench does, models/link_volume.py): :func:`check` alone judges, and knows what would be sent without."""
    exp: Experiment = phase.item.info["experiment"]
    model = model_of_item(phase.item)
    sources = []
    for suffix, nic in zip("ab", model.nics, strict=True):
        records = phase.item.files[f"store_{suffix}.store"]
        sources.append((records, StoreSource(model.kernel, f"store_{suffix}", store_items(records), nic)))
    phase.item.info["stamps"] = model.run(exp.max_cycles)
    pausing = {f"pausing{n}": log for n, log in enumerate(model.pausing)}
    out: dict[str, Any] = {"status": model_status(model), "pausing": joined(pausing, PAUSING), "short": None}
    for n, suffix in enumerate("ab"):
        out[f"cable_{suffix}"] = model.cable_beats(n)
        nic = model.nics[n]
        rows = memory_prediction(f"mem_{suffix}", nic.memory)
        rows |= store_prediction(f"store_{suffix}", *sources[n], nic.responses)
        out |= {name: r for name, r in rows.items() if name in PLAN.rows}
    if exp.ratio:
        phase.item.info["clean_beats"] = sum(len(out[f"cable_{end}"]) for end in "ab")
        return dict.fromkeys(out)
    return out


def model_status(model: Fabric) -> list[tuple[int, int]]:
    """The status record: {unknown (3), dropped (2), qp_state (2), halted (2)}."""
    logs = {f"unknown{n}": model.unknown_frames(n) for n in range(len(model.switches))}
    for n, nic in enumerate(model.nics):
        status = status_changes(nic)
        logs |= {f"{name}{n}": status[name] for name in ("qp_state", "halted")}
        drops = [cycle for cycle, verdict in nic.wire_rx.verdicts if verdict != GOOD]
        logs[f"dropped{n}"] = [(0, 0), *((cycle, i + 1) for i, cycle in enumerate(drops))]
    return joined(logs, STATUS)


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Memory and completions as software would see them: from the messages alone, no model."""
    exp: Experiment = phase.item.info["experiment"]
    if exp.ratio and exp.roce:
        return check_damaged(exp, phase)
    complaints = [] if exp.ratio else outsiders(exp, phase)  # what is sent again is not a whole frame
    complaints += check_lost(exp, phase)
    if exp.ratio and sent_beats(phase) <= phase.item.info["clean_beats"]:
        complaints.append("no NIC sent anything again: the errors were never seen")
    complaints += check_pauses(ctx, exp, phase)
    if exp.converge and not exp.roce:
        complaints += check_credits(ctx, exp, phase)
    for suffix, me, _, messages, incoming in exp.sides():
        if exp.lost:
            messages, incoming = [], []
        elif exp.converge:  # A's arrive, and no answer comes back
            messages, incoming = [], incoming if suffix == "b" else []
        s = phase.item.info[suffix]
        lines = memory_after(s.image, phase.rows[f"mem_{suffix}_w.rec"], s.pokes)

        def read(addr: int, size: int, lines: Any = lines) -> bytes:
            first = addr & ~63
            blob = b"".join(bytes(lines.get(a, bytes(64))) for a in range(first, addr + size, 64))
            return blob[addr - first : addr - first + size]

        for addr, data in expected_memory(incoming).items():
            got = read(addr, len(data))
            if got != data:
                at = next(i for i, (x, y) in enumerate(zip(got, data, strict=True)) if x != y)
                complaints.append(f"memory of {suffix}: {len(data)} bytes at {addr:#x} differ from byte {at} on")
        complaints += check_ring(f"send CQ of {suffix}", read, layout.SEND_CQ, me, wanted_sends(me, messages))
        complaints += check_ring(f"receive CQ of {suffix}", read, layout.RECV_CQ, me, wanted_receives(me, incoming))
    return complaints


def check_lost(exp: Experiment, phase: PhaseRecords) -> list[str]:
    """Each lost frame is counted where it is lost, unless a port without a link took it, and leaves no trace."""
    frames = {end: len(frames_from_beats(phase.beats[f"cable_{end}"], AXIS)) for end in "ab"}
    want = dict.fromkeys((name for name, _ in STATUS if name.startswith(("unknown", "dropped"))), 0)
    if exp.disguised:
        want |= {"dropped0": frames["b"], "dropped1": frames["a"]}
    want |= {f"unknown{n}": frames[OTHER[to]] for (n, to), port in exp.astray.items() if port is None}
    got = fields_of(int.from_bytes(phase.events["status"][-1]["value"].tobytes(), "little"), STATUS)
    out = [f"{name}: {got[name]}, frames lost there {n}" for name, n in want.items() if got[name] != n]
    written = [end for end in "ab" if exp.lost and len(phase.rows[f"mem_{end}_aw.rec"])]
    return out + [f"memory of {end} is written, nothing arrived" for end in written]


def sent_beats(phase: PhaseRecords) -> int:
    """Beats that left both NICs, those sent again too."""
    return sum(len(phase.beats[f"cable_{end}"]) for end in "ab")


def held(rows: Records, n: int) -> int:
    """Cycles for which a NIC's level was 1, up to the last change."""
    level = rows["value"].reshape(len(rows)).astype(int)[:-1] >> n & 1
    return int((np.diff(rows["cycle"].astype(int)) * level).sum())


def check_damaged(exp: Experiment, phase: PhaseRecords) -> list[str]:
    """RoCE with errors, back to back, no retry: B's link drops and counts what has a wrong FCS; of A's messages those
    before the first lost frame arrived whole, and none behind it is in memory; A's queue pair stops with an error."""
    got = fields_of(int.from_bytes(phase.events["status"][-1]["value"].tobytes(), "little"), STATUS)
    s = phase.item.info["b"]
    lines = memory_after(s.image, phase.rows["mem_b_w.rec"], s.pokes)
    arrived = []
    for m in exp.from_a:
        addr = m.target_place.base + m.target
        blob = b"".join(bytes(lines.get(a, bytes(64))) for a in range(addr, addr + len(m.payload), 64))
        arrived.append((blob == m.payload, any(blob)))
    whole = [w for w, _ in arrived]
    first = whole.index(False) if False in whole else len(whole)
    out = []
    if not got["dropped1"]:
        out.append("B dropped nothing: the errors were never seen")
    if first == len(whole):
        out.append("every message arrived though frames were dropped")
    if any(some for _, some in arrived[first + 1 :]):
        out.append(f"message {first} is the first that did not arrive, and one behind it did")
    phase.item.info["damaged"] = {"arrived": first, **got}
    return out


def check_pauses(ctx: RunContext, exp: Experiment, phase: PhaseRecords) -> list[str]:
    """Where two ends send to one port in RoCE, each of them is paused; nowhere else is anybody."""
    rows = phase.events["pausing"]
    level = rows["value"].reshape(len(rows)).astype(int)
    out = []
    for n, end in enumerate("ab"):
        times = int((np.diff(level >> n & 1, prepend=0) == 1).sum())
        phase.item.info[f"pauses_{end}"] = times
        if exp.converge and exp.roce:
            result = Result(ctx.run_dir)
            result.figure(f"pauses_of_nic_{end}", times, "count", held_cycles=held(rows, n))
            result.save()
        if (times > 0) != (exp.converge and exp.roce):
            out.append(f"NIC {end}: paused {times} times")
    return out


def check_credits(ctx: RunContext, exp: Experiment, phase: PhaseRecords) -> list[str]:
    """Natively each of two ends that send to one port waits for credits: about every second cycle, as both want all."""
    rows = phase.events["short"]
    out = []
    for n, end in enumerate("ab"):
        cycles = held(rows, n)
        beats = len(phase.beats[f"cable_{end}"])
        result = Result(ctx.run_dir)
        result.figure(f"short_of_credits_nic_{end}", cycles, "cycles", beats=beats, cells=16 * exp.cells)
        result.save()
        if cycles < beats // 4:
            out.append(f"NIC {end}: short of credits for {cycles} cycles only, with {beats} beats sent")
    return out


def outsiders(exp: Experiment, phase: PhaseRecords) -> list[str]:
    """What scapy (every frame, of many a sample) and tshark (where the item asks for it) say of the frames."""
    frames = [f.data for cable in ("cable_a", "cable_b") for f in frames_from_beats(phase.beats[cable], AXIS)]
    judge = trusted.check_roce if exp.roce else trusted.check_native
    step = -(-len(frames) // SCAPY_FRAMES) or 1
    out = [f"frame {i}: {wrong}" for i in range(0, len(frames), step) if (wrong := judge(frames[i]))]
    if phase.item.info.get("tshark"):
        out += trusted.dissected(frames, exp.roce, phase.folder.path / "frames.pcap")
    return out[:5]


def wanted_sends(me: layout.Side, messages: list[Message]) -> list[dict[str, int]]:
    """Send completions due: opcode and WQE counter of each signalled message."""
    out, index = [], me.send_index
    for m in messages:
        units = 1 + (m.op in wqe.WRITES)
        units += -(-(4 + len(m.payload)) // 16) if m.inline else bool(m.payload)
        if m.signaled:
            out.append({"opcode": CQE.REQ, "wqe_counter": index, "qpn": me.qpn, "send_opcode": m.op})
        index = (index + wqe.block_count(units)) & 0xFFFF
    return out


def wanted_receives(me: layout.Side, incoming: list[Message]) -> list[dict[str, int]]:
    """Receive completions due."""
    kinds = {WQE.SEND: CQE.RESP_SEND, WQE.SEND_IMM: CQE.RESP_SEND_IMM, WQE.WRITE_IMM: CQE.RESP_WR_IMM}
    out = []
    for i, m in enumerate(receives(incoming)):
        want = {"opcode": int(kinds[WQE(m.op)]), "wqe_counter": (me.recv_index + i) & 0xFFFF}
        want["byte_cnt"] = len(m.payload)
        if m.op != WQE.SEND:
            want["imm"] = m.imm
        out.append(want)
    return out


def check_ring(name: str, read: Any, base: int, me: layout.Side, wanted: list[dict[str, int]]) -> list[str]:
    """Completions in a ring from the start index on: fields as wanted, owner bit of the pass, none beyond."""
    out = []
    entries = 1 << me.cq_log
    for i, want in enumerate(wanted):
        index = me.cq_index + i
        got = cqe.parse(read(base + 64 * (index % entries), 64))
        want = want | {"owner": index >> me.cq_log & 1}
        wrong = {k: (getattr(got, k), v) for k, v in want.items() if getattr(got, k) != v}
        if wrong:
            out.append(f"{name}: entry {i} of {len(wanted)}: (found, wanted) {wrong}")
    beyond = read(base + 64 * ((me.cq_index + len(wanted)) % entries), 64)
    if len(wanted) < entries and any(beyond):
        out.append(f"{name}: an entry too many")
    return out


PLAN = BenchPlan(
    plays={"tbl": TABLE},
    streams={"cable_a": AXIS, "cable_b": AXIS},
    events={"status": sum(w for _, w in STATUS), "pausing": sum(w for _, w in PAUSING), "short": 2},
    cfgs={"net": NET_WIDTH, "err": 65, "thr": 31 * 64, "qp_a": QP_WIDTH, "qp_b": QP_WIDTH},
    rows={
        name: dtype
        for suffix in "ab"
        for name, dtype in (memory_rows(f"mem_{suffix}") | store_rows(f"store_{suffix}")).items()
        if not name.endswith("_r.rec")
    },
    predict=predict,
    check=check,
    coverage=COVERAGE,
)
