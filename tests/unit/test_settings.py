# SPDX-License-Identifier: Apache-2.0
"""Settings of `make sim`: unknown names list the known ones; seeds belong to names, not to order."""

from __future__ import annotations

import tomllib

import pytest

from scripts.blocks import Blocks
from scripts.bootstrap import make_variables
from scripts.common import UserError
from scripts.run import Request, all_options
from scripts.settings import sim_request
from tests.unit import toy

SPEC = Blocks.model_validate(tomllib.loads(toy.BLOCKS))


def test_defaults():
    r = sim_request(SPEC, {})
    assert (r.block, r.sim, r.test, r.params, r.seed, r.waves) == ("toy", "verilator", "smoke", "default", 7, False)
    assert all_options(SPEC, r) == {"mode": "good", "count": 10}


def test_everything_given_and_repeated_by_its_command():
    given = {"SIM": "icarus", "PARAMS": "wide", "SEED": "0x10", "OPTIONS": "mode=bad", "COUNT": "3", "WAVES": "1"}
    r = sim_request(SPEC, given)
    assert r.waves
    assert r.command == 'make sim BLOCK=toy SIM=icarus TEST=smoke SEED=16 PARAMS=wide OPTIONS="mode=bad count=3"'


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"BLOCK": "toi"}, ["BLOCK", "'toi'", "did you mean 'toy'", "known: toy"]),
        ({"SIM": "iccarus"}, ["SIM", "did you mean 'icarus'", "icarus, verilator"]),
        ({"TEST": "smok"}, ["TEST", "did you mean 'smoke'", "only_icarus"]),
        ({"PARAMS": "wode"}, ["PARAMS", "did you mean 'wide'"]),
        ({"TEST": "only_icarus"}, ["only_icarus", "runs on icarus only"]),
        ({"TEST": "only_icarus", "SIM": "icarus", "PARAMS": "wide"}, ["PARAMS=wide", "with default only"]),
        ({"SEED": "-1"}, ["SEED=-1", "from 0 to"]),
        ({"SEED": "x"}, ["SEED=x", "whole number"]),
        ({"WAVES": "yes"}, ["WAVES=yes", "0 or 1"]),
        ({"BLOK": "toy"}, ["'BLOK'", "did you mean 'BLOCK'"]),
        ({"OPTIONS": "cont=3"}, ["'cont'", "did you mean 'count'"]),
        ({"OPTIONS": "count"}, ["'count'", "KEY=value"]),
        ({"COUNT": "0"}, ["count=0", "at least 1", "at most 100"]),
        ({"COUNT": "many"}, ["count=many", "an integer"]),
        ({"MODE": "ugly"}, ["mode=ugly", "one of good, silent"]),
    ],
)
def test_bad_settings_are_named(given, said):
    with pytest.raises(UserError) as error:
        sim_request(SPEC, given)
    for part in said:
        assert part in str(error.value)


def test_seeds_follow_names_not_simulators():
    def seed(**other):
        fields = {"block": "b", "sim": "icarus", "params": "p", "test": "t", "seed": 1, **other}
        return Request(**fields).test_seed

    assert seed() == seed(sim="verilator")
    assert len({seed(), seed(block="c"), seed(params="q"), seed(test="u"), seed(seed=2)}) == 5
    assert seed() == 1167983874, "a change of the rule makes every recorded seed worthless"


def test_make_hands_over_its_variables():
    assert make_variables(r"w -j2 --jobserver-auth=3,4 -- BLOCK=toy OPTIONS=a=1\ b=2") == {
        "BLOCK": "toy",
        "OPTIONS": "a=1 b=2",
    }
    assert make_variables(" -- PYTHON=python3.13 X=a$$b") == {"X": "a$b"}
    assert make_variables("ks") == {}
