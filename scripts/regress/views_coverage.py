# SPDX-License-Identifier: Apache-2.0
"""What the page says of coverage: by block beside the mutants' score, by file, bin and instance; waivers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from scripts.regress.links import Links
from scripts.regress.views import PageData
from scripts.regress.views_mutants import mutant_score, sum_mutants
from scripts.regress.views_parts import blocks_of, point_links, share, source_link

KINDS = ("line", "branch", "toggle", "expr")
WORDS = {"expr": "expression"}
BINS_OF_A_COVER = 400
"""Of a larger cover the page lists the bins that no run hit; all are in functional.json."""


def block_of(path: str) -> str:
    """The block that a source file belongs to, by its folder: rtl/<block>/... (as scripts/coverage has it)."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "rtl" else parts[0]


def coverage(data: PageData, links: Links) -> dict[str, Any]:
    """The table by block with its details, the totals, and the waivers."""
    code = data.code if data.code is not None and data.code.get("measured") else None
    code_blocks = dict(blocks_of(code))
    functional = dict(blocks_of(data.functional))
    mutants = dict(blocks_of(data.mutants))
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, f in sorted(((code or {}).get("files") or {}).items()):
        files[block_of(path)].append(_file(path, f, links))
    holes: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for h in (data.functional or {}).get("holes") or []:
        holes[h.get("block", "")].append(h)
    targets = (data.mutants or {}).get("targets")
    names = sorted({*code_blocks, *functional, *mutants, *files})
    rows = [
        {
            "name": name,
            "id": links.place("b", name),
            "cells": _cells(code_blocks.get(name), functional.get(name), mutants.get(name), targets),
            "files": files.get(name, []),
            "code_holes": sum(len(f["holes"]) for f in files.get(name, [])),
            "covers": (covers := _covers(name, functional.get(name), links)),
            "covers_missed": sum(bool(c["share"] and c["share"]["missed"]) for c in covers),
            "holes": _holes(name, holes.get(name, []), links),
            "bins_missed": len(holes.get(name, [])),
        }
        for name in names
    ]
    everything = {key: sum(b.get(key, 0) for b in functional.values()) for key in ("hit", "total", "waived")}
    total = _cells(
        (code or {}).get("totals"), everything if functional else None, sum_mutants(mutants.values()), targets
    )
    return {
        "code": code is not None,
        "runs": (code or {}).get("runs"),
        "functional": data.functional is not None,
        "columns": [WORDS.get(k, k) for k in KINDS] + ["functional", "mutants"],
        "rows": rows,
        "total": total,
        "instances": _instances(code),
        "wide": ((code or {}).get("not_measured") or {}).get("wider_than"),
        "not_measured": _not_measured(data, links),
        "waivers": _waivers(data, code, functional, links),
    }


def _cells(
    code: Mapping[str, Any] | None,
    functional: Mapping[str, Any] | None,
    mutants: Mapping[str, Any] | None,
    targets: Mapping[str, float] | None,
) -> list[dict[str, Any] | None]:
    return [*(share((code or {}).get(k)) for k in KINDS), share(functional), mutant_score(mutants, targets)]


def _file(path: str, f: Mapping[str, Any], links: Links) -> dict[str, Any]:
    totals = f.get("totals") or {}
    page = links.file(f.get("page"))
    holes = [
        {
            "line": h.get("line"),
            "href": f"{page}#L{h.get('line')}" if page else None,
            "kind": WORDS.get(h.get("kind", ""), h.get("kind", "")),
            "names": ", ".join(str(n) for n in h.get("names") or []),
        }
        for h in f.get("holes") or []
        if not h.get("waived")
    ]
    return {"path": path, "href": page, "cells": [share(totals.get(k)) for k in KINDS], "holes": holes}


def _holes(block: str, holes: list[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    """Bins that were not hit, together where cover and points are the same."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for h in holes:
        groups[str(h.get("cover")), tuple(h.get("points") or ())].append(str(h.get("bin")))
    return [
        {"cover": cover, "href": links.to("c", block, cover), "bins": bins, "points": point_links(block, points, links)}
        for (cover, points), bins in groups.items()
    ]


def _covers(block: str, part: Mapping[str, Any] | None, links: Links) -> list[dict[str, Any]]:
    found = []
    for name, c in sorted(((part or {}).get("covers") or {}).items()):
        bins = (c.get("bins") or {}).items()
        all_points = {tuple(b.get("points") or ()) for _, b in bins}
        # one set of points for all bins is said once, at the cover
        common = next(iter(all_points)) if len(all_points) == 1 else ()
        rows = [
            {
                "name": bin_name,
                "hits": b.get("hits", 0),
                "wanted": b.get("at_least", 1),
                "hit": b.get("hits", 0) >= b.get("at_least", 1),
                "waived": b.get("waived"),
                "points": [] if common else point_links(block, b.get("points") or [], links),
            }
            for bin_name, b in bins
        ]
        left_out = 0
        if len(rows) > BINS_OF_A_COVER:
            kept = [r for r in rows if not r["hit"]]
            left_out, rows = len(rows) - len(kept), kept
        found.append(
            {
                "name": name,
                "id": links.place("c", block, name),
                "kind": c.get("kind", ""),
                "share": share({**c, "waived": sum(bool(r["waived"]) and not r["hit"] for r in rows)}),
                "points": point_links(block, common, links),
                "bins": rows,
                "left_out": left_out,
            }
        )
    return found


def _instances(code: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    found = []
    for top, parts in sorted(((code or {}).get("instances") or {}).items()):
        rows = [{"name": name, "cells": [share(t.get(k)) for k in KINDS]} for name, t in sorted(parts.items())]
        found.append({"top": top, "rows": rows})
    return found


def _not_measured(data: PageData, links: Links) -> list[dict[str, Any]]:
    """Signals without counters for their toggles, each at its line of the source."""
    signals = ((data.code or {}).get("not_measured") or {}).get("signals") or []
    return [{**s, "href": source_link(data, s.get("file"), s.get("line"), links)} for s in signals]


def _waivers(
    data: PageData, code: Mapping[str, Any] | None, functional: Mapping[str, Any], links: Links
) -> list[dict[str, Any]]:
    found = []
    for w in (code or {}).get("waivers") or []:
        said = ("reason", "date", "matched", "file", "where", "waived")
        rest = [f"{k} {_plain(v)}" for k, v in w.items() if k not in said and v not in (None, "", [])]
        found.append(
            {
                "what": " ".join(filter(None, [str(w.get("file") or ""), ", ".join(rest)])),
                "href": source_link(data, w.get("file"), None, links),
                "reason": w.get("reason", ""),
                "date": str(w.get("date") or ""),
                "matched": w.get("matched"),
                "where": w.get("where") or "",
            }
        )
    for block, part in functional.items():
        for cover, c in sorted((part.get("covers") or {}).items()):
            for name, b in (c.get("bins") or {}).items():
                if b.get("waived"):
                    found.append(
                        {
                            "what": f"{block}: {cover}: {name}",
                            "href": links.to("c", block, cover),
                            "reason": b["waived"],
                            "date": "",
                            "matched": 1,
                            "where": "",
                        }
                    )
    return found


def _plain(value: object) -> str:
    return ", ".join(str(v) for v in value) if isinstance(value, (list, tuple)) else str(value)
