# SPDX-License-Identifier: Apache-2.0
"""What `make formal` proves: spec/proofs.toml, read and checked.

    [[proof]]
    name = "..."; shows = "one line"; files = ["rtl/..."]; module = "..." (default: the name): formal/formal_<module>.sv
    method = "induction" (depth k: k steps that hold make the next hold) or "bounded" (no claim beyond `bound`)
    depth = k; bound = cycles from reset that are searched for a counterexample; cover = cycles within which every
    `cover` must be reached: a proof under assumptions that contradict each other shows nothing
    limit_s = seconds a solver run; sets = [{ PARAM = value }]; full = [..] sets that `make test` leaves out; a set
    may have a depth, bound and cover (0: left to the smaller sets) of its own

    [[proof.fault]]
    name = "..."; file = "rtl/..."; find = "exact text, once"; replace = "..."; set = { PARAM = value } (default: the
    first of `sets`); why = "..."

A fault must be refuted: with a counterexample from reset within `bound`. Every PARAM has to be one of the module of
properties: what nobody reads would be reported as proved.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scripts.common import ROOT, UserError, one_of, rel

FILE = ROOT / "spec" / "proofs.toml"
Params = dict[str, int]
Figure = Literal["depth", "bound", "cover"]
"""What a set may have of its own."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlantedFault(_Strict):
    """A change of the design that the proof must refute."""

    name: str = Field(pattern=r"^[a-z0-9_]+$")
    file: str
    find: str = Field(min_length=1)
    replace: str
    why: str = Field(min_length=1)
    set: Params | None = None


class Proof(_Strict):
    """A module of properties and how they are proved."""

    name: str = Field(pattern=r"^[a-z0-9_]+$")
    module: str = ""
    shows: str = Field(min_length=1)
    files: list[str] = Field(min_length=1)
    method: Literal["induction", "bounded"]
    depth: int = Field(default=1, ge=1)
    bound: int = Field(ge=1)
    cover: int = Field(ge=1)
    limit_s: int = Field(default=120, ge=1)
    sets: list[Params] = Field(min_length=1)
    full: list[Params] = Field(default_factory=list)
    fault: list[PlantedFault] = Field(min_length=1)

    @model_validator(mode="after")
    def _base_case(self) -> Proof:
        if self.method == "induction" and self.bound < self.depth:
            raise ValueError(f"bound {self.bound} is below depth {self.depth}: the base case has to hold so long")
        return self

    @property
    def top(self) -> str:
        """The module of properties."""
        return f"formal_{self.module or self.name}"

    def steps(self, name: Figure, params: Params) -> int:
        """A figure of the proof, or the set's own."""
        own: int = getattr(self, name)
        return params.get(name, own)

    @property
    def sources(self) -> list[str]:
        """Files for yosys, packages first."""
        return sorted([*self.files, f"formal/{self.top}.sv"], key=lambda f: not f.endswith("_pkg.sv"))

    def given(self) -> Iterator[tuple[str, Params]]:
        """Every set with the field that it stands in."""
        for field, sets in (("sets", self.sets), ("full", self.full)):
            yield from ((f"{field}.{n}", params) for n, params in enumerate(sets))
        yield from ((f"fault.{n}.set", x.set) for n, x in enumerate(self.fault) if x.set is not None)


def parameters(text: str, module: str) -> list[str]:
    """Names of the parameters of a module in SystemVerilog text, each written with the word ``parameter``."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    head = re.search(rf"\bmodule\s+{re.escape(module)}\b(?:\s*import\b[^;]*;)*(.*?);", text, flags=re.DOTALL)
    return re.findall(r"\bparameter\b[^=,;]*?(\w+)\s*=", head[1]) if head else []


def _check_sets(path: Path, proof: Proof) -> None:
    """Nothing in a set is passed over. Raises UserError that names file, proof, field and what is allowed."""
    known = parameters((ROOT / f"formal/{proof.top}.sv").read_text(), proof.top)
    figures = get_args(Figure)
    for field, params in proof.given():
        where = f"{rel(path)}: {proof.name}: {field}"
        for name in params:
            if name not in (*known, *figures):
                raise UserError(
                    f"{where}: {proof.top} has no parameter '{name}'; allowed: {', '.join([*known, *figures])}"
                )
        for figure in figures:
            if params.get(figure, 1) < (figure != "cover"):
                raise UserError(f"{where}: {figure} is {params[figure]}; allowed: from {int(figure != 'cover')}")
        depth, bound = proof.steps("depth", params), proof.steps("bound", params)
        if proof.method == "induction" and bound < depth:
            raise UserError(f"{where}: bound {bound} is below depth {depth}: the base case has to hold so long")


class _File(_Strict):
    proof: list[Proof] = Field(min_length=1)


def load(path: Path = FILE) -> dict[str, Proof]:
    """The proofs by name. Raises UserError that names file and field."""
    try:
        data = tomllib.loads(path.read_text())
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    except tomllib.TOMLDecodeError as e:
        raise UserError(f"{rel(path)}: not TOML: {e}") from None
    try:
        proofs = _File.model_validate(data).proof
    except ValidationError as e:
        lines = [f"{rel(path)}: {'.'.join(map(str, x['loc']))}: {x['msg']}" for x in e.errors()]
        raise UserError("\n".join(lines)) from None
    found: dict[str, Proof] = {}
    for p in proofs:
        if p.name in found:
            raise UserError(f"{rel(path)}: two proofs of one name: {p.name}")
        for f in [*p.sources, *(x.file for x in p.fault)]:
            if not (ROOT / f).is_file():
                raise UserError(f"{rel(path)}: {p.name}: no such file '{f}'")
        _check_sets(path, p)
        for x in p.fault:
            if x.file not in p.sources:
                raise UserError(f"{rel(path)}: {p.name}: fault {x.name}: {x.file} is not among the proof's files")
            count = (ROOT / x.file).read_text().count(x.find)
            if count != 1:
                raise UserError(
                    f"{rel(path)}: {p.name}: fault {x.name}: its text is {count} times in {x.file}, not once"
                )
        found[p.name] = p
    return found


def pick(proofs: dict[str, Proof], names: str) -> list[Proof]:
    """Those named, by space or comma; all without a name."""
    wanted = names.replace(",", " ").split()
    for n in wanted:
        if n not in proofs:
            raise one_of("proof", n, proofs, "NAME")
    return [p for n, p in proofs.items() if not wanted or n in wanted]
