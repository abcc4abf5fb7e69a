# SPDX-License-Identifier: Apache-2.0
"""The process that runs tests inside one copy of the tree: `python -m scripts.mutate.worker <job.json>`.

job.json: { "trials": [{block, test, params, sim, options, limit_s}], "all": true to go on after a red one }.
After each run, <tree>/trials.json holds what ended so far: [{verdict, reason, run_s, build_s}].
MICROHOP_ROOT is the copy; one build serves all tests of the same parameters and simulator.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from scripts.blocks import Blocks, load
from scripts.common import ROOT, UserError
from scripts.run import Request, execute

OPTIMIZE = 0
"""Runs of seconds do not win back what -O3 takes to compile: builds are two to four times as fast."""


def cheap(spec: Blocks) -> Blocks:
    """The same blocks, compiled without optimisation."""
    blocks = {n: b.model_copy(update={"optimize": OPTIMIZE}) for n, b in spec.blocks.items()}
    return spec.model_copy(update={"blocks": blocks})


def main(job: Path) -> None:
    """Run the trials in turn; stop at the first that is not green unless all are wanted."""
    data = json.loads(job.read_text())
    spec = cheap(load())
    ended: list[dict[str, object]] = []
    for number, t in enumerate(data["trials"]):
        folder = ROOT / "build" / f"trial{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        request = Request(t["block"], t["sim"], t["params"], t["test"], spec.seed, t["options"])
        try:
            done = execute(spec, request, run_dir=folder, limit_s=t["limit_s"])
        except UserError as e:
            ended.append({"verdict": "error", "reason": str(e), "run_s": 0, "build_s": 0})
        else:
            facts = {"run_s": done.extra["run_s"], "build_s": done.extra["build_s"]}
            ended.append({"verdict": done.verdict, "reason": done.reason, **facts})
        fresh = ROOT / "trials.json.new"
        fresh.write_text(json.dumps(ended))
        fresh.replace(ROOT / "trials.json")
        if ended[-1]["verdict"] != "pass" and not data["all"]:
            break


if __name__ == "__main__":
    main(Path(sys.argv[1]))
