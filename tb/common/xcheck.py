# SPDX-License-Identifier: Apache-2.0
"""Unknown bits after reset, for Icarus (a two-valued simulator has none).

Recorders in tb/hdl already stop a run on an unknown valid, ready or event; this looks at any output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def unknown_signals(instance: Any, names: Iterable[str]) -> list[str]:
    """Those of ``names`` in ``instance`` that hold an unknown bit now, with their value.

    Names that are not there raise AttributeError. Call it at an edge after reset; on Verilator the
    handles of a design's inside are not public, so such a test runs on Icarus only.
    """
    unknown = []
    for name in names:
        value = getattr(instance, name).value
        if not value.is_resolvable:
            unknown.append(f"{name} = {value}")
    return unknown
