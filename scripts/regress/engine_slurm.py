# SPDX-License-Identifier: Apache-2.0
"""ENGINE=slurm: a Dask cluster whose workers are Slurm jobs of one core each, by dask-jobqueue.

What a site wants said (account, interface, scratch) stands in the user's Dask configuration, under
`jobqueue.slurm`; QUEUE, WALLTIME, MEMORY and SLURM_OPTIONS go before it.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from scripts.common import BUILD, ROOT, UserError
from scripts.regress.engine import Function
from scripts.regress.engine_dask import DaskEngine, first_line, quiet, wait_limit, without_interrupts

WAIT_S = 3600
NO_JOBS_S = 60.0
"""Seconds without any worker and without any job that could become one."""
START_S = 15.0
SCALE_S = 5.0
MEMORY = "2GB"
"""What Dask is told when nobody said; Slurm is then not asked for memory, as not every site counts it."""
CORES = 1
PACKAGE = "slurm-client"


def _options(settings: dict[str, str], folder: Path, name: str) -> dict[str, Any]:
    """What SLURMCluster is given; None leaves a field to the user's configuration."""
    import dask

    def configured(key: str) -> Any:
        return dask.config.get(f"jobqueue.slurm.{key}", None)

    try:
        words = shlex.split(settings.get("SLURM_OPTIONS", ""))
    except ValueError as e:
        raise UserError(f"SLURM_OPTIONS={settings['SLURM_OPTIONS']}: {e}") from None
    for word in words:
        if not word.startswith("-"):
            raise UserError(f"SLURM_OPTIONS: '{word}': options are written --name=value")
    root = shlex.quote(str(ROOT))
    memory = settings.get("MEMORY") or configured("memory")
    skipped = [*(configured("job-directives-skip") or []), *([] if memory or configured("job-mem") else ["--mem="])]
    return {
        "cores": CORES,
        "processes": 1,
        "memory": memory or MEMORY,
        "job_directives_skip": skipped,
        "queue": settings.get("QUEUE") or None,
        "walltime": settings.get("WALLTIME") or None,
        "job_extra_directives": [*(configured("job-extra-directives") or []), *map(shlex.quote, words)],
        "job_script_prologue": [
            *(configured("job-script-prologue") or []),
            f"cd {root}",
            f"export PYTHONPATH={root}",
        ],
        # the job's memory is the simulator's; Dask must not stop a worker over its own
        "worker_extra_args": [*(configured("worker-extra-args") or []), "--memory-limit", "0", "--no-dashboard"],
        "job_name": name,
        "log_directory": str(folder / "slurm"),
        "local_directory": configured("local-directory") or tempfile.gettempdir(),
        "scheduler_options": {"dashboard": False, "dashboard_address": ":0", **(configured("scheduler-options") or {})},
        "silence_logs": 60,
    }


class SlurmEngine(DaskEngine):
    """Lost workers are replaced: by their job while that lives, else by a new job."""

    def __init__(
        self, cluster: Any, function: Function, folder: Path, refused: list[str], *, jobs: int, wait_s: float
    ) -> None:
        super().__init__("slurm", cluster, function, folder, jobs=jobs, wait_s=wait_s)
        self.jobs = jobs
        self._refused = refused
        self._scaled = 0.0

    def start(self) -> None:
        """Send the jobs and look at workers that come soon; the others are looked at when they come."""
        self._scale()
        limit = time.monotonic() + START_S
        while time.monotonic() < limit and not self._look():
            if self._refused:
                raise UserError(f"ENGINE=slurm: {self._refused[0]}")
            time.sleep(0.2)
        if self._workers:
            self._inspect()

    def _scale(self) -> None:
        self._scaled = time.monotonic()
        self._cluster.scale(jobs=self.jobs)

    def _look(self) -> set[str]:
        found = super()._look()
        if len(found) < self.jobs and time.monotonic() - self._scaled > SCALE_S and not self._closed:
            # jobs that left the queue are sent again
            self._scale()
        return found

    def _limit(self) -> float:
        return self._wait_s if self._queue() else min(NO_JOBS_S, self._wait_s)

    def _nobody(self) -> str:
        queue = self._queue()
        why = "its jobs: " + ", ".join(queue) if queue else "none of its jobs is in the queue"
        refused = f"; {self._refused[-1]}" if self._refused else ""
        return f"no worker for {self._limit():g} s (WAIT= sets how long): {why}{refused}"

    def _queue(self) -> list[str]:
        """This engine's jobs in the queue: number, state and reason; none when Slurm does not answer."""
        ids = [str(w.job_id) for w in self._cluster.workers.values() if getattr(w, "job_id", None)]
        if not ids:
            return []
        command = ["squeue", "--noheader", "--format=%i %T (%r)", "--jobs", ",".join(ids)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return []
        return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def slurm_engine(jobs: int, settings: dict[str, str], function: Function, folder: Path | None) -> SlurmEngine:
    """The engine on `jobs` Slurm jobs of one core each."""
    for program in ("sbatch", "squeue", "scancel"):
        if shutil.which(program) is None:
            raise UserError(f"ENGINE=slurm: no {program} on PATH; on Debian it is in the package {PACKAGE}")
    wait_s = wait_limit(settings, WAIT_S)
    folder = folder or BUILD / "regress"
    from dask_jobqueue.slurm import SLURMCluster, SLURMJob

    refused: list[str] = []

    class Job(SLURMJob):  # type: ignore[misc]
        """Keeps what sbatch said, which the cluster only logs."""

        async def _submit_job(self, script_filename: str) -> Any:
            try:
                return await super()._submit_job(script_filename)
            except RuntimeError as e:
                said = [x.removeprefix("sbatch: ") for x in str(e).splitlines() if x.startswith("sbatch: ")]
                refused.append("sbatch: " + ("; ".join(said) or first_line(e)))
                raise

    quiet()
    try:
        with without_interrupts():
            options = _options(settings, folder, f"microhop-{uuid.uuid4().hex[:8]}")
            cluster = SLURMCluster(n_workers=0, job_cls=Job, **options)
    except (OSError, ValueError, RuntimeError) as e:
        raise UserError(
            f"ENGINE=slurm: {first_line(e)} (settings, and jobqueue.slurm of Dask's configuration)"
        ) from None
    try:
        engine = SlurmEngine(cluster, function, folder, refused, jobs=jobs, wait_s=wait_s)
    except BaseException:
        cluster.close()
        raise
    return engine.started()
