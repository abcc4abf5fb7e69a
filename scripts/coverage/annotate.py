# SPDX-License-Identifier: Apache-2.0
"""A page a source file: its lines, how often each ran, and what at it was not reached. No outside resources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.coverage.holes import Hole
from scripts.coverage.merged import Merged
from scripts.coverage.totals import KINDS, Totals

FOLDER = "source"


def page_of(file: str) -> str:
    """Where a file's page lies, relative to the regression's folder. A line n is its anchor Ln."""
    return f"{FOLDER}/{file.replace('/', '.')}.html"


def percent(cell: dict[str, int]) -> str:
    """Hit or waived, rounded down so that 100 % means all; a dash when there is nothing."""
    if not cell["total"]:
        return "–"
    tenths = 1000 * (cell["hit"] + cell["waived"]) // cell["total"]
    return f"{tenths // 10}.{tenths % 10} %"


def short(count: int) -> str:
    """Five characters at most: 12, 3.4k, 56M."""
    for unit in ("", "k", "M", "G", "T"):
        if count < 1000 or unit == "T":
            return f"{count:.1f}{unit}" if unit and count < 10 else f"{count:.0f}{unit}"
        count /= 1000  # type: ignore[assignment]
    raise AssertionError


def rows(text: str, hits: dict[int, int], holes: list[Hole]) -> list[dict[str, Any]]:
    """What the page shows of each line: number, text, hits (None: no statement), state, holes."""
    at: dict[int, list[Hole]] = {}
    for hole in holes:
        at.setdefault(hole.line, []).append(hole)
    found = []
    for n, line in enumerate(text.splitlines(), 1):
        here = at.get(n, [])
        live = [h for h in here if h.reason is None]
        state = "hit" if n in hits else ""
        if here:
            state = "waived"
        if live:
            state = "part"
        if any(h.kind == "line" for h in live):
            state = "miss"
        found.append({"n": n, "text": line, "hits": hits.get(n), "state": state, "holes": here})
    return found


def write(folder: Path, merged: Merged, holes: dict[str, list[Hole]], files: dict[str, Totals]) -> None:
    """Write the pages of all files under `folder`/source."""
    render = _renderer()
    hits: dict[str, dict[int, int]] = {file: {} for file in merged.sources}
    for (file, line), count in zip(merged.lines, merged.line_hits.tolist(), strict=True):
        hits[file][line] = count
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for file, totals in files.items():
        wide = [w for w in merged.wide or [] if w.file == file]
        page = render(
            file=file,
            totals=totals,
            rows=rows(merged.sources[file], hits[file], holes[file]),
            wide=wide,
            max_width=merged.max_width,
        )
        (folder / page_of(file)).write_text(page, encoding="utf-8")


def _renderer() -> Callable[..., str]:
    import jinja2

    env = jinja2.Environment(
        loader=jinja2.PackageLoader("scripts", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    env.filters["short"] = short
    env.filters["percent"] = percent
    env.globals["KINDS"] = KINDS
    return env.get_template("source.html.j2").render
