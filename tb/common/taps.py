# SPDX-License-Identifier: Apache-2.0
"""Stage stamps that rtl/common/latency_tap.sv wrote."""

from __future__ import annotations

from pathlib import Path


def read_stamps(folder: Path, phase: int) -> dict[str, list[int]]:
    """Stamps of phase ``phase`` (counted from 0) of all files in ``folder``; a reset line ends a phase."""
    out = {}
    for path in folder.glob("*.tap"):
        parts = path.read_text(encoding="ascii").split("reset\n")
        out[path.name.removesuffix(".tap")] = [int(x) for x in parts[phase].split()] if phase < len(parts) else []
    return out
