# SPDX-License-Identifier: Apache-2.0
"""The test plans as a regression found them: each point with its tests, bins, mutants and state.

open     no test or no bin names it, or none of its tests ran
failing  one of its tests did not pass (a known failure neither)
passing  all that ran passed, but a test or a job did not run, a bin is not hit or a mutant survived
closed   every test passed, every bin is hit (or waived), no mutant is known to survive
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts import testplan
from scripts.blocks import Blocks, blocks
from scripts.common import UserError
from scripts.regress.functional import PAIR, declared
from scripts.regress.records import Record, save
from scripts.testplan import Point

FILE = "testplan.json"
STATES = ("open", "failing", "passing", "closed")
SHOWN = 3


def names(found: Iterable[str]) -> str:
    """A few names in words, and how many more there are."""
    listed = list(found)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more


def _test(name: str, records: Sequence[Record]) -> dict[str, Any]:
    """What became of a test: jobs that passed, that did not (known failures too), that did not run."""
    passed = sum(r.verdict == "pass" for r in records)
    idle = sum(r.verdict == "notrun" for r in records)
    jobs = sorted(r.job.number for r in records)
    return {"name": name, "pass": passed, "bad": len(records) - passed - idle, "notrun": idle, "jobs": jobs}


def _bins(block: str, functional: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Bins by point of a plan's block and of its pair; `hits` is null where nothing was measured."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in (block, block + PAIR):
        measured = functional["blocks"].get(name)
        if measured is None:
            try:
                listed = [(b.cover, b.bin, b.points, None, False, None) for b in declared(name)]
            except Exception:  # functional.json tells of it as soon as one of the block's runs is read
                listed = []
        else:
            listed = [
                (cover, bin_, b["points"], b["hits"], b["hits"] >= b["at_least"], b["waived"])
                for cover, c in measured["covers"].items()
                for bin_, b in c["bins"].items()
            ]
        for cover, bin_, points, hits, hit, waived in sorted(listed, key=lambda b: b[:2]):
            for point in points:
                entry = {"cover": cover, "bin": bin_, "hits": hits, "hit": hit, "block": name, "waived": waived}
                found.setdefault(point, []).append(entry)
    return found


def judge(tests: Sequence[dict[str, Any]], bins: Sequence[dict[str, Any]], mutants: Sequence[dict[str, Any]],
          known: Iterable[str] = ()) -> tuple[str, str]:  # fmt: skip
    """(state, the reason in words) of a point; `known`: tests of which a failure is expected."""
    if not tests:
        return "open", "no test runs it"
    if not bins:
        return "open", "no bin counts it"
    ran = [t for t in tests if t["pass"] or t["bad"]]
    if not ran:
        return "open", "none of its tests ran"
    if bad := [t for t in ran if t["bad"]]:
        known = set(known)
        text = (f"{t['name']} did not pass in {t['bad']} of {len(t['jobs'])} jobs" for t in bad)
        as_known = sorted(t["name"] for t in bad if t["name"] in known)
        return "failing", names(text) + (f" (known to fail: {', '.join(as_known)})" if as_known else "")
    missing = []
    if idle := [t["name"] for t in tests if t not in ran]:
        missing.append(f"{names(idle)} did not run")
    if jobs := sum(t["notrun"] for t in ran):
        missing.append(f"{jobs} jobs did not run")
    if all(b["hits"] is None for b in bins):
        missing.append("no run left coverage")
    elif holes := [b for b in bins if not b["hit"] and b["waived"] is None]:
        told = names(f"{b['cover']} '{b['bin']}'" for b in holes)
        missing.append(f"{len(holes)} of {len(bins)} bins not hit: {told}")
    if alive := [m["name"] for m in mutants if m["state"] == "survived"]:
        missing.append(f"mutants survive: {names(alive)}")
    if missing:
        return "passing", "; ".join(missing)
    waived = sum(not b["hit"] for b in bins)
    but = f", {waived} of them waived" if waived else ""
    return "closed", f"{len(tests)} tests passed, {len(bins)} bins hit{but}"


def _mutant_states(mutants: Mapping[str, Any]) -> dict[str, str]:
    return {m["name"]: m["state"] for b in (mutants.get("blocks") or {}).values() for m in b.get("mutants", [])}


def _plans(folder: Path, spec: Blocks) -> tuple[dict[str, list[Point]], list[str]]:
    """Plans that can be read, and complaints about the others and about tests that do not exist."""
    plans, errors = {}, []
    for path in sorted(folder.glob("*.toml")):
        try:
            plans[path.stem] = testplan.read(path)
        except UserError as e:
            errors.append(str(e))
            continue
        for p in plans[path.stem]:
            for block, test in p.runs(path.stem):
                if block not in spec.blocks or test not in spec.blocks[block].tests:
                    errors.append(f"spec/testplan/{path.name}: point {p.id}: no test '{block}/{test}'")
    return plans, errors


def summary(
    folder: Path,
    records: Sequence[Record],
    functional: Mapping[str, Any],
    mutants: Mapping[str, Any] | None,
    plan_folder: Path = testplan.FOLDER,
    spec: Blocks | None = None,
) -> dict[str, Any]:
    """Judge every point of every plan and write testplan.json into the regression's folder.

    `functional`: what regress.functional.summary gave; `mutants`: mutants.json, None when there is none.
    """
    plans, errors = _plans(plan_folder, spec or blocks())
    by_test: dict[tuple[str, str], list[Record]] = {}
    for r in records:
        by_test.setdefault((r.job.block, r.job.test), []).append(r)
    states = _mutant_states(mutants or {})
    counts = dict.fromkeys(STATES, 0)
    points_of: dict[str, list[str]] = {}
    told: dict[str, list[dict[str, Any]]] = {}
    for block, points in plans.items():
        bins_of = _bins(block, functional)
        told[block] = []
        for p in sorted(points, key=lambda p: p.id):
            runs = sorted({f"{b}/{t}": by_test.get((b, t), []) for b, t in p.runs(block)}.items())
            tests = [_test(name, found) for name, found in runs]
            known = [name for name, found in runs if any(r.known for r in found)]
            bins = bins_of.get(p.id, [])
            planted = [{"name": m, "state": states.get(m)} for m in sorted(p.mutants)]
            state, why = judge(tests, bins, planted, known)
            counts[state] += 1
            for name, _ in runs:
                points_of.setdefault(name, []).append(f"{block}/{p.id}")
            told[block].append(
                {
                    "id": p.id, "feature": p.feature, "intent": p.intent, "kind": p.kind, "rules": sorted(p.rules),
                    "state": state, "why": why, "tests": tests, "bins": bins, "mutants": planted,
                }
            )  # fmt: skip
    result = {"counts": counts, "blocks": told, "tests": dict(sorted(points_of.items())), "errors": errors}
    save(folder / FILE, result)
    return result
