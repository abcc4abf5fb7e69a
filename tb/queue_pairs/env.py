# SPDX-License-Identifier: Apache-2.0
"""Bench of both blocks: a run of the producers as a phase, and what models and memory say of it from stimulus alone.

Chained here: the judgement of block sq's bench and of its replays, what block cq's bench says of data, collapsed queues
and events, and the oracle of the join.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.kernel import Beat, Kernel
from models.kernel import Sink as Taker
from models.memory import Memory
from models.protocol import CqCtx, CqIn, SqCtx, SqWr
from tb.common.axi import memory_prediction, memory_rows
from tb.common.beats import Records, StreamFormat, frames_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.timed import timed
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, Prediction
from tb.cq import checks as cq_checks
from tb.cq import ports as cq_ports
from tb.cq.env import status
from tb.cq.rig import Stimulus
from tb.cq.scenario import Plan, Software
from tb.queue_pairs.coverage import COVERAGE
from tb.queue_pairs.join import WINDOWS, Joined
from tb.queue_pairs.oracle import JoinOracle, judge
from tb.queue_pairs.scenes import Played, Shape
from tb.sq import ports as sq_ports
from tb.sq.check import check as sq_check
from tb.sq.env import counts
from tb.sq.replay import item_of as sq_item

CTX_BITS = CqCtx.width()


def shape_of(ctx: RunContext) -> Shape:
    """Sizes of the design."""
    return Shape(ctx.param("QPS", 64), ctx.param("PAGES", 64), ctx.param("CQS", 64), ctx.param("TAGS", 512))


# -- stimulus ---------------------------------------------------------------------------------------------------


def _sides(fmt: StreamFormat, rows: list[tuple[int, int]]) -> Records:
    out = fmt.empty(len(rows))
    for i, (cycle, side) in enumerate(rows):
        out["cycle"][i] = cycle
        out["side"][i] = np.frombuffer(side.to_bytes(fmt.side_bytes, "little"), np.uint8)
    out["flags"] = 1
    return out


def item_of(name: str, played: Played, kinds: frozenset[str] = frozenset(), shows: str = "") -> PhaseItem:
    """The phase. ``kinds``: the oracle must see a fault of one of these; empty: none at all. ``shows``: what the phase
    is about, for coverage."""
    done = played.completions
    item = sq_item(name, played.outcome, kinds, shows)
    del item.plays["watch"]  # ctx_idle is looked at in block sq's own bench
    item.plays["cq"] = _sides(cq_ports.IN, [(c, x.pack()) for c, x in done.offer.taken])
    item.plays["cq_ctx"] = _sides(cq_ports.CTX, [(c, e << CTX_BITS | x.pack()) for c, e, x in done.ctxs])
    item.plays["done"] = timed(cq_ports.DONE, done.transport.done)
    item.cfg = {"done0": done.transport.done0}
    for port, pattern in done.ready.items():
        item.ready[port] = np.array(pattern, bool)
    arms = [(c, page, int.from_bytes(data, "big")) for c, page, data in done.sq.arms]
    stimulus = Stimulus(
        queues=played.shape.cqs, ctxs=done.ctxs, completions=done.offer.taken, arms=arms,
        done=done.transport.done, done0=done.transport.done0, image=played.outcome.image,
        timing=played.outcome.setting.timing,
    )  # fmt: skip
    plans = {entry: Plan(ctx, Software()) for _, entry, ctx in done.ctxs}
    item.info |= {
        "arms": [(page, data) for _, page, data in done.sq.arms], "played": played, "stimulus": stimulus,
        "plans": plans, "depths": {}, "facts": {"rewritten": bool(done.renewed)},
    }  # fmt: skip
    item.quiet = 400
    return item


# -- prediction -------------------------------------------------------------------------------------------------


def _side(r: Any) -> int:
    return int.from_bytes(r["side"].tobytes(), "little")


def _words(records: Records) -> list[tuple[int, Beat]]:
    return [(int(r["cycle"]), Beat(r["data"].tobytes(), bool(r["flags"] & 1), _side(r))) for r in records]


def _strobed(records: Records) -> list[tuple[int, Beat]]:
    rows = ((r, int.from_bytes(r["keep"].tobytes(), "little")) for r in records)
    return [(int(r["cycle"]), Beat(r["data"].tobytes(), bool(r["flags"] & 1), strobes)) for r, strobes in rows]


def _at(records: Records, taken: list[tuple[int, Beat]]) -> Records:
    out = records[: len(taken)].copy()
    out["cycle"] = [cycle for cycle, _ in taken]
    return out


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, read, write, arm, event and counter of the phase."""
    item, played, shape = phase.item, phase.played, shape_of(ctx)
    kernel = Kernel()
    sq, cq = shape.sq(kernel), shape.cq(kernel)
    memory = Memory(kernel, "mem", item.info["timing"], WINDOWS, None, item.info["pokes"], any_order=True)

    def ready(name: str) -> Any:
        return ready_at(item.ready.get(name))

    def source(name: str, items: list[tuple[int, Beat]], free: Any, take: Any) -> StreamSource:
        return StreamSource(kernel, name, items, free, take)

    def any_time(_now: int) -> bool:
        return True

    def take_ctx(now: int, beat: Beat) -> None:
        sq.ctx(now, beat.side, SqCtx.unpack(int.from_bytes(beat.data, "little")))

    def take_aw(now: int, beat: Beat) -> None:
        sq.aw(now, beat.side >> 24 & 15, beat.side & 0xFFFFFF, (beat.side >> 28) + 1)

    def take_cq_ctx(now: int, beat: Beat) -> None:
        cq.ctx(now, beat.side >> CTX_BITS, CqCtx.unpack(beat.side & (1 << CTX_BITS) - 1))

    sources = {
        "ctx": source("ctx", _words(played["ctx"]), any_time, take_ctx),
        "uar_aw": source("uar_aw", _words(played["uar_aw"]), sq.aw_ready, take_aw),
        "uar_w": source("uar_w", _strobed(played["uar_w"]), sq.w_ready, lambda c, b: sq.w(c, b.data, b.side, b.last)),
        "cq": source("cq", _words(played["cq"]), cq.ready, lambda c, b: cq.put(c, CqIn.unpack(b.side))),
    }
    source("cq_ctx", _words(played["cq_ctx"]), any_time, take_cq_ctx)
    cq.done(0, item.cfg["done0"])
    source("done", _words(played["done"]), any_time, lambda c, b: cq.done(c, int.from_bytes(b.data[:2], "little")))
    b = Taker(kernel, "uar_b", sq.b, ready("uar_b"))
    wr = Taker(kernel, "m_wr", sq.wr, ready("m_wr"))
    joined = Joined(kernel, sq, cq, memory, ready)
    kernel.run(item.max_cycles)
    return {
        **{name: _at(played[name], s.taken) for name, s in sources.items()},
        "uar_b": [(c, Beat(b"", True, r.id << 2 | r.resp)) for c, r in b.taken],
        "m_wr": wr.taken,
        "arm": [(c, 1 << 76 | page << 64 | int.from_bytes(data, "big")) for c, page, data in sq.arms],
        "count": counts(sq.changes),
        "m_ev": [(c, Beat(b"", True, e)) for c, e in joined.events.taken],
        "status": status(cq.changes),
        **memory_prediction("mem", memory),
    }


# -- judgement --------------------------------------------------------------------------------------------------


def entries_of(phase: PhaseRecords) -> list[tuple[int, int, bytes]]:
    """(visible, address, 64 bytes) of each entry that the design wrote."""
    return [(int(r["visible"]), int(r["addr"]), r["data"].tobytes()) for r in phase.rows["mem_w.rec"]]


def _producers(phase: PhaseRecords, played: Played) -> list[str]:
    """Work requests of the design: in the run's cycles, and what the oracle says of them."""
    outcome, kinds = phase.item.info["producers"]
    have = [
        (f.cycles[-1], SqWr.unpack(f.side), f.data) for f in frames_from_beats(phase.beats["m_wr"], sq_ports.WR)
    ]  # fmt: skip
    lines = [] if have == outcome.frames else [f"{len(have)} work requests, not the {len(outcome.frames)} of the run"]
    oracle = JoinOracle(outcome.queues)
    for cycle, wr, data in have:
        oracle.hand(cycle, wr, data)
    for row in phase.beats["m_ev"]:
        if _side(row) & 1:
            oracle.broken_queue(int(row["cycle"]), _side(row) >> 1)
    if not outcome.stopped:
        oracle.finish(outcome.last, outcome.stuck)
    found = {f.kind for f in oracle.faults}
    if kinds and not found & kinds:
        lines.append(f"no fault of {sorted(kinds)} though a step is missing; found {sorted(found)}")
    if not kinds and oracle.faults:
        lines.append(str(oracle.faults[0]))
    if set(oracle.ended) != set(played.planted) and not kinds:
        lines.append(f"errors on {len(oracle.ended)} queues, planted on {len(played.planted)}")
    return lines


def _events(phase: PhaseRecords, played: Played) -> list[str]:
    """Counted events and refused arms against what software did."""
    have = cq_ports.counters(phase.events["status"][-1]["value"])
    lines = []
    if have["arm_refused"] != played.scene.strays * bool(played.completions.rings):
        lines.append(f"{have['arm_refused']} arms refused, {played.scene.strays} came by a foreign page")
    if have["refused"] or (have["dropped"] and not played.outcome.faults):
        lines.append(f"{have['refused']} completions refused, {have['dropped']} dropped")
    arms = sum(r.arms for r in played.completions.rings)
    if have["events"] > arms:
        lines.append(f"{have['events']} events for {arms} arms")
    return lines


def halts_of(phase: PhaseRecords, played: Played) -> dict[int, int]:
    """Index at which a wrong doorbell record halted a queue, by qpn."""
    works = (SqWr.unpack(f.side) for f in frames_from_beats(phase.beats["m_wr"], sq_ports.WR))
    return {w.qpn: w.wqe_index for w in works if w.error and played.planted.get(w.qpn) == "record"}


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Complaints about the phase."""
    played: Played = phase.item.info["played"]
    lines = [*sq_check(ctx, phase), *_producers(phase, played), *_events(phase, played)]
    lines += cq_checks.barriers(phase)
    lines += cq_checks.collapsed(phase, cq_checks.Timeline(phase))
    if not played.outcome.stopped:
        lines += cq_checks.events(phase)
        done = played.completions
        found, halts = entries_of(phase), halts_of(phase, played)
        lines += judge(played.outcome.queues, done.homes, played.ctxs, found, played.landed, halts)
    return lines


PLAN = BenchPlan(
    plays={
        "ctx": sq_ports.CTX, "uar_aw": sq_ports.AW, "uar_w": sq_ports.W,
        "cq": cq_ports.IN, "cq_ctx": cq_ports.CTX, "done": cq_ports.DONE,
    },
    streams={
        "ctx": sq_ports.CTX, "uar_aw": sq_ports.AW, "uar_w": sq_ports.W, "uar_b": sq_ports.B, "m_wr": sq_ports.WR,
        "cq": cq_ports.IN, "m_ev": cq_ports.EV,
    },
    events={"arm": sq_ports.ARM_BITS, "count": 256, "status": cq_ports.STATUS_BITS},
    rows=memory_rows("mem"),
    cfgs={"done0": 16},
    predict=predict,
    check=check,
    coverage=COVERAGE,
)  # fmt: skip
