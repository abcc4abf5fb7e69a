# SPDX-License-Identifier: Apache-2.0
"""The runner on a toy project: verdicts, exit codes, the cache, what a run leaves behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.run import judge
from tests.unit import toy

REPORT = {
    "block", "simulator", "params", "seed", "test", "verdict", "command", "figures", "latency", "stages", "artifacts",
}  # fmt: skip
GOOD_XML = '<testsuites><testsuite><testcase name="a"/></testsuite></testsuites>'
BAD_XML = (
    '<testsuites><testsuite><testcase name="a"><failure message="off by one"/></testcase></testsuite></testsuites>'
)
NO_XML = '<testsuites><testsuite><testcase name="a"><skipped/></testcase></testsuite></testsuites>'


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return toy.make(tmp_path_factory.mktemp("toy"))


def builds(project):
    return sorted(p.name for p in (project / "build" / "cache").iterdir() if not p.name.startswith("."))


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_a_run_leaves_its_report(project, sim):
    done = toy.cli(project, "sim", f"SIM={sim}", "COUNT=5")
    assert done.returncode == 0, done.stdout + done.stderr
    report = toy.last(project)
    assert set(report) == REPORT
    assert report["verdict"] == "pass"
    assert (report["block"], report["simulator"], report["params"], report["seed"]) == ("toy", sim, "default", 7)
    assert report["latency"] == {"checked": 4, "mismatched": 0, "bounded": 0}
    figures = report["figures"]
    assert set(figures["hop_ns"]) == {"value", "unit", "target", "pass", "conditions"}
    assert set(figures) == {"hop_ns", "sim_cycles_per_s"}
    stage = {"path", "name", "cycles", "ns", "budget_ns", "model_cycles", "kind", "mark"}
    assert [set(s) for s in report["stages"]] == [stage, stage]
    assert set(report["artifacts"]) == {"report", "capture", "waves", "log"}
    for name in ("report", "capture", "log"):
        assert (project / report["artifacts"][name]).is_file()
    page = (project / "build" / "last" / "report.html").read_text()
    assert "<svg" in page
    assert "make sim BLOCK=toy" in page
    assert not re.search(r'(src|href)="http', page), "the page must stand alone"
    for word in ("hop_ns", "PASS", "phy", "core", "repeat", report["command"]):
        assert word in done.stdout


def test_the_same_records_on_both_simulators(project):
    digests = []
    for sim in ("icarus", "verilator"):
        assert toy.cli(project, "sim", f"SIM={sim}").returncode == 0
        digests.append(toy.last(project, "outcome.json")["digest"])
    assert digests[0] == digests[1] is not None


@pytest.mark.parametrize(
    ("mode", "said"),
    [("bad", "the count is off"), ("silent", "left no result.json"), ("none", "no test ran")],
)
def test_what_fails(project, mode, said):
    done = toy.cli(project, "sim", "SIM=icarus", f"MODE={mode}")
    assert done.returncode == 1
    assert said in done.stdout
    assert f'make sim BLOCK=toy SIM=icarus TEST=smoke SEED=7 PARAMS=default OPTIONS="mode={mode}"' in done.stdout
    assert toy.last(project)["verdict"] == "fail"


def test_limit_ends_a_run(project):
    spec = project / "spec" / "blocks.toml"
    text = spec.read_text()
    try:
        spec.write_text(text.replace("run_limit_s = 30", "run_limit_s = 2"))
        start = time.monotonic()
        done = toy.cli(project, "sim", "SIM=icarus", "MODE=slow")
        assert time.monotonic() - start < 50
    finally:
        spec.write_text(text)
    assert done.returncode == 1
    assert toy.last(project)["verdict"] == "timeout"
    assert "killed at its limit of 2 s" in done.stdout


def test_bad_input_is_code_2_and_one_message(project):
    done = toy.cli(project, "sim", "BLOCK=tou")
    assert done.returncode == 2
    assert "did you mean 'toy'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["sim", "bench", "test"])
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("value = 50, ", "", "timing.fo4_ceiling: field 'value' is missing"),
        ("value = 50", "value = -50", "timing.fo4_ceiling: value is -50; allowed"),
        ("[clock]", "[clocks]", "clock.period_ns: missing"),
    ],
)
def test_a_bad_figure_ends_every_verb_before_a_build(tmp_path, verb, old, new, says):
    project = toy.make(tmp_path)
    spec = project / "spec" / "fabric.toml"
    spec.write_text(spec.read_text().replace(old, new))
    done = toy.cli(project, verb)
    assert done.returncode == 2
    assert says in done.stderr.replace("\n", " ")
    assert "fabric.toml" in done.stderr and "Traceback" not in done.stderr + done.stdout
    assert not (project / "build" / "cache").exists()


def test_a_missing_simulator_is_named(project, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = toy.cli(project, "sim", "SIM=icarus")
    assert done.returncode == 2
    assert "Icarus Verilog is missing" in done.stderr + done.stdout


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_cache_hits_and_misses(tmp_path, sim):
    project = toy.make(tmp_path)
    assert toy.cli(project, "sim", f"SIM={sim}").returncode == 0
    first = builds(project)
    assert len(first) == 1
    rtl = project / "rtl" / "toy.sv"
    # touched, and another seed: the same build
    rtl.write_text(rtl.read_text())
    assert toy.cli(project, "sim", f"SIM={sim}", "SEED=3").returncode == 0
    assert builds(project) == first
    # other parameters, other content of the source, other included file: other builds
    assert toy.cli(project, "sim", f"SIM={sim}", "PARAMS=wide").returncode == 0
    assert len(builds(project)) == 2
    (project / "rtl" / "new.svh").write_text("// included by nobody yet\n")
    assert toy.cli(project, "sim", f"SIM={sim}").returncode == 0
    assert len(builds(project)) == 3


def test_builds_long_unused_go(tmp_path, monkeypatch):
    from scripts import build

    monkeypatch.setattr(build, "CACHE", tmp_path)
    monkeypatch.setattr(build, "KEPT_BUILDS", 2)
    for age, name in enumerate(["new", "mid", "old", ".partial", ".fresh"]):
        (tmp_path / name).mkdir()
        days = {".partial": 3, ".fresh": 0}.get(name, age)
        os.utime(tmp_path / name, (time.time() - days * build.DAY_S,) * 2)
    build._prune()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".fresh", "mid", "new"]


def test_no_build_is_an_error(tmp_path):
    project = toy.make(tmp_path)
    (project / "rtl" / "toy.sv").write_text(toy.RTL.replace("endmodule", ""))
    for sim in ("icarus", "verilator"):
        done = toy.cli(project, "sim", f"SIM={sim}")
        assert done.returncode == 2, done.stdout
        assert toy.last(project)["verdict"] == "error"
        assert "does not build" in done.stdout
        assert "toy.sv" in done.stdout
    assert builds(project) == ["toy-icarus.failed.log", "toy-verilator.failed.log"]


def test_two_processes_make_one_build(tmp_path):
    project = toy.make(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda n: toy.cli(project, "sim", "SIM=icarus", f"SEED={n}"), (1, 2)))
    assert [d.returncode for d in done] == [0, 0]
    assert len(builds(project)) == 1
    assert len(list((project / "build" / "runs").iterdir())) == 2


def test_waves(tmp_path):
    project = toy.make(tmp_path)
    assert toy.cli(project, "sim", "SIM=icarus", "WAVES=1").returncode == 0
    waves = toy.last(project)["artifacts"]["waves"]
    assert (project / waves).stat().st_size > 100


@pytest.mark.parametrize(
    ("xml", "result", "code", "timed_out", "verdict", "said"),
    [
        (GOOD_XML, {}, 0, False, "pass", ""),
        (None, {}, 0, False, "fail", "no results file"),
        (None, {}, -6, False, "fail", "ended with code -6"),
        ("<broken", {}, 0, False, "fail", "no results file"),
        (NO_XML, {}, 0, False, "fail", "no test ran"),
        (BAD_XML, {}, 0, False, "fail", "off by one"),
        (GOOD_XML, None, 0, False, "fail", "no result.json"),
        (GOOD_XML, {"latency": {"checked": -1}}, 0, False, "fail", "latency.checked"),
        (GOOD_XML, {"latency": {"checked": 9, "mismatched": 2}}, 0, False, "fail", "2 events differ"),
        (GOOD_XML, {}, 1, False, "fail", "ended with code 1"),
        (GOOD_XML, {}, -9, True, "timeout", "killed"),
        (
            GOOD_XML,
            {"figures": {"hop_ns": {"value": 300, "unit": "ns", "target": 260, "pass": False}}},
            0,
            False,
            "fail",
            "hop_ns: 300 ns misses its target 260",
        ),
    ],
)
def test_verdicts(tmp_path, xml, result, code, timed_out, verdict, said):
    if xml is not None:
        (tmp_path / "results.xml").write_text(xml)
    if result is not None:
        (tmp_path / "result.json").write_text(json.dumps(result))
    found, reason, _ = judge(tmp_path, code, timed_out, 5)
    assert found == verdict
    assert said in reason


def test_an_assertions_own_words_are_the_reason(tmp_path):
    project = toy.make(tmp_path)
    rtl = project / "rtl" / "toy.sv"
    bad = 'always_ff @(posedge clk) if (!rst && q == 5) $fatal(1, "five came");\nendmodule'
    rtl.write_text(rtl.read_text().replace("endmodule", bad))
    for sim in ("icarus", "verilator"):
        done = toy.cli(project, "sim", f"SIM={sim}")
        assert done.returncode == 1
        assert "five came" in toy.last(project, "outcome.json")["reason"]


def test_verilator_waves_want_their_headers(tmp_path):
    """Skipped where lz4's header is not installed: `make sim WAVES=1` installs it first."""
    from scripts import needs

    if needs.NEEDS["lz4"].found() is None or shutil.which("g++") is None:
        pytest.skip("no lz4.h: only make sim WAVES=1 installs it")
    project = toy.make(tmp_path)
    assert toy.cli(project, "sim", "WAVES=1").returncode == 0
    assert (project / toy.last(project)["artifacts"]["waves"]).stat().st_size > 100
