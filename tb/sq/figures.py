# SPDX-License-Identifier: Apache-2.0
"""Figures of the volume test."""

from __future__ import annotations

from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords


def observe(_ctx: RunContext, _phase: PhaseRecords) -> None:
    """Nothing yet."""
