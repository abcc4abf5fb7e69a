# SPDX-License-Identifier: Apache-2.0
"""ENGINE=slurm: one Slurm job a worker. Not there yet."""

from __future__ import annotations

from pathlib import Path

from scripts.common import UserError
from scripts.regress.engine import Engine, Function


def slurm_engine(jobs: int, settings: dict[str, str], function: Function, folder: Path | None) -> Engine:
    """The engine on `jobs` Slurm jobs of one core each."""
    raise UserError("ENGINE=slurm: not there yet")
