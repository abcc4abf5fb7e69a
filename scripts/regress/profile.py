# SPDX-License-Identifier: Apache-2.0
"""Profiles (spec/profiles/<name>.toml) and expected failures: what a regression is asked to run.

Every error names the file, the field and what is allowed there.
"""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.blocks import Blocks, Simulator
from scripts.common import ROOT, UserError, one_of, rel

PROFILES = ROOT / "spec" / "profiles"
EXPECTED = ROOT / "spec" / "expected_failures.toml"
DEFAULT = "smoke"
P = TypeVar("P", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(_Strict):
    """Wall-clock seconds for each build and each run, in place of the blocks' own."""

    build_s: float | None = Field(default=None, gt=0)
    run_s: float | None = Field(default=None, gt=0)


class Profile(_Strict):
    """Which blocks, tests, simulators and seeds; `seeds` none: those that each test lists."""

    summary: str = Field(min_length=1)
    tests: Literal["smoke", "make_test", "all"] = "make_test"
    """`smoke`: each block's `smoke` list; `make_test`: those of `make test`; `all`: every test."""
    blocks: list[str] = Field(default_factory=list)
    """Empty: all blocks."""
    only: list[str] = Field(default_factory=list)
    """block/test names; when given, these tests alone and not `tests`."""
    sims: list[Simulator] = Field(default=["verilator", "icarus"], min_length=1)
    seeds: int | None = Field(default=None, ge=1)
    coverage: bool = True
    limits: Limits = Limits()
    options: dict[str, dict[str, int | float | str | bool]] = Field(default_factory=dict)
    """Options by block, for those of its tests."""
    mutants: int = Field(default=0, ge=0)
    """Operator mutants a block to run behind the jobs; 0: none, and no hand-written ones either."""


class ExpectedFailure(_Strict):
    """One entry of spec/expected_failures.toml."""

    block: str
    test: str
    reason: str = Field(min_length=1)
    date: datetime.date
    params: str | None = None
    sim: Simulator | None = None
    seed: int | None = None


class _Expected(_Strict):
    failure: list[ExpectedFailure] = Field(default_factory=list)


def _read(path: Path, kind: type[P]) -> P:
    try:
        return kind.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    except ValidationError as e:
        lines = []
        for error in e.errors():
            field = ".".join(str(part) for part in error["loc"])
            allowed = f" (allowed: {', '.join(kind.model_fields)})" if error["type"] == "extra_forbidden" else ""
            lines.append(f"{rel(path)}: {field or 'file'}: {error['msg']}{allowed}")
        raise UserError("\n".join(lines)) from None
    except ValueError as e:
        raise UserError(f"{rel(path)}: not TOML: {e}") from None


def known() -> list[str]:
    """Names of the profiles in spec/profiles/."""
    return sorted(p.stem for p in PROFILES.glob("*.toml"))


def load(name: str, spec: Blocks) -> Profile:
    """The profile called `name`, or the one in a file (a path that ends in .toml), checked against the blocks."""
    path = Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"
    if not name.endswith(".toml") and name not in known():
        raise one_of("profile", name, known(), "PROFILE")
    profile = _read(path, Profile)
    for block in (*profile.blocks, *profile.options):
        spec.block(block, f"{rel(path)}: blocks")
    for name_ in profile.only:
        block, _, test = name_.partition("/")
        if test not in spec.block(block, f"{rel(path)}: only").tests:
            raise one_of("test", name_, [f"{block}/{t}" for t in spec.block(block).tests], f"{rel(path)}: only")
    for block, options in profile.options.items():
        for option, value in options.items():
            if option not in spec.block(block).options:
                raise one_of("option", option, spec.block(block).options, f"{rel(path)}: options.{block}")
            spec.block(block).options[option].parse(option, str(value))
    return profile


def expected_failures(spec: Blocks, path: Path = EXPECTED) -> list[ExpectedFailure]:
    """The runs known to fail; UserError for one that names nothing that exists."""
    found = _read(path, _Expected).failure if path.exists() else []
    for n, entry in enumerate(found):
        where = f"{rel(path)}: failure.{n}"
        block = spec.block(entry.block, where)
        if entry.test not in block.tests:
            raise one_of("test", entry.test, block.tests, where)
        if entry.params is not None and entry.params not in block.tests[entry.test].params:
            raise one_of("parameter set", entry.params, block.tests[entry.test].params, where)
    return found
