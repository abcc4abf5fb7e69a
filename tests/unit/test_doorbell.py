# SPDX-License-Identifier: Apache-2.0
"""The doorbell's model on its own: the latency table and the rules, with figures counted by hand."""

from __future__ import annotations

from models import wqe
from models.doorbell import Doorbell
from models.kernel import Kernel, Player, Sink
from models.memory import Memory, MemoryTiming, Poke, Windows, WindowTiming
from models.protocol import CQE_SYN, WQE, DoorbellCfg

QPN = 0x42
BASE, DBR = 0x10000, 0x20018
LATENCY = 100
ALL = (1 << 64) - 1


class Rig:
    """Model and memory; ``stores``: (cycle, offset, bytes), each accepted at that cycle, beats one after the other."""

    def __init__(self, image=None, pokes=(), ci0=0, sq_log=4, base=BASE):
        self.kernel = Kernel()
        self.cfg = DoorbellCfg(enable=1, qpn=QPN, sq_base=base, sq_log=sq_log, dbr_addr=DBR, ci0=ci0)
        self.db = Doorbell(self.kernel, "db", self.cfg)
        timing = MemoryTiming(host=WindowTiming(rd_latency=LATENCY))
        windows = Windows(host_bytes=1 << 20)
        self.memory = Memory(self.kernel, "mem", timing, windows, image or {}, pokes)
        self.ar = Sink(self.kernel, "ar", self.db.ar)
        self.db.ar.on_pop = lambda now, read: self.memory.ar(now, read.id, read.addr, read.beats)
        self.memory.r.on_pop = lambda now, beat: self.db.r(now, beat.data, beat.resp)
        self.r = Sink(self.kernel, "r", self.memory.r)
        self.b = Sink(self.kernel, "b", self.db.b)
        self.wr = Sink(self.kernel, "wr", self.db.wr)
        self.events = []

    def store(self, cycle, data, offset=0x800):
        beats = [data[i : i + 64] for i in range(0, len(data), 64)]
        for i, beat in enumerate(beats):
            self.events.append((cycle + i, offset, beat, i == 0, i == len(beats) - 1))
        return cycle + len(beats) - 1

    def run(self):
        def take(now, item):
            offset, beat, first, last = item
            if first:
                self.db.aw(now, 3, offset)
            self.db.w(now, beat.ljust(64, b"\0"), (1 << len(beat)) - 1, last)

        Player(self.kernel, "stores", [(e[0], e[1:]) for e in sorted(self.events)], take)
        self.kernel.run(100_000)
        return [(c, b.side) for c, b in self.wr.taken if b.last]


def ring_image(wqes, base=BASE, sq_log=4):
    image = {}
    for raw in wqes:
        index = wqe.Head(raw).index
        for i in range(len(raw) // 64):
            slot = (index + i) % (1 << sq_log)
            image[base + 64 * slot] = raw[64 * i : 64 * i + 64]
    return image


def test_blueflame_goes_straight_through_in_four_cycles():
    rig = Rig()
    one = wqe.build(WQE.WRITE, 0, QPN, inline=bytes(range(64)))
    last = rig.store(10, one)
    assert [(c, wr.wqe_index, wr.length) for c, wr in rig.run()] == [(last + 4, 0, 64)]
    assert rig.wr.taken[0][1].data == bytes(range(64))


def test_doorbell_reads_record_and_both_blocks_at_once():
    one = wqe.build(WQE.WRITE, 0, QPN, inline=bytes(range(64)))
    rig = Rig({**ring_image([one]), DBR: wqe.record(2)})
    rig.store(10, wqe.doorbell(one))
    out = rig.run()
    assert [(c, r.addr) for c, r in rig.ar.taken] == [(13, DBR & ~63), (14, BASE), (15, BASE + 64)]
    assert [c for c, _ in out] == [15 + LATENCY + 5]
    assert [c for c, _ in rig.b.taken] == [12]


def test_record_decides_not_the_hint():
    wqes = [wqe.build(WQE.SEND, i, QPN, length=8 + i) for i in range(4)]
    rig = Rig({**ring_image(wqes), DBR: wqe.record(2)})
    rig.store(10, wqe.gpu_doorbell(4, QPN))
    assert [wr.wqe_index for _, wr in rig.run()] == [0, 1]
    assert rig.db.changes[-1][1][Doorbell.COUNTERS.index("record_behind")] == 1


def test_stale_block_beyond_the_record_is_read_again():
    wqes = [wqe.build(WQE.SEND, i, QPN, length=8 + i) for i in range(3)]
    late = Poke(150, BASE + 128, ALL, wqes[2])
    rig = Rig(
        {**ring_image(wqes[:2]), DBR: wqe.record(2)},
        [late, Poke(151, DBR, 0xFF << 24, bytes(24) + wqe.record(3) + bytes(32))],
    )
    rig.store(10, wqe.gpu_doorbell(3, QPN))
    rig.store(300, wqe.gpu_doorbell(3, QPN))
    out = rig.run()
    assert [(wr.wqe_index, wr.length, wr.error) for _, wr in out] == [(0, 8, 0), (1, 9, 0), (2, 10, 0)]


def test_beyond_the_ring_ends_in_an_error_and_halts():
    rig = Rig({DBR: wqe.record(17)})
    rig.store(10, wqe.gpu_doorbell(17, QPN))
    rig.store(400, wqe.gpu_doorbell(17, QPN))
    out = rig.run()
    assert [(wr.error, wr.wqe_index) for _, wr in out] == [(CQE_SYN.LOC_QP_OP, 0)]
    assert [b.resp for _, b in rig.b.taken] == [0, 2]
    assert rig.db.changes[-1][1][0] == 1


def test_wrap_of_index_and_ring_inside_a_wqe():
    one = wqe.build(WQE.SEND, 0xFFFF, QPN, inline=bytes(range(200)))
    rig = Rig({**ring_image([one]), DBR: wqe.record(0xFFFF + 4)}, ci0=0xFFFF)
    rig.store(10, wqe.doorbell(one))
    rig.run()
    assert b"".join(b.data for _, b in rig.wr.taken) == bytes(range(200))


def test_late_old_doorbell_changes_nothing():
    wqes = [wqe.build(WQE.SEND, i, QPN, length=8) for i in range(2)]
    rig = Rig({**ring_image(wqes), DBR: wqe.record(2)})
    rig.store(10, wqe.gpu_doorbell(2, QPN))
    rig.store(600, wqe.gpu_doorbell(1, QPN))
    assert len(rig.run()) == 2
    assert rig.db.changes[-1][1] == (0, 2, 0, 2, 0, 0)
