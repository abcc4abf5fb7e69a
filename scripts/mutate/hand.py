# SPDX-License-Identifier: Apache-2.0
"""Hand-written faults: tests/mutants/<block>.toml.

    [[mutant]]
    name = "..."; file = "rtl/..."; find = "exact text, once in the file"; replace = "..."
    block = "..."; test = "..." (default: the block's); params = "..." (default: the test's first)
    sim = "icarus" (default: verilator); options = { .. }
    tier = "test" (also in `make test`) or "full" (the default: `make mutate` only); why = "..."

Its test must turn red. A fault whose text is not there exactly once is an error of the fault: it says
nothing about the bench.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.blocks import Blocks
from scripts.common import ROOT, UserError, one_of, rel
from scripts.mutate.fault import Fault, Trial

FOLDER = ROOT / "tests" / "mutants"
NOT_FAULTS = ("equivalent.toml",)


class Mutant(BaseModel):
    """One planted fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9_]+$")
    file: str
    find: str = Field(min_length=1)
    replace: str
    block: str
    why: str = Field(min_length=1)
    test: str | None = None
    params: str | None = None
    sim: Literal["verilator", "icarus"] = "verilator"
    options: dict[str, int | float | str | bool] = Field(default_factory=dict)
    tier: Literal["test", "full"] = "full"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    mutant: list[Mutant] = Field(default_factory=list)


class MutantError(UserError):
    """A mutant that cannot be used: unknown names, text not there once."""


def load(folder: Path = FOLDER) -> list[Mutant]:
    """All mutants of a folder; MutantError names file and field."""
    found: list[Mutant] = []
    for path in sorted(folder.glob("*.toml")):
        if path.name in NOT_FAULTS:
            continue
        try:
            found += _File.model_validate(tomllib.loads(path.read_text())).mutant
        except tomllib.TOMLDecodeError as e:
            raise MutantError(f"{rel(path)}: not TOML: {e}") from None
        except ValidationError as e:
            first = e.errors()[0]
            field = ".".join(str(p) for p in first["loc"])
            raise MutantError(f"{rel(path)}: {field}: {first['msg']}") from None
    names = [m.name for m in found]
    for name in names:
        if names.count(name) > 1:
            raise MutantError(f"{rel(folder)}: two mutants are called '{name}'")
    return found


def fault(mutant: Mutant, spec: Blocks, root: Path = ROOT) -> Fault:
    """The fault; MutantError unless its names are known and its text is in its file exactly once."""
    where = f"mutant {mutant.name}"
    if mutant.block not in spec.blocks:
        raise one_of("block", mutant.block, spec.blocks, where)
    block = spec.block(mutant.block)
    test = mutant.test or block.default_test
    if test not in block.tests:
        raise one_of("test", test, block.tests, where)
    params = mutant.params or block.tests[test].params[0]
    if params not in block.params:
        raise one_of("parameter set", params, block.params, where)
    path = root / mutant.file
    if not path.is_file():
        raise MutantError(f"{where}: no such file '{mutant.file}'")
    text = path.read_text()
    if (count := text.count(mutant.find)) != 1:
        raise MutantError(f"{where}: its text is {count} times in {mutant.file}, not once")
    before, after, skipped = _changed_lines(mutant.find, mutant.replace)
    line = text.count("\n", 0, text.index(mutant.find)) + 1 + skipped
    trial = Trial(mutant.block, test, params, mutant.sim, tuple(sorted(mutant.options.items())))
    changed = text.replace(mutant.find, mutant.replace)
    return Fault(
        mutant.name, "hand", mutant.block, mutant.file, line, "", before, after, mutant.why, changed.encode(), (trial,)
    )


def _changed_lines(find: str, replace: str) -> tuple[str, str, int]:
    """The lines that differ, each side in one line, and how many equal ones stand above."""
    old, new = find.splitlines(), replace.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    sides = (" ".join(" ".join(x[head : len(x) - tail]).split()) for x in (old, new))
    return *sides, head  # type: ignore[return-value]
