# SPDX-License-Identifier: Apache-2.0
"""The switch at its pins: unknown bits after reset."""

from __future__ import annotations

from typing import Any

import cocotb
import pyuvm
from cocotb.triggers import ClockCycles, RisingEdge
from pyuvm import uvm_test

from tb.common.bench import Bench
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.xcheck import unknown_signals
from tb.switch.coverage import COVERAGE, OUTPUTS
from tb.switch.env import CFGS
from tb.switch.shape import Shape


@pyuvm.test()
class known_after_reset(uvm_test):
    """No output but data is unknown from the first cycle after reset on."""

    async def run_phase(self) -> None:
        self.raise_objection()
        ctx = RunContext.from_env()
        top: Any = cocotb.top
        ports = Shape.of(ctx).ports
        bench = Bench(top, ctx)
        number, folder = bench.new_phase()
        folder.write_ctl(quiet=1 << 30, max_cycles=1 << 30)
        for name, width in CFGS.items():
            folder.write_cfg(name, 1, width)
        folder.write_cfg("up", (1 << ports) - 1, ports)
        await bench.begin_phase(number)
        for _ in range(20):
            await RisingEdge(top.clk)
            if unknown := unknown_signals(top, list(OUTPUTS)):
                raise AssertionError(f"unknown after reset: {', '.join(unknown)}")
        await ClockCycles(top.clk, 2)
        COVERAGE.record("reset", ({"known": name} for name in OUTPUTS))
        COVERAGE.save(ctx.run_dir)
        Result(ctx.run_dir).save()
        self.drop_objection()
