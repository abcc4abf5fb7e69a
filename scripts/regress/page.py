# SPDX-License-Identifier: Apache-2.0
"""index.html of a regression: one file, no outside resources, each number linked to its evidence.

A part that cannot be shown is named among the problems; the page is made all the same.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from scripts.common import UserError, rel
from scripts.page import environment
from scripts.regress import charts, views, views_coverage, views_mutants, views_parts, views_plan
from scripts.regress.links import Links
from scripts.regress.views import PageData

__all__ = ["FILE", "PageData", "html", "render"]

FILE = "index.html"
ESCAPE = re.compile(r"\x1b(?:\[[0-9;:?]*[@-~]|\][^\x07\x1b<>\n]*(?:\x07|\x1b\\))")
"""What drives a terminal. Found in the finished page, so it must not reach over markup."""
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
SECTIONS = (
    ("failures", "Failures by bucket"),
    ("figures", "Figures against targets"),
    ("coverage", "Coverage by block"),
    ("testplan", "Test plan"),
    ("mutants", "Mutants"),
    ("trend", "Trend"),
    ("tests", "Slowest tests"),
    ("jobs", "Jobs"),
    ("files", "Files beside this page"),
)
"""Each is made of scripts/templates/regress_<name>.j2."""
EXPORTS = (
    ("results.json", "all records and a summary"),
    ("plan.json", "the jobs as they were planned"),
    ("buckets.json", "failures by bucket"),
    ("junit.xml", "JUnit, one test case a job"),
    ("code_coverage.json", "code coverage by block, file and instance"),
    ("lcov.info", "code coverage for LCOV"),
    ("cobertura.xml", "code coverage for Cobertura"),
    ("functional.json", "hits of every bin"),
    ("testplan.json", "test points and their states"),
    ("mutants.json", "mutants and what killed them"),
    ("trend.json", "the last runs"),
)


def render(folder: Path, data: PageData) -> None:
    """Write `folder`/index.html in one step; UserError when it cannot be written.

    `data.problems` gets what went wrong on the way.
    """
    text = html(folder, data)
    path = folder / FILE
    fresh = folder / f".{FILE}.{os.getpid()}"
    try:
        # half of a character pair, as a broken log may hold, has no bytes of its own
        fresh.write_bytes(text.encode("utf-8", "replace"))
        fresh.replace(path)
    except OSError as e:
        fresh.unlink(missing_ok=True)
        raise UserError(f"{rel(path)}: cannot be written: {e.strerror}") from None


def html(folder: Path, data: PageData) -> str:
    """The page's text. `folder`: where its links start; a file that is not there gets none."""
    links = Links(folder)

    def part(name: str, make: Callable[[], Any], instead: Any) -> Any:
        try:
            return make()
        except Exception as e:  # what one file holds must not cost the rest of the page
            data.problems.append(f"{name}: cannot be shown: {type(e).__name__}: {e}")
            return instead

    shown = _shown(data, links, part)
    env = environment()
    env.filters["short"] = _short
    env.filters["count"] = _count
    sections = []
    for name, title in SECTIONS:
        template = env.get_template(f"regress_{name}.j2").render
        broken = f'<h2 id="{name}">{title}</h2><p class="warn-text">This part cannot be shown: see the problems.</p>'
        sections.append(Markup(part(title, partial(template, shown), broken)))
    # last: any part may have met a problem
    shown["verdict"], shown["sentence"] = views.verdict(data)
    page = env.get_template("regress.html.j2").render(shown, sections=sections, problems=data.problems)
    return UNSEEN.sub("", ESCAPE.sub("", page)).lstrip()


def _shown(data: PageData, links: Links, part: Callable[[str, Callable[[], Any], Any], Any]) -> dict[str, Any]:
    """What the templates show. `part` makes a value, or names the problem and gives what stands instead."""
    records = data.records
    # ids first: everything links to them
    jobs = views.job_rows(records, links)
    for r in records:
        links.place("t", r.job.block, r.job.test)
    part("places", lambda: views_parts.places(data, links), None)
    no_figures: dict[str, Any] = {"rows": [], "more": [], "tests": [], "shared": "", "met": 0, "total": 0}
    no_coverage: dict[str, Any] = {"rows": [], "code": False, "functional": False}
    points = part("testplan.json", lambda: views_plan.points_of_tests(data), {})
    by_number = {r.job.number: r for r in records}
    shown: dict[str, Any] = {
        "plan": data.plan,
        "facts": views.facts(data),
        "jobs": jobs,
        "buckets": part("buckets.json", lambda: views.buckets(data, by_number, links), []),
        "figures": part("figures", lambda: views.figure_rows(records, links), no_figures),
        "coverage": part("coverage", lambda: views_coverage.coverage(data, links), no_coverage),
        "testplan": part("testplan.json", lambda: views_plan.testplan(data, links), None),
        "mutants": part("mutants.json", lambda: views_mutants.mutants(data, links), None),
        "trend": part("trend.json", lambda: _trend(data, links), None),
        "tests": views.test_rows(records, points, links),
        "builds": part("builds", lambda: views.build_rows(data), []),
        "expected": views.expected(records, links),
        "notrun": views.not_run(records),
        "verdicts": sorted(Counter(j["verdict"] for j in jobs).items()),
        "exports": [{"name": n, "what": w, "href": links.file(n)} for n, w in EXPORTS if links.file(n)],
        "bad": any(r.bad for r in records),
        "ran": sum(r.verdict != "notrun" for r in records),
        "total": len(records),
        "interrupted": bool(data.summary.get("interrupted")),
        "shown_tests": views.SHOWN_TESTS,
    }
    shown["mutant_ids"] = {b["name"]: b["id"] for b in (shown["mutants"] or {}).get("blocks", [])}
    shown["tiles"] = part("tiles", lambda: _tiles(data, shown), [])
    return shown


def _count(number: object) -> str:
    """A count as the page writes it: 12,345; a dash for what is not known."""
    return f"{number:,}" if isinstance(number, int) else "–"


def _short(text: object, most: int) -> str:
    """The first `most` characters of a text."""
    said = str(text)
    return said if len(said) <= most else said[: most - 1] + "…"


def _tiles(data: PageData, shown: dict[str, Any]) -> list[dict[str, str]]:
    """The numbers at the top, each leading to its section."""

    def tile(to: str, value: str, what: str, cls: str = "") -> dict[str, str]:
        return {"to": to, "value": value, "what": what, "cls": cls}

    records = data.records
    passed = sum(r.verdict == "pass" for r in records)
    stopped = any(r.verdict == "notrun" for r in records)
    cls = "bad-text" if shown["bad"] else "warn-text" if stopped else ""
    tiles = [tile("failures", f"{passed:,} / {len(records):,}", "jobs passed", cls)]
    f = shown["figures"]
    missed = "bad-text" if f["met"] < f["total"] else ""
    tiles.append(tile("figures", f"{f['met']} / {f['total']}" if f["total"] else "–", "targets met", missed))
    total = shown["coverage"].get("total") or [None] * 6
    line, functional, score = total[0], total[4], total[5]
    tiles.append(tile("coverage", line["text"] if line else "–", "line coverage"))
    tiles.append(tile("coverage", functional["text"] if functional else "–", "functional coverage"))
    plan = shown["testplan"]
    failing = dict(plan["counts"]).get("failing") if plan else 0
    what = "test points closed" + (f", {failing} failing" if failing else "")
    tiles.append(
        tile("testplan", f"{plan['closed']} / {plan['total']}" if plan else "–", what, "bad-text" if failing else "")
    )
    low = "bad-text" if score and score["low"] else ""
    kind = f"{score['kind']} mutants killed" if score else "mutants killed"
    tiles.append(tile("mutants", score["text"] if score else "–", kind, low))
    return [t if t["value"] != "–" else {**t, "what": f"{t['what']}: not measured"} for t in tiles]


def _trend(data: PageData, links: Links) -> dict[str, Any] | None:
    if not data.trend:
        return None
    rows = []
    for e in reversed(data.trend):
        values = [(e.get("coverage") or {}).get(k) for k in views_coverage.KINDS] + [e.get("functional")]
        cells = ["–" if v is None else views_parts.percent_text(v, 100) for v in values]
        own = e["id"] == data.plan.id
        rows.append({**e, "href": None if own else links.file(f"../{e['id']}/{FILE}"), "cells": cells})
    drawn = sum(e.get("profile") == data.trend[-1].get("profile") for e in data.trend)
    return {"charts": charts.charts(data.trend), "rows": rows, "drawn": min(drawn, charts.RUNS)}
