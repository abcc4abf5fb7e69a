# SPDX-License-Identifier: Apache-2.0
"""tests/mutants/equivalent.toml: changes that no test can see, each with its reason.

    [[equivalent]]
    file = "rtl/..."; operator = "..."; line = "the line's text without the space around it"
    occurrence = 1 (which of several such changes on such a line); reason = "..."

An entry whose line is gone is an error: it would hide the next fault that comes to look like it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.common import ROOT, UserError, rel
from scripts.mutate.operators import Candidate

FILE = ROOT / "tests" / "mutants" / "equivalent.toml"


class Entry(BaseModel):
    """One change that is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    file: str
    operator: str
    line: str
    occurrence: int = Field(default=1, ge=1)
    reason: str = Field(min_length=10)

    @property
    def key(self) -> tuple[str, str, str, int]:
        """As Candidate.key."""
        return self.file, self.operator, self.line, self.occurrence


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    equivalent: list[Entry] = Field(default_factory=list)


def load(path: Path = FILE) -> list[Entry]:
    """The entries; none without a file. UserError names file and field, or what is listed twice."""
    if not path.exists():
        return []
    try:
        entries = _File.model_validate(tomllib.loads(path.read_text())).equivalent
    except tomllib.TOMLDecodeError as e:
        raise UserError(f"{rel(path)}: not TOML: {e}") from None
    except ValidationError as e:
        first = e.errors()[0]
        raise UserError(f"{rel(path)}: {'.'.join(str(p) for p in first['loc'])}: {first['msg']}") from None
    keys = [e.key for e in entries]
    for entry in entries:
        if keys.count(entry.key) > 1:
            raise UserError(f"{rel(path)}: listed twice: {_told(entry)}")
    return entries


def _told(entry: Entry) -> str:
    return f"{entry.file}: {entry.operator} {entry.occurrence} in '{entry.line}'"


def reasons(entries: Iterable[Entry], found: Iterable[Candidate], path: Path = FILE) -> dict[str, str]:
    """Reason by candidate's name, for the files that `found` covers; UserError names each stale entry."""
    by_key = {c.key: c.name for c in found}
    entries = list(entries)
    if stale := [e for e in entries if e.key not in by_key]:
        lines = "\n".join(_told(e) for e in stale)
        raise UserError(f"{rel(path)}: no such change any more, take the entry out or mend it:\n{lines}")
    return {by_key[e.key]: e.reason for e in entries}
