# SPDX-License-Identifier: Apache-2.0
"""What became of a block's mutants: build/mutate/<block>.json, and all blocks together for the page.

A block's file: { block, sources, when, seed, count, complete, hand, operators, mutants }, of which
`summary` gives the fields of docs/regression.md, with `fresh`: whether the sources are still the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.spec import spec as figures
from scripts.blocks import blocks
from scripts.common import UserError, rel
from scripts.mutate import tree as trees
from scripts.mutate.fault import Finding

FIELDS = ("when", "hand", "operators", "mutants", "complete", "seed")
SHAPE = {"hand": dict, "operators": dict, "mutants": list}
STATES = ("killed", "survived", "equivalent", "error")


def _mutant(finding: Finding) -> dict[str, Any]:
    f = finding.fault
    return {
        "name": f.name, "origin": f.origin, "file": f.file, "line": f.line, "operator": f.operator,
        "before": f.before, "after": f.after, "state": finding.state, "killed_by": finding.killed_by,
        "verdict": finding.verdict, "reason": finding.reason, "why": f.why, "command": f.command,
        "seconds": finding.seconds,
    }  # fmt: skip


def data(
    block: str,
    findings: Sequence[Finding],
    *,
    hand: int,
    operators: int,
    sources: str,
    when: str,
    seed: int,
    count: int,
) -> dict[str, Any]:
    """A block's file. `hand` and `operators`: how many were to be run; fewer findings: it was interrupted."""
    by_hand = [f for f in findings if f.fault.origin == "hand"]
    sampled: Counter[str] = Counter(f.state for f in findings if f.fault.origin == "operator")
    return {
        "block": block,
        "sources": sources,
        "when": when,
        "seed": seed,
        "count": count,
        "complete": len(findings) == hand + operators,
        "hand": {"killed": sum(f.state == "killed" for f in by_hand), "total": hand},
        "operators": {**{s: sampled[s] for s in STATES}, "total": operators},
        "mutants": [_mutant(f) for f in sorted(findings, key=lambda f: f.fault.name)],
    }


def score(operators: dict[str, int]) -> float | None:
    """Percent killed of those that were judged; None when there was none."""
    judged = operators["killed"] + operators["survived"]
    return 100 * operators["killed"] / judged if judged else None


def missed(block: dict[str, Any]) -> list[str]:
    """The targets of spec/fabric.toml that a block's results miss, in words."""
    found = []
    hand, wanted = block["hand"], figures().value("mutants.hand_killed")
    if hand["total"] and 100 * hand["killed"] / hand["total"] < wanted:
        found.append(f"{hand['killed']} of {hand['total']} hand-written faults killed, target {wanted:g} %")
    reached, wanted = score(block["operators"]), figures().value("mutants.sampled_killed")
    if reached is not None and reached < wanted:
        found.append(f"{reached:.0f} % of the operator mutants killed, target {wanted:g} %")
    if not block["complete"]:
        found.append("interrupted: not all were run")
    return found


def summary(folder: Path | None = None) -> dict[str, Any]:
    """mutants.json of docs/regression.md: the newest results of each block.

    `folder` holds a file a block, build/mutate when none is given. A file that cannot be used is named in
    `errors` and the others are still told.
    """
    folder = folder or trees.FOLDER
    found: dict[str, Any] = {"blocks": {}, "errors": [], "targets": targets()}
    for path in sorted(folder.glob("*.json")):
        try:
            block = json.loads(path.read_text(encoding="utf-8"))
            name = block["block"]
            kept = {field: block[field] for field in FIELDS}
            for field, kind in SHAPE.items():
                if not isinstance(block[field], kind):
                    raise TypeError(f"{field}: a {kind.__name__} is wanted")
            if not all(isinstance(m, dict) and {"name", "state", "origin"} <= set(m) for m in block["mutants"]):
                raise TypeError("mutants: each wants name, state and origin")
            if not {"killed", "total"} <= set(block["hand"]) or not {*STATES, "total"} <= set(block["operators"]):
                raise TypeError("hand, operators: a count is missing")
            kept["fresh"] = block["complete"] and block["sources"] == trees.digest(name)
            kept["score"] = score(block["operators"])
        except (OSError, ValueError, KeyError, TypeError) as e:
            found["errors"].append(f"{rel(path)}: cannot be used: {type(e).__name__}: {e}")
            continue
        if name in blocks().blocks:
            found["blocks"][name] = kept
    return found


def targets() -> dict[str, float]:
    """Percent wanted, by kind of mutant."""
    return {"hand": figures().value("mutants.hand_killed"), "operators": figures().value("mutants.sampled_killed")}


def read(block: str) -> dict[str, Any] | None:
    """A block's newest results; None when there are none, UserError when the file is no use."""
    path = trees.FOLDER / f"{block}.json"
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as e:
        raise UserError(f"{rel(path)}: cannot be used: {e}") from None
    return found
