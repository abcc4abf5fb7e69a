# SPDX-License-Identifier: Apache-2.0
"""The jobs of a regression: blocks x parameter sets x simulators x seeds, from spec/ and the settings."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.blocks import Block, Blocks, Test
from scripts.common import ROOT, SIMULATORS, UserError, one_of
from scripts.regress.profile import ExpectedFailure, Profile
from scripts.regress.records import REGRESS, Job, Plan

SOURCES = ("rtl", "tb", "models", "spec", "tests", "scripts")
MOST_SEEDS = 10_000
SOURCE_SUFFIXES = (".sv", ".svh", ".py", ".toml", ".rdl", ".cpp", ".vlt", ".pcap")


def words(text: str) -> list[str]:
    """A setting that lists names: by comma or space."""
    return text.replace(",", " ").split()


def chosen_blocks(spec: Blocks, profile: Profile, given: str | None) -> list[str]:
    """BLOCKS=, else the profile's, else all."""
    names = words(given) if given else profile.blocks or list(spec.blocks)
    for name in names:
        spec.block(name, "BLOCKS")
    return list(dict.fromkeys(names))


def chosen_sims(profile: Profile, given: str | None) -> list[str]:
    """SIMS=, else the profile's."""
    names = words(given) if given else list(profile.sims)
    for name in names:
        if name not in SIMULATORS:
            raise one_of("simulator", name, SIMULATORS, "SIMS")
    return list(dict.fromkeys(names))


def seeds_of(test: Test, count: int | None) -> list[int]:
    """`count` master seeds of a test: those that it lists, then the numbers after them."""
    seeds = list(test.seeds)
    if count is None:
        return seeds
    following = max(seeds) + 1
    return [*seeds, *range(following, following + max(0, count - len(seeds)))][:count]


def _tests(name: str, block: Block, profile: Profile) -> Iterator[tuple[str, Test]]:
    for test_name, test in block.tests.items():
        if profile.only:
            if f"{name}/{test_name}" in profile.only:
                yield test_name, test
        elif (
            profile.tests == "all"
            or (profile.tests == "make_test" and test.in_make_test)
            or (profile.tests == "smoke" and test_name in block.smoke_tests)
        ):
            yield test_name, test


def _reason(entries: list[ExpectedFailure], job: Job) -> str | None:
    for e in entries:
        wanted = (e.params, e.sim, e.seed)
        have = (job.params, job.sim, job.seed)
        if (e.block, e.test) == (job.block, job.test) and all(
            w is None or w == h for w, h in zip(wanted, have, strict=True)
        ):
            return e.reason
    return None


def jobs(
    spec: Blocks,
    profile: Profile,
    expected: list[ExpectedFailure],
    *,
    blocks: list[str],
    sims: list[str],
    seeds: int | None,
) -> list[Job]:
    """Every job, numbered from 1; simulators innermost, so that the two of a pair run close together."""
    if seeds is not None and seeds > MOST_SEEDS:
        raise UserError(f"SEEDS={seeds}: wants at most {MOST_SEEDS} seeds a test")
    found: list[Job] = []
    for name in blocks:
        block = spec.block(name)
        for test_name, test in _tests(name, block, profile):
            options = {k: v for k, v in profile.options.get(name, {}).items() if k not in test.options}
            for params in test.params:
                for seed in seeds_of(test, seeds):
                    for sim in (s for s in sims if s in test.sims):
                        job = Job(
                            number=len(found) + 1,
                            block=name,
                            test=test_name,
                            params=params,
                            sim=sim,
                            seed=seed,
                            options=options,
                            # a bench alone (no design) has nothing to count
                            coverage=profile.coverage and sim == "verilator" and bool(block.rtl),
                            build_limit_s=profile.limits.build_s or block.build_limit_s,
                            run_limit_s=profile.limits.run_s or test.run_limit_s or block.run_limit_s,
                        )
                        found.append(job.model_copy(update={"expected": _reason(expected, job)}))
    if not found:
        raise UserError(
            f"nothing to run: no test of {', '.join(blocks)} is in this profile for {', '.join(sims)}"
            " (BLOCKS=, SIMS=, PROFILE=)"
        )
    return found


def commit() -> str:
    """The commit that is checked out, with + when something is changed; empty outside git."""
    try:
        run = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 20, "check": False}
        head = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], **run)  # type: ignore[call-overload]
        status = subprocess.run(["git", "status", "--porcelain"], **run)  # type: ignore[call-overload]
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return head.stdout.strip() + ("+" if status.stdout.strip() else "") if head.returncode == 0 else ""


def sources_digest(folders: Iterable[str] = SOURCES) -> str:
    """Hash of everything that decides a job's result: a regression goes on only with the same."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and "__pycache__" not in path.parts:
                total.update(f"{path.relative_to(ROOT)}\n".encode())
                total.update(path.read_bytes())
    return total.hexdigest()[:16]


def new_folder(profile: str) -> Path:
    """A fresh folder build/regress/<id>/; the id is the time and the profile's name."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for n in range(1000):
        folder = REGRESS / (f"{stamp}-{profile}" + (f"-{n}" if n else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as e:
            raise UserError(f"{folder}: cannot be made: {e.strerror}") from None
        return folder
    raise UserError(f"{REGRESS}: no free name for a regression")


def point_last(folder: Path) -> None:
    """build/regress/last -> the newest regression."""
    fresh = REGRESS / f".last.{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder.name)
    fresh.replace(REGRESS / "last")


def make(folder: Path, profile: str, settings: dict[str, str], found: list[Job]) -> Plan:
    """The plan of these jobs."""
    return Plan(
        id=folder.name,
        profile=profile,
        settings=settings,
        started=time.strftime("%Y-%m-%d %H:%M:%S"),
        commit=commit(),
        sources=sources_digest(),
        jobs=found,
    )


def durations(path: Path | None = None) -> dict[str, float]:
    """Seconds that jobs took before, by name; empty where none is known."""
    try:
        data = json.loads((path or REGRESS / "durations.json").read_text())
        return {str(k): float(v) for k, v in data.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
