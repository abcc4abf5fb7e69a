# SPDX-License-Identifier: Apache-2.0
"""Per-beat AXI4-Stream agents, for tests of the protocol's corners. Volume traffic uses tb/hdl's players.

Signals are taken by prefix through cocotb-bus: ``<prefix>_tvalid _tready _tdata _tkeep _tlast`` of the bench
top. Agents act at the falling edge, where everything that the next rising edge samples has settled: whether
a rising-edge trigger runs before or after the design's registers depends on simulator and settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle as endless
from typing import Any

from cocotb.triggers import FallingEdge, ReadOnly
from cocotb_bus.bus import Bus
from pyuvm import uvm_agent, uvm_analysis_port, uvm_driver, uvm_monitor, uvm_sequence_item, uvm_sequencer

from models.kernel import Beat

SIGNALS = ["tvalid", "tready", "tdata", "tkeep", "tlast"]


class AxisBeat(uvm_sequence_item):
    """One beat to send: ``beat``, and ``idle`` cycles with tvalid low in front of it."""

    def __init__(self, beat: Beat, idle: int = 0) -> None:
        super().__init__("beat")
        self.beat = beat
        self.idle = idle


class AxisDriver(uvm_driver):
    """Sends items in order; holds tvalid and the beat until accepted."""

    bus: Any
    clk: Any

    async def run_phase(self) -> None:
        edge = FallingEdge(self.clk)
        self.bus.tvalid.value = 0
        while True:
            item = await self.seq_item_port.get_next_item()
            if self.clk.value:
                await edge
            for _ in range(item.idle):
                await edge
            data = item.beat.data
            self.bus.tdata.value = int.from_bytes(data, "little")
            self.bus.tkeep.value = (1 << len(data)) - 1
            self.bus.tlast.value = int(item.beat.last)
            self.bus.tvalid.value = 1
            while not self.bus.tready.value:  # a register of the design, steady until the rising edge
                await edge
            self.seq_item_port.item_done()
            await edge
            self.bus.tvalid.value = 0


class AxisSink(uvm_driver):
    """Drives tready from ``pattern``, a bit a cycle, again and again."""

    bus: Any
    clk: Any
    pattern: list[bool]

    async def run_phase(self) -> None:
        edge = FallingEdge(self.clk)
        bits: Iterator[bool] = endless(self.pattern)
        while True:
            await edge
            self.bus.tready.value = int(next(bits))


class AxisMonitor(uvm_monitor):
    """Publishes ``(cycle, Beat)`` of each transfer, and keeps the protocol's rules.

    Rules (AMBA AXI4-Stream, 2.2 and 2.4): tvalid once high stays until accepted, its beat unchanged; the
    project's own: tkeep is contiguous from bit 0, full but in the last beat. Breaches are in ``breaches``.
    """

    bus: Any
    clk: Any
    rst: Any
    cycle: Any

    def build_phase(self) -> None:
        self.beats = uvm_analysis_port("beats", self)
        self.breaches: list[str] = []

    async def run_phase(self) -> None:
        edge = FallingEdge(self.clk)
        settled = ReadOnly()
        bus = self.bus
        full = (1 << len(bus.tkeep)) - 1
        held: tuple[int, int, int] | None = None
        while True:
            await edge
            await settled
            if self.rst.value:
                held = None
                continue
            now = int(self.cycle.value)
            if not bus.tvalid.value:
                if held is not None:
                    self.breaches.append(f"{self.get_name()}: tvalid fell before its beat was accepted, cycle {now}")
                held = None
                continue
            beat = (int(bus.tdata.value), int(bus.tkeep.value), int(bus.tlast.value))
            if held is not None and held != beat:
                self.breaches.append(f"{self.get_name()}: a waiting beat changed, cycle {now}")
            held = beat
            if not bus.tready.value:
                continue
            held = None
            data, keep, last = beat
            if keep & (keep + 1) or not (last or keep == full):
                self.breaches.append(f"{self.get_name()}: tkeep {keep:#x} with tlast {last}, cycle {now}")
            size = keep.bit_length()
            self.beats.write((now, Beat((data & ((1 << 8 * size) - 1)).to_bytes(size, "little"), bool(last))))


class AxisAgent(uvm_agent):
    """Monitor of ``<prefix>_*`` and, by ``role``, its driver: "source", "sink" or "passive".

    Set ``entity``, ``prefix``, ``role`` and, for a sink, ``pattern`` before the build phase.
    """

    entity: Any
    prefix: str
    role: str = "passive"
    pattern: list[bool] = [True]

    def build_phase(self) -> None:
        bus = Bus(self.entity, self.prefix, SIGNALS)
        self.monitor = AxisMonitor(f"{self.prefix}_monitor", self)
        self.monitor.bus, self.monitor.clk = bus, self.entity.clk
        self.monitor.rst, self.monitor.cycle = self.entity.rst, self.entity.cycle
        self.sequencer = uvm_sequencer(f"{self.prefix}_sequencer", self)
        if self.role == "source":
            self.driver = AxisDriver(f"{self.prefix}_driver", self)
        elif self.role == "sink":
            self.driver = AxisSink(f"{self.prefix}_sink", self)
            self.driver.pattern = self.pattern
        if self.role != "passive":
            self.driver.bus, self.driver.clk = bus, self.entity.clk

    def connect_phase(self) -> None:
        if self.role == "source":
            self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
