# SPDX-License-Identifier: Apache-2.0
"""Live progress of a regression: what runs, what failed, time left. A line now and then in a log."""

from __future__ import annotations

import time
from collections import Counter

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from scripts.regress.records import Plan, Record

QUIET_S = 20.0
SHOWN = 8
STYLES = {"pass": "green", "fail": "bold red", "timeout": "bold red", "error": "bold magenta", "notrun": "dim"}
GUESS_S = 10.0


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progressing:
    """Shows a regression; use as a context. `known_s`: seconds that jobs took before, by name."""

    def __init__(self, console: Console, slots: int, known_s: dict[str, float]) -> None:
        self.console, self.slots, self.known_s = console, max(slots, 1), known_s
        self.counts: Counter[str] = Counter()
        self.expected_s: dict[int | str, float] = {}
        self.said = time.monotonic()
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("{task.fields[left]}"), console=console,
        )  # fmt: skip
        self.task = self.bar.add_task("regress", total=None, left="")
        self.lines = Text()
        self.live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Progressing:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live.is_started:
            self.live.stop()

    def begin(self, plan: Plan, done: list[Record]) -> None:
        """The plan is known; `done` are jobs of an earlier part."""
        finished = {r.job.number for r in done}
        self.bar.update(self.task, total=len(plan.jobs), completed=len(done))
        for record in done:
            self.counts[record.verdict] += 1
        known = [self.known_s[j.name] for j in plan.jobs if j.name in self.known_s]
        guess = sum(known) / len(known) if known else GUESS_S
        waiting = [j for j in plan.jobs if j.number not in finished]
        self.expected_s = {j.number: self.known_s.get(j.name, guess) for j in waiting}
        self.expected_s |= {j.build: self.known_s.get(j.build, GUESS_S) for j in waiting}
        self.console.print(
            f"{plan.id}: {len(plan.jobs)} jobs"
            + (f", {len(done)} of them done before" if done else "")
            + f", {self.slots} at a time",
            highlight=False,
        )

    def built(self, name: str) -> None:
        """A build ended."""
        self.expected_s.pop(name, None)

    def ended(self, record: Record) -> None:
        """A job ended."""
        self.counts[record.verdict] += 1
        self.expected_s.pop(record.job.number, None)
        self.bar.update(self.task, advance=1)
        if record.bad:
            first = record.reason.splitlines()[0] if record.reason else ""
            line = Text(f"{record.verdict.upper():<8}", style=STYLES[record.verdict])
            line.append(f"{record.job.name}: {first[:200]}", style="default")
            self.console.print(line, soft_wrap=True, highlight=False)

    def tick(self, running: list[tuple[str, float]], waiting: int) -> None:
        """What runs now."""
        left = sum(self.expected_s.values()) - sum(min(s, GUESS_S) for _, s in running)
        text = f"about {duration(max(left, 0) / self.slots)} left"
        self.bar.update(self.task, left=text)
        tally = ", ".join(f"{n} {v}" for v, n in sorted(self.counts.items()))
        if self.live.is_started:
            shown = [Text(f"  {name}  {duration(s)}", style="dim") for name, s in running[:SHOWN]]
            self.live.update(Group(self.bar, Text(f"  {tally}"), *shown), refresh=True)
        elif time.monotonic() - self.said > QUIET_S:
            self.said = time.monotonic()
            names = "; ".join(f"{name} ({duration(s)})" for name, s in running[:SHOWN])
            done, total = sum(self.counts.values()), self.bar.tasks[0].total or 0
            self.console.print(
                f"{done} of {total:.0f} done ({tally or 'none yet'}), {text}; now: {names}",
                highlight=False, soft_wrap=True, markup=False,
            )  # fmt: skip
