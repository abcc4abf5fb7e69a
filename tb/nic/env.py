# SPDX-License-Identifier: Apache-2.0
"""Bench of the NIC: what it records, and what the model says of it from the stimulus alone.

The peer end of the cable is in the model too: its link, and its core, which takes every beat and gives its
cell back in the next cycle.
"""

from __future__ import annotations

from models.kernel import Beat, Fifo, Kernel
from models.link import Link, connect
from models.nic import Nic, NicConfig, Pump
from models.protocol import DoorbellCfg, LinkCfg, Mr, RdmaCfg, WireCfg
from tb.common.axi import memory_prediction, memory_rows, store_items, store_prediction, store_rows
from tb.common.beats import Records, StreamFormat, items_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StoreSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.fabric.layout import WINDOWS
from tb.nic.checks import check
from tb.nic.coverage import COVERAGE
from tb.nic.scene import Scene
from tb.nic.status import STATUS, status_changes
from tb.rdma.env import joined

AXIS = StreamFormat()


def source_fifo(records: Records, name: str) -> Fifo[Beat]:
    """What a player offers: each beat from its earliest cycle on, or when the one ahead is taken."""
    fifo: Fifo[Beat] = Fifo(1, None, name)
    visible = 1
    for cycle, beat in items_from_beats(records, AXIS, lambda _: None):
        visible = max(visible, cycle)
        fifo.push(0, beat, visible - 1)
    return fifo


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every frame, memory transfer, store response and status value."""
    item = phase.item
    scene: Scene = item.info["scene"]
    s = item.info["stimulus"]
    link_cfg = LinkCfg.unpack(item.cfg["net"] & (1 << LinkCfg.width()) - 1)
    far = scene.far

    def place(addr: int) -> int:
        return addr - far + WINDOWS.gpu_base if far and 0 <= addr - far < WINDOWS.gpu_bytes else addr

    kernel = Kernel()
    ready = {channel: ready_at(bits) for channel, bits in scene.ready.items()}
    config = NicConfig(
        scene.doorbell, scene.rdma, scene.regions, scene.wire, scene.timing, WINDOWS, s.image, s.pokes, place, ready
    )
    nic = Nic(kernel, "nic", config, link=link_cfg)
    peer = Link(kernel, "peer", cfg=link_cfg)
    peer.trace = nic.link.trace = True
    connect(nic.link, peer, item.cfg["net"] >> LinkCfg.width())
    peer.attach(source_fifo(phase.played["peer"], "peer.source"))
    received: list[tuple[int, Beat]] = []

    def take(now: int, beat: Beat) -> None:
        received.append((now, beat))
        peer.free(now + 1, 1)

    Pump(kernel, "peer.core", peer.rx, take)
    stores = item.files["store.store"]
    store = StoreSource(kernel, "store", store_items(stores), nic)
    kernel.run(item.max_cycles)
    rows = memory_prediction("mem", nic.memory) | store_prediction("store", stores, store, nic.responses)
    return {
        "peer": peer.accepted,
        "peer_rx": received,
        "status": joined(status_changes(nic), STATUS),
        **{name: r for name, r in rows.items() if name in PLAN.rows},
    }


PLAN = BenchPlan(
    plays={"peer": AXIS},
    streams={"peer": AXIS, "peer_rx": AXIS},
    events={"status": sum(w for _, w in STATUS)},
    cfgs={
        "net": 8 + LinkCfg.width(), "far": 64,
        "qp": DoorbellCfg.width() + RdmaCfg.width() + 4 * Mr.width() + WireCfg.width(),
    },
    rows={n: d for n, d in (memory_rows("mem") | store_rows("store")).items() if n != "mem_r.rec"},
    predict=predict,
    check=check,
    coverage=COVERAGE,
)  # fmt: skip
