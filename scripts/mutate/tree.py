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
COPIED = ("Makefile", "models", "requirements.txt", "rtl", "scripts", "spec", "tb", "tests")
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
    return copy(ROOT, FOLDER / "trees" / f"clean-{os.getpid()}")


def digest(block: str, root: Path = ROOT) -> str:
    """Hash of everything that decides what becomes of a block's mutants."""
    total = hashlib.sha256()
    for name in (*HASHED, f"tests/{block}", "tests/mutants"):
        for path in sorted((root / name).rglob("*")):
            inside = str(path.relative_to(root))
            if path.suffix in SUFFIXES and path.is_file() and not inside.startswith(NOT_HASHED):
                if name == "tests/mutants" and path.stem not in (block, "equivalent"):
                    continue
                total.update(f"{inside}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return total.hexdigest()[:16]
