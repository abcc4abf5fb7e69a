# SPDX-License-Identifier: Apache-2.0
"""A project of one block in a folder of its own, and a simulator that misbehaves as it is told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from scripts.common import ROOT

BLOCKS = """
seed = 7
default_block = "toy"
include = ["rtl"]
[sets]
common = ["rtl/a_pkg.sv"]
[blocks.toy]
summary = "a toy"
rtl = ["rtl/toy.sv", "@common"]
tb = ["tb/tb_toy.sv"]
top = "tb_toy"
default_test = "smoke"
run_limit_s = 30
[blocks.toy.params]
default = { W = 8 }
wide = { W = 16 }
[blocks.toy.options]
mode = { type = "str", default = "good", summary = "what to do", choices = ["good", "silent", "none", "bad", "slow"] }
count = { type = "int", default = 10, min = 1, max = 100, summary = "edges" }
[blocks.toy.tests]
smoke = { module = "toytests", summary = "counts", params = ["default", "wide"] }
only_icarus = { module = "toytests", summary = "counts", sims = ["icarus"], in_make_test = false }
"""
FIGURES = """
[clock]
period_ns = { value = 1.0, unit = "ns", mark = "A", source = "a toy" }
[timing]
fo4_ceiling = { value = 50, unit = "fo4", mark = "A", source = "a toy" }
"""
RTL = """
module toy #(parameter int W = 8) (input wire clk, input wire rst, output logic [W-1:0] q);
  always_ff @(posedge clk) if (rst) q <= a_pkg::START; else q <= q + 1'b1;
endmodule
"""
TB = """
module tb_toy #(parameter int W = 8) (input wire clk, input wire rst, output wire [W-1:0] q);
  toy #(.W(W)) dut (.*);
endmodule
"""
TESTS = """
import json, os, pathlib, time
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

RUN = json.loads(pathlib.Path(os.environ["MICROHOP_RUN"]).read_text())

@cocotb.test()
async def other(dut):
    raise AssertionError("only the test that was asked for may run")

@cocotb.test(name="elsewhere" if RUN["options"]["mode"] == "none" else "smoke")
async def smoke(dut):
    mode, n = RUN["options"]["mode"], RUN["options"]["count"]
    Clock(dut.clk, 1, "ns").start()
    dut.rst.value = 1
    await ClockCycles(dut.clk, 2)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    await ClockCycles(dut.clk, n)
    await FallingEdge(dut.clk)
    assert int(dut.q.value) == 1 + n + (mode == "bad"), "the count is off"
    assert len(dut.q) == RUN["params"]["values"]["W"]
    if mode == "slow":
        print('@progress {"phase": 0, "done": 0, "total": 1, "cycle": 4321}', flush=True)
        time.sleep(60)
    print('@progress {"phase": 0, "done": 1, "total": 1, "cycle": 5}', flush=True)
    folder = pathlib.Path(RUN["run_dir"])
    (folder / "p0").mkdir()
    (folder / "p0" / "x.rec").write_bytes(bytes([RUN["seed"] & 255, n]))
    (folder / "run.pcap").write_text("")
    stages = [
        {"path": "hop", "name": "phy", "cycles": None, "ns": 64.0, "budget_ns": 64.0, "model_cycles": None,
         "kind": "constant", "mark": "A"},
        {"path": "hop", "name": "core", "cycles": 20, "ns": 20.0, "budget_ns": 94.0, "model_cycles": 20,
         "kind": "rtl", "mark": None},
    ]
    result = {
        "figures": {"hop_ns": {"value": 84.0, "unit": "ns", "target": 260, "pass": True,
                               "conditions": {"clock": "1 ns", "load": "zero"}}},
        "latency": {"checked": 4, "mismatched": 0, "bounded": 0},
        "stages": stages, "artifacts": {"capture": "run.pcap"}, "notes": ["a note"], "cycles": n,
    }
    if mode != "silent":
        (folder / "result.json").write_text(json.dumps(result))
"""


def make(folder: Path, blocks: str = BLOCKS) -> Path:
    """Write the toy project into `folder`."""
    for name, text in {
        "spec/blocks.toml": blocks,
        "spec/fabric.toml": FIGURES,
        "rtl/a_pkg.sv": "package a_pkg;\n  localparam int START = 1;\nendpackage\n",
        "rtl/toy.sv": RTL,
        "tb/tb_toy.sv": TB,
        "toytests.py": TESTS,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("models", "scripts", "tb/__init__.py", "tb/common"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def cli(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb in a toy project."""
    env = {**os.environ, "MICROHOP_ROOT": str(folder)}
    env.pop("PYTEST_CURRENT_TEST", None)
    command = [sys.executable, "-m", "scripts.cli", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)


def last(folder: Path, name: str = "report.json") -> dict[str, Any]:
    """A JSON file of the newest run."""
    data: dict[str, Any] = json.loads((folder / "build" / "last" / name).read_text())
    return data
