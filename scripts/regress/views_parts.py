# SPDX-License-Identifier: Apache-2.0
"""What several sections of the page share: percentages, and the places that they link to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from scripts.regress.links import Links
from scripts.regress.views import PageData


def share(part: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Percent as text, never rounded up to 100, and the bar's parts; None where there is nothing to hit."""
    if not part or not part.get("total"):
        return None
    hit, waived, total = part.get("hit", 0), part.get("waived", 0), part["total"]
    return {
        "text": percent_text(hit + waived, total),
        "hit": hit,
        "waived": waived,
        "total": total,
        "missed": total - hit - waived,
        "width": round(100 * hit / total, 1),
        "wide_waived": round(100 * waived / total, 1),
    }


def percent_text(part: float, total: float) -> str:
    """As 99.9 %: rounded down, so that 100 % means all."""
    tenths = min(1000, math.floor(1000 * part / total + 1e-9))
    return "100 %" if tenths == 1000 else f"{tenths / 10:.1f} %"


def places(data: PageData, links: Links) -> None:
    """Make the ids of everything that coverage, points and mutants link to."""
    for block, points in blocks_of(data.testplan):
        for p in points:
            links.place("p", block, str(p.get("id")))
    for block, part in blocks_of(data.functional):
        for cover in part.get("covers", {}):
            links.place("c", block, cover)
    for block, part in blocks_of(data.mutants):
        for m in part.get("mutants", []):
            links.place("m", block, str(m.get("name")))


def source_link(data: PageData, file: object, line: object, links: Links) -> str | None:
    """The annotated source of a file, at a line; None where there is none."""
    files = (data.code or {}).get("files") or {}
    page = links.file((files.get(file) or {}).get("page"))
    return f"{page}#L{line}" if page and line else page


def blocks_of(part: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """The blocks of a JSON file, by name; none where there is no file."""
    return sorted(((part or {}).get("blocks") or {}).items())


def point_links(block: str, ids: Iterable[str], links: Links) -> list[tuple[str, str | None]]:
    """Points by id, or by block/id where they are another block's."""
    found = []
    for name in ids:
        where, _, own = str(name).rpartition("/")
        found.append((str(name), links.to("p", where or block, own)))
    return found
