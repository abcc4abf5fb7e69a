# SPDX-License-Identifier: Apache-2.0
"""Before anything is built: the figures can be read, and what is generated from them is fresh."""

from __future__ import annotations

from models.spec import Spec, SpecError
from scripts import gen_spec
from scripts.common import ROOT, UserError, rel


def check_figures() -> None:
    """UserError for a spec/fabric.toml that cannot be used, or for generated files older than spec/."""
    try:
        Spec(ROOT / "spec" / "fabric.toml")
    except SpecError as e:
        raise UserError(str(e)) from e
    # a project without the package generates nothing
    generated = (ROOT / "rtl" / "common" / "spec_pkg.sv").exists()
    if generated and (stale := gen_spec.stale()):
        names = ", ".join(rel(path) for path in stale)
        raise UserError(f"{names}: older than spec/; run: .venv/bin/python -m scripts.gen_spec")
