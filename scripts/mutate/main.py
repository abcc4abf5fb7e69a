# SPDX-License-Identifier: Apache-2.0
"""The verb `mutate`: which faults, in which blocks; run, keep, show.

Exit codes: 0 targets met (spec/fabric.toml, [mutants]), 1 missed, 2 it could not be run.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from scripts.blocks import Blocks, blocks
from scripts.common import EXIT_FAIL, EXIT_PASS, UserError, one_of, rel
from scripts.mutate import equivalent, hand, operators, results
from scripts.mutate import tree as trees
from scripts.mutate.fault import Fault, Finding, Trial, smoke_trials
from scripts.mutate.loop import clean_runs, run_all
from scripts.mutate.operators import Candidate
from scripts.mutate.sample import sample
from scripts.mutate.show import show
from scripts.regress.records import save
from scripts.settings import only, seed_of, whole_number

KEYS = ("BLOCK", "N", "SEED", "NAME", "JOBS")
COUNT = 20
JOBS = 2


@dataclass(frozen=True)
class _Set:
    """A block's faults: to run, and those that are known to change nothing."""

    block: str
    faults: list[Fault]
    equivalent: list[Finding]

    def count(self, origin: str) -> int:
        """How many of a kind there are to tell of."""
        return sum(f.origin == origin for f in [*self.faults, *(e.fault for e in self.equivalent)])


def _candidates(spec: Blocks, name: str, root: Path) -> list[Candidate]:
    include = spec.include_dirs()
    return [c for file in spec.own_rtl(name) for c in operators.candidates(file, include, root)]


def _operator_fault(candidate: Candidate, block: str, trials: tuple[Trial, ...], root: Path, why: str) -> Fault:
    source = candidate.apply((root / candidate.file).read_bytes())
    return Fault(
        candidate.name, "operator", block, candidate.file, candidate.line, candidate.operator,
        candidate.before, candidate.after, why, source, trials,
    )  # fmt: skip


def collect(
    spec: Blocks, name: str, root: Path, *, count: int, seed: int, only_name: str | None = None
) -> _Set:  # fmt: skip
    """A block's hand-written faults and a sample of its operator mutants, or the one of a name."""
    by_hand = [hand.fault(m, spec, root) for m in hand.load(root / "tests" / "mutants") if m.block == name]
    found = _candidates(spec, name, root)
    entries = equivalent.load(root / "tests" / "mutants" / equivalent.FILE.name)
    own = spec.own_rtl(name)
    reasons = equivalent.reasons([e for e in entries if e.file in own], found)
    if only_name is not None:
        by_hand = [f for f in by_hand if f.name == only_name]
        chosen = [c for c in found if c.name == only_name]
    else:
        chosen = sample(found, count, seed)
    sampled = [
        _operator_fault(c, name, smoke_trials(spec, name, c.operator), root, reasons.get(c.name, "")) for c in chosen
    ]
    known = [f for f in sampled if f.name in reasons and only_name is None]
    return _Set(
        name,
        [*by_hand, *(f for f in sampled if f not in known)],
        [Finding(f, "equivalent", reason=reasons[f.name]) for f in known],
    )


def _foreign_entries(spec: Blocks, root: Path) -> None:
    """UserError for an equivalent entry whose file is no block's: it would never be looked at."""
    known = {f for name in spec.blocks for f in spec.own_rtl(name)}
    for entry in equivalent.load(root / "tests" / "mutants" / equivalent.FILE.name):
        if entry.file not in known:
            raise one_of("file", entry.file, known, f"tests/mutants/{equivalent.FILE.name}")


def _trials(found: _Set) -> list[Trial]:
    return list(dict.fromkeys(t for f in found.faults for t in f.trials))


def _block(console: Console, spec: Blocks, found: _Set, clean: Path, jobs: int, facts: dict[str, Any], *, keep: bool
           ) -> dict[str, Any]:  # fmt: skip
    """Run a block's faults; its results, kept after each fault when `keep`."""
    findings = list(found.equivalent)

    def result() -> dict[str, Any]:
        return results.data(
            found.block, findings, hand=found.count("hand"), operators=found.count("operator"), **facts
        )  # fmt: skip

    def done(finding: Finding) -> None:
        findings.append(finding)
        if keep:
            save(trees.FOLDER / f"{found.block}.json", result())

    console.print(f"[bold]{found.block}[/]: {len(found.faults)} mutants")
    if found.faults:
        clean_s = clean_runs(clean, _trials(found), spec, console)
        try:
            run_all(console, found.block, found.faults, spec, clean, clean_s, jobs, done)
        except KeyboardInterrupt:
            console.print("[bold]interrupted[/]: what is done is kept")
            facts["interrupted"] = True
    elif keep:
        save(trees.FOLDER / f"{found.block}.json", result())
    interrupted = facts.pop("interrupted", False)
    return {**result(), "interrupted": interrupted}


def run_blocks(
    console: Console,
    names: Iterable[str],
    *,
    count: int = COUNT,
    jobs: int = JOBS,
    seed: int | None = None,
    name: str | None = None,
    none_is_good: bool = False,
) -> int:
    """Run the mutants of some blocks, show and keep the results, give the exit code.

    `name`: only that mutant, whose result is shown and not kept. UserError when a block's clean tree is not
    green, an entry of tests/mutants/ is no use, nothing is called `name`, or the blocks have no mutants at all
    (unless `none_is_good`).
    """
    spec = blocks()
    try:
        clean = trees.snapshot()
    except OSError as e:  # shutil.Error is one: a list of files and reasons
        raise UserError(f"the tree cannot be copied to {rel(trees.FOLDER)}: {str(e)[:300]}") from None
    try:
        _foreign_entries(spec, clean)
        chosen_seed = spec.seed if seed is None else seed
        sets = [collect(spec, b, clean, count=count, seed=chosen_seed, only_name=name) for b in names]
        sets = [s for s in sets if s.faults or s.equivalent]
        if not sets and none_is_good:
            return EXIT_PASS
        if not sets:
            what = f"NAME={name}: no mutant of that name" if name else "no mutants"
            raise UserError(f"{what} in {', '.join(names)}")
        shown: list[dict[str, Any]] = []
        for found in sets:
            facts = {
                "sources": trees.digest(found.block, clean), "when": time.strftime("%Y-%m-%d %H:%M:%S"),
                "seed": chosen_seed, "count": count,
            }  # fmt: skip
            shown.append(_block(console, spec, found, clean, jobs, facts, keep=name is None))
            if shown[-1]["interrupted"]:
                break
        show(console, shown)
        return EXIT_PASS if _met(shown, sets) else EXIT_FAIL
    finally:
        shutil.rmtree(clean, ignore_errors=True)


def interrupted(name: str) -> bool:
    """The newest results of a block are those of a run that was cut off."""
    try:
        data = json.loads((trees.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        return not data["complete"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _met(shown: Sequence[dict[str, Any]], sets: Sequence[_Set]) -> bool:
    return len(shown) == len(sets) and not any(results.missed(b) for b in shown)


def main_mutate(console: Console, given: dict[str, str]) -> int:
    """Settings: BLOCK (default: all), N operator mutants a block, SEED of the sample, NAME of one, JOBS."""
    only(given, KEYS, "mutate")
    spec = blocks()
    names = [given["BLOCK"]] if given.get("BLOCK") else list(spec.blocks)
    for block in names:
        spec.block(block)
    return run_blocks(
        console,
        names,
        count=whole_number("N", given.get("N") or str(COUNT)),
        jobs=whole_number("JOBS", given.get("JOBS") or str(JOBS)),
        seed=seed_of(given["SEED"]) if given.get("SEED") else None,
        name=given.get("NAME") or None,
    )
