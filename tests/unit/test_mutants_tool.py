# SPDX-License-Identifier: Apache-2.0
"""The tool that plants faults: caught, missed, and faults that say nothing."""

from __future__ import annotations

import pytest

from scripts import blocks, mutants
from scripts.common import UserError
from tests.unit import toy

FAULT = {"name": "m", "file": "rtl/toy.sv", "find": "q + 1'b1", "block": "toy", "why": "w", "sim": "icarus"}


@pytest.fixture
def spec(tmp_path, monkeypatch):
    root = toy.make(tmp_path)
    for module in (blocks, mutants):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(mutants, "COPIES", root / "build" / "mutants")
    monkeypatch.setattr(mutants, "COPIED", (*mutants.COPIED, "toytests.py"))
    return blocks.load(root / "spec" / "blocks.toml")


def run(spec, **other):
    return mutants.run(mutants.Mutant(**{**FAULT, "replace": "q + 2'd2", **other}), spec)


def test_a_fault_is_caught(spec):
    found = run(spec)
    assert found.caught
    assert found.verdict == "fail"
    assert not (mutants.COPIES / "m").exists()


def test_a_fault_that_changes_nothing_is_missed(spec):
    assert not run(spec, replace="1'b1 + q").caught


def test_a_hang_is_caught(spec):
    assert run(spec, file="spec/blocks.toml", find="run_limit_s = 30", replace="run_limit_s = 0.2").verdict == "timeout"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"replace": "q +"}, "does not build"),
        ({"find": "q - 1"}, "0 times"),
        ({"find": "q"}, "not once"),
        ({"block": "tou"}, "did you mean 'toy'"),
        ({"test": "smok"}, "did you mean 'smoke'"),
        ({"params": "wode"}, "did you mean 'wide'"),
        ({"file": "rtl/none.sv"}, "no such file"),
    ],
)
def test_faults_that_say_nothing(spec, other, said):
    with pytest.raises(UserError, match=said):
        run(spec, **other)


def test_the_list_is_checked(tmp_path):
    (tmp_path / "a.toml").write_text('[[mutant]]\nname = "x"\n')
    with pytest.raises(mutants.MutantError, match=r"a\.toml: mutant\.0\.file: Field required"):
        mutants.load(tmp_path)
