# SPDX-License-Identifier: Apache-2.0
"""`make model`: the golden model of the switch alone, without a simulator.

Latency against load, fairness, incast, a hot spot, and how fast it was. Writes build/model/latency.png, latency.svg
and model.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from models.jit import compiling
from models.pfc import PHYS, Headroom, headroom, reach, thresholds
from models.switch_config import SwitchConfig
from models.switch_traffic import PATTERNS, Frames, Measured, jain, latency, measure, traffic
from scripts.common import BUILD, EXIT_FAIL, EXIT_PASS, UserError, one_of, rel
from scripts.settings import flag, only, seed_of

KEYS = (
    "PORTS", "LANES", "DATA_W", "CELLS", "EGRESS", "ALLOC", "SAF", "LOAD", "SIZE", "PATTERN", "CYCLES", "SEED", "CABLE",
    "PHY",
)  # fmt: skip
LOADS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.95"
ALLOCATORS = ("round robin", "iSLIP-1", "iSLIP-2", "iSLIP-3", "iSLIP-4", "wavefront")
OUT = BUILD / "model"
SLOWER = 1.1
"""How much longer others may wait beside a hot spot."""
FEW = 100
"""Frames of a row; with fewer, a percentile says nothing."""
TURNS = 20
"""Frames of each input in an incast at least, if each gets one of PORTS: so many that the one by which a window's ends
can change a count is a twentieth."""
COLD = 1000
"""Frames of a hot spot whose waits are compared."""
BEATS = 20_000_000
"""CYCLES x PORTS: a beat takes about 100 bytes of memory."""
WIDTHS = ("512", "1024")


@dataclass(frozen=True)
class Row:
    """One load of one allocator. Cycles are of a frame's first beat, offered to gone; shares are of the line."""

    alloc: int
    load: float
    throughput: float
    mean: float
    p99: float
    maximum: float
    fairness: float
    frames: int
    cycles: int
    seconds: float


@dataclass(frozen=True)
class Pause:
    """PFC of a lane behind a cable: ``xoff``, ``xon`` and the headroom for the registers PAUSE and HEADROOM."""

    metres: float
    phy: str
    room: Headroom
    xoff: int
    xon: int


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    config: SwitchConfig
    allocs: tuple[int, ...]
    loads: tuple[float, ...]
    beats: tuple[int, ...]
    pattern: str
    cycles: int
    seed: int
    pause: Pause | None = None


def pause(config: SwitchConfig, given: dict[str, str]) -> Pause | None:
    """What CABLE and PHY ask for; UserError when its headroom does not fit into the lanes' buffers."""
    phy = given.get("PHY") or PHYS[0]
    if phy not in PHYS:
        raise one_of("PHY", phy, PHYS, "PHY")
    if not given.get("CABLE"):
        return None
    metres = _numbers("CABLE", given["CABLE"], 0, 10_000)
    if len(metres) > 1:
        raise UserError(f"CABLE={given['CABLE']}: wants one number of metres")
    like: dict[str, Any] = {"phy": phy, "cell": config.data_bytes, "egress": config.room}
    room = headroom(metres[0], **like)
    try:
        xoff, xon = thresholds(config.quota, room.cells)
    except ValueError as e:
        longest = reach(config.quota, **like)
        cable = f"or CABLE up to {longest}" if longest >= 0 else "with these no cable is short enough"
        raise UserError(
            f"CABLE={given['CABLE']}: {phy} wants a headroom of {room.cells} cells, CELLS / LANES is {config.depth} / "
            f"{config.lanes} = {config.quota} (CELLS by default link.buffer_cells of spec/fabric.toml); "
            f"allowed: CELLS / LANES above {room.cells}, {cable}"
        ) from e
    replace(config, pfc=True, xoff=xoff, xon=xon, headroom=room.cells)  # what it is for is a configuration
    return Pause(metres[0], phy, room, xoff, xon)


def _within(low: float, high: float) -> str:
    return f"from {low:,.12g} to {high:,.12g}".replace(",", "")


def _numbers(key: str, text: str, low: float, high: float) -> tuple[float, ...]:
    """A list of numbers with commas."""
    try:
        found = tuple(float(word) for word in text.split(","))
    except ValueError:
        found = (low - 1,)
    if not all(low <= x <= high for x in found):
        raise UserError(f"{key}={text}: wants numbers {_within(low, high)}, with commas between them")
    return found


def _wholes(key: str, text: str, low: int, high: int, *, one: bool = False) -> tuple[int, ...]:
    """A list of whole numbers with commas; ``one``: only one."""
    words = text.split(",")
    found = tuple(int(word) if word.isascii() and word.isdecimal() and len(word) < 20 else low - 1 for word in words)
    if not all(low <= x <= high for x in found) or (one and len(found) > 1):
        wants = "a whole number" if one else "whole numbers"
        raise UserError(
            f"{key}={text}: wants {wants} {_within(low, high)}{'' if one else ', with commas between them'}"
        )
    return found


def plan(given: dict[str, str]) -> Plan:
    """The settings, checked; UserError names the setting and what is allowed."""
    only(given, KEYS, "model")
    pattern = given.get("PATTERN") or "uniform"
    if pattern not in PATTERNS:
        raise one_of("pattern", pattern, PATTERNS, "PATTERN")

    def whole(key: str, low: int, high: int) -> int:
        return _wholes(key, given[key], low, high, one=True)[0]

    width = given.get("DATA_W") or WIDTHS[0]
    if width not in WIDTHS:
        raise UserError(f"DATA_W={width}: wants {' or '.join(WIDTHS)}")
    bounds = {"PORTS": (2, 80), "LANES": (1, 8), "CELLS": (2, 1 << 16), "EGRESS": (2, 1 << 16)}
    numbers: dict[str, Any] = {k.lower(): whole(k, *bounds[k]) for k in bounds if given.get(k)}
    allocs = _wholes("ALLOC", given.get("ALLOC") or "1", 0, len(ALLOCATORS) - 1)
    try:
        config = SwitchConfig(
            data_bytes=int(width) // 8, saf=flag("SAF", given.get("SAF", "")), alloc=allocs[0], **numbers
        )
    except ValueError as e:  # the settings have the names of the parameters
        name, _, rest = str(e).partition(" is ")
        raise UserError(f"{name.upper()} is {rest}") from e
    sizes = _wholes("SIZE", given.get("SIZE") or "512", 32, config.beats * config.data_bytes)
    return Plan(
        config=config, allocs=allocs, loads=_numbers("LOAD", given.get("LOAD") or LOADS, 0.001, 1),
        beats=tuple(-(-size // config.data_bytes) for size in sizes), pattern=pattern,
        cycles=_wholes("CYCLES", given.get("CYCLES") or "100000", 100, BEATS // config.ports, one=True)[0],
        seed=seed_of(given["SEED"]) if given.get("SEED") else 1, pause=pause(config, given),
    )  # fmt: skip


def _one(p: Plan, alloc: int, load: float) -> Row:
    """Run one point; the first tenth is left out of the statistics."""
    frames = traffic(p.config.ports, p.pattern, load, p.cycles, p.seed, p.beats)
    warm = p.cycles // 10
    count = sum(int((f.cycle >= warm).sum()) for f in frames)
    if count < FEW:
        beats = 1 if p.pattern == "bursty" else float(np.mean(p.beats))
        sources = 1 if p.pattern == "incast" else p.config.ports
        wanted = max(1.25 * FEW * beats / (load * sources) / 0.9, 1.25 * p.cycles)
        raise UserError(
            f"CYCLES={p.cycles}: too few frames at load {load:g}: {count} behind the first tenth, {FEW} are wanted;"
            f" give CYCLES={-(-int(wanted) // 100) * 100}"
        )
    begin = time.process_time()
    m = measure(replace(p.config, alloc=alloc), frames, (warm, p.cycles))
    seconds = time.process_time() - begin
    waits = m.after(warm) + latency()
    used = np.flatnonzero([len(f.cycle) for f in frames])
    sent = np.bincount(m.input[m.cycle + m.wait + latency() < p.cycles], minlength=p.config.ports)[used]
    lines = len(used) if p.pattern == "permutation" else p.config.ports
    lines = 1 if p.pattern == "incast" else lines
    return Row(
        alloc, load, float(m.left.sum() / (m.cycles * lines)), float(waits.mean()), float(np.percentile(waits, 99)),
        float(waits.max()), jain(sent.astype(float)), len(m.wait), m.end, seconds,
    )  # fmt: skip


def _full(count: int, output: int, beats: int) -> Frames:
    """Frames back to back to one output."""
    return Frames(1 + np.arange(count) * beats, np.full(count, output), np.full(count, beats))


def incast(p: Plan, alloc: int) -> dict[str, Any]:
    """All other inputs send to output 0 without a pause, at least so long that each has ``TURNS`` frames in the window.

    Nothing may be lost, and each must get one of PORTS of the frames, but for the one that a window's ends can cost.
    """
    ports, beats = p.config.ports, p.beats[0]
    count = max(TURNS * ports * 10 // 9, p.cycles // (10 * beats))  # frames that leave in the time that it looks at
    frames = [_full(count if i else 0, 0, beats) for i in range(ports)]
    config = replace(p.config, alloc=alloc)
    window = (count * beats // 10, count * beats)
    m = measure(config, frames, window)
    gone = m.cycle + m.wait + latency()
    shares = np.bincount(m.input[(gone >= window[0]) & (gone < window[1])], minlength=ports)[1:]
    return {
        "offered": count * (ports - 1), "arrived": len(m.wait), "throughput": float(m.left[0] / m.cycles),
        "fairness": jain(shares.astype(float)), "least": int(shares.min()), "frames": int(shares.sum()),
        "good": len(m.wait) == count * (ports - 1) and (int(shares.min()) + 1) * ports >= int(shares.sum()),
    }  # fmt: skip


def hot_spot(p: Plan, alloc: int) -> dict[str, Any]:
    """Half of the inputs send all that they can to output 0; the others to the other outputs, at half of the line. What
    these wait, with and without the hot spot. At least so long that ``COLD`` of their frames count."""
    ports, beats = p.config.ports, p.beats[0]
    config = replace(p.config, alloc=alloc)
    cold = range(ports // 2, ports)
    cycles = max(p.cycles, round(COLD * beats / (0.5 * len(cold))))
    calm = traffic(ports, "uniform", 0.5, cycles, p.seed, beats)
    for i, f in enumerate(calm):
        calm[i] = replace(f, output=1 + f.output % (ports - 1)) if i in cold else _full(0, 0, beats)
    hot = [f if i in cold else _full(cycles // beats, 0, beats) for i, f in enumerate(calm)]
    waits = {}
    busy: Measured | None = None
    for name, frames in (("calm", calm), ("hot", hot)):
        busy = measure(config, frames, (cycles // 10, cycles))
        others = busy.output > 0
        waits[name] = float(busy.wait[others].mean()) + latency()
    assert busy is not None
    good = waits["hot"] <= SLOWER * waits["calm"]
    return {"output_0": float(busy.left[0] / busy.cycles), "frames": int(others.sum()), "good": good, **waits}


def _draw(p: Plan, rows: Sequence[Row]) -> None:
    """Latency against load, one panel a figure, one curve an allocator."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4), sharex=True)
    for axis, name, title in zip(axes, ("mean", "p99", "maximum"), ("mean", "99th percentile", "maximum"), strict=True):
        for alloc in p.allocs:
            mine = [r for r in rows if r.alloc == alloc]
            axis.plot([r.load for r in mine], [getattr(r, name) for r in mine], "o-", ms=3, label=ALLOCATORS[alloc])
        axis.axhline(latency(), lw=0.8, ls=":", color="grey")
        axis.set(title=title, xlabel="offered load, share of the line", yscale="log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("cycles, first beat to first beat")
    axes[0].legend()
    sizes = ", ".join(str(b * p.config.data_bytes) for b in p.beats)
    figure.suptitle(f"{p.config.ports} ports, {p.config.lanes} lanes, {p.pattern} traffic, frames of {sizes} bytes")
    figure.tight_layout()
    for ending in ("png", "svg"):
        figure.savefig(OUT / f"latency.{ending}", dpi=120)
    pyplot.close(figure)


def _table(p: Plan, rows: Sequence[Row]) -> Table:
    table = Table(title=f"Latency against load: {p.pattern}, cells of {p.config.data_bytes} bytes")
    for name in ("allocator", "load", "throughput", "mean", "p99", "maximum", "fairness", "frames/s", "cycles/s"):
        table.add_column(name, justify="left" if name == "allocator" else "right")
    for r in rows:
        table.add_row(
            ALLOCATORS[r.alloc], f"{r.load:.3f}", f"{r.throughput:.3f}", f"{r.mean:.1f}", f"{r.p99:.0f}",
            f"{r.maximum:.0f}", f"{r.fairness:.4f}", f"{r.frames / r.seconds:,.0f}", f"{r.cycles / r.seconds:,.0f}",
        )  # fmt: skip
    return table


def main_model(console: Console, given: dict[str, str]) -> int:
    """The verb."""
    p = plan(given)
    OUT.mkdir(parents=True, exist_ok=True)
    if p.pause:
        room = p.pause.room
        console.print(
            f"PFC over {p.pause.metres:g} m, {p.pause.phy}: headroom {room.cells} cells (arriving {room.arriving},"
            f" queued upstream {room.queued}, on their way inside {room.pipeline}) of {p.config.quota} a lane: HEADROOM"
            f" {room.cells}, PAUSE xoff {p.pause.xoff}, xon {p.pause.xon}"
        )
    with compiling(lambda: console.print("[dim]the model is compiled for this shape: about half a minute, once[/]")):
        measure(p.config, traffic(p.config.ports, "uniform", 0.5, 100, 1), (0, 100))
    rows = [_one(p, alloc, load) for alloc in p.allocs for load in p.loads]
    console.print(_table(p, rows))
    seconds = sum(r.seconds for r in rows)
    frames, cycles = sum(r.frames for r in rows), sum(r.cycles for r in rows)
    console.print(f"{frames / seconds:,.0f} frames/s, {cycles / seconds:,.0f} cycles/s, of processor time")
    console.print(f"an empty switch: {latency()} cycles")
    found, good = {}, True
    for alloc in p.allocs:
        name = ALLOCATORS[alloc]
        many, spot = incast(p, alloc), hot_spot(p, alloc)
        good &= many["good"] and spot["good"]
        console.print(
            f"{name}: {p.config.ports - 1} to 1: {many['arrived']:,} of {many['offered']:,} frames arrived, output"
            f" {many['throughput']:.3f} of the line, fairness {many['fairness']:.4f}, least {many['least']:,} of"
            f" {many['frames']:,}: {_verdict(many['good'])}"
        )
        console.print(
            f"{name}: hot output {spot['output_0']:.3f} of the line; frames to the others {spot['hot']:.1f} cycles,"
            f" {spot['calm']:.1f} without it: {_verdict(spot['good'])}"
        )
        found[name] = {"incast": many, "hot_spot": spot}
    _draw(p, rows)
    report = {
        "config": asdict(p.config),
        "pattern": p.pattern,
        "rows": [asdict(r) for r in rows],
        "checks": found,
        "pause": p.pause and asdict(p.pause),
    }
    (OUT / "model.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    console.print(f"drawn: {rel(OUT / 'latency.png')}, {rel(OUT / 'latency.svg')}; figures: {rel(OUT / 'model.json')}")
    return EXIT_PASS if good else EXIT_FAIL


def _verdict(good: bool) -> str:
    return "[green]pass[/]" if good else "[bold red]fail[/]"
