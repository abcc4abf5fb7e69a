# SPDX-License-Identifier: Apache-2.0
"""The link at its pins: unknown bits after reset."""

from __future__ import annotations

from typing import Any

import cocotb
import pyuvm
from cocotb.triggers import ClockCycles, RisingEdge
from pyuvm import uvm_test

from models.protocol import LinkCfg
from tb.common.bench import Bench
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.xcheck import unknown_signals
from tb.link.coverage import COVERAGE, OUTPUTS
from tb.link.env import CFGS
from tb.link.shape import ENDS


@pyuvm.test()
class known_after_reset(uvm_test):
    """No output but data is unknown from the first cycle after reset on, whether the link is preset or not."""

    async def run_phase(self) -> None:
        self.raise_objection()
        ctx = RunContext.from_env()
        top: Any = cocotb.top
        bench = Bench(top, ctx)
        ends = [getattr(top, f"u_{x}") for x in ENDS]
        for preset in (0, 1):
            number, folder = bench.new_phase()
            folder.write_ctl(quiet=1 << 30, max_cycles=1 << 30)
            folder.write_cfg("cable", 5, 8)
            cfg = LinkCfg(
                enable=1, preset=preset, gate=1, cells=8, replay_max=8, replay_timeout=500, retrain=10,
                init_timeout=500, phy_tx=3, phy_rx=4,
            )  # fmt: skip
            for x in ENDS:
                for name, width in CFGS.items():
                    folder.write_cfg(f"{x}_{name}", cfg.pack() if name == "link" else 0, width)
            await bench.begin_phase(number)
            for _ in range(150):
                await RisingEdge(top.clk)
                if unknown := [u for end in ends for u in unknown_signals(end, OUTPUTS)]:
                    raise AssertionError(f"unknown after reset: {', '.join(unknown)}")
            await ClockCycles(top.clk, 2)
        COVERAGE.record("reset", ({"known": name} for name in OUTPUTS))
        COVERAGE.save(ctx.run_dir)
        Result(ctx.run_dir).save()
        self.drop_objection()
