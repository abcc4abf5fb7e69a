# SPDX-License-Identifier: Apache-2.0
"""What a worker process does: one build, or one run in a folder of its own. JSON in, JSON out.

Any engine starts `work`. It never raises for a test that fails; a full disk or an unreadable file ends the
job with the verdict `error` and the file's name.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import socket
import time
import traceback
from pathlib import Path
from typing import Any

from scripts.blocks import blocks
from scripts.common import UserError, rel
from scripts.regress.records import Job, job_dir

BULKY = ("p[0-9]*", "taps")
"""Stimulus and records of the phases: kept for a failure, not for a pass."""
WAVES_LIMIT_FACTOR = 4
"""Writing waves slows a run down; its limit grows by as much."""


def work(payload: dict[str, Any]) -> dict[str, Any]:
    """Do what `payload` says: {"do": "build" | "run" | "waves", "job": .., "folder": .., "keep": bool}."""
    started = time.time()
    job = Job.model_validate(payload["job"])
    try:
        if payload["do"] == "build":
            result = _build(job)
        else:
            result = _run(job, Path(payload["folder"]), waves=payload["do"] == "waves", keep=payload["keep"])
    except OSError as e:
        # a write that finds the disk full does not know its file's name
        where = e.filename or job_dir(Path(payload.get("folder", "build")), job.number)
        result = _error(f"{rel(where)}: {e.strerror or e}")
    except UserError as e:
        result = _error(str(e))
    except Exception as e:  # whatever else goes wrong is this job's verdict, not the end of the others
        result = _error(f"the runner failed: {type(e).__name__}: {e}")
        result["lines"] = traceback.format_exc().splitlines()[-8:]
    result["attempt"] = {"host": socket.gethostname(), "pid": os.getpid(), "started": started, "ended": "done"}
    result["wall_s"] = time.time() - started
    return result


def _error(text: str) -> dict[str, Any]:
    return {"verdict": "error", "reason": text}


def _build(job: Job) -> dict[str, Any]:
    from scripts import build as builder

    wanted = builder.job_for(blocks(), job.block, job.sim, job.params, coverage=job.coverage)
    try:
        built = builder.build(dataclasses.replace(wanted, limit_s=job.build_limit_s))
    except builder.BuildError as e:
        return {**_error(str(e)), "log": str(e.log)}
    return {"verdict": "pass", "build_s": built.seconds, "cached": built.cached}


def _attempt_dir(place: Path) -> Path:
    """A new folder a1, a2, ...: a worker that was given up may still write into its own."""
    for n in range(1, 1000):
        path = place / f"a{n}"
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise UserError(f"{rel(place)}: too many attempts")


def _run(job: Job, folder: Path, *, waves: bool, keep: bool) -> dict[str, Any]:
    from scripts.run import execute

    place = job_dir(folder, job.number)
    run_dir = place / "waves" if waves else _attempt_dir(place)
    if waves:
        shutil.rmtree(run_dir, ignore_errors=True)
        run_dir.mkdir(parents=True)
    (run_dir / "attempt.json").write_text(
        json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "started": time.time()}) + "\n"
    )
    limit_s = job.run_limit_s * (WAVES_LIMIT_FACTOR if waves else 1)
    outcome = execute(blocks(), job.request(waves=waves), run_dir=run_dir, limit_s=limit_s)
    verdict, reason = outcome.verdict, outcome.reason

    def inside(path: Path) -> str | None:
        return str(path.relative_to(folder)) if path.exists() else None

    counts: Path | None = None
    if job.coverage and not waves and verdict != "error":
        from scripts.coverage.collect import CoverageError, collect

        try:
            counts = collect(run_dir)
        except CoverageError as e:
            if verdict == "pass":
                verdict, reason = "error", str(e)
    result = {
        "verdict": verdict,
        "reason": reason,
        "lines": outcome.extra["lines"],
        "command": outcome.request.command,
        "build_s": outcome.extra["build_s"],
        "run_s": outcome.extra["run_s"],
        "cycle": outcome.extra["cycle"],
        "figures": outcome.report["figures"],
        "latency": outcome.report["latency"],
        "digest": outcome.extra["digest"],
        "run_dir": inside(run_dir),
        "log": inside(run_dir / "sim.log"),
        "waves": inside(run_dir / "waves.fst"),
        "code_coverage": inside(counts) if counts else None,
        "functional": inside(run_dir / "functional.json"),
    }
    if verdict == "pass" and not keep:
        for pattern in BULKY:
            for path in run_dir.glob(pattern):
                shutil.rmtree(path, ignore_errors=True)
    return result
