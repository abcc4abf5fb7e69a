# SPDX-License-Identifier: Apache-2.0
"""What must hold of a switch whatever its model says: conservation, latency, throughput, fairness.

Items ask for the later ones through ``info``: ``latency`` = the cycles that every frame's first beat must
take; ``gap`` = largest number of idle cycles between two frames of an output that has work; ``fair`` = the
output for whose grants its N persistent inputs take turns; ``stalls`` = some input must have waited for a cell.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from tb.common.beats import Frame, StreamFormat, frames_from_beats
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords

AXIS = StreamFormat()


def conservation(ports: int, phase: PhaseRecords) -> list[str]:
    """Each beat that entered gave back one cell."""
    out = []
    for p in range(ports):
        freed = sum(int(e["value"]) for e in phase.events[f"free{p}"])
        if freed != len(phase.beats[f"s{p}"]):
            out.append(f"input {p}: {len(phase.beats[f's{p}'])} beats in, {freed} cells given back")
    return out


def zero_load(ctx: RunContext, ports: int, phase: PhaseRecords) -> list[str]:
    """First beat in to first beat out, of frames that are alone in the switch; keeps the figure."""
    want = phase.item.info["latency"]
    entered = {f.data: f.cycle for p in range(ports) for f in frames_from_beats(phase.beats[f"s{p}"], AXIS)}
    times = Counter(
        f.cycle - entered[f.data] for p in range(ports) for f in frames_from_beats(phase.beats[f"m{p}"], AXIS)
    )
    result = Result(ctx.run_dir)
    conditions = {"load": "zero", "sizes": "64..4096 bytes", "pairs": f"{ports} x {ports}"}
    result.figure("switch_cycles", max(times), "cycles", target=40, passed=max(times) < 40, **conditions)
    result.save()
    return [] if set(times) == {want} else [f"zero-load latency is {dict(times)} cycles (value: frames), not {want}"]


def busy_outputs(ports: int, phase: PhaseRecords) -> list[str]:
    """Between an output's first and last beat, no more idle cycles in front of a frame than asked for."""
    out = []
    for p in range(ports):
        frames = frames_from_beats(phase.beats[f"m{p}"], AXIS)
        for a, b in pairwise(frames):
            idle = b.cycle - a.cycles[-1] - 1
            if idle > phase.item.info["gap"] or b.cycles[-1] - b.cycles[0] != len(b.cycles) - 1:
                out.append(f"output {p}: {idle} idle cycles before the frame at {b.cycle}, or holes inside it")
                break
    return out


def turns(phase: PhaseRecords) -> list[str]:
    """In any N frames in a row of an output with N persistent inputs, each input is served once."""
    port = phase.item.info["fair"]
    frames: list[Frame] = frames_from_beats(phase.beats[f"m{port}"], AXIS)
    order = [f.data[-4] for f in frames]  # the mark's first byte: the input
    inputs = set(order)
    n = len(inputs)
    persistent = min(Counter(order).values()) * n  # until the first of them has nothing left
    for i in range(persistent - n + 1):
        if set(order[i : i + n]) != inputs:
            return [f"output {port}: frames {i}..{i + n - 1} came from inputs {order[i : i + n]}, not each once"]
    return [] if n > 1 else [f"output {port}: frames of {n} input(s): the test tests nothing"]


def stalls(ports: int, phase: PhaseRecords) -> list[str]:
    """Some input, which played without a pause, had to wait: its buffer was full."""
    waited = [p for p in range(ports) if np.diff(phase.beats[f"s{p}"]["cycle"].astype(np.int64)).max() > 1]
    return [] if waited else ["no input ever waited for a free cell: the test tests nothing"]


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """All that the item asks for."""
    ports = ctx.param("PORTS", 8)
    out = conservation(ports, phase)
    if "latency" in phase.item.info:
        out += zero_load(ctx, ports, phase)
    if "gap" in phase.item.info:
        out += busy_outputs(ports, phase)
    if "fair" in phase.item.info:
        out += turns(phase)
    if "stalls" in phase.item.info:
        out += stalls(ports, phase)
    return out
