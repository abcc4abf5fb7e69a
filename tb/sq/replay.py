# SPDX-License-Identifier: Apache-2.0
"""A run of the producers (tb/producers) as a phase of this bench: its pokes and stores at its cycles.

The bench's model and the design then see what the producers' own model saw; :func:`check_replay` holds the design's
work requests against that run, cycle included, and lets the oracle judge them anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from models.memory import Poke
from models.protocol import SqCtx, SqWr
from tb.common.axi import poke_file, timing_file
from tb.common.beats import Records, frames_from_beats
from tb.common.run import RunContext
from tb.common.timed import timed
from tb.common.uvm import PhaseItem, PhaseRecords
from tb.producers.loop import Outcome
from tb.producers.queue import Oracle
from tb.sq.check import check
from tb.sq.ports import AW, CTX, WATCH, WR, W
from tb.sq.watch import watching


@dataclass
class Replayed:
    """A queue as the bench's judgement and coverage know one (tb/sq/scene.py); nothing malformed was meant."""

    qpn: int
    page: int
    ring: int
    ctx: SqCtx
    works: list[tuple[SqWr, bytes]]
    kinds: dict[int, str] = field(default_factory=dict)
    carried: set[tuple[int, int]] = field(default_factory=set)
    spans: dict[int, int] = field(default_factory=dict)

    @property
    def places(self) -> list[tuple[int, int, int]]:
        """Base and blocks of its ring, its record."""
        return [(self.ctx.sq_base, self.ring, self.ctx.dbr_addr)]


READY = {"wr": "m_wr", "ar": "mem_ar", "b": "uar_b"}


def _contexts(rows: list[tuple[int, int, SqCtx]]) -> Records:
    out = CTX.empty(len(rows))
    for i, (at, entry, ctx) in enumerate(rows):
        out[i]["cycle"], out[i]["flags"] = at, 1
        out[i]["data"] = np.frombuffer(ctx.pack().to_bytes(CTX.data_bytes, "little"), np.uint8)
        out[i]["side"] = np.frombuffer(entry.to_bytes(4, "little"), np.uint8)
    return out


def item_of(name: str, outcome: Outcome, kinds: frozenset[str] = frozenset(), shows: str = "") -> PhaseItem:
    """The phase. ``kinds``: the oracle must see a fault of one of these; empty: none at all. ``shows``: what the phase
    is about, for coverage."""
    item = PhaseItem(name)
    aw, w = AW.empty(len(outcome.stores)), W.empty(len(outcome.stores))
    for i, s in enumerate(outcome.stores):
        aw[i]["cycle"], aw[i]["flags"] = s.aw_cycle, 1
        aw[i]["side"] = np.frombuffer((s.ident << 24 | s.addr).to_bytes(8, "little"), np.uint8)
        w[i]["cycle"], w[i]["flags"] = s.w_cycle, 1
        w[i]["data"] = np.frombuffer(s.data, np.uint8)
        w[i]["keep"] = np.frombuffer(s.strobes.to_bytes(8, "little"), np.uint8)
    rng = np.random.default_rng(len(outcome.stores))
    look = watching(rng, [e for _, e, _ in outcome.ctx], [at for at, _, _ in outcome.ctx], outcome.last)
    item.plays = {"ctx": _contexts(outcome.ctx), "uar_aw": aw, "uar_w": w, "watch": timed(WATCH, look)}
    pokes = [Poke(0, addr, (1 << 64) - 1, line) for addr, line in outcome.image.items()] + outcome.pokes
    item.files = {**timing_file("mem", outcome.setting.timing), **poke_file("mem", pokes)}
    for port, pattern in outcome.setting.ready.items():
        item.ready[READY[port]] = np.array(pattern, bool)
    queues = outcome.queues
    works = {q.qpn: [(wr, data) for _, wr, data in outcome.frames if wr.qpn == q.qpn] for q in queues}
    sides = [Replayed(q.qpn, q.page, q.ring, q.ctx(), works[q.qpn]) for q in queues]
    item.info = {
        "timing": outcome.setting.timing, "pokes": pokes, "lawful": True, "arms": [], "final": outcome.counters,
        "queues": sides, "facts": {}, "producers": (outcome, kinds), "shows": shows,
    }  # fmt: skip
    item.max_cycles = outcome.last + 10_000
    return item


def check_replay(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """The bench's judgement, and the oracle's."""
    return [*check(ctx, phase), *judged(phase)]


def judged(phase: PhaseRecords) -> list[str]:
    """Work requests of the design: in the run's cycles, and what the oracle says of them."""
    if "producers" not in phase.item.info:
        return []
    outcome, kinds = phase.item.info["producers"]
    frames = frames_from_beats(phase.beats["m_wr"], WR)
    have = [(f.cycles[-1], SqWr.unpack(f.side), f.data) for f in frames]
    lines = []
    if have != outcome.frames:
        wrong = next((i for i, (a, b) in enumerate(zip(have, outcome.frames, strict=False)) if a != b), len(have))
        lines.append(
            f"work request {wrong} of {len(outcome.frames)} ({len(have)} came) differs from the producers' run"
        )
    oracle = Oracle(outcome.queues)
    for cycle, wr, data in have:
        oracle.hand(cycle, wr, data)
    for poke in outcome.pokes:
        first = (poke.strb & -poke.strb).bit_length() - 1
        oracle.write(poke.cycle, poke.addr + first, poke.data[first : first + poke.strb.bit_count()])
    if not outcome.stopped:
        oracle.finish(outcome.last, outcome.stuck)
    found = {f.kind for f in oracle.faults}
    if kinds and not found & kinds:
        lines.append(f"no fault of {sorted(kinds)} though a step is missing; found {sorted(found)}")
    if not kinds and oracle.faults:
        lines.append(str(oracle.faults[0]))
    return lines
