# SPDX-License-Identifier: Apache-2.0
"""The local engine of make regress: every task ends exactly once, whatever becomes of its worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.common import ROOT, UserError
from scripts.regress.engine import Done, Task, engine_for
from tests.engine_kit import LIMIT_S, appears, ends, gone, squares, values
from tests.engine_tasks import work


def test_local_runs_them_all():
    with engine_for("local", 2, {}, work) as engine:
        assert (engine.name, engine.slots) == ("local", 2)
        for task in squares(range(20)):
            engine.submit(task)
        done = ends(engine, 20)
        assert values(done) == {f"square-{n}": n * n for n in range(20)}
        assert len({d.result["pid"] for d in done if d.result}) == 2
        assert os.getpid() not in {d.result["pid"] for d in done if d.result}
        assert engine.wait(0.05) == []


def test_local_loses_only_the_task_of_a_killed_worker(tmp_path):
    with engine_for("local", 2, {}, work) as engine:
        file = tmp_path / "pid"
        engine.submit(Task("hang", {"do": "hang", "file": str(file)}))
        for task in squares(range(30)):
            engine.submit(task)
        done: list[Done] = []
        (pid,) = appears(file, engine, done)
        os.kill(pid, signal.SIGKILL)
        done += ends(engine, 31 - len(done))
        (lost,) = [d for d in done if d.result is None]
        assert (lost.task.key, lost.raised) == ("hang", False)
        assert "code -9 (SIGKILL)" in lost.lost
        assert len(values(done)) == 31
        # the new worker takes its share, and the lost task under the same key
        engine.submit(lost.task)
        for n in range(20):
            engine.submit(Task(f"more-{n}", {"do": "square", "x": n, "s": 0.1}))
        more = ends(engine, 21)
        assert values(more)["hang"] == "second time"
        pids = {d.result["pid"] for d in more if d.result}
        assert len(pids) == 2
        assert pid not in pids
        assert engine.wait(0.1) == []


def test_local_lives_through_workers_killed_idle():
    with engine_for("local", 1, {}, work) as engine:
        for n in range(3):
            engine.submit(Task("t", {"do": "square", "x": n}))
            (done,) = ends(engine, 1)
            assert done.result
            assert done.result["y"] == n * n
            os.kill(done.result["pid"], signal.SIGKILL)
            assert engine.wait(0.3) == []


def test_local_task_that_kills_its_worker_each_time():
    with engine_for("local", 2, {}, work) as engine:
        for n in range(4):
            engine.submit(Task(f"die-{n}", {"do": "die"}))
        engine.submit(Task("square", {"do": "square", "x": 3}))
        done = ends(engine, 5)
        assert values(done) == {**{f"die-{n}": None for n in range(4)}, "square": 9}


def test_local_exception_is_no_lost_worker():
    with engine_for("local", 1, {}, work) as engine:
        engine.submit(Task("bad", {"do": "raise"}))
        engine.submit(Task("good", {"do": "square", "x": 2}))
        bad, good = ends(engine, 2)
        assert bad.raised
        assert bad.lost.startswith("Unpicklable: no such thing (engine_tasks.py:")
        assert good.result
        assert good.result["y"] == 4


def cannot_start(payload):  # pragma: no cover
    """Its module is not there in a worker."""


def test_local_workers_that_cannot_start(monkeypatch):
    monkeypatch.setattr(cannot_start, "__module__", "tests.no_such_module")
    module = type(sys)("tests.no_such_module")
    module.cannot_start = cannot_start  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tests.no_such_module", module)
    with engine_for("local", 2, {}, cannot_start) as engine:
        engine.submit(Task("t", {}))
        (done,) = ends(engine, 1)
        assert done.lost.startswith("no worker could be started: its worker ended with code 1")


@pytest.mark.parametrize("how", ["kill", "exception"])
def test_local_kill_leaves_nothing(tmp_path, how):
    file = tmp_path / "pids"
    engine = engine_for("local", 2, {}, work)
    engine.submit(Task("child", {"do": "child", "file": str(file)}))
    if how == "kill":
        pids = appears(file, engine)
        engine.close(kill=True)
    else:
        pids = appears(file, engine)
        with pytest.raises(KeyboardInterrupt), engine:
            raise KeyboardInterrupt
    assert len(pids) == 3
    assert all(not Path(f"/proc/{p}").exists() for p in pids[:1])
    assert all(gone(p) for p in pids)
    engine.close()


def test_simulator_dies_with_a_killed_worker(tmp_path):
    """Nobody is left who could: the worker gets SIGKILL. Its simulator, and what that started, must go too."""
    with engine_for("local", 1, {}, work) as engine:
        file = tmp_path / "pids"
        engine.submit(Task("child", {"do": "child", "file": str(file)}))
        worker, simulator, child = appears(file, engine)
        os.kill(worker, signal.SIGKILL)
        (done,) = ends(engine, 1)
        assert done.result is None
        assert gone(simulator)
        assert gone(child)


PARENT = """
import sys
import time
from scripts.regress.engine import Task, engine_for
from tests.engine_tasks import work
if __name__ == "__main__":
    engine = engine_for(sys.argv[2], 1, {}, work)
    engine.submit(Task("child", {"do": "child", "file": sys.argv[1]}))
    try:
        while True:
            engine.wait(60)
    except KeyboardInterrupt:
        time.sleep(1)  # a worker that minded would have said so by then
        raise
"""


@pytest.mark.parametrize(
    ("name", "number"), [("local", signal.SIGKILL), ("local", signal.SIGINT), ("dask", signal.SIGKILL)]
)
def test_workers_die_with_the_parent(tmp_path, name, number):
    """SIGINT to the whole group, as a terminal sends it: the parent deals with it, no worker says a word."""
    script, file = tmp_path / "parent.py", tmp_path / "pids"
    script.write_text(PARENT)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, str(script), str(file), name],
        env=env,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        pids = appears(file)
        os.killpg(parent.pid, number) if number == signal.SIGINT else parent.send_signal(number)
        _, said = parent.communicate(timeout=LIMIT_S)
    finally:
        parent.kill()
    assert said.decode().count("Traceback") == (number == signal.SIGINT)
    assert all(gone(p) for p in pids)


def test_unknown_engine():
    with pytest.raises(UserError, match="ENGINE: unknown engine 'lokal'; did you mean 'local'"):
        engine_for("lokal", 1, {}, work)
