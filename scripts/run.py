# SPDX-License-Identifier: Apache-2.0
"""One test run: one simulator process with a wall-clock limit, its run directory and its verdict.

Verdicts: `pass`; `fail` (a check failed, the simulator died, a figure missed its target, no test ran,
or no results were left); `timeout` (killed at its wall-clock limit); `error` (it could not be built
or started).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import xml.etree.ElementTree as ET
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from scripts import build as builder
from scripts import report as reports
from scripts.blocks import Blocks, Test
from scripts.common import EXIT_ERROR, EXIT_FAIL, EXIT_PASS, LAST, ROOT, RUNS, UserError, rel
from scripts.report import Result, Verdict
from scripts.runlog import LogFollower, hdl_stop, raised, read_xml, telling_lines
from scripts.simulators import Bench, bench_for

EXIT_CODES: dict[str, int] = {
    "pass": EXIT_PASS,
    "fail": EXIT_FAIL,
    "timeout": EXIT_FAIL,
    "error": EXIT_ERROR,
}
KEPT_RUNS = 300
CUT_SHORT = "simulation ended prematurely"
OptionValue = int | float | str | bool


class Watcher(Protocol):
    """Whoever shows a run's progress."""

    def phase(self, name: str) -> None:
        """A new phase began: build, run."""

    def update(self, progress: dict[str, Any] | None) -> None:
        """Called a few times a second; `progress` is the bench's last progress line, if any."""


class Silent:
    """Shows nothing."""

    def phase(self, name: str) -> None:
        """Nothing to show."""

    def update(self, progress: dict[str, Any] | None) -> None:
        """Nothing to show."""


@dataclass(frozen=True)
class Request:
    """What to run. `seed` is the master seed; the test's own is `test_seed`."""

    block: str
    sim: str
    params: str
    test: str
    seed: int
    options: dict[str, OptionValue] = field(default_factory=dict)
    """Only those that differ from the test's defaults."""
    waves: bool = False
    coverage: bool = False
    """Verilator only: a build with code coverage; its counts are left in <run_dir>/coverage.dat."""

    @property
    def test_seed(self) -> int:
        """This test's seed: from the master seed and its name, whatever else runs before it.

        The simulator is not part of it: both get the same stimulus.
        """
        name = f"{self.seed}/{self.block}/{self.test}/{self.params}"
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") >> 1

    @property
    def command(self) -> str:
        """The one command that repeats this run."""
        text = f"make sim BLOCK={self.block} SIM={self.sim} TEST={self.test} SEED={self.seed} PARAMS={self.params}"
        if self.options:
            pairs = " ".join(f"{k}={_plain(v)}" for k, v in self.options.items())
            text += f' OPTIONS="{pairs}"'
        return text


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and where everything about it is."""

    request: Request
    verdict: Verdict
    reason: str
    run_dir: Path
    report: dict[str, Any]
    extra: dict[str, Any]
    result: Result

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail or timeout, 2 could not run."""
        return EXIT_CODES[self.verdict]


def _plain(value: OptionValue) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def all_options(spec: Blocks, request: Request) -> dict[str, OptionValue]:
    """Every option's value: block's default, then the test's, then the request's."""
    block = spec.block(request.block)
    values: dict[str, OptionValue] = {n: o.default for n, o in block.options.items()}
    values.update(block.tests[request.test].options)
    values.update(request.options)
    return values


def _new_run_dir(request: Request) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    name = f"{request.block}-{request.sim}-{request.params}-{request.test}-{request.seed}-{stamp}"
    RUNS.mkdir(parents=True, exist_ok=True)
    for n in range(1000):
        path = RUNS / (f"{name}-{n}" if n else name)
        with suppress(FileExistsError):
            path.mkdir()
            return path
    raise UserError(f"{rel(RUNS)}: no free name for a run; `make clean` removes old runs")


def _point_last(run_dir: Path) -> None:
    fresh = LAST.with_name(f".last.{os.getpid()}")
    with suppress(FileNotFoundError):
        fresh.unlink()
    fresh.symlink_to(run_dir.relative_to(LAST.parent))
    fresh.replace(LAST)


def _prune() -> None:
    """Remove the oldest runs beyond KEPT_RUNS, so that build/ does not grow for ever."""
    runs = sorted((p for p in RUNS.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
    for old in runs[:-KEPT_RUNS]:
        shutil.rmtree(old, ignore_errors=True)


def _simulate(
    built: builder.Built, request: Request, test: Test, run_dir: Path, limit_s: float, watcher: Watcher
) -> tuple[Bench, int | None]:
    bench = bench_for(request.sim)
    log = run_dir / "sim.log"
    bench.limit_s = limit_s
    follower = LogFollower(log, watcher.update)
    bench.tick = follower.tick
    plusargs = [f"+run_dir={run_dir}"]
    if test.taps:
        (run_dir / "taps").mkdir()
        plusargs.append("+taps")
    test_args: list[str] = []
    if request.waves:
        if request.sim == "verilator":
            test_args += ["--trace-file", str(run_dir / "waves.fst")]
        else:
            plusargs.append(f"+dumpfile_path={run_dir / 'waves.fst'}")
    if built.job.coverage:
        test_args.append("--coverage-per-instance")  # else the instances of a module are one sum
    # pytest's variable would make cocotb's runner rename and judge the results itself
    under_pytest = os.environ.pop("PYTEST_CURRENT_TEST", None)
    try:
        bench.test(
            test_module=test.module,
            test_filter=case_filter(test.cases or [request.test]),
            hdl_toplevel=built.job.top,
            hdl_toplevel_lang="verilog",
            build_dir=built.path,
            test_dir=run_dir,
            results_xml=str(run_dir / "results.xml"),
            seed=request.test_seed,
            waves=request.waves,
            test_args=test_args,
            plusargs=plusargs,
            log_file=log,
            extra_env={
                "MICROHOP_RUN": str(run_dir / "run.json"),
                "MICROHOP_ROOT": str(ROOT),
                "PYTHONUNBUFFERED": "1",
                "PYTHONHASHSEED": "0",
                "COCOTB_TRUST_INERTIAL_WRITES": "1",
                "NO_COLOR": "1",
            },
        )
    except (RuntimeError, SystemExit):
        pass  # judged by what it left behind: bench.returncode, bench.timed_out, the results
    finally:
        if under_pytest is not None:
            os.environ["PYTEST_CURRENT_TEST"] = under_pytest
    follower.tick()
    return bench, (follower.latest or {}).get("cycle")


def case_filter(cases: list[str]) -> str:
    """cocotb's filter that selects exactly these tests of a module."""
    return r"\.(" + "|".join(re.escape(c) for c in cases) + ")$"


def records_digest(run_dir: Path) -> str | None:
    """Hash of everything that the bench's monitors recorded, cycles included; None when nothing was.

    The same request on another simulator must give the same.
    """
    records = sorted(p for p in run_dir.glob("p*/*") if p.suffix in (".rec", ".evt"))
    if not records:
        return None
    total = hashlib.sha256()
    for path in records:
        total.update(f"{path.relative_to(run_dir)} {path.stat().st_size}\n".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def judge(run_dir: Path, returncode: int, timed_out: bool, limit_s: float) -> tuple[Verdict, str, Result]:
    """The verdict of a finished simulation, the reason, and what the bench left (may be empty)."""
    result = Result()
    bad_result = ""
    try:
        result = reports.read_result(run_dir / "result.json")
    except reports.BadResult as e:
        bad_result = str(e)
    if timed_out:
        return "timeout", f"killed at its limit of {limit_s:g} s of wall-clock time", result
    died = f"the simulator ended with code {returncode}"
    try:
        ran, failures = read_xml(run_dir / "results.xml")
    except (OSError, ET.ParseError):
        why = raised(run_dir)
        return "fail", f"no results file: {died}" + (f"; {why}" if why else ""), result
    if failures:
        first = failures[0].splitlines()[0]
        return "fail", hdl_stop(run_dir) or first if CUT_SHORT in first else first, result
    if ran == 0:
        return "fail", "no test ran", result
    if returncode != 0:
        return "fail", died, result
    if bad_result:
        return "fail", bad_result, result
    if result.latency.mismatched:
        return "fail", f"{result.latency.mismatched} events differ from the model", result
    for name, f in result.figures.items():
        if f.passed is False:
            return "fail", f"{name}: {f.value:g} {f.unit} misses its target {f.target} {f.unit}", result
    return "pass", "", result


def execute(
    spec: Blocks,
    request: Request,
    watcher: Watcher | None = None,
    *,
    run_dir: Path | None = None,
    limit_s: float | None = None,
) -> Outcome:
    """Build what `request` needs, run it, judge it, and leave its report.

    `run_dir`: an empty folder for everything about the run; none: a new one under build/runs, to which
    build/last then points. `limit_s`: wall-clock limit of the run instead of the test's own.
    Never raises for a test that fails or does not build; UserError for a request that makes no sense.
    """
    watcher = watcher or Silent()
    block = spec.block(request.block)
    test = block.tests[request.test]
    limit_s = limit_s or test.run_limit_s or block.run_limit_s
    own_place = run_dir is None
    run_dir = run_dir or _new_run_dir(request)
    log = run_dir / "sim.log"
    run = {
        "block": request.block,
        "sim": request.sim,
        "params": {"name": request.params, "values": block.params[request.params]},
        "test": request.test,
        "module": test.module,
        "seed": request.test_seed,
        "master_seed": request.seed,
        "options": all_options(spec, request),
        "waves": request.waves,
        "run_dir": str(run_dir),
        "command": request.command,
    }
    (run_dir / "run.json").write_text(json.dumps(run, indent=1) + "\n")

    verdict: Verdict
    result = Result()
    build_s = run_s = 0.0
    cycle: int | None = None
    try:
        watcher.phase("build")
        job = builder.job_for(
            spec, request.block, request.sim, request.params, waves=request.waves, coverage=request.coverage
        )
        built = builder.build(job, lambda: watcher.update(None))
        build_s = built.seconds
    except builder.BuildError as e:
        verdict, reason = "error", str(e)
        shutil.copy(e.log, log)
    else:
        watcher.phase("run")
        bench, cycle = _simulate(built, request, test, run_dir, limit_s, watcher)
        run_s = bench.seconds
        verdict, reason, result = judge(run_dir, bench.returncode, bench.timed_out, limit_s)
        if verdict == "timeout":
            reason += f"; {'no cycle was reported' if cycle is None else f'cycle {cycle:,} of its phase was reached'}"

    result.artifacts.setdefault("log", rel(log))
    if (run_dir / "waves.fst").exists():
        result.artifacts.setdefault("waves", rel(run_dir / "waves.fst"))
    for name, path in result.artifacts.items():
        inside = run_dir / path
        result.artifacts[name] = rel(inside) if inside.exists() else rel(path)
    if result.cycles and run_s and "sim_cycles_per_s" not in result.figures:
        result.figures["sim_cycles_per_s"] = reports.Figure(
            value=round(result.cycles / run_s),
            unit="cycles/s",
            conditions={"simulator": request.sim, "cycles": result.cycles},
        )
    fields = reports.report_fields(run, verdict, result)
    extra = {
        "reason": reason,
        "lines": telling_lines(run_dir) if verdict in ("fail", "timeout") else [],
        "notes": result.notes,
        "main_path": result.main_path,
        "digest": records_digest(run_dir),
        "build_s": build_s,
        "run_s": run_s,
        "cycle": cycle,
    }
    (run_dir / "outcome.json").write_text(json.dumps({"verdict": verdict, **extra}, indent=1) + "\n")
    reports.write(run_dir, fields, extra)
    if own_place:
        _point_last(run_dir)
        _prune()
    return Outcome(request, verdict, reason, run_dir, fields, extra, result)
