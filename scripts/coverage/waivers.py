# SPDX-License-Identifier: Apache-2.0
"""spec/waivers/*.toml: what need not be reached, each with a reason and the day on which that was judged.

    [[code]]
    file = "rtl/..."                      the source file
    kind = ["branch"]                     of line, branch, toggle, expr
    text = "..."                          text that the point's source line holds, and/or
    name = "..."                          text that the point's name holds (a bit, a side, a condition)
    params = ["..."]; top = ["tb_..."]    only in these parameter sets, under these bench tops (default: all)
    reason = "..."; date = 2026-01-31

    [[functional]]
    block = "..."; cover = "group.cover"; bin = "..."   `*` stands for any text
    reason = "..."; date = 2026-01-31

Line numbers are not among them: they rot. A waiver whose text is gone from its file, that matches no point
or bin, or only some that are hit, waives nothing and is an error. A file that no run has measured says
nothing about its waivers, but for the text.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from scripts.common import ROOT, UserError, rel

FOLDER = ROOT / "spec" / "waivers"
Kind = Literal["line", "branch", "toggle", "expr"]


class WaiverError(UserError):
    """A file of waivers that cannot be used; the text names file, entry and field."""


class _Waiver(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    reason: str = Field(min_length=10)
    date: datetime.date
    where: str = Field(default="", exclude=True)
    """File and number of the entry, for people."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_listed)]


class Code(_Waiver):
    """Points of the source that need not be hit."""

    file: str
    kind: Annotated[list[Kind], BeforeValidator(_listed)] = Field(min_length=1)
    text: str | None = Field(default=None, min_length=1)
    name: str | None = Field(default=None, min_length=1)
    params: Names | None = None
    top: Names | None = None

    @model_validator(mode="after")
    def _says_which(self) -> Code:
        if self.text is None and self.name is None:
            raise ValueError("text or name must say which points are meant")
        if self.text is None and "line" in self.kind:
            raise ValueError("a line has no name: give its text")
        return self

    def applies(self, params: str, top: str) -> bool:
        """It is meant for runs with this parameter set under this bench top."""
        return (self.params is None or params in self.params) and (self.top is None or top in self.top)


class Functional(_Waiver):
    """Bins of a cover group that need not be hit."""

    block: str
    cover: str
    bin: str

    def matches(self, block: str, cover: str, name: str) -> bool:
        """It is meant for this bin."""
        return self.block == block and _like(self.cover, cover) and _like(self.bin, name)


def _like(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    code: list[Code] = Field(default_factory=list)
    functional: list[Functional] = Field(default_factory=list)


@dataclass(frozen=True)
class Waivers:
    """All entries, in the order of their files."""

    code: list[Code] = field(default_factory=list)
    functional: list[Functional] = field(default_factory=list)


def load(folder: Path | None = None) -> Waivers:
    """Read a folder (default: spec/waivers); none there is no waivers. WaiverError names file and field."""
    code: list[Code] = []
    functional: list[Functional] = []
    for path in sorted((folder or FOLDER).glob("*.toml")):
        try:
            read = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as e:
            raise WaiverError(f"{rel(path)}: cannot be read: {e.strerror}") from None
        except ValidationError as e:
            first = e.errors()[0]
            at = ".".join(str(p + 1) if isinstance(p, int) else p for p in first["loc"])
            raise WaiverError(f"{rel(path)}: {at or 'file'}: {first['msg']}") from None
        except ValueError as e:
            raise WaiverError(f"{rel(path)}: not TOML: {e}") from None
        for n, c in enumerate(read.code, 1):
            code.append(c.model_copy(update={"where": f"{rel(path)}: code {n} ({c.file}: {c.text or c.name})"}))
        for n, f in enumerate(read.functional, 1):
            says = f"{rel(path)}: functional {n} ({f.block} {f.cover} {f.bin})"
            functional.append(f.model_copy(update={"where": says}))
    return Waivers(code, functional)


@dataclass
class Use:
    """What became of a waiver: points or bins that it matched, and how many of them are not hit."""

    matched: int = 0
    waived: int = 0
    judged: bool = True
    """False: nothing of what it is about was measured."""


def stale(waiver: Code | Functional, use: Use) -> str | None:
    """Why a waiver is an error, None when it is none. A source line that is gone is one, measured or not."""
    if isinstance(waiver, Code):
        path = ROOT / waiver.file
        if not path.is_file():
            return f"{waiver.where}: no such file '{waiver.file}'"
        if waiver.text is not None and waiver.text not in path.read_text(encoding="utf-8", errors="replace"):
            return f"{waiver.where}: its text is not in {waiver.file} any more"
    if not use.judged or use.waived:
        return None
    if use.matched:
        return f"{waiver.where}: all that it matches ({use.matched}) is hit; remove it"
    return f"{waiver.where}: it matches nothing"


Bin = tuple[str, str, str]
"""block, group.cover, bin"""


def apply(waivers: list[Functional], bins: Iterable[tuple[Bin, bool]]) -> tuple[dict[Bin, str], list[Use]]:
    """Reasons of the waived bins (those not hit), and each waiver's use. `bins`: every bin, and whether it is hit.

    A waiver of a block of which no bin was measured is not judged.
    """
    reasons: dict[Bin, str] = {}
    uses = [Use(judged=False) for _ in waivers]
    for (block, cover, name), hit in bins:
        for waiver, use in zip(waivers, uses, strict=True):
            if waiver.block != block:
                continue
            use.judged = True
            if waiver.matches(block, cover, name):
                use.matched += 1
                if not hit:
                    use.waived += 1
                    reasons.setdefault((block, cover, name), waiver.reason)
    return reasons, uses
