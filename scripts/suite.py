# SPDX-License-Identifier: Apache-2.0
"""`make test`: pytest over unit tests, block runs and the mutants of tier "test", two at a time."""

from __future__ import annotations

import os
import subprocess
import sys

from scripts.common import EXIT_ERROR, EXIT_FAIL, EXIT_PASS, ROOT
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
