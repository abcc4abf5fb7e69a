# SPDX-License-Identifier: Apache-2.0
"""The test plans name tests and mutants that exist, and leave none out."""

import tomllib

import pytest

from scripts import mutants
from scripts.blocks import load
from scripts.common import ROOT

PLANS = {p.stem: tomllib.loads(p.read_text(encoding="utf-8"))["point"] for p in (ROOT / "spec/testplan").glob("*.toml")}
BLOCKS = load().blocks
MUTANTS = mutants.load()
OF_THE_BENCH = {"example", "kit"}  # the pattern and the bench's own parts: no design under test


def known_tests(block):
    """Tests of a block, and as pair/<test> those of the bench that joins two of it."""
    pair = BLOCKS.get(f"{block}_pair")
    return set(BLOCKS[block].tests) | {f"pair/{t}" for t in (pair.tests if pair else ())}


@pytest.mark.parametrize("block", sorted(PLANS))
def test_points_name_what_exists(block):
    points = PLANS[block]
    assert len({p["id"] for p in points}) == len(points)
    for p in points:
        assert {"id", "intent", "kind", "tests"} <= set(p), p["id"]
        assert set(p["tests"]) <= known_tests(block), p["id"]
        assert set(p.get("mutants", [])) <= {m.name for m in MUTANTS}, p["id"]


@pytest.mark.parametrize("block", sorted(PLANS))
def test_every_mutant_and_test_has_a_point(block):
    named = {m for p in PLANS[block] for m in p.get("mutants", [])}
    assert {m.name for m in MUTANTS if m.name.startswith(f"{block}_")} <= named
    covered = {t for p in PLANS[block] for t in p["tests"]}
    wanted = {t for n, b in BLOCKS.items() if n == block for t, v in b.tests.items() if v.in_make_test}
    assert wanted <= covered


def test_every_block_has_a_plan():
    assert {n for n in BLOCKS if not n.endswith("_pair")} - OF_THE_BENCH <= set(PLANS)
