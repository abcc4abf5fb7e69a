# SPDX-License-Identifier: Apache-2.0
"""Bench of rdma: what it records, and what model and memory say of it from the stimulus alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.kernel import Kernel, Sink
from models.memory import Memory
from models.protocol import Hdr, Mr, RdmaCfg, Wr
from models.rdma import Rdma
from tb.common.axi import memory_prediction, memory_rows
from tb.common.beats import items_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.rdma.coverage import COVERAGE
from tb.rdma.ports import COUNTERS, PKT, STATUS, WINDOWS, WR, fields_of, placed, unpack_regions


def joined(changes: Mapping[str, list[tuple[int, int]]], fields: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
    """Changes of a vector made of status ports, the first one highest."""
    cycles = sorted({c for name, _ in fields for c, _ in changes[name]})
    at = dict.fromkeys((name for name, _ in fields), 0)
    value = {name: 0 for name, _ in fields}
    out = []
    for cycle in cycles:
        word = 0
        for name, width in fields:
            log = changes[name]
            while at[name] < len(log) and log[at[name]][0] <= cycle:
                value[name] = log[at[name]][1]
                at[name] += 1
            word = word << width | value[name]
        out.append((cycle, word))
    return out


def connect(kernel: Kernel, model: Rdma, memory: Memory, ready: Any = None, far: int = 0) -> None:
    """Join a block's memory port with its memory; ``ready(channel)`` gives the ready of ``aw``, ``w``, ``ar``."""
    always = ready or (lambda _channel: lambda _cycle: True)
    Sink(kernel, "ar", model.ar, always("ar"))
    Sink(kernel, "aw", model.aw, always("aw"))
    Sink(kernel, "w", model.w, always("w"))
    Sink(kernel, "b", memory.b)
    Sink(kernel, "r", memory.r)
    model.ar.on_pop = lambda now, a: memory.ar(now, a.id, placed(a.addr, far), a.beats)
    model.aw.on_pop = lambda now, a: memory.aw(now, a.id, placed(a.addr, far), a.beats)
    model.w.on_pop = lambda now, w: memory.w(now, w.data, w.strb, w.last)
    memory.b.on_pop = model.b
    memory.r.on_pop = model.r


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, memory transfer and status value of the phase."""
    item = phase.item
    kernel = Kernel()
    model = Rdma(kernel, "rdma", RdmaCfg.unpack(item.cfg["rdma"]), unpack_regions(item.cfg["mr"]))
    memory = Memory(kernel, "mem", item.info["timing"], WINDOWS, item.images.get("mem"), item.info.get("pokes", ()))

    def ready(name: str) -> Any:
        return ready_at(item.ready.get(name))

    wrs = items_from_beats(phase.played["s_wr"], WR, Wr.unpack)
    pkts = items_from_beats(phase.played["s_pkt"], PKT, Hdr.unpack)
    s_wr = StreamSource(kernel, "s_wr", wrs, model.wr_ready, model.wr)
    s_pkt = StreamSource(kernel, "s_pkt", pkts, model.pkt_ready, model.pkt)
    m_pkt = Sink(kernel, "m_pkt", model.m_pkt, ready("m_pkt"))
    connect(kernel, model, memory, lambda channel: ready(f"mem_{channel}"), item.cfg["far"])
    kernel.run(item.max_cycles)
    phase.item.info["memory"] = memory
    return {
        "s_wr": s_wr.taken,
        "s_pkt": s_pkt.taken,
        "m_pkt": m_pkt.taken,
        "status": joined(model.changes, STATUS),
        "counters": joined(model.changes, COUNTERS),
        **memory_prediction("mem", memory),
    }


def last_status(phase: PhaseRecords) -> dict[str, int]:
    """Status ports and counters at the phase's end."""
    out: dict[str, int] = {}
    for name, fields in (("status", STATUS), ("counters", COUNTERS)):
        raw = phase.events[name][-1]["value"]
        out |= fields_of(int.from_bytes(raw.tobytes(), "little"), fields)
    return out


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """What the test itself knows (``info["check"]``: a function of the phase), without the model."""
    rule = phase.item.info.get("check")
    return rule(phase) if rule is not None else []


PLAN = BenchPlan(
    plays={"s_wr": WR, "s_pkt": PKT},
    streams={"s_wr": WR, "s_pkt": PKT, "m_pkt": PKT},
    events={"status": sum(w for _, w in STATUS), "counters": sum(w for _, w in COUNTERS)},
    rows=memory_rows("mem"),
    cfgs={"rdma": RdmaCfg.width(), "mr": 4 * Mr.width(), "far": 64},
    predict=predict,
    check=check,
    coverage=COVERAGE,
)
