# SPDX-License-Identifier: Apache-2.0
"""The last regressions: pass rate, coverage and figures, kept one line a regression, and drawn.

build/regress/history.jsonl outlives the regressions' folders. What is no entry is skipped and named, and
stays where it is: somebody may want to mend it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.common import UserError, rel
from scripts.regress.records import Plan, Record

KINDS = ("line", "branch", "toggle", "expr")


class Entry(BaseModel):
    """One regression. Coverage in percent; what was not measured is absent or null. `passed` of `jobs`."""

    model_config = ConfigDict(extra="ignore")

    id: str
    when: str
    profile: str
    passed: int = Field(ge=0)
    jobs: int = Field(ge=0)
    coverage: dict[str, float | None] = Field(default_factory=dict)
    functional: float | None = None
    figures: dict[str, float] = Field(default_factory=dict)


def percent(part: Mapping[str, Any] | None) -> float | None:
    """Hit and waived of total; None where there is nothing to hit."""
    if not part or not part.get("total"):
        return None
    return 100.0 * float(part.get("hit", 0) + part.get("waived", 0)) / float(part["total"])


def entry(
    plan: Plan, records: Iterable[Record], code: Mapping[str, Any] | None, functional: Mapping[str, Any] | None
) -> Entry:
    """This regression's line. Figures: those with a target, the worst of all runs (figures.py)."""
    from scripts.regress.figures import worst

    records = list(records)
    measured = code is not None and code.get("measured")
    totals = code.get("totals", {}) if code is not None and measured else {}
    blocks = (functional or {}).get("blocks", {})
    hit = {key: sum(b.get(key, 0) for b in blocks.values()) for key in ("hit", "total", "waived")}
    return Entry(
        id=plan.id,
        when=plan.started,
        profile=plan.profile,
        passed=sum(r.verdict == "pass" or r.known for r in records),
        jobs=len(records),
        coverage={kind: percent(totals.get(kind)) for kind in KINDS},
        functional=percent(hit) if functional is not None else None,
        figures={f.key: f.value for f in worst(records)},
    )


def update(history: Path, fresh: Entry | Mapping[str, Any], problems: list[str] | None = None) -> list[dict[str, Any]]:
    """Add `fresh` to `history`, in place of an entry with its id; all entries, the oldest first.

    Appends to `problems` a text for each line that is none. UserError when the file cannot be written.
    """
    new = fresh if isinstance(fresh, Entry) else Entry.model_validate(fresh)
    try:
        history.parent.mkdir(parents=True, exist_ok=True)
        # two regressions may end at the same time
        with history.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            kept, entries = _read(history, problems if problems is not None else [])
            # a line that is none was named above; kept, it would be a problem of every regression to come
            lines = [line for line, known in kept if known is not None and known.id != new.id]
            lines.append(json.dumps(new.model_dump()).encode())
            part = history.with_name(f".{history.name}.{os.getpid()}")
            try:
                part.write_bytes(b"".join(line + b"\n" for line in lines))
                part.replace(history)
            finally:
                part.unlink(missing_ok=True)
    except OSError as e:
        raise UserError(f"{rel(history)}: cannot be written: {e.strerror}") from None
    return [e.model_dump() for e in [*(e for e in entries if e.id != new.id), new]]


def read(history: Path, problems: list[str] | None = None) -> list[dict[str, Any]]:
    """All entries, the oldest first; none when there is no such file."""
    try:
        _, entries = _read(history, problems if problems is not None else [])
    except OSError as e:
        raise UserError(f"{rel(history)}: cannot be read: {e.strerror}") from None
    return [e.model_dump() for e in entries]


def _read(history: Path, problems: list[str]) -> tuple[list[tuple[bytes, Entry | None]], list[Entry]]:
    try:
        data = history.read_bytes()
    except FileNotFoundError:
        return [], []
    lines: list[tuple[bytes, Entry | None]] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        known: Entry | None = None
        try:
            known = Entry.model_validate(json.loads(line))
        except ValidationError as e:
            first = e.errors()[0]
            field = ".".join(str(p) for p in first["loc"]) or "line"
            problems.append(f"{rel(history)}:{number}: {field}: {first['msg']}; this line is left out")
        except ValueError as e:
            problems.append(f"{rel(history)}:{number}: not JSON: {e}; this line is left out")
        lines.append((line, known))
    return lines, [known for _, known in lines if known is not None]
