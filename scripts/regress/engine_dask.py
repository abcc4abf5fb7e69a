# SPDX-License-Identifier: Apache-2.0
"""ENGINE=dask: the workers of a Dask cluster. Not there yet."""

from __future__ import annotations

from pathlib import Path

from scripts.common import UserError
from scripts.regress.engine import Engine, Function


def dask_engine(jobs: int, settings: dict[str, str], function: Function, folder: Path | None) -> Engine:
    """The engine on the scheduler at DASK=, or else on a cluster of `jobs` processes here."""
    raise UserError("ENGINE=dask: not there yet")
