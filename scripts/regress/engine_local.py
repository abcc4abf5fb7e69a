# SPDX-License-Identifier: Apache-2.0
"""ENGINE=local: worker processes on this machine, each at the end of a pipe of its own.

Nothing is shared between workers, no queue and no lock, so a worker that is killed at any moment (also idle,
also in the middle of an answer) can hurt only itself; the end of its pipe says so at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from scripts.proc import kill_trees
from scripts.regress.engine import Done, Function, Task, attempt
from scripts.regress.engine_base import QueueEngine

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

READY = "ready"
BAD_STARTS = 3
JOIN_S = 10


def _serve(pipe: Connection, function: Function) -> None:
    """A worker: says that it is ready, then answers each payload with (result, text of the exception)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    pipe.send(READY)
    while True:
        try:
            payload = pipe.recv()
        except (EOFError, OSError):
            return
        if payload is None:
            return
        pipe.send(attempt(function, payload))


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    """When the parent is gone, go too, and with us (scripts/proc.py) the simulator."""
    parent.join()
    os._exit(1)


class _Worker:
    """One process, its pipe, and the task that it runs."""

    def __init__(self, function: Function) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_serve, args=(theirs, function), name="microhop-worker", daemon=True
        )
        self.ready = False
        self.task: Task | None = None
        # started now, as it would undo the mask; the mask is inherited, so that Ctrl-C is the parent's to deal
        # with from the worker's first moment
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

    def end(self) -> str:
        """Fetch a process whose pipe is closed; how it ended, in words."""
        self.process.join(1)
        if self.process.is_alive():
            self.kill()
        code = self.process.exitcode
        self.pipe.close()
        return f"its worker ended with code {code}" + (f" ({signal.Signals(-code).name})" if code and code < 0 else "")

    def kill(self) -> None:
        kill_trees([self.process.pid] if self.process.pid else [])
        self.process.join()


class LocalEngine(QueueEngine):
    """Up to `jobs` processes; see scripts/regress/engine.py."""

    name = "local"

    def __init__(self, jobs: int, function: Function) -> None:
        super().__init__()
        self.slots = jobs
        self._function = function
        self._workers: list[_Worker] = []
        self._bad_starts = 0
        self._fill()

    def _listen(self, left_s: float) -> None:
        pipes = {w.pipe: w for w in self._workers}
        for pipe in wait(list(pipes), left_s):
            self._hear(pipes[pipe])  # type: ignore[index]
        self._fill()

    def close(self, kill: bool = False) -> None:
        if self._closed:
            return
        self._closed = True
        self._waiting.clear()
        if not kill:
            for w in self._workers:
                with suppress(OSError):
                    w.pipe.send(None)
            for w in self._workers:
                # one that runs a task may finish it; an idle one has no reason to stay
                w.process.join(None if w.task else JOIN_S)
        kill_trees([w.process.pid for w in self._workers if w.process.pid and w.process.is_alive()])
        for w in self._workers:
            w.process.join()
            w.pipe.close()
        self._workers.clear()

    def _hear(self, worker: _Worker) -> None:
        try:
            said = worker.pipe.recv()
        except (EOFError, OSError):
            self._lose(worker)
            return
        if said == READY:
            worker.ready = True
            self._bad_starts = 0
        elif worker.task is not None:
            result, raised = said
            self._ended.append(Done(worker.task, result, raised, result is None))
            worker.task = None

    def _lose(self, worker: _Worker) -> None:
        how = worker.end()
        self._workers.remove(worker)
        if worker.task is not None:
            self._ended.append(Done(worker.task, None, how))
        if worker.ready:
            self._bad_starts = 0
        else:
            self._bad_start(how)

    def _bad_start(self, how: str) -> None:
        self._bad_starts += 1
        if self._bad_starts >= BAD_STARTS and not self._workers:
            self._ended += [Done(t, None, f"no worker could be started: {how}") for t in self._waiting]
            self._waiting.clear()
            self._bad_starts = 0

    def _fill(self) -> None:
        """Start what is missing of the workers, as long as they can be started."""
        while len(self._workers) < self.slots and self._bad_starts < BAD_STARTS:
            try:
                self._workers.append(_Worker(self._function))
            except OSError as e:
                self._bad_start(f"{e.strerror}")
                break

    def _feed(self) -> None:
        for worker in self._workers:
            if not self._waiting:
                return
            if worker.ready and worker.task is None:
                worker.task = self._waiting.popleft()
                try:
                    worker.pipe.send(worker.task.payload)
                except OSError:
                    # died idle: it never got the task
                    self._waiting.appendleft(worker.task)
                    worker.task = None
