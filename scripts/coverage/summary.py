# SPDX-License-Identifier: Apache-2.0
"""A regression's code coverage: code_coverage.json, source/, lcov.info and cobertura.xml.

docs/regression.md gives the shape of code_coverage.json. Whatever cannot be used is one of its `errors`,
each naming its job or its file; the rest is counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from scripts.common import UserError, rel
from scripts.coverage import annotate, export, holes, totals, waivers
from scripts.coverage.merged import Merged, merge
from scripts.coverage.sums import Run, Sums, add
from scripts.regress.records import Record, save

FILE = "code_coverage.json"
LCOV = "lcov.info"
COBERTURA = "cobertura.xml"


def summary(folder: Path, records: Iterable[Record]) -> dict[str, Any]:
    """Merge the counts that the records name (paths relative to `folder`), write everything, give the JSON.

    Pages and exports are written only when something was measured.
    """
    errors: list[str] = []
    try:
        known = waivers.load()
    except UserError as e:
        errors.append(str(e))
        known = waivers.Waivers()
    runs = [
        Run(f"{r.job.number} ({r.job.name})", r.job.block, r.job.params, folder / r.code_coverage)
        for r in records
        if r.code_coverage
    ]
    sums = add(runs, folder)
    merged = merge(sums.groups, known.code)
    errors += [*sums.errors, *merged.errors]
    if not sums.runs:
        merged.uses = [waivers.Use(judged=False) for _ in known.code]
    pairs = list(zip(known.code, merged.uses, strict=True))
    errors += [why for waiver, use in pairs if (why := waivers.stale(waiver, use))]
    said = _json(sums, merged)
    said["waivers"] = [
        {**json.loads(w.model_dump_json(exclude_none=True)), "where": w.where, "matched": u.matched, "waived": u.waived}
        for w, u in pairs
    ]
    if sums.runs:
        _write(folder, merged, said, errors)
    said["errors"] = errors
    save(folder / FILE, said)
    return said


def _json(sums: Sums, merged: Merged) -> dict[str, Any]:
    files = merged.files()
    measured = bool(sums.runs)
    blocks: dict[str, list[totals.Totals]] = {}
    for file, own in files.items():
        blocks.setdefault(_block(file), []).append(own)
    found = holes.of(merged)
    return {
        "measured": measured,
        "runs": sums.runs,
        "kinds": list(totals.KINDS),
        "totals": totals.add(list(files.values())) if measured else None,
        "blocks": {name: totals.add(own) for name, own in sorted(blocks.items())},
        "files": {
            file: {
                "totals": own,
                "page": annotate.page_of(file),
                "holes": [
                    {"line": h.line, "kind": h.kind, "names": list(h.names), "waived": h.reason} for h in found[file]
                ],
            }
            for file, own in files.items()
        },
        "instances": merged.instances,
        "not_measured": _not_measured(merged) if measured else None,
    }


def _not_measured(merged: Merged) -> dict[str, Any]:
    """Signals without toggle counters; None for a list that is not known."""
    signals = None if merged.wide is None else [w._asdict() for w in merged.wide]
    return {"wider_than": merged.max_width, "signals": signals}


def _block(file: str) -> str:
    """The folder under rtl/."""
    parts = Path(file).parts
    return parts[1] if parts[0] == "rtl" and len(parts) > 2 else parts[0]


def _write(folder: Path, merged: Merged, said: dict[str, Any], errors: list[str]) -> None:
    """Pages and exports; one that cannot be made is an error, the others are made."""
    text = export.lcov(merged)
    files = {file: own["totals"] for file, own in said["files"].items()}
    made: dict[str, Callable[[], object]] = {
        annotate.FOLDER: lambda: annotate.write(folder, merged, holes.of(merged), files),
        LCOV: lambda: (folder / LCOV).write_text(text, encoding="utf-8"),
        COBERTURA: lambda: (folder / COBERTURA).write_text(export.cobertura(text), encoding="utf-8"),
    }
    for name, make in made.items():
        try:
            make()
        except OSError as e:
            errors.append(f"{rel(folder / name)}: cannot be written: {e.strerror}")
