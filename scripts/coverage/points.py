# SPDX-License-Identifier: Apache-2.0
"""The points of a build, kept once: every run of it has the same, in the same order.

A spot is a place in the source: file, line, column, kind, name. It has one point in each instance of its
module. Kinds are Verilator's pages: `block` (statements that run together), `branch`, `toggle`, `expr`; a
`block` called if, elsif, else or case is a side of a decision and counts as `branch`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scripts.common import ROOT, rel
from scripts.coverage.dat import CoverageError, Dat

SUFFIX = ".points.npz"
BENCH = "tb/"


class Spot(NamedTuple):
    """A place in the source. `name`: the branch's side, the bit and its edge, the terms of a condition."""

    file: str
    line: int
    column: int
    kind: str
    name: str


class Wide(NamedTuple):
    """A signal without toggle counters: `bits` are more than they are built for."""

    file: str
    line: int
    name: str
    bits: int


@dataclass
class Points:
    """spot[i], instance[i]: where point i of the counts stands, as indices of the lists; -1 is a bench's point."""

    spots: list[Spot]
    lines: list[list[int]]
    """Of each spot: the source lines of its block."""
    instances: list[str]
    spot: NDArray[np.int32]
    instance: NDArray[np.int32]
    sources: dict[str, str] = field(default_factory=dict)
    """Text of each file, as it was built."""
    wide: list[Wide] | None = None
    """None: not known."""
    max_width: int | None = None

    def __len__(self) -> int:
        return len(self.spot)


def ranges(text: str) -> list[int]:
    """The numbers of "12-14,20"; ValueError."""
    found: list[int] = []
    for part in text.split(",") if text else []:
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


def _kind(page: str, name: str) -> str:
    kind = page.partition("/")[0].removeprefix("v_")
    if kind == "line":
        return "block" if name in ("", "block") else "branch"
    return kind


def of(dat: Dat) -> Points:
    """Sort a file's points by spot and instance; CoverageError when one makes no sense."""
    spots: dict[Spot, int] = {}
    lines: list[list[int]] = []
    instances: dict[str, int] = {}
    spot, instance = [], []
    for n, p in enumerate(dat.points(), 1):
        if p["f"].startswith(BENCH):
            spot.append(-1)
            instance.append(-1)
            continue
        name = p.get("o", "")
        try:
            place = Spot(p["f"], int(p["l"]), int(p.get("n") or 0), _kind(p["page"], name), name)
            block = ranges(p.get("S", ""))
        except ValueError:
            raise CoverageError(f"{rel(dat.path)}: point {n}: its lines are no numbers") from None
        at = spots.setdefault(place, len(spots))
        if at == len(lines):
            lines.append(block)
        elif block and block != lines[at]:
            lines[at] = sorted({*lines[at], *block})
        spot.append(at)
        instance.append(instances.setdefault(p.get("h", ""), len(instances)))
    return Points(
        list(spots), lines, list(instances), np.array(spot, np.int32), np.array(instance, np.int32), _texts(spots)
    )


def _texts(spots: dict[Spot, int]) -> dict[str, str]:
    found = {}
    for file in sorted({s.file for s in spots}):
        path = ROOT / file
        found[file] = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return found


def identity(dat: Dat) -> str:
    """Names a point list with the sources it belongs to: the digest of the points and of the files' texts."""
    total = hashlib.blake2b(dat.digest.encode(), digest_size=8)
    for file in dat.files():
        path = ROOT / file
        total.update(path.read_bytes() if path.is_file() else b"")
    return total.hexdigest()


def save(path: Path, points: Points) -> None:
    """Write in one step: what is there is whole, whoever else writes it."""
    names = {
        "spots": points.spots,
        "lines": points.lines,
        "instances": points.instances,
        "sources": points.sources,
        "wide": points.wide,
        "max_width": points.max_width,
    }
    text = np.frombuffer(json.dumps(names).encode(), np.uint8)
    write(path, text=text, spot=points.spot, instance=points.instance)


def write(path: Path, **arrays: NDArray[np.generic]) -> None:
    """An .npz in one step; CoverageError when it cannot be written."""
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(out.getvalue())
        fresh.replace(path)
    except OSError as e:
        fresh.unlink(missing_ok=True)
        raise CoverageError(f"{rel(path)}: cannot be written: {e.strerror}") from None


def load(path: Path) -> Points:
    """Read what `save` wrote; CoverageError names the file."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            names = json.loads(kept["text"].tobytes())
            spot, instance = kept["spot"], kept["instance"]
        wide = None if names["wide"] is None else [Wide(*w) for w in names["wide"]]
        points = Points(
            [Spot(*s) for s in names["spots"]], names["lines"], names["instances"], spot, instance,
            names["sources"], wide, names["max_width"],
        )  # fmt: skip
    except FileNotFoundError:
        raise CoverageError(f"{rel(path)}: the list of the points is missing") from None
    except Exception as e:  # numpy and zipfile raise a dozen kinds for a broken file
        raise CoverageError(f"{rel(path)}: not a list of points: {e}") from None
    if len(spot) != len(instance) or len(points.spots) != len(points.lines):
        raise CoverageError(f"{rel(path)}: not a list of points: its parts differ in length")
    return points
