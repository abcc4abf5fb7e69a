# SPDX-License-Identifier: Apache-2.0
"""One plan through each engine, a worker lost on the way: the same verdicts, the same records, each job once."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import dask
import dask_jobqueue  # noqa: F401  (its defaults go into dask.config, before the test changes them)
import pytest

from scripts.regress.engine import engine_for
from scripts.regress.loop import Loop
from scripts.regress.records import Job, Plan, Record
from tests import slurm_node as slurm
from tests.dask_cluster import Cluster

CHECKS = (("smoke", "default"), ("random_backpressure", "default"), ("random_backpressure", "deep"))
SEEDS = range(1, 3)


class Killer:
    """Watches a regression; kills the first worker that ended a job, once, while it runs the next."""

    def __init__(self, kill: bool) -> None:
        self.kill = kill
        self.pids: list[int] = []

    def begin(self, plan: Plan, done: list[Record]) -> None: ...

    def built(self, name: str) -> None: ...

    def tick(self, running: list[tuple[str, float]], waiting: int) -> None: ...

    def ended(self, record: Record) -> None:
        self.pids.append(record.attempts[-1].pid)
        if self.kill:
            self.kill = False
            os.kill(self.pids[0], signal.SIGKILL)


def plan() -> Plan:
    jobs = [(test, params, seed) for test, params in CHECKS for seed in SEEDS]
    limits = {"build_limit_s": 120, "run_limit_s": 120}
    return Plan(
        id="agree",
        profile="none",
        started="",
        jobs=[
            Job(number=n, block="example", test=test, params=params, sim="icarus", seed=seed, **limits)
            for n, (test, params, seed) in enumerate(jobs, 1)
        ],
    )


def run(name: str, settings: dict[str, str], folder: Path, kill: bool) -> list[tuple[str, str, str | None]]:
    """Job, verdict and digest of the bench's records, in the plan's order."""
    killer = Killer(kill)
    with engine_for(name, 2, settings, folder=folder) as engine:
        loop = Loop(plan(), folder, engine, killer)
        records = loop.run()
    assert loop.problems == []
    assert len(killer.pids) == len(records) == len(loop.records)
    if kill:
        assert len(set(killer.pids)) > 1
    assert all(r.digest for r in records)
    return [(r.job.name, r.verdict, r.digest) for r in records]


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> list[tuple[str, str, str | None]]:
    """What local processes find when nothing is lost."""
    found = run("local", {}, tmp_path_factory.mktemp("agree"), kill=False)
    assert {verdict for _, verdict, _ in found} == {"pass"}
    assert len({digest for _, _, digest in found}) > len(CHECKS)
    return found


pytestmark = pytest.mark.xdist_group("engines_agree")


def test_local(expected, tmp_path):
    assert run("local", {}, tmp_path, kill=True) == expected


def test_dask(expected, tmp_path):
    with Cluster(tmp_path) as cluster:
        for _ in range(2):
            cluster.worker()
        assert run("dask", {"DASK": cluster.address}, tmp_path, kill=True) == expected


@pytest.mark.skipif(bool(slurm.why_not()), reason=f"no Slurm here: {slurm.why_not()}")
def test_slurm(expected, tmp_path, monkeypatch):
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, slurm.slurm_node(Path(folder)) as env:
        for name in ("PATH", "SLURM_CONF"):
            monkeypatch.setenv(name, env[name])
        with dask.config.set({"jobqueue.slurm.interface": "lo"}):
            assert run("slurm", {}, tmp_path, kill=True) == expected
