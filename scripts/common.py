# SPDX-License-Identifier: Apache-2.0
"""What every script shares: the project's folders, exit codes and the error that a user can mend.

Standard library only: the bootstrap imports this before the virtual environment exists.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(os.environ.get("MICROHOP_ROOT") or Path(__file__).resolve().parents[1])
"""The tree that is built and run. A mutant runs the same scripts on a changed copy of the tree."""
BUILD = ROOT / "build"
CACHE = BUILD / "cache"
RUNS = BUILD / "runs"
LAST = BUILD / "last"

EXIT_PASS = 0
EXIT_FAIL = 1
EXIT_ERROR = 2

SIMULATORS = ("verilator", "icarus")


class UserError(Exception):
    """Something that the user can mend: bad input or a missing tool. Ends the program with code 2."""


def one_of(what: str, given: str, known: Iterable[str], where: str = "") -> UserError:
    """The error for a name that is not known: what was given, what is allowed, what was meant.

    `what` names the field (block, TEST, ...); `where` the file or the setting it came from.
    """
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    at = f"{where}: " if where else ""
    allowed = ", ".join(names) if names else "none yet"
    return UserError(f"{at}unknown {what} '{given}'{hint} (known: {allowed})")


def rel(path: Path | str) -> str:
    """`path` as a person wants to read it: relative to the project where it lies inside."""
    p = Path(path)
    try:
        return str(p.relative_to(ROOT))
    except ValueError:
        return str(p)


def tail(path: Path, lines: int) -> list[str]:
    """The last `lines` lines of a text file; empty when there is no such file."""
    try:
        with path.open("rb") as f:
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 400 * lines - 4096))
            return f.read().decode("utf-8", "replace").splitlines()[-lines:]
    except OSError:
        return []
