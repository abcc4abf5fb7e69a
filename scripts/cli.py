# SPDX-License-Identifier: Apache-2.0
"""The verbs of the Makefile. `make sim BLOCK=wire` is `python -m scripts.cli sim BLOCK=wire`.

Exit codes: 0 passed, 1 a check failed, 2 it could not be run (bad input, missing tool, no build).
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer
from rich.console import Console

from models.spec import SpecError
from scripts.common import EXIT_ERROR, EXIT_FAIL, EXIT_PASS, UserError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
Settings = Annotated[list[str] | None, typer.Argument(metavar="[KEY=value]...")]


def _given(words: list[str] | None) -> dict[str, str]:
    from scripts.settings import pairs

    return pairs(words or [])


@app.command()
def sim(settings: Settings = None) -> None:
    """Build and run one test of a block, compare it with its model, print where the time goes."""
    from scripts.blocks import blocks
    from scripts.figures import check_figures
    from scripts.progress import Live
    from scripts.report import show
    from scripts.run import execute
    from scripts.settings import sim_request

    spec = blocks()
    request = sim_request(spec, _given(settings))
    check_figures()
    with Live(console, f"{request.block}/{request.test} on {request.sim}") as live:
        outcome = execute(spec, request, live)
    show(console, outcome.report, outcome.extra)
    raise typer.Exit(outcome.exit_code)


@app.command()
def timing(settings: Settings = None) -> None:
    """Synthesise a block's modules and print their longest path in FO4."""
    from scripts.timing import main_blocks

    raise typer.Exit(main_blocks(console, _given(settings)))


@app.command()
def formal(settings: Settings = None) -> None:
    """Prove the properties of formal/, and that planted faults are refuted."""
    from scripts.formal import main_formal

    raise typer.Exit(main_formal(console, _given(settings)))


@app.command()
def lint(settings: Settings = None) -> None:
    """Check all sources: Verilator, Verible, ruff, mypy."""
    from scripts.lint import main_lint

    raise typer.Exit(main_lint(console, _given(settings)))


@app.command()
def test(settings: Settings = None) -> None:
    """Run everything that must pass, on both simulators."""
    from scripts.figures import check_figures
    from scripts.suite import main_test

    check_figures()
    raise typer.Exit(main_test(_given(settings)))


@app.command()
def mutate(settings: Settings = None) -> None:
    """Plant faults in copies of the tree, hand-written and by operators: the benches must see them."""
    from scripts.figures import check_figures
    from scripts.mutate import main_mutate

    check_figures()
    raise typer.Exit(main_mutate(console, _given(settings)))


@app.command()
def regress(settings: Settings = None) -> None:
    """Run many tests by a profile, on one machine or many, and make the page that says how they went."""
    from scripts.figures import check_figures
    from scripts.regress.main import main_regress

    check_figures()
    raise typer.Exit(main_regress(console, _given(settings)))


@app.command()
def report(settings: Settings = None) -> None:
    """Make the page of a finished regression again."""
    from scripts.regress.main import main_report

    raise typer.Exit(main_report(console, _given(settings)))


@app.command()
def cov(settings: Settings = None) -> None:
    """Print the coverage of a finished regression and its holes by name."""
    from scripts.regress.main import main_cov

    raise typer.Exit(main_cov(console, _given(settings)))


@app.command()
def bench(settings: Settings = None) -> None:
    """Print simulated cycles per second, beside the same design under a bare C++ harness."""
    from scripts.bench import main_bench
    from scripts.figures import check_figures

    check_figures()
    raise typer.Exit(main_bench(console, _given(settings)))


@app.command()
def model(settings: Settings = None) -> None:
    """Run the golden model of the switch alone: latency against load, fairness, incast, a hot spot."""
    from scripts.model import main_model

    raise typer.Exit(main_model(console, _given(settings)))


@app.command()
def compare(settings: Settings = None) -> None:
    """Run the same three-hop traffic through both profiles and print by how much native is below RoCE."""
    from scripts.compare import main_compare
    from scripts.figures import check_figures

    check_figures()
    raise typer.Exit(main_compare(console, _given(settings)))


@app.command()
def waves(settings: Settings = None) -> None:
    """Run a test with waves and say where they are."""
    sim([*(settings or []), "WAVES=1"])


@app.command()
def doctor(settings: Settings = None) -> None:
    """Print each tool, its version, where it is, and what is missing."""
    from scripts.doctor import main as main_doctor

    raise typer.Exit(main_doctor(settings or []))


@app.command()
def clean(settings: Settings = None) -> None:
    """Remove everything that was generated."""
    import shutil

    from scripts.common import BUILD
    from scripts.settings import only

    only(_given(settings), (), "clean")
    shutil.rmtree(BUILD, ignore_errors=True)
    raise typer.Exit(EXIT_PASS)


def _interrupted(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def main() -> None:
    """Run a verb; bad input ends with one clear message, not a traceback."""
    # cocotb's runner would take these from the environment, where make has put its variables
    for name in ("WAVES", "GUI", "MAKEFLAGS", "MFLAGS"):
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        app(standalone_mode=True)
    except (UserError, SpecError) as e:
        Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {_safe(e)}", soft_wrap=True)
        sys.exit(EXIT_ERROR)
    except KeyboardInterrupt:
        sys.exit(EXIT_FAIL)


def _safe(error: Exception) -> str:
    from rich.markup import escape

    return escape(str(error))


if __name__ == "__main__":
    main()
