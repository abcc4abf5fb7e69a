# SPDX-License-Identifier: Apache-2.0
"""What the tests of the engines share: tasks, waiting for them, and for processes to be gone."""

from __future__ import annotations

import time
from pathlib import Path

from scripts.regress.engine import Done, Engine, Task

LIMIT_S = 60


def squares(numbers: range) -> list[Task]:
    """Short tasks."""
    return [Task(f"square-{n}", {"do": "square", "x": n, "s": 0.02}) for n in numbers]


def ends(engine: Engine, count: int, limit_s: float = LIMIT_S) -> list[Done]:
    """What `count` tasks ended with; AssertionError when that takes too long."""
    found: list[Done] = []
    limit = time.monotonic() + limit_s
    while len(found) < count:
        assert time.monotonic() < limit, f"only {[d.task.key for d in found]}"
        found += engine.wait(0.5)
    return found


def appears(path: Path, engine: Engine | None = None, done: list[Done] | None = None) -> list[int]:
    """The pids that a task writes; `done` gets what ends in the meantime."""
    limit = time.monotonic() + LIMIT_S
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < limit, f"{path} does not appear"
        if engine is None:
            time.sleep(0.02)
        else:
            ended = engine.wait(0.02)
            assert done is not None or not ended, ended
            if done is not None:
                done += ended
    return [int(x) for x in path.read_text().split()]


def gone(pid: int) -> bool:
    """It ended within two seconds; a zombie counts."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def values(done: list[Done]) -> dict[str, object]:
    """What came of each task, which must have ended once; None when it was lost."""
    assert len({d.task.key for d in done}) == len(done), "a task ended twice"
    return {d.task.key: d.result and d.result["y"] for d in done}
