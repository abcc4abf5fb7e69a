# SPDX-License-Identifier: Apache-2.0
"""`make bench`: simulated cycles per second, beside the same design and traffic under bare C++.

One test runs as `make sim` runs it. Then the same bench top, built without VPI and cocotb, plays the
stimulus files of that very run (bench_main.cpp). Both must record the same transfers at the same cycles;
only then is the ratio worth printing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import build as builder
from scripts import run as runner
from scripts.common import BUILD, EXIT_PASS, UserError, one_of, rel, tail
from scripts.proc import run_group

if TYPE_CHECKING:
    from rich.console import Console

    from scripts.blocks import Blocks

RECORDED = (".rec", ".evt")
AIM = 0.5


@dataclass(frozen=True)
class Speed:
    """Cycles of all phases and the seconds that they took."""

    cycles: int
    seconds: float

    @property
    def rate(self) -> float:
        """Cycles per second."""
        return self.cycles / self.seconds if self.seconds else 0.0


def _stimulus(run_dir: Path, target: Path) -> int:
    """Copy a run's stimulus, not its records; the number of phases."""
    shutil.rmtree(target, ignore_errors=True)
    phases = sorted(run_dir.glob("p[0-9]*"))
    for phase in phases:
        shutil.copytree(phase, target / phase.name, ignore=shutil.ignore_patterns(*(f"*{s}" for s in RECORDED)))
    if (run_dir / "taps").is_dir():
        (target / "taps").mkdir()
    return len(phases)


def _bare(built: builder.Built, folder: Path, phases: int, limit_s: float, taps: bool) -> Speed:
    log = folder / "bare.log"
    command = [str(built.path / built.job.top), str(phases), f"+run_dir={folder}", *(["+taps"] if taps else [])]
    with log.open("w") as f:
        ended = run_group(command, limit_s=limit_s, cwd=folder, env=os.environ, stdout=f)
    said = re.search(r"^cycles (\d+) seconds ([\d.]+)$", log.read_text(errors="replace"), re.M)
    if said is None or ended.returncode != 0:
        raise UserError(f"the bare harness ended with code {ended.returncode}: {rel(log)}\n" + "\n".join(tail(log, 5)))
    return Speed(int(said[1]), float(said[2]))


def _cocotb(outcome: runner.Outcome) -> Speed:
    figure = outcome.result.figures.get("sim_cycles_per_s")
    if figure is None or not figure.value:
        raise UserError(f"{outcome.request.block}/{outcome.request.test} gives no sim_cycles_per_s")
    cycles = int(figure.conditions.get("cycles", 0))
    return Speed(cycles, cycles / float(figure.value))


def measure(spec: Blocks, request: runner.Request, repeat: int) -> tuple[Speed, Speed, Speed]:
    """The bench's phases, its whole process, and the bare harness; the best of `repeat` tries each."""
    job = builder.job_for(spec, request.block, "verilator", request.params)
    bare_build = builder.build(replace(job, bare=True))
    test = spec.block(request.block).tests[request.test]
    limit_s = test.run_limit_s or spec.block(request.block).run_limit_s
    folder = BUILD / "bench" / request.block
    ours: list[tuple[Speed, Speed]] = []
    bare: list[Speed] = []
    # turn by turn: a machine that slows down slows both
    for _ in range(repeat):
        outcome = runner.execute(spec, request)
        if outcome.verdict != "pass":
            raise UserError(f"the run did not pass: {outcome.reason}; repeat: {request.command}")
        phases = _cocotb(outcome)
        ours.append((phases, Speed(phases.cycles, outcome.extra["run_s"])))
        count = _stimulus(outcome.run_dir, folder)
        bare.append(_bare(bare_build, folder, count, limit_s, test.taps))
        if runner.records_digest(folder) != outcome.extra["digest"]:
            raise UserError(f"the bare harness recorded other transfers than the bench: {rel(folder)}")
    best = max(ours, key=lambda s: s[0].rate)
    return best[0], best[1], max(bare, key=lambda s: s.rate)


def main_bench(console: Console, given: dict[str, str]) -> int:
    """Measure one block and say how near the aim it comes."""
    from rich.table import Table

    from scripts.blocks import blocks
    from scripts.settings import only, sim_request

    given = dict(given)
    what = given.pop("WHAT", "sim")
    if what == "regress":
        from scripts.regress.bench import main_bench as bench_regress

        only(given, (), "bench WHAT=regress")
        return bench_regress(console)
    if what != "sim":
        raise one_of("bench", what, ("sim", "regress"), "WHAT")
    repeat = given.pop("REPEAT", "") or "2"
    if not repeat.isdigit() or repeat == "0":
        raise UserError(f"REPEAT={repeat}: wants a whole number from 1")
    if given.get("SIM") not in (None, "", "verilator"):
        raise UserError("SIM: make bench compares Verilator with Verilator")
    spec = blocks()
    name = given.get("BLOCK") or spec.default_block
    if not given.get("TEST") and spec.block(name).bench_test:
        given["TEST"] = str(spec.block(name).bench_test)
    request = sim_request(spec, given)
    start = time.monotonic()
    with console.status(f"running {request.block}/{request.test}, {repeat} times each way"):
        phases, whole, bare = measure(spec, request, int(repeat))
    ratio = phases.rate / bare.rate
    title = f"{request.block}/{request.test}, {phases.cycles:,} cycles, best of {repeat}, records the same"
    table = Table(title=title, title_justify="left")
    for column in ("", "seconds", "cycles/s", "ratio"):
        table.add_column(column, justify="left" if not column else "right")
    rows = (
        ("bare C++ harness", bare),
        ("bench: its phases", phases),
        ("bench: whole process, with stimulus, model and comparison", whole),
    )
    for label, speed in rows:
        table.add_row(label, f"{speed.seconds:.2f}", f"{speed.rate:,.0f}", f"{speed.rate / bare.rate:.2f}")
    console.print(table)
    reached = ratio >= AIM
    word = "reached" if reached else "not reached"
    console.print(f"ratio {ratio:.2f}, aim {AIM} {word}  ({time.monotonic() - start:.0f} s)  repeat: {request.command}")
    data = {"block": name, "test": request.test, "ratio": ratio, **{k: v.rate for k, v in rows}}
    (BUILD / "bench" / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    return EXIT_PASS
