# SPDX-License-Identifier: Apache-2.0
"""`make test` and `make mutants`: pytest over unit tests, block runs and mutants, two at a time."""

from __future__ import annotations

import os
import subprocess
import sys

from scripts.common import EXIT_ERROR, EXIT_FAIL, EXIT_PASS, ROOT, UserError
from scripts.settings import only, whole_number

JOBS = "2"
# pytest: 0 passed, 1 failed; the others (interrupted, internal, usage, nothing collected) did not run
CODES = {0: EXIT_PASS, 1: EXIT_FAIL}


def _pytest(arguments: list[str], given: dict[str, str], env: dict[str, str]) -> int:
    jobs = str(whole_number("JOBS", given.get("JOBS") or JOBS))
    # runs of one test share a worker (loadgroup): they are compared with each other
    command = [sys.executable, "-m", "pytest", "-q", "-n", jobs, "--dist", "loadgroup", "--durations=8"]
    done = subprocess.run([*command, *arguments], cwd=ROOT, env={**os.environ, **env}, check=False)
    return CODES.get(done.returncode, EXIT_ERROR)


def main_test(given: dict[str, str]) -> int:
    """Everything that must pass; ONLY is pytest's -k expression."""
    only(given, ("ONLY", "JOBS"), "test")
    return _pytest(["-k", given["ONLY"]] if given.get("ONLY") else [], given, {})


def main_mutants(given: dict[str, str]) -> int:
    """Every mutant, or those of one block or of one name."""
    from scripts import mutants
    from scripts.blocks import blocks

    only(given, ("BLOCK", "NAME", "JOBS"), "mutants")
    expression = "test_mutant_is_caught"
    if given.get("BLOCK"):
        blocks().block(given["BLOCK"])
        expression += f" and {given['BLOCK']}-"
    if given.get("NAME"):
        if given["NAME"] not in [m.name for m in mutants.load()]:
            raise UserError(f"NAME={given['NAME']}: no mutant of that name in tests/mutants/")
        expression += f" and {given['NAME']}"
    arguments = ["tests/test_mutants.py", "-k", expression, "-rA", "--show-capture=no"]
    return _pytest(arguments, given, {"MICROHOP_MUTANTS": "all"})
