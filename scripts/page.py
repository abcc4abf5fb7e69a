# SPDX-License-Identifier: Apache-2.0
"""report.html: one file, no outside resources, with the waterfall as an inline SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from scripts import report as reports

if TYPE_CHECKING:
    import jinja2

ROW = 26
LEFT = 250
WIDTH = 620
RIGHT = 130


def waterfall(stages: list[dict[str, Any]]) -> str:
    """An SVG: one bar a stage, starting where the one before ended; x is ns.

    The thin outline behind a bar is the stage's budget, from the bar's start.
    """
    sums = reports.total(stages)
    at, spans = 0.0, []
    for s in stages:
        spans.append((at, s))
        at += s["ns"]
    reach = max([at, *(x + (s["budget_ns"] or 0) for x, s in spans)]) or 1.0
    scale = WIDTH / reach
    height = ROW * (len(stages) + 2)
    out = [
        f'<svg viewBox="0 0 {LEFT + WIDTH + RIGHT} {height}" role="img"'
        f' aria-label="waterfall of {len(stages)} stages, {sums["ns"]:g} ns">'
    ]
    for tick in _ticks(reach):
        x = LEFT + tick * scale
        out.append(f'<line class="grid" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - ROW}"/>')
        out.append(f'<text class="tick" x="{x:.1f}" y="{height - 8}">{tick:g} ns</text>')
    for row, (start, s) in enumerate(spans):
        y = row * ROW
        x = LEFT + start * scale
        over = s["budget_ns"] is not None and s["ns"] > s["budget_ns"]
        wrong = reports.difference(s) not in (None, 0)
        kind = "bad" if over or wrong else s["kind"]
        title = f"{s['name']}: {reports.number(s['ns'])} ns"
        out.append(f'<text class="name" x="{LEFT - 8}" y="{y + 17}">{escape(s["name"])}</text>')
        if s["budget_ns"] is not None:
            w = s["budget_ns"] * scale
            out.append(f'<rect class="budget" x="{x:.1f}" y="{y + 3}" width="{w:.1f}" height="20"/>')
        w = max(s["ns"] * scale, 1.0)
        out.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y + 6}" width="{w:.1f}" height="14">'
            f"<title>{escape(title)}</title></rect>"
        )
        end = x + max(w, (s["budget_ns"] or 0) * scale) + 6
        out.append(f'<text class="ns" x="{end:.1f}" y="{y + 17}">{reports.number(s["ns"])}</text>')
    y = len(stages) * ROW
    out.append(f'<text class="name sum" x="{LEFT - 8}" y="{y + 17}">sum</text>')
    out.append(f'<text class="ns sum" x="{LEFT + 4}" y="{y + 17}">{reports.number(sums["ns"])} ns</text>')
    out.append("</svg>")
    return "\n".join(out)


def _ticks(reach: float) -> list[float]:
    """Round steps, six to twelve of them, from 0 to `reach`."""
    step = 1.0
    while reach / step > 10:
        for factor in (2, 2.5, 2):
            step *= factor
            if reach / step <= 10:
                break
    return [i * step for i in range(int(reach / step) + 1)]


def environment() -> jinja2.Environment:
    """Where every page's template comes from: scripts/templates, with escaping on.

    A page's style begins with ``{% include 'base.css' %}``.
    """
    import jinja2

    loader = jinja2.PackageLoader("scripts", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)


def render(report: dict[str, Any], extra: dict[str, Any]) -> str:
    """The page's HTML. `report` is report.json's content, `extra` what the run adds to it."""
    env = environment()
    env.filters["number"] = reports.number
    env.filters["word"] = reports.figure_word
    env.filters["conditions"] = reports.conditions_text
    env.filters["difference"] = reports.difference
    names = reports.paths_of(report, extra.get("main_path"))
    paths = []
    for name in names:
        stages = [s for s in report["stages"] if s["path"] == name]
        paths.append(
            {
                "name": name,
                "stages": stages,
                "sum": reports.total(stages),
                "svg": waterfall(stages),
                "marks": reports.marks_of(stages),
            }
        )
    return env.get_template("report.html.j2").render(r=report, x=extra, paths=paths)
