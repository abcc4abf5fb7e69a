# SPDX-License-Identifier: Apache-2.0
"""After a run: its coverage.dat becomes a small file of counts; the points are kept once a build.

<run_dir>/code_coverage.npz     counts (one a point, in the build's order), the name of the point list
<store>/<name>.points.npz       the point list (scripts/coverage/points.py), with the sources' texts
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from scripts.build import COVERAGE_MAX_WIDTH, Built, Job
from scripts.common import rel
from scripts.coverage import dat, points
from scripts.coverage.dat import CoverageError

DAT = "coverage.dat"
COUNTS = "code_coverage.npz"
FOLDER = "coverage"


def store_of(run_dir: Path) -> Path:
    """Where the point lists of a run lie: the regression's folder `coverage`, or the run's own.

    jobs/<number>/<attempt>/ is a run of a regression (scripts/regress/records.py).
    """
    jobs = run_dir.parent.parent
    return jobs.parent / FOLDER if jobs.name == "jobs" else run_dir / FOLDER


def collect(run_dir: Path, build: Built | Path | None = None) -> Path | None:
    """Make the counts of a finished run and remove its coverage.dat; None when it was no run with coverage.

    `build`: only whether it has counters is looked at; the default is what <run_dir>/run.json says.
    CoverageError names the file: coverage.dat is missing, cut short or not one.
    """
    if isinstance(build, Built) and not build.job.coverage:
        return None
    run = _run(run_dir)
    source = run_dir / DAT
    if run.get("sim") == "icarus" and not source.exists():
        return None
    found = dat.read(source)
    store = store_of(run_dir)
    name = points.identity(found)
    kept = store / f"{name}{points.SUFFIX}"
    if not kept.exists():
        sorted_points = points.of(found)
        sorted_points.max_width = COVERAGE_MAX_WIDTH
        sorted_points.wide = _wide(build.job if isinstance(build, Built) else _job(run))
        points.save(kept, sorted_points)
    counts = run_dir / COUNTS
    top = int(found.counts.max(initial=0))
    width = np.uint32 if top <= np.iinfo(np.uint32).max else np.uint64
    points.write(counts, counts=found.counts.astype(width), points=np.frombuffer(name.encode(), np.uint8))
    source.unlink(missing_ok=True)
    return counts


def _run(run_dir: Path) -> dict[str, object]:
    try:
        said = json.loads((run_dir / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _job(run: dict[str, object]) -> Job | None:
    """The build that a run's own description asks for."""
    from scripts.blocks import load
    from scripts.build import job_for
    from scripts.common import UserError

    params = run.get("params")
    try:
        name = str(params["name"]) if isinstance(params, dict) else "default"
        return job_for(load(), str(run["block"]), "verilator", name, coverage=True)
    except (KeyError, UserError):
        return None


def _wide(job: Job | None) -> list[points.Wide] | None:
    from scripts.coverage.unmeasured import wide_signals

    return wide_signals(job, COVERAGE_MAX_WIDTH) if job else None


def load_counts(path: Path) -> tuple[dat.Counts, str]:
    """Counts and the name of their point list; CoverageError names the file."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            counts, name = kept["counts"], kept["points"].tobytes().decode("ascii")
    except FileNotFoundError:
        raise CoverageError(f"{rel(path)}: the counts are missing") from None
    except Exception as e:  # numpy and zipfile raise a dozen kinds for a broken file
        raise CoverageError(f"{rel(path)}: not a file of counts: {e}") from None
    if counts.ndim != 1 or counts.dtype.kind != "u" or not name.isalnum():
        raise CoverageError(f"{rel(path)}: not a file of counts")
    return counts, name


__all__ = ["COUNTS", "DAT", "CoverageError", "collect", "load_counts", "store_of"]
