# SPDX-License-Identifier: Apache-2.0
"""Samples of the completion queues' cover groups, read off the ports of a phase; the model is not asked."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from models import cqe
from models.protocol import CQE, CqCtx
from models.spec import spec
from tb.common.coverage import Sample
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.cq.checks import accepted
from tb.cq.consumer import LINE, M16, M24
from tb.cq.ports import counters
from tb.cq.rig import Stimulus
from tb.cq.seq_wraps import CLOCK

HALF = 1 << 23
NAMES = {int(x): x.name for x in CQE}


def _contexts(phase: PhaseRecords) -> dict[int, CqCtx]:
    return {p.ctx.cqn: p.ctx for p in phase.item.info["plans"].values()}


def _place(index: int, size: int) -> str:
    return "only" if size == 1 else "first" if index == 0 else "last" if index == size - 1 else "within"


def entries(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an entry that was written."""
    fastest = sum(spec().cycles(f"latency.cq.{n}") for n in ("fifo", "head", "pick", "lookup", "index", "form"))
    s: Stimulus = phase.item.info["stimulus"]
    steps = [(0, s.done0), *s.done]
    at = [cycle for cycle, _ in steps]

    def beyond(cycle: int, barrier: int) -> bool:
        return steps[bisect_right(at, cycle) - 1][1] - barrier & M16 >= 1 << 15

    left: dict[int, list[int]] = defaultdict(list)
    for row in phase.rows["mem_aw.rec"]:
        left[int(row["addr"])].append(int(row["cycle"]))
    for cqn, got in accepted(phase).items():
        c = _contexts(phase).get(cqn)
        if c is None or not c.enable:
            continue
        turn: dict[int, int] = defaultdict(int)
        for i, (cycle, x) in enumerate(got):
            index = c.pi0 + i & M24
            addr = c.base if c.collapsed else cqe.entry_address(c.base, c.log, index)
            if turn[addr] >= len(left[addr]):
                break
            waited = left[addr][turn[addr]] - cycle - fastest
            turn[addr] += 1
            yield {
                "opcode": NAMES[x.opcode], "se": x.se, "form": "collapsed" if c.collapsed else "ring", "log": c.log,
                "looks": "ignored" if c.ignore_overrun else "checked", "owner": index >> c.log & 1,
                "place": _place(index & ((1 << c.log) - 1), 1 << c.log),
                "index": "last" if index == M24 else "first" if not index else "within",
                "waited": "not at all" if not waited else "a little" if waited < 50 else "long",
                "done": "2^15 beyond" if beyond(left[addr][turn[addr] - 1], x.barrier) else "close",
                "barrier": "2^16" if x.barrier > M16 - 8 or x.barrier < 8 else "elsewhere",
            }  # fmt: skip


def records(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a record that was read: what it said, how many of its kind were under way, whether it overtook."""
    waiting = spec().integer("cq.waiting")
    by_line: dict[int, list[CqCtx]] = defaultdict(list)
    for c in _contexts(phase).values():
        by_line[c.dbr_addr & -LINE].append(c)
    asked = [(int(r["cycle"]), int(r["id"]), int(r["addr"])) for r in phase.rows["mem_ar.rec"]]
    back = [(int(r["cycle"]), int(r["id"]), int(r["resp"])) for r in phase.rows["mem_r.rec"]]
    open_: dict[int, tuple[int, int]] = {}
    steps = sorted([(c, 1, i, a) for c, i, a in asked] + [(c, 0, i, r) for c, i, r in back])
    for cycle, kind, ident, what in steps:
        if kind:
            open_[ident] = (cycle, what)
            continue
        at, _ = open_.pop(ident)
        older = any(a < at for a, _ in open_.values())
        lot = ident < waiting
        beside = sum((i < waiting) == lot for i in open_)
        yield {
            "answer": "error" if what >= 2 else "good", ("under_way" if lot else "early_under_way"): beside + 1,
            "order": "overtook" if older else "oldest", "place": ident, "kind": "lot" if lot else "early",
        }  # fmt: skip


def queues(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a queue: how it ended and how its software lived."""
    errors = set()
    for row in phase.beats["m_ev"]:
        side = int.from_bytes(row["side"].tobytes(), "little")
        if side & 1:
            errors.add(side >> 1)
    bad = counters(phase.events["status"][-1]["value"])["bad_writes"] > 0
    taken = accepted(phase)
    for p in phase.item.info["plans"].values():
        c = p.ctx
        if not taken.get(c.cqn):
            continue
        sample: dict[str, object] = {
            "end": ("a bad write" if bad else "overrun") if c.cqn in errors else "alive", "log": c.log,
        }  # fmt: skip
        if p.polls:
            sample["software"] = ("polls", "sleeps", "sleeps for solicited")[p.software.arms]
            sample["dies"] = p.software.stops is not None
        yield sample


def arms(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an arm."""
    s: Stimulus = phase.item.info["stimulus"]
    known = _contexts(phase)
    b_at: dict[int, list[int]] = defaultdict(list)
    spans = [(c.base, c.base + (LINE if c.collapsed else LINE << c.log), c) for c in known.values()]
    for aw, b in zip(phase.rows["mem_aw.rec"], phase.rows["mem_b.rec"], strict=False):
        addr = int(aw["addr"])
        c = next(c for lo, hi, c in spans if lo <= addr < hi)
        b_at[c.cqn].append(int(b["cycle"]))
    for at, page, data in s.arms:
        cqn, ci, so = data & M24, data >> 32 & M24, data >> 56 & 1
        found = known.get(cqn)
        if found is None or page != found.page or not found.events or not found.enable:
            late = found is not None and ("no events" if found.enable else "disabled")
            yield {"refused": "no queue" if found is None else "page" if page != found.page else late}
            continue
        vis = found.pi0 + sum(b < at for b in b_at[cqn]) & M24
        far = vis - ci & M24
        few = found.mod_count <= 1
        how = "none" if few and not found.mod_period else "no time" if not found.mod_period else "time and count"
        where = "at the next" if not far else "ahead" if far >= HALF else "just behind" if far < 64 else "far behind"
        yield {"so": so, "where": where, "moderation": how}


def events(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample an event."""
    for row in phase.beats["m_ev"]:
        side = int.from_bytes(row["side"].tobytes(), "little")
        yield {"kind": "error" if side & 1 else "completion"}


def phases(ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """Samples of a whole phase: what was stalled or full, how fast it went, what the counters counted."""
    for port, bits in phase.item.ready.items():
        if not np.all(np.asarray(bits)):
            yield {"stalled": port}
    played, taken = phase.played["cq"]["cycle"], phase.beats["cq"]["cycle"]
    waits = np.flatnonzero(taken[: len(played)] > np.maximum.accumulate(played)[: len(taken)])
    if len(waits) > 20:
        yield {"full": "the FIFO of completions"}
    left = phase.rows["mem_aw.rec"]["cycle"]
    if len(left) > 20:
        run = np.flatnonzero(np.diff(left.astype(np.int64)) != 1)
        longest = int(np.max(np.diff(np.concatenate(([-1], run, [len(left) - 1])))))
        yield {"pace": longest}
    if "pace" in phase.item.info:
        entries, most = phase.item.info["pace"]
        yield {"early": len(left) == entries >= 2000 and int(left[-1] - left[0]) < entries + most}
    yield {"clock": phase.stats.cycles > CLOCK}
    at = np.asarray([a for a, _, _ in phase.item.info["stimulus"].arms], np.int64)
    if len(at) > 1:
        gaps = np.flatnonzero(np.diff(at) != 2)
        yield {"arms": int(np.max(np.diff(np.concatenate(([-1], gaps, [len(at) - 1])))))}
    b = phase.rows["mem_b.rec"]["cycle"]
    n = min(len(left), len(b))
    under_way = max((int(np.searchsorted(left, b[i])) - i for i in range(n)), default=0)
    yield {"writes": under_way}
    final = counters(phase.events["status"][-1]["value"])
    for name, value in final.items():
        if value:
            yield {"counted": name}
    yield {"queues": int(ctx.param("CQS", 64))}
