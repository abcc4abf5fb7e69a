# SPDX-License-Identifier: Apache-2.0
"""The example block at its pins: per-beat agents, and unknown bits after reset. Parameter set ``pins``."""

from __future__ import annotations

from typing import Any

import cocotb
import pyuvm
from cocotb.triggers import ClockCycles, RisingEdge
from pyuvm import uvm_sequence, uvm_subscriber, uvm_test

from models.example import Example
from models.kernel import Beat, Kernel, Player, Sink
from tb.common.axis_agent import AxisAgent, AxisBeat
from tb.common.beats import StreamFormat, beats_from_items
from tb.common.bench import Bench
from tb.common.compare import compare_beats
from tb.common.phase import stalls
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.xcheck import unknown_signals
from tb.example.coverage import COVERAGE, OUTPUTS

MASK = 0x3C
BEATS = 200


class _Keep(uvm_subscriber):
    def build_phase(self) -> None:
        self.items: list[tuple[int, Beat]] = []

    def write(self, tt: tuple[int, Beat]) -> None:
        self.items.append(tt)


class _RandomBeats(uvm_sequence):
    def __init__(self, ctx: RunContext) -> None:
        super().__init__("beats")
        self.rng = ctx.rng("beats")

    async def body(self) -> None:
        for i in range(BEATS):
            last = i == BEATS - 1 or self.rng.random() < 0.3
            data = self.rng.bytes(int(self.rng.integers(1, 65)) if last else 64)
            idle = int(self.rng.integers(0, 6)) if self.rng.random() < 0.3 else 0
            item = AxisBeat(Beat(data, last), idle)
            await self.start_item(item)
            await self.finish_item(item)


class PinsTest(uvm_test):
    """Agents at both streams of a bench whose players are off."""

    def build_phase(self) -> None:
        self.ctx = RunContext.from_env()
        self.top: Any = cocotb.top
        self.bench = Bench(self.top, self.ctx)
        self.parts: dict[str, tuple[AxisAgent, _Keep]] = {}
        for prefix, role in (("s_axis", "source"), ("m_axis", "sink")):
            agent = AxisAgent(prefix, self)
            agent.entity, agent.prefix, agent.role = self.top, prefix, role
            agent.pattern = stalls(self.ctx.rng("stalls"), 0.2).tolist()
            self.parts[prefix] = agent, _Keep(f"{prefix}_keep", self)

    def connect_phase(self) -> None:
        for agent, keep in self.parts.values():
            agent.monitor.beats.connect(keep.analysis_export)

    async def begin(self) -> None:
        """Start a phase that only the agents end."""
        number, folder = self.bench.new_phase()
        folder.write_ctl(quiet=1 << 30, max_cycles=1 << 30)
        folder.write_cfg("mask", MASK, 8)
        await self.bench.begin_phase(number)


@pyuvm.test()
class protocol(PinsTest):
    """Random beats and stalls, each seen from Python: rules of the stream kept, content and cycle as the model says."""

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.begin()
        await _RandomBeats(self.ctx).start(self.parts["s_axis"][0].sequencer)
        await ClockCycles(self.top.clk, 400)
        self.drop_objection()

    def check_phase(self) -> None:
        """Feed the model with the accepted beats and compare the output."""
        taken, left = (self.parts[name][1].items for name in ("s_axis", "m_axis"))
        if len(taken) != BEATS:
            raise AssertionError(f"{len(taken)} beats accepted, {BEATS} sent")
        kernel = Kernel()
        model = Example(kernel, self.ctx.param("DEPTH", 16), MASK)
        Player(kernel, "s_axis", taken, model.put)
        at = {cycle for cycle, _ in left}
        sink = Sink(kernel, "m_axis", model.out, lambda cycle: cycle in at)
        kernel.run(100_000)
        form = StreamFormat()
        result = compare_beats("m_axis", beats_from_items(left, form), beats_from_items(sink.taken, form), form)
        report = Result(self.ctx.run_dir)
        report.latency(checked=result.checked, mismatched=result.mismatched)
        report.save()
        breaches = [line for agent, _ in self.parts.values() for line in agent.monitor.breaches]
        if breaches or not result.ok:
            raise AssertionError("\n".join([*breaches[:10], result.summary(), *result.lines]))


@pyuvm.test()
class known_after_reset(PinsTest):
    """No handshake and no counter is unknown after reset, at any later cycle of a quiet design."""

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.begin()
        for _ in range(20):
            await RisingEdge(self.top.clk)
            unknown = unknown_signals(self.top.dut, list(OUTPUTS))
            if unknown:
                raise AssertionError(f"unknown after reset: {', '.join(unknown)}")
        COVERAGE.record("reset", ({"known": name} for name in OUTPUTS))
        COVERAGE.save(self.ctx.run_dir)
        Result(self.ctx.run_dir).save()
        self.drop_objection()
