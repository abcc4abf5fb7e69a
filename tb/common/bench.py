# SPDX-License-Identifier: Apache-2.0
"""Clock, reset and phases of a bench top: ports clk, rst, start, phase, done, timeout, cycle.

Python wakes at the end of a phase and about twice a second of wall time for the progress line.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, First, RisingEdge, Timer

from tb.common.phase import PhaseDir
from tb.common.run import RunContext

CLOCK_NS = 1  # simulator time of a cycle; ns of the report come from spec, not from here
RESET_CYCLES = 40  # a bench may fill a table of 31 entries, one a cycle, behind the start


class PhaseTimeout(AssertionError):
    """A phase that reached its cycle or wall-clock limit."""


@dataclass
class PhaseStats:
    """Cycles of a phase and the wall seconds between reset and its end."""

    cycles: int
    seconds: float


class Bench:
    """Owner of a bench top. Phases are numbered through the process, so tests of one run never share a folder."""

    _next_phase = 0

    def __init__(self, dut: Any, ctx: RunContext, total_phases: int = 0) -> None:
        self.dut = dut
        self.ctx = ctx
        self.total = total_phases
        self.finished = 0
        self.cycles = 0
        self.seconds = 0.0
        self._clock: Clock | None = None
        self._progress_at = 0.0

    def new_phase(self) -> tuple[int, PhaseDir]:
        """Number and folder of the next phase."""
        number = Bench._next_phase
        Bench._next_phase += 1
        return number, PhaseDir(self.ctx.run_dir / f"p{number}")

    async def start(self) -> None:
        """Start the clock; the design is in reset."""
        self.dut.rst.value = 1
        self.dut.start.value = 0
        self.dut.phase.value = 0
        self._clock = Clock(self.dut.clk, CLOCK_NS, unit="ns", impl="gpi")
        self._clock.start()
        await ClockCycles(self.dut.clk, 2)

    async def begin_phase(self, number: int) -> None:
        """Reset and start phase ``number``; returns half a cycle before its cycle 0. Its files must be there."""
        dut = self.dut
        if self._clock is None:
            await self.start()
        await FallingEdge(dut.clk)
        dut.rst.value = 1
        dut.phase.value = number
        await ClockCycles(dut.clk, RESET_CYCLES)
        await FallingEdge(dut.clk)
        dut.start.value = 1
        await FallingEdge(dut.clk)
        dut.start.value = 0
        await ClockCycles(dut.clk, RESET_CYCLES)
        await FallingEdge(dut.clk)
        dut.rst.value = 0

    async def run_phase(self, number: int, wall_limit_s: float = 600.0) -> PhaseStats:
        """Run phase ``number`` to its end. Raises :class:`PhaseTimeout`. After the return its records are complete."""
        await self.begin_phase(number)
        dut = self.dut
        begin = time.monotonic()
        done, timeout = RisingEdge(dut.done), RisingEdge(dut.timeout)
        chunk = 1000
        while True:
            nap = Timer(chunk * CLOCK_NS, unit="ns")
            before = time.monotonic()
            woke = await First(done, timeout, nap)
            now = time.monotonic()
            if woke is not nap:
                break
            if now - before < 0.25:
                chunk *= 2
            elif now - before > 0.6 and chunk > 1000:
                chunk //= 2
            self._progress(number, now)
            if now - begin > wall_limit_s:
                raise PhaseTimeout(f"phase {number}: {wall_limit_s} s wall limit at cycle {int(dut.cycle.value)}")
        cycles = int(dut.cycle.value)
        await ClockCycles(dut.clk, 2)  # monitors close their files at the edge after
        seconds = time.monotonic() - begin
        self.finished += 1
        self.cycles += cycles
        self.seconds += seconds
        self._progress(number, time.monotonic())
        if int(dut.done.value) != 1:
            raise PhaseTimeout(f"phase {number}: cycle limit reached at cycle {cycles}; records up to there are kept")
        return PhaseStats(cycles, seconds)

    def _progress(self, number: int, now: float) -> None:
        if now - self._progress_at < 0.5:
            return
        self._progress_at = now
        line = {"phase": number, "done": self.finished, "total": self.total, "cycle": int(self.dut.cycle.value)}
        print(f"@progress {json.dumps(line)}", flush=True)
