# SPDX-License-Identifier: Apache-2.0
"""Where the tasks of a regression run: local processes, a Dask cluster, or Slurm jobs.

The rules, the same for each engine:

- A task runs in a worker process, one task a worker at a time, as `function(payload)`.
- Every submitted task ends exactly once, in whatever order, as a `Done` that `wait` hands back.
- A worker that vanishes costs the task that it ran and nothing else: that ends with `lost`, a new worker
  takes its place. To run it again is for the caller, who submits it again; the same key may be used.
- `close` leaves no process behind. With `kill` it does not wait for what still runs.

An engine is made, used and closed by one thread.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from scripts.common import one_of

ENGINES = ("local", "dask", "slurm")
Function = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """One thing that a worker does. `payload` and what comes of it are JSON."""

    key: str
    """Unique among the tasks that run: run-00012, build-<hash>, waves-00012."""
    payload: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Done:
    """How a task ended: with a result, or, where `result` is None, why there is none."""

    task: Task
    result: dict[str, Any] | None
    lost: str = ""
    """In words: what became of the worker, or the text of the exception."""
    raised: bool = False
    """The function raised: doing it again would not help."""


def attempt(function: Function, payload: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """In a worker: what `function` returned, or else its exception in words, as not every exception can be sent."""
    try:
        return function(payload), ""
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        return None, f"{type(e).__name__}: {e} ({os.path.basename(where.filename)}:{where.lineno})"


class Engine(Protocol):
    """A place to run tasks. Left by an exception, a `with` block kills what runs."""

    @property
    def name(self) -> str:
        """What ENGINE= calls it."""

    @property
    def slots(self) -> int:
        """How many tasks can run at a time, now."""

    def submit(self, task: Task) -> None:
        """Run it as soon as a worker is free, in the order of submission. Does not block."""

    def wait(self, timeout_s: float) -> list[Done]:
        """What ended since the last call; back as soon as there is something, or after `timeout_s`."""

    def close(self, kill: bool = False) -> None:
        """End all workers; twice is once. `kill`: with everything that still runs, simulators included."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def engine_for(
    name: str,
    jobs: int,
    settings: dict[str, str],
    function: Function | None = None,
    *,
    folder: Path | None = None,
) -> Engine:
    """The engine that ENGINE= names, started. `jobs`: how many workers, where the engine starts them.

    `settings` are the verb's (DASK, WAIT, QUEUE, WALLTIME, MEMORY, SLURM_OPTIONS); `function` must be importable
    by its module's name (default: scripts.regress.worker.work); `folder` is the regression's, which workers on
    other machines must see too. UserError when it cannot be started.
    """
    if name not in ENGINES:
        raise one_of("engine", name, ENGINES, "ENGINE")
    if function is None:
        from scripts.regress import worker

        function = worker.work
    # each engine imports packages that the others do not need
    if name == "local":
        from scripts.regress.engine_local import LocalEngine

        return LocalEngine(jobs, function)
    if name == "dask":
        from scripts.regress.engine_dask import dask_engine

        return dask_engine(jobs, settings, function, folder)
    from scripts.regress.engine_slurm import slurm_engine

    return slurm_engine(jobs, settings, function, folder)
