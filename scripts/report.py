# SPDX-License-Identifier: Apache-2.0
"""What a run leaves for people and for other tools: report.json, report.html, the terminal's table.

The bench writes result.json (`Result`); this adds the verdict and the command that repeats the run.
The fields of report.json are stable; docs/running.md lists them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.common import rel

if TYPE_CHECKING:
    from rich.console import Console

NOTE_CHARS = 240
Verdict = Literal["pass", "fail", "error", "timeout"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Figure(_Part):
    """One measured number. `target` and `pass` are null where nothing is demanded."""

    value: float | int
    unit: str
    target: float | int | None = None
    passed: bool | None = Field(default=None, alias="pass")
    conditions: dict[str, Any] = Field(default_factory=dict)


class Latency(_Part):
    """How many output events were compared with the model, and how many differed."""

    checked: int = Field(default=0, ge=0)
    mismatched: int = Field(default=0, ge=0)
    bounded: int = Field(default=0, ge=0)


class Stage(_Part):
    """One stage of a path: what it took (cycles, ns), what it may take, what the model says."""

    path: str
    name: str
    cycles: int | None = None
    ns: float
    budget_ns: float | None = None
    model_cycles: int | None = None
    kind: Literal["rtl", "constant"]
    mark: str | None = None


class Result(_Part):
    """result.json, written by the bench into its run directory."""

    figures: dict[str, Figure] = Field(default_factory=dict)
    latency: Latency = Field(default_factory=Latency)
    stages: list[Stage] = Field(default_factory=list)
    artifacts: dict[str, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    main_path: str | None = None
    cycles: int | None = Field(default=None, ge=0)


class BadResult(Exception):
    """A result.json that is missing or not as agreed; the text says where."""


def read_result(path: Path) -> Result:
    """Read and check result.json; BadResult when it is missing or wrong."""
    try:
        return Result.model_validate(json.loads(path.read_text()))
    except OSError:
        raise BadResult("the bench left no result.json") from None
    except json.JSONDecodeError as e:
        raise BadResult(f"result.json is not JSON: {e}") from None
    except ValidationError as e:
        first = e.errors()[0]
        field = ".".join(str(p) for p in first["loc"])
        raise BadResult(f"result.json: {field}: {first['msg']}") from None


def report_fields(run: dict[str, Any], verdict: Verdict, result: Result) -> dict[str, Any]:
    """report.json's content. `run` is run.json's."""
    figures = result.model_dump(by_alias=True)["figures"]
    stages = result.model_dump()["stages"]
    artifacts: dict[str, str | None] = {"report": None, "capture": None, "waves": None, "log": None}
    artifacts.update(result.artifacts)
    return {
        "block": run["block"],
        "simulator": run["sim"],
        "params": run["params"]["name"],
        "seed": run["master_seed"],
        "test": run["test"],
        "verdict": verdict,
        "command": run["command"],
        "figures": figures,
        "latency": result.latency.model_dump(),
        "stages": stages,
        "artifacts": artifacts,
    }


def paths_of(report: dict[str, Any], main: str | None) -> list[str]:
    """The paths that have stages, the main one first."""
    names = list(dict.fromkeys(s["path"] for s in report["stages"]))
    if main in names:
        names.remove(main)
        names.insert(0, main)
    return names


def total(stages: list[dict[str, Any]]) -> dict[str, Any]:
    """Sum of a path's stages; a column in which any stage has no figure has no sum."""

    def add(key: str) -> Any:
        values = [s[key] for s in stages]
        return None if any(v is None for v in values) else sum(values)

    by_kind = {k: sum(s["ns"] for s in stages if s["kind"] == k) for k in ("rtl", "constant")}
    counted = [s for s in stages if s["cycles"] is not None and s["model_cycles"] is not None]
    return {
        "cycles": sum(s["cycles"] for s in stages if s["cycles"] is not None),
        "ns": add("ns"),
        "rtl_ns": by_kind["rtl"],
        "constant_ns": by_kind["constant"],
        "budget_ns": add("budget_ns"),
        "model_cycles": sum(s["model_cycles"] for s in counted) if counted else None,
        "difference": sum(s["cycles"] - s["model_cycles"] for s in counted) if counted else None,
    }


def marks_of(stages: list[dict[str, Any]]) -> dict[str, str]:
    """The marks that these stages carry, each with what it means (spec/)."""
    from models.spec import MARKS

    used = sorted({s["mark"] for s in stages if s["mark"]})
    return {m: MARKS.get(m, "see spec/") for m in used}


def number(value: Any, digits: int = 1) -> str:
    """A number as a table shows it: no trailing zeros, a dash for none."""
    if value is None:
        return "-"
    if isinstance(value, float):
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:,}"


def difference(stage: dict[str, Any]) -> int | None:
    """Cycles of the design less those of the model; None where one of them has none."""
    if stage["cycles"] is None or stage["model_cycles"] is None:
        return None
    return int(stage["cycles"] - stage["model_cycles"])


def shared_conditions(figures: dict[str, Any]) -> dict[str, Any]:
    """The conditions that hold for every figure that has any: said once, not in each line."""
    sets = [f["conditions"] for f in figures.values() if f["target"] is not None and f["conditions"]]
    if len(sets) < 2:
        return {}
    return {k: v for k, v in sets[0].items() if all(s.get(k) == v for s in sets)}


def conditions_text(conditions: dict[str, Any]) -> str:
    """A figure's conditions on one line."""
    return ", ".join(f"{k} {v}" for k, v in conditions.items())


def figure_word(figure: dict[str, Any]) -> str:
    """PASS, FAIL, or nothing where nothing is demanded."""
    return {True: "PASS", False: "FAIL", None: ""}[figure["pass"]]


def write(run_dir: Path, report: dict[str, Any], extra: dict[str, Any]) -> None:
    """Write report.json and report.html. `extra`: reason, notes, main_path, failures, seconds."""
    report["artifacts"]["report"] = rel(run_dir / "report.html")
    (run_dir / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    from scripts.page import render

    (run_dir / "report.html").write_text(render(report, extra))


def _stage_table(report: dict[str, Any], path: str) -> Any:
    from rich.markup import escape
    from rich.table import Table

    stages = [s for s in report["stages"] if s["path"] == path]
    table = Table(title=f"{path}: where the time goes", title_justify="left", show_footer=True)
    sums = total(stages)
    margin = None if sums["budget_ns"] is None else sums["budget_ns"] - sums["ns"]
    columns = (
        ("stage", "sum"),
        ("cycles", number(sums["cycles"])),
        ("ns", number(sums["ns"])),
        ("budget", number(sums["budget_ns"])),
        ("margin", number(margin)),
        ("model", number(sums["model_cycles"])),
        ("difference", number(sums["difference"])),
    )
    for name, footer in columns:
        left = name == "stage"
        table.add_column(name, footer=footer, justify="left" if left else "right")
    for s in stages:
        spare = None if s["budget_ns"] is None else s["budget_ns"] - s["ns"]
        apart = difference(s)
        constant = f"  [dim]({s['mark'] or 'constant'})[/]" if s["kind"] == "constant" else ""
        table.add_row(
            escape(s["name"]) + constant,
            number(s["cycles"]),
            number(s["ns"]),
            number(s["budget_ns"]),
            f"[red]{number(spare)}[/]" if spare is not None and spare < 0 else number(spare),
            number(s["model_cycles"]),
            f"[red]{apart:+d}[/]" if apart else number(apart),
        )
    return table


def _show_figures(console: Console, figures: dict[str, Any]) -> None:
    """One line a figure; its conditions give way where the line is too short for them."""
    from rich.text import Text

    shared = shared_conditions(figures)
    if shared:
        console.print(f"conditions: {conditions_text(shared)}", style="dim", markup=False, soft_wrap=True)
    rows = []
    for name, f in figures.items():
        own = {k: v for k, v in f["conditions"].items() if shared.get(k) != v}
        target = "" if f["target"] is None else f"target {number(f['target'])} {f['unit']}"
        value = f"{number(f['value'])} {f['unit']}"
        rows.append((name, value, target, figure_word(f), conditions_text(own)))
    widths = [max(len(r[i]) for r in rows) for i in range(4)]
    for name, value, target, word, own_text in rows:
        line = Text(f"{name:<{widths[0]}}  {value:>{widths[1]}}  {target:<{widths[2]}}  ")
        line.append(f"{word:<{widths[3]}}", style={"PASS": "green", "FAIL": "bold red"}.get(word, ""))
        line.append(f"  {own_text}", style="dim")
        line.truncate(console.width, overflow="ellipsis")
        line.rstrip()
        console.print(line, soft_wrap=True, highlight=False)


def show(console: Console, report: dict[str, Any], extra: dict[str, Any]) -> None:
    """Print the summary of a run: stages of its main path, figures, verdict, where to look."""
    from rich.markup import escape

    paths = paths_of(report, extra.get("main_path"))
    if paths:
        console.print(_stage_table(report, paths[0]))
        stages = [x for x in report["stages"] if x["path"] == paths[0]]
        sums = total(stages)
        marks = "; ".join(f"({m}) {meaning}" for m, meaning in marks_of(stages).items())
        console.print(f"RTL {number(sums['rtl_ns'])} ns, constants of the model {number(sums['constant_ns'])} ns")
        if marks:
            console.print(f"[dim]constants: {escape(marks)}[/]")
        if len(paths) > 1:
            console.print(f"[dim]also in the report: {escape(', '.join(paths[1:]))}[/]", soft_wrap=True)
    if report["figures"]:
        _show_figures(console, report["figures"])
    for note in extra.get("notes", []):
        short = note if len(note) <= NOTE_CHARS else note[: NOTE_CHARS - 1] + "… (whole in the report)"
        console.print(f"[dim]note: {escape(short)}[/]")
    lat = report["latency"]
    if lat["checked"]:
        console.print(
            f"cycles compared with the model: {lat['checked']:,} checked,"
            f" {lat['mismatched']:,} different, {lat['bounded']:,} bounded"
        )
    if report["verdict"] != "pass":
        show_failure(console, extra)
    artifacts = report["artifacts"]
    places = {k: artifacts.get(k) for k in ("report", "capture", "waves", "log")}
    for name, place in {**places, "repeat": report["command"]}.items():
        if place:
            console.print(f"{name:<8} {place}", highlight=False, soft_wrap=True, markup=False)
    color = "bold green" if report["verdict"] == "pass" else "bold red"
    where = f"{report['block']}/{report['test']} on {report['simulator']}"
    took = f"{extra['build_s']:.1f} s build, {extra['run_s']:.1f} s run"
    console.print(
        f"[{color}]{report['verdict'].upper()}[/]  {where}, {report['params']},"
        f" seed {report['seed']}  [dim]({took})[/]",
        highlight=False,
    )


def show_failure(console: Console, extra: dict[str, Any]) -> None:
    """Print why a run failed and the log lines that say so."""
    console.print(extra["reason"], style="bold red", markup=False, highlight=False)
    for line in extra.get("lines", []):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
