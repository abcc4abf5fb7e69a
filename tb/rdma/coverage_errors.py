# SPDX-License-Identifier: Apache-2.0
"""Samples of rdma's errors: what was refused and why, timer, flush, memory's faults, phases of random faults."""

from __future__ import annotations

from collections.abc import Iterator

from models.memory import OKAY
from models.protocol import CQE_SYN, OP, QP, SYN, Mr
from models.rdma_parts import M24, MAX_MESSAGE
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.rdma.coverage_view import COMPLETION, EXECUTED, PAYLOAD, RECEIVE, RESPONSES, Packet, View, name_of, views


def key_fault(regions: list[Mr], key: int, addr: int, length: int, right: str = "") -> str:
    """Why a range is refused, "" if it is not."""
    known = [m for m in regions if m.valid and m.key == key]
    if not known:
        return "key unknown" if any(m.valid for m in regions) else "no entry valid"
    m = known[0]
    if right and not getattr(m, right):
        return "right missing"
    if addr + length > 1 << 64:
        return "wraps around"
    if addr < m.base:
        return "one byte before" if addr == m.base - 1 else "before"
    over = addr + length - m.base - m.length
    return "" if over <= 0 else "one byte beyond" if over == 1 else "beyond"


def syndrome_class(code: int) -> str:
    """What an AETH syndrome is."""
    kind = code >> 5
    if kind == 3:
        return f"NAK {code:x}" if code <= SYN.NAK_OP else "NAK reserved"
    return ("ACK", "RNR", "type 010", "", "type 1xx", "type 1xx", "type 1xx", "type 1xx")[kind]


def refusals(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a NAK that ended the connection, or RNR NAK, with what called for it."""
    for v in views(phase):
        for a in v.answers:
            code = syndrome_class(a.hdr.syndrome)
            if code not in ("NAK 61", "NAK 62", "NAK 63", "RNR"):
                continue
            asked = (p for p in v.incoming if not p.admit and not p.executed and not p.ahead and p.first < a.first)
            p = next((p for p in asked if p.hdr.psn == a.hdr.psn and p.hdr.opcode not in RESPONSES), None)
            if p is None:
                if code == "NAK 63":
                    yield {"operation": "payload write failed"}
                continue
            if code == "NAK 61":
                yield {"invalid": invalid(v, p), "inside": p.body}
            elif code == "NAK 62":
                fault = key_fault(v.regions, p.hdr.rkey, p.hdr.va, p.hdr.dmalen, "remote_write")
                first_fits = p.body == "FIRST" and not key_fault(
                    v.regions, p.hdr.rkey, p.hdr.va, p.size, "remote_write"
                )
                yield {"access": "first packet would fit" if first_fits else fault}
            elif code == "RNR":
                yield {"not_ready": name_of(OP, p.hdr.opcode)}
            else:
                yield {"operation": operation(v)}


def operation(v: View) -> str:
    """Why a packet was answered with NAK 0x63 before it was executed."""
    errors = [e.cqe for e in v.completions if e.receive and e.cqe.is_error]
    if not errors:
        return "none"
    if errors[0].syndrome == CQE_SYN.LOC_PROT:
        _, key, addr = v.receive(errors[0].wqe_counter)
        known = next((m for m in v.regions if m.valid and m.key == key), None)
        if known is None:
            return "receive key unknown"
        return "receive region too short" if known.local_write and addr >= known.base else "receive right missing"
    failed = (v.rows("r")["resp"] != OKAY) & (v.rows("r")["id"] == RECEIVE)
    return "receive queue unreadable" if failed.any() else "record beyond the ring"


def invalid(v: View, p: Packet) -> str:
    """Which check a packet fails that was answered with NAK 0x61, in the checks' order."""
    begun: list[Packet] = []
    for q in v.incoming[: v.incoming.index(p)]:
        if q.executed:
            begun = [] if q.body in ("LAST", "ONLY") else ([] if q.body == "FIRST" else begun) + [q]
    h, starts, inner = p.hdr, p.body in ("FIRST", "ONLY"), p.body in ("FIRST", "MIDDLE")
    if h.opcode not in EXECUTED:
        names = {0x0C: "READ", 0x13: "ATOMIC", 0x14: "ATOMIC", 0x16: "invalidate", 0x17: "invalidate"}
        return names.get(h.opcode, "reserved opcode")
    got, head = sum(q.size for q in begun), (begun or [p])[0]
    room = v.receive(v.cfg.rq_ci0 + sum(m.kind != "WRITE" for m in v.arrived))[0] if p.send else head.hdr.dmalen
    rules = (
        ("WRITE not allowed", not p.send and not v.cfg.remote_write),
        ("begins inside a message", starts and begun),
        ("goes on without a message", not starts and not begun),
        ("SEND and WRITE mixed", begun and begun[0].send != p.send),
        ("FIRST or MIDDLE shorter than the PMTU", inner and p.size < v.mtu),
        ("FIRST or MIDDLE longer than the PMTU", inner and p.size > v.mtu),
        ("empty LAST", p.body == "LAST" and not p.size),
        ("LAST or ONLY longer than the PMTU", p.size > v.mtu),
        ("DMA length above 2^31", not p.send and starts and h.dmalen > MAX_MESSAGE),
        ("SEND beyond its WQE", p.send and got + p.size > room),
        ("bytes above the DMA length", not p.send and got + p.size > room),
        ("bytes below the DMA length", not p.send and not inner and got + p.size < room),
    )
    return next((name for name, broken in rules if broken), "none")


MEMORY = (
    ("r", PAYLOAD, "payload read"), ("r", RECEIVE, "receive queue read"),
    ("b", PAYLOAD, "payload write"), ("b", COMPLETION, "completion write"),
)  # fmt: skip


def phases(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a block and phase: states, timer, memory's faults, what was outstanding, what it was about."""
    for v in views(phase):
        sample: dict[str, object] = {"state": name_of(QP, v.cfg.state)}
        codes = {e.cqe.syndrome for e in v.completions if not e.receive and e.cqe.is_error}
        window = [s["nxt_psn"] - s["una_psn"] & M24 for _, s in v.status]
        sample["outstanding"] = max(window, default=0)
        dropped = v.counters.get("cnt_drop_state", 0)
        if dropped:
            sample["dropped_in"] = "error" if v.failed else sample["state"]
        naks = {syndrome_class(p.hdr.syndrome) for p in v.incoming if p.hdr.opcode == OP.ACKNOWLEDGE}
        yield sample
        for channel, ident, what in MEMORY:
            if bad(v, channel, ident):
                yield {"memory": what}
        yield from timer(v, bool(codes & {CQE_SYN.RETRY_EXC}) and "NAK 60" not in naks, window)
        yield from flushes(v)
        if v.name.startswith("faults"):
            yield from chaos(v, codes)


def bad(v: View, channel: str, ident: int) -> bool:
    """Memory answered an access of this ID with an error."""
    rows = v.rows(channel)
    return bool(((rows["resp"] != OKAY) & (rows["id"] == ident)).any())


def timer(v: View, expired: bool, window: list[int]) -> Iterator[Sample]:
    """What the ACK timer did."""
    if not v.cfg.ack_timeout:
        if window and window[-1] and not v.failed:
            yield {"timer": "never, requests outstanding"}
        return
    if expired:
        yield {"timer": "expired"}
    una = [s["una_psn"] for _, s in v.status]
    moved = [i for i in range(1, len(una)) if una[i] != una[i - 1]]
    if any(window[i] for i in moved):
        yield {"timer": "restarted by progress"}
    if any(not window[i] for i in moved):
        yield {"timer": "stopped"}
        if any(not window[i] and any(window[i + 1 :]) for i in moved):
            yield {"timer": "started again"}


def flushes(v: View) -> Iterator[Sample]:
    """What made the queue pair flush, and how much of each queue."""
    if not v.failed:
        return
    first = next((e for e in v.completions if e.cqe.is_error and e.cqe.syndrome != CQE_SYN.WR_FLUSH), None)
    naks = [a for a in v.answers if a.hdr.syndrome in (SYN.NAK_INVALID, SYN.NAK_ACCESS, SYN.NAK_OP)]
    if v.cfg.state == QP.ERR:
        cause = "reset"
    elif bad(v, "b", COMPLETION):
        cause = "completion not written"
    elif bad(v, "b", PAYLOAD):
        cause = "payload not written"
    elif naks or (first is not None and first.receive):
        cause = "responder"
    else:
        cause = "requester"
    for queue in (False, True):
        n = sum(e.cqe.is_error and e.cqe.syndrome == CQE_SYN.WR_FLUSH and e.receive is queue for e in v.completions)
        if n:
            yield {"cause": cause, "queue": "receive" if queue else "send", "flushed": n}


def chaos(v: View, codes: set[int]) -> Iterator[Sample]:
    """How a phase of random faults ended, and what was wrong in it."""
    yield {"random": "failed" if v.failed else "held"}
    for p in v.incoming:
        if p.admit:
            yield {"random": "outsider"}
        elif p.hdr.opcode == OP.ACKNOWLEDGE and p.hdr.syndrome != SYN.ACK_NO_CREDIT:
            yield {"random": "response"}
        elif p.ahead and p.hdr.opcode not in RESPONSES:
            yield {"random": "PSN"}
    if codes & {CQE_SYN.LOC_PROT, CQE_SYN.LOC_QP_OP, CQE_SYN.LOC_LEN}:
        yield {"random": "work request"}
    for a in v.answers:
        code = syndrome_class(a.hdr.syndrome)
        if code != "ACK":
            yield {"random": f"answered {code}"}
