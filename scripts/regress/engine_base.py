# SPDX-License-Identifier: Apache-2.0
"""What the engines share: tasks that wait, tasks that ended, and a context that kills on an exception."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType
from typing import Self

from scripts.common import UserError
from scripts.regress.engine import Done, Task


class QueueEngine:
    """The rules of scripts/regress/engine.py; a class says how it listens, hands out and closes."""

    def __init__(self) -> None:
        self._waiting: deque[Task] = deque()
        self._ended: list[Done] = []
        self._closed = False

    def submit(self, task: Task) -> None:
        """Take a task; UserError when the engine is closed."""
        if self._closed:
            raise UserError("the engine is closed")
        self._waiting.append(task)
        self._feed()

    def wait(self, timeout_s: float) -> list[Done]:
        """What ended since the last call; back as soon as there is something, or after `timeout_s`."""
        limit = time.monotonic() + timeout_s
        while not self._ended and not self._closed:
            left = limit - time.monotonic()
            self._listen(max(0.0, left))
            self._feed()
            if left <= 0:
                break
        ended, self._ended = self._ended, []
        return ended

    def close(self, kill: bool = False) -> None:
        """End all workers."""
        raise NotImplementedError

    def _listen(self, left_s: float) -> None:
        """Take in what workers say, for at most `left_s` seconds."""
        raise NotImplementedError

    def _feed(self) -> None:
        """Hand waiting tasks to workers that are free."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(kill=kind is not None)
