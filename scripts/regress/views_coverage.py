# SPDX-License-Identifier: Apache-2.0
"""What the page says of coverage, test points and mutants, each linked to the other two and to the tests."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from scripts.regress.links import Links
from scripts.regress.views import PageData

KINDS = ("line", "branch", "toggle", "expr")
WORDS = {"expr": "expression"}
STATES = ("failing", "open", "passing", "closed")
MUTANT_STATES = ("survived", "error", "notrun", "equivalent", "killed")
SAMPLED_TARGET = 95.0
SHOWN_BINS = 12
"""Bins that a test point lists one by one; of more, only those that no run hit, as many of each cover."""
BINS_OF_A_COVER = 400
"""Of a larger cover the page lists the bins that no run hit; all are in functional.json."""


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


def block_of(path: str) -> str:
    """The block that a source file belongs to, by its folder: rtl/<block>/..."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "rtl" else "other"


def mutant_score(block: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Killed of those that can be killed: sampled ones, or hand-written ones where none was sampled."""
    if not block:
        return None
    ops, hand = block.get("operators") or {}, block.get("hand") or {}
    tried = ops.get("killed", 0) + ops.get("survived", 0)
    hand_total, hand_killed = hand.get("total", 0), hand.get("killed", 0)
    if not tried and not hand_total:
        return None
    part = {"hit": ops.get("killed", 0), "total": tried} if tried else {"hit": hand_killed, "total": hand_total}
    found = share(part) or {}
    low = (tried and 100 * part["hit"] / part["total"] < SAMPLED_TARGET) or hand_killed < hand_total
    kind = "sampled" if tried else "hand-written"
    return {**found, "low": bool(low), "kind": kind, "hand_killed": hand_killed, "hand_total": hand_total}


def places(data: PageData, links: Links) -> None:
    """Make the ids of everything that coverage, points and mutants link to."""
    for block, points in _blocks(data.testplan):
        for p in points:
            links.place("p", block, str(p.get("id")))
    for block, part in _blocks(data.functional):
        for cover in part.get("covers", {}):
            links.place("c", block, cover)
    for block, part in _blocks(data.mutants):
        for m in part.get("mutants", []):
            links.place("m", block, str(m.get("name")))


def _blocks(part: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    return sorted(((part or {}).get("blocks") or {}).items())


def points_of_tests(data: PageData) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Test points, as (block, id), by (block, test)."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for block, points in _blocks(data.testplan):
        for p in points:
            for t in p.get("tests", []):
                where, _, name = str(t.get("name")).rpartition("/")
                found[where or block, name].append((block, str(p["id"])))
    return found


def coverage(data: PageData, links: Links) -> dict[str, Any]:
    """The table by block with its details, the totals, and the waivers."""
    code = data.code if data.code is not None and data.code.get("measured") else None
    code_blocks = dict(_blocks(code))
    functional = dict(_blocks(data.functional))
    mutants = dict(_blocks(data.mutants))
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, f in sorted(((code or {}).get("files") or {}).items()):
        files[block_of(path)].append(_file(path, f, links))
    holes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for h in (data.functional or {}).get("holes") or []:
        holes[h.get("block", "")].append(h)
    names = sorted({*code_blocks, *functional, *mutants, *files})
    rows = [
        {
            "name": name,
            "id": links.place("b", name),
            "cells": _cells(code_blocks.get(name), functional.get(name), mutants.get(name)),
            "files": files.get(name, []),
            "code_holes": sum(len(f["holes"]) for f in files.get(name, [])),
            "covers": (covers := _covers(name, functional.get(name), links)),
            "covers_missed": sum(bool(c["share"] and c["share"]["missed"]) for c in covers),
            "holes": [_hole(name, h, links) for h in holes.get(name, [])],
        }
        for name in names
    ]
    everything = {key: sum(b.get(key, 0) for b in functional.values()) for key in ("hit", "total", "waived")}
    total = _cells((code or {}).get("totals"), everything if functional else None, _sum_mutants(mutants.values()))
    return {
        "code": code is not None,
        "runs": (code or {}).get("runs"),
        "functional": data.functional is not None,
        "columns": [WORDS.get(k, k) for k in KINDS] + ["functional", "mutants"],
        "rows": rows,
        "total": total,
        "instances": _instances(code),
        "wide": ((code or {}).get("not_measured") or {}).get("wider_than"),
        "not_measured": _not_measured(code, links),
        "waivers": _waivers(code, functional, links),
    }


def _cells(
    code: Mapping[str, Any] | None, functional: Mapping[str, Any] | None, mutants: Mapping[str, Any] | None
) -> list[dict[str, Any] | None]:
    return [*(share((code or {}).get(k)) for k in KINDS), share(functional), mutant_score(mutants)]


def _sum_mutants(blocks: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    sums: dict[str, Counter[str]] = {"hand": Counter(), "operators": Counter()}
    for b in blocks:
        for key, counter in sums.items():
            counter.update({k: v for k, v in (b.get(key) or {}).items() if isinstance(v, int)})
    return {k: dict(v) for k, v in sums.items()} if any(sums.values()) else None


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


def _hole(block: str, h: Mapping[str, Any], links: Links) -> dict[str, Any]:
    return {
        "cover": h.get("cover"),
        "href": links.to("c", block, str(h.get("cover"))),
        "bin": h.get("bin"),
        "points": _points(block, h.get("points") or [], links),
    }


def _points(block: str, ids: Iterable[str], links: Links) -> list[tuple[str, str | None]]:
    """Points by id, or by block/id where they are another block's."""
    found = []
    for name in ids:
        where, _, own = str(name).rpartition("/")
        found.append((str(name), links.to("p", where or block, own)))
    return found


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
                "points": [] if common else _points(block, b.get("points") or [], links),
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
                "points": _points(block, common, links),
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


def _not_measured(code: Mapping[str, Any] | None, links: Links) -> list[dict[str, Any]]:
    """Signals without counters for their toggles, each at its line of the source."""
    files = (code or {}).get("files") or {}
    found = []
    for s in ((code or {}).get("not_measured") or {}).get("signals") or []:
        page = links.file((files.get(s.get("file")) or {}).get("page"))
        found.append({**s, "href": f"{page}#L{s.get('line')}" if page else None})
    return found


def _waivers(code: Mapping[str, Any] | None, functional: Mapping[str, Any], links: Links) -> list[dict[str, Any]]:
    found = []
    for w in (code or {}).get("waivers") or []:
        said = ("reason", "date", "matched", "file", "where", "waived")
        rest = [f"{k} {_plain(v)}" for k, v in w.items() if k not in said and v not in (None, "", [])]
        found.append(
            {
                "what": " ".join(filter(None, [str(w.get("file") or ""), ", ".join(rest)])),
                "href": None,
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


def testplan(data: PageData, links: Links) -> dict[str, Any] | None:
    """Points by block and feature, each with its evidence."""
    if data.testplan is None:
        return None
    blocks = []
    for block, points in _blocks(data.testplan):
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


def mutants(data: PageData, links: Links) -> dict[str, Any] | None:
    """Score and mutants of each block, those that survived first."""
    if data.mutants is None:
        return None
    points: dict[tuple[str, str], list[str]] = defaultdict(list)
    for block, found in _blocks(data.testplan):
        for p in found:
            for m in p.get("mutants") or []:
                points[block, str(m.get("name"))].append(p["id"])
    blocks = []
    for block, part in _blocks(data.mutants):
        groups: dict[str, list[dict[str, Any]]] = {s: [] for s in MUTANT_STATES}
        for m in part.get("mutants") or []:
            name = str(m.get("name"))
            groups.setdefault(m.get("state") or "notrun", []).append(
                {
                    **m,
                    "id": links.place("m", block, name),
                    "place": f"{m.get('file') or ''}" + (f":{m['line']}" if m.get("line") else ""),
                    "killed_href": _test_link(block, m.get("killed_by"), links),
                    "said": m.get("reason") or m.get("why") or "",
                    "points": _points(block, points.get((block, name), []), links),
                }
            )
        score = mutant_score(part)
        ops, hand = part.get("operators") or {}, part.get("hand") or {}
        blocks.append(
            {
                "name": block,
                "id": links.place("mb", block),
                "when": part.get("when", ""),
                "fresh": part.get("fresh"),
                "score": score,
                "tried": ops.get("killed", 0) + ops.get("survived", 0),
                "ops": ops,
                "hand": hand,
                "groups": [(state, members) for state, members in groups.items() if members],
                "open": bool(groups["survived"]),
            }
        )
    return {"blocks": blocks, "total": mutant_score(_sum_mutants([p for _, p in _blocks(data.mutants)]))}


def _test_link(block: str, test: str | None, links: Links) -> str | None:
    if not test:
        return None
    # block/test, or the test alone, with whatever else names the run behind it
    for name in (test, test.split("/")[-1], test.split()[0].split("/")[-1]):
        found = links.to("t", block, name)
        if found:
            return found
    parts = test.split("/")
    return links.to("t", parts[0], parts[1]) if len(parts) > 1 else None
