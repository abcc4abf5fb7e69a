# SPDX-License-Identifier: Apache-2.0
"""The Slurm engine on a Slurm of one node (tests/slurm_node.py): its workers are jobs, and go with it."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import dask_jobqueue  # noqa: F401  (its defaults go into dask.config, before the tests change them)
import pytest

from scripts.common import UserError
from scripts.regress import engine_slurm
from scripts.regress.engine import Task, engine_for
from tests import slurm_node as slurm
from tests.engine_kit import LIMIT_S, appears, ends, gone, squares, values
from tests.engine_tasks import work

needs_slurm = pytest.mark.skipif(bool(slurm.why_not()), reason=f"no Slurm here: {slurm.why_not()}")


@pytest.fixture
def node(monkeypatch) -> Iterator[Path]:
    """A running Slurm of two cores; this process is its user."""
    # not pytest's folder: the path of a socket is short
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, slurm.slurm_node(Path(folder)) as env:
        for name in ("PATH", "SLURM_CONF"):
            monkeypatch.setenv(name, env[name])
        # as a user's ~/.config/dask/jobqueue.yaml would
        with dask.config.set({"jobqueue.slurm.interface": "lo", "distributed.deploy.lost-worker-timeout": "2s"}):
            yield Path(folder)


def queue() -> list[str]:
    """Numbers of the jobs that wait or run."""
    return subprocess.run(["squeue", "-h", "-o", "%i"], capture_output=True, text=True, check=True).stdout.split()


@needs_slurm
def test_workers_are_jobs_and_can_be_lost(node, tmp_path):
    settings = {"QUEUE": "main", "WALLTIME": "00:10:00", "MEMORY": "100MB", "SLURM_OPTIONS": "--nice=3 --comment='a b'"}
    with engine_for("slurm", 2, settings, work, folder=tmp_path) as engine:
        assert (engine.name, engine.slots) == ("slurm", 2)
        file, done = tmp_path / "pid", []
        engine.submit(Task("hang", {"do": "hang", "file": str(file)}))
        for task in squares(range(30)):
            engine.submit(task)
        (worker,) = appears(file, engine, done)
        before = queue()
        assert len(before) == 2
        said = subprocess.run(["scontrol", "show", "job", before[0]], capture_output=True, text=True, check=True).stdout
        for field in ("Partition=main", "TimeLimit=00:10:00", "Comment=a b", "NumCPUs=1", "MinMemoryNode=96M"):
            assert field in said
        # the job with the hanging worker, as Slurm knows it
        job = Path(f"/proc/{worker}/environ").read_bytes().split(b"SLURM_JOB_ID=")[1].split(b"\0")[0].decode()
        subprocess.run(["scancel", "--signal=KILL", "--full", job], check=True)
        done += ends(engine, 31 - len(done))
        assert gone(worker)
        assert values(done) == {"hang": "second time", **{f"square-{n}": n * n for n in range(30)}}
        # a new job takes the place of the lost one
        limit = time.monotonic() + LIMIT_S
        while len(queue()) < 2 or job in queue():
            assert time.monotonic() < limit, queue()
            engine.wait(0.5)
        assert list((tmp_path / "slurm").glob("*.out"))
    limit = time.monotonic() + LIMIT_S
    while queue():
        assert time.monotonic() < limit, "jobs stay in the queue"
        time.sleep(0.2)


@needs_slurm
def test_kill_cancels_jobs_and_simulators(node, tmp_path):
    file = tmp_path / "pids"
    engine = engine_for("slurm", 1, {}, work, folder=tmp_path)
    engine.submit(Task("child", {"do": "child", "file": str(file)}))
    pids = appears(file, engine)
    with pytest.raises(KeyboardInterrupt), engine:
        raise KeyboardInterrupt
    assert all(gone(p) for p in pids[1:])
    limit = time.monotonic() + LIMIT_S
    while queue():
        assert time.monotonic() < limit, "jobs stay in the queue"
        time.sleep(0.2)


@needs_slurm
def test_what_slurm_refuses_is_said(node, tmp_path):
    with pytest.raises(UserError, match="ENGINE=slurm: sbatch: error: .*partition"):
        engine_for("slurm", 1, {"QUEUE": "nowhere"}, work, folder=tmp_path)
    with pytest.raises(UserError, match="SLURM_OPTIONS: 'nice': options are written --name=value"):
        engine_for("slurm", 1, {"SLURM_OPTIONS": "nice"}, work, folder=tmp_path)
    with pytest.raises(UserError, match="SLURM_OPTIONS=.*: No closing quotation"):
        engine_for("slurm", 1, {"SLURM_OPTIONS": "--comment='a"}, work, folder=tmp_path)


@needs_slurm
def test_jobs_that_never_start_end_the_wait(node, tmp_path, monkeypatch):
    monkeypatch.setattr(engine_slurm, "START_S", 0.5)
    settings = {"SLURM_OPTIONS": "--begin=now+1hour", "WAIT": "2"}
    with engine_for("slurm", 1, settings, work, folder=tmp_path) as engine:
        engine.submit(Task("t", {"do": "square", "x": 1}))
        (done,) = ends(engine, 1)
        assert done.lost.startswith("no worker for 2 s (WAIT= sets how long): its jobs: ")
        assert "PENDING (BeginTime)" in done.lost
        assert not done.raised


def test_without_slurm(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no sbatch on PATH; on Debian it is in the package slurm-client"):
        engine_for("slurm", 1, {}, work, folder=tmp_path)
