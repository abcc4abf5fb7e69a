# SPDX-License-Identifier: Apache-2.0
"""Small planted faults: each must turn its test red.

tests/mutants/<block>.toml holds entries
    [[mutant]]
    name = "..."; file = "rtl/..."; find = "exact text, once in the file"; replace = "..."
    block = "..."; test = "..." (default: the block's); params = "..." (default: the test's first)
    tier = "test" (runs in `make test`) or "full" (the default: `make mutants`); why = "..."

A mutant runs in a copy of the tree under build/mutants/, with its own builds. Caught is a verdict of
`fail` or `timeout`. A mutant whose text is not there exactly once, or that does not build, is an error of
the mutant: it says nothing about the bench.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scripts.blocks import Blocks
from scripts.common import BUILD, ROOT, UserError, one_of, rel

FOLDER = ROOT / "tests" / "mutants"
COPIES = BUILD / "mutants"
COPIED = ("Makefile", "models", "requirements.txt", "rtl", "scripts", "spec", "tb", "tests")
CAUGHT = ("fail", "timeout")
LIMIT_FACTOR = 1.5


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
    """A mutant that cannot be used: unknown names, text not there once, no build."""


@dataclass(frozen=True)
class Verdict:
    """What a mutant's run ended with."""

    mutant: Mutant
    verdict: str
    reason: str

    @property
    def caught(self) -> bool:
        """The bench saw the fault."""
        return self.verdict in CAUGHT


def load(folder: Path = FOLDER) -> list[Mutant]:
    """All mutants of a folder; MutantError names file and field."""
    found: list[Mutant] = []
    for path in sorted(folder.glob("*.toml")):
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


def check(mutant: Mutant, spec: Blocks) -> None:
    """MutantError unless its names are known and its text is in its file exactly once."""
    where = f"mutant {mutant.name}"
    if mutant.block not in spec.blocks:
        raise one_of("block", mutant.block, spec.blocks, where)
    block = spec.block(mutant.block)
    test = mutant.test or block.default_test
    if test not in block.tests:
        raise one_of("test", test, block.tests, where)
    if mutant.params is not None and mutant.params not in block.params:
        raise one_of("parameter set", mutant.params, block.params, where)
    path = ROOT / mutant.file
    if not path.is_file():
        raise MutantError(f"{where}: no such file '{mutant.file}'")
    count = path.read_text().count(mutant.find)
    if count != 1:
        raise MutantError(f"{where}: its text is {count} times in {mutant.file}, not once")


def _copy(mutant: Mutant) -> Path:
    """A copy of the tree with the fault in it."""
    tree = COPIES / mutant.name
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copyfile(source, tree / name)
    target = tree / mutant.file
    target.write_text(target.read_text().replace(mutant.find, mutant.replace))
    return tree


def run(mutant: Mutant, spec: Blocks) -> Verdict:
    """Plant the fault, run its test, give the verdict; MutantError when it cannot be judged."""
    check(mutant, spec)
    block = spec.block(mutant.block)
    test = mutant.test or block.default_test
    tree = _copy(mutant)
    settings = [f"BLOCK={mutant.block}", f"SIM={mutant.sim}", f"TEST={test}"]
    if mutant.params:
        settings.append(f"PARAMS={mutant.params}")
    settings += [f"OPTIONS={' '.join(f'{k}={v}' for k, v in mutant.options.items())}"] if mutant.options else []
    env = {**os.environ, "MICROHOP_ROOT": str(tree)}
    env.pop("PYTEST_CURRENT_TEST", None)
    run_limit = block.tests[test].run_limit_s or block.run_limit_s
    limit = LIMIT_FACTOR * (block.build_limit_s + run_limit) + 30
    done = subprocess.run(
        [sys.executable, "-m", "scripts.cli", "sim", *settings],
        cwd=tree,
        env=env,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    verdict, reason = _outcome(tree)
    if verdict in ("error", ""):
        raise MutantError(f"mutant {mutant.name} does not build or start:\n{(done.stdout + done.stderr)[-1500:]}")
    if verdict in CAUGHT:
        shutil.rmtree(tree, ignore_errors=True)
    return Verdict(mutant, verdict, reason)


def _outcome(tree: Path) -> tuple[str, str]:
    import json

    try:
        data = json.loads((tree / "build" / "last" / "outcome.json").read_text())
    except OSError:
        return "", ""
    return data["verdict"], data["reason"]
