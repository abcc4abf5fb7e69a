# SPDX-License-Identifier: Apache-2.0
"""Copies of the tree: one as it was when `make mutate` began, and one of that for each fault.

So nothing that is edited meanwhile gets into a later fault, and the results are of one state of the sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from scripts.common import BUILD, ROOT

FOLDER = BUILD / "mutate"
COPIED = ("Makefile", "models", "pyproject.toml", "requirements.txt", "rtl", "scripts", "spec", "tb", "tests")
"""pyproject.toml too: cocotb asks pytest for its settings, which takes the next such file above the run's folder and
puts that folder in front of the path: the bench would be that of the tree which is being edited."""
HASHED = ("rtl", "tb", "models", "spec")
SUFFIXES = (".sv", ".svh", ".py", ".toml")
NOT_HASHED = ("spec/testplan",)
"""Read by reports, not by a bench."""


def copy(source: Path, target: Path) -> Path:
    """A fresh copy of what a run needs."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "build"))
        elif (source / name).exists():
            shutil.copyfile(source / name, target / name)
    return target


def snapshot() -> Path:
    """The tree as it is now, in a folder of this process."""
    for old in (FOLDER / "trees").glob("clean-*"):
        # of a process that was killed before it could tidy up
        if not Path("/proc", old.name.removeprefix("clean-")).exists():
            shutil.rmtree(old, ignore_errors=True)
    return copy(ROOT, FOLDER / "trees" / f"clean-{os.getpid()}")


def digest(block: str, root: Path | None = None) -> str:
    """Hash of everything that decides what becomes of a block's mutants."""
    root = root or ROOT
    total = hashlib.sha256()
    for name in (*HASHED, f"tests/{block}", "tests/mutants"):
        for path in _files(root / name):
            inside = str(path.relative_to(root))
            if path.suffix not in SUFFIXES or inside.startswith(NOT_HASHED):
                continue
            if name == "tests/mutants" and path.stem not in (block, "equivalent"):
                continue
            total.update(f"{inside}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return total.hexdigest()[:16]


def _files(folder: Path) -> list[Path]:
    # links are followed, as the copy follows them
    return sorted(Path(at) / n for at, _, names in os.walk(folder, followlinks=True) for n in names)
