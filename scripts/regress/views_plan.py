# SPDX-License-Identifier: Apache-2.0
"""What the page says of test points: the state of each, and its evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from scripts.regress.links import Links
from scripts.regress.views import PageData
from scripts.regress.views_parts import blocks_of

STATES = ("failing", "open", "passing", "closed")
SHOWN_BINS = 12
"""Bins that a test point lists one by one; of more, only those that no run hit, as many of each cover."""


def points_of_tests(data: PageData) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Test points, as (block, id), by (block, test)."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for block, points in blocks_of(data.testplan):
        for p in points:
            for t in p.get("tests", []):
                where, _, name = str(t.get("name")).rpartition("/")
                found[where or block, name].append((block, str(p["id"])))
    return found


def testplan(data: PageData, links: Links) -> dict[str, Any] | None:
    """Points by block and feature, each with its evidence."""
    if data.testplan is None:
        return None
    blocks = []
    for block, points in blocks_of(data.testplan):
        features: dict[str, list[dict[str, Any]]] = {}
        for p in points:
            features.setdefault(p.get("feature") or "", []).append(_point(block, p, links))
        counts = Counter(p.get("state", "open") for p in points)
        blocks.append(
            {
                "name": block,
                "id": links.place("tp", block),
                "features": list(features.items()),
                "counts": [(s, counts[s]) for s in STATES if counts[s]],
                "total": len(points),
                "open": bool(counts["failing"]),
                "ran": any(t.get("jobs") for p in points for t in p.get("tests") or []),
            }
        )
    given = data.testplan.get("counts") or {}
    return {
        "counts": [(s, given[s]) for s in STATES if given.get(s)],
        "total": sum(given.values()),
        "closed": given.get("closed", 0),
        "blocks": blocks,
    }


def _point(block: str, p: Mapping[str, Any], links: Links) -> dict[str, Any]:
    tests = []
    for t in p.get("tests") or []:
        where, _, name = str(t.get("name")).rpartition("/")
        jobs = [(n, links.to("j", str(n))) for n in t.get("jobs") or []]
        tests.append({**t, "href": links.to("t", where or block, name), "jobs": jobs})
    covers: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for b in p.get("bins") or []:
        covers.setdefault((b.get("block") or block, b.get("cover", "")), []).append(b)
    few = len(p.get("bins") or []) <= SHOWN_BINS
    parts = [_bins(block, where, cover, bins, few, links) for (where, cover), bins in covers.items()]
    return {
        "id": links.place("p", block, str(p.get("id"))),
        "name": p.get("id"),
        "intent": p.get("intent", ""),
        "kind": p.get("kind", ""),
        "rules": p.get("rules") or [],
        "state": p.get("state", "open"),
        "why": "" if p.get("state") == "closed" else p.get("why") or "",
        "tests": tests,
        "covers": parts,
        "hit": sum(c["hit"] for c in parts),
        "bins": sum(c["total"] for c in parts),
        "known": any(c["known"] for c in parts),
        "mutants": [
            {**m, "href": links.to("m", block, str(m.get("name"))), "state": m.get("state") or "not run"}
            for m in p.get("mutants") or []
        ],
    }


def _bins(
    block: str, where: str, cover: str, bins: list[Mapping[str, Any]], every: bool, links: Links
) -> dict[str, Any]:
    missing = [b for b in bins if not b.get("hit") and not b.get("waived")]
    listed = bins if every else missing[:SHOWN_BINS]
    return {
        "name": cover if where == block else f"{where}: {cover}",
        "href": links.to("c", where, cover),
        "known": any(b.get("hits") is not None for b in bins),
        "hit": len(bins) - len(missing),
        "total": len(bins),
        "bins": [
            {"name": b.get("bin"), "hits": b.get("hits"), "hit": bool(b.get("hit") or b.get("waived"))} for b in listed
        ],
        "more": 0 if every else len(missing) - len(listed),
    }
