# SPDX-License-Identifier: Apache-2.0
"""The trend as inline SVGs: drawn by matplotlib, coloured by the page's CSS variables, text left as text."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

RUNS = 30
"""Runs that a chart shows."""
LINES = 6
WIDTH, HEIGHT = 360, 210
DPI = 72
MARGIN = {"left": 0.11, "right": 0.72, "top": 0.94, "bottom": 0.13}
# stand-ins that matplotlib draws with, and what the page's style makes of them
INK, SOFT, LINE = "#010203", "#010204", "#010205"
SERIES = tuple(f"#02030{n}" for n in range(1, LINES + 1))
VARIABLES = {INK: "--ink", SOFT: "--soft", LINE: "--line"} | {c: f"--s{n}" for n, c in enumerate(SERIES, 1)}
KINDS = {"line": "line", "branch": "branch", "toggle": "toggle", "expr": "expression"}
Values = list[float | None]


def charts(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """{"title", "text", "svg"} of each chart: the last RUNS of the newest entry's profile.

    A chart without two points that can be joined, or joined to, is still drawn: one dot. Without any it is
    left out.
    """
    if not entries:
        return []
    profile = entries[-1].get("profile")
    runs = [e for e in entries if e.get("profile") == profile][-RUNS:]
    found = []
    rate = {"passed": [100 * e["passed"] / e["jobs"] if e.get("jobs") else None for e in runs]}
    covered: dict[str, Values] = {
        word: [(e.get("coverage") or {}).get(kind) for e in runs] for kind, word in KINDS.items()
    }
    covered["functional"] = [e.get("functional") for e in runs]
    drawings = [("pass rate", "%", rate), ("coverage", "%", covered), *_figures(runs)]
    for n, (title, unit, series) in enumerate(drawings):
        kept = {name: values for name, values in series.items() if any(v is not None for v in values)}
        if kept:
            svg = _draw(f"trend{n}", f"{title}, {unit}", kept, [e["id"] for e in runs], percent=unit == "%")
            found.append({"title": title, "unit": unit, "text": _words(kept, unit), "svg": svg})
    return found


def _figures(runs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, dict[str, Values]]]:
    """Series by unit (the name's last word). A name's value is the worst, the largest, of its tests.

    A name that begins with another is its variant and not drawn; of too many the shortest are.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for e in runs:
        for key in e.get("figures") or {}:
            name = key.rsplit("/", 1)[-1]
            unit = next((u for u in ("ns", "cycles", "percent") if f"_{u}" in name), "")
            names[unit].add(name)
    found = []
    for unit, known in sorted(names.items()):
        plain = [n for n in known if not any(n != other and n.startswith(other) for other in known)]
        drawn = sorted(sorted(plain, key=lambda n: (len(n), n))[:LINES])
        series: dict[str, Values] = {}
        for name in drawn:
            per_run = [[v for k, v in (e.get("figures") or {}).items() if k.rsplit("/", 1)[-1] == name] for e in runs]
            series[name] = [max(values) if values else None for values in per_run]
        found.append(("figures" if unit else "other figures", unit, series))
    return found


def _words(series: Mapping[str, Values], unit: str) -> str:
    """The newest values, for who cannot see the drawing."""
    last = {n: next((v for v in reversed(values) if v is not None), None) for n, values in series.items()}
    return ", ".join(f"{n} {v:.4g} {unit}" for n, v in last.items() if v is not None)


def _draw(name: str, title: str, series: Mapping[str, Values], ids: Sequence[str], *, percent: bool) -> str:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9, "font.family": "sans-serif"}
    with rc_context(settings):
        figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        axes = figure.add_axes(
            (MARGIN["left"], MARGIN["bottom"], MARGIN["right"] - MARGIN["left"], MARGIN["top"] - MARGIN["bottom"])
        )
        known = [v for values in series.values() for v in values if v is not None]
        low, high = _range(min(known), max(known), percent)
        axes.set_ylim(low, high)
        axes.set_xlim(-0.5, max(len(ids) - 0.5, 0.5))
        ends = []
        for color, (label, values) in zip(SERIES, series.items(), strict=False):
            at = [(x, v) for x, v in enumerate(values) if v is not None]
            xs, ys = [x for x, _ in at], [v for _, v in at]
            axes.plot(xs, ys, color=color, linewidth=1.5, marker="o", markersize=2.6, clip_on=False)
            ends.append((ys[-1], color, label))
        _labels(axes, ends, low, high, percent, len(ids))
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(LINE)
        axes.tick_params(length=0, colors=SOFT, labelsize=9)
        axes.tick_params(axis="x", pad=6)
        axes.grid(axis="y", color=LINE, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        axes.set_xticks([0, len(ids) - 1] if len(ids) > 1 else [0])
        ticks = axes.set_xticklabels([_short(ids[0]), _short(ids[-1])][: min(len(ids), 2)])
        if len(ids) > 1:
            # inside the drawing, not half beside it
            ticks[0].set_horizontalalignment("left")
            ticks[-1].set_horizontalalignment("right")
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None})
    return _inline(out.getvalue(), name, title)


def _range(low: float, high: float, percent: bool) -> tuple[float, float]:
    if percent:
        bottom = max(0.0, min(90.0, 10 * (low // 10)))
        return bottom, 100 + (100 - bottom) * 0.03
    return 0.0, (high or 1) * 1.08


def _labels(axes: Any, ends: list[tuple[float, str, str]], low: float, high: float, percent: bool, runs: int) -> None:
    """Name and newest value of each line at its end, moved apart where they would lie on each other."""
    step = (high - low) * 0.085
    places: list[float] = []
    for value, _, _ in sorted(ends):
        places.append(max(value, places[-1] + step) if places else value)
    over = places[-1] - high if places else 0
    if over > 0:
        top = high
        for n in reversed(range(len(places))):
            places[n] = min(places[n], top)
            top = places[n] - step
    for y, (value, color, label) in zip(places, sorted(ends), strict=True):
        # as elsewhere on the page: 100 % means all
        shown = f"{int(value * 10 + 1e-6) / 10:g}" if percent else f"{value:.4g}"
        text = f"{label.replace('_ns', '')} {shown}"
        axes.text(max(runs - 0.5, 0.5), y, f" {text}", color=color, va="center", ha="left", clip_on=False, fontsize=9)


def _short(id: str) -> str:
    """A run's date where its id begins with one, else the id's head."""
    found = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", id)
    return f"{found[2]}-{found[3]}" if found else id[:10]


def _inline(svg: str, name: str, title: str) -> str:
    """An SVG file as part of a page: no header, ids of its own, colours and fonts from the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r"^<svg[^>]*>", f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">', svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'(xlink:)?href="#', f'href="#{name}-', svg)
    svg = re.sub(r"font: (?:[\d.]+px )?[^;\"]*;?", "font-size: 9px;", svg)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    for color, variable in VARIABLES.items():
        svg = svg.replace(color, f"var({variable})")
    return re.sub(r"\s*\n\s*", "\n", svg).strip()
