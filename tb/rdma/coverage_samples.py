# SPDX-License-Identifier: Apache-2.0
"""Samples of rdma's cover groups, one for each message, packet, answer, completion or phase."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.protocol import CQE_SYN, OP, QP, SYN, WQE
from models.rdma_parts import HALF, M24
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.rdma.coverage_errors import key_fault, syndrome_class
from tb.rdma.coverage_view import (
    EXECUTED,
    RESPONSES,
    Packet,
    View,
    crossing,
    length_class,
    name_of,
    offset_class,
    views,
)
from tb.rdma.ports import placed

GPU = 1 << 32
FLUSHED = {True: "send, signalled", False: "send, not signalled"}


def window(addr: int) -> str:
    """Which memory."""
    return "GPU" if addr >= GPU else "host"


def requests(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message that left."""
    for v in views(phase):
        for m in v.sent:
            sample = {"kind": m.kind, "pmtu": v.mtu, "length": length_class(m.size, v.mtu)}
            sample["solicited"] = bool(m.packets[-1].hdr.se)
            if m.wr is not None:
                sample |= {
                    "source": "inline" if m.wr.is_inline else window(m.wr.laddr),
                    "signaled": bool(m.wr.signaled),
                }
                if not m.wr.is_inline and m.size:
                    sample |= {"offset": offset_class(m.wr.laddr), "page": crossing(m.wr.laddr, m.size)}
                    if len(m.packets) > 1:
                        sample["spacing"] = m.dense
            yield sample


def sent_packets(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a request packet that left."""
    for v in views(phase):
        for p in v.requests:
            yield {"opcode": name_of(OP, p.hdr.opcode), "body": p.body, "psn": p.hdr.psn}


def works(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a work request taken; ``refused`` where it completed with a verdict of its own."""
    for v in views(phase):
        verdict = {e.cqe.wqe_counter: e.cqe.syndrome for e in v.completions if not e.receive and e.cqe.is_error}
        gone = {m.wr.wqe_index for m in v.sent if m.wr is not None}
        for wr in v.works:
            sample: dict[str, object] = {"index": wr.wqe_index}
            if wr.opcode == WQE.NOP:
                sample["nop"] = "signalled" if wr.signaled else "not signalled"
            if wr.wqe_index in gone and not wr.is_inline:
                end = any(m.valid and m.key == wr.lkey and wr.laddr + wr.length == m.base + m.length for m in v.regions)
                known = [m for m in v.regions if m.valid and m.key == wr.lkey]
                sample["accepted"] = (
                    "empty, any key" if not wr.length and not known
                    else "ends with the region" if end
                    else "read-only region" if known and not known[0].local_write else "inside"
                )  # fmt: skip
            if wr.wqe_index not in gone and (status := verdict.get(wr.wqe_index)):
                if status == CQE_SYN.LOC_QP_OP:
                    sample["refused"] = "malformed" if wr.error else "unknown opcode"
                elif status == CQE_SYN.LOC_LEN:
                    sample["refused"] = "above 2^31 bytes"
                elif status == CQE_SYN.LOC_PROT:
                    sample["refused"] = key_fault(v.regions, wr.lkey, wr.laddr, wr.length) or "memory failed"
            yield sample


def arrivals(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message that was executed."""
    for v in views(phase):
        used = 0
        for m in v.arrived:
            head, last = m.packets[0], m.packets[-1]
            sample = {
                "kind": m.kind,
                "pmtu": v.mtu,
                "length": length_class(m.size, v.mtu),
                "solicited": bool(last.hdr.se),
            }
            sample |= {"ackreq": bool(last.hdr.ackreq), "spacing": len(m.packets) > 1 and m.dense}
            if head.addr is not None:
                sample |= {"window": window(head.addr), "offset": offset_class(head.addr)}
                sample["page"] = crossing(head.addr, m.size)
            if m.kind.startswith("SEND"):
                size = v.receive(v.cfg.rq_ci0 + used)[0]
                sample["receive"] = "full" if size == m.size else "room left"
            elif not m.size and not any(r.valid and r.key == head.hdr.rkey for r in v.regions):
                sample["border"] = "empty, any key"
            elif any(r.key == head.hdr.rkey and head.hdr.va + m.size == r.base + r.length for r in v.regions):
                sample["border"] = "ends with the region"
            used += m.kind != "WRITE"
            yield sample


def incoming(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a packet that came: how it stood to the expected PSN, and what became of it."""
    for v in views(phase):
        foreign = sum(bool(p.admit) for p in v.incoming)
        for p in v.incoming:
            if p.admit:
                if v.counters.get("cnt_drop_admit") == foreign:
                    yield {"outsider": p.admit}
                continue
            if p.hdr.opcode in RESPONSES:
                continue
            sample: dict[str, object] = {"stalled": p.last - p.first + 1 > max(1, -(-p.size // 64))}
            if p.executed:
                sample |= {"opcode": name_of(OP, p.hdr.opcode), "body": p.body, "psn": p.hdr.psn}
            if v.cfg.state in (QP.RTS, QP.RTR) and not v.failed:
                sample["ahead"] = p.ahead
                if p.ahead < 0:
                    sample["old"] = old_kind(v, p)
            if p.hdr.pkey != 0xFFFF and p.executed:
                sample["partition"] = "limited member" if not p.hdr.pkey & 0x8000 else "own partition"
            yield sample


def old_kind(v: View, p: Packet) -> str:
    """What an old request is."""
    if p.hdr.opcode == OP.READ_REQUEST:
        return "READ"
    if p.hdr.opcode not in EXECUTED:
        return "other"
    if p.body in ("FIRST", "ONLY") and not p.send and key_fault(v.regions, p.hdr.rkey, p.hdr.va, 0):
        return "WRITE, wrong key"
    return ("SEND" if p.send else "WRITE") + ("" if p.hdr.ackreq else ", no AckReq")


def answers(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an acknowledge packet that left: what it says, how many messages it speaks for, what it waited for."""
    for v in views(phase):
        before, last_nak = v.cfg.msn0, ""
        for i, p in enumerate(v.left):
            if p.hdr.opcode != OP.ACKNOWLEDGE:
                continue
            code = syndrome_class(p.hdr.syndrome)
            done = p.hdr.msn - before & M24
            sample: dict[str, object] = {"syndrome": code, "msn": p.hdr.msn, "psn": p.hdr.psn}
            if code == "ACK":
                sample["speaks_for"] = done
            inside = 0 < i < len(v.left) - 1 and v.left[i - 1].hdr.opcode in EXECUTED
            if inside and v.left[i - 1].body in ("FIRST", "MIDDLE"):
                sample["place"] = "inside a message of ours"
            if code in ("NAK 60", "RNR"):
                sample["nak_again"] = last_nak == code
                last_nak = code
            if code == "ACK" and last_nak and i and v.left[i - 1].hdr.syndrome not in (0, SYN.ACK_NO_CREDIT):
                sample["behind"] = last_nak
            before = p.hdr.msn
            yield sample
        yield from silences(v)


def silences(v: View) -> Iterator[Sample]:
    """Packets ahead that came behind a NAK and were not answered, by the NAK's code."""
    naks = [a for a in v.answers if syndrome_class(a.hdr.syndrome) in ("NAK 60", "RNR")]
    for nak in naks:
        quiet = [p for p in v.incoming if p.first > nak.first and not p.admit and p.ahead > 0]
        if quiet and v.counters.get("cnt_drop_seq"):
            yield {"silence": syndrome_class(nak.hdr.syndrome)}
        wanted = [p for p in v.incoming if p.executed and p.hdr.psn == nak.hdr.psn and p.first > nak.first]
        if wanted:
            yield {"repaired": syndrome_class(nak.hdr.syndrome)}


def completions(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a completion written."""
    for v in views(phase):
        kind = {w.wqe_index: (w.opcode, w.signaled) for w in v.works}
        for e in v.completions:
            c, start = e.cqe, v.cfg.rcq_pi0 if e.receive else v.cfg.scq_pi0
            log = v.cfg.rcq_log if e.receive else v.cfg.scq_log
            index = start + e.number
            queue = "receive" if e.receive else "send"
            sample: dict[str, object] = {"queue": queue, "owner": c.owner, "wqe": c.wqe_counter}
            if e.number and not index % (1 << log):
                sample["producer"] = "2^24" if index == 1 << 24 else "ring"
            if c.is_error:
                sample["send_error" if not e.receive else "receive_error"] = name_of(CQE_SYN, c.syndrome)
                if c.syndrome == CQE_SYN.WR_FLUSH:
                    sample["flushed"] = "receive" if e.receive else FLUSHED[bool(kind.get(c.wqe_counter, (0, 1))[1])]
            elif e.receive:
                sample |= {"received": c.opcode, "se": bool(c.se)}
                sample["bytes"] = "0" if not c.byte_cnt else "some"
                if e.waited is not None:
                    sample["wait"] = e.waited
            else:
                sample["done"] = kind.get(c.wqe_counter, (-1, 0))[0]
            yield sample


def responses(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a response that came: where in the window, what it says."""
    for v in views(phase):
        at, status = 0, v.status
        for p in v.incoming:
            if p.hdr.opcode not in RESPONSES or p.admit or v.cfg.state != QP.RTS:
                continue
            while at + 1 < len(status) and status[at + 1][0] <= p.first + 4:
                at += 1
            now = status[at][1]
            if now["qp_state"] == QP.ERR:
                continue
            outstanding = now["nxt_psn"] - now["una_psn"] & M24
            ahead = p.hdr.psn - now["una_psn"] & M24
            if ahead < outstanding:
                place = "oldest" if not ahead else "newest" if ahead == outstanding - 1 else "between"
                code = syndrome_class(p.hdr.syndrome) if p.hdr.opcode == OP.ACKNOWLEDGE else "READ or ATOMIC"
                sample = {"place": place, "syndrome": code, "outstanding": outstanding}
                yield sample | ({"acknowledged": place} if code == "ACK" else {})
            else:
                yield {"place": "old" if ahead >= HALF else "not sent yet"}


def linux(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a request and an answer of an episode that Linux had."""
    for v in views(phase):
        if not v.name.startswith("softroce"):
            continue
        for p in v.incoming:
            if p.executed:
                yield {"request": name_of(OP, p.hdr.opcode)}
            elif p.ahead:
                yield {"loss": "behind a gap" if p.ahead > 0 else "repeated"}
        for a in v.answers:
            yield {"answer": syndrome_class(a.hdr.syndrome)}


def pairs(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message that one block sent and the other executed; one a phase for the rate."""
    both = views(phase)
    if len(both) != 2:
        return
    for v, peer in (both, both[::-1]):
        for m, got in zip(v.sent, peer.arrived, strict=False):
            source = "inline" if m.wr is not None and m.wr.is_inline else "fetched"
            many = len(m.packets) > 1
            yield {"way": f"{v.end[1]} to {peer.end[1]}", "kind": got.kind, "source": source, "packets": many}
        if phase.item.info.get("rate") and len(v.sent):
            shift = v.sent[0].wr.laddr % 64 if v.sent[0].wr is not None else 0
            cycles = phase.beats[f"pkt{v.end}"]["cycle"]
            lo, hi = len(cycles) // 10, len(cycles) * 9 // 10
            keep = np.unpackbits(phase.beats[f"pkt{v.end}"]["keep"][lo:hi], axis=1).sum()
            rate = float(keep) / max(1, int(cycles[hi]) - int(cycles[lo]))
            yield {"rate": rate, "pmtu": v.mtu, "shift": "aligned" if not shift else "unaligned"}


def latency(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a row of the latency table that was read off the records, and was as the table says."""
    rows = phase.item.info.get("latency_rows")
    for what, begin, end, cycles in rows(phase) if rows else ():
        if int(end) - int(begin) == cycles:
            yield {"row": what}


def carries(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a message, and one a ring, on both sides of a multiple of 2^32."""
    for v in views(phase):
        edge = (v.far >> 32) + 1 << 32  # as the block sees it
        at = placed(edge, v.far)  # as the memory's records show it
        if at == edge:
            continue

        def where(start: int, size: int, edge: int, mtu: int = v.mtu) -> str:
            if not start < edge < start + size:
                return ""
            return "within a packet" if (edge - start) % mtu else "between packets"

        for m in v.sent:
            if m.wr is not None and not m.wr.is_inline:
                yield {"source": where(m.wr.laddr, m.wr.length, edge)}
        for m in v.arrived:
            first = m.packets[0].addr
            if first is not None:
                yield {"send" if m.kind.startswith("SEND") else "write": where(first, m.size, at)}
        c = v.cfg
        for name, channel, base, size in (
            ("send completions", "w", c.scq_base, 64 << c.scq_log),
            ("receive completions", "w", c.rcq_base, 64 << c.rcq_log), ("receives", "ar", c.rq_base, 16 << c.rq_log),
        ):  # fmt: skip
            low = placed(base, v.far)
            used = [a for a in v.rows(channel)["addr"].tolist() if low <= a < low + size]
            if used and min(used) < at <= max(used):
                yield {"ring": name}
