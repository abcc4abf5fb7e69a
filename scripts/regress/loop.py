# SPDX-License-Identifier: Apache-2.0
"""Takes a plan through an engine: builds first and once, then the runs that wait for them, then waves.

Every job ends with one Record, whatever becomes of its worker: the process that runs this loop alone
writes records, so a job that ran twice (its worker was given up, but lived) counts once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from scripts.common import UserError, rel
from scripts.regress import triage
from scripts.regress.engine import Done, Engine, Task
from scripts.regress.records import UNEXPECTED, Attempt, Job, Plan, Record, job_dir, save

ATTEMPTS = 3
"""Times that a job is given to a worker before its loss is the job's verdict."""
WAIT_S = 0.5
DIFFER = "records differ from"


class Watcher(Protocol):
    """Whoever shows how far a regression is."""

    def begin(self, plan: Plan, done: list[Record]) -> None:
        """It starts, `done` of an earlier part being known."""

    def ended(self, record: Record) -> None:
        """A job ended."""

    def built(self, name: str) -> None:
        """A build ended, well or not."""

    def tick(self, running: list[tuple[str, float]], waiting: int) -> None:
        """Called about twice a second: what runs and since how many seconds, how many tasks wait."""


@dataclass
class Loop:
    """One pass through a plan. `records` by job number; `problems`: what went wrong beside the jobs."""

    plan: Plan
    folder: Path
    engine: Engine
    watcher: Watcher
    known_s: dict[str, float] = field(default_factory=dict)
    keep: bool = False
    records: dict[int, Record] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    builds: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self._queue: deque[Task] = deque()
        self._out: dict[str, tuple[Task, float]] = {}
        self._attempts: dict[str, list[Attempt]] = {}
        self._by_build: dict[str, list[Job]] = {}
        self._build_of: dict[str, str] = {}
        self._job_of: dict[str, Job] = {j_key(j): j for j in self.plan.jobs}
        self._digests: dict[tuple[Any, ...], tuple[str, str, str]] = {}
        self._kinds: set[str] = set()

    def run(self) -> list[Record]:
        """Every job's record, in the plan's order; jobs that an interruption left out are `notrun`."""
        self.watcher.begin(self.plan, list(self.records.values()))
        for number, record in sorted(self.records.items()):
            self.records[number] = self._compare(record)
        for job in self.plan.jobs:
            if job.number not in self.records:
                self._by_build.setdefault(job.build, []).append(job)
        # the longest build first: what waits for it is much, too
        order = sorted(self._by_build.items(), key=lambda b: -self.known_s.get(b[0], 0.0))
        for n, (key, waiting) in enumerate(order):
            task = Task(f"build-{n:04d}", {"do": "build", "job": waiting[0].model_dump()})
            self._build_of[task.key] = key
            self._queue.append(task)
        self._kinds |= {triage.key(r) for r in self.records.values() if r.waves and r.bad}
        # those of an earlier part that was cut off before its waves
        for record in list(self.records.values()):
            self._want_waves(record)
        try:
            self._pump()
        except (KeyboardInterrupt, SystemExit):
            self.interrupted = True
            self.engine.close(kill=True)
        return [self.records.get(j.number) or not_run(j) for j in self.plan.jobs]

    def _pump(self) -> None:
        shown = 0.0
        while self._queue or self._out:
            # a little more than can run: an idle worker finds the next task waiting
            while self._queue and len(self._out) < self.engine.slots + 1:
                task = self._queue.popleft()
                self._out[task.key] = (task, time.monotonic())
                self.engine.submit(task)
            for done in self.engine.wait(WAIT_S):
                self._take(done)
            if time.monotonic() - shown > WAIT_S:
                shown = time.monotonic()
                self.watcher.tick(self._running(), len(self._queue))

    def _running(self) -> list[tuple[str, float]]:
        now = time.monotonic()
        oldest = sorted(self._out.values(), key=lambda t: t[1])[: self.engine.slots]
        return [(self.title(task), now - since) for task, since in oldest]

    def title(self, task: Task) -> str:
        """A task in words."""
        job = Job.model_validate(task.payload["job"])
        if task.payload["do"] == "build":
            return f"build {job.build}"
        return job.name + (" again with waves" if task.payload["do"] == "waves" else "")

    def _take(self, done: Done) -> None:
        entry = self._out.pop(done.task.key, None)
        if entry is None:
            return
        what = done.task.payload["do"]
        result = done.result
        if result is None:
            seen = self._attempts.setdefault(done.task.key, [])
            seen.append(Attempt(ended=done.lost))
            if what != "waves" and not done.raised and len(seen) < ATTEMPTS:
                self._queue.appendleft(done.task)
                return
            times = "" if done.raised else f" {len(seen)} times"
            text = f"its worker failed: {done.lost}" if done.raised else f"its worker was lost{times}: {done.lost}"
            result = {"verdict": "error", "reason": text}
        if what == "build":
            self._built(done.task, result)
        elif what == "run":
            self._ran(done.task, result)
        else:
            self._waves(done.task, result)

    def _built(self, task: Task, result: dict[str, Any]) -> None:
        waiting = self._by_build[self._build_of[task.key]]
        self.builds.append(
            {
                "name": self._build_of[task.key],
                "verdict": result["verdict"],
                "seconds": result.get("build_s", result.get("wall_s", 0.0)),
                "cached": result.get("cached", False),
            }
        )
        self.watcher.built(self._build_of[task.key])
        if result["verdict"] != "pass":
            for job in waiting:
                self._finish(job, {**result, "log": self._inside(job, result.get("log"))}, [])
            return
        runs = [self._run_task(job, "run") for job in waiting]
        # the longest first, so that the workers end together; runs come before builds that nobody waits for
        runs.sort(key=lambda t: -self.known_s.get(Job.model_validate(t.payload["job"]).name, 0.0))
        self._queue.extendleft(reversed(runs))

    def _run_task(self, job: Job, what: str) -> Task:
        prefix = "waves" if what == "waves" else "run"
        payload = {"do": what, "job": job.model_dump(), "folder": str(self.folder), "keep": self.keep}
        return Task(f"{prefix}-{job.number:05d}", payload)

    def _inside(self, job: Job, log: str | None) -> str | None:
        """A build's log, copied to the job: the cache's own is written over by the next failure."""
        if not log:
            return None
        place = job_dir(self.folder, job.number) / "build.log"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(Path(log).read_bytes())
        except OSError as e:
            self.problems.append(f"job {job.number} ({job.name}): {e.filename}: {e.strerror}")
            return None
        return str(place.relative_to(self.folder))

    def _ran(self, task: Task, result: dict[str, Any]) -> None:
        job = Job.model_validate(task.payload["job"])
        attempts = [*self._attempts.get(task.key, [])]
        # an engine that gives a lost worker's task to another by itself says nothing of it; the folders do
        place = Path(result.get("run_dir") or "a1").name
        while place[1:].isdecimal() and len(attempts) < int(place[1:]) - 1:
            attempts.append(Attempt(ended="its worker was lost"))
        if "attempt" in result:
            attempts.append(Attempt.model_validate(result["attempt"]))
        self._finish(job, result, attempts)

    def _finish(self, job: Job, result: dict[str, Any], attempts: list[Attempt]) -> None:
        fields = {k: v for k, v in result.items() if k in Record.model_fields and k != "attempts"}
        fields.setdefault("command", job.request().command)
        record = Record(job=job, attempts=attempts, **fields)
        if job.expected is not None and record.verdict == "pass":
            record = record.model_copy(
                update={"verdict": "fail", "reason": f"{UNEXPECTED}: {job.expected} (spec/expected_failures.toml)"}
            )
        record = self._compare(record)
        self.records[job.number] = record
        try:
            save(job_dir(self.folder, job.number) / "record.json", record)
        except UserError as e:
            self.problems.append(f"job {job.number} ({job.name}): {e}")
        self.watcher.ended(record)
        self._want_waves(record)

    def _want_waves(self, record: Record) -> None:
        """The first failure of each kind runs again; a run that is green by itself has nothing to show."""
        alone_green = record.reason.startswith((DIFFER, UNEXPECTED))
        if record.verdict not in ("fail", "timeout") or not record.bad or not record.run_dir or alone_green:
            return
        if (kind := triage.key(record)) not in self._kinds:
            self._kinds.add(kind)
            self._queue.appendleft(self._run_task(record.job, "waves"))

    def _compare(self, record: Record) -> Record:
        """Both simulators must record the same bytes at the same cycles; the second one pays."""
        if record.verdict != "pass" or record.digest is None:
            return record
        j = record.job
        pair = (j.block, j.test, j.params, j.seed, tuple(sorted(j.options.items())))
        sim, digest, command = self._digests.setdefault(pair, (j.sim, record.digest, record.command))
        if digest == record.digest:
            return record
        return record.model_copy(
            update={
                "verdict": "fail",
                "reason": f"{DIFFER} those of {sim} with the same stimulus (hashes {record.digest}, {digest})",
                "command": f"{command}; {record.command}",
            }
        )

    def _waves(self, task: Task, result: dict[str, Any]) -> None:
        job = Job.model_validate(task.payload["job"])
        record = self.records[job.number]
        same = result["verdict"] == record.verdict
        if not same:
            said = result.get("reason") or "nothing"
            self.problems.append(
                f"job {job.number} ({job.name}): again with waves it ended with {result['verdict']}, not"
                f" {record.verdict}: {said}"
            )
        self.records[job.number] = record.model_copy(update={"waves": result.get("waves")})
        try:
            save(job_dir(self.folder, job.number) / "record.json", self.records[job.number])
        except UserError as e:
            self.problems.append(f"job {job.number} ({job.name}): {e}")


def j_key(job: Job) -> str:
    """A job's task."""
    return f"run-{job.number:05d}"


def not_run(job: Job) -> Record:
    """The record of a job that nobody came to."""
    return Record(job=job, verdict="notrun", reason="not run", command=job.request().command)


def done_before(folder: Path, plan: Plan, problems: list[str], read: Callable[[Path], Record]) -> dict[int, Record]:
    """Records that an earlier part of this regression left; a corrupt one is named and its job runs again."""
    found: dict[int, Record] = {}
    for job in plan.jobs:
        path = job_dir(folder, job.number) / "record.json"
        if not path.exists():
            continue
        try:
            record = read(path)
        except UserError as e:
            problems.append(f"job {job.number} ({job.name}): {e}; it runs again")
            continue
        if record.job != job:
            problems.append(f"job {job.number} ({job.name}): {rel(path)}: job: is of another plan; it runs again")
            continue
        found[job.number] = record
    return found
