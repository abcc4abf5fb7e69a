# SPDX-License-Identifier: Apache-2.0
"""`make regress` on a toy project: verdicts, exit codes, buckets, waves, resuming, and what bad input gets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.unit import toy

TESTS = """
good = { module = "toytests", cases = ["smoke"], summary = "passes", params = ["default", "wide"] }
bad = { module = "toytests", cases = ["smoke"], summary = "fails", options = { mode = "bad" }, seeds = [3, 4] }
slow = { module = "toytests", cases = ["smoke"], summary = "hangs", options = { mode = "slow" }, run_limit_s = 4 }
none = { module = "toytests", cases = ["smoke"], summary = "no test", options = { mode = "none" }, sims = ["icarus"] }
"""
BLOCKS = toy.BLOCKS + TESTS


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Built once; each test writes a profile of its own."""
    return toy.make(tmp_path_factory.mktemp("toy"), BLOCKS)


def regress(project, profile, *words, name="mine"):
    """A regression with this profile; its exit code, output and results.json."""
    path = project / f"{name}.toml"
    path.write_text('summary = "s"\n' + profile)
    done = toy.cli(project, "regress", f"PROFILE={path}", *words)
    return done.returncode, done.stdout + done.stderr, results(project)


def results(project):
    path = project / "build" / "regress" / "last" / "results.json"
    return json.loads(path.read_text()) if path.exists() else {}


def verdicts(found):
    return {f"{r['job']['test']}/{r['job']['sim']}/{r['job']['seed']}": r["verdict"] for r in found["records"]}


def test_all_good_is_code_0(project):
    code, out, found = regress(project, 'only = ["toy/good"]', "SEEDS=2")
    assert code == 0, out
    assert found["verdict"] == "pass" and found["problems"] == [] and found["counts"] == {"pass": 8}
    assert [b["cached"] for b in found["builds"]] == [False] * 4, "a build a simulator and parameter set, no more"
    folder = project / "build" / "regress" / "last"
    for record in found["records"]:
        assert (folder / record["log"]).is_file()
        assert not list((folder / record["run_dir"]).glob("p[0-9]*")), "the records of a pass are not kept"
    for name in ("index.html", "plan.json", "junit.xml", "buckets.json", "trend.json"):
        assert (folder / name).is_file(), name
    assert "PASS" in out and "index.html" in out


def test_failures_buckets_waves_and_the_repeating_command(project):
    code, out, found = regress(project, 'only = ["toy/bad", "toy/none", "toy/good"]\nsims = ["icarus"]')
    assert code == 1, out
    assert found["counts"] == {"pass": 2, "fail": 3}
    folder = project / "build" / "regress" / "last"
    buckets = json.loads((folder / "buckets.json").read_text())
    assert [(b["count"], b["seed"]) for b in buckets] == [(2, 3), (1, 1)]
    assert "the count is off" in buckets[0]["title"]
    assert (folder / buckets[0]["waves"]).stat().st_size > 100, "the first of each kind runs again with waves"
    waved = json.loads((folder / buckets[0]["waves"]).with_name("run.json").read_text())
    first = next(r for r in found["records"] if r["job"]["number"] == buckets[0]["first"])
    run = json.loads((folder / first["run_dir"] / "run.json").read_text())
    assert waved["seed"] == run["seed"] and waved["waves"] and not run["waves"]
    assert len(list(folder.glob("jobs/*/waves"))) == 2, "one of each kind, not each failure"
    words = buckets[0]["command"].split()
    assert words[:2] == ["make", "sim"]
    again = toy.cli(project, *words[1:])
    assert again.returncode == 1 and "the count is off" in again.stdout, "the command repeats the failure"


def test_a_timeout_says_how_far_it_came(project):
    code, out, found = regress(project, 'only = ["toy/slow"]\nsims = ["icarus"]\n[limits]\nrun_s = 3')
    assert code == 1, out
    (record,) = found["records"]
    assert record["verdict"] == "timeout"
    assert "limit of 3 s" in record["reason"] and "cycle 4,321 of its phase was reached" in record["reason"]
    assert record["cycle"] == 4321 and record["run_s"] < 10


def test_a_build_beyond_its_limit_is_an_error_that_says_so(project):
    rtl = project / "rtl" / "toy.sv"
    good = rtl.read_text()
    rtl.write_text(good + "// another build\n")
    try:
        code, out, found = regress(project, 'only = ["toy/bad"]\nsims = ["verilator"]\n[limits]\nbuild_s = 0.02')
    finally:
        rtl.write_text(good)
    assert code == 1, out
    assert {r["verdict"] for r in found["records"]} == {"error"}
    assert all("building toy for verilator took longer than 0.02 s" in r["reason"] for r in found["records"])


def test_a_build_that_fails_costs_its_own_jobs_only(project):
    broken = project / "rtl" / "toy.sv"
    good = broken.read_text()
    broken.write_text(
        good.replace("#(parameter int W = 8)", "#(parameter int W = 8)\n`ifdef __ICARUS__\noops\n`endif\n")
    )
    try:
        code, out, found = regress(project, 'only = ["toy/good"]')
    finally:
        broken.write_text(good)
    assert code == 1, out
    assert {r["verdict"] for r in found["records"] if r["job"]["sim"] == "icarus"} == {"error"}
    assert {r["verdict"] for r in found["records"] if r["job"]["sim"] == "verilator"} == {"pass"}
    bad = next(r for r in found["records"] if r["verdict"] == "error")
    assert "does not build" in bad["reason"]
    assert (project / "build" / "regress" / "last" / bad["log"]).is_file()


def test_expected_failures_are_strict(project):
    path = project / "spec" / "expected_failures.toml"
    entry = '[[failure]]\nblock = "toy"\ntest = "{}"\nreason = "known"\ndate = 2026-11-30\n'
    try:
        path.write_text(entry.format("bad"))
        code, out, found = regress(project, 'only = ["toy/bad"]\nsims = ["icarus"]')
        assert code == 0, out
        assert found["known_failures"] == 2
        path.write_text(entry.format("good"))
        code, out, found = regress(project, 'only = ["toy/good"]\nsims = ["icarus"]')
        assert code == 1, out
        assert "passed, though it is expected to fail" in found["records"][0]["reason"]
    finally:
        path.unlink()


def start(project, *words):
    """A regression in the background."""
    env = {**os.environ, "MICROHOP_ROOT": str(project)}
    env.pop("PYTEST_CURRENT_TEST", None)
    command = [sys.executable, "-m", "scripts.cli", "regress", *words]
    return subprocess.Popen(command, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(condition, limit_s=60.0):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_ctrl_c_leaves_a_partial_report_and_resume_goes_on(project):
    path = project / "long.toml"
    path.write_text('summary = "s"\nonly = ["toy/good", "toy/slow"]\nsims = ["icarus"]\n[limits]\nrun_s = 8\n')
    child = start(project, f"PROFILE={path}", "JOBS=1")
    folder = project / "build" / "regress"
    mine = lambda: sorted(folder.glob("*-long"))  # noqa: E731
    wait_for(lambda: mine() and list(mine()[-1].glob("jobs/*/record.json")))
    child.send_signal(signal.SIGINT)
    out = child.communicate(timeout=30)[0]
    assert child.returncode == 2, out
    found = results(project)
    assert found["interrupted"] and found["counts"]["notrun"] >= 1 and found["counts"]["pass"] >= 1
    assert (folder / "last" / "index.html").is_file()
    assert "RESUME=1" in out
    before = {r["job"]["number"]: r["attempts"] for r in found["records"] if r["verdict"] == "pass"}
    done = toy.cli(project, "regress", "RESUME=1")
    assert done.returncode == 1, done.stdout + done.stderr
    found = results(project)
    assert "notrun" not in found["counts"] and found["counts"]["timeout"] == 1
    for number, attempts in before.items():
        record = next(r for r in found["records"] if r["job"]["number"] == number)
        assert record["attempts"] == attempts, "what was done is not done again"


def test_resume_refuses_other_sources_and_names_a_corrupt_record(project):
    regress(project, 'only = ["toy/good"]\nsims = ["icarus"]')
    folder = (project / "build" / "regress" / "last").resolve()
    (folder / "jobs" / "00001" / "record.json").write_text('{"job": 5')
    done = toy.cli(project, "regress", "RESUME=1")
    out = done.stdout + done.stderr
    assert done.returncode == 2 and "00001/record.json" in out and "job 1 (toy/good" in out, out
    assert results(project)["counts"] == {"pass": 2}, "it ran again, the rest is there"
    tb = project / "tb" / "tb_toy.sv"
    text = tb.read_text()
    tb.write_text(text + "// changed\n")
    try:
        done = toy.cli(project, "regress", "RESUME=1")
    finally:
        tb.write_text(text)
    assert done.returncode == 2 and "sources have changed" in done.stderr
    done = toy.cli(project, "regress", "RESUME=1", "SEEDS=7")
    assert done.returncode == 2 and "SEEDS=7" in done.stderr and "is planned already" in done.stderr


def test_an_engine_that_does_not_start_leaves_no_regression(project):
    regress(project, 'only = ["toy/good"]\nsims = ["icarus"]')
    folder = project / "build" / "regress"
    before, last = set(folder.iterdir()), (folder / "last").resolve()
    done = toy.cli(
        project, "regress", f"PROFILE={project / 'mine.toml'}", "ENGINE=dask", "DASK=tcp://127.0.0.1:9", "WAIT=2"
    )
    assert done.returncode == 2 and "127.0.0.1:9" in done.stderr, done.stdout + done.stderr
    assert set(folder.iterdir()) == before and (folder / "last").resolve() == last


def test_a_corrupt_file_is_named_with_its_job_and_the_rest_reported(project):
    code, out, _ = regress(project, 'only = ["toy/good"]\nsims = ["verilator"]', "SEEDS=2")
    assert code == 0, out
    folder = (project / "build" / "regress" / "last").resolve()
    before = json.loads((folder / "code_coverage.json").read_text())
    found = results(project)["records"]
    (folder / found[1]["code_coverage"]).write_bytes(b"PK no archive")
    done = toy.cli(project, "report")
    out = done.stdout + done.stderr
    assert done.returncode == 2, out
    assert "job 2 (toy/good/default/verilator/2)" in out and "code_coverage.npz" in out, out
    after = json.loads((folder / "code_coverage.json").read_text())
    assert after["runs"] == before["runs"] - 1 == 3, "the others count"
    assert (folder / "index.html").read_text().count("code_coverage.npz") >= 1, "the page says so too"
    (folder / "results.json").write_text('{"records": [{}')
    done = toy.cli(project, "report")
    assert done.returncode == 2 and "results.json: not the results of a regression" in done.stdout
    assert results(project)["counts"] == {"pass": 4}, "made again from the jobs' own records"


def may_mount():
    """A mount namespace of our own, in which build/regress can be a small disk."""
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="this machine allows no mount namespace: no small disk to fill")
@pytest.mark.parametrize("size_k", [24, 64])
def test_a_full_disk_is_named_and_ends_nothing_else(project, size_k):
    """A disk so small that a run's files (24 KiB) or the report (64 KiB) have no place."""
    path = project / "mine.toml"
    path.write_text('summary = "s"\nonly = ["toy/good"]\nsims = ["icarus"]\n')
    disk = project / "build" / "regress"
    disk.mkdir(parents=True, exist_ok=True)
    inner = (
        f"mount -t tmpfs -o size={size_k}k none {disk} && exec {sys.executable} -m scripts.cli regress PROFILE={path}"
    )
    env = {**os.environ, "MICROHOP_ROOT": str(project)}
    command = ["unshare", "-rm", "sh", "-c", inner]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120, check=False)
    out = done.stdout + done.stderr
    assert done.returncode in (1, 2), out
    assert "No space left on device" in out and "build/regress/" in out, out
    assert "Traceback" not in out, out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["PROFILE=odd.toml"], "odd.toml: blocks: unknown block 'tou'; did you mean 'toy'?"),
        (["PROFILE=smokey"], "unknown profile 'smokey'; did you mean 'smoke'?"),
        (["BLOCKS=tou"], "BLOCKS: unknown block 'tou'; did you mean 'toy'?"),
        (["SIMS=questa"], "SIMS: unknown simulator 'questa'"),
        (["SEEDS=many"], "SEEDS=many: wants a whole number from 1"),
        (["JOBS=0"], "JOBS=0: wants a whole number from 1"),
        (["MUTANTS=few"], "MUTANTS=few: wants a whole number from 0"),
        (["KEEP=2"], "KEEP=2: wants 0 or 1"),
        (["ENGINE=cloud"], "unknown engine 'cloud'"),
        (["RESUME=nothing"], "ID=nothing: no such regression"),
        (["SPEED=1"], "unknown setting 'SPEED'"),
    ],
)
def test_bad_settings_are_code_2(project, words, says):
    profiles = project / "spec" / "profiles"
    profiles.mkdir(exist_ok=True)
    (profiles / "smoke.toml").write_text('summary = "s"\ntests = "smoke"\n')
    (project / "odd.toml").write_text('summary = "s"\nblocks = ["tou"]\n')
    done = toy.cli(project, "regress", *words)
    assert done.returncode == 2
    assert says in done.stderr.replace("\n", " ")
