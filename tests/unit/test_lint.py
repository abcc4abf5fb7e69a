# SPDX-License-Identifier: Apache-2.0
"""`make lint` over the whole tree: a port left open in one bench is found by the suite, not by the next reader."""

from __future__ import annotations

import pytest
from rich.console import Console

from scripts.common import EXIT_PASS
from scripts.lint import checks, main_lint


def test_the_tree_is_clean() -> None:
    console = Console(record=True, width=150)
    assert main_lint(console, {}) == EXIT_PASS, console.export_text()


def test_a_block_s_checks_are_a_part_of_all() -> None:
    everything = {c.name for c in checks(None)}
    some = {c.name for c in checks("link")}
    assert some & everything
    assert len(some) < len(everything)


@pytest.mark.parametrize("tool", ["verilator", "verible", "ruff", "mypy"])
def test_every_tool_is_asked(tool: str) -> None:
    assert any(tool in c.name for c in checks(None))
