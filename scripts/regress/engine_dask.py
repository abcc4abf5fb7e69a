# SPDX-License-Identifier: Apache-2.0
"""ENGINE=dask: the workers of a Dask cluster, somebody's (DASK=<scheduler>) or one of our own on this machine.

The scheduler itself gives a lost worker's task to another worker; when that killed several workers
(distributed.scheduler.allowed-failures, 3 unless configured), the task ends as lost. Nothing waits for ever:
not for a scheduler that is not there, nor for workers that do not come.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Self

from scripts.common import BUILD, ROOT, UserError, rel
from scripts.proc import kill_groups, kill_trees
from scripts.regress.dask_worker import caller, home_of, look
from scripts.regress.engine import Done, Function, Task
from scripts.regress.engine_base import QueueEngine

CONNECT_S = 10.0
ANSWER_S = 20.0
"""Longest time in which a scheduler or worker that lives answers a short question."""
LOOK_S = 1.0
WAIT_S = 60
SCHEDULER_GONE = "the Dask scheduler is gone"


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Threads and processes that begin in here, and theirs, leave Ctrl-C to the main process."""
    resource_tracker.ensure_running()  # would undo the mask, started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class DaskEngine(QueueEngine):
    """Tasks as futures of one client; see scripts/regress/engine.py."""

    def __init__(
        self,
        name: str,
        cluster: Any,
        function: Function,
        folder: Path,
        *,
        jobs: int | None,
        wait_s: float,
    ) -> None:
        """`cluster`: an address, or a cluster that ends with this engine. `jobs`: None for as many as there are."""
        from distributed import Client

        super().__init__()
        self.name = name
        self._cluster: Any = None if isinstance(cluster, str) else cluster
        self._jobs, self._wait_s = jobs, wait_s
        self._call = caller(str(ROOT))
        self._function = (function.__module__, function.__qualname__)
        self._prefix = f"microhop-{uuid.uuid4().hex[:12]}"
        self._count = 0
        self._out: dict[str, tuple[Task, Any]] = {}
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._workers: set[str] = set()
        self._seen = self._looked = time.monotonic()
        quiet()
        if self._cluster is None:
            _try(cluster)
        self._mark = folder / f".{self._prefix}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._mark.touch()
        except OSError as e:
            raise UserError(f"{rel(self._mark)}: cannot be written: {e.strerror}") from None
        with without_interrupts():
            self._client = Client(cluster, timeout=CONNECT_S, set_as_default=False, name="microhop")
        self._home = home_of(self._mark)

    @property
    def slots(self) -> int:
        return self._jobs or max(1, len(self._workers))

    def start(self) -> None:
        """Wait for the first worker and look at all that are there; UserError when they cannot be used."""
        limit = time.monotonic() + self._wait_s
        while not self._look():
            if time.monotonic() > limit:
                raise UserError(f"ENGINE={self.name}: {self._nobody()}")
            time.sleep(0.1)
        self._inspect()

    def started(self) -> Self:
        """Itself, started; closed with all its workers when it cannot be."""
        try:
            self.start()
        except BaseException:
            self.close(kill=True)
            raise
        return self

    def _inspect(self) -> None:
        threads = self._ask(self._client.scheduler.ncores) or {}
        many = sorted(a for a, n in threads.items() if n != 1)
        if many:
            raise UserError(f"DASK: worker {many[0]} has {threads[many[0]]} threads; start workers with --nthreads 1")
        answers = self._everywhere(look(str(ROOT)), self._home)
        for address, answer in sorted(answers.items()):
            if isinstance(answer, BaseException):
                answer = f"cannot load the project: {first_line(answer)}"
            if answer:
                raise UserError(f"DASK: worker {address} {answer}")

    def _feed(self) -> None:
        """Give out one task a worker: the scheduler blames a worker's end on all that it was given."""
        while self._waiting and len(self._out) < max(1, len(self._workers)) and not self._closed:
            task = self._waiting.popleft()
            self._count += 1
            # a key of its own for each time: the scheduler would give an old key's result
            key = f"{self._prefix}-{self._count}-{task.key}"
            try:
                future = self._client.submit(self._call, *self._function, task.payload, self._home, key=key, pure=False)
            except Exception as e:  # the client closed itself: it gave the scheduler up
                self._ended.append(Done(task, None, f"{SCHEDULER_GONE}: {first_line(e)}"))
                continue
            self._out[key] = (task, future)
            future.add_done_callback(self._events.put)

    def _listen(self, left_s: float) -> None:
        with suppress(queue.Empty):
            self._take(self._events.get(timeout=min(left_s, LOOK_S)))
            while not self._events.empty():
                self._take(self._events.get())
        if time.monotonic() - self._looked > LOOK_S:
            self._watch()

    def close(self, kill: bool = False) -> None:
        if self._closed:
            return
        self._closed = True
        futures = [f for _, f in self._out.values()]
        self._out.clear()
        self._waiting.clear()
        for future in futures:
            # what has not begun will not; what runs ends with its simulator
            future.release()
        if futures:
            self._everywhere(kill_groups)
        with suppress(Exception):
            self._client.close(timeout=ANSWER_S)
        if self._cluster is not None:
            _close_cluster(self._cluster)
        self._mark.unlink(missing_ok=True)

    def _take(self, future: Any) -> None:
        """A future changed: its task ends, unless the result was lost on its way here and is made anew."""
        if future.key not in self._out:
            return
        task = self._out[future.key][0]
        if future.status == "finished":
            try:
                result, raised, wrong = future.result(timeout=ANSWER_S)
            except Exception as e:
                if future.status == "finished" and not isinstance(e, TimeoutError):
                    self._end(future.key, Done(task, None, f"its result cannot be read: {first_line(e)}"))
                else:
                    future.add_done_callback(self._events.put)
                return
            if wrong:
                self._send_home(future.key, task, *wrong)
            else:
                self._end(future.key, Done(task, result, raised, result is None))
        elif future.status == "error":
            self._fail(future, task)
        elif future.status in ("cancelled", "lost"):
            gone = self._client.status != "running"
            self._end(future.key, Done(task, None, SCHEDULER_GONE if gone else "it was cancelled"))
        else:
            future.add_done_callback(self._events.put)

    def _fail(self, future: Any, task: Task) -> None:
        from distributed import KilledWorker

        try:
            error = future.exception(timeout=ANSWER_S)
        except Exception as e:
            error = e
        if isinstance(error, KilledWorker):
            count = error.allowed_failures + 1
            text = f"{count} Dask workers ended while they ran it, the last was {error.last_worker.address}"
            self._end(future.key, Done(task, None, text))
        else:
            text = f"a Dask worker cannot run it: {type(error).__name__}: {first_line(error)}"
            self._end(future.key, Done(task, None, text, raised=True))

    def _send_home(self, key: str, task: Task, address: str, why: str) -> None:
        """A worker that joined after the start is not a good one: without it, the others do the work."""
        self._ask(self._client.retire_workers, [address])
        others = self._workers - {address}
        self._end(key, None if others else Done(task, None, f"worker {address} {why}"))

    def _end(self, key: str, done: Done | None) -> None:
        """A task's future is over, and with it the task; without `done` it is given out anew."""
        task, future = self._out.pop(key)
        future.release()
        if done is None:
            self._waiting.appendleft(task)
        else:
            self._ended.append(done)

    def _look(self) -> set[str]:
        """Which workers there are; what a scheduler does not answer counts as none."""
        self._looked = time.monotonic()
        self._workers = set(self._ask(self._client.scheduler.ncores) or {})
        if self._workers:
            self._seen = time.monotonic()
        return self._workers

    def _watch(self) -> None:
        """Give up what waits for workers that have been gone for too long, or for a scheduler that is."""
        closed = self._client.status == "closed"
        if not closed and (self._look() or time.monotonic() - self._seen < self._limit()):
            return
        why = self._nobody() if self._client.status == "running" else SCHEDULER_GONE
        for key, (task, _) in list(self._out.items()):
            self._end(key, Done(task, None, why))
        self._ended += [Done(task, None, why) for task in self._waiting]
        self._waiting.clear()

    def _limit(self) -> float:
        """Seconds without any worker after which tasks are given up."""
        return self._wait_s

    def _nobody(self) -> str:
        return f"no worker for {self._wait_s:g} s (WAIT= sets how long)"

    def _ask(self, question: Callable[..., Any], *args: Any) -> Any:
        """Call something of the client and wait for it, not for ever; None when there is no answer."""

        async def call() -> Any:
            return await question(*args)

        if self._client.status == "closed":
            return None
        with suppress(Exception):
            return self._client.sync(call, callback_timeout=ANSWER_S)
        return None

    def _everywhere(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Call `function` in each worker beside what it runs; its answers, exceptions among them, by address."""

        async def call() -> Any:
            return await self._client.run(function, *args, on_error="return")

        return self._ask(call) or {}


def _try(address: str) -> None:
    """UserError when nothing that speaks Dask answers at `address`: a client that fails to connect lingers."""
    from distributed.comm import connect

    async def call() -> None:
        # its own limit ends with the connection; whoever takes the call may still say nothing
        comm = await asyncio.wait_for(connect(address, timeout=CONNECT_S), CONNECT_S + 1)
        comm.abort()

    try:
        asyncio.run(call())
    except (OSError, ValueError, TypeError) as e:
        raise UserError(
            f"DASK={address}: no scheduler answers there ({first_line(e)}); an address is written tcp://host:8786"
        ) from None


def quiet() -> None:
    """What happens to workers is told by the tasks that it costs, not by the packages' logs."""
    for name in (
        "distributed",
        "distributed.client",
        "distributed.scheduler",
        "distributed.nanny",
        "tornado",
        "tornado.application",
    ):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def first_line(error: BaseException | None) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _close_cluster(cluster: Any) -> None:
    """Close politely; then see that no worker process of it is left."""
    pids = [w.pid for w in cluster.workers.values() if getattr(w, "pid", None)]
    with suppress(Exception):
        cluster.close(timeout=ANSWER_S)
    kill_trees(pids)


def wait_limit(settings: dict[str, str], default: int) -> int:
    """WAIT=: seconds without any worker after which tasks are given up."""
    from scripts.settings import whole_number

    return whole_number("WAIT", settings.get("WAIT") or str(default))


class _Own(DaskEngine):
    """A cluster of our own on this machine; its scratch folder goes with it."""

    def __init__(self, jobs: int, function: Function, folder: Path, *, wait_s: float) -> None:
        import dask
        from distributed import LocalCluster

        quiet()
        self.scratch = Path(tempfile.mkdtemp(prefix="microhop-dask-"))
        cluster = None
        try:
            with without_interrupts(), dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}):
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",  # a free port: 8787 may be taken
                    host="127.0.0.1",
                    memory_limit=0,  # the workers start processes; their own memory says nothing
                    local_directory=str(self.scratch),
                    silence_logs=logging.CRITICAL + 1,
                )
            super().__init__("dask", cluster, function, folder, jobs=jobs, wait_s=wait_s)
        except BaseException as e:
            if cluster is not None:
                _close_cluster(cluster)
            shutil.rmtree(self.scratch, ignore_errors=True)
            if isinstance(e, (RuntimeError, OSError)):
                raise UserError(f"ENGINE=dask: no cluster of {jobs} workers here: {first_line(e)}") from None
            raise

    def close(self, kill: bool = False) -> None:
        super().close(kill)
        shutil.rmtree(self.scratch, ignore_errors=True)


def dask_engine(jobs: int, settings: dict[str, str], function: Function, folder: Path | None) -> DaskEngine:
    """The engine on the scheduler at DASK=, or else on a cluster of `jobs` processes here."""
    wait_s = wait_limit(settings, WAIT_S)
    folder = folder or BUILD / "regress"
    engine: DaskEngine
    if settings.get("DASK"):
        engine = DaskEngine("dask", settings["DASK"], function, folder, jobs=None, wait_s=wait_s)
    else:
        engine = _Own(jobs, function, folder, wait_s=wait_s)
    return engine.started()
