# SPDX-License-Identifier: Apache-2.0
"""The counts of many runs, added up build by build: each has the same points in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scripts.coverage import points
from scripts.coverage.collect import FOLDER, load_counts, store_of
from scripts.coverage.dat import Counts, CoverageError
from scripts.coverage.points import Points

AHEAD = 64
"""Runs whose counts are read at once."""


@dataclass(frozen=True)
class Run:
    """A run that was measured: whose it is, and where its counts lie."""

    job: str
    block: str
    params: str
    counts: Path


@dataclass
class Group:
    """The runs of one build with one parameter set of one block."""

    block: str
    params: str
    points: Points
    counts: Counts
    jobs: list[str] = field(default_factory=list)

    @property
    def top(self) -> str:
        """The bench's top module."""
        return next((i.partition(".")[0] for i in self.points.instances), "")


@dataclass
class Sums:
    """All groups, sorted by block and parameter set; errors, each with its job."""

    groups: list[Group] = field(default_factory=list)
    runs: int = 0
    errors: list[str] = field(default_factory=list)


def _points_of(run: Run, name: str, folder: Path, known: dict[str, Points | CoverageError]) -> Points:
    """The list called `name`: each file is read once, broken or not."""
    if name not in known:
        file = f"{name}{points.SUFFIX}"
        places = [folder / FOLDER / file, store_of(run.counts.parent) / file]
        try:
            known[name] = points.load(next((p for p in places if p.exists()), places[0]))
        except CoverageError as e:
            known[name] = e
    found = known[name]
    if isinstance(found, CoverageError):
        raise found
    return found


def _read(run: Run) -> tuple[Counts, str] | CoverageError:
    try:
        return load_counts(run.counts)
    except CoverageError as e:
        return e


def add(runs: Sequence[Run], folder: Path) -> Sums:
    """Add up; a run whose file is broken is an error in the result, the others count."""
    found: dict[tuple[str, str, str], Group] = {}
    known: dict[str, Points | CoverageError] = {}
    sums = Sums()
    for run, read in _reading(runs):
        try:
            if isinstance(read, CoverageError):
                raise read
            counts, name = read
            listed = _points_of(run, name, folder, known)
            if len(counts) != len(listed):
                raise CoverageError(f"{len(counts)} counts for {len(listed)} points of {name}")
        except CoverageError as e:
            sums.errors.append(f"job {run.job}: {e}")
            continue
        key = (run.block, run.params, name)
        if key not in found:
            found[key] = Group(run.block, run.params, listed, np.zeros(len(listed), np.uint64))
        found[key].counts += counts
        found[key].jobs.append(run.job)
        sums.runs += 1
    sums.groups = [found[key] for key in sorted(found)]
    sums.errors += _shortened(sums.groups)
    return sums


def _shortened(groups: list[Group]) -> list[str]:
    """Runs with fewer points than others of the same build: cut off between two lines, or built with other flags."""
    said = []
    for group in groups:
        same = [g for g in groups if (g.block, g.params) == (group.block, group.params)]
        full = max(len(g.points) for g in same if g.points.sources.items() >= group.points.sources.items())
        if len(group.points) < full:
            said += [
                f"job {job}: only {len(group.points)} of {full} points: cut short, or built otherwise"
                for job in group.jobs
            ]
    return said


def _reading(runs: Sequence[Run]) -> Iterable[tuple[Run, tuple[Counts, str] | CoverageError]]:
    """In order, a few read ahead: unpacking is most of the work, and threads share it."""
    with ThreadPoolExecutor(2) as pool:
        for at in range(0, len(runs), AHEAD):
            part = runs[at : at + AHEAD]
            yield from zip(part, pool.map(_read, part), strict=True)
