# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster of processes, for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from scripts.common import ROOT

START_S = 60


class Cluster:
    """A scheduler and workers, each a process as `dask scheduler` and `dask worker` start them."""

    def __init__(self, tmp: Path, root: Path = ROOT) -> None:
        """`root`: what is on the scheduler's PYTHONPATH."""
        self.tmp = tmp
        self.processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{s.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", root=root)
        limit = time.monotonic() + START_S
        while not self._answers(int(port)):
            if time.monotonic() > limit or self.scheduler.poll() is not None:
                self.__exit__()
                raise AssertionError((tmp / "scheduler-0.log").read_text())
            time.sleep(0.1)

    @staticmethod
    def _answers(port: int) -> bool:
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    def worker(self, *arguments: str, root: Path = ROOT) -> subprocess.Popen[bytes]:
        """One more worker, with one thread unless told otherwise."""
        words = arguments or ("--nthreads", "1")
        scratch = ["--local-directory", str(self.tmp), "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
        return self._start("worker", self.address, *scratch, *words, root=root)

    def _start(self, what: str, *arguments: str, root: Path = ROOT) -> subprocess.Popen[bytes]:
        with (self.tmp / f"{what}-{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments],
                cwd=self.tmp,
                env={**os.environ, "PYTHONPATH": str(root)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
