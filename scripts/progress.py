# SPDX-License-Identifier: Apache-2.0
"""Live progress of a run: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

WORDS = {"build": "building", "run": "simulating"}
QUIET_S = 15.0


def _text(progress: dict[str, Any] | None) -> str:
    if not progress:
        return ""
    parts = [str(progress.get("phase", ""))]
    if progress.get("total"):
        parts.append(f"{progress.get('done', 0)}/{progress['total']}")
    if progress.get("cycle") is not None:
        parts.append(f"cycle {progress['cycle']:,}")
    return "  ".join(p for p in parts if p)


class Live:
    """Shows a run's phases; use as a context."""

    def __init__(self, console: Console, title: str) -> None:
        self.console, self.title = console, title
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task(title, total=None, note="")
        self.said = time.monotonic()
        self.now = ""

    def __enter__(self) -> Live:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def phase(self, name: str) -> None:
        """A new phase began."""
        self.now = WORDS.get(name, name)
        self.bar.reset(self.task, description=f"{self.now} {self.title}", total=None, note="")
        self.said = time.monotonic() - QUIET_S

    def update(self, progress: dict[str, Any] | None) -> None:
        """The bench got so far."""
        if progress and progress.get("total"):
            self.bar.update(
                self.task, total=progress["total"], completed=min(progress.get("done", 0), progress["total"])
            )
        self.bar.update(self.task, note=_text(progress))
        if time.monotonic() - self.said > QUIET_S:
            self.said = time.monotonic()
            if not self.console.is_terminal:
                self.console.print(f"{self.now} {self.title} {_text(progress)}".rstrip())
