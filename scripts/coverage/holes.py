# SPDX-License-Identifier: Apache-2.0
"""What was not reached, by source line and by name; a bus's bits as ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scripts.coverage.merged import Merged

TOGGLE = re.compile(r"(.*):([01]->[01])$", re.DOTALL)
BIT = re.compile(r"(.*)\[(\d+)\]$", re.DOTALL)


@dataclass(frozen=True)
class Hole:
    """Points of one kind at one line. `reason`: why they are waived, None when they are not."""

    line: int
    kind: str
    names: tuple[str, ...]
    reason: str | None = None


def bits(names: list[str]) -> tuple[str, ...]:
    """`a[0]:0->1`, `a[1]:0->1`, ... as `a[1:0] 0->1`; names that are no toggles stay as they are."""
    edges: dict[str, list[str]] = {}
    for name in names:
        told = TOGGLE.match(name)
        edges.setdefault(told[1] if told else name, []).extend([told[2]] if told else [])
    buses: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for signal, seen in edges.items():
        bit = BIT.match(signal)
        bus = buses.setdefault((bit[1] if bit else signal, tuple(sorted(set(seen)))), [])
        if bit:
            bus.append(int(bit[2]))
    said = []
    for (signal, seen_edges), numbers in buses.items():
        tail = f" {', '.join(seen_edges)}" if seen_edges else ""
        said += [f"{signal}{index}{tail}" for index in _indices(sorted(numbers))]
    return tuple(said)


def _indices(numbers: list[int]) -> list[str]:
    if not numbers:
        return [""]
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return [f"[{high}]" if low == high else f"[{high}:{low}]" for low, high in runs]


def of(merged: Merged) -> dict[str, list[Hole]]:
    """The holes of every file, by line; waived ones too."""
    names: dict[tuple[str, int, str, str | None], list[str]] = {}
    for n, spot in enumerate(merged.spots):
        if spot.kind != "block" and merged.hits[n] == 0:
            names.setdefault((spot.file, spot.line, spot.kind, merged.waived.get(n)), []).append(spot.name)
    for n, (file, line) in enumerate(merged.lines):
        if merged.line_hits[n] == 0:
            names[file, line, "line", merged.waived_lines.get(n)] = []
    found: dict[str, list[Hole]] = {file: [] for file in merged.sources}
    for (file, line, kind, reason), said in names.items():
        shown = bits(said) if kind == "toggle" else tuple(said)
        found[file].append(Hole(line, kind, shown, reason))
    return {file: sorted(holes, key=lambda h: (h.line, h.kind, h.reason or "")) for file, holes in found.items()}
