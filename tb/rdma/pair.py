# SPDX-License-Identifier: Apache-2.0
"""Two rdma blocks joined packet to packet: bench, model and stimulus of ``rdma_pair``.

Each end is a :class:`Scene`; what one end posts, the other should find. Nothing is told to the receiving end but
its receive WQEs, and nothing is acknowledged but by its own responder.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from models.kernel import Kernel, Sink
from models.memory import Memory, MemoryTiming, WindowTiming
from models.protocol import SYN, WQE, Mr, RdmaCfg, Wr
from models.rdma import Rdma
from tb.common.axi import memory_prediction, memory_rows
from tb.common.beats import items_from_beats
from tb.common.phase import ready_at, stalls
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, PhaseSequence, Prediction
from tb.rdma import oracle
from tb.rdma.coverage import COVERAGE
from tb.rdma.env import connect, joined
from tb.rdma.ports import PKT, STATUS, WINDOWS, WR, unpack_regions
from tb.rdma.scene import DEFAULT, GPU_DATA, GPU_KEY, HOST_DATA, HOST_KEY, Arrival, Receive, Scene
from tb.rdma.sequences import KINDS, SOURCE, RandomTraffic, place, random_timing

ENDS = ("a", "b")


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Both ends from their work requests alone."""
    item = phase.item
    kernel = Kernel()
    models, sources, sinks, memories = [], [], [], []
    for s in ENDS:
        model = Rdma(kernel, f"rdma_{s}", RdmaCfg.unpack(item.cfg[f"rdma_{s}"]), unpack_regions(item.cfg[f"mr_{s}"]))
        memory = Memory(kernel, f"mem_{s}", item.info[f"timing_{s}"], WINDOWS, item.images[f"mem_{s}"])
        wrs = items_from_beats(phase.played[f"s_wr_{s}"], WR, Wr.unpack)
        sources.append(StreamSource(kernel, f"s_wr_{s}", wrs, model.wr_ready, model.wr))
        connect(kernel, model, memory, lambda ch, s=s: ready_at(item.ready.get(f"mem_{s}_{ch}")))
        models.append(model)
        memories.append(memory)
    for i, s in enumerate(ENDS):
        peer = models[1 - i]
        sinks.append(Sink(kernel, f"pkt_{s}", models[i].m_pkt, peer.pkt_ready))
        models[i].m_pkt.on_pop = peer.pkt
    kernel.run(item.max_cycles)
    out: dict[str, Any] = {}
    for i, s in enumerate(ENDS):
        out |= {f"s_wr_{s}": sources[i].taken, f"pkt_{s}": sinks[i].taken}
        out |= {f"status_{s}": joined(models[i].changes, STATUS)} | memory_prediction(f"mem_{s}", memories[i])
    return out


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Memory and completions of both ends, and the rate when one is wanted (``info["rate"]``, bytes a cycle)."""
    out = []
    for i, s in enumerate(ENDS):
        scene: Scene = phase.item.info[f"scene_{s}"]
        c = scene.cfg
        read = oracle.reader(phase, f"mem_{s}")
        out += oracle.check_arrivals(read, scene.arriving)
        out += oracle.check_receives(
            oracle.receive_completions(phase, scene, f"mem_{s}"), scene.arriving, c.rq_ci0, c.qpn
        )  # fmt: skip
        done = [(w.wqe_index, 0) for w in scene.posted if w.signaled]
        if (have := oracle.send_completions(phase, scene, f"mem_{s}")) != done:
            out.append(f"send completions of {s}: design {have}, wanted {done}")
        naks = [h.syndrome for h, _ in oracle.packets(phase, f"pkt_{s}") if h.syndrome > SYN.ACK_NO_CREDIT]
        if naks:
            out.append(f"{s} sent NAKs {naks}")
        if (least := phase.item.info.get("rate")) and scene.posted:
            out += rate_of(phase, s, ENDS[1 - i], least)
    return [f"{line}" for line in out]


def rate_of(phase: PhaseRecords, sender: str, receiver: str, least: float) -> list[str]:
    """Payload bytes a cycle between the 10th and the 90th percent of the beats, on the wire and into memory."""
    out = []
    beats = phase.beats[f"pkt_{sender}"]
    full = np.unpackbits(beats["keep"], axis=1).sum(axis=1)
    into = phase.rows[f"mem_{receiver}_w.rec"]
    strobes = np.array([int(s).bit_count() for s in into["strb"]])
    for where, cycles, sizes in (("wire", beats["cycle"], full), ("memory", into["cycle"], strobes)):
        lo, hi = len(cycles) // 10, len(cycles) * 9 // 10
        rate = sizes[lo:hi].sum() / (int(cycles[hi]) - int(cycles[lo]))
        if rate < least:
            out.append(f"{sender}: {rate:.1f} bytes a cycle on the way to the {where}, wanted {least}")
    return out


PLAN = BenchPlan(
    plays={f"s_wr_{s}": WR for s in ENDS},
    streams={f"s_wr_{s}": WR for s in ENDS} | {f"pkt_{s}": PKT for s in ENDS},
    events={f"status_{s}": sum(w for _, w in STATUS) for s in ENDS},
    rows={k: v for s in ENDS for k, v in memory_rows(f"mem_{s}").items()},
    cfgs={k: w for s in ENDS for k, w in ((f"rdma_{s}", RdmaCfg.width()), (f"mr_{s}", 4 * Mr.width()))},
    predict=predict,
    check=check,
    coverage=COVERAGE,
)


def ends(pmtu: int) -> tuple[Scene, Scene]:
    """Two scenes that are each other's peers."""
    a = Scene("a", cfg=replace(DEFAULT, pmtu=pmtu))
    c = a.cfg
    b = Scene(
        "b",
        cfg=replace(
            c, qpn=c.dest_qpn, dest_qpn=c.qpn, src=c.dst, dst=c.src, sq_psn=c.rq_psn, rq_psn=c.sq_psn, msn0=0xFFFFF0
        ),
    )  # fmt: skip
    return a, b


def post(src: Scene, dst: Scene, rng: np.random.Generator, size: int, cycle: int, *, most_inline: int = 220) -> None:
    """One message of any kind from memory or inline, and what it does at the other end."""
    kind = KINDS[int(rng.integers(4))]
    imm = int(rng.integers(1 << 32))
    fields: dict[str, Any] = {"opcode": kind, "imm": imm, "se": int(rng.integers(2)), "cycle": cycle}
    fields["signaled"] = int(rng.random() < 0.7)
    target, key = place(rng, size, 0, SOURCE)
    if kind in (WQE.WRITE, WQE.WRITE_IMM):
        fields |= {"raddr": target, "rkey": key}
    if kind != WQE.WRITE:
        dst.receives.append(Receive(target, size, key))
    if size <= most_inline and rng.random() < 0.5:
        data = rng.bytes(size)
        src.wr(data, **fields)
    else:
        at, lkey = place(rng, size, SOURCE, 0x2_0000)
        base = HOST_DATA if lkey == HOST_KEY else GPU_DATA
        data = src.image[base + SOURCE][at - base - SOURCE :][:size]
        src.wr(size, laddr=at, lkey=lkey, **fields)
    with_imm = kind in oracle.WITH_IMM
    solicited = fields["se"] if kind != WQE.WRITE else 0
    dst.arriving.append(Arrival(kind in oracle.SENDS, data, target, imm if with_imm else None, solicited))


def item_of(name: str, a: Scene, b: Scene, ready: dict[str, Any], **info: Any) -> PhaseItem:
    """One phase of both ends."""
    item = PhaseItem(name)
    for s, scene in zip(ENDS, (a, b), strict=True):
        one = scene.item()
        item.cfg |= {f"rdma_{s}": one.cfg["rdma"], f"mr_{s}": one.cfg["mr"]}
        item.plays[f"s_wr_{s}"] = scene.wrs
        item.images[f"mem_{s}"] = one.images["mem"]
        item.files[f"mem_{s}.cfg"] = one.files["mem.cfg"]
        item.info |= {f"timing_{s}": scene.timing, f"scene_{s}": scene}
    item.ready = ready
    item.info |= info
    item.quiet = 3000
    item.max_cycles = 200_000
    return item


class RandomPair(PhaseSequence):
    """Both ends send at random."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Delays and stalls of the two memories differ."""
        a, b = ends(1 + index % 3)
        for scene in (a, b):
            scene.timing = random_timing(rng, 300)
            scene.cfg.scq_log = scene.cfg.rcq_log = scene.cfg.rq_log = 7
            for base in (HOST_DATA, GPU_DATA):
                scene.image[base + SOURCE] = rng.bytes(0x2_0000)
        cycle = 1
        for _ in range(80):
            src, dst = (a, b) if rng.integers(2) else (b, a)
            cycle += int(rng.integers(0, 60))
            post(src, dst, rng, RandomTraffic.size(rng, a.mtu), cycle)
        names = [f"mem_{s}_{ch}" for s in ENDS for ch in ("aw", "w", "ar")]
        ready = {n: stalls(rng, 0.4) for n in names if index and rng.random() < 0.6}
        return item_of(f"pair{index}", a, b, ready)


class FullRate(PhaseSequence):
    """Full rate both ways over memories 450 cycles away: at least 50 bytes a cycle at path MTUs of 1 and 4 KiB."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Aligned, and at the worst alignment: each packet touches one line more at both ends."""
        pmtu, shift = ((3, 0), (5, 0), (3, 33), (5, 33))[index]
        a, b = ends(pmtu)
        far = WindowTiming(100, 220, 450)
        for scene, other in ((a, b), (b, a)):
            scene.timing = MemoryTiming(far, far)
            scene.image[GPU_DATA + SOURCE] = rng.bytes(0x4_0000)
            scene.cfg.scq_log = 7
            for i in range(14):
                size, at = 8192 - 64, i * 8192 + shift
                data = scene.image[GPU_DATA + SOURCE][at : at + size]
                scene.wr(
                    size, laddr=GPU_DATA + SOURCE + at, lkey=GPU_KEY, raddr=GPU_DATA + at, rkey=GPU_KEY, signaled=0
                )  # fmt: skip
                other.arriving.append(Arrival(False, data, GPU_DATA + at, None, 0))
        return item_of(f"rate{index}", a, b, {}, rate=50)
