# SPDX-License-Identifier: Apache-2.0
"""One child process in its own process group, with a wall-clock limit on the whole group.

A simulator that hangs has children of its own (make, compilers, helpers it forked): when the limit
is reached, when we are interrupted, and when the child ends, everything that it started is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

POLL_S = 0.02


@dataclass(frozen=True)
class Ended:
    """How a process ended: its return code (negative: the signal), seconds, and if it was killed."""

    returncode: int
    seconds: float
    timed_out: bool
    peak_mb: float


def _descendants(pid: int) -> list[int]:
    import psutil

    with suppress(psutil.Error):
        return [p.pid for p in psutil.Process(pid).children(recursive=True)]
    return []


def _kill(pid: int, others: Sequence[int]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for other in others:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(other, signal.SIGKILL)


def _rss_mb(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/status") as f:
            for line in f:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def run_group(
    cmd: Sequence[str],
    *,
    limit_s: float,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    stdout: IO[str] | int | None = None,
    tick: Callable[[], None] | None = None,
) -> Ended:
    """Run `cmd` for at most `limit_s` seconds; `tick` is called about five times a second.

    Raises OSError when the program cannot be started.
    """
    start = time.monotonic()
    child = subprocess.Popen(
        list(cmd),
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT if stdout is not None else None,
        start_new_session=True,
    )
    escaped: list[int] = []
    timed_out = False
    peak = 0.0
    next_tick = start + 0.1
    try:
        while True:
            # wait(timeout) polls with growing sleeps, too coarse for runs of a few milliseconds
            code = child.poll()
            if code is not None:
                break
            now = time.monotonic()
            if now - start > limit_s:
                timed_out = True
                break
            if now >= next_tick:
                next_tick = now + 0.2
                peak = max(peak, _rss_mb(child.pid))
                if tick is not None:
                    tick()
            time.sleep(POLL_S)
    finally:
        if child.returncode is None:
            # a child that called setsid() has left the group but is still a descendant
            escaped = _descendants(child.pid)
        _kill(child.pid, escaped)
        child.wait()
    return Ended(child.returncode, time.monotonic() - start, timed_out, peak)
