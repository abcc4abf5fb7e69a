# SPDX-License-Identifier: Apache-2.0
"""The wire block at its pins: agents watch every beat from Python, and unknown bits after reset."""

from __future__ import annotations

from typing import Any

import cocotb
import pyuvm
from cocotb.triggers import ClockCycles, RisingEdge
from pyuvm import uvm_test

from models.protocol import WireCfg
from tb.common.axis_agent import AxisAgent
from tb.common.bench import Bench
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.common.xcheck import unknown_signals
from tb.wire.coverage import COVERAGE, OUTPUTS
from tb.wire.env import PLAN
from tb.wire.sequences import RandomBackPressure

STREAMS = ("s_pkt", "m_axis", "s_axis", "m_pkt")


class Few(RandomBackPressure):
    """One phase of each format; Python wakes at every beat, so that is enough."""

    phases = 2


@pyuvm.test()
class protocol(PhaseTest):
    """Stream rules at all four ports under stalls: a beat waits unchanged, keep is contiguous and full."""

    plan = PLAN
    sequences = (Few,)

    def build_phase(self) -> None:
        super().build_phase()
        self.agents = []
        for prefix in STREAMS:
            agent = AxisAgent(prefix, self)
            agent.entity, agent.prefix = cocotb.top, prefix
            self.agents.append(agent)

    def check_phase(self) -> None:
        """No breach was seen."""
        breaches = [line for agent in self.agents for line in agent.monitor.breaches]
        if breaches:
            raise AssertionError("\n".join(breaches[:10]))


@pyuvm.test()
class known_after_reset(uvm_test):
    """No output but data is unknown from the first cycle after reset on."""

    async def run_phase(self) -> None:
        self.raise_objection()
        ctx = RunContext.from_env()
        top: Any = cocotb.top
        bench = Bench(top, ctx)
        number, folder = bench.new_phase()
        folder.write_ctl(quiet=1 << 30, max_cycles=1 << 30)
        folder.write_cfg("wire", WireCfg(roce=1).pack(), WireCfg.width())
        folder.write_cfg("loop", 0, 1)
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
