# SPDX-License-Identifier: Apache-2.0
"""A run with Verilator's counters, from the build to the merged result."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scripts.common import ROOT
from tests.unit import toy

LEAF = """`include "microhop_assert.svh"
module toy_leaf #(parameter int W = 8) (input wire clk, input wire rst, output logic [W-1:0] q);
  logic [511:0] wide;
  logic [15:0] mem [32];
  always_ff @(posedge clk) if (rst) q <= a_pkg::START; else q <= q + 1'b1;
  always_ff @(posedge clk) wide <= {wide[510:0], q[0]};
  always_ff @(posedge clk) if (q[0] && wide[0]) mem[q[4:0]] <= 16'(q);
  `MH_ASSERT(a_small, q < 200)
endmodule
"""
TOP = """
module toy #(parameter int W = 8) (input wire clk, input wire rst, output wire [W-1:0] q);
  wire [W-1:0] q2;
  toy_leaf #(.W(W)) u_one (.clk, .rst, .q);
  toy_leaf #(.W(W)) u_two (.clk, .rst(1'b1), .q(q2));
endmodule
"""
RUNS = """
import json, pathlib, sys
from scripts import blocks
from scripts.coverage.collect import collect
from scripts.coverage.summary import summary
from scripts.regress.records import Job, Record, job_dir
from scripts.run import execute
folder, records = pathlib.Path(sys.argv[1]), []
for n, (params, sim) in enumerate([("default", "verilator"), ("wide", "verilator"), ("default", "icarus")], 1):
    job = Job(number=n, block="toy", test="smoke", params=params, sim=sim, seed=1, coverage=True, build_limit_s=300,
              run_limit_s=60)
    place = job_dir(folder, n) / "a1"
    place.mkdir(parents=True)
    done = execute(blocks.load(), job.request(), run_dir=place)
    counts = collect(place)
    records.append(Record(job=job, verdict=done.verdict, reason=done.reason, command="",
                          code_coverage=str(counts.relative_to(folder)) if counts else None))
summary(folder, records)
print(json.dumps([[r.verdict, r.reason, r.code_coverage] for r in records]))
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    project = toy.make(tmp_path_factory.mktemp("toy"))
    (project / "rtl" / "toy.sv").write_text(LEAF + TOP)
    (project / "rtl" / "microhop_assert.svh").write_text((ROOT / "rtl" / "common" / "microhop_assert.svh").read_text())
    folder = project / "build" / "regress" / "1"
    # the simulator inherits the search path, not this folder
    env = {**os.environ, "MICROHOP_ROOT": str(project), "PYTHONPATH": str(project)}
    env.pop("PYTEST_CURRENT_TEST", None)
    ran = subprocess.run(
        [sys.executable, "-c", RUNS, str(folder)], cwd=project, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout.splitlines()[-1]), json.loads((folder / "code_coverage.json").read_text())


def test_the_runs_pass_and_icarus_has_no_counts(done):
    runs, said = done
    assert [r[0] for r in runs] == ["pass", "pass", "pass"], runs
    assert runs[2][2] is None
    assert said["runs"] == 2
    assert said["errors"] == []


def test_the_design_counts_and_neither_bench_nor_assertions(done):
    said = done[1]
    assert list(said["files"]) == ["rtl/toy.sv"]
    assertion = LEAF.splitlines().index("  `MH_ASSERT(a_small, q < 200)") + 1
    assert all(h["line"] != assertion for h in said["files"]["rtl/toy.sv"]["holes"])
    assert said["totals"]["line"] == {"hit": 3, "total": 3, "waived": 0}
    assert said["totals"]["branch"] == {"hit": 4, "total": 4, "waived": 0}
    assert said["totals"]["expr"] == {"hit": 3, "total": 3, "waived": 0}


def test_instances_are_counted_apart(done):
    one, two = (done[1]["instances"]["tb_toy"][f"tb_toy.dut.{name}"] for name in ("u_one", "u_two"))
    assert one["branch"] == {"hit": 4, "total": 4, "waived": 0}
    assert two["branch"] == {"hit": 3, "total": 4, "waived": 0}


def test_bits_of_all_parameter_sets_count(done):
    holes = [h for h in done[1]["files"]["rtl/toy.sv"]["holes"] if h["kind"] == "toggle" and h["line"] == 2]
    assert [n for h in holes for n in h["names"] if n.startswith("q")] == ["q[3] 1->0", "q[15:4] 0->1, 1->0"]


def test_what_is_too_wide_is_named(done):
    signals = done[1]["not_measured"]["signals"]
    assert [(s["name"], s["bits"]) for s in signals] == [("wide", 512), ("mem", 512)]
    assert done[1]["not_measured"]["wider_than"] == 256
    names = [n for h in done[1]["files"]["rtl/toy.sv"]["holes"] for n in h["names"]]
    assert not any(n.startswith(("wide", "mem")) for n in names if "->" in n and "=>" not in n)
