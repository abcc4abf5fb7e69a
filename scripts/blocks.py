# SPDX-License-Identifier: Apache-2.0
"""spec/blocks.toml: what can be simulated. Read, checked, and its file lists expanded.

Every error names the file, the field and what is allowed there.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scripts.common import ROOT, UserError, one_of, rel

Simulator = Literal["verilator", "icarus"]
Value = int | str
NAME = re.compile(r"[a-z][a-z0-9_]*")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Option(_Strict):
    """A setting of a test that a user may change with OPTIONS="name=value" or NAME=value."""

    type: Literal["int", "float", "str", "bool"]
    default: int | float | str | bool
    summary: str = Field(min_length=1)
    min: int | float | None = None
    max: int | float | None = None
    choices: list[str] | None = None

    def parse(self, name: str, text: str) -> int | float | str | bool:
        """The value that `text` stands for; UserError names the option and what it allows."""
        try:
            value = self._convert(text)
        except ValueError:
            raise UserError(f"OPTIONS: {name}={text}: {name} wants {self.allowed()}") from None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            low, high = self.min, self.max
            if (low is not None and value < low) or (high is not None and value > high):
                raise UserError(f"OPTIONS: {name}={text}: {name} wants {self.allowed()}")
        if self.choices is not None and value not in self.choices:
            raise UserError(f"OPTIONS: {name}={text}: {name} wants {self.allowed()}")
        return value

    def _convert(self, text: str) -> int | float | str | bool:
        if self.type == "int":
            return int(text, 0)
        if self.type == "float":
            return float(text)
        if self.type == "bool":
            words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
            if text.lower() not in words:
                raise ValueError(text)
            return words[text.lower()]
        return text

    def allowed(self) -> str:
        """What may be written, in words."""
        if self.choices is not None:
            return "one of " + ", ".join(self.choices)
        kind = {"int": "an integer", "float": "a number", "str": "a text", "bool": "0 or 1"}
        bounds = "".join(
            f", {word} {bound}" for word, bound in (("at least", self.min), ("at most", self.max)) if bound is not None
        )
        return kind[self.type] + bounds


class Test(_Strict):
    """One test of a block: a cocotb module and where it runs."""

    module: str = Field(pattern=r"^[a-z_][\w.]*$")
    summary: str = Field(min_length=1)
    cases: list[str] = Field(default_factory=list)
    """Names of the module's cocotb tests to run; empty: the one called as this test."""
    sims: list[Simulator] = Field(default=["verilator", "icarus"], min_length=1)
    params: list[str] = Field(default=["default"], min_length=1)
    seeds: list[int] = Field(default=[1], min_length=1)
    in_make_test: bool = True
    taps: bool = False
    """Stage boundaries (latency_tap) write their cycles to <run_dir>/taps/."""
    run_limit_s: Annotated[float, Field(gt=0)] | None = None
    options: dict[str, int | float | str | bool] = Field(default_factory=dict)


class Timing(_Strict):
    """A module whose longest path `make timing` estimates."""

    top: str
    params: dict[str, int] = Field(default_factory=dict)
    over: str | None = Field(default=None, min_length=1)
    """Why it may be above the ceiling; it then must be."""


class Block(_Strict):
    """A block: its sources, its bench and its tests."""

    summary: str = Field(min_length=1)
    rtl: list[str]
    tb: list[str] = Field(min_length=1)
    top: str
    params: dict[str, dict[str, Value]] = {"default": {}}
    default_test: str
    bench_test: str | None = None
    """The test whose traffic `make bench` runs; none: the default test."""
    smoke: list[str] = Field(default_factory=list)
    """Tests that are strong and quick: what a mutant must get past, what the smoke profile runs. Each with
    the first of its parameter sets; none: the default test."""
    owns: list[str] = Field(default_factory=list)
    """Files outside rtl/<block>/ whose operator mutants are this block's: it tests them best."""
    tests: dict[str, Test] = Field(min_length=1)
    options: dict[str, Option] = Field(default_factory=dict)
    build_limit_s: float = Field(default=600, gt=0)
    # against hangs, not slowness: Icarus on a machine with other work took 120 s for runs of 40 s
    run_limit_s: float = Field(default=300, gt=0)
    optimize: Literal[0, 1, 2, 3] = 3
    separate: list[str] = Field(default_factory=list)
    timing: list[Timing] = Field(default_factory=list)

    @model_validator(mode="after")
    def _references(self) -> Block:
        if "default" not in self.params:
            raise ValueError("params: a set named 'default' is required")
        for field in ("default_test", "bench_test"):
            wanted = getattr(self, field)
            if wanted is not None and wanted not in self.tests:
                raise ValueError(f"{field}: unknown test '{wanted}' (known: {', '.join(self.tests)})")
        for wanted in self.smoke:
            if wanted not in self.tests:
                raise ValueError(f"smoke: unknown test '{wanted}' (known: {', '.join(self.tests)})")
        for name, test in self.tests.items():
            for used in test.params:
                if used not in self.params:
                    raise ValueError(
                        f"tests.{name}.params: unknown parameter set '{used}' (known: {', '.join(self.params)})"
                    )
            for option, value in test.options.items():
                if option not in self.options:
                    raise ValueError(
                        f"tests.{name}.options: unknown option '{option}' (known: {', '.join(self.options) or 'none'})"
                    )
                try:
                    self.options[option].parse(option, str(value))
                except UserError as e:
                    raise ValueError(f"tests.{name}.options: {e}") from None
        for group in (self.tests, self.params, self.options):
            for name in group:
                if not NAME.fullmatch(name):
                    raise ValueError(f"'{name}': names are lower case letters, digits and _")
        return self

    @property
    def smoke_tests(self) -> list[str]:
        """The names in `smoke`, or the default test."""
        return self.smoke or [self.default_test]


class Blocks(_Strict):
    """The whole file."""

    seed: int = Field(ge=0)
    default_block: str
    sets: dict[str, list[str]] = Field(default_factory=dict)
    include: list[str] = Field(default_factory=list)
    blocks: dict[str, Block] = Field(default_factory=dict)

    def block(self, name: str, where: str = "BLOCK") -> Block:
        """The block called `name`; UserError lists the known ones."""
        if name not in self.blocks:
            raise one_of("block", name, self.blocks, where)
        return self.blocks[name]

    def files(self, entries: list[str], where: str) -> list[str]:
        """Expand `@set`, `@block` and globs into paths relative to the project, each once.

        Packages (`*_pkg.sv`) come first, in the order they are listed, since both simulators want a
        package before its first use.
        """
        found: dict[str, None] = {}
        for entry in entries:
            if entry.startswith("@"):
                name = entry[1:]
                if name in self.sets:
                    more = self.files(self.sets[name], f"sets.{name}")
                elif name in self.blocks:
                    more = self.files(self.blocks[name].rtl, f"blocks.{name}.rtl")
                else:
                    known = [f"@{n}" for n in (*self.sets, *self.blocks)]
                    raise one_of("file set", entry, known, f"spec/blocks.toml: {where}")
            elif "*" in entry:
                more = [str(p.relative_to(ROOT)) for p in sorted(ROOT.glob(entry))]
                if not more:
                    raise UserError(f"spec/blocks.toml: {where}: no file matches '{entry}'")
            else:
                if not (ROOT / entry).is_file():
                    raise UserError(f"spec/blocks.toml: {where}: no such file '{entry}'")
                more = [entry]
            found.update(dict.fromkeys(more))
        return sorted(found, key=lambda f: not f.endswith("_pkg.sv"))

    def rtl(self, name: str) -> list[str]:
        """The design's files of a block, packages first."""
        return self.files(self.block(name).rtl, f"blocks.{name}.rtl")

    def sources(self, name: str) -> list[str]:
        """Design and bench files of a block, packages first."""
        block = self.block(name)
        both = self.rtl(name) + self.files(block.tb, f"blocks.{name}.tb")
        return sorted(dict.fromkeys(both), key=lambda f: not f.endswith("_pkg.sv"))

    def own_rtl(self, name: str) -> list[str]:
        """The design's files that are this block's own: those in rtl/<name>/ and what it owns besides."""
        block = self.block(name)
        inside = [f for f in self.rtl(name) if f.startswith(f"rtl/{name}/")]
        return sorted({*inside, *self.files(block.owns, f"blocks.{name}.owns")})

    def include_dirs(self) -> list[str]:
        """Folders searched for `include files, those that exist."""
        return [d for d in self.include if (ROOT / d).is_dir()]


def _explain(path: Path, error: ValidationError) -> UserError:
    lines = []
    for e in error.errors():
        field = ".".join(str(part) for part in e["loc"])
        got = e.get("input")
        shown = f" (found {got!r})" if isinstance(got, (str, int, float, bool)) else ""
        text = e["msg"].removeprefix("Value error, ")
        lines.append(f"{rel(path)}: {field or 'file'}: {text}{shown}")
    return UserError("\n".join(lines))


def load(path: Path | None = None) -> Blocks:
    """Read and check the list of blocks (default: spec/blocks.toml)."""
    path = path or ROOT / "spec" / "blocks.toml"
    try:
        data = tomllib.loads(path.read_text())
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    except tomllib.TOMLDecodeError as e:
        raise UserError(f"{rel(path)}: not TOML: {e}") from None
    try:
        spec = Blocks.model_validate(data)
    except ValidationError as e:
        raise _explain(path, e) from None
    if spec.blocks and spec.default_block not in spec.blocks:
        raise one_of("block", spec.default_block, spec.blocks, f"{rel(path)}: default_block")
    return spec


@cache
def blocks() -> Blocks:
    """spec/blocks.toml, read once in a process."""
    return load()
