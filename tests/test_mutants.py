# SPDX-License-Identifier: Apache-2.0
"""Planted faults must turn their tests red: those of tier "test" here, all by `make mutate`."""

from __future__ import annotations

import pytest

from scripts.blocks import load
from scripts.common import ROOT
from scripts.mutate import equivalent, hand, operators, trial

SPEC = load()
ALL = hand.load()


@pytest.mark.parametrize("mutant", [pytest.param(m, id=f"{m.block}-{m.name}") for m in ALL])
def test_mutant_is_well_formed(mutant: hand.Mutant) -> None:
    hand.fault(mutant, SPEC)


@pytest.mark.parametrize("mutant", [pytest.param(m, id=f"{m.block}-{m.name}") for m in ALL if m.tier == "test"])
def test_mutant_is_caught(mutant: hand.Mutant) -> None:
    found = trial.judge(hand.fault(mutant, SPEC), SPEC, ROOT)
    assert found.state == "killed", f"{mutant.name}: {found.state}: {found.reason or mutant.why}"
    print(f"{mutant.name}: {found.killed_by}: {found.reason}")


def test_equivalent_entries_are_still_there() -> None:
    entries = equivalent.load()
    files = {f for name in SPEC.blocks for f in SPEC.own_rtl(name)}
    found = [c for f in files for c in operators.candidates(f, SPEC.include_dirs())]
    assert equivalent.reasons(entries, found) is not None
