# SPDX-License-Identifier: Apache-2.0
"""Test plans: their schema, that they name tests, bins and mutants that exist, and that they leave none out."""

import ast

import pytest

from scripts import testplan
from scripts.blocks import load
from scripts.common import ROOT, UserError
from scripts.mutate import hand
from scripts.regress.functional import declared

PLANS = testplan.load()
BLOCKS = load().blocks
MUTANTS = hand.load()
OF_THE_BENCH = {"example", "kit"}  # the pattern and the bench's own parts: no design under test


@pytest.mark.parametrize("block", sorted(PLANS))
def test_points_name_what_exists(block):
    for p in PLANS[block]:
        for name, test in p.runs(block):
            assert name in BLOCKS and test in BLOCKS[name].tests, f"{p.id}: {name}/{test}"
        assert set(p.mutants) <= {m.name for m in MUTANTS}, p.id


@pytest.mark.parametrize("block", sorted(PLANS))
def test_every_mutant_and_test_has_a_point(block):
    named = {m for p in PLANS[block] for m in p.mutants}
    assert {m.name for m in MUTANTS if m.block == block and m.name.startswith(f"{block}_")} <= named
    covered = {t for p in PLANS[block] for t in p.tests}
    wanted = {t for n, b in BLOCKS.items() if n == block for t, v in b.tests.items() if v.in_make_test}
    assert wanted <= covered


@pytest.mark.parametrize("block", sorted(BLOCKS))
def test_every_case_is_a_test_of_its_module(block):
    """A case that nobody wrote would not run, and nobody would miss it."""
    for name, test in BLOCKS[block].tests.items():
        tree = ast.parse((ROOT / (test.module.replace(".", "/") + ".py")).read_text())
        written = {
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef | ast.AsyncFunctionDef)
            and any(ast.unparse(d).startswith(("pyuvm.test(", "cocotb.test(")) for d in node.decorator_list)
        }
        assert set(test.cases or [name]) <= written, f"tests.{name} of {test.module}"


@pytest.mark.parametrize("block", sorted(BLOCKS))
def test_modules_built_apart_exist(block):
    files = {p.stem for folder in ("rtl", "tb/hdl") for p in (ROOT / folder).rglob("*.sv")}
    assert set(BLOCKS[block].separate) <= files


def test_every_block_has_a_plan():
    assert {n for n in BLOCKS if not n.endswith("_pair")} - OF_THE_BENCH <= set(PLANS)


@pytest.mark.parametrize("block", sorted(PLANS))
def test_bins_and_points_name_each_other(block):
    bins = declared(block) + declared(f"{block}_pair")
    assert bins
    ids = {p.id for p in PLANS[block]}
    for b in bins:
        assert b.points, f"{b.cover} {b.bin}: no test point"
        assert set(b.points) <= ids, f"{b.cover} {b.bin}: {sorted(set(b.points) - ids)} not in the plan"
    binned = {i for b in bins for i in b.points}
    runnable = {p.id for p in PLANS[block] if p.tests}
    assert runnable <= binned, f"points without a bin: {sorted(runnable - binned)}"


GOOD = """[[point]]
id = "a"
feature = "f"
intent = "x"
kind = "directed"
tests = ["t", "pair/u"]
"""


def plan(tmp_path, text):
    path = tmp_path / "toy.toml"
    path.write_text(text)
    return path


def test_a_plan_is_read(tmp_path):
    plan(tmp_path, GOOD)
    (point,) = testplan.load(tmp_path)["toy"]
    assert point.runs("toy") == [("toy", "t"), ("toy_pair", "u")]
    assert (point.mutants, point.rules, point.sequence) == ([], [], "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace('feature = "f"\n', ""), "point.0.feature (id 'a'): Field required"),
        (GOOD.replace('"directed"', '"daft"'), "point.0.kind (id 'a')"),
        (GOOD.replace('["t", "pair/u"]', '"t"'), "point.0.tests (id 'a')"),
        (GOOD + 'mutant = ["m"]\n', "point.0.mutant (id 'a')"),
        (GOOD.replace('id = "a"', 'id = "A b"'), "point.0.id"),
        (GOOD.replace('"x"', '""'), "point.0.intent (id 'a')"),
        (GOOD + GOOD, "two points of one id: a"),
        ("", "point: Field required"),
        ("point = 3\n", "point: "),
        ("[[point]\n", "not TOML"),
        ("[[point]]\nintent = 3\n", "point.0.intent"),
    ],
)
def test_a_bad_plan_is_named_with_its_field(tmp_path, text, said):
    path = plan(tmp_path, text)
    with pytest.raises(UserError) as e:
        testplan.read(path)
    assert "toy.toml: " in str(e.value) and said in str(e.value)


def test_a_plan_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"toy\.toml: cannot be read"):
        testplan.read(tmp_path / "toy.toml")
