# SPDX-License-Identifier: Apache-2.0
"""Signals that Verilator gives no toggle counters: wider, all dimensions together, than it is told to take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripts.build import Job
from scripts.common import ROOT, rel
from scripts.coverage.points import BENCH, Wide


def wide_signals(job: Job, max_width: int) -> list[Wide] | None:
    """Every variable and net of the elaborated design with more than `max_width` bits, by place.

    Packages and the bench are left out. None when the design cannot be elaborated.
    """
    from pyslang import ast, driver

    slang = driver.Driver()
    slang.addStandardArgs()
    words = ["slang", "--top", job.top]
    words += [f"-I{ROOT / i}" for i in job.include]
    words += [f"-G{name}={value}" for name, value in job.parameters]
    words += [str(ROOT / s) for s in job.sources]
    if not (slang.parseCommandLine(" ".join(words)) and slang.processOptions() and slang.parseAllSources()):
        return None
    design = slang.createCompilation()
    places = design.sourceManager
    found: set[Wide] = set()

    def visit(symbol: Any) -> None:
        if symbol.kind in (ast.SymbolKind.Variable, ast.SymbolKind.Net):
            bits = symbol.type.bitstreamWidth
            file = rel(Path(places.getFileName(symbol.location)).resolve())
            if bits > max_width and not file.startswith(BENCH):
                found.add(Wide(file, places.getLineNumber(symbol.location), symbol.name, bits))

    design.getRoot().visit(visit)
    return sorted(found)
