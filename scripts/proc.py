# SPDX-License-Identifier: Apache-2.0
"""One child process in its own process group, with a wall-clock limit on the whole group.

A simulator that hangs has children of its own (make, compilers, helpers it forked): when the limit
is reached, when we are interrupted, and when the child ends, everything that it started is killed.
When we are killed ourselves, a watcher does it: a shell that waits for the end of a pipe whose other end is
ours alone. PR_SET_PDEATHSIG would reach the child only, not its make and compilers, and follows a thread.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

POLL_S = 0.02
WATCHER = """
trap '' HUP INT TERM
groups=' '
while read -r word group; do
  case $word in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null
"""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its return code (negative: the signal), seconds, and if it was killed."""

    returncode: int
    seconds: float
    timed_out: bool
    peak_mb: float


class _Watcher:
    """Tells the watcher, started with the first group, which groups run; one for each process of ours."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        self._running: set[int] = set()
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forked)

    def add(self, group: int) -> None:
        with self._lock:
            self._running.add(group)
            if not self._say(f"+ {group}\n"):
                # the first group, or somebody killed the watcher: the new one must know all of them
                self._start()
                self._say("".join(f"+ {g}\n" for g in sorted(self._running)))

    def remove(self, group: int) -> None:
        with self._lock:
            self._running.discard(group)
            self._say(f"- {group}\n")

    def running(self) -> list[int]:
        with self._lock:
            return sorted(self._running)

    def _say(self, text: str) -> bool:
        if self._shell is None or self._shell.stdin is None:
            return False
        try:
            os.write(self._shell.stdin.fileno(), text.encode())
        except OSError:
            return False
        return True

    def _start(self) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.wait()
        # a session of its own: who kills our group does not kill the watcher
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", WATCHER],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _forked(self) -> None:
        """A child by fork has groups of its own, and must not hold our end of the pipe."""
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.returncode = 0  # not a child of this process
        self._shell, self._running, self._lock = None, set(), threading.Lock()


_watcher = _Watcher()


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
        _watcher.add(child.pid)
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
        # not after wait(), from where on the number may be another's
        _watcher.remove(child.pid)
        child.wait()
    return Ended(child.returncode, time.monotonic() - start, timed_out, peak)


def kill_groups() -> None:
    """Kill every group that this process runs now, in whichever thread; each run_group sees its child die."""
    for group in _watcher.running():
        _kill(group, _descendants(group))


def _lives(process: psutil.Process) -> bool:
    """Not gone, and not a zombie either: in a container, often nobody fetches those."""
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def kill_trees(pids: Sequence[int], wait_s: float = 5) -> None:
    """Kill processes with everything that they started and wait, at most `wait_s`, until all are gone."""
    import psutil

    doomed: list[psutil.Process] = []
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            # stopped first, so that it starts nothing while we look
            process.suspend()
            doomed += [process, *process.children(recursive=True)]
    for process in doomed:
        with suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == process.pid:
                # with what a make started since we looked
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    limit = time.monotonic() + wait_s
    while any(_lives(p) for p in doomed) and time.monotonic() < limit:
        time.sleep(POLL_S)
