# SPDX-License-Identifier: Apache-2.0
"""The completion queues' model on its own: the latency table and the rules, with figures counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models import cqe
from models.cq_engine import Cq, Event
from models.kernel import Kernel, Player, Sink
from models.memory import Memory, MemoryTiming, Poke, WindowTiming
from models.protocol import CQE, CqCtx, CqIn
from tb.cq import rig as rig_of_bench
from tb.cq.consumer import CollapsedReader, RingReader
from tb.cq.pace import pace
from tb.cq.scenario import Scenario, Software

CQN, PAGE, BASE, DBR = 0x45, 7, 0x8000, 0x408
READ, WRITE = 20, 6  # cycles to R and to B


class Rig:
    """Model and memory; calls at given cycles; everything always ready, but what ``stall`` (port -> ready) says."""

    def __init__(self, pokes=(), stall=None, **fields):
        self.kernel = Kernel()
        self.cq = cq = Cq(self.kernel, "cq", 4)
        timing = MemoryTiming(host=WindowTiming(rd_latency=READ, wr_resp=WRITE, wr_visible=2))
        self.memory = memory = Memory(self.kernel, "mem", timing, pokes=pokes, any_order=True)
        ready = stall or {}
        self.aw = Sink(self.kernel, "aw", cq.aw, ready.get("aw", lambda _: True))
        self.w = Sink(self.kernel, "w", cq.w, ready.get("w", lambda _: True))
        self.ar = Sink(self.kernel, "ar", cq.ar)
        self.ev = Sink(self.kernel, "ev", cq.ev, ready.get("ev", lambda _: True))
        self._b = Sink(self.kernel, "b", memory.b, cq.b_ready)
        self._r = Sink(self.kernel, "r", memory.r)
        cq.aw.on_pop = lambda now, w: memory.aw(now, 0, w.addr, 1)
        cq.w.on_pop = lambda now, w: memory.w(now, w.data)
        cq.ar.on_pop = lambda now, read: memory.ar(now, read.id, read.addr, read.beats)
        memory.b.on_pop = lambda now, resp: cq.b(now, resp.resp)
        memory.r.on_pop = lambda now, beat: cq.r(now, beat.id, beat.data, beat.resp)
        self.calls = []
        self.ctx(**fields)

    def ctx(self, at=1, entry=CQN % 4, **fields):
        given = {"enable": 1, "cqn": CQN, "page": PAGE, "base": BASE, "log": 3, "dbr_addr": DBR, "events": 1, **fields}
        c = CqCtx(**given)
        self.calls.append((at, lambda now: self.cq.ctx(now, entry, c)))
        return c

    def put(self, at, **fields):
        x = CqIn(**{"cqn": CQN, "qpn": 0x123456, "opcode": CQE.REQ, **fields})
        self.calls.append((at, lambda now: self.cq.put(now, x)))

    def arm(self, at, ci, so=0, page=PAGE, cqn=CQN):
        word = so << 56 | ci << 32 | cqn
        self.calls.append((at, lambda now: self.cq.arm(now, page, word)))

    def done(self, at, count):
        self.calls.append((at, lambda now: self.cq.done(now, count)))

    def run(self):
        self.calls.sort(key=lambda c: c[0])
        Player(self.kernel, "calls", self.calls, lambda now, call: call(now))
        self.kernel.run(100_000)
        return self

    def counts(self):
        return dict(zip(Cq.COUNTERS, self.cq.changes[-1][1], strict=True))


def record(cycle, ci):
    off = DBR % 64
    return Poke(cycle, DBR & -64, 0xF << off, (bytes(off) + ci.to_bytes(4, "big")).ljust(64, b"\0"))


def cycles(sink):
    return [c for c, _ in sink.taken]


def test_latency_of_an_entry_and_of_its_event():
    rig = Rig()
    rig.arm(5, 0)
    rig.put(10)
    rig.run()
    assert cycles(rig.aw) == cycles(rig.w) == [16]
    assert [c for c, _ in rig.memory.b_log] == [22]
    assert rig.ev.taken == [(27, Event(CQN, 0))]


def test_arm_after_the_entry():
    rig = Rig()
    rig.put(10)
    rig.arm(40, 0)
    rig.run()
    assert rig.ev.taken == [(44, Event(CQN, 0))]


def test_an_entry_a_cycle_of_one_queue():
    rig = Rig(log=8)
    for i in range(40):
        rig.put(10 + i, wqe_counter=i)
    rig.run()
    assert cycles(rig.aw) == list(range(16, 56))
    assert [w.addr for _, w in rig.aw.taken] == [BASE + 64 * i for i in range(40)]


def test_owner_and_address_across_both_wraps():
    rig = Rig(pi0=(1 << 24) - 3)
    for i in range(6):
        rig.put(10 + i)
    rig.run()
    slots = [(w.addr - BASE) // 64 for _, w in rig.aw.taken]
    owners = [cqe.parse(w.data).owner for _, w in rig.aw.taken]
    assert slots == [5, 6, 7, 0, 1, 2]
    assert owners == [1, 1, 1, 0, 0, 0]


def test_collapsed_slot_stays_and_owner_moves():
    rig = Rig(log=1, collapsed=1, ignore_overrun=1, pi0=1)
    for i in range(4):
        rig.put(10 + i, wqe_counter=i)
    rig.run()
    assert {w.addr for _, w in rig.aw.taken} == {BASE}
    assert [cqe.parse(w.data).owner for _, w in rig.aw.taken] == [0, 1, 1, 0]
    assert [cqe.parse(w.data).wqe_counter for _, w in rig.aw.taken] == [0, 1, 2, 3]


def test_full_ring_reads_the_record_and_goes_on():
    rig = Rig(log=0, pokes=[record(12, 1)])
    rig.put(10)
    rig.put(11)
    rig.run()
    # full in C2 at 15; AR 16, R 36, register 37, record FIFO 38, RETRY 39, C1, C2, C3, AW 43
    assert cycles(rig.ar) == [16]
    assert cycles(rig.aw) == [16, 43]
    assert rig.counts()["overruns"] == 0


def test_full_ring_is_an_overrun_when_the_record_does_not_help():
    rig = Rig(log=0)
    for i in range(4):
        rig.put(10 + i)
    rig.run()
    assert len(rig.aw.taken) == 1
    assert rig.counts()["dropped"] == 3
    assert rig.counts()["overruns"] == 1
    assert [e for _, e in rig.ev.taken] == [Event(CQN, 1)]


@pytest.mark.parametrize(("ci", "helps"), [(0, False), (1, True), (2, True), (3, False), ((1 << 24) - 1, False)])
def test_only_a_record_between_known_and_written_counts(ci, helps):
    rig = Rig(log=1, pokes=[record(5, ci)])
    for i in range(3):
        rig.put(10 + i)
    rig.run()
    assert len(rig.aw.taken) == 2 + helps


def test_those_that_wait_keep_their_order_and_let_others_pass():
    rig = Rig(log=1, pokes=[record(12, 2)])
    rig.ctx(2, 2, cqn=0x46, base=0x9000, dbr_addr=0x440)
    for i in range(4):
        rig.put(10 + 2 * i, wqe_counter=i)
        rig.put(11 + 2 * i, cqn=0x46, wqe_counter=i)
    rig.run()
    own = [(c, cqe.parse(w.data).wqe_counter) for c, w in rig.aw.taken if w.addr < 0x9000]
    other = [(c, cqe.parse(w.data).wqe_counter) for c, w in rig.aw.taken if w.addr >= 0x9000]
    assert other == [(17, 0), (19, 1), (21, 2), (23, 3)]
    # full in C2 at 18, AR 19, R 39, AW 46; the next of the queue 3 later
    assert own == [(16, 0), (18, 1), (46, 2), (49, 3)]


def test_a_full_lot_holds_up_everybody_until_a_place_is_free():
    rig = Rig(log=0, pokes=[record(12, 1)])
    rig.ctx(2, 2, cqn=0x46, base=0x9000, dbr_addr=0x440)
    for i in range(18):
        rig.put(10 + i)
    rig.put(28, cqn=0x46)
    rig.run()
    # one written, 16 wait; the 18th and the other queue's wait at H and in the FIFO
    assert next(c for c, w in rig.aw.taken if w.addr >= 0x9000) > 42
    assert rig.counts()["written"] == 3


def test_data_before_its_completion():
    rig = Rig()
    rig.put(10, barrier=5)
    rig.put(11, barrier=5)
    rig.done(50, 4)
    rig.done(60, 5)
    rig.run()
    assert cycles(rig.aw) == [64, 65]


def test_numbers_of_data_across_2_16():
    rig = Rig()
    rig.done(2, 0xFFFE)
    rig.put(10, barrier=0xFFFF)
    rig.put(11, barrier=0)
    rig.done(30, 0xFFFF)
    rig.done(40, 0)
    rig.run()
    assert cycles(rig.aw) == [34, 44]


def test_solicited_only():
    rig = Rig()
    rig.arm(5, 0, so=1)
    rig.put(10)
    rig.put(11, opcode=CQE.REQ_ERR, syndrome=5)
    rig.put(12, se=1)
    rig.run()
    assert cycles(rig.ev) == [28]  # of the second


def test_one_event_an_arm():
    rig = Rig(log=4)
    rig.arm(5, 0)
    for i in range(4):
        rig.put(10 + i)
    rig.arm(60, 4)
    rig.put(70)
    rig.run()
    assert cycles(rig.ev) == [27, 87]


def test_moderation_by_count_and_by_time():
    rig = Rig(mod_count=3, mod_period=100)
    rig.arm(5, 0)
    for i in range(3):
        rig.put(10 + 10 * i)
    rig.arm(60, 3)
    rig.put(70)
    rig.run()
    first, second = cycles(rig.ev)
    assert first == 47  # the third one's B
    # B at 82, due in E2 at 85, deadline 185; the scan of 4 queues comes by within 4 cycles
    assert 185 + 4 <= second < 185 + 8


def test_arms_are_refused_by_page_number_and_setting():
    rig = Rig()
    rig.put(10)
    rig.arm(40, 0, page=PAGE + 1)
    rig.arm(42, 0, cqn=CQN + 4)
    rig.arm(44, 0, cqn=CQN + 1)
    rig.run()
    assert rig.counts()["arm_refused"] == 3
    assert rig.ev.taken == []


def test_a_waiting_event_takes_later_ones_along():
    rig = Rig(stall={"ev": lambda now: now >= 100})
    rig.arm(5, 0)
    rig.put(10)
    rig.arm(40, 1)
    rig.put(45)
    rig.run()
    assert rig.ev.taken == [(100, Event(CQN, 0))]


def test_unknown_queue_is_refused():
    rig = Rig()
    rig.put(10, cqn=CQN + 4)
    rig.put(11, cqn=CQN + 1)
    rig.run()
    assert rig.counts()["refused"] == 2
    assert rig.aw.taken == []


def test_a_failed_write_puts_the_queue_into_error_once():
    rig = Rig(base=0x7F00_0000)
    for i in range(3):
        rig.put(10 + i)
    rig.put(60)
    rig.run()
    assert rig.counts()["bad_writes"] == 3
    assert rig.counts()["dropped"] == 1
    assert [e for _, e in rig.ev.taken] == [Event(CQN, 1)]


def test_a_queue_that_is_not_idle_is_not_set_up():
    rig = Rig()
    rig.put(10)
    rig.ctx(12)
    with pytest.raises(ValueError, match="not idle"):
        rig.run()


@pytest.mark.parametrize("log", range(16))
def test_a_solicited_entry_is_forgotten_before_it_turns_into_one_of_the_future(log):
    rig = Rig(ignore_overrun=1)
    rig.put(10, se=1)
    rig.run()
    q = rig.cq.queues[CQN % 4]
    assert q.last == 0
    q.vis = (1 << 23) - 1 - (log > 0)  # as if so many had come
    rig.cq._see(1000, q, False)
    assert (q.last is None) == (log == 0)


def memory_of(rig):
    return lambda addr: rig.memory.read(addr, 64)


@pytest.mark.parametrize("log", range(8))
def test_software_sees_every_entry_once(log):
    rig = Rig(log=log, pi0=(1 << 24) - 2)
    fresh = bytes(63) + b"\xf0"
    for i in range(1 << log):
        rig.memory._load(BASE + 64 * i, fresh)
    n = min(6, 1 << log)
    for i in range(n):
        rig.put(10 + i, wqe_counter=i)
    rig.run()
    reader = RingReader(BASE, log, (1 << 24) - 2)
    assert reader.poll(memory_of(rig), 100) == n
    assert [cqe.parse(raw).wqe_counter for raw in reader.got] == list(range(n))


@pytest.mark.parametrize("log", range(16))
def test_collapsed_queue_of_every_depth_from_ones_in_memory(log):
    # field fault D3: a 16-bit compare against 0xffff hangs, or passes, with a shallow queue
    rig = Rig(log=log, collapsed=1, ignore_overrun=1)
    rig.memory._load(BASE, b"\xff" * 64)
    reader = CollapsedReader(BASE, 1 << log)
    assert not reader.done(memory_of(rig), 1)
    rig.put(10, wqe_counter=0)
    rig.run()
    assert reader.done(memory_of(rig), 1)
    assert not reader.done(memory_of(rig), 2)


@pytest.mark.parametrize("early", [None, 0])
def test_demand_on_early_reads_fails_without_them(monkeypatch, early):
    monkeypatch.setattr(rig_of_bench, "Cq", lambda kernel, name, queues: Cq(kernel, name, queues, early))
    s = Scenario(np.random.default_rng(1), write=(6, 0), read=(40, 0))
    c = s.queue(0, Software(gap=(2, 5), most=64, late=(1, 3)), log=8)
    s.at += 10
    for _ in range(1500):
        s.complete(c)
        s.at += 1
    s.consume(end=20_000)
    bench = rig_of_bench.Rig(s.s)
    bench.run(100_000)
    left = cycles(bench._aw)
    rule = pace(256, 1, s.s.timing.host, 7)
    assert rule.never_waits and len(left) == 1500
    assert (left[-1] - left[0] < 1500 + rule.records(1500)) == (early is None)
