# SPDX-License-Identifier: Apache-2.0
"""Samples of the send queues' cover groups: one for each store beat, work request, fault, read, turn, record, phase."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby, pairwise

from models import wqe
from models.protocol import WQE
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.sq.coverage_view import HALF, Read, Work, view
from tb.sq.ports import GPU
from tb.sq.wqes import LONGEST, M16

NAMES = {int(w): w.name for w in WQE}
INDEXES = 1 << 16


def stores(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a beat of a store."""
    v = view(phase)
    burst, before, armed = 0, -9, False
    seen: dict[tuple[int, int], int] = {}
    for s in v.stores:
        sample: dict[str, object] = {"form": s.form, "beats": s.beats}
        if s.line >= 32:
            key = (s.page, (s.line - 32) // 4)
            sample["half"] = key[1]
            if s.form == "part" and key in seen:
                sample["gap"] = s.cycle - seen[key]
            seen[key] = s.cycle
        if s.form in ("part", "head and more"):
            sample["bytes"] = s.strobes.bit_count()
        sample["order"] = "together" if not s.ahead else "AW first" if s.ahead > 0 else "W first"
        sample["pace"] = s.cycle == before + 1
        sample["arms"] = armed and s.form == "arm" and s.cycle == before + 1
        before, armed = s.cycle, s.form == "arm"
        if s.last and burst < len(v.responses):
            sample["answer"] = v.responses[burst]
            burst += 1
        yield sample


def place(index: int, blocks: int, size: int) -> str:
    """Where a WQE lies in a ring of ``size`` blocks."""
    end = index % size + blocks
    return "within" if end < size else "up to the end" if end == size else "across"


def payload(w: Work) -> str:
    """What a work request carries."""
    if w.wr.is_inline:
        return f"inline, {-(-w.wr.length // 64)} beats"
    return "no data" if not w.wr.sges else "one pointer" if w.wr.sges == 1 else "pointers"


def works(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a good work request that came out; of long phases the first thousand."""
    v = view(phase)
    for w in v.works[:1000]:
        if w.wr.error or w.queue < 0:
            continue
        q = v.queues[w.queue]
        sample: dict[str, object] = {
            "source": "ring" if w.ring else "BlueFlame", "opcode": NAMES.get(w.wr.opcode, "unknown"),
            "payload": payload(w), "sges": w.wr.sges, "blocks": w.wr.blocks, "fence": w.wr.fence, "ce": w.wr.ce,
            "se": w.wr.se, "memory": "GPU" if q.ctx.sq_base >= GPU else "host", "waited": w.waited,
            "longest": w.wr.length == LONGEST,
        }  # fmt: skip
        if not v.rewritten:
            log = q.ctx.sq_log
            sample |= {"log": log, "ring": place(w.wr.wqe_index, w.wr.blocks, 1 << log)}
            sample["index"] = place(w.wr.wqe_index, w.wr.blocks, INDEXES)
        yield sample


def sizes(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase and source: the inline sizes that came."""
    found: dict[bool, set[int]] = {True: set(), False: set()}
    for w in view(phase).works:
        if w.wr.is_inline:
            found[w.ring].add(w.wr.length)
    for ring, values in found.items():
        if values:
            yield {"sizes": values, "source": "ring" if ring else "BlueFlame"}


def faults(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a malformed WQE that was posted and reported, and one a good one right behind it."""
    v = view(phase)
    kinds = {(q.qpn, index): kind for q in v.queues for index, kind in q.kinds.items()}
    behind: dict[int, bool] = {}
    for w in v.works:
        if w.wr.error and w.queue >= 0:
            kind = kinds.get((w.wr.qpn, w.wr.wqe_index), "")
            if kind:
                blue = not w.ring or (w.wr.qpn, w.wr.wqe_index) in v.queues[w.queue].carried
                yield {"fault": kind, "error": w.wr.error, "source": "BlueFlame" if blue else "ring"}
            elif v.name.startswith("fence"):
                yield {"stale": "seen"}
        elif behind.get(w.wr.qpn):
            yield {"behind": True}
        elif v.name == "fence1":
            yield {"stale": "never, with the fence"}
        behind[w.wr.qpn] = bool(w.wr.error)


def reads(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a read; of long phases the first two thousand."""
    v, last = view(phase), -1
    for x in v.reads[:2000]:
        kind = "record" if x.slot < 0 else "block"
        border = x.slot >= 0 and x.addr >> 22 != v.queues[x.queue].ctx.sq_base >> 22
        if border:
            yield {"border": True}
        yield {"kind": kind, "memory": "GPU" if x.gpu else "host", "bad": x.bad, "overtaken": x.place < last,
               "latency": x.back - x.asked}  # fmt: skip
        last = max(last, x.place)


def turn_blocks(group: list[Read], weight: int) -> str:
    """How far a run of reads of one queue goes against its weight."""
    blocks = sum(x.slot >= 0 for x in group)
    return "record only" if not blocks else "to the weight" if blocks >= max(1, weight) else "less"


def turns(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a run of reads of one queue; of long phases the first thousand."""
    v = view(phase)
    for number, run in groupby(v.reads[:4000], key=lambda x: x.queue):
        if number < 0:
            continue
        group = list(run)
        weight = v.queues[number].ctx.weight
        slots = [x.slot for x in group if x.slot >= 0]
        wrap = any(b < a for a, b in pairwise(slots))
        yield {"turn": turn_blocks(group, weight), "weight": weight, "wrap": wrap,
               "with_record": group[0].slot < 0 and bool(slots)}  # fmt: skip


def records(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a record read: doorbells since the one before, what it says against the one before."""
    v = view(phase)
    if v.rewritten:
        return
    owners = {q.ctx.dbr_addr & ~63: None for q in v.queues}
    if len(owners) < len(v.queues):
        return  # several records in a line: the address does not say whose is read
    bells: dict[int, list[tuple[int, int]]] = {i: [] for i in range(len(v.queues))}
    numbers = {q.qpn: i for i, q in enumerate(v.queues)}
    for s in v.stores:
        if s.form in ("CPU", "GPU"):
            head = wqe.Head(s.head)
            if head.qpn in numbers:
                bells[numbers[head.qpn]].append((s.cycle, head.index + head.blocks & M16))
    before = {i: q.ctx.pi0 for i, q in enumerate(v.queues)}
    since = dict.fromkeys(bells, 0)
    for x in v.reads:
        if x.slot >= 0 or x.queue < 0 or x.bad:
            continue
        q = v.queues[x.queue]
        value = wqe.record_send(x.data, q.ctx.dbr_addr)
        known = bisect_right([c for c, _ in bells[x.queue]], x.asked - 9)
        step = value - before[x.queue] & M16
        sample: dict[str, object] = {"merged": known - since[x.queue]}
        sample["during"] = bisect_right([c for c, _ in bells[x.queue]], x.back) - known
        sample["record"] = "the same" if not step else "further" if step < HALF else "older"
        sample["full"] = step == q.ring
        first = next((i for i in range(1, 16) if q.spans.get(value - i & M16, 0) > i), 0)
        if first:  # blocks of a WQE that are published without the rest
            size = q.spans[value - first & M16]
            sample["inside"] = "too large" if size > wqe.MAX_BLOCKS else f"{first} of {size}"
        since[x.queue] = known
        if step < HALF:
            before[x.queue] = value
        yield sample


def phases(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """Samples of the phase as a whole."""
    v = view(phase)
    for port in ("m_wr", "mem_ar", "uar_b"):
        if port in phase.item.ready:
            yield {"stalled": port}
    kind = v.name.rstrip("0123456789")
    for name, value in v.final.items():
        if value:
            yield {"counted": name}
            yield {f"{kind}_counted": name}
    if v.name == "torn3":
        yield {"torn": "more halves than slots"}
    elif v.final["torn"]:
        yield {"torn": v.name}
    if v.final["halted"]:
        yield {"halted": v.name}
    if phase.events["arm"].size:
        yield {"arms": len({e["value"].tobytes() for e in phase.events["arm"]})}
    for q in v.queues:
        pi0 = q.ctx.pi0
        if pi0 + 64 > INDEXES:
            yield {"near": "2^16"}
        if pi0 % HALF + 64 > HALF and pi0 < HALF:
            yield {"near": "2^15"}
    yield {"queues": len(v.queues), "qps": ctx.param("QPS", 256), "under_way": v.under_way}
    yield {"tags": "all in use" if v.under_way >= ctx.param("TAGS", 512) - 8 else "free"}
