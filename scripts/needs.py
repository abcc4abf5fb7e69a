# SPDX-License-Identifier: Apache-2.0
"""The system's tools: which verb needs what, and how it comes from Debian. Standard library only."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from scripts import cell_library

_SYSTEM_OSU018 = Path("/", cell_library.INSIDE)
OSU018 = Path(
    os.environ.get("MICROHOP_LIBERTY")
    or (cell_library.COPY if cell_library.COPY.exists() and not _SYSTEM_OSU018.exists() else _SYSTEM_OSU018)
)
OSU018_HINT = (
    "qflow-tech-osu018 is in Debian 12, not in 13, where its Debian 12 package is fetched into .tools/; if that fails,"
    " unpack it (dpkg-deb -x) anywhere and set MICROHOP_LIBERTY=<folder>/" + cell_library.INSIDE
)
NO_INSTALL = "MICROHOP_NO_INSTALL"


class Need(NamedTuple):
    """A program, or else a file, that a Debian package brings."""

    package: str
    why: str
    programs: Tuple[str, ...] = ()
    files: Tuple[str, ...] = ()
    optional: bool = False
    hint: str = ""
    as_root: bool = False
    """For tests that only root can run: installed for root, where that is possible; else they skip."""

    def found(self) -> Optional[str]:
        """Where it is (the first of its parts); None when any part is missing."""
        paths: List[str] = []
        for program in self.programs:
            path = shutil.which(program)
            if path is None:
                return None
            paths.append(path)
        for wanted in self.files:
            if not any(Path(d, wanted).is_file() for d in ("/", "/usr/include", "/usr/local/include")):
                return None
            paths.append(wanted)
        return paths[0]


NEEDS: Dict[str, Need] = {
    "git": Need("git", "the project's history", ("git",)),
    "make": Need("make", "the verbs, and Verilator's builds", ("make",)),
    "g++": Need("g++", "Verilator's models are C++", ("g++",)),
    "ccache": Need("ccache", "rebuilds in seconds", ("ccache",), optional=True),
    "iverilog": Need("iverilog", "Icarus, the second simulator", ("iverilog", "vvp")),
    "tshark": Need("tshark", "tests that dissect the captures", ("tshark",)),
    "lz4": Need("liblz4-dev", "waves on Verilator", (), ("lz4.h",)),
    "zlib": Need("zlib1g-dev", "waves on Verilator", (), ("zlib.h",)),
    "chromium": Need("chromium", "tests of the regression's page", ("chromium",)),
    "sbatch": Need("slurm-client", "test of ENGINE=slurm, as root", ("sbatch",), optional=True, as_root=True),
    "munge": Need("munge", "test of ENGINE=slurm, as root", (), ("/usr/sbin/munged",), optional=True, as_root=True),
    "slurmctld": Need(
        "slurmctld", "test of ENGINE=slurm, as root", (), ("/usr/sbin/slurmctld",), optional=True, as_root=True
    ),
    "slurmd": Need("slurmd", "test of ENGINE=slurm, as root", (), ("/usr/sbin/slurmd",), optional=True, as_root=True),
    "sta": Need("opensta", "static timing for make timing", ("sta",)),
    "osu018": Need("qflow-tech-osu018", "cell library for make timing", (), (str(OSU018),), hint=OSU018_HINT),
}

_SIM = ("g++", "make", "ccache")
_SLURM = ("sbatch", "munge", "slurmctld", "slurmd")
VERBS: Dict[str, Tuple[str, ...]] = {
    "sim": _SIM,
    "waves": (*_SIM, "lz4", "zlib"),
    "bench": _SIM,
    "compare": _SIM,
    "regress": (*_SIM, "iverilog", "lz4", "zlib"),
    "report": (),
    "cov": (),
    "test": (*_SIM, "git", "iverilog", "tshark", "lz4", "zlib", "chromium", *_SLURM),
    "mutate": (*_SIM, "git", "iverilog", "tshark"),
    "timing": ("sta", "osu018"),
    "formal": (),
    "lint": (),
    "clean": (),
}


def needed(verb: str, given: Dict[str, str]) -> List[str]:
    """Names in NEEDS that this call of `verb` wants."""
    names = list(VERBS.get(verb, ()))
    if given.get("SIM") == "icarus":
        names.append("iverilog")
    if verb == "sim" and given.get("WAVES") == "1" and given.get("SIM") != "icarus":
        names += ["lz4", "zlib"]
    root = os.geteuid() == 0 and prefix() is not None
    return [n for n in names if root or not NEEDS[n].as_root]


def must(name: str) -> bool:
    """A verb that `needed` it does not go on without it."""
    return NEEDS[name].as_root or not NEEDS[name].optional


def prefix() -> Optional[List[str]]:
    """What stands before apt-get so that it may install: nothing as root; None when it may not."""
    if os.environ.get(NO_INSTALL) or shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n"]
    return None


def command(packages: List[str]) -> str:
    """The one command that a person types to install `packages`."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get update && {sudo}apt-get install -y --no-install-recommends " + " ".join(packages)


def hints(packages: List[str]) -> str:
    """What to do when apt-get does not know one of `packages`; empty for most."""
    return "".join(f"\n{n.hint}" for n in NEEDS.values() if n.hint and n.package in packages)


POLICY = Path("/usr/sbin/policy-rc.d")


@contextmanager
def _no_services() -> Iterator[None]:
    """Where nobody runs services (a container), packages must not try to start theirs: some fail with it."""
    if os.geteuid() != 0 or POLICY.exists() or Path("/run/systemd/system").is_dir():
        yield
        return
    try:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
        yield
    finally:
        if POLICY.exists():
            POLICY.unlink()


def install(packages: List[str], log: Path) -> bool:
    """Install Debian packages; False when that failed. The output goes to `log`."""
    before = prefix()
    if before is None:
        return False
    log.parent.mkdir(parents=True, exist_ok=True)
    quiet = [*before, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    quiet += ["-o", "DPkg::Lock::Timeout=300"]
    with log.open("a") as out, _no_services():
        # an outdated list is not fatal: the package may be known all the same
        subprocess.run([*quiet, "update"], stdout=out, stderr=out, check=False)
        done = subprocess.run(
            [*quiet, "install", "-y", "--no-install-recommends", *packages],
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    return done.returncode == 0
