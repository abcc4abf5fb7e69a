# SPDX-License-Identifier: Apache-2.0
"""spec/testplan/<block>.toml: what a block must be seen to do. Read and checked.

A test point has an id, the feature it belongs to, an intent, the tests that run it and the mutants that
those must see. Bins name their points in tb/<block>/coverage.py. Every error names file and field.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scripts.common import ROOT, UserError, rel

FOLDER = ROOT / "spec" / "testplan"
PAIR = "pair/"
ID = r"^[a-z][a-z0-9_]*$"


class Point(BaseModel):
    """One test point. Empty `tests`: nothing runs it yet, the point is open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=ID)
    feature: str = Field(pattern=ID)
    """Short name of what the point is about; several points share one."""
    intent: str = Field(min_length=1)
    kind: Literal["directed", "random", "negative"]
    rules: list[str] = Field(default_factory=list)
    """Rules of rtl/<block>/README.md that it holds the block to."""
    sequence: str = ""
    """Class of the bench that makes the stimulus."""
    tests: list[str]
    """Tests of the block; `pair/<test>` is one of block <block>_pair, two of this one joined."""
    mutants: list[str] = Field(default_factory=list)
    """Planted faults (tests/mutants) that its tests must see."""

    def runs(self, block: str) -> list[tuple[str, str]]:
        """(block, test) of each test; `block` is the plan's."""
        return [(f"{block}_pair", t[len(PAIR) :]) if t.startswith(PAIR) else (block, t) for t in self.tests]


class TestPlan(BaseModel):
    """The points of one block, in the order of the file."""

    __test__ = False  # pytest takes the name for a test class otherwise
    model_config = ConfigDict(extra="forbid", frozen=True)

    point: list[Point] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> TestPlan:
        ids = [p.id for p in self.point]
        if twice := sorted({i for i in ids if ids.count(i) > 1}):
            raise ValueError(f"point: two points of one id: {', '.join(twice)}")
        return self


def _explain(path: Path, data: Any, error: ValidationError) -> UserError:
    lines = []
    for e in error.errors():
        field = ".".join(str(part) for part in e["loc"])
        if len(e["loc"]) > 1 and isinstance(index := e["loc"][1], int):
            with suppress(KeyError, TypeError, IndexError):
                field += f" (id '{data['point'][index]['id']}')"
        got = e.get("input")
        shown = f" (found {got!r})" if isinstance(got, (str, int, float, bool)) else ""
        lines.append(f"{rel(path)}: {field or 'file'}: {e['msg'].removeprefix('Value error, ')}{shown}")
    return UserError("\n".join(lines))


def read(path: Path) -> list[Point]:
    """The points of one plan; UserError names the file and the field."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UserError(f"{rel(path)}: not TOML: {e}") from None
    try:
        return TestPlan.model_validate(data).point
    except ValidationError as e:
        raise _explain(path, data, e) from None


def load(folder: Path = FOLDER) -> dict[str, list[Point]]:
    """All plans by block, sorted by its name."""
    return {p.stem: read(p) for p in sorted(folder.glob("*.toml"))}
