# SPDX-License-Identifier: Apache-2.0
"""Latency from a store to its completion entry visible in memory: BlueFlame and doorbell, queues in host and GPU
memory, over the hosts of spec/fabric.toml. The transport's own time is left out: it completes a cycle after it took a
request.
"""

from __future__ import annotations

import numpy as np

from models.memory import MemoryTiming, WindowTiming
from models.spec import spec
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem, PhaseRecords
from tb.producers.single import LONG, Host
from tb.queue_pairs.env import entries_of, item_of
from tb.queue_pairs.names import CASES
from tb.queue_pairs.scenes import Scene, play
from tb.queue_pairs.sequences import JoinSequence
from tb.sq.seq_latency import STRAIGHT, fetched

TRANSPORT = 1  # cycles from m_wr to s_cq
NAMES = tuple("_".join(case) for case in CASES)
ENTRY = sum(spec().cycles(f"latency.cq.{n}") for n in ("fifo", "head", "pick", "lookup", "index", "form"))


def timing(host: Host) -> MemoryTiming:
    """Reads as for a single store (tb/producers/single.py); a write is visible after its way, B comes back."""
    way = host.cycles("oneway")

    def window(of: str) -> WindowTiming:
        there = way + host.cycles(f"{of}visible")
        return WindowTiming(wr_visible=there, wr_resp=there + way, rd_latency=host.cycles(f"{of}read_rtt"))

    return MemoryTiming(window(""), window("gpu_"))


def due(store: str, memory: str, host: Host) -> int:
    """Cycles by the tables of docs/sq.md and docs/cq.md."""
    of = "gpu_" if memory == "gpu" else ""
    taken = STRAIGHT if store == "blueflame" else fetched(host.cycles(f"{of}read_rtt"))
    return taken + TRANSPORT + ENTRY + host.cycles("oneway") + host.cycles(f"{of}visible")


class Latency(JoinSequence):
    """A phase for each case: one post of one core."""

    phases = len(CASES)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        store, memory, name = CASES[index]
        host = Host(name)
        scene = Scene(
            gpu=0, cores=1, doorbells=1, served=False, far=memory == "gpu", plain=True, stay=LONG, split=0.0,
            blueflame=float(store == "blueflame"), timing=timing(host), path=host.cycles("oneway"), complete=1,
        )  # fmt: skip
        seed = int(rng.integers(1 << 30))
        while len((played := play(scene, seed, self.shape)).outcome.stores) != 1:
            seed += 1  # the write-combining buffer left before its flush
        item = item_of(NAMES[index], played, shows="latency")
        item.info["latency"] = (NAMES[index], due(store, memory, host))
        return item


def measured(phase: PhaseRecords) -> int:
    """Cycles from the store's W transfer to its entry."""
    return int(entries_of(phase)[0][0] - int(phase.beats["uar_w"]["cycle"][0]))


def check_latency(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Every case takes what the tables' sum says."""
    name, want = phase.item.info["latency"]
    took = measured(phase)
    return [] if took == want else [f"{name}: {took}, not {want} cycles"]


def observe_latency(ctx: RunContext, phase: PhaseRecords) -> None:
    """Figures: from the store at the device's port to its entry in memory."""
    name, want = phase.item.info["latency"]
    period, took = spec().value("clock.period_ns"), measured(phase)
    result = Result(ctx.run_dir)
    result.figure(f"{name}_ns", took * period, "ns", want * period, took == want)
    result.save()
