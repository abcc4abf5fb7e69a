# SPDX-License-Identifier: Apache-2.0
"""Bench of the send queues: what it records, and what model and memory say of it from the stimulus alone."""

from __future__ import annotations

from typing import Any

from models.kernel import Beat, Kernel, Sink
from models.memory import Memory
from models.protocol import SqCtx
from models.sq import Sq
from tb.common.axi import memory_prediction, memory_rows
from tb.common.beats import Records
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.sq.check import check
from tb.sq.coverage import COVERAGE
from tb.sq.figures import observe
from tb.sq.ports import ARM_BITS, AW, CTX, WATCH, WINDOWS, WR, B, W
from tb.sq.watch import ON


def _side(r: Any) -> int:
    return int.from_bytes(r["side"].tobytes(), "little")


def _beats(records: Records) -> list[tuple[int, Beat]]:
    """W beats with all 64 bytes; the strobes are the side band."""
    rows = ((r, int.from_bytes(r["keep"].tobytes(), "little")) for r in records)
    return [(int(r["cycle"]), Beat(r["data"].tobytes(), bool(r["flags"] & 1), strobes)) for r, strobes in rows]


def _words(records: Records) -> list[tuple[int, Beat]]:
    """Records as (cycle, Beat) with all of the data and the side band."""
    return [(int(r["cycle"]), Beat(r["data"].tobytes(), True, _side(r))) for r in records]


def _at(records: Records, taken: list[tuple[int, Beat]]) -> Records:
    """The played records at the cycles at which the model took them."""
    out = records[: len(taken)].copy()
    out["cycle"] = [cycle for cycle, _ in taken]
    return out


def counts(changes: list[tuple[int, tuple[int, ...]]]) -> list[tuple[int, int]]:
    """Counters as the bench's vector shows them."""
    return [(cycle, sum(v << 32 * (len(now) - 1 - i) for i, v in enumerate(now))) for cycle, now in changes]


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, read and counter of the phase."""
    item = phase.item
    kernel = Kernel()
    sizes = {n: ctx.param(n.upper(), d) for n, d in (("qps", 256), ("pages", 64), ("tags", 512))}
    sq = Sq(kernel, "sq", **sizes)
    memory = Memory(kernel, "mem", item.info["timing"], WINDOWS, None, item.info["pokes"], any_order=True)

    def take_ctx(now: int, beat: Beat) -> None:
        sq.ctx(now, beat.side, SqCtx.unpack(int.from_bytes(beat.data, "little")))

    def take_aw(now: int, beat: Beat) -> None:
        sq.aw(now, beat.side >> 24 & 15, beat.side & 0xFFFFFF, (beat.side >> 28) + 1)

    def take_w(now: int, beat: Beat) -> None:
        sq.w(now, beat.data, beat.side, beat.last)

    def ready(name: str) -> Any:
        return ready_at(item.ready.get(name))

    played = phase.played
    entries = StreamSource(kernel, "ctx", _words(played["ctx"]), lambda _: True, take_ctx)
    aw = StreamSource(kernel, "uar_aw", _words(played["uar_aw"]), sq.aw_ready, take_aw)
    w = StreamSource(kernel, "uar_w", _beats(played["uar_w"]), sq.w_ready, take_w)
    look = [(int(r["cycle"]), int.from_bytes(r["data"].tobytes(), "little")) for r in played["watch"]]
    sq.watch([(cycle, value & ON - 1 if value & ON else None) for cycle, value in look])
    b = Sink(kernel, "uar_b", sq.b, ready("uar_b"))
    wr = Sink(kernel, "m_wr", sq.wr, ready("m_wr"))
    Sink(kernel, "ar", sq.ar, ready("mem_ar"))
    sq.ar.on_pop = lambda now, read: memory.ar(now, read.id, read.addr, read.beats)
    Sink(kernel, "r", memory.r)
    memory.r.on_pop = lambda now, beat: sq.r(now, beat.id, beat.data, beat.resp)
    kernel.run(item.max_cycles)
    return {
        "ctx": _at(played["ctx"], entries.taken),
        "uar_aw": _at(played["uar_aw"], aw.taken),
        "uar_w": _at(played["uar_w"], w.taken),
        "uar_b": [(c, Beat(b"", True, r.id << 2 | r.resp)) for c, r in b.taken],
        "m_wr": wr.taken,
        "arm": [(c, 1 << 76 | page << 64 | int.from_bytes(data, "big")) for c, page, data in sq.arms],
        "count": counts(sq.changes),
        "idle": [(c, int(v)) for c, v in sq.idles],
        **memory_prediction("mem", memory),
    }


PLAN = BenchPlan(
    plays={"ctx": CTX, "uar_aw": AW, "uar_w": W, "watch": WATCH},
    streams={"ctx": CTX, "uar_aw": AW, "uar_w": W, "uar_b": B, "m_wr": WR},
    events={"arm": ARM_BITS, "count": 256, "idle": 1},
    rows=memory_rows("mem"),
    predict=predict,
    check=check,
    observe=observe,
    coverage=COVERAGE,
)
