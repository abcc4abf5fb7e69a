# SPDX-License-Identifier: Apache-2.0
"""`make mutate`: plant faults in copies of the tree and see whether the benches notice."""

from __future__ import annotations

from scripts.mutate.main import interrupted, main_mutate, run_blocks
from scripts.mutate.results import summary

__all__ = ["interrupted", "main_mutate", "run_blocks", "summary"]
