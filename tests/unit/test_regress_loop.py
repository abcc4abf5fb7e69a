# SPDX-License-Identifier: Apache-2.0
"""The loop with an engine that does as it is told: lost workers, late answers, full disks, no job twice."""

from __future__ import annotations

import errno
import json
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from scripts.common import UserError
from scripts.regress import loop as looping
from scripts.regress import main as regress
from scripts.regress import worker
from scripts.regress.engine import Done
from scripts.regress.loop import Loop, done_before
from scripts.regress.records import Job, Plan, Record, job_dir, read
from scripts.regress.report import Report


class Quiet:
    def begin(self, plan, done): ...
    def ended(self, record): ...
    def built(self, name): ...
    def tick(self, running, waiting): ...


class Scripted:
    """`answers(what, number, attempt)` gives a result, a text (the worker is lost), or an exception (work raised)."""

    name, slots = "scripted", 2

    def __init__(self, answers):
        self.answers, self.out, self.seen, self.most = answers, [], Counter(), 0
        self.order = []

    def submit(self, task):
        self.out.append(task)
        self.most = max(self.most, len(self.out))

    def wait(self, timeout_s):
        task = self.out.pop(0)
        what, number = task.payload["do"], task.payload["job"]["number"]
        self.seen[what, number] += 1
        self.order.append((what, number))
        answer = self.answers(what, number, self.seen[what, number])
        if isinstance(answer, BaseException):
            if isinstance(answer, KeyboardInterrupt):
                raise answer
            return [Done(task, None, str(answer), raised=True)]
        return [Done(task, None, answer)] if isinstance(answer, str) else [Done(task, answer)]

    def close(self, kill=False): ...

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace): ...


PASS = {"verdict": "pass", "attempt": {"host": "h", "pid": 1, "started": 1.0, "ended": "done"}, "command": "make sim"}


def plan(count=4, **job):
    fields = {"block": "b", "test": "t", "params": "p", "sim": "icarus", "build_limit_s": 1, "run_limit_s": 1, **job}
    return Plan(id="x", profile="y", started="", jobs=[Job(number=n, seed=n, **fields) for n in range(1, count + 1)])


def run(folder, answers, the_plan=None, before=None):
    engine = Scripted(answers)
    loop = Loop(the_plan or plan(), folder, engine, Quiet(), records=dict(before or {}))
    return loop.run(), loop, engine


def test_one_build_then_its_runs(tmp_path):
    found, _, engine = run(tmp_path, lambda what, n, k: PASS)
    assert [r.verdict for r in found] == ["pass"] * 4
    assert engine.order == [("build", 1), ("run", 1), ("run", 2), ("run", 3), ("run", 4)]
    assert engine.most <= engine.slots + 1, "no more than an idle worker needs: Ctrl-C loses little"
    assert {read(job_dir(tmp_path, n) / "record.json", Record).job.number for n in range(1, 5)} == {1, 2, 3, 4}


def test_a_lost_worker_costs_an_attempt_and_no_job_counts_twice(tmp_path):
    found, _, engine = run(tmp_path, lambda what, n, k: "ended with code -9" if (what, n, k) == ("run", 2, 1) else PASS)
    assert [r.verdict for r in found] == ["pass"] * 4
    assert [a.ended for a in found[1].attempts] == ["ended with code -9", "done"]
    assert engine.seen["run", 2] == 2 and engine.seen["run", 3] == 1


def test_a_job_that_kills_its_workers_is_an_error_and_the_rest_goes_on(tmp_path):
    found, _, engine = run(tmp_path, lambda what, n, k: "ended with code -9" if (what, n) == ("run", 2) else PASS)
    assert [r.verdict for r in found] == ["pass", "error", "pass", "pass"]
    assert engine.seen["run", 2] == looping.ATTEMPTS
    assert "lost 3 times: ended with code -9" in found[1].reason


def test_a_runner_that_raises_is_not_tried_again(tmp_path):
    found, _, engine = run(tmp_path, lambda what, n, k: ValueError("odd") if (what, n) == ("run", 2) else PASS)
    assert found[1].verdict == "error" and "odd" in found[1].reason
    assert engine.seen["run", 2] == 1


def test_a_lost_build_is_tried_again(tmp_path):
    found, _, engine = run(tmp_path, lambda what, n, k: "gone" if what == "build" and k == 1 else PASS)
    assert [r.verdict for r in found] == ["pass"] * 4 and engine.seen["build", 1] == 2


def test_a_bad_build_ends_its_jobs_without_a_run(tmp_path):
    bad = {"verdict": "error", "reason": "b does not build"}
    found, _, engine = run(tmp_path, lambda what, n, k: bad if what == "build" else PASS)
    assert {r.reason for r in found} == {"b does not build"} and engine.order == [("build", 1)]


def test_first_failure_of_a_kind_runs_again_with_waves(tmp_path):
    fail = {**PASS, "verdict": "fail", "reason": "3 beats late", "run_dir": "jobs/1/a1"}

    def answers(what, n, k):
        return (
            {**fail, "reason": f"{n} beats late"}
            if what == "run"
            else {**PASS, **fail, "waves": "w.fst"}
            if what == "waves"
            else PASS
        )

    found, loop, engine = run(tmp_path, answers)
    assert [o for o in engine.order if o[0] == "waves"] == [("waves", 1)]
    assert [r.waves for r in found] == ["w.fst", None, None, None] and loop.problems == []


def test_a_failure_that_waves_do_not_repeat_is_a_problem(tmp_path):
    fail = {**PASS, "verdict": "fail", "reason": "late", "run_dir": "jobs/1/a1"}
    found, loop, _ = run(tmp_path, lambda what, n, k: fail if what == "run" else PASS)
    assert found[0].verdict == "fail"
    assert any("again with waves it ended with pass, not fail" in p for p in loop.problems)


def test_simulators_that_differ_fail(tmp_path):
    two = Plan(id="x", profile="y", started="", jobs=[
        Job(number=n, block="b", test="t", params="p", sim=sim, seed=1, build_limit_s=1, run_limit_s=1)
        for n, sim in ((1, "verilator"), (2, "icarus"))
    ])  # fmt: skip
    found, _, _ = run(tmp_path, lambda what, n, k: {**PASS, "digest": f"d{n}"}, two)
    assert sorted(r.verdict for r in found) == ["fail", "pass"]
    assert any("records differ from those of" in r.reason for r in found)
    found, _, _ = run(tmp_path, lambda what, n, k: {**PASS, "digest": "same"}, two)
    assert [r.verdict for r in found] == ["pass", "pass"]


def test_records_that_differ_are_compared_over_a_resume_and_not_run_for_waves(tmp_path):
    jobs = [
        Job(number=n, block="b", test="t", params="p", sim=sim, seed=1, build_limit_s=1, run_limit_s=1)
        for n, sim in ((1, "verilator"), (2, "icarus"))
    ]
    two = Plan(id="x", profile="y", started="", jobs=jobs)
    before = {1: Record(job=jobs[0], verdict="pass", command="make sim SIM=verilator", digest="d1", run_dir="a1")}
    answer = {**PASS, "digest": "d2", "run_dir": "jobs/2/a1", "command": "make sim SIM=icarus"}
    found, loop, engine = run(tmp_path, lambda what, n, k: answer, two, before)
    assert [r.verdict for r in found] == ["pass", "fail"]
    assert found[1].command == "make sim SIM=verilator; make sim SIM=icarus", "one run alone is green"
    assert engine.order == [("build", 2), ("run", 2)] and loop.problems == []
    found, _, _ = run(tmp_path, lambda what, n, k: {**answer, "digest": "d1"}, two, before)
    assert [r.verdict for r in found] == ["pass", "pass"]


def test_waves_that_an_interruption_took_come_after_the_resume(tmp_path):
    the_plan = plan()
    failed = {**PASS, "verdict": "fail", "reason": "late", "run_dir": "jobs/1/a1"}
    cut = run(tmp_path, lambda what, n, k: KeyboardInterrupt() if what == "waves" else failed, the_plan)[1]
    assert cut.interrupted and not any(r.waves for r in cut.records.values())
    before = {n: r for n, r in cut.records.items() if r.verdict == "fail"}
    found, _, engine = run(tmp_path, lambda what, n, k: {**failed, "waves": "w"}, the_plan, before)
    assert ("waves", min(before)) in engine.order and sum(bool(r.waves) for r in found) == 1
    _, _, engine = run(tmp_path, lambda what, n, k: failed, the_plan, {r.job.number: r for r in found})
    assert engine.order == [], "and once only"


def test_a_task_that_an_engine_moved_by_itself_shows_its_attempts(tmp_path):
    found, _, _ = run(tmp_path, lambda what, n, k: {**PASS, "run_dir": f"jobs/0000{n}/a{2 if n == 3 else 1}"})
    assert [len(r.attempts) for r in found] == [1, 1, 2, 1]
    assert found[2].attempts[0].ended == "its worker was lost"


def test_records_of_another_plan_are_not_taken_on(tmp_path):
    run(tmp_path, lambda what, n, k: PASS, plan())
    problems = []
    assert done_before(tmp_path, plan(test="other"), problems, lambda p: read(p, Record)) == {}
    assert len(problems) == 4 and "is of another plan" in problems[0]


@pytest.mark.parametrize("verdict", ["fail", "timeout", "error", "pass"])
def test_only_a_failure_is_as_expected(verdict):
    record = Record(job=plan(expected="known").jobs[0], verdict=verdict, reason="x", command="c")
    assert record.known == (verdict == "fail")
    assert record.bad == (verdict in ("timeout", "error"))


def test_a_missed_target_is_red(tmp_path):
    records = [Record(job=plan().jobs[0], verdict="pass", command="c")]
    assert Report(tmp_path, plan(), records, []).verdict() == "pass"
    assert Report(tmp_path, plan(), records, [], ["mutants of b miss their target"]).verdict() == "fail"
    assert Report(tmp_path, plan(), records, ["a stale waiver"]).verdict() == "error"


@pytest.fixture
def mutants(monkeypatch):
    """What run_blocks of each block does, by the test."""
    from scripts import mutate

    asked, answers = [], {}

    def run_blocks(console, names, **settings):
        asked.extend(names)
        answer = answers.get(names[0], 0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(mutate, "run_blocks", run_blocks)
    monkeypatch.setattr(mutate, "interrupted", lambda name: answers.get(name) == 130)
    return asked, answers


def two_blocks():
    jobs = [*plan(1, block="one").jobs, plan(2, block="two").jobs[1]]
    return Plan(id="x", profile="y", started="", jobs=jobs)


@pytest.mark.parametrize(
    ("answer", "missed", "cut", "problem", "asked"),
    [
        (0, [], False, "", ["one", "two"]),
        (1, ["mutants of one miss their target"], False, "", ["one", "two"]),
        (UserError("the clean tree is not green"), [], False, "mutants of one: the clean tree", ["one", "two"]),
        (OSError(28, "No space left on device", "x"), [], False, "No space left on device: 'x'", ["one", "two"]),
        (KeyboardInterrupt(), [], True, "", ["one"]),
        (130, [], True, "", ["one"]),
    ],
)
def test_mutants_behind_the_jobs(mutants, answer, missed, cut, problem, asked):
    mutants[1]["one"] = answer
    problems = []
    assert regress._mutate(Console(quiet=True), two_blocks(), 3, 2, problems) == (missed, cut)
    assert mutants[0] == asked, "one block that is red costs the others nothing"
    assert (problem in problems[0]) if problem else problems == []


def test_a_run_with_waves_has_a_longer_limit_and_a_corrupt_count_is_an_error(tmp_path, monkeypatch):
    from scripts import run as runner
    from scripts.coverage import collect

    limits = []

    class Outcome:
        verdict, reason, extra, report = "pass", "", {
            "lines": [], "build_s": 0, "run_s": 1, "cycle": None, "digest": None,
        }, {"figures": {}, "latency": {}}  # fmt: skip

        def __init__(self, request):
            self.request = request

    def execute(spec, request, *, run_dir, limit_s):
        limits.append(limit_s)
        return Outcome(request)

    def corrupt(run_dir):
        raise collect.CoverageError(f"{run_dir}/coverage.dat: cut short")

    monkeypatch.setattr(runner, "execute", execute)
    monkeypatch.setattr(collect, "collect", corrupt)
    job = plan(sim="verilator", coverage=True).jobs[0].model_dump()
    found = worker.work({"do": "run", "job": job, "folder": str(tmp_path), "keep": True})
    assert found["verdict"] == "error" and "coverage.dat: cut short" in found["reason"]
    worker.work({"do": "waves", "job": job, "folder": str(tmp_path), "keep": True})
    assert limits == [1, worker.WAVES_LIMIT_FACTOR]


def test_interrupted(tmp_path):
    found, loop, _ = run(tmp_path, lambda what, n, k: KeyboardInterrupt() if (what, n) == ("run", 3) else PASS)
    assert loop.interrupted
    assert [r.verdict for r in found] == ["pass", "pass", "notrun", "notrun"]


def test_a_late_answer_of_a_job_that_ended_is_dropped(tmp_path):
    class Twice(Scripted):
        def wait(self, timeout_s):
            return [d for d in super().wait(timeout_s) for _ in range(2)]

    class Listening(Quiet):
        def ended(self, record):
            ended.append(record)

    engine, ended = Twice(lambda what, n, k: PASS), []
    Loop(plan(), tmp_path, engine, Listening()).run()
    assert [r.job.number for r in ended] == [1, 2, 3, 4]


def test_a_record_that_cannot_be_written_is_named_and_the_rest_goes_on(tmp_path, monkeypatch):
    real = Path.write_text

    def full(self, *args, **kwargs):
        if "00002" in str(self):
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    found, loop, _ = run(tmp_path, lambda what, n, k: PASS)
    assert [r.verdict for r in found] == ["pass"] * 4
    (problem,) = loop.problems
    assert "job 2 (b/t/p/icarus/2)" in problem and "record.json" in problem and "No space left" in problem


def test_a_worker_on_a_full_disk_gives_the_verdict_error(tmp_path, monkeypatch):
    from scripts import run as runner

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device", "/x/sim.log")

    monkeypatch.setattr(runner, "execute", full)
    job = plan().jobs[0].model_dump()
    found = worker.work({"do": "run", "job": job, "folder": str(tmp_path), "keep": False})
    assert (found["verdict"], found["reason"]) == ("error", "/x/sim.log: No space left on device")
    monkeypatch.setattr(
        runner, "execute", lambda *a, **k: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left"))
    )
    found = worker.work({"do": "run", "job": job, "folder": str(tmp_path), "keep": False})
    assert found["reason"] == f"{job_dir(tmp_path, 1)}: No space left", "a write knows no name: the job's folder"
    json.dumps(found)


def test_records_of_an_earlier_part(tmp_path):
    the_plan = plan()
    run(tmp_path, lambda what, n, k: PASS, the_plan)
    (job_dir(tmp_path, 2) / "record.json").write_text('{"verdict": "pass"}')
    problems = []
    before = done_before(tmp_path, the_plan, problems, lambda p: read(p, Record))
    assert sorted(before) == [1, 3, 4]
    assert len(problems) == 1 and "00002/record.json: job: Field required" in problems[0]
    _, _, engine = run(tmp_path, lambda what, n, k: PASS, the_plan, before)
    assert engine.order == [("build", 2), ("run", 2)]


@pytest.mark.parametrize("place", ["a1", "a2"])
def test_each_attempt_has_a_folder_of_its_own(tmp_path, place):
    if place == "a2":
        (tmp_path / "a1").mkdir()
    assert worker._attempt_dir(tmp_path).name == place
