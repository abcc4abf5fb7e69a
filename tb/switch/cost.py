# SPDX-License-Identifier: Apache-2.0
"""What a run costs, as figures: the bench beside the model, and build, memory and speed of a large switch."""

from __future__ import annotations

import json
import os
import re
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from models.spec import spec
from models.switch_volume import simulate
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords


@dataclass
class _Sums:
    """Seconds over the phases so far."""

    run: float = 0.0
    read: float = 0.0
    compare: float = 0.0
    model: float = 0.0
    phases: int = 0
    packets: int = 0
    cycles: int = 0


_sums = _Sums()


def observe(ctx: RunContext, phase: PhaseRecords) -> None:
    """Figures of a phase that asks for them (``info["speed"]``, ``info["cost"]``)."""
    if "speed" in phase.item.info:
        _speed(ctx, phase)
    if "cost" in phase.item.info:
        _cost(ctx, phase)


def _speed(ctx: RunContext, phase: PhaseRecords) -> None:
    """RTL bench over model on the same traffic.

    Bench: simulation of the phase from reset to its end, reading of its records, comparison of every beat and event.
    Model: ``simulate`` alone, compiled before. Making the stimulus, independent checks and coverage are in neither.
    """
    info = phase.item.info
    if not _sums.phases:  # the first call compiled it
        begin = time.monotonic()
        simulate(*info["model_call"])
        info["model_s"] = time.monotonic() - begin
    _sums.phases += 1
    _sums.run += phase.stats.seconds
    _sums.read += phase.read_s
    _sums.compare += info["compared_at"] - info["predicted_at"]
    _sums.model += info["model_s"]
    _sums.cycles += phase.stats.cycles
    _sums.packets += sum(len(b) for b in info["batch"].values())
    bench = _sums.run + _sums.read + _sums.compare
    result = Result(ctx.run_dir)
    ratio, target = round(bench / _sums.model, 1), spec().integer("target.model_speedup")
    met = ratio >= target
    result.figure(  # no verdict when it is missed: how busy the machine is must not fail a test
        "model_speedup", ratio, "ratio", target=target, passed=met or None, simulator=ctx.sim,
        target_met="yes" if met else "no",
        counted="bench: run, read, compare; model: simulate, compiled", run_s=round(_sums.run, 2),
        read_s=round(_sums.read, 2), compare_s=round(_sums.compare, 2), model_s=round(_sums.model, 3),
        packets=_sums.packets, cycles=_sums.cycles,
    )  # fmt: skip
    result.figure("packets_compared", _sums.packets, "count", phases=_sums.phases)
    result.figure("model_packets_per_s", round(_sums.packets / _sums.model), "count")
    result.save()


def _cost(ctx: RunContext, phase: PhaseRecords) -> None:
    """Build time (from the build's own note), memory of the simulation, cycles a second."""
    result = Result(ctx.run_dir)
    ports = ctx.param("PORTS", 8)
    folder = Path(os.readlink("/proc/self/exe")).parent
    note, log = folder / "done.json", folder / "build.log"
    if note.is_file():
        seconds = json.loads(note.read_text(encoding="utf-8"))["seconds"]
        result.figure("build_s", round(seconds, 1), "s", ports=ports, simulator=ctx.sim)
    if log.is_file() and (found := re.search(r"allocated ([\d.]+) MB", log.read_text(errors="replace"))):
        result.figure("build_memory", round(float(found[1])), "MB", ports=ports, of="Verilator, by its own account")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result.figure("peak_memory", round(peak), "MiB", ports=ports, simulator=ctx.sim, of="simulation and comparison")
    speed = round(phase.stats.cycles / phase.stats.seconds)
    result.figure("cycles_per_s", speed, "cycles/s", ports=ports, simulator=ctx.sim)
    result.save()
