# SPDX-License-Identifier: Apache-2.0
"""Build a bench once and keep it: a cache keyed by the hash of everything that goes into it.

build/cache/<block>-<sim>-<hash>/ appears in one step (a rename), so that what is there is whole.
Two processes that want the same build make it once: the second waits on a lock and finds it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cocotb_tools import config as cocotb_config

from scripts import tools
from scripts.blocks import Blocks
from scripts.common import CACHE, ROOT, UserError, rel, tail
from scripts.simulators import HARNESS, VerilatorBench, bench_for

FORMAT = 4
"""Counts changes of this file that make older builds unusable."""

COVERAGE_MAX_WIDTH = 256
"""Bits of the widest signal with toggle counters. The fabric with 1,024 (its data paths are 512 bits wide): six
times the points, 2.4 times as long to build and 3 times as long to run; with 256 it has 253,000 points."""
# by name: plain --coverage asks for states of machines too, and Verilator 5.048 then ends with an internal
# error at an array that is written (rtl/common/sync_fifo.sv)
COVERAGE_FLAGS = [
    *("--coverage-line", "--coverage-toggle", "--coverage-expr"),
    *("--coverage-max-width", str(COVERAGE_MAX_WIDTH)),
]

COVERAGE_OFF = ("tb/hdl/*", "rtl/common/latency_tap.sv")
"""No counters there: the bench, and the stamps that it leaves in the design's simulation."""

KEPT_BUILDS = 150
DAY_S = 24 * 3600
INCLUDE_SUFFIXES = (".svh", ".vh")
JUNK = (".o", ".gch", ".a", ".d")


class BuildError(UserError):
    """A bench that does not compile, or not within its limit. `log` is the whole output."""

    def __init__(self, text: str, log: Path) -> None:
        super().__init__(text)
        self.log = log


@dataclass(frozen=True)
class Job:
    """Everything that decides what a build is. Paths are relative to the project."""

    block: str
    sim: str
    top: str
    sources: tuple[str, ...]
    include: tuple[str, ...]
    parameters: tuple[tuple[str, int | str], ...] = ()
    waves: bool = False
    optimize: int = 3
    separate: tuple[str, ...] = ()
    limit_s: float = 600
    bare: bool = False
    """Verilator only: the top under scripts/bench_main.cpp instead of cocotb."""
    coverage: bool = False
    """Verilator only: line, branch, toggle and expression counters in the design's modules."""

    def key(self) -> str:
        """Hash of the sources' content, the included files, parameters, flags and tools."""
        facts: dict[str, object] = {
            "format": FORMAT,
            "sim": tools.simulator_version(self.sim),
            "top": self.top,
            "parameters": self.parameters,
            "waves": self.waves,
            "cocotb": tools.package_version("cocotb"),
            "sources": [(f, _digest(ROOT / f)) for f in self.sources],
            "include": [
                (rel(f), _digest(f))
                for d in self.include
                for f in sorted((ROOT / d).iterdir())
                if f.suffix in INCLUDE_SUFFIXES
            ],
        }
        if self.sim == "verilator":
            # the program is linked against cocotb's libraries by their absolute path
            facts["libs"] = str(cocotb_config.libs_dir)
            facts["cxx"] = tools.output_of(tools.cxx() or "c++", "--version").split("\n")[0]
            facts["host"] = tools.host_id()
            facts["optimize"] = self.optimize
            facts["separate"] = self.separate
            facts["bare"] = _digest(HARNESS) if self.bare else ""
            facts["coverage"] = [*COVERAGE_FLAGS, *COVERAGE_OFF] if self.coverage else False
        text = json.dumps(facts, sort_keys=True, default=list)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Built:
    """A finished build: its folder, whether it was there already, and the seconds it took."""

    job: Job
    path: Path
    cached: bool
    seconds: float


def job_for(
    spec: Blocks,
    name: str,
    sim: str,
    params: str,
    *,
    waves: bool = False,
    coverage: bool = False,
    optimize: int | None = None,
) -> Job:
    """The build of block `name` with the parameter set `params` for simulator `sim`."""
    block = spec.block(name)
    return Job(
        block=name,
        sim=sim,
        top=block.top,
        sources=tuple(spec.sources(name)),
        include=tuple(spec.include_dirs()),
        parameters=tuple(sorted(block.params[params].items())),
        waves=waves,
        optimize=block.optimize if optimize is None else optimize,
        separate=tuple(block.separate),
        limit_s=block.build_limit_s,
        coverage=coverage and sim == "verilator",
    )


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` (created when missing) among all processes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def _public_top(job: Job, folder: Path) -> Path:
    """The Verilator configuration that lets Python see the top's signals, and no others."""
    public = folder / "public.vlt"
    public.write_text(f'`verilator_config\npublic_flat_rw -module "{job.top}" -var "*"\n')
    return public


def _separate(job: Job, folder: Path) -> Path:
    """The Verilator configuration that keeps modules with many instances as classes of their own.

    Verilator would write each instance's code out: the fabric takes three times as long to compile that
    way and runs no faster.
    """
    config = folder / "separate.vlt"
    lines = [f'no_inline -module "{module}"' for module in job.separate]
    config.write_text("\n".join(["`verilator_config", *lines, ""]))
    return config


def _design_only(folder: Path) -> Path:
    """The Verilator configuration that keeps counters out of what is not the design."""
    config = folder / "coverage.vlt"
    lines = [f'coverage_off -file "{file}"' for file in COVERAGE_OFF]
    config.write_text("\n".join(["`verilator_config", *lines, ""]))
    return config


def _arguments(job: Job, folder: Path) -> tuple[list[str | Path], list[str]]:
    """Sources and flags of one build."""
    sources: list[str | Path] = [ROOT / s for s in job.sources]
    if job.sim == "icarus":
        return sources, ["-Wno-timescale"]
    if job.separate:
        sources = [_separate(job, folder), *sources]
    sources = sources if job.bare else [_public_top(job, folder), *sources]
    flags = [
        "--no-timing",
        "--assert",
        "--x-initial",
        "unique",
        "-Wno-fatal",
        "-O3",
        "--output-split",
        "20000",
    ]
    if job.waves:
        flags += ["--trace-fst", "--trace-structs"]
    if job.coverage:
        flags += COVERAGE_FLAGS
        sources = [_design_only(folder), *sources]
    return sources, flags


def _make(job: Job, folder: Path, tick: Callable[[], None] | None) -> None:
    bench = bench_for(job.sim)
    bench.limit_s, bench.tick = job.limit_s, tick
    if isinstance(bench, VerilatorBench):
        bench.optimize, bench.bare = job.optimize, job.bare
    sources, flags = _arguments(job, folder)
    log = folder / "build.log"
    parameters: Mapping[str, object] = {k: f'"{v}"' if isinstance(v, str) else v for k, v in job.parameters}
    try:
        bench.build(
            sources=sources,
            includes=[ROOT / d for d in job.include],
            parameters=parameters,
            build_args=flags,
            hdl_toplevel=job.top,
            build_dir=folder,
            cwd=ROOT,
            always=True,
            timescale=("1ns", "1ps"),
            waves=job.waves,
            log_file=log,
        )
    except RuntimeError:
        kept = CACHE / f"{job.block}-{job.sim}.failed.log"
        shutil.copy(log, kept)
        if bench.timed_out:
            raise BuildError(
                f"building {job.block} for {job.sim} took longer than {job.limit_s:g} s"
                f" (blocks.{job.block}.build_limit_s); output: {rel(kept)}",
                kept,
            ) from None
        raise BuildError(
            f"{job.block} does not build for {job.sim}; output: {rel(kept)}\n" + _errors(kept), kept
        ) from None


def _errors(log: Path) -> str:
    """The lines of a build log that say what is wrong."""
    lines = log.read_text(errors="replace").splitlines()
    wrong = [x for x in lines if "rror" in x and not x.startswith("$ ")]
    return "\n".join((wrong or tail(log, 15))[:15])


def _prune() -> None:
    """Remove builds that were not used for longest, and what interrupted builds left a day ago."""
    now = time.time()
    found = [(p.stat().st_mtime, p) for p in CACHE.iterdir() if p.is_dir()]
    builds = sorted((t, p) for t, p in found if not p.name.startswith("."))
    stale = [p for t, p in found if p.name.startswith(".") and now - t > DAY_S]
    for old in [*(p for _, p in builds[:-KEPT_BUILDS]), *stale]:
        shutil.rmtree(old, ignore_errors=True)


def build(job: Job, tick: Callable[[], None] | None = None) -> Built:
    """The build for `job`, made now or found in the cache.

    Raises BuildError when it does not compile, UserError when a file or a tool is missing.
    """
    start = time.monotonic()
    if not tools.simulator_version(job.sim):
        bench_for(job.sim)  # says what is missing
    name = f"{job.block}-{job.sim}-{job.key()}"
    final = CACHE / name
    if (final / "done.json").is_file():
        os.utime(final)
        return Built(job, final, True, 0.0)
    with locked(CACHE / f".{name}.lock"):
        if (final / "done.json").is_file():
            return Built(job, final, True, time.monotonic() - start)
        partial = CACHE / f".{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            _make(job, partial, tick)
            seconds = time.monotonic() - start
            done = {"block": job.block, "sim": job.sim, "top": job.top, "seconds": seconds}
            (partial / "done.json").write_text(json.dumps(done))
            for junk in partial.iterdir():
                if junk.suffix in JUNK:
                    junk.unlink()
            shutil.rmtree(final, ignore_errors=True)
            partial.rename(final)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    _prune()
    return Built(job, final, False, seconds)
