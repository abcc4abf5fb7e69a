# SPDX-License-Identifier: Apache-2.0
"""Bench of the doorbell: what it records, and what model and memory say of it from the stimulus alone."""

from __future__ import annotations

from typing import Any

from models.doorbell import Doorbell
from models.kernel import Beat, Kernel, Sink
from models.memory import Memory
from models.protocol import DoorbellCfg, Wr
from tb.common.axi import memory_prediction, memory_rows
from tb.common.beats import Records, frames_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.doorbell.coverage import COVERAGE
from tb.doorbell.ports import AW, WINDOWS, WR, B, W, counters


def _items(records: Records) -> list[tuple[int, Beat]]:
    """W beats with all 64 bytes; the strobes are the side band."""
    return [
        (
            int(r["cycle"]),
            Beat(r["data"].tobytes(), bool(r["flags"] & 1), int.from_bytes(r["keep"].tobytes(), "little")),
        )
        for r in records
    ]


def _addresses(records: Records) -> list[tuple[int, Beat]]:
    return [(int(r["cycle"]), Beat(b"", True, int.from_bytes(r["side"].tobytes(), "little"))) for r in records]


def _at(records: Records, taken: list[tuple[int, Beat]]) -> Records:
    """The played records at the cycles at which the model took them."""
    out = records[: len(taken)].copy()
    out["cycle"] = [cycle for cycle, _ in taken]
    return out


def status(changes: list[tuple[int, tuple[int, ...]]]) -> list[tuple[int, int]]:
    """Counters as the bench's status vector shows them."""
    out = []
    for cycle, (halted, *counts) in changes:
        value = halted
        for counter in counts:
            value = value << 32 | counter
        out.append((cycle, value))
    return out


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, read and counter of the phase."""
    item = phase.item
    kernel = Kernel()
    db = Doorbell(kernel, "doorbell", DoorbellCfg.unpack(item.cfg["doorbell"]))
    memory = Memory(kernel, "mem", item.info["timing"], WINDOWS, item.images.get("mem"), item.info.get("pokes", ()))

    def take_aw(now: int, beat: Beat) -> None:
        db.aw(now, beat.side >> 12 & 15, beat.side & 0xFFF)

    def take_w(now: int, beat: Beat) -> None:
        db.w(now, beat.data, beat.side, beat.last)

    def ready(name: str) -> Any:
        return ready_at(item.ready.get(name))

    aw = StreamSource(kernel, "uar_aw", _addresses(phase.played["uar_aw"]), db.aw_ready, take_aw)
    w = StreamSource(kernel, "uar_w", _items(phase.played["uar_w"]), db.w_ready, take_w)
    b = Sink(kernel, "uar_b", db.b, ready("uar_b"))
    wr = Sink(kernel, "m_wr", db.wr, ready("m_wr"))
    Sink(kernel, "ar", db.ar, ready("mem_ar"))
    db.ar.on_pop = lambda now, read: memory.ar(now, read.id, read.addr, read.beats)
    Sink(kernel, "r", memory.r)
    memory.r.on_pop = lambda now, beat: db.r(now, beat.data, beat.resp)
    kernel.run(item.max_cycles)
    return {
        "uar_aw": _at(phase.played["uar_aw"], aw.taken),
        "uar_w": _at(phase.played["uar_w"], w.taken),
        "uar_b": [(c, Beat(b"", True, r.id << 2 | r.resp)) for c, r in b.taken],
        "m_wr": wr.taken,
        "status": status(db.changes),
        **memory_prediction("mem", memory),
    }


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Work requests against what the producers posted (``info["works"]``: (Wr, payload) in order), model apart."""
    works = phase.item.info.get("works")
    if works is None:
        return []
    frames = frames_from_beats(phase.beats["m_wr"], WR)
    got = [(Wr.unpack(f.side), f.data) for f in frames]
    if got == works:
        return []
    wrong = next((i for i, (a, b) in enumerate(zip(got, works, strict=False)) if a != b), min(len(got), len(works)))
    have = got[wrong] if wrong < len(got) else "nothing"
    want = works[wrong] if wrong < len(works) else "nothing"
    return [f"work request {wrong} of {len(works)} ({len(got)} came): design {have}, posted {want}"]


def check_all(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """:func:`check`, and the counters at the end (``info["final"]``: {counter: value})."""
    lines = check(ctx, phase)
    final = phase.item.info.get("final")
    if final:
        have = counters(phase.events["status"][-1]["value"])
        lines += [f"counter {n} is {have[n]}, expected {v}" for n, v in final.items() if have[n] != v]
    return lines


PLAN = BenchPlan(
    plays={"uar_aw": AW, "uar_w": W},
    streams={"uar_aw": AW, "uar_w": W, "uar_b": B, "m_wr": WR},
    events={"status": 161},
    rows=memory_rows("mem"),
    cfgs={"doorbell": DoorbellCfg.width()},
    predict=predict,
    check=check_all,
    coverage=COVERAGE,
)
