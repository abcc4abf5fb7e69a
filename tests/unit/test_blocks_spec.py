# SPDX-License-Identifier: Apache-2.0
"""spec/blocks.toml: the project's own loads, and every kind of mistake is named with file and field."""

from __future__ import annotations

import pytest

from scripts import blocks
from scripts.common import UserError
from tests.unit import toy


def fails(tmp_path, monkeypatch, old, new):
    """The message for a blocks.toml in which `old` became `new`."""
    monkeypatch.setattr(blocks, "ROOT", toy.make(tmp_path, toy.BLOCKS.replace(old, new)))
    with pytest.raises(UserError) as error:
        blocks.load(tmp_path / "spec" / "blocks.toml").sources("toy")
    return str(error.value)


def test_the_projects_own_list_is_whole():
    spec = blocks.load()
    for name in spec.blocks:
        assert spec.sources(name), name


def test_packages_come_first_and_sets_expand(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "ROOT", toy.make(tmp_path))
    spec = blocks.load(tmp_path / "spec" / "blocks.toml")
    assert spec.sources("toy") == ["rtl/a_pkg.sv", "rtl/toy.sv", "tb/tb_toy.sv"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("run_limit_s = 30", "run_limit_s = -1", ["blocks.toy.run_limit_s", "greater than 0", "-1"]),
        ("run_limit_s = 30", "run_limt_s = 30", ["blocks.toy.run_limt_s", "not permitted"]),
        ('top = "tb_toy"\n', "", ["blocks.toy.top", "required"]),
        ('default_test = "smoke"', 'default_test = "smok"', ["default_test", "'smok'", "smoke"]),
        ('default_test = "smoke"', 'default_test = "smoke"\nsmoke = ["smok"]', ["blocks.toy", "smoke", "'smok'"]),
        ('params = ["default", "wide"]', 'params = ["narrow"]', ["tests.smoke.params", "'narrow'", "wide"]),
        ('sims = ["icarus"]', 'sims = ["ghdl"]', ["sims", "'verilator' or 'icarus'", "ghdl"]),
        ('"@common"', '"@comon"', ["blocks.toy.rtl", "'@comon'", "did you mean '@common'"]),
        ('"rtl/toy.sv"', '"rtl/tou.sv"', ["blocks.toy.rtl", "no such file 'rtl/tou.sv'"]),
        ('default_block = "toy"', 'default_block = "tou"', ["default_block", "did you mean 'toy'"]),
        ("default = { W = 8 }", "other = { W = 8 }", ["params", "'default' is required"]),
        ("seed = 7", "seed = ", ["blocks.toml", "not TOML"]),
    ],
)
def test_mistakes_are_named(tmp_path, monkeypatch, old, new, said):
    text = fails(tmp_path, monkeypatch, old, new)
    assert "blocks.toml" in text
    for part in said:
        assert part in text


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.toml: cannot be read"):
        blocks.load(tmp_path / "none.toml")
