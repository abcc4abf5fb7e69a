# SPDX-License-Identifier: Apache-2.0
"""cocotb's runners for both simulators, with limits on the whole process group and without what costs speed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from cocotb_tools import runner as cocotb_runner

from scripts import tools
from scripts.common import ROOT, UserError
from scripts.proc import run_group

HARNESS = Path(__file__).with_name("bench_main.cpp")
JOBS = 2


class _GroupExecution(cocotb_runner.Runner):
    """Makes cocotb's runner start its commands as a process group with a wall-clock limit."""

    limit_s: float = 600
    tick: Callable[[], None] | None = None
    timed_out = False
    returncode = 0
    seconds = 0.0
    peak_mb = 0.0

    def _execute_cmds(
        self,
        cmds: Sequence[list[str]],
        cwd: str | os.PathLike[str],
        stdout: TextIO | None = None,
    ) -> None:
        left = self.limit_s
        for cmd in cmds:
            if stdout is not None:
                print(f"$ {' '.join(cmd)}", file=stdout, flush=True)
            ended = run_group(cmd, limit_s=left, cwd=cwd, env=self.env, stdout=stdout, tick=self.tick)
            left -= ended.seconds
            self.seconds += ended.seconds
            self.peak_mb = max(self.peak_mb, ended.peak_mb)
            self.returncode, self.timed_out = ended.returncode, ended.timed_out
            if ended.timed_out or ended.returncode != 0:
                raise RuntimeError("command failed")

    def _set_env_common(self) -> None:
        super()._set_env_common()
        # variables of an outer make would be taken for those of the inner one
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
            self.env.pop(name, None)


class VerilatorBench(_GroupExecution, cocotb_runner.Verilator):
    """Verilator as cocotb runs it, but with only the top's signals public (four times as fast)."""

    optimize = 3
    bare = False

    def _simulator_in_path_build_only(self) -> None:
        found = tools.verilator_bin()
        if found is None:
            raise UserError("Verilator is missing from the virtual environment; run `make doctor`")
        self.executable = found

    def _build_command(self) -> list[list[str]]:
        self.env["VERILATOR_ROOT"] = str(tools.verilator_root())
        verilate, _ = super()._build_command()
        # paths relative to the project: the same objects come out of every clone, and ccache knows
        prefix = f"{ROOT}{os.sep}"
        verilate = [a.removeprefix(prefix) for a in verilate if a != "--public-flat-rw"]
        if self.bare:
            verilate = _without_cocotb(verilate)
        fast = f"-O{self.optimize}" + (" -march=native" if self.optimize >= 2 else "")
        make = [
            "make",
            "-s",
            f"-j{JOBS}",
            "-C",
            str(self.build_dir),
            "-f",
            "Vtop.mk",
            f"VM_TRACE={int(self.waves)}",
            f"OPT_FAST={fast}",
            f"OPT_GLOBAL=-O{min(self.optimize, 2)}",
            "OPT_SLOW=-O0",
            # the wheel's configuration lacks the flag for precompiled headers
            "CFG_CXXFLAGS_PCH_I=-include",
            f"OBJCACHE={'ccache' if tools.ccache() else ''}",
        ]
        return [verilate, make]


def _without_cocotb(verilate: list[str]) -> list[str]:
    """The same Verilator call for a program of our own: no VPI, no cocotb libraries."""
    libs = verilate.index("-LDFLAGS")
    kept = verilate[:libs] + verilate[libs + 2 :]
    return [str(HARNESS) if a.endswith("verilator.cpp") else a for a in kept if a != "--vpi"]


class IcarusBench(_GroupExecution, cocotb_runner.Icarus):
    """Icarus as cocotb runs it; sources relative to the project."""

    def _simulator_in_path(self) -> None:
        if not tools.simulator_version("icarus"):
            raise UserError(
                "Icarus Verilog is missing (programs iverilog and vvp); `make doctor` says how to install it"
            )

    def _build_command(self) -> list[list[str]]:
        prefix = f"{ROOT}{os.sep}"
        return [[a.removeprefix(prefix) for a in cmd] for cmd in super()._build_command()]


Bench = VerilatorBench | IcarusBench


def bench_for(sim: str) -> Bench:
    """A fresh runner for a simulator; UserError when the simulator is missing."""
    return VerilatorBench() if sim == "verilator" else IcarusBench()
