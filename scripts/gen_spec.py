# SPDX-License-Identifier: Apache-2.0
"""Write what RTL needs of ``spec/fabric.toml`` to ``rtl/common/spec_pkg.sv``, and check it.

``python -m scripts.gen_spec`` writes; ``--check`` exits 1 when the file is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

from models.spec import Spec, spec

PACKAGE = Path(__file__).resolve().parent.parent / "rtl" / "common" / "spec_pkg.sv"


def render(figures: Spec) -> str:
    """The package's text: one localparam for each constant with ``rtl = true``."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Generated from spec/fabric.toml by scripts/gen_spec.py; do not edit.",
        "`default_nettype none",
        "",
        "package spec_pkg;",
        "",
    ]
    for c in figures:
        if c.rtl:
            name = c.name.upper().replace(".", "_")
            lines.append(f"  localparam int {name} = {c.value};  // {c.unit}")
    lines += ["", "endpackage", "", "`default_nettype wire", ""]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Write or check; returns the exit code."""
    text = render(spec())
    if "--check" in argv:
        if not PACKAGE.exists() or PACKAGE.read_text(encoding="utf-8") != text:
            print(f"{PACKAGE}: stale; run: python -m scripts.gen_spec", file=sys.stderr)
            return 1
        return 0
    PACKAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
