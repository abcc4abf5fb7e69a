# SPDX-License-Identifier: Apache-2.0
"""Samples of the joined queues' cover groups, read off memory and ports of a phase; no model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from models.protocol import CqCtx, SqWr
from models.spec import spec
from tb.common.beats import frames_from_beats
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.producers.queue import Queue
from tb.queue_pairs.join import FROM_CQ
from tb.queue_pairs.oracle import ALWAYS
from tb.queue_pairs.oracle import entries as found_entries
from tb.queue_pairs.scenes import Played
from tb.sq.ports import WR, counters

M16, M24 = 0xFFFF, 0xFFFFFF
NEAR = 4  # so close to a wrap counts
GPU_MEMORY = 1 << 32


def _played(phase: PhaseRecords) -> Played:
    played: Played = phase.item.info["played"]
    return played


def _found(phase: PhaseRecords) -> dict[int, list[Any]]:
    writes = [(int(r["visible"]), int(r["addr"]), r["data"].tobytes()) for r in phase.rows["mem_w.rec"]]
    return found_entries(writes, _played(phase).ctxs)[0]


def _near(index: int, bits: int) -> bool:
    return index < NEAR or index >= (1 << bits) - NEAR


def _asked(queue: Queue, counter: int) -> tuple[bool, int]:
    """Whether the request at ``counter`` asked for its completion; requests before it, back to one that did, that did
    not."""
    indexes = sorted(queue.posted)
    at = next(i for i, index in enumerate(indexes) if index & M16 == counter)
    modes = [queue.posted[i][0].raw(i, queue.qpn)[11] >> 2 & 3 for i in indexes[: at + 1]]
    passed = 0
    while passed < at and modes[at - 1 - passed] != ALWAYS:
        passed += 1
    return modes[at] == ALWAYS, passed


def entries(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an entry that was written."""
    played = _played(phase)
    fastest = sum(spec().cycles(f"latency.cq.{n}") for n in ("fifo", "head", "pick", "lookup", "index", "form"))
    queues = {q.qpn: q for q in played.outcome.queues}
    contexts: dict[int, CqCtx] = {c.cqn: c for c in played.ctxs}
    brings = {(x.qpn, x.counter) for x in played.completions.transport.landed}
    left = [int(r["cycle"]) for r in phase.rows["mem_aw.rec"]]
    taken = phase.beats["cq"]["cycle"]
    # completions leave in the order of their coming, but for rings that look full
    slow = len(left) == len(taken) and [a - int(b) - fastest for a, b in zip(left, taken, strict=True)]
    if slow and any(n > 0 for n in slow) and brings:
        yield {"waited": True}
    counted = counters(phase.events["count"][-1]["value"])
    if counted["blueflame"]:
        yield {"way": "BlueFlame"}
    if counted["fetched"]:
        yield {"way": "fetched"}
    for cqn, got in _found(phase).items():
        c = contexts[cqn]
        for i, (_, e) in enumerate(got):
            queue, index = queues.get(e.qpn), c.pi0 + i & M24
            if queue is None:
                continue
            sample: dict[str, Any] = {
                "form": "collapsed" if c.collapsed else "ring", "memory": "GPU" if c.base >= GPU_MEMORY else "host",
                "send_index": _near(e.wqe_counter, 16), "entry_index": _near(index, 24),
                "pass_end": not c.collapsed and _near(index & (1 << c.log) - 1, c.log),
                "data": "brings some" if (e.qpn, e.wqe_counter) in brings else "brings none",
            }  # fmt: skip
            asked, sample["passed"] = _asked(queue, e.wqe_counter)
            if e.is_error:
                sample |= {"syndrome": e.syndrome, "fault": played.planted.get(e.qpn)}
                sample["what"] = "error, asked" if asked else "error, not asked"
            else:
                sample["what"] = "asked"
            yield sample


def queues(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a completion queue, a queue that ended in an error, a read of a doorbell record."""
    played = _played(phase)
    homes, rings = played.completions.homes, {r.cqn: r for r in played.completions.rings}
    found = _found(phase)
    dead = {e.qpn: e.wqe_counter for got in found.values() for _, e in got if e.is_error}
    for row in phase.rows["mem_ar.rec"]:
        place = int(row["id"]) ^ FROM_CQ
        if place < FROM_CQ:
            yield {"record": "read when full" if place < spec().integer("cq.waiting") else "read early"}
    behind = dict.fromkeys(dead, 0)
    over: set[int] = set()
    for f in frames_from_beats(phase.beats["m_wr"], WR):
        wr = SqWr.unpack(f.side)
        if wr.qpn in over:
            behind[wr.qpn] += 1
        if wr.error and wr.qpn in dead:
            over.add(wr.qpn)
    for qpn in dead:
        yield {"behind": behind[qpn]}
    size = played.shape.qps
    for _, entry, ctx in played.completions.renewed:
        old = next(q for q in played.planted if q % size == entry)
        if any(e.qpn == ctx.qpn for got in found.values() for _, e in got):
            yield {"again": "record" if played.planted[old] == "record" else "request"}
    for c in played.ctxs:
        mine = [qpn for qpn, cqn in homes.items() if cqn == c.cqn]
        ring = rings.get(c.cqn)
        gone = sum(qpn in dead for qpn in mine)
        sample: dict[str, Any] = {
            "queues": len(mine),
            "how": "GPU threads" if ring is None else "by events" if ring.served else "by its posters",
        }
        if gone:
            sample["died"] = "all" if gone == len(mine) else "some"
        yield sample


def arms(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an arm that reached the completion queues."""
    pages = {c.cqn: c.page for c in _played(phase).ctxs}
    soon = sum(spec().cycles(f"latency.cq.{n}") for n in ("pick", "lookup", "event"))
    events: dict[int, list[int]] = {}
    for row in phase.beats["m_ev"]:
        word = int.from_bytes(row["side"].tobytes(), "little")
        events.setdefault(word >> 1, []).append(int(row["cycle"]))
    before = 0
    for row in phase.events["arm"]:
        word, cycle = int.from_bytes(row["value"].tobytes(), "little"), int(row["cycle"])
        cqn = word & M24
        yield {"behind": cycle - before}
        before = cycle
        if word >> 64 & 0xFFF != pages[cqn]:
            yield {"came": "refused"}
            continue
        after = [at - cycle for at in events.get(cqn, []) if at > cycle]
        if after:
            yield {"came": "fires at once" if min(after) <= soon else "fires later"}


def runs(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase, one more for each kind of fault and each port that was held back."""
    info = phase.item.info
    yield {"shows": info["shows"]}
    if "latency" in info:
        yield {"case": info["latency"][0]}
    for kind in sorted({f.kind for f in _played(phase).outcome.faults}):
        yield {"fault": kind}
    for port in phase.item.ready:
        yield {"stalled": port}
