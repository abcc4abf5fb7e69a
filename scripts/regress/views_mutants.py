# SPDX-License-Identifier: Apache-2.0
"""What the page says of mutants: the score, and what became of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from scripts.regress.links import Links
from scripts.regress.views import PageData
from scripts.regress.views_parts import blocks_of, point_links, share, source_link

STATES = ("survived", "error", "notrun", "equivalent", "killed")


def mutant_score(block: Mapping[str, Any] | None, targets: Mapping[str, float] | None = None) -> dict[str, Any] | None:
    """Killed of those that can be killed: sampled ones, or hand-written ones where none was sampled.

    `targets`: percent wanted of `hand` and `operators`, as mutants.json has them; `low`: one is missed.
    """
    if not block:
        return None
    if not block.get("complete", True):
        return None  # cut off: what never ran is not a fault that was missed
    ops, hand = block.get("operators") or {}, block.get("hand") or {}
    tried = ops.get("killed", 0) + ops.get("survived", 0)
    hand_total, hand_killed = hand.get("total", 0), hand.get("killed", 0)
    if not tried and not hand_total:
        return None
    part = {"hit": ops.get("killed", 0), "total": tried} if tried else {"hit": hand_killed, "total": hand_total}
    found = share(part) or {}
    wanted = targets or {}
    ops_low = bool(tried) and 100 * ops.get("killed", 0) < wanted.get("operators", 0) * tried
    hand_low = bool(hand_total) and 100 * hand_killed < wanted.get("hand", 0) * hand_total
    return {
        **found,
        "low": ops_low or hand_low,
        "ops_low": ops_low,
        "hand_low": hand_low,
        "kind": "sampled" if tried else "hand-written",
        "hand_killed": hand_killed,
        "hand_total": hand_total,
    }


def sum_mutants(blocks: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The counts of all blocks whose mutants ran to their end, together; None when there are none."""
    sums: dict[str, Counter[str]] = {"hand": Counter(), "operators": Counter()}
    for b in blocks:
        if not b.get("complete", True):
            continue
        for key, counter in sums.items():
            counter.update({k: v for k, v in (b.get(key) or {}).items() if isinstance(v, int)})
    return {k: dict(v) for k, v in sums.items()} if any(sums.values()) else None


def mutants(data: PageData, links: Links) -> dict[str, Any] | None:
    """Score and mutants of each block, those that survived first."""
    if data.mutants is None:
        return None
    points: dict[tuple[str, str], list[str]] = defaultdict(list)
    for block, found in blocks_of(data.testplan):
        for p in found:
            for m in p.get("mutants") or []:
                points[block, str(m.get("name"))].append(p["id"])
    targets = data.mutants.get("targets")
    blocks = []
    for block, part in blocks_of(data.mutants):
        groups: dict[str, list[dict[str, Any]]] = {s: [] for s in STATES}
        for m in part.get("mutants") or []:
            name = str(m.get("name"))
            groups.setdefault(m.get("state") or "notrun", []).append(
                {
                    **m,
                    "id": links.place("m", block, name),
                    "place": f"{m.get('file') or ''}" + (f":{m['line']}" if m.get("line") else ""),
                    "place_href": source_link(data, m.get("file"), m.get("line"), links),
                    "killed_href": _test_link(block, m.get("killed_by"), links),
                    "said": m.get("reason") or m.get("why") or "",
                    "points": point_links(block, points.get((block, name), []), links),
                }
            )
        score = mutant_score(part, targets)
        ops, hand = part.get("operators") or {}, part.get("hand") or {}
        blocks.append(
            {
                "name": block,
                "id": links.place("mb", block),
                "when": part.get("when", ""),
                "fresh": part.get("fresh"),
                "complete": part.get("complete", True),
                "score": score,
                "tried": ops.get("killed", 0) + ops.get("survived", 0),
                "ops": ops,
                "hand": hand,
                "groups": [(state, members) for state, members in groups.items() if members],
                "open": bool(groups["survived"]),
            }
        )
    return {
        "blocks": blocks,
        "targets": targets or {},
        "total": mutant_score(sum_mutants([p for _, p in blocks_of(data.mutants)]), targets),
    }


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
