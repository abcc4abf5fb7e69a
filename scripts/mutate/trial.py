# SPDX-License-Identifier: Apache-2.0
"""Run tests in a copy of the tree, clean or with a fault in it, and say what became of the fault."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.blocks import Blocks
from scripts.common import CACHE, UserError, tail
from scripts.mutate import tree as trees
from scripts.mutate.fault import Fault, Finding, Trial
from scripts.proc import run_group

RED = ("fail", "timeout")
LIMIT_FACTOR = 6.0
LIMIT_FLOOR_S = 20.0
"""A mutant that runs six times as long as the clean tree hangs; on a busy machine a second is no measure."""
SLACK_S = 60.0


def _limit(trial: Trial, spec: Blocks, clean_s: Mapping[Trial, float]) -> float:
    """Wall-clock limit of a run, seconds: from the clean run when there was one, else the test's own."""
    block = spec.block(trial.block)
    own = block.tests[trial.test].run_limit_s or block.run_limit_s
    if trial not in clean_s:
        return own
    return min(own, max(LIMIT_FLOOR_S, LIMIT_FACTOR * clean_s[trial]))


def run_in(
    tree: Path,
    trials: Sequence[Trial],
    spec: Blocks,
    *,
    clean_s: Mapping[Trial, float] | None = None,
    everything: bool = False,
    tick: Callable[[], None] | None = None,
) -> list[dict[str, Any]]:
    """Run the trials inside `tree`; what each ended with, UserError when the process itself breaks."""
    jobs = [{**t.as_dict(), "limit_s": _limit(t, spec, clean_s or {})} for t in trials]
    (tree / "trials.json").unlink(missing_ok=True)
    (tree / "job.json").write_text(json.dumps({"trials": jobs, "all": everything}))
    env = {**os.environ, "MICROHOP_ROOT": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    env.setdefault("NUMBA_CACHE_DIR", str(CACHE / "numba"))  # compiled models are the same in all copies
    env.pop("PYTEST_CURRENT_TEST", None)
    builds = sum(spec.block(b).build_limit_s for b, *_ in {(t.block, t.sim, t.params) for t in trials})
    log = tree / "worker.log"
    with log.open("w") as f:
        ended = run_group(
            [sys.executable, "-m", "scripts.mutate.worker", str(tree / "job.json")],
            limit_s=builds + sum(j["limit_s"] for j in jobs) + SLACK_S,
            cwd=tree,
            env=env,
            stdout=f,
            tick=tick,
        )
    try:
        found: list[dict[str, Any]] = json.loads((tree / "trials.json").read_text())
    except OSError:
        found = []
    red = bool(found) and found[-1]["verdict"] != "pass"
    if len(found) < len(trials) and (everything or not red):
        said = "\n".join(tail(log, 12))
        raise UserError(f"{tree.name}: its process ended with code {ended.returncode} before its tests did:\n{said}")
    return found


def judge(
    fault: Fault,
    spec: Blocks,
    clean: Path,
    *,
    clean_s: Mapping[Trial, float] | None = None,
    tick: Callable[[], None] | None = None,
) -> Finding:
    """Plant the fault in a copy of `clean` and run its trials. The copy stays when none was red."""
    start = time.monotonic()
    tree = trees.copy(clean, trees.FOLDER / "trees" / fault.name)
    (tree / fault.file).write_bytes(fault.source)
    try:
        ended = run_in(tree, fault.trials, spec, clean_s=clean_s, tick=tick)
    except UserError as e:
        return Finding(fault, "error", reason=str(e), verdict="error", seconds=time.monotonic() - start)
    finally:
        # builds are large, and a mutant's is of no use to anyone
        shutil.rmtree(tree / "build" / "cache", ignore_errors=True)
    seconds = round(time.monotonic() - start, 1)
    last = ended[-1]
    if last["verdict"] == "pass":
        return Finding(fault, "survived", verdict="pass", seconds=seconds)
    shutil.rmtree(tree, ignore_errors=True)
    if last["verdict"] in RED:
        by = fault.trials[len(ended) - 1].title
        return Finding(fault, "killed", by, last["reason"], last["verdict"], seconds)
    return Finding(fault, "error", reason=last["reason"], verdict="error", seconds=seconds)
