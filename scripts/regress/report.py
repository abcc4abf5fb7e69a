# SPDX-License-Identifier: Apache-2.0
"""From records to the report: triage, coverage, test plan, mutants, trend, exports and the page.

Each part writes its JSON file beside the page (docs/regression.md). A part that cannot be made is named
among the problems, and the rest is reported all the same.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.common import UserError, rel
from scripts.regress import triage
from scripts.regress.records import REGRESS, Plan, Record, read, save

HISTORY = REGRESS / "history.jsonl"


class Report:
    """The report of one regression, in words beside the jobs: `problems`, what went wrong; `missed`, targets."""

    def __init__(
        self, folder: Path, plan: Plan, records: list[Record], problems: list[str], missed: list[str] | None = None
    ) -> None:
        self.folder, self.plan, self.records = folder, plan, records
        self.problems, self.missed = list(problems), list(missed or [])
        self.of_the_runs = list(problems)
        self.summary: dict[str, Any] = {}

    def _part(self, name: str, make: Callable[[], Any]) -> Any:
        try:
            made = make()
        except UserError as e:
            self.problems.append(str(e))
        except OSError as e:
            self.problems.append(f"{name}: {e.filename or rel(self.folder)}: {e.strerror or e}")
        except Exception as e:  # a defect of one part must not cost the others
            self.problems.append(f"{name}: cannot be made: {type(e).__name__}: {e}")
        else:
            if isinstance(made, dict):
                self.problems += [f"{name}: {text}" for text in made.get("errors", [])]
            return made
        return None

    def _code(self) -> Any:
        from scripts.coverage.summary import summary

        return summary(self.folder, self.records)

    def _functional(self) -> Any:
        from scripts.regress.functional import summary

        return summary(self.folder, self.records)

    def _mutants(self) -> Any:
        from scripts.mutate import summary

        return self._json("mutants.json", summary())

    def _testplan(self, functional: Any, mutants: Any) -> Any:
        from scripts.regress.testplan import summary

        return summary(self.folder, self.records, functional, mutants)

    def _junit(self) -> None:
        from scripts.regress import junit

        junit.write(self.folder, self.records)

    def _trend(self, code: Any, functional: Any) -> Any:
        from scripts.regress import trend

        entry = trend.entry(self.plan, self.records, code, functional)
        return self._json("trend.json", trend.update(HISTORY, entry, self.problems))

    def _page(self, **parts: Any) -> None:
        from scripts.regress import page

        data = page.PageData(
            plan=self.plan, records=self.records, summary=self.summary, problems=self.problems, **parts
        )
        page.render(self.folder, data)

    def write(self, *, seconds: float, builds: list[dict[str, Any]], interrupted: bool) -> None:
        """Everything, the page last; UserError when not even results.json can be written."""
        buckets = self._part("triage", lambda: self._json("buckets.json", triage.buckets(self.records)))
        code = self._part("code coverage", self._code)
        functional = self._part("functional coverage", self._functional)
        mutants = self._part("mutants", self._mutants)
        plan = self._part("test plan", lambda: self._testplan(functional, mutants))
        self._part("junit.xml", self._junit)
        self.summary = {
            "id": self.plan.id,
            "verdict": self.verdict(),
            "counts": dict(Counter(r.verdict for r in self.records)),
            "known_failures": sum(r.known for r in self.records),
            "interrupted": interrupted,
            "seconds": round(seconds, 1),
            "builds": builds,
            "missed": self.missed,
            "run_problems": self.of_the_runs,
        }
        trend = self._part("trend", lambda: self._trend(code, functional))
        self._results()  # before the page, which links to it
        known = len(self.problems)
        self._part(
            "index.html",
            lambda: self._page(
                buckets=buckets or [], code=code, functional=functional, testplan=plan, mutants=mutants, trend=trend
            ),
        )
        if len(self.problems) > known:
            self._results()

    def _results(self) -> None:
        self.summary["verdict"] = self.verdict()
        self.summary["problems"] = self.problems
        results = {**self.summary, "plan": self.plan.model_dump(exclude={"jobs"})}
        results["records"] = [r.model_dump(by_alias=True) for r in self.records]
        save(self.folder / "results.json", results)

    def _json(self, name: str, data: Any) -> Any:
        try:
            (self.folder / name).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        except OSError as e:
            self.problems.append(f"{rel(self.folder / name)}: {e.strerror}")
        return data

    def verdict(self) -> str:
        """`fail`: a job or a missed target stands against it; `error`: the tool did not come to an end; else `pass`."""
        if self.missed or any(r.bad for r in self.records):
            return "fail"
        if self.problems or any(r.verdict == "notrun" for r in self.records):
            return "error"
        return "pass"


def load(folder: Path) -> tuple[Plan, dict[str, Any], list[Record]]:
    """Plan, summary and records of a finished regression; UserError names the file."""
    plan = read(folder / "plan.json", Plan)
    path = folder / "results.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        records = [Record.model_validate(r) for r in data["records"]]
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    except (ValueError, KeyError, TypeError) as e:
        first = str(e).splitlines()[0]
        raise UserError(f"{rel(path)}: not the results of a regression: {first}") from None
    return plan, data, records


def find(given: str) -> Path:
    """The folder of a regression: its id, a path, or `last`."""
    folder = Path(given) if "/" in given else REGRESS / given
    if not (folder / "plan.json").is_file():
        have = sorted((p.parent.name for p in REGRESS.glob("*/plan.json") if not p.parent.is_symlink()), reverse=True)
        raise UserError(f"ID={given}: no such regression (newest: {', '.join(have[:5]) or 'none yet'})")
    return folder.resolve()


def stamp() -> str:
    """Now, as the report writes it."""
    return time.strftime("%Y-%m-%d %H:%M:%S")
