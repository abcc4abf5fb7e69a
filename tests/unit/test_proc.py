# SPDX-License-Identifier: Apache-2.0
"""The wall-clock limit kills the whole process group, and stragglers do not outlive a run."""

from __future__ import annotations

import os
import sys
import time

from scripts.proc import run_group

# forks a child that ignores polite signals, and one in a session of its own; then hangs
HANGS = """
import os, signal, sys, time
pids = []
for own_session in (False, True):
    pid = os.fork()
    if pid == 0:
        if own_session:
            os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
        os._exit(0)
    pids.append(pid)
open(sys.argv[1], "w").write(" ".join(map(str, pids)))
time.sleep(float(sys.argv[2]))
"""


def gone(pid: int) -> bool:
    """The process ended (a zombie that its new parent has not fetched yet counts)."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def hang(tmp_path, seconds, limit):
    script, pids = tmp_path / "hangs.py", tmp_path / "pids"
    script.write_text(HANGS)
    command = [sys.executable, str(script), str(pids), str(seconds)]
    ended = run_group(command, limit_s=limit, cwd=tmp_path, env=os.environ)
    return ended, [int(p) for p in pids.read_text().split()]


def test_limit_kills_all_descendants(tmp_path):
    ended, pids = hang(tmp_path, 60, 5.0)
    assert ended.timed_out
    assert ended.seconds < 30
    assert ended.returncode == -9
    assert all(gone(p) for p in pids)


def test_stragglers_in_the_group_do_not_outlive_it(tmp_path):
    ended, pids = hang(tmp_path, 0.0, 60)
    assert not ended.timed_out
    assert ended.returncode == 0
    assert gone(pids[0])
    os.kill(pids[1], 9)  # left the group and its parent: nobody can know of it


def test_ticks_while_it_runs(tmp_path):
    count = []
    ended = run_group(
        [sys.executable, "-c", "import time; time.sleep(0.8)"],
        limit_s=60,
        cwd=tmp_path,
        env=os.environ,
        tick=lambda: count.append(1),
    )
    assert ended.returncode == 0
    assert len(count) >= 2
