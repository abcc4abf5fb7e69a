# SPDX-License-Identifier: Apache-2.0
"""Cover groups: which bins a sample hits, what crosses leave out, declarations that contradict themselves."""

import json

import pytest

from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each


def toy(name, covers, samples=()):
    return Coverage(name, [Group("g", lambda _ctx, _phase: iter(samples), covers)])


def test_bins_are_values_ranges_sets_and_predicates():
    covers = [
        Cover("size", [Bin("one", 1), Bin("few", range(2, 9)), Bin("odd", {1, 3, 5}), Bin("large", lambda v: v > 8)]),
        Cover("name", each("a", "b", points=("p",)), field="who"),
    ]
    coverage = toy("kit_values", covers)
    coverage.record("g", [{"size": 1, "who": "a"}, {"size": 3}, {"size": 9, "who": "c"}, {}, {"size": 4}])
    assert coverage.hits() == {"g.size": {"one": 1, "few": 2, "odd": 2, "large": 1}, "g.name": {"a": 1, "b": 0}}
    assert [b.points for b in coverage.bins() if b.cover == "g.name"] == [("p",), ("p",)]


def test_a_sample_is_counted_for_each_phase_and_saved(tmp_path):
    coverage = toy("kit_saved", [Cover("x", each(0, 1))], [{"x": 1}, {"x": 1}])
    coverage.sample(None, None)
    coverage.sample(None, None)
    coverage.save(tmp_path)
    assert json.loads((tmp_path / "functional.json").read_text()) == {
        "block": "kit_saved", "hits": {"g.x": {"0": 0, "1": 4}},
    }  # fmt: skip


def test_crosses_count_combinations_but_those_that_never_happen():
    covers = [
        Cover("x", each(0, 1)), Cover("y", each("a", "b")),
        Cross("both", ("x", "y"), ("p",), never=[("1", "b")], why="so it is", at_least=2),
    ]  # fmt: skip
    coverage = toy("kit_cross", covers)
    bins = [b for b in coverage.bins() if b.kind == "cross"]
    assert [(b.bin, b.points, b.at_least) for b in bins] == [
        ("0 x a", ("p",), 2), ("0 x b", ("p",), 2), ("1 x a", ("p",), 2),
    ]  # fmt: skip
    coverage.record("g", [{"x": 0, "y": "a"}, {"x": 0, "y": "a"}, {"x": 1, "y": "b"}, {"x": 1}, {"y": "a"}])
    assert coverage.hits()["g.both"] == {"0 x a": 2, "0 x b": 0, "1 x a": 0}


def test_a_point_s_own_bin_goes_before_its_cover_s():
    covers = [Cover("x", [Bin("a", 1, ("own",)), Bin("b", 2)], points=("shared",))]
    assert [b.points for b in toy("kit_points", covers).bins()] == [("own",), ("shared",)]


@pytest.mark.parametrize(
    ("covers", "said"),
    [
        ([Cover("x", each(1)), Cover("x", each(2))], "two covers of one name"),
        ([Cover("x", [Bin("a", 1), Bin("a", 2)])], "names of their own"),
        ([Cover("x", [])], "names of their own"),
        ([Cover("x", each(1)), Cross("c", ("x", "z"))], r"no cover \['z'\]"),
        ([Cover("x", each(1)), Cover("y", each(1)), Cross("c", ("x", "y"), never=[("1", "1")])], "need a reason"),
        ([Cover("x", each(1)), Cover("y", each(1)), Cross("c", ("x", "y"), why="no idea")], "need a reason"),
    ],
)
def test_bad_declarations(covers, said):
    with pytest.raises(ValueError, match=said):
        toy(f"kit_bad_{abs(hash(said))}", covers)


def test_a_group_that_is_not_there():
    with pytest.raises(ValueError, match="no cover group 'h' .known: g."):
        toy("kit_group", [Cover("x", each(1))]).record("h", [])
