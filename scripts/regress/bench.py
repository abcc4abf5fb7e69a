# SPDX-License-Identifier: Apache-2.0
"""`make bench WHAT=regress`: what the runner itself costs.

Three figures, measured on real runs of the block `example` and of the switch: seconds that a job costs
beside its simulator process; seconds of a report over 2,000 results; how many times as fast two workers
are as one. Targets stand in spec/fabric.toml, [regress].
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.blocks import blocks
from scripts.common import EXIT_FAIL, EXIT_PASS, UserError
from scripts.regress import plan as planning
from scripts.regress.engine import engine_for
from scripts.regress.loop import Loop
from scripts.regress.profile import Profile
from scripts.regress.records import REGRESS, Plan, Record, job_dir
from scripts.regress.report import Report

if TYPE_CHECKING:
    from rich.console import Console

QUICK = "example/smoke"
HEAVY = "switch/random_traffic"
RESULTS = 2000


class _Silent:
    def begin(self, plan: Plan, done: list[Record]) -> None:
        """Nothing to show."""

    def built(self, name: str) -> None:
        """Nothing to show."""

    def ended(self, record: Record) -> None:
        """Nothing to show."""

    def tick(self, running: list[tuple[str, float]], waiting: int) -> None:
        """Nothing to show."""


def _pass(profile: Profile, name: str, jobs: int) -> tuple[Plan, Path, list[Record], float, float]:
    """Run a plan: plan, folder, records, seconds without the start of the workers, seconds of it."""
    spec = blocks()
    found = planning.jobs(
        spec, profile, [], blocks=[profile.only[0].split("/")[0]], sims=list(profile.sims), seeds=profile.seeds
    )
    folder = planning.new_folder(f"bench-{name}")
    plan = planning.make(folder, "bench", {}, found)
    begin = time.monotonic()
    with engine_for("local", jobs, {}, folder=folder) as engine:
        started = time.monotonic()
        records = Loop(plan, folder, engine, _Silent()).run()
        ended = time.monotonic()
    if bad := [r for r in records if r.verdict != "pass"]:
        raise UserError(f"the runs of the bench must pass: {bad[0].job.name}: {bad[0].reason}")
    return plan, folder, records, ended - started, started - begin


def overhead(count: int = 20) -> tuple[float, Path, Plan, list[Record]]:
    """Seconds a job beside its simulator process: one worker, builds made before, coverage on."""
    profile = Profile(summary="s", only=[QUICK], sims=["verilator"], seeds=count)
    _pass(profile, "warm", 1)
    plan, folder, records, seconds, _ = _pass(profile, "overhead", 1)
    return (seconds - sum(r.run_s for r in records)) / len(records), folder, plan, records


def report_seconds(folder: Path, plan: Plan, records: list[Record]) -> tuple[float, int]:
    """Seconds and bytes of the page of a report over RESULTS results, each with files of its own."""
    big = folder.with_name(folder.name + "-report")
    many = []
    for n in range(1, RESULTS + 1):
        old = records[n % len(records)]
        place = job_dir(big, n)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(job_dir(folder, old.job.number), place)
        moved = {
            k: v.replace(f"jobs/{old.job.number:05d}", f"jobs/{n:05d}")
            for k, v in old.model_dump().items()
            if k in ("run_dir", "log", "waves", "code_coverage", "functional") and isinstance(v, str)
        }
        many.append(old.model_copy(update={**moved, "job": old.job.model_copy(update={"number": n, "seed": n})}))
    if (folder / "coverage").is_dir():
        shutil.copytree(folder / "coverage", big / "coverage")
    begin = time.monotonic()
    report = Report(big, plan.model_copy(update={"id": big.name, "jobs": [r.job for r in many]}), many, [])
    report.write(seconds=1.0, builds=[], interrupted=False)
    seconds = time.monotonic() - begin
    if report.problems:
        raise UserError(f"the report of the bench has problems: {report.problems[0]}")
    size = (big / "index.html").stat().st_size
    shutil.rmtree(big)
    return seconds, size


def speedup(count: int = 8) -> float:
    """One worker's seconds over two workers'."""
    profile = Profile(summary="s", only=[HEAVY], sims=["verilator"], seeds=count)
    _pass(profile, "warm", 2)
    took = [_pass(profile, f"jobs{n}", n)[3] for n in (1, 2)]
    return took[0] / took[1]


def main_bench(console: Console) -> int:
    """Print the three figures beside their targets; 1 when one is missed."""
    from models.spec import spec

    begin = set(REGRESS.glob("*-bench-*")) if REGRESS.is_dir() else set()
    try:
        each, folder, plan, records = overhead()
        console.print(f"measured on {len(records)} runs of {QUICK}; one worker", highlight=False)
        report_s, size = report_seconds(folder, plan, records)
        faster = speedup()
    finally:
        for made in set(REGRESS.glob("*-bench-*")) - begin:
            shutil.rmtree(made, ignore_errors=True)
    rows = (
        ("runner's overhead a job", each, "regress.overhead_s", "s", each < spec().value("regress.overhead_s")),
        (
            f"report of {RESULTS:,} results",
            report_s,
            "regress.report_s",
            "s",
            report_s < spec().value("regress.report_s"),
        ),
        ("two workers against one", faster, "regress.speedup", "times", faster >= spec().value("regress.speedup")),
    )
    for name, value, target, unit, good in rows:
        word = "[green]PASS[/]" if good else "[bold red]FAIL[/]"
        console.print(f"{name:<26} {value:8.2f} {unit:<6} target {spec().value(target):g}  {word}", highlight=False)
    console.print(f"page of the report: {size / 1e6:.1f} MB", highlight=False)
    return EXIT_PASS if all(r[-1] for r in rows) else EXIT_FAIL
