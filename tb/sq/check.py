# SPDX-License-Identifier: Apache-2.0
"""The bench's own judgement of a phase, model apart: what was posted came out, once, in order, as it was posted."""

from __future__ import annotations

from itertools import pairwise

from models.protocol import SqWr
from tb.common.beats import LAST, frames_from_beats
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.sq.ports import WR, counters
from tb.sq.scene import Queue
from tb.sq.turns import turns
from tb.sq.wqes import M16


def _works(phase: PhaseRecords) -> list[str]:
    """By queue: work requests against what its producer posted."""
    got: dict[int, list[tuple[SqWr, bytes]]] = {}
    for f in frames_from_beats(phase.beats["m_wr"], WR):
        wr = SqWr.unpack(f.side)
        got.setdefault(wr.qpn, []).append((wr, f.data))
    queues: dict[int, list[Queue]] = {}
    for q in phase.item.info["queues"]:
        queues.setdefault(q.qpn, []).append(q)
    lines = [f"work requests of queue {n:#x}, which does not exist" for n in set(got) - set(queues)]
    if not phase.item.info["lawful"]:
        return lines
    for number, owners in queues.items():
        want = [w for q in owners for w in q.works]
        have = got.get(number, [])
        if have == want:
            continue
        wrong = next((i for i, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want)))
        a = have[wrong] if wrong < len(have) else "nothing"
        b = want[wrong] if wrong < len(want) else "nothing"
        lines.append(f"queue {number:#x}: work request {wrong} of {len(want)} ({len(have)} came): {a}, posted {b}")
    return lines


def _indexes(phase: PhaseRecords) -> list[str]:
    """By queue: each good work request begins where the one ahead ended, whatever software did."""
    if phase.item.info["facts"].get("rewritten"):
        return []
    ends = {q.qpn: q.ctx.pi0 for q in phase.item.info["queues"]}
    lines = []
    for f in frames_from_beats(phase.beats["m_wr"], WR):
        wr = SqWr.unpack(f.side)
        expected = ends.get(wr.qpn)
        if expected is not None and wr.wqe_index != expected:
            lines.append(f"queue {wr.qpn:#x}: work request at index {wr.wqe_index:#x}, due at {expected:#x}")
        # what a malformed one takes is in its ds only
        ends[wr.qpn] = None if wr.error else wr.wqe_index + wr.blocks & M16
    return lines


def _answers(phase: PhaseRecords) -> list[str]:
    """Every burst is answered once, in order; the arms are those that were stored."""
    aw, b = phase.beats["uar_aw"], phase.beats["uar_b"]
    asked = [int(s[3]) & 15 for s in aw["side"]]
    told = [int(s[0]) >> 2 for s in b["side"]]
    lines = [] if asked == told else [f"{len(told)} responses to {len(asked)} bursts, or IDs in another order"]
    have = [int.from_bytes(e.tobytes(), "little") for e in phase.events["arm"]["value"]]
    at = phase.events["arm"]["cycle"].astype(int).tolist()
    lines += [f"arms in cycles {a} and {b} (S2)" for a, b in pairwise(at) if b - a < 2][:1]
    want = [1 << 76 | page << 64 | int.from_bytes(data, "big") for page, data in phase.item.info["arms"]]
    return lines if have == want else [*lines, f"arms: {have[:4]}, stored {want[:4]} ({len(have)}, {len(want)})"]


def _counted(phase: PhaseRecords) -> list[str]:
    """Counters at the end against what the sequence says, and against the ports."""
    have = counters(phase.events["count"][-1]["value"])
    final = phase.item.info["final"]
    lines = [f"counter {n} is {have[n]}, expected {v}" for n, v in final.items() if have[n] != v]
    blocks = len(turns(phase).blocks)
    if have["fetched"] + have["discarded"] > blocks:
        lines.append(f"{have['fetched']} blocks fetched and {have['discarded']} thrown away, {blocks} read")
    return lines


def _facts(phase: PhaseRecords) -> list[str]:
    """What the sequence knows of its own phase."""
    facts, lines = phase.item.info["facts"], []
    if n := facts.get("one_a_cycle"):
        at = phase.beats["m_wr"]["cycle"].astype(int)
        if len(at) != n or at[-1] - at[0] != n - 1:
            lines.append(f"{len(at)} work requests of {n} in cycles {at[:1]} to {at[-1:]}, not one a cycle")
    if demand := facts.get("demand"):
        wr = phase.beats["m_wr"]
        done = wr["cycle"][(wr["flags"] & LAST).astype(bool)].tolist()
        lines += demand.judge(phase.rows["mem_ar.rec"]["cycle"].tolist(), done)
    if n := facts.get("refused_at_least"):
        have = counters(phase.events["count"][-1]["value"])["refused"]
        lines += [] if have >= n else [f"{have} stores refused, {n} at least are due"]
    for store, qpn, bound in facts.get("bounds", ()):
        line = next(q.ctx.dbr_addr & ~63 for q in phase.item.info["queues"] if q.qpn == qpn)
        first = next((c for c, addr in turns(phase).records if addr == line and c > store), 1 << 30)
        if first - store > bound:
            lines.append(f"queue {qpn:#x}: record read {first - store} cycles after its doorbell, bound {bound} (T6)")
    return lines


def fair(phase: PhaseRecords) -> list[str]:
    """T6, off the read addresses, in the stretch in which every queue has work (``info["facts"]["backlog"]``: cycles
    after the last record read from which on this holds): between two turns of a queue every other one has a turn at
    most, and no turn asks for more than the weight."""
    settle = phase.item.info["facts"].get("backlog")
    if settle is None:
        return []
    seen = turns(phase)
    last = [0] * len(seen.queues)
    for b in seen.blocks:
        last[b.queue] = b.cycle
    return seen.unfair(seen.records[-1][0] + settle, min(last))


def check(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Complaints about the phase."""
    return [*_works(phase), *_indexes(phase), *_answers(phase), *_counted(phase), *_facts(phase), *fair(phase)]
