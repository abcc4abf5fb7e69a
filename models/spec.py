# SPDX-License-Identifier: Apache-2.0
"""Access to ``spec/fabric.toml``: every figure with its unit, mark and source.

``spec().cycles("phy.llfec.rx_fec")`` gives whole cycles, ``spec().value("link.rate_bytes")`` the plain
value. Errors (:class:`SpecError`) name the file, the field and what is allowed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SPEC_DIR = Path(__file__).resolve().parent.parent / "spec"
MARKS = {
    "V": "checked against a specification",
    "S": "read at the source",
    "Q": "quoted from a primary source",
    "W": "weak source",
    "R": "recalled",
    "D": "derived or measured",
    "A": "our own allocation",
}
UNITS = (
    "ns", "ps", "s", "cycles", "bytes", "cells", "bits", "m", "ns/m", "fo4", "ns/fo4", "Gb/s",
    "count", "percent", "address", "text",
)  # fmt: skip
ASSUMED_MARKS = frozenset("WRA")
_FIELDS = {"value", "unit", "mark", "source", "rtl"}


class SpecError(ValueError):
    """A spec file that cannot be used; the message names file, field and allowed values."""


@dataclass(frozen=True)
class Constant:
    """One figure: dotted ``name``, ``value`` in ``unit``, ``mark`` of its origin, ``source``."""

    name: str
    value: float | int | str
    unit: str
    mark: str
    source: str
    rtl: bool = False

    @property
    def assumed(self) -> bool:
        """True when the figure rests on an assumption (marks W, R, A)."""
        return self.mark in ASSUMED_MARKS


def _constant(path: Path, name: str, raw: dict[str, Any]) -> Constant:
    where = f"{path}: {name}"
    if unknown := set(raw) - _FIELDS:
        raise SpecError(f"{where}: unknown field {sorted(unknown)}; allowed: {sorted(_FIELDS)}")
    for field in ("value", "unit", "mark", "source"):
        if field not in raw:
            raise SpecError(f"{where}: field '{field}' is missing; a constant has value, unit, mark, source")
    if raw["mark"] not in MARKS:
        raise SpecError(f"{where}: mark is {raw['mark']!r}; allowed: {', '.join(MARKS)}")
    if raw["unit"] not in UNITS:
        raise SpecError(f"{where}: unit is {raw['unit']!r}; allowed: {', '.join(UNITS)}")
    if not isinstance(raw["source"], str) or not raw["source"].strip():
        raise SpecError(f"{where}: source is empty; say where the figure comes from")
    value = raw["value"]
    if raw["unit"] == "text":
        if not isinstance(value, str) or not value:
            raise SpecError(f"{where}: value is {value!r}; unit 'text' wants a non-empty string")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise SpecError(f"{where}: value is {value!r}; allowed: a number in {raw['unit']}")
    elif not math.isfinite(value) or value < 0:
        raise SpecError(f"{where}: value is {value!r}; allowed: a finite number of 0 or more")
    if not isinstance(raw.get("rtl", False), bool):
        raise SpecError(f"{where}: rtl is {raw['rtl']!r}; allowed: true, false")
    if raw.get("rtl") and not isinstance(value, int):
        raise SpecError(f"{where}: value is {value!r}; a constant for RTL is a whole number")
    return Constant(name, value, raw["unit"], raw["mark"], raw["source"], raw.get("rtl", False))


class Spec:
    """The figures of one spec file, by dotted name."""

    def __init__(self, path: Path | None = None, clock: bool = True) -> None:
        """Read ``path`` (default ``spec/fabric.toml``), which gives the ``clock``; raises :class:`SpecError`."""
        self.path = path or SPEC_DIR / "fabric.toml"
        try:
            tree = tomllib.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError as e:
            raise SpecError(f"{self.path}: file is missing") from e
        except tomllib.TOMLDecodeError as e:
            raise SpecError(f"{self.path}: not TOML: {e}") from e
        self._constants: dict[str, Constant] = {}
        self._walk("", tree)
        period = self.value("clock.period_ns") if clock else 1
        if period <= 0:
            raise SpecError(f"{self.path}: clock.period_ns: value is {period}; allowed: above 0")

    def _walk(self, prefix: str, tree: dict[str, Any]) -> None:
        for key, raw in tree.items():
            name = f"{prefix}{key}"
            if not isinstance(raw, dict):
                raise SpecError(f"{self.path}: {name}: bare value {raw!r}; allowed: {{ value, unit, mark, source }}")
            if _FIELDS & set(raw):
                self._constants[name] = _constant(self.path, name, raw)
            else:
                self._walk(f"{name}.", raw)

    def __iter__(self) -> Iterator[Constant]:
        return iter(self._constants.values())

    def constant(self, name: str) -> Constant:
        """The constant called ``name``; raises :class:`SpecError` when there is none."""
        if name not in self._constants:
            section = name.rpartition(".")[0]
            near = [n for n in self._constants if n.startswith(section + ".")] or sorted(self._constants)
            raise SpecError(f"{self.path}: {name}: missing; the file has: {', '.join(near)}")
        return self._constants[name]

    def value(self, name: str) -> float:
        """Numeric value of ``name`` in its own unit."""
        c = self.constant(name)
        if isinstance(c.value, str):
            raise SpecError(f"{self.path}: {name}: value is text; a number is wanted")
        return c.value

    def integer(self, name: str) -> int:
        """Value of ``name`` as a whole number; raises :class:`SpecError` otherwise."""
        v = self.value(name)
        if v != int(v):
            raise SpecError(f"{self.path}: {name}: value is {v}; a whole number is wanted")
        return int(v)

    def cycles(self, name: str) -> int:
        """``name`` in clock cycles: as it is, or from ns rounded up to the next edge."""
        c = self.constant(name)
        if c.unit == "cycles":
            return self.integer(name)
        if c.unit != "ns":
            raise SpecError(f"{self.path}: {name}: unit is {c.unit}; allowed here: ns, cycles")
        return math.ceil(round(self.value(name) / self.value("clock.period_ns"), 6))

    def section(self, prefix: str) -> dict[str, Constant]:
        """All constants below ``prefix``, by their last name, in file order."""
        found = {n[len(prefix) + 1 :]: c for n, c in self._constants.items() if n.startswith(prefix + ".")}
        if not found:
            raise SpecError(f"{self.path}: [{prefix}]: section is missing or empty")
        return found


@cache
def spec() -> Spec:
    """The project's own figures, read once."""
    return Spec()
