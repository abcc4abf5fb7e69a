# SPDX-License-Identifier: Apache-2.0
"""The fabric's account: waterfall, figures and capture of a run, into result.json.

A hop is measured port to port (cable in to cable out of a switch), end to end from the acceptance of the
doorbell store at the NIC's port to the payload's being visible in the peer's memory, both at zero load.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

from pyuvm import ConfigDB

from models.spec import spec
from tb.common.beats import frames_from_beats
from tb.common.pcap import ERF, ETHERNET, write_pcap
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.taps import read_stamps
from tb.common.uvm import PhaseRecords, PhaseTest
from tb.fabric import waterfall
from tb.fabric.env import AXIS
from tb.fabric.experiment import Experiment, Topology
from tb.fabric.layout import Place
from tb.wire import trusted

MAIN_PATH = "three_hops_pcie_inline_64B"
HEADLINE_SIZE = 64
PATH_NAMES = {Topology.DIRECT: "direct", Topology.ONE_HOP: "1hop", Topology.THREE_HOPS: "3hop"}


class Account(PhaseTest):
    """A test of the fabric that also accounts for its time. Phases with one message from A are latency rows."""

    def build_phase(self) -> None:
        super().build_phase()
        ConfigDB().set(None, "*", "PLAN", replace(type(self).plan, observe=self.observe))
        self.period = spec().value("clock.period_ns")
        self.result = Result(self.ctx.run_dir)
        self.hops: list[tuple[float, dict[str, Any]]] = []
        self.frames: dict[bool, list[tuple[int, bytes]]] = {}  # by format: RoCE or native
        self.elapsed = 0
        self.order = 0
        self.problems: list[str] = []

    def observe(self, ctx: RunContext, phase: PhaseRecords) -> None:
        """Figures of one phase."""
        exp: Experiment = phase.item.info["experiment"]
        frames = self.frames.setdefault(exp.roce, [])
        for cable in ("cable_a", "cable_b"):
            for frame in frames_from_beats(phase.beats[cable], AXIS):
                frames.append((round((self.elapsed + frame.cycle) * self.period), frame.data))
        self.elapsed += phase.stats.cycles
        if len(exp.from_a) == 1 and not exp.from_b:
            self.latency_row(exp, phase)
        else:
            self.batch(exp, phase)
        self.order += 1

    def conditions(self, exp: Experiment) -> dict[str, Any]:
        """What every figure is printed with."""
        s = spec()
        return {
            "clock_ns": self.period,
            "profile": "roce" if exp.roce else "native",
            "fec": s.constant(f"phy.{exp.fec}.name").value,
            "host": s.constant(f"host.{exp.host}.name").value,
            "hops": exp.topology.hops,
            "cable_m": s.value("cable.length_m"),
        }

    def latency_row(self, exp: Experiment, phase: PhaseRecords) -> None:
        """Waterfall and figures of a message alone."""
        message = exp.from_a[0]
        path = waterfall.segments(exp, fetched=not message.inline)
        writes = phase.rows["mem_b_w.rec"]
        stamps = read_stamps(self.ctx.run_dir / "taps", self.order)
        visible = dict(zip(writes["cycle"].tolist(), writes["visible"].tolist(), strict=True))
        try:
            rtl = waterfall.walk(stamps, path, visible)
            model = waterfall.walk(phase.item.info["stamps"], path, visible)
        except LookupError as e:
            self.problems.append(f"{exp.name}: {e}")
            return
        for row in waterfall.stages(exp, path, rtl, model, self.period):
            self.result.stage(**row)
        for boundary, cycle in rtl.items():
            if model[boundary] != cycle:
                self.problems.append(f"{exp.name}: {boundary} at cycle {cycle}, model {model[boundary]}")
        size = len(message.payload)
        mode = "inline" if message.inline else "fetched"
        conditions = self.conditions(exp) | {"load": "zero", "size_bytes": size, "mode": mode}
        self.hops += [(c * self.period, conditions) for c in waterfall.hop_cycles(exp, rtl)]
        self.end_to_end(exp, rtl[waterfall.VISIBLE] - rtl[waterfall.START], mode, size, conditions)

    def end_to_end(self, exp: Experiment, cycles: int, mode: str, size: int, conditions: dict[str, Any]) -> None:
        """The figure of a row; one without a claim has no target."""
        name = f"e2e_{PATH_NAMES[exp.topology]}_ns_{exp.host}_{mode}"
        if size != HEADLINE_SIZE:
            name += f"_{size}B"
        ns = cycles * self.period
        before = spec().value(f"host.{exp.host}.store") + spec().value(f"host.{exp.host}.oneway")
        # no claim is made for memory round trips over PCIe, nor for both round trips and three hops
        claimed = mode == "inline" or (exp.host == "d2d" and exp.topology is not Topology.THREE_HOPS)
        target = spec().value("target.e2e_ns") if claimed else None
        passed = ns < target if target is not None else None
        self.result.figure(name, ns, "ns", target, passed, **conditions, from_core_ns=ns + before)
        if passed is False:
            self.problems.append(f"{name} is {ns} ns; target below {target}")
        headline = f"e2e_{PATH_NAMES[exp.topology]}_ns"
        if size == HEADLINE_SIZE and (exp.host, mode) == ("pcie", "inline"):
            self.result.figure(headline, ns, "ns", target, passed, **conditions, from_core_ns=ns + before)

    def batch(self, exp: Experiment, phase: PhaseRecords) -> None:
        """Duration and goodput of many messages from A."""
        total = sum(len(m.payload) for m in exp.from_a)
        writes = phase.rows["mem_b_w.rec"]
        cycles = int(writes["visible"].max()) - exp.from_a[0].at
        conditions = self.conditions(exp) | {
            "messages": len(exp.from_a), "message_bytes": len(exp.from_a[0].payload),
            "gpu_memory": exp.from_a[0].target_place is Place.GPU,
        }  # fmt: skip
        self.result.figure("moe_dispatch_ns", cycles * self.period, "ns", **conditions)
        self.result.figure("moe_goodput_gbps", 8 * total / (cycles * self.period), "Gb/s", **conditions)

    def extract_phase(self) -> None:
        """Write what was collected; before the scoreboard may raise."""
        if self.hops:
            worst, conditions = max(self.hops, key=lambda h: h[0])
            target = spec().value("target.hop_ns")
            counted = {"margin_ns": target - worst, "measured": len(self.hops)}
            self.result.figure("hop_ns", worst, "ns", target, worst <= target, **counted, **conditions)
            if worst > target:
                self.problems.append(f"hop_ns is {worst}; target {target}")
        for roce, frames in self.frames.items():
            self.capture(roce, sorted(frames, key=lambda f: f[0]))
        self.result.data["main_path"] = MAIN_PATH
        fecs = [f"phy.{'kp4' if roce else 'llfec'}." for roce in self.frames]
        parts = ("clock.period_ns", *fecs, "host.pcie.", "host.d2d.", "link.", "cable.")
        assumed = [c.name for c in spec() if c.assumed and c.unit != "text" and c.name.startswith(parts)]
        self.result.note(f"assumptions among the constants (marks A, R, W in spec/fabric.toml): {', '.join(assumed)}")
        self.result.note(
            "hop: cable in to cable out of a switch; end to end: doorbell store accepted at the NIC's port to payload "
            "visible in the peer's memory (from_core_ns: from the core's store); all at zero load"
        )
        self.result.note("a fetched message takes two memory round trips: over PCIe more than 1 us, no target")
        self.result.save()

    def capture(self, roce: bool, frames: list[tuple[int, bytes]]) -> None:
        """A file for each format (a capture has one link type); tshark, where it is, must read all of it."""
        first = "capture" not in self.result.data["artifacts"]
        path = self.ctx.run_dir / ("capture.pcap" if first else f"capture_{'roce' if roce else 'native'}.pcap")
        write_pcap(path, ETHERNET if roce else ERF, frames)
        self.result.artifact("capture" if first else path.stem, path)
        if shutil.which("tshark"):
            self.problems += trusted.read_back(path, [data for _, data in frames], roce)[:5]

    def check_phase(self) -> None:
        """Figures that miss, and stages that differ from the model, fail the test."""
        if self.problems:
            raise AssertionError("; ".join(self.problems))
