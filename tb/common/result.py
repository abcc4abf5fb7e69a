# SPDX-License-Identifier: Apache-2.0
"""``<run_dir>/result.json``: what a test adds to the run's report. Several tests of a run share it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Result:
    """Figures, latency counts, stages and artifacts of a run; fields as in the report."""

    def __init__(self, run_dir: Path) -> None:
        """Goes on from an earlier test's file in ``run_dir``."""
        self.path = run_dir / "result.json"
        self.data: dict[str, Any] = {
            "figures": {},
            "latency": {"checked": 0, "mismatched": 0, "bounded": 0},
            "stages": [],
            "artifacts": {},
            "notes": [],
        }
        if self.path.exists():
            self.data.update(json.loads(self.path.read_text(encoding="utf-8")))

    def figure(
        self, name: str, value: float, unit: str, target: float | None = None, passed: bool | None = None,
        **conditions: Any,
    ) -> None:  # fmt: skip
        """One figure; ``passed`` None: nothing to pass."""
        entry = {"value": value, "unit": unit, "target": target, "pass": passed, "conditions": conditions}
        self.data["figures"][name] = entry

    def latency(self, checked: int = 0, mismatched: int = 0, bounded: int = 0) -> None:
        """Add to the counts of outputs whose cycle was compared."""
        for key, n in (("checked", checked), ("mismatched", mismatched), ("bounded", bounded)):
            self.data["latency"][key] += n

    def stage(self, **fields: Any) -> None:
        """One line of the waterfall: path, name, cycles, ns, budget_ns, model_cycles, kind, mark."""
        self.data["stages"].append(fields)

    def artifact(self, name: str, path: Path) -> None:
        """A file the report links to."""
        self.data["artifacts"][name] = str(path)

    def note(self, text: str) -> None:
        """A line for the reader of the report."""
        self.data["notes"].append(text)

    def save(self) -> None:
        """Write the file."""
        self.path.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
