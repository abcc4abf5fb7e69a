# SPDX-License-Identifier: Apache-2.0
"""For other tools: LCOV (lines and branches) and, made of it, Cobertura XML. Waived points are left out."""

from __future__ import annotations

from scripts.common import ROOT
from scripts.coverage.merged import Merged


def lcov(merged: Merged) -> str:
    """An LCOV tracefile: DA a source line, BRDA a branch; `-` is a branch whose line never ran."""
    lines: dict[str, dict[int, int]] = {}
    for n, (file, line) in enumerate(merged.lines):
        if n not in merged.waived_lines:
            lines.setdefault(file, {})[line] = int(merged.line_hits[n])
    branches: dict[str, list[tuple[int, int, str, int]]] = {}
    for n, spot in enumerate(merged.spots):
        if spot.kind == "branch" and n not in merged.waived:
            branches.setdefault(spot.file, []).append((spot.line, spot.column, spot.name, int(merged.hits[n])))
    out = []
    for file in sorted({*lines, *branches}):
        out += ["TN:", f"SF:{file}"]
        number: dict[int, int] = {}
        taken = sorted(branches.get(file, []))
        ran = {line for line, _, _, hits in taken if hits}
        for line, _, _, hits in taken:
            at = number[line] = number.get(line, -1) + 1
            out.append(f"BRDA:{line},0,{at},{hits if line in ran else '-'}")
        out += [f"BRF:{len(taken)}", f"BRH:{sum(b[3] > 0 for b in taken)}"]
        own = sorted(lines.get(file, {}).items())
        out += [f"DA:{line},{hits}" for line, hits in own]
        out += [f"LF:{len(own)}", f"LH:{sum(hits > 0 for _, hits in own)}", "end_of_record"]
    return "\n".join([*out, ""])


def cobertura(text: str) -> str:
    """LCOV as Cobertura XML."""
    from lcov_cobertura import LcovCobertura

    made: str = LcovCobertura(text, base_dir=str(ROOT)).convert()
    return made
