# SPDX-License-Identifier: Apache-2.0
"""Latency from a store to its decoded work request, each case alone, over the hosts of spec/fabric.toml.

``info["latency"]``: (name, store of the phase, work request, cycles by the table, cycles before the store arrives, or
None where the producers' own time is the figure) each; ``info["begun"]``: cycle at which a thread began.
"""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from models.spec import spec
from tb.common.beats import frames_from_beats
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem, PhaseRecords
from tb.producers import gpu
from tb.producers.single import Host, by_gpu, by_proxy, gpu_sum, proxy_sum
from tb.sq.ports import WR
from tb.sq.replay import item_of
from tb.sq.seq_producers import ProducerSequence
from tb.sq.wqes import good

HOSTS = (Host("pcie"), Host("d2d"))


STYLES = {"nvshmem": gpu.NVSHMEM, "deepep": gpu.DEEPEP}
STORES = ("blueflame", "pointer", "doorbell", "inline", "unhinted", "behind")
CASES = tuple(f"{case}_{host.name}" for case in (*STORES, *STYLES, "proxy") for host in HOSTS)


def cycles(*steps: str) -> int:
    """Sum of figures of ``latency.sq``."""
    return sum(spec().cycles(f"latency.sq.{s}") for s in steps)


IN = ("fifo", "collect", "assemble", "lookup")
OUT = ("decode", "decode", "decode", "emit")
TURN = ("push", "active", "turn", "turn", "turn", "turn", "issue")
BACK = ("back", "deliver", "deliver", "deliver")
STRAIGHT = cycles(*IN, "ring", *OUT)  # BlueFlame's store to m_wr
ASK = cycles(*IN, *TURN)  # doorbell's store to the record's AR
JUDGED = cycles(*BACK, *TURN)  # record's R to the next AR of its queue
GIVEN = cycles(*BACK, *OUT)  # last block's R to m_wr
LONG = 4  # blocks of the inline WQE that is fetched: one of segments, the rest data
NEXT = 1  # an item of a turn to the next one


def fetched(rtt: int) -> int:
    """Doorbell's store to m_wr when its hint is right and the record there."""
    return ASK + NEXT + rtt + GIVEN


def unhinted(rtt: int) -> int:
    """The same when the doorbell promised nothing: the record's round trip, then the block's."""
    return ASK + rtt + JUDGED + rtt + GIVEN


def behind(rtt: int) -> int:
    """The same when the record was older than the doorbell, and a second doorbell came meanwhile."""
    return ASK + rtt + JUDGED + NEXT + rtt + GIVEN


class Latency(ProducerSequence):
    """Phases 0, 1: single stores; 2 to 5: a GPU thread in both libraries' order; 6, 7: a CPU proxy; PCIe and die-to-die
    host each."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        host = HOSTS[index % 2]
        if index < 2:
            return self._stores(host, rng)
        if index < 6:
            style = list(STYLES)[index // 2 - 1]
            begun, outcome = by_gpu(host, self.device, STYLES[style], self.entries, self.pages)
            due = gpu_sum(host, STYLES[style], fetched(host.cycles("gpu_read_rtt")))
            name, bounds = f"{style}_{host.name}", (due, due)
        else:
            begun, outcome = by_proxy(host, self.device, self.entries, self.pages, warm=int(rng.integers(200, 400)))
            name, bounds = f"proxy_{host.name}", proxy_sum(host, STRAIGHT)
        item = item_of(name, outcome, shows=name)
        item.info["begun"] = (name, begun, *bounds)
        return item

    def _stores(self, host: Host, rng: np.random.Generator) -> PhaseItem:
        rtt = host.cycles("read_rtt")
        scene = self.scene(rng, host=(rtt, 0), gpu=(rtt, 0))
        queue = scene.queue(pi0=int(rng.integers(1 << 16)), weight=16)
        rows: list[tuple[str, int, int, int]] = []
        stores = 0
        dues = (STRAIGHT, STRAIGHT, fetched(rtt), fetched(rtt) + LONG - 1, unhinted(rtt), behind(rtt))
        for case, due in zip(STORES, dues, strict=True):
            queue.at += 4 * rtt + 200
            if case == "pointer":
                posted = good(rng, queue.pi, queue.qpn, WQE.WRITE, sges=1)
            else:
                posted = good(rng, queue.pi, queue.qpn, WQE.WRITE, inline=64 * (LONG - 1) if case == "inline" else 8)
            old = queue.pi
            queue.fill(posted)
            if case == "behind":
                queue.gpu()  # the record comes after this doorbell's read of it, before the next one's
                queue.publish(delay=rtt + 30)
                queue.at += rtt // 2
                queue.gpu()
            else:
                queue.publish()
                queue.at += 2
                if case in ("blueflame", "pointer"):
                    queue.blueflame(posted)
                else:
                    queue.gpu(old if case == "unhinted" else None)
            rows.append((f"{case}_{host.name}", stores, len(rows), due))
            stores += 2 if case == "behind" else 1
        item = scene.item(f"stores_{host.name}")
        item.info["latency"] = rows
        item.info["host"] = host
        return item


def _measured(phase: PhaseRecords) -> list[tuple[str, int, int, int, int]]:
    """(name, cycles, least, most by the table, cycles from the core to the store's arrival)."""
    info = phase.item.info
    frames = frames_from_beats(phase.beats["m_wr"], WR)
    out = []
    if "begun" in info:
        name, begun, least, most = info["begun"]
        out.append((name, frames[0].cycle - begun, least, most, 0))
    for name, store, work, due in info.get("latency", ()):
        host = info["host"]
        way = host.cycles("store") + host.cycles("oneway")
        took = frames[work].cycle - int(phase.beats["uar_w"]["cycle"][store])
        out.append((name, took, due, due, way))
    return out


def check_latency(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Every case takes what the table's sum says."""
    return [
        f"{name}: {took} cycles, {least} to {most} by the table"
        if least != most
        else f"{name}: {took}, not {least} cycles"
        for name, took, least, most, _ in _measured(phase)
        if not least <= took <= most
    ]


def observe_latency(ctx: RunContext, phase: PhaseRecords) -> None:
    """Figures: from the store at the device's port to the decoded work request; ``from_core_ns`` with the host's way.
    Of GPU thread and proxy: from the thread's beginning."""
    result = Result(ctx.run_dir)
    period = spec().value("clock.period_ns")
    for name, took, least, most, way in _measured(phase):
        if way:
            more = {"from_core_ns": (took + way) * period}
        else:
            told = "proxy" if name.startswith("proxy") else "gpu_rtt"
            more = {
                "least_ns": least * period,
                f"published_{told}_ns": float(spec().value(f"producers.published.{told}")),
            }
        result.figure(f"{name}_ns", took * period, "ns", most * period, least <= took <= most, **more)
    result.save()
