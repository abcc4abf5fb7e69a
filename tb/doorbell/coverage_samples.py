# SPDX-License-Identifier: Apache-2.0
"""Samples of the doorbell's cover groups: one for each store, work request, record read, halt or phase."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from models import wqe
from models.spec import spec
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.doorbell.coverage_view import HALF, M16, Read, Store, View, Work, fault, view

INDEXES = 1 << 16


NAMES = {int(w): w.name for w in wqe.KNOWN}


def stores(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a store that was judged."""
    v = view(phase)
    before = -100
    for s in v.stores:
        half = v.halves.index(s.offset) if s.offset in v.halves else -1
        sample: dict[str, object] = {"form": s.form, "half": half, "outcome": s.outcome}
        sample["order"] = "together" if s.aw == s.first else "AW first" if s.aw < s.first else "W first"
        sample["pace"] = s.judged - before <= 2 + len(s.strobes)
        before = s.judged
        if s.outcome == "refused":
            sample["refused"] = refusal(v, s)
        elif s.form == "torn":
            sample["torn"] = "first 8 bytes only" if s.strobes[0] == 0xFF else "later bytes missing"
        if s.form == "whole WQE":
            sample["blocks"] = s.head.blocks
        yield sample


def refusal(v: View, s: Store) -> str:
    """Which rule refuses a store."""
    rules = (
        ("disabled", not v.cfg.enable),
        ("halted", v.halted_at is not None and s.judged > v.halted_at),
        ("offset", s.offset not in v.halves),
        ("first 8 bytes", s.strobes[0] & 0xFF != 0xFF),
        ("too many beats", len(s.strobes) > wqe.MAX_BLOCKS),
        ("other queue", s.head.qpn != v.cfg.qpn),
    )
    return next((name for name, broken in rules if broken), "none")


def place(index: int, blocks: int, size: int) -> str:
    """Where a WQE lies in a ring of ``size`` blocks."""
    end = index % size + blocks
    return "within" if end < size else "up to the end" if end == size else "across"


def payload_class(w: Work) -> str:
    """What a work request carries."""
    if not w.wr.is_inline:
        return "no data" if not w.wr.length else "2^31 bytes" if w.wr.length == wqe.MAX_LENGTH else "pointer"
    return f"inline, {-(-w.wr.length // 64)} beats"


def works(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a good work request that came out."""
    v = view(phase)
    for w in v.works:
        if w.wr.error:
            continue
        index = w.wr.wqe_index
        sample: dict[str, object] = {"source": w.source, "opcode": NAMES.get(w.wr.opcode, "unknown"), "rung": w.rung}
        sample |= {"payload": payload_class(w), "signaled": w.wr.signaled, "se": w.wr.se}
        if w.waited:
            sample["waited"] = True
        yield sample | {
            "blocks": w.blocks, "log": v.cfg.sq_log, "ring": place(index, w.blocks, v.ring),
            "index": place(index, w.blocks, INDEXES),
        }  # fmt: skip


def faults(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a malformed WQE, and one a good one behind it or behind a fence."""
    v = view(phase)
    behind = False
    for w in v.works:
        if v.halted_at is not None and w is v.works[-1] and w.wr.error and not w.wr.opcode:
            continue  # the queue's own error
        if w.wr.error:
            yield {"fault": fault(w.raw, w.wr.wqe_index, v.cfg.qpn) if w.raw else "unknown", "source": w.source}
            if not any(w.raw[:64]):
                yield {"stale": "seen"}
        elif behind:
            yield {"behind": True}
        elif v.name == "fence1":
            yield {"stale": "never, with the fence"}
        behind = bool(w.wr.error)


def parts(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a WQE of several blocks from the ring: how it was published."""
    v = view(phase)
    late = {s.head.index: s.judged for s in v.stores if s.outcome == "doorbells" and s.form == "whole WQE"}
    values = {r.value for r in v.records}
    for w in v.works:
        if w.carried or w.blocks < 2:
            continue
        inner = [w.wr.wqe_index + i & M16 for i in range(1, w.blocks)]
        seen = sum(i in values for i in inner)
        kind = "at once" if not seen else "in two" if seen == 1 else "in more"
        sample: dict[str, object] = {"parts": kind if w.blocks <= wqe.MAX_BLOCKS else f"too large, {kind}"}
        if any(late.get(i, w.cycle) < w.cycle for i in inner):
            sample["into"] = True
        yield sample


def sizes(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a phase and source: the sizes of all inline work requests (one for each would cost too much)."""
    works = view(phase).works
    for carried, source in ((True, "BlueFlame"), (False, "ring")):
        found = {w.wr.length for w in works if w.wr.is_inline and w.carried is carried}
        if found:
            yield {"sizes": found, "source": source}


def timeline(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a record read and one a doorbell, by what was published then."""
    v = view(phase)
    events: list[tuple[int, int, Store | Read]] = [(s.judged, 0, s) for s in v.stores if s.outcome != "refused"]
    events += [(r.back, 1, r) for r in v.records]
    published, carried = v.cfg.ci0, 0
    times = [c for c, _ in v.status]
    rung: list[int] = []
    for cycle, _, what in sorted(events, key=lambda e: e[:2]):
        if isinstance(what, Store):
            if what.outcome == "blueflame":
                carried += what.head.blocks
                published = published + what.head.blocks & M16
                continue
            rung.append(cycle)
            ahead = what.hint - published & M16
            yield {"hint": "nothing new" if not ahead else "more" if ahead < HALF else "old"}
            continue
        merged = sum(c <= what.asked for c in rung)
        rung = rung[merged:]
        fetched = v.status[bisect_right(times, cycle) - 1][1]["fetched"]
        taken = v.cfg.ci0 + fetched + carried & M16
        yield {"merged": merged, "during": len(rung), "latency": what.back - what.asked}
        if what.bad or (v.halted_at is not None and cycle > v.halted_at):
            continue
        step, far = what.value - published & M16, what.value - taken & M16
        yield {"record": record_class(step, far, v.ring)}
        if 0 < far <= v.ring and step < HALF:
            published = what.value
    behind = v.final["record_behind"]
    blocks = sum(not r.is_record for r in v.reads)
    yield {"record_behind": behind, "stale_blocks": max(0, blocks - v.final["fetched"])}


def record_class(step: int, far: int, ring: int) -> str:
    """A record against what was published (``step``) and taken (``far``)."""
    if far > ring and INDEXES - step > ring:
        return "one beyond the ring" if far == ring + 1 else "older than a ring" if far > HALF else "far beyond"
    if not step:
        return "the same"
    if step < HALF:
        return "a full ring" if far == ring else "further"
    return "older, not yet taken" if far < HALF else "older, taken"


def halts(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a halt: what called for it and what still came."""
    v = view(phase)
    if v.halted_at is None:
        return
    judged = v.halted_at - spec().cycles("latency.doorbell.judge") - 1
    last = [r for r in v.reads if r.back <= judged]
    bad = bool(last) and last[-1].bad
    why = ("unreadable record" if last[-1].is_record else "unreadable block") if bad else "record"
    after = [w for w in v.works if w.cycle > v.halted_at]
    sample: dict[str, object] = {"why": why, "still_came": max(0, len(after) - 1)}
    sample["refused"] = any(s.outcome == "refused" and s.judged > v.halted_at for s in v.stores)
    if why == "unreadable block" and after:
        taken = v.cfg.ci0 + v.final["fetched"] + sum(s.head.blocks for s in v.stores if s.outcome == "blueflame")
        sample["cut"] = after[-1].wr.wqe_index != taken & M16
    if after:
        sample["last"] = after[-1].wr.error
    yield sample


def phases(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """Samples of a whole phase: how long memory took, what stalled, where the index began, how torture ended."""
    v = view(phase)
    for port in ("m_wr", "mem_ar", "uar_b"):
        if port in phase.item.ready and not np.all(np.asarray(phase.item.ready[port])):
            yield {"stalled": port}
    start = v.cfg.ci0
    if v.name.startswith("random"):
        near = "2^16" if start > INDEXES - 16 else "2^15" if HALF - 16 < start <= HALF else "the ring's end"
        yield {"near": near, "log": v.cfg.sq_log}
        for w in v.works:
            yield {"random": w.rung or "error"}
    if not v.name.startswith("torture"):
        return
    yield {"torture": "halted" if v.halted_at is not None else "alive"}
    final = v.final
    for name in ("blueflame", "doorbells", "refused", "record_behind"):
        if final[name]:
            yield {"torture": name}
    if any(w.wr.error for w in v.works[:-1]):
        yield {"torture": "malformed"}
    if sum(w.blocks for w in v.works) > v.ring:
        yield {"torture": "overrun"}
    yield {"torture_log": v.cfg.sq_log}
