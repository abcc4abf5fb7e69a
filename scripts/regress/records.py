# SPDX-License-Identifier: Apache-2.0
"""The files of a regression: what is planned, what a job ended with, where each thing lies.

build/regress/<id>/
  plan.json                 Plan: every job, numbered from 1
  jobs/<number>/a<n>/       run directory of attempt n (scripts/run.py lists what is in it)
  jobs/<number>/waves/      the same run again with waves, for the first failure of its kind
  jobs/<number>/record.json Record: what the job ended with; written once, by the process that plans
  results.json, index.html, source/, junit.xml, lcov.info, cobertura.xml, ...   the report
build/regress/last points to the newest. Paths inside records are relative to the regression's folder.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.common import BUILD, UserError, rel
from scripts.report import Figure, Latency
from scripts.run import Request

REGRESS = BUILD / "regress"
Verdict = Literal["pass", "fail", "error", "timeout", "notrun"]
BAD: tuple[Verdict, ...] = ("fail", "error", "timeout")
OptionValue = int | float | str | bool
P = TypeVar("P", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Job(_Part):
    """One run of the plan. `seed` is the master seed, limits are wall-clock seconds."""

    number: int = Field(ge=1)
    block: str
    test: str
    params: str
    sim: str
    seed: int
    options: dict[str, OptionValue] = Field(default_factory=dict)
    coverage: bool = False
    build_limit_s: float
    run_limit_s: float
    expected: str | None = None
    """Reason why this job is known to fail; passing is then the failure."""

    @property
    def name(self) -> str:
        """block/test/params/sim/seed, the job's name for people."""
        return f"{self.block}/{self.test}/{self.params}/{self.sim}/{self.seed}"

    @property
    def build(self) -> str:
        """The build that this job needs, in words; jobs with the same share it."""
        return f"{self.block} {self.params} for {self.sim}" + (", coverage" if self.coverage else "")

    def request(self, *, waves: bool = False) -> Request:
        """The run that this job is."""
        return Request(
            self.block, self.sim, self.params, self.test, self.seed, dict(self.options), waves, self.coverage
        )


class Plan(_Part):
    """All jobs of a regression and what it was asked for."""

    id: str
    profile: str
    settings: dict[str, str] = Field(default_factory=dict)
    started: str
    commit: str = ""
    sources: str = ""
    """Hash of the sources (scripts/regress/plan.py)."""
    jobs: list[Job]


class Attempt(_Part):
    """One time that a job was started: where, when (seconds since the epoch), and how that ended."""

    host: str = ""
    pid: int = 0
    started: float = 0
    ended: str = ""
    """`done`, or what became of its worker."""


class Record(_Part):
    """What a job ended with. `cycle`: the last cycle that the bench reported. Paths: see the module."""

    job: Job
    verdict: Verdict
    reason: str = ""
    lines: list[str] = Field(default_factory=list)
    command: str
    attempts: list[Attempt] = Field(default_factory=list)
    build_s: float = 0
    run_s: float = 0
    wall_s: float = 0
    cycle: int | None = None
    figures: dict[str, Figure] = Field(default_factory=dict)
    latency: Latency = Field(default_factory=Latency)
    digest: str | None = None
    run_dir: str | None = None
    log: str | None = None
    waves: str | None = None
    code_coverage: str | None = None
    """The run's counts (scripts/coverage), None when nothing was measured."""
    functional: str | None = None

    @property
    def bad(self) -> bool:
        """It stands against a green result."""
        return self.verdict in BAD and not (self.verdict == "fail" and self.known)

    @property
    def known(self) -> bool:
        """It failed as it is known to."""
        return self.job.expected is not None and self.verdict == "fail" and not self.reason.startswith(UNEXPECTED)


UNEXPECTED = "passed, though it is expected to fail"


def save(path: Path, part: BaseModel | dict[str, Any]) -> None:
    """Write JSON in one step: what is there is whole."""
    data = part.model_dump(by_alias=True) if isinstance(part, BaseModel) else part
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as e:
        fresh.unlink(missing_ok=True)
        raise UserError(f"{rel(path)}: cannot be written: {e.strerror}") from None


def read(path: Path, kind: type[P]) -> P:
    """Read and check a file of this module; UserError names the file and the field."""
    try:
        return kind.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    except ValueError as e:
        if isinstance(e, ValidationError):
            first = e.errors()[0]
            field = ".".join(str(p) for p in first["loc"])
            raise UserError(f"{rel(path)}: {field or 'file'}: {first['msg']}") from None
        raise UserError(f"{rel(path)}: not JSON: {e}") from None


def job_dir(folder: Path, number: int) -> Path:
    """Where a job's attempts and its record lie."""
    return folder / "jobs" / f"{number:05d}"
