# SPDX-License-Identifier: Apache-2.0
"""`make doctor`: each tool, the version wanted and found, where it is, and what is missing.

Changes nothing, and runs on a bare machine: standard library only. Exit code 2 when something that a
verb must have is missing.
"""

from __future__ import annotations

import platform
import re
import sys
from typing import Dict, List, NamedTuple, Optional

from scripts import needs, tools
from scripts.common import EXIT_ERROR, EXIT_PASS, ROOT

LOCK = ROOT / "requirements.txt"
VERSION_OF: Dict[str, List[str]] = {
    "git": ["git", "--version"],
    "make": ["make", "--version"],
    "g++": ["g++", "-dumpfullversion"],
    "ccache": ["ccache", "--version"],
    "iverilog": ["iverilog", "-V"],
    "tshark": ["tshark", "--version"],
    "sta": ["sta", "-version"],
}
WANTED = {"iverilog": "11 or newer", "g++": "with C++20"}


class Row(NamedTuple):
    """One line of the answer."""

    name: str
    wanted: str
    found: str
    where: str
    why: str
    package: str = ""
    must: bool = True


def lock() -> Dict[str, str]:
    """Package and version, as pinned."""
    pinned: Dict[str, str] = {}
    for line in LOCK.read_text().splitlines():
        name, equals, version = line.partition("==")
        if equals and not line.startswith("#"):
            pinned[name.strip()] = version.strip()
    return pinned


def _system() -> List[Row]:
    rows = []
    for name, need in needs.NEEDS.items():
        where = need.found()
        version = ""
        if where and name in VERSION_OF:
            version = tools.first_version(tools.output_of(*VERSION_OF[name])) or "present"
        elif where:
            version = "present"
        wanted = WANTED.get(name, "optional" if need.optional else "any")
        rows.append(Row(name, wanted, version, where or "", need.why, need.package, not need.optional))
    return rows


def _python() -> List[Row]:
    good = sys.version_info >= (3, 11)
    version = platform.python_version()
    rows = [Row("python", "3.11 or newer", version if good else "", sys.executable, "everything", "python3")]
    venv = ROOT / ".venv"
    inside = sys.prefix == str(venv)
    direct = {re.split(r"[=<>]", x)[0].lower() for x in _lines(ROOT / "requirements.in")}
    missing = []
    for name, wanted in lock().items():
        found = tools.package_version(name) if inside else ""
        if found != wanted:
            missing.append(name)
        if name.lower() in direct:
            rows.append(Row(name, wanted, found, str(venv) if found else "", "in .venv"))
    if missing and inside:
        rows.append(Row("other packages", "as pinned", "", "", " ".join(missing)))
    return rows


def _lines(path: "object") -> List[str]:
    with open(str(path)) as f:
        return [x.strip() for x in f if x.strip() and not x.startswith("#")]


def main(words: Optional[List[str]] = None) -> int:
    """Print the table and the commands that mend what is missing."""
    if words:
        print(f"error: make doctor has no settings, was given {' '.join(words)}", file=sys.stderr)
        return EXIT_ERROR
    rows = _python() + _system()
    color = sys.stdout.isatty()
    print(f"{'tool':<16} {'wanted':<18} {'found':<18} {'for':<34} where")
    for r in rows:
        found = r.found or ("MISSING" if r.must else "missing")
        if r.found and re.match(r"^\d+(\.\d+){1,}", r.wanted) and r.found != r.wanted and r.why == "in .venv":
            found = f"{r.found} (!)"
        line = f"{r.name:<16} {r.wanted:<18} {found:<18} {r.why:<34} {r.where}"
        print(f"\033[31m{line}\033[0m" if color and not r.found and r.must else line)
    packages = [r.package for r in rows if not r.found and r.package]
    pip = [r.name for r in rows if not r.found and r.why == "in .venv"]
    print()
    if pip:
        print("the virtual environment is missing or not as pinned: the next verb (make sim, make test) makes it")
    if packages:
        how = "installed when a verb wants them" if needs.prefix() is not None else "install them with"
        print(f"missing system packages, {how}:\n  {needs.command(packages)}")
    if not tools.simulator_version("icarus"):
        print("without Icarus: make sim SIM=icarus and make test cannot run")
    gone = [r for r in rows if not r.found and r.must]
    print("all there" if not gone else f"{len(gone)} missing")
    return EXIT_ERROR if gone else EXIT_PASS


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
