# SPDX-License-Identifier: Apache-2.0
"""Weak memory of the producers: what may be seen when, and what a fence, an atomic, a flush change."""

from __future__ import annotations

import pytest

from models.kernel import Kernel
from tb.producers.machine import UAR_BASE, Core, Gpu, Machine
from tb.producers.memory import Buffer, Combining
from tb.producers.steps import Atomic, Fence, Flush, Load, Program, Spend, Store


class Rig:
    """A machine whose writes and UAR stores are logged as (cycle, address, bytes)."""

    def __init__(self, seed: int) -> None:
        self.kernel = Kernel()
        self.machine = Machine(self.kernel, seed)
        self.log: list[tuple[int, int, bytes]] = []
        self.uar: list[tuple[int, int, bytes, int]] = []
        self.machine.system.on_write = lambda now, addr, data: self.log.append((now, addr, data))
        self.machine.on_uar = lambda now, at, line, strobes, _source: self.uar.append((now, at, line, strobes))

    def run(self) -> Rig:
        self.kernel.run(1_000_000)
        return self

    def order(self) -> list[int]:
        return [addr for _, addr, _ in self.log]


def stores(*addresses: int, fence: Fence | None = None) -> Program:
    for addr in addresses:
        yield Store(addr, (addr & 0xFFFF).to_bytes(4, "big"))
        if fence is not None:
            yield fence
    return 0


def test_stores_leave_in_any_order_and_all_of_them():
    seen = set()
    for seed in range(40):
        rig = Rig(seed)
        Gpu(rig.machine).start(1, "t", stores(0x100, 0x140, 0x180))
        rig.run()
        assert sorted(rig.order()) == [0x100, 0x140, 0x180]
        seen.add(tuple(rig.order()))
    assert len(seen) == 6


def test_a_core_reorders_too_and_a_fence_keeps_the_order():
    seen, fenced = set(), set()
    for seed in range(40):
        rig, other = Rig(seed), Rig(seed)
        Core(rig.machine).start(1, "c", stores(0x100, 0x140))
        Core(other.machine).start(1, "c", stores(0x100, 0x140, fence=Fence()))
        seen.add(tuple(rig.run().order()))
        fenced.add(tuple(other.run().order()))
    assert seen == {(0x100, 0x140), (0x140, 0x100)}
    assert fenced == {(0x100, 0x140)}


def test_stores_to_one_place_keep_their_order():
    def program() -> Program:
        for value in range(8):
            yield Store(0x100 + value % 2, bytes([value] * 4))
        return 0

    for seed in range(30):
        rig = Rig(seed)
        Gpu(rig.machine).start(1, "t", program())
        rig.run()
        assert [data[0] for _, _, data in rig.log] == list(range(8))
        assert rig.machine.system.read(0x100, 5) == bytes([6, 7, 7, 7, 7])


def test_a_thread_sees_its_own_stores_another_one_only_what_left():
    values: dict[str, int] = {}

    def writer() -> Program:
        yield Store(0x100, b"\1\2\3\4")
        values["own"] = yield Load(0x100, 4)
        return 0

    def reader() -> Program:
        values["other"] = yield Load(0x100, 4)
        while (yield Load(0x100, 4)) == 0:
            yield Spend("poll")
        values["system"] = int.from_bytes(rig.machine.system.read(0x100, 4), "big")
        return 0

    early = set()
    for seed in range(60):
        rig = Rig(seed)
        gpu = Gpu(rig.machine)
        gpu.start(1, "w", writer())
        gpu.start(2, "r", reader())
        rig.run()
        assert values["own"] == 0x01020304
        early.add((values["other"], values["system"]))
    assert (0, 0) in early  # GPU threads see it before the system does
    assert (0, 0x01020304) in early


def test_a_device_fence_is_for_the_gpu_a_system_fence_for_all():
    missing = 0
    for seed in range(30):
        for system in (False, True):
            rig = Rig(seed)
            gpu = Gpu(rig.machine)
            after: dict[str, bytes] = {}

            def program(rig: Rig, after: dict[str, bytes], system: bool) -> Program:
                for i in range(6):
                    yield Store(0x100 + 64 * i, b"\7\7\7\7")
                yield Fence(system)
                after["system"] = b"".join(rig.machine.system.read(0x100 + 64 * i, 4) for i in range(6))
                return 0

            thread = gpu.start(1, "t", program(rig, after, system))
            rig.run()
            assert thread.done is not None
            if system:
                assert after["system"] == b"\7" * 24
            else:
                missing += after["system"] != b"\7" * 24
    assert missing > 10


def test_a_system_fence_takes_along_what_the_gpu_sees_already():
    def first() -> Program:
        for i in range(4):
            yield Store(0x100 + 64 * i, b"\7\7\7\7")
        yield Fence(system=False)
        yield Atomic("set", ("flag",), 1)
        return 0

    def second(rig: Rig, found: list[bytes]) -> Program:
        while (yield Atomic("get", ("flag",))) == 0:
            yield Spend("poll")
        yield Fence()
        found.append(b"".join(rig.machine.system.read(0x100 + 64 * i, 4) for i in range(4)))
        return 0

    for seed in range(30):
        rig = Rig(seed)
        gpu = Gpu(rig.machine)
        found: list[bytes] = []
        gpu.start(1, "first", first())
        gpu.start(1, "second", second(rig, found))
        rig.run()
        assert found == [b"\7" * 16]


def test_atomics_act_at_once():
    values = []

    def program() -> Program:
        values.append((yield Atomic("add", ("x",), 5)))
        values.append((yield Atomic("max", ("x",), 3)))
        values.append((yield Atomic("cas", ("x",), 9, 4)))
        values.append((yield Atomic("cas", ("x",), 9, 5)))
        values.append((yield Atomic("set", ("x",), 1)))
        values.append((yield Atomic("get", ("x",))))
        return 0

    rig = Rig(1)
    Gpu(rig.machine).start(1, "t", program())
    rig.run()
    assert values == [0, 5, 5, 5, 9, 1]


def test_uar_stores_wait_in_the_same_buffer():
    late = 0
    for seed in range(30):
        rig = Rig(seed)
        Gpu(rig.machine).start(1, "t", stores(0x100, UAR_BASE + 0x800))
        rig.run()
        assert [(at, strobes) for _, at, _, strobes in rig.uar] == [(0x800, 0xF)]
        late += rig.uar[0][0] < rig.log[0][0]
    assert 0 < late < 30


def test_write_combining_merges_splits_and_is_flushed():
    def program() -> Program:
        for i in range(16):
            yield Store(UAR_BASE + 0x800 + 8 * i, bytes([i] * 8))
        yield Flush()
        assert len(core.combining) == 0
        return 0

    whole = pieces = 0
    for seed in range(40):
        rig = Rig(seed)
        core = Core(rig.machine)
        thread = core.start(1, "c", program())
        rig.run()
        assert thread.done is not None and all(now < thread.done for now, *_ in rig.uar)
        lines: dict[int, list[int]] = {}
        for _, at, line, strobes in rig.uar:
            lines.setdefault(at, []).append(strobes)
            for b in range(64):
                if strobes >> b & 1:
                    assert line[b] == (at - 0x800 + b) // 8
        assert {at: sum(s) for at, s in lines.items()} == {0x800: (1 << 64) - 1, 0x840: (1 << 64) - 1}
        whole += any(len(s) == 1 for s in lines.values())
        pieces += any(len(s) > 1 for s in lines.values())
    assert whole and pieces


def test_a_write_combining_line_is_pushed_out_when_there_are_too_many():
    rig = Rig(3)
    out: list[int] = []
    combining = Combining(rig.machine.rng, lambda *_: None, 10, 2, 0.0, lambda _n, base, _d, _s: out.append(base))
    for base in (0, 64, 128):
        combining.put(1, base, b"\1")
    assert out == [0]
    assert len(combining) == 2


def test_a_store_over_a_line_is_refused():
    rig = Rig(1)
    buffer = Buffer(rig.machine.rng, rig.machine.at, 10, lambda *_: None)
    with pytest.raises(ValueError, match="within one line"):
        buffer.put(1, 0x3C, b"\0" * 8)
