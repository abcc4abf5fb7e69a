# SPDX-License-Identifier: Apache-2.0
"""Verilator's coverage.dat: one line a point, `C '<\\x01key\\x02value>...' count`, in an order that is the build's.

Keys: f file, l line, n column, page v_<kind>/<module>, o what it is called, S lines of its block
("12-14,20"), h hierarchy (with --coverage-per-instance; without, instances of a module are one point).
Written by Verilator 5.048; 5.006 writes the same.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scripts.common import UserError, rel

MAGIC = b"# SystemC::Coverage"
DIGITS = 19
FILE = re.compile(rb"\x01f\x02([^\x01\n']*)")
Counts = NDArray[np.uint64]


class CoverageError(UserError):
    """A file of coverage that cannot be used; the text names it."""


@dataclass(frozen=True)
class Dat:
    """A file's counts, in the file's order, and everything else of it: each line without its count."""

    path: Path
    counts: Counts
    keys: bytes
    digest: str
    """Of `keys`: equal for two runs of one build."""

    def files(self) -> list[str]:
        """The source files that have points, sorted."""
        return sorted({f.decode("utf-8", "replace") for f in set(FILE.findall(self.keys))})

    def points(self) -> list[dict[str, str]]:
        """Keys and values of each point, in order; CoverageError at a line that has none."""
        found = []
        for n, line in enumerate(self.keys.decode("utf-8", "replace").split("\n")[:-1], 1):
            parts = [x.partition("\x02") for x in line[3:-1].split("\x01")[1:]]
            point = {key: value for key, _, value in parts}
            if not {"f", "l", "page"} <= point.keys() or not point["l"].isdigit():
                raise CoverageError(f"{rel(self.path)}: point {n} has no file, line or kind")
            found.append(point)
        return found


def read(path: Path) -> Dat:
    """Read a file; CoverageError when it is missing, cut short or something else.

    Vector arithmetic throughout: 250,000 points (37 MB) take half a second.
    """
    try:
        data = path.read_bytes()
    except OSError as e:
        raise CoverageError(f"{rel(path)}: cannot be read: {e.strerror}") from None
    body = data.partition(b"\n")[2]
    if not data.startswith(MAGIC) or b"#" in (body[:1], body[-1:]):
        raise CoverageError(f"{rel(path)}: not a file of Verilator's coverage")
    if not body.endswith(b"\n"):
        raise CoverageError(f"{rel(path)}: {'cut short' if body else 'no points in it'}")
    text = np.frombuffer(body, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    gaps = np.flatnonzero(text == ord(" "))
    at = np.searchsorted(gaps, ends) - 1
    gap = gaps[np.maximum(at, 0)] if len(gaps) else np.zeros_like(ends)
    width = ends - gap - 1
    wrong = (
        (gap < starts + 3) | (width < 1) | (width > DIGITS) | (text[starts] != ord("C")) | (text[gap - 1] != ord("'"))
    )
    counts = np.zeros(len(ends), np.uint64)
    for place in range(int(np.clip(width.max(), 1, DIGITS))):
        rows = np.flatnonzero(width > place)
        digit = text[ends[rows] - 1 - place] - np.uint8(ord("0"))
        wrong[rows] |= digit > 9
        counts[rows] += digit.astype(np.uint64) * np.uint64(10**place)
    if wrong.any():
        line = int(np.argmax(wrong)) + 2
        raise CoverageError(f"{rel(path)}: line {line} is not a point with its count")
    edge = np.zeros(len(text) + 1, np.int8)
    edge[gap] += 1
    edge[ends] -= 1
    keys = text[np.cumsum(edge, dtype=np.int8)[:-1] == 0].tobytes()
    return Dat(path, counts, keys, hashlib.blake2b(keys, digest_size=8).hexdigest())
