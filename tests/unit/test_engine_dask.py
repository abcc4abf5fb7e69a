# SPDX-License-Identifier: Apache-2.0
"""The Dask engine, on schedulers and worker processes of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.common import ROOT, UserError
from scripts.regress import dask_worker, engine_dask
from scripts.regress.engine import Done, Task, engine_for
from tests.dask_cluster import Cluster
from tests.engine_kit import LIMIT_S, appears, ends, gone, squares, values
from tests.engine_tasks import work


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    """A scheduler that nobody uses yet, and that does not know the project."""
    with Cluster(tmp_path, root=tmp_path) as c:
        yield c


@contextmanager
def engine_on(cluster: Cluster, tmp_path: Path, **settings: str):
    with engine_for("dask", 9, {"DASK": cluster.address, **settings}, work, folder=tmp_path) as engine:
        yield engine


def test_lost_worker_costs_no_task(cluster, tmp_path):
    # one of them was started elsewhere and does not know the project
    workers = [cluster.worker(), cluster.worker(), cluster.worker(root=tmp_path)]
    with engine_on(cluster, tmp_path) as engine:
        file, done = tmp_path / "pid", []
        engine.submit(Task("hang", {"do": "hang", "file": str(file)}))
        for task in squares(range(60)):
            engine.submit(task)
        (pid,) = appears(file, engine, done)
        assert pid in [w.pid for w in workers]
        os.kill(pid, signal.SIGKILL)
        done += ends(engine, 61 - len(done))
        assert values(done) == {"hang": "second time", **{f"square-{n}": n * n for n in range(60)}}
        assert engine.wait(0.3) == []
        pids = {d.result["pid"] for d in done if d.result}
        assert pids <= {w.pid for w in workers}
        # a worker that comes later gets its share
        late = cluster.worker()
        found: list[Done] = []
        for _ in range(100):
            for n in range(8):
                engine.submit(Task(f"late-{n}", {"do": "square", "x": n, "s": 0.1}))
            found = ends(engine, 8)
            if late.pid in {d.result["pid"] for d in found if d.result}:
                break
        else:
            raise AssertionError("the late worker got nothing")
        limit = time.monotonic() + LIMIT_S
        while engine.slots != 3:
            assert time.monotonic() < limit, engine.slots
            engine.wait(0.5)


def test_task_that_kills_each_worker_ends_as_lost(tmp_path):
    """On a cluster of the engine's own, which starts workers anew; an exception is none of that."""
    with engine_for("dask", 2, {}, work, folder=tmp_path) as engine:
        assert (engine.name, engine.slots) == ("dask", 2)
        engine.submit(Task("die", {"do": "die"}))
        engine.submit(Task("bad", {"do": "raise"}))
        for task in squares(range(10)):
            engine.submit(task)
        done = {d.task.key: d for d in ends(engine, 12)}
        assert "4 Dask workers ended while they ran it" in done["die"].lost
        assert not done["die"].raised
        assert done["bad"].raised
        assert done["bad"].lost.startswith("Unpicklable: no such thing")
        assert sum(d.result is not None for d in done.values()) == 10
        scratch = engine.scratch  # type: ignore[attr-defined]
        assert scratch.exists()
    assert not scratch.exists()
    assert not list(tmp_path.glob(".microhop*"))


def test_kill_ends_simulators_on_the_workers(cluster, tmp_path):
    cluster.worker()
    file = tmp_path / "pids"
    with engine_on(cluster, tmp_path) as engine:
        engine.submit(Task("child", {"do": "child", "file": str(file)}))
        worker, *simulators = appears(file, engine)
        engine.close(kill=True)
        assert all(gone(p) for p in simulators)
        # the cluster is not ours: its worker stays
        os.kill(worker, 0)
        assert cluster.scheduler.poll() is None


@pytest.mark.parametrize("what", ["workers", "scheduler"])
def test_all_gone_is_no_hang(cluster, tmp_path, what, monkeypatch):
    monkeypatch.setattr(engine_dask, "CONNECT_S", 3.0)
    worker = cluster.worker()
    file = tmp_path / "pid"
    with engine_on(cluster, tmp_path) as engine:
        engine._wait_s = 2  # not before: the worker may take longer to come
        engine.submit(Task("hang", {"do": "hang", "file": str(file)}))
        engine.submit(Task("square", {"do": "square", "x": 1}))
        appears(file, engine)
        (worker if what == "workers" else cluster.scheduler).kill()
        start = time.monotonic()
        done = ends(engine, 2)
        assert values(done) == {"hang": None, "square": None}
        said = {"workers": "no worker for 2 s", "scheduler": "the Dask scheduler is gone"}[what]
        assert all(said in d.lost and not d.raised for d in done)
        engine.submit(Task("later", {"do": "square", "x": 1}))
        (later,) = ends(engine, 1)
        assert later.result is None
        assert time.monotonic() - start < LIMIT_S / 2


def test_nobody_answers(monkeypatch, tmp_path):
    monkeypatch.setattr(engine_dask, "CONNECT_S", 1.0)
    with pytest.raises(UserError, match=r"DASK=tcp://127.0.0.1:9: no scheduler answers there"):
        engine_for("dask", 1, {"DASK": "tcp://127.0.0.1:9"}, work, folder=tmp_path)
    with pytest.raises(UserError, match="an address is written tcp://host:8786"):
        engine_for("dask", 1, {"DASK": "head node"}, work, folder=tmp_path)
    with socket.socket() as silent:
        # takes calls, but is no scheduler
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(UserError, match="no scheduler answers there"):
            engine_for("dask", 1, {"DASK": f"tcp://127.0.0.1:{silent.getsockname()[1]}"}, work, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_scheduler_without_workers(cluster, tmp_path):
    with pytest.raises(UserError, match=r"ENGINE=dask: no worker for 1 s \(WAIT= sets how long\)"):
        engine_for("dask", 1, {"DASK": cluster.address, "WAIT": "1"}, work, folder=tmp_path)
    with pytest.raises(UserError, match="WAIT=soon"):
        engine_for("dask", 1, {"DASK": cluster.address, "WAIT": "soon"}, work, folder=tmp_path)


def test_wrong_workers_are_named(cluster, tmp_path, monkeypatch):
    wide = cluster.worker("--nthreads", "2")
    with (
        pytest.raises(UserError, match=r"has 2 threads; start workers with --nthreads 1"),
        engine_on(cluster, tmp_path),
    ):
        pass
    wide.kill()
    cluster.worker()
    time.sleep(1)
    for name, value, said in (
        ("LOADED", "x", "was started with other sources"),
        ("python_version", lambda: "2.7", "not 2.7"),
        ("sources_digest", lambda: "x", "has other sources in"),
        ("ROOT", Path("/bin"), r"runs the tree .*, not /bin"),
    ):
        with monkeypatch.context() as m:
            m.setattr(dask_worker, name, value)
            with pytest.raises(UserError, match=rf"DASK: worker tcp://\S+ .*{said}"), engine_on(cluster, tmp_path):
                pass


def test_late_wrong_worker_gets_nothing(cluster, tmp_path):
    """It joins a running engine and has another tree: sent home, its tasks go to the good one."""
    other = tmp_path / "other"
    for part in ("scripts", "models", "spec"):
        shutil.copytree(ROOT / part, other / part, ignore=shutil.ignore_patterns("__pycache__"))
    (other / "tests").mkdir()
    for name in ("__init__.py", "engine_tasks.py"):
        shutil.copy(ROOT / "tests" / name, other / "tests")
    cluster.worker()
    with engine_on(cluster, tmp_path) as engine:
        # it has imported from there already
        bad = cluster.worker("--nthreads", "1", "--preload", "scripts.common", root=other)
        sent, done = 0, []
        while bad.poll() is None:
            assert sent < 1000, "the wrong worker stays"
            engine.submit(Task(f"t-{sent}", {"do": "square", "x": sent, "s": 0.02}))
            sent += 1
            done += engine.wait(0.05)
        done += ends(engine, sent - len(done))
        assert values(done) == {f"t-{n}": n * n for n in range(sent)}


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file/\.microhop-\w+: cannot be written: File exists"):
        engine_for("dask", 1, {}, work, folder=tmp_path / "file")
