# SPDX-License-Identifier: Apache-2.0
"""The worker's side of ENGINE=dask and ENGINE=slurm: one task at a time, and only for a home that is its own.

A Dask worker is started by somebody, somewhere, maybe days ago: before its first task it is compared with the
process that plans (same tree, sources, Python, shared folder).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.common import ROOT
from scripts.regress.engine import Function, attempt
from scripts.regress.plan import sources_digest

KEPT_IN_MEMORY = ("scripts", "models", "spec")
"""What a worker process imports; the rest is read by the processes that it starts."""
LOADED = sources_digest(KEPT_IN_MEMORY)
_one_at_a_time = threading.Lock()
_checked: set[str] = set()


@dataclass(frozen=True)
class Home:
    """What a worker must find as the planning process has it. `mark`: a file that only this engine wrote."""

    root: str
    loaded: str
    sources: str
    python: str
    mark: str

    def difference(self) -> str:
        """In a worker: why it may not work for that home; empty when it may."""
        restart = "start the worker again"
        if str(ROOT) != self.root:
            return f"runs the tree {ROOT}, not {self.root}"
        if not Path(self.mark).is_file():
            return f"does not see {Path(self.mark).parent}: workers need the same path on a shared file system"
        if sources_digest() != self.sources:
            return f"has other sources in {ROOT}"
        if self.loaded != LOADED:
            return f"was started with other sources than {ROOT} has now: {restart}"
        if self.python != python_version():
            return f"runs Python {python_version()}, not {self.python}"
        return ""


def home_of(mark: Path) -> dict[str, str]:
    """This process' home, as workers must have it."""
    return asdict(Home(str(ROOT), LOADED, sources_digest(), python_version(), str(mark)))


def python_version() -> str:
    import distributed

    return f"{sys.version_info[0]}.{sys.version_info[1]} with distributed {distributed.__version__}"


def look(root: str) -> Callable[[dict[str, str]], str]:
    """What a worker is asked first. It travels by value: the worker may not know the project yet."""

    def ask(home: dict[str, str]) -> str:
        import os
        import sys

        if not os.path.isdir(root):
            return f"has no folder {root}: workers need the same path on a shared file system"
        if root not in sys.path:
            sys.path.insert(0, root)
        from scripts.regress.dask_worker import prepare

        return prepare(home)

    return ask


def prepare(home: dict[str, str]) -> str:
    """In a worker, once: is it a good one (else, why not), and what the environment's programs need."""
    programs = str(Path(sys.prefix) / "bin")
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")
    return Home(**home).difference()


Answer = tuple[dict[str, Any] | None, str, tuple[str, str] | None]
"""Of a task: its result; else the text of its exception; else the address of this worker and why it is no good."""


def caller(root: str) -> Callable[[str, str, dict[str, Any], dict[str, str]], Answer]:
    """What a task is for Dask. By value and with plain arguments: the scheduler reads it, and late workers."""

    def call(module: str, name: str, payload: dict[str, Any], home: dict[str, str]) -> Answer:
        import importlib
        import sys

        from distributed import get_worker

        if root not in sys.path:
            sys.path.insert(0, root)
        try:
            from scripts.regress.dask_worker import run_task

            function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as e:
            return None, "", (get_worker().address, f"cannot load the project: {e}")
        return run_task(function, payload, home)

    return call


def run_task(function: Function, payload: dict[str, Any], home: dict[str, str]) -> Answer:
    """In a worker: one task, if that is a good worker; it may have joined late, unasked."""
    with _one_at_a_time:
        if home["mark"] not in _checked:
            wrong = prepare(home)
            if wrong:
                from distributed import get_worker

                return None, "", (get_worker().address, wrong)
            _checked.add(home["mark"])
        return *attempt(function, payload), None
