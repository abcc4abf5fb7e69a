# SPDX-License-Identifier: Apache-2.0
"""Planted faults must turn their tests red. `make test` runs tier "test", `make mutants` all."""

from __future__ import annotations

import os

import pytest

from scripts import mutants
from scripts.blocks import load

SPEC = load()
ALL = mutants.load()
TIERS = ("test", "full") if os.environ.get("MICROHOP_MUTANTS") == "all" else ("test",)


@pytest.mark.parametrize("mutant", [pytest.param(m, id=f"{m.block}-{m.name}") for m in ALL])
def test_mutant_is_well_formed(mutant: mutants.Mutant) -> None:
    mutants.check(mutant, SPEC)


@pytest.mark.parametrize("mutant", [pytest.param(m, id=f"{m.block}-{m.name}") for m in ALL if m.tier in TIERS])
def test_mutant_is_caught(mutant: mutants.Mutant) -> None:
    found = mutants.run(mutant, SPEC)
    assert found.caught, f"{mutant.name} stayed green: {mutant.why}"
    print(f"{mutant.name}: {found.verdict}: {found.reason}")
