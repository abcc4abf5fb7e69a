# SPDX-License-Identifier: Apache-2.0
"""Runs a block's faults, some at a time, and keeps what is done after each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from scripts.blocks import Blocks
from scripts.common import UserError
from scripts.mutate.fault import Fault, Finding, Trial
from scripts.mutate.trial import judge, run_in

COLOURS = {"killed": "green", "survived": "bold red", "error": "yellow", "equivalent": "dim"}


class Stopped(Exception):
    """The user wants no more; raised inside the threads that wait for a process."""


def clean_runs(tree: Path, trials: Sequence[Trial], spec: Blocks, console: Console) -> dict[Trial, float]:
    """Seconds of each trial on the clean tree; UserError when one is red: no fault can be judged then."""
    console.print(f"clean tree: {len(trials)} runs")
    # runs that share a build stand together
    ordered = sorted(trials, key=lambda t: (t.block, t.sim, t.params))
    ended = run_in(tree, ordered, spec, everything=True)
    red = [(t, e) for t, e in zip(ordered, ended, strict=True) if e["verdict"] != "pass"]
    if red:
        said = "\n".join(f"{t.title}: {e['verdict']}: {e['reason']}" for t, e in red)
        raise UserError(f"the clean tree is not green, so no mutant can be judged:\n{said}")
    return {t: float(e["run_s"]) for t, e in zip(ordered, ended, strict=True)}


def run_all(
    console: Console,
    title: str,
    faults: Sequence[Fault],
    spec: Blocks,
    clean: Path,
    clean_s: dict[Trial, float],
    jobs: int,
    done: Callable[[Finding], None],
) -> None:
    """Judge every fault, `jobs` at a time; `done` is called after each. KeyboardInterrupt stops the processes."""
    stop = threading.Event()

    def tick() -> None:
        if stop.is_set():
            raise Stopped

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    start = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool, bar:
        task = bar.add_task(title, total=len(faults))
        left: set[Future[Finding]] = {
            pool.submit(judge, f, spec, clean, clean_s=clean_s, tick=tick) for f in faults
        }  # fmt: skip
        count = 0
        try:
            while left:
                ready, left = wait(left, return_when=FIRST_COMPLETED)
                for future in ready:
                    found = future.result()
                    count += 1
                    done(found)
                    bar.advance(task)
                    _tell(bar.console, found, f"{count}/{len(faults)}", time.monotonic() - start)
        except BaseException:
            stop.set()
            for future in left:
                future.cancel()
            raise


def _tell(console: Console, found: Finding, at: str, seconds: float) -> None:
    colour = COLOURS[found.state]
    by = (
        f" by {found.killed_by}: {found.reason.splitlines()[0][:90] if found.reason else ''}" if found.killed_by else ""
    )
    text = escape(f"{found.fault.name}{by}")
    console.print(f"{at:>7} {seconds:5.0f} s  [{colour}]{found.state}[/] {text}", overflow="ellipsis", no_wrap=True)
