# SPDX-License-Identifier: Apache-2.0
"""The bench's AXI4 memory and players against the memory's golden model."""

from __future__ import annotations

import numpy as np
import pyuvm

from models.memory import LINE, MemoryTiming, Poke, WindowTiming
from tb.common.axi import Store, load_file, poke_file, store_file, timing_file
from tb.common.phase import stalls
from tb.common.uvm import PhaseItem, PhaseSequence, PhaseTest
from tb.kit.env import LINES, PLAN, WINDOWS

BASES = (WINDOWS.host_base, WINDOWS.gpu_base, 0x7000_0000)


class RandomTraffic(PhaseSequence):
    """Stores, reads and pokes on few lines, so that they meet; every delay and stall random."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0 has delays of one cycle and no stall."""
        item = PhaseItem(f"memory{index}")
        windows = []
        for _ in range(2):
            low = [int(v) for v in rng.integers(1, 60, 3)] if index else [1, 1, 1]
            windows.append(WindowTiming(*low, *([int(v) for v in rng.integers(0, 9, 2)] if index > 3 else [0, 0])))
        timing = MemoryTiming(windows[0], windows[1], seed=int(rng.integers(1, 1 << 32)))
        near = int(rng.integers(0, LINES - 64))

        def line() -> int:
            base = BASES[int(rng.choice(3, p=[0.48, 0.48, 0.04]))]
            return base + (near + int(rng.integers(0, 12))) * LINE

        stores, loads, pokes = [], [], []
        for _ in range(60):
            addr = line()
            if rng.random() < 0.5:
                offset = int(rng.integers(0, LINE))
                room = 4096 - (addr + offset) % 4096
                size = min(room, int(rng.integers(9, 300)))
                size = max(size, 1) if room > 8 else 0
                if size > 8:
                    stores.append(Store(addr + offset, rng.bytes(size), int(rng.integers(1, 400))))
                    continue
            stores.append(Store(addr, rng.bytes(LINE), int(rng.integers(1, 400))))
        for _ in range(60):
            addr = line() + int(rng.integers(0, LINE))
            beats = min(int(rng.integers(1, 6)), 64 - addr % 4096 // LINE)
            beats = 1 if self.ctx.param("ANY_ORDER", 0) else beats
            loads.append((int(rng.integers(1, 400)), int(rng.integers(16)), addr, beats))
        for _ in range(20):
            data, strb = rng.bytes(LINE), int(rng.integers(0, 1 << 63))
            pokes.append(Poke(int(rng.integers(1, 500)), line() & ~(1 << 30), strb, data))
        pokes = [p for p in pokes if p.addr >= WINDOWS.gpu_base or p.addr < 0x2000_0000]
        item.images = {"mem": {base + near * LINE + 7: rng.bytes(500) for base in BASES[:2]}}
        item.info = {"timing": timing, "pokes": pokes}
        item.files = {
            **timing_file("mem", timing), **poke_file("mem", pokes),
            **store_file("store", stores), **load_file("load", loads),
        }  # fmt: skip
        if index:
            for name in ("load", "mem_aw", "mem_w", "mem_ar"):
                item.ready[name] = stalls(rng)
        return item


@pyuvm.test()
class memory(PhaseTest):
    """Random stores, reads, delays, stalls and pokes in both windows and outside."""

    plan = PLAN
    sequences = (RandomTraffic,)
