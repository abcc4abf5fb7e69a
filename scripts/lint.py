# SPDX-License-Identifier: Apache-2.0
"""`make lint`: Verilator -Wall over every block's design and bench, Verible, ruff, mypy."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

from scripts import tools
from scripts.common import EXIT_FAIL, EXIT_PASS, ROOT, UserError

if TYPE_CHECKING:
    from rich.console import Console

# Verible's rules that are left out, each with its reason
VERIBLE_OFF = {
    "explicit-parameter-storage-type": "Icarus 11 does not read `parameter string`",
    "plusarg-assignment": "a plusarg without a value is a switch: $test$plusargs",
}
VERIBLE_SET = [
    "line-length=length:130",
    "parameter-name-style=localparam_style:ALL_CAPS;parameter_style:ALL_CAPS",
]


@dataclass(frozen=True)
class Check:
    """One tool over some files."""

    name: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)


def _verilator(top: str | None, files: list[str], include: list[str], name: str, define: str = "") -> Check:
    program = tools.verilator_bin()
    if program is None:
        raise UserError("Verilator is missing from the virtual environment; run `make doctor`")
    command = [program, "--lint-only", "-Wall", "--no-timing", "--assert", "--timescale", "1ns/1ps"]
    command += [f"-D{define}"] if define else []
    command += [f"-I{d}" for d in include]
    if top is not None:
        command += ["--top-module", top]
    waivers = ROOT / "scripts" / "lint.vlt"
    command += [str(waivers.relative_to(ROOT))] if waivers.exists() else []
    return Check(name, [*command, *files], {"VERILATOR_ROOT": str(tools.verilator_root())})


def _venv(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise UserError(f"{name} is missing from the virtual environment; run `make doctor`")
    return found


def checks(block: str | None) -> Iterator[Check]:
    """All checks, or those of one block's HDL."""
    from scripts.blocks import blocks
    from scripts.proofs import load as load_proofs

    spec = blocks()
    names = [block] if block else list(spec.blocks)
    include = spec.include_dirs()
    hdl: dict[str, None] = {}
    for name in names:
        entry = spec.block(name)
        sources = spec.sources(name)
        hdl.update(dict.fromkeys(sources))
        yield _verilator(entry.top, sources, include, f"verilator {name}: {entry.top}")
        for timed in entry.timing:
            yield _verilator(timed.top, spec.rtl(name), include, f"verilator {name}: {timed.top}")
    if block is None:
        for proof in load_proofs().values():
            yield _verilator(
                proof.top, proof.sources, [*include, "formal"], f"verilator formal: {proof.name}", "FORMAL"
            )
            hdl.update(dict.fromkeys(f for f in proof.sources if f.startswith("formal/")))
        include = [*include, "formal"]
    if hdl:
        headers = [str(p.relative_to(ROOT)) for d in include for p in sorted((ROOT / d).glob("*.svh"))]
        rules = ",".join([*VERIBLE_SET, *(f"-{r}" for r in VERIBLE_OFF)])
        command = [_venv("verible-verilog-lint"), f"--rules={rules}", *hdl, *headers]
        yield Check("verible", command)
    if block is None:
        yield Check("ruff check", [_venv("ruff"), "check", "."])
        yield Check("ruff format", [_venv("ruff"), "format", "--check", "."])
        yield Check("mypy", [sys.executable, "-m", "mypy"])
        for script in ("scripts.gen_spec", "scripts.gen_csr"):
            yield Check(f"generated files: {script}", [sys.executable, "-m", script, "--check"])


def _run(check: Check) -> tuple[int, str]:
    env = {**os.environ, **check.env}
    done = run(check.command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def main_lint(console: Console, given: dict[str, str]) -> int:
    """Run the checks, two at a time; print what they say; 1 when one is not clean."""
    from scripts.settings import only

    only(given, ("BLOCK",), "lint")
    todo = list(checks(given.get("BLOCK")))
    bad = 0
    with ThreadPoolExecutor(2) as pool:
        for check, (code, text) in zip(todo, pool.map(_run, todo), strict=True):
            clean = code == 0 and "%Warning" not in text
            bad += not clean
            word = "[green]clean[/]" if clean else "[bold red]not clean[/]"
            console.print(f"{word}  {check.name}", highlight=False)
            if not clean:
                console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print(f"lint: {len(todo) - bad} of {len(todo)} clean")
    return EXIT_FAIL if bad else EXIT_PASS
