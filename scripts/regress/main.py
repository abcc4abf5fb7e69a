# SPDX-License-Identifier: Apache-2.0
"""The verbs `make regress`, `make report` and `make cov`.

Exit codes: 0 all passed; 1 something failed; 2 the tool could not run or did not come to an end (bad input,
an interruption, a full disk) and nothing failed.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.common import EXIT_ERROR, EXIT_FAIL, EXIT_PASS, UserError, rel
from scripts.regress import plan as planning
from scripts.regress import profile as profiles
from scripts.regress.loop import Loop, done_before
from scripts.regress.progress import STYLES, Progressing, duration
from scripts.regress.records import REGRESS, Plan, Record, read, save
from scripts.regress.report import Report, find, load
from scripts.settings import flag, only, whole_number

if TYPE_CHECKING:
    from rich.console import Console

KEYS = (
    "PROFILE", "BLOCKS", "SIMS", "SEEDS", "JOBS", "ENGINE", "RESUME", "KEEP", "COVERAGE", "MUTANTS",
    "DASK", "WAIT", "QUEUE", "WALLTIME", "MEMORY", "SLURM_OPTIONS",
)  # fmt: skip
ENGINE_KEYS = ("DASK", "WAIT", "QUEUE", "WALLTIME", "MEMORY", "SLURM_OPTIONS")
PLANNED = ("PROFILE", "BLOCKS", "SIMS", "SEEDS", "COVERAGE", "MUTANTS")
CODES = {"pass": EXIT_PASS, "fail": EXIT_FAIL, "error": EXIT_ERROR}
SHOWN = 10


def main_regress(console: Console, given: dict[str, str]) -> int:
    """Plan, run, report; the exit code."""
    from scripts.regress.engine import engine_for

    only(given, KEYS, "regress")
    for key in ENGINE_KEYS:
        if given.get(key) and (given.get("ENGINE") or "local") == "local":
            raise UserError(f"{key}={given[key]}: wants ENGINE=dask or ENGINE=slurm; this would run here")
    jobs = whole_number("JOBS", given.get("JOBS") or str(_cores()))
    keep = flag("KEEP", given.get("KEEP", "0"))
    resume = given.get("RESUME", "")
    problems: list[str] = []
    before: dict[int, Record] = {}
    spent_s = 0.0
    if resume and resume != "0":
        folder, plan = _resumed("last" if resume == "1" else resume, given)
        before = done_before(folder, plan, problems, lambda p: read(p, Record))
        spent_s = sum(r.wall_s for r in before.values()) / jobs
    else:
        folder, plan = _new(given)
    known_s = planning.durations()
    started = time.monotonic()
    try:
        engine = engine_for(given.get("ENGINE") or "local", jobs, given, folder=folder)
    except BaseException:
        if not before:
            # nothing ran: no regression, and none to be the last
            shutil.rmtree(folder, ignore_errors=True)
        raise
    planning.point_last(folder)
    with engine, Progressing(console, engine.slots, known_s) as watcher:
        loop = Loop(plan, folder, engine, watcher, known_s, keep, before)
        loop.problems += problems
        records = loop.run()
    _remember(known_s, records, loop.builds)
    missed: list[str] = []
    mutants = int(plan.settings.get("MUTANTS", "0"))
    if mutants and not loop.interrupted:
        missed, loop.interrupted = _mutate(console, plan, mutants, jobs, loop.problems)
    report = Report(folder, plan, records, loop.problems, missed)
    seconds = spent_s + time.monotonic() - started
    return _finish(console, report, seconds, loop.builds, loop.interrupted)


def _finish(console: Console, report: Report, seconds: float, builds: list[dict[str, Any]], interrupted: bool) -> int:
    """Write the report and say how it went; where the disk is full, at least that."""
    try:
        report.write(seconds=seconds, builds=builds, interrupted=interrupted)
    except UserError as e:
        report.problems.append(str(e))
        report.summary["verdict"], report.summary["problems"] = report.verdict(), report.problems
    show(console, report.folder, report.summary, report.records)
    return CODES[report.verdict()]


def _new(given: dict[str, str]) -> tuple[Path, Plan]:
    """A plan from the profile and the settings, in a folder of its own."""
    from scripts.blocks import blocks

    spec = blocks()
    name = given.get("PROFILE") or profiles.DEFAULT
    profile = profiles.load(name, spec)
    if given.get("COVERAGE"):
        profile = profile.model_copy(update={"coverage": flag("COVERAGE", given["COVERAGE"])})
    mutants = given.get("MUTANTS") or str(profile.mutants)
    if not mutants.isdecimal():
        raise UserError(f"MUTANTS={mutants}: wants a whole number from 0")
    found = planning.jobs(
        spec,
        profile,
        profiles.expected_failures(spec),
        blocks=planning.chosen_blocks(spec, profile, given.get("BLOCKS")),
        sims=planning.chosen_sims(profile, given.get("SIMS")),
        seeds=whole_number("SEEDS", given["SEEDS"]) if given.get("SEEDS") else profile.seeds,
    )
    folder = planning.new_folder(Path(name).stem)
    plan = planning.make(folder, Path(name).stem, {**given, "PROFILE": name, "MUTANTS": mutants}, found)
    save(folder / "plan.json", plan)
    return folder, plan


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0))


def _resumed(given: str, settings: dict[str, str]) -> tuple[Path, Plan]:
    folder = find(given)
    plan = read(folder / "plan.json", Plan)
    for key in PLANNED:
        if settings.get(key) and settings[key] != plan.settings.get(key):
            raise UserError(
                f"{key}={settings[key]}: {plan.id} is planned already, RESUME={given} goes on with it as it is"
            )
    if plan.sources != planning.sources_digest():
        raise UserError(
            f"RESUME={given}: the sources have changed since {plan.id} began (commit {plan.commit or 'unknown'});"
            " results of two versions make no regression: start anew"
        )
    return folder, plan


def _remember(known_s: dict[str, float], records: list[Record], builds: list[dict[str, Any]]) -> None:
    """Keep what jobs and builds took, for the next plan's order and for `time left`."""
    known_s.update({r.job.name: round(r.wall_s, 2) for r in records if r.verdict in ("pass", "fail")})
    known_s.update({b["name"]: round(b["seconds"], 2) for b in builds if not b["cached"]})
    # only the order and an estimate depend on it; a full disk is reported by what matters
    with suppress(UserError):
        save(REGRESS / "durations.json", known_s)


def _mutate(console: Console, plan: Plan, count: int, jobs: int, problems: list[str]) -> tuple[list[str], bool]:
    """Run the mutants behind the jobs, block by block: the targets that they miss, and whether it was interrupted.

    `problems` gets what kept a block's mutants from running; the other blocks' run all the same.
    """
    from scripts.mutate import interrupted, run_blocks

    missed: list[str] = []
    for name in dict.fromkeys(j.block for j in plan.jobs):
        try:
            code = run_blocks(console, [name], count=count, jobs=jobs, none_is_good=True)
        except UserError as e:
            problems.append(f"mutants of {name}: {e}")
        except (OSError, shutil.Error) as e:
            problems.append(f"mutants of {name}: {e}"[:400])
        except (KeyboardInterrupt, SystemExit):
            return missed, True
        else:
            if interrupted(name):
                return missed, True
            missed += [] if code == EXIT_PASS else [f"mutants of {name} miss their target"]
    return missed, False


def main_report(console: Console, given: dict[str, str]) -> int:
    """Make the report of a finished regression again (ID=, default the last)."""
    only(given, ("ID",), "report")
    folder = find(given.get("ID") or "last")
    plan = read(folder / "plan.json", Plan)
    problems: list[str] = []
    old: dict[str, Any] = {}
    try:
        _, old, records = load(folder)
        problems += old.get("run_problems", [])
    except UserError as e:
        # an interrupted write: the jobs' own records are still there
        problems.append(str(e))
        found = done_before(folder, plan, problems, lambda p: read(p, Record))
        from scripts.regress.loop import not_run

        records = [found.get(j.number) or not_run(j) for j in plan.jobs]
    report = Report(folder, plan, records, problems, old.get("missed"))
    return _finish(console, report, old.get("seconds", 0.0), old.get("builds", []), old.get("interrupted", False))


def show(console: Console, folder: Path, summary: dict[str, Any], records: list[Record]) -> None:
    """The end of a regression on the terminal: buckets, problems, coverage, where the page is."""
    from rich.markup import escape

    from scripts.regress import triage

    buckets = triage.buckets(records)
    for bucket in buckets[:SHOWN]:
        console.print(
            f"[bold red]{bucket['verdict'].upper()}[/] x{bucket['count']}  {escape(bucket['block'])}:"
            f" {escape(bucket['title'][:160])}",
            highlight=False,
        )
        console.print(f"  repeat {bucket['command']}", highlight=False, markup=False, soft_wrap=True)
        if bucket["waves"]:
            console.print(f"  waves  {rel(folder / bucket['waves'])}", highlight=False, markup=False, soft_wrap=True)
    if len(buckets) > SHOWN:
        console.print(f"... and {len(buckets) - SHOWN} buckets more in the report")
    for text in summary["missed"]:
        console.print(f"[bold red]MISSED[/]  {escape(text)}", highlight=False)
    for text in summary["problems"]:
        console.print(f"[bold magenta]PROBLEM[/] {escape(text)}", highlight=False, soft_wrap=True)
    try:
        _show_coverage(console, folder)
    except UserError as e:
        console.print(f"[bold magenta]PROBLEM[/] {escape(str(e))}", highlight=False, soft_wrap=True)
    tally = ", ".join(f"{summary['counts'][v]} {v}" for v in STYLES if summary["counts"].get(v))
    if summary["known_failures"]:
        tally += f" ({summary['known_failures']} as expected)"
    if summary["interrupted"]:
        tally += ", interrupted: RESUME=1 goes on"
    console.print(f"report   {rel(folder / 'index.html')}", highlight=False, soft_wrap=True)
    color = {"pass": "bold green", "fail": "bold red"}.get(summary["verdict"], "bold magenta")
    console.print(
        f"[{color}]{summary['verdict'].upper()}[/]  {summary['id']}: {tally}  [dim]({duration(summary['seconds'])})[/]",
        highlight=False,
    )


def _percent(hit: int, total: int) -> str:
    return f"{100 * hit / total:.1f} %" if total else "-"


def _part(path: Path) -> dict[str, Any]:
    """A file of the report; nothing where it was not made, UserError where it is none."""
    import json

    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise UserError(f"{rel(path)}: cannot be read: {e}; `make report` makes it again") from None
    if not isinstance(data, dict) or "errors" not in data:
        raise UserError(f"{rel(path)}: not a file of a report; `make report` makes it again")
    return data


def _show_coverage(console: Console, folder: Path, blocks: list[str] | None = None) -> None:
    """The table of coverage by block: code by kind, functional, test points."""

    from rich.table import Table

    code, func, plan = (_part(folder / n) for n in ("code_coverage.json", "functional.json", "testplan.json"))
    kinds = code.get("kinds", []) if code.get("measured") else []
    names = sorted({*code.get("blocks", {}), *func.get("blocks", {})})
    names = [n for n in names if blocks is None or n in blocks]
    if not names:
        console.print("coverage: not measured")
        return
    table = Table(title="coverage", title_justify="left")
    for column in ("block", *kinds, "functional", "points closed"):
        table.add_column(column, justify="left" if column == "block" else "right")
    for name in names:
        cells = [name]
        for kind in kinds:
            t = code["blocks"].get(name, {}).get(kind)
            cells.append(_percent(t["hit"] + t.get("waived", 0), t["total"]) if t else "-")
        f = func.get("blocks", {}).get(name)
        cells.append(_percent(f["hit"] + f.get("waived", 0), f["total"]) if f else "-")
        points = plan.get("blocks", {}).get(name, [])
        cells.append(f"{sum(p['state'] == 'closed' for p in points)}/{len(points)}" if points else "-")
        table.add_row(*cells)
    console.print(table)


def main_cov(console: Console, given: dict[str, str]) -> int:
    """Coverage of a finished regression on the terminal, holes by name (ID=, BLOCKS=)."""
    from scripts.blocks import blocks

    only(given, ("ID", "BLOCKS"), "cov")
    folder = find(given.get("ID") or "last")
    wanted = planning.words(given["BLOCKS"]) if given.get("BLOCKS") else None
    for name in wanted or []:
        blocks().block(name, "BLOCKS")
    _show_coverage(console, folder, wanted)
    holes = _part(folder / "functional.json").get("holes", [])
    for hole in holes:
        if wanted is None or hole["block"] in wanted:
            points = ", ".join(hole["points"])
            console.print(
                f"hole  {hole['block']}: {hole['cover']}: {hole['bin']}  (point {points})",
                highlight=False,
                markup=False,
            )
    console.print(f"annotated source: {rel(folder / 'source')}", highlight=False)
    return EXIT_PASS
