# SPDX-License-Identifier: Apache-2.0
"""What all tests share: the project's folder on the path, and runs judged by their verdict."""

from __future__ import annotations

import os

import pytest

# make's variables of an outer call would be taken for settings of an inner one
for _name in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "WAVES", "GUI", "MICROHOP_RUN"):
    os.environ.pop(_name, None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the long ones first, so that two workers end together: mutants, block runs, unit tests."""
    order = {"test_mutants.py": 0, "test_blocks.py": 1}
    items.sort(key=lambda item: order.get(item.path.name, 2))
