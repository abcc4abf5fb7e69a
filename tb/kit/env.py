# SPDX-License-Identifier: Apache-2.0
"""Bench of the kit's AXI4 memory: its golden model is fed with the recorded requests."""

from __future__ import annotations

from models.kernel import Kernel, Player, Sink
from models.memory import LINE, Memory, MemoryTiming, Poke, Windows
from tb.common.axi import memory_after, memory_prediction, memory_rows, store_rows
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction

LINES = 1024
WINDOWS = Windows(host_base=0x1000_0000, host_bytes=LINES * LINE, gpu_base=1 << 32, gpu_bytes=LINES * LINE)


def model(ctx: RunContext, phase: PhaseRecords) -> Memory:
    """The memory's model after the phase's recorded requests."""
    timing: MemoryTiming = phase.item.info["timing"]
    pokes: list[Poke] = phase.item.info["pokes"]
    kernel = Kernel()
    memory = Memory(
        kernel, "mem", timing, WINDOWS, phase.item.images.get("mem"), pokes, bool(ctx.param("ANY_ORDER", 0))
    )
    aw = [(int(r["cycle"]), (int(r["id"]), int(r["addr"]), int(r["beats"]))) for r in phase.rows["mem_aw.rec"]]
    ar = [(int(r["cycle"]), (int(r["id"]), int(r["addr"]), int(r["beats"]))) for r in phase.rows["mem_ar.rec"]]
    w = [(int(r["cycle"]), (r["data"].tobytes(), int(r["strb"]), bool(r["last"]))) for r in phase.rows["store_w.rec"]]
    Player(kernel, "aw", aw, lambda now, a: memory.aw(now, *a))
    Player(kernel, "w", w, lambda now, a: memory.w(now, *a))
    Player(kernel, "ar", ar, lambda now, a: memory.ar(now, *a))
    Sink(kernel, "b", memory.b)
    Sink(kernel, "r", memory.r, ready_at(phase.item.ready.get("load")))
    kernel.run(phase.item.max_cycles)
    return memory


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Responses, data and times of visibility."""
    return memory_prediction("mem", model(ctx, phase))


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """The memory rebuilt from the write records is the model's at the end; the player's B are the memory's."""
    memory = model(ctx, phase)
    complaints = []
    lines = memory_after(phase.item.images.get("mem", {}), phase.rows["mem_w.rec"], phase.item.info["pokes"])
    for addr, line in lines.items():
        mapped = any(
            0 <= addr - base < LINES * LINE for base in (WINDOWS.host_base, WINDOWS.gpu_base)
        )  # fmt: skip
        if mapped and memory.read(addr, LINE) != bytes(line):
            complaints.append(f"line {addr:#x} rebuilt from the records is not the model's")
    if list(phase.rows["store_b.rec"]["cycle"]) != list(phase.rows["mem_b.rec"]["cycle"]):
        complaints.append("B transfers differ between the two ends of one wire")
    return complaints


PLAN = BenchPlan(
    plays={},
    streams={},
    rows={**memory_rows("mem"), **store_rows("store")},
    inputs=frozenset({"store_aw.rec", "store_w.rec", "store_b.rec"}),
    predict=predict,
    check=check,
)
