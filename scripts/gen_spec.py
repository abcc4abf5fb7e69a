# SPDX-License-Identifier: Apache-2.0
"""Write what RTL and Python need of ``spec/``, and check that it is fresh.

- ``rtl/common/spec_pkg.sv``: constants of fabric.toml with ``rtl = true``
- ``rtl/common/microhop_pkg.sv`` and ``models/protocol.py``: codes and bundles of protocol.toml

``python -m scripts.gen_spec`` writes; ``--check`` exits 1 when a file is stale.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from models.spec import SPEC_DIR, Spec, spec

ROOT = SPEC_DIR.parent
SV_HEAD = [
    "// SPDX-License-Identifier: Apache-2.0",
    "// Generated from spec/{source} by scripts/gen_spec.py; do not edit.",
    "`default_nettype none",
    "",
]


def _protocol() -> dict[str, Any]:
    return tomllib.loads((SPEC_DIR / "protocol.toml").read_text(encoding="utf-8"))


def render_spec_pkg(figures: Spec) -> str:
    """``spec_pkg``: one localparam for each constant with ``rtl = true``."""
    lines = [line.format(source="fabric.toml") for line in SV_HEAD] + ["package spec_pkg;", ""]
    for c in figures:
        if c.rtl:
            name = c.name.upper().replace(".", "_")
            lines.append(f"  localparam int {name} = {c.value};  // {c.unit}")
    return "\n".join([*lines, "", "endpackage", "", "`default_nettype wire", ""])


def render_microhop_pkg() -> str:
    """``microhop_pkg``: codes as localparams, bundles as packed structs with their widths."""
    tree = _protocol()
    lines = [line.format(source="protocol.toml") for line in SV_HEAD] + ["package microhop_pkg;", ""]
    for group, body in tree["codes"].items():
        lines += ["", f"  // {body['source']}"]
        w = body["width"]
        lines += [f"  localparam logic [{w - 1}:0] {group}_{k} = {w}'h{v:x};" for k, v in body["values"].items()]
    for name, body in tree["bundle"].items():
        lines += ["", f"  // {body['doc']}", "  typedef struct packed {"]
        for f in body["fields"]:
            width = "" if f["width"] == 1 else f"[{f['width'] - 1}:0] "
            lines.append(f"    logic {width}{f['name']};  // {f['doc']}")
        total = sum(f["width"] for f in body["fields"])
        lines += [f"  }} {name}_t;", f"  localparam int {name.upper()}_W = {total};  // bits of {name}_t"]
    return "\n".join([*lines, "", "endpackage", "", "`default_nettype wire", ""])


def render_protocol_py() -> str:
    """``models.protocol``: codes as IntEnums, bundles as dataclasses with pack and unpack."""
    tree = _protocol()
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        '"""Codes and bundles shared with the RTL. Generated from spec/protocol.toml by scripts/gen_spec.py."""',
        "",
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass",
        "from enum import IntEnum",
        "from typing import ClassVar",
        "",
        "from models.bundle import Bundle",
    ]
    for group, body in tree["codes"].items():
        lines += ["", "", f"class {group}(IntEnum):", f'    """{body["source"]}."""', ""]
        lines += [f"    {k} = 0x{v:02X}" for k, v in body["values"].items()]
    for name, body in tree["bundle"].items():
        cls = "".join(part.capitalize() for part in name.split("_"))
        widths = ", ".join(f'("{f["name"]}", {f["width"]})' for f in body["fields"])
        lines += ["", "", "@dataclass(slots=True)", f"class {cls}(Bundle):"]
        lines += [f'    """{body["doc"][0].upper()}{body["doc"][1:]}.', ""]
        lines += [f"    {f['name']} ({f['width']} bits): {f['doc']}" for f in body["fields"]]
        lines += ['    """', "", "    # fmt: off", f"    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = ({widths},)"]
        lines += ["    # fmt: on"]
        lines += [f"    {f['name']}: int = 0" for f in body["fields"]]
    return "\n".join([*lines, ""])


def outputs() -> dict[Path, str]:
    """Every generated file with the text it must have."""
    return {
        ROOT / "rtl" / "common" / "spec_pkg.sv": render_spec_pkg(spec()),
        ROOT / "rtl" / "common" / "microhop_pkg.sv": render_microhop_pkg(),
        ROOT / "models" / "protocol.py": render_protocol_py(),
    }


def stale() -> list[Path]:
    """Generated files that are missing or not as spec/ would have them."""
    return [p for p, text in outputs().items() if not p.exists() or p.read_text(encoding="utf-8") != text]


def main(argv: list[str]) -> int:
    """Write or check; returns the exit code."""
    old = stale()
    if "--check" in argv:
        for path in old:
            print(f"{path}: stale; run: python -m scripts.gen_spec", file=sys.stderr)
        return 1 if old else 0
    for path in old:
        path.write_text(outputs()[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
