# SPDX-License-Identifier: Apache-2.0
"""Counts of many runs become one: sums over seeds, joins over parameter sets, instances apart."""

from __future__ import annotations

import json

import pytest

from scripts.coverage import collect, points, waivers
from scripts.coverage.dat import CoverageError
from scripts.coverage.merged import Merged, merge
from scripts.coverage.sums import Run, add
from scripts.coverage.waivers import Code
from tests.unit import coverage_toy as toy

WHY = {"reason": "cannot happen here", "date": "2026-01-31"}


@pytest.fixture
def regression(tmp_path, monkeypatch):
    root = tmp_path / "root"
    for module in (points, waivers):
        monkeypatch.setattr(module, "ROOT", root)
    return toy.Regression(tmp_path / "regress", root)


def merged(regression, *known: Code) -> Merged:
    runs = [Run(r.job.name, r.job.block, r.job.params, regression.folder / r.code_coverage) for r in regression.records]
    sums = add(runs, regression.folder)
    assert sums.errors == []
    return merge(sums.groups, list(known))


def hits(found: Merged) -> dict[str, int]:
    return {s.name: int(n) for s, n in zip(found.spots, found.hits, strict=True)}


def lines(found: Merged) -> dict[int, int]:
    return {line: int(n) for (_, line), n in zip(found.lines, found.line_hits, strict=True)}


def test_a_line_that_only_one_seed_reaches_is_reached(regression):
    regression.run({toy.ALWAYS: 10, toy.IF: 10, toy.ELSE: 0})
    regression.run({toy.ALWAYS: 10, toy.IF: 0, toy.ELSE: 7})
    found = merged(regression)
    assert hits(found) == {"block": 20, "if": 10, "else": 7}
    assert lines(found) == {2: 20, 3: 10, 4: 7, 6: 7, 7: 7}


def test_seeds_are_summed(regression):
    for n in (1, 2, 4):
        regression.run({toy.IF: n})
    assert hits(merged(regression)) == {"if": 7}


def test_parameter_sets_are_joined_by_place_and_name(regression):
    regression.run({toy.IF: 1, toy.BIT_UP: 2})
    regression.run({toy.IF: 4, toy.ELSIF: 8, toy.TERM: 0}, params="wide")
    found = merged(regression)
    assert hits(found) == {"if": 5, "q[0]:0->1": 2, "elsif": 8, "(q==1 && d==1) => 1": 0}
    assert found.files()[toy.FILE] == {
        "line": {"hit": 2, "total": 2, "waived": 0},
        "branch": {"hit": 2, "total": 2, "waived": 0},
        "toggle": {"hit": 1, "total": 1, "waived": 0},
        "expr": {"hit": 0, "total": 1, "waived": 0},
    }


def test_instances_are_apart_and_blocks_too(regression):
    other = toy.at("tb.dut.b", toy.IF)
    regression.run({toy.IF: 1, other: 0, toy.ELSE: 2})
    regression.run({toy.IF: 1, other: 0, toy.ELSE: 2})
    regression.run({toy.at("tb_c.a", toy.IF): 0, toy.at("tb_c.a", toy.ELSE): 1}, block="c")
    found = merged(regression)
    assert hits(found) == {"if": 2, "else": 5}
    assert set(found.instances) == {"tb", "tb_c"}
    assert found.instances["tb"]["tb.dut.a"]["branch"] == {"hit": 2, "total": 2, "waived": 0}
    assert found.instances["tb"]["tb.dut.b"]["branch"] == {"hit": 0, "total": 1, "waived": 0}
    assert found.instances["tb"]["tb.dut.b"]["line"] == {"hit": 0, "total": 1, "waived": 0}
    assert found.instances["tb_c"]["tb_c.a"]["branch"] == {"hit": 1, "total": 2, "waived": 0}
    assert found.instances["tb_c"]["tb_c.a"]["line"] == {"hit": 3, "total": 4, "waived": 0}


def test_an_instance_is_joined_over_parameter_sets(regression):
    regression.run({toy.IF: 0, toy.ELSE: 1})
    regression.run({toy.IF: 3, toy.TERM: 1}, params="wide")
    of = merged(regression).instances["tb"]["tb.dut.a"]
    assert of["branch"] == {"hit": 2, "total": 2, "waived": 0}
    assert of["expr"] == {"hit": 1, "total": 1, "waived": 0}


def test_counts_beyond_32_bits(regression):
    regression.run({toy.IF: 2**40, toy.ELSE: 3})
    regression.run({toy.IF: 1, toy.ELSE: 2**32 - 1})
    assert hits(merged(regression)) == {"if": 2**40 + 1, "else": 2**32 + 2}


def test_bench_points_do_not_count(regression):
    regression.run({toy.IF: 1, toy.BENCH: 0})
    assert hits(merged(regression)) == {"if": 1}


def test_waived_is_what_is_not_hit_in_any_set(regression):
    regression.run({toy.IF: 1, toy.ELSE: 0, toy.TERM: 0})
    both = Code(file=toy.FILE, kind=["branch", "line"], text="if (rst)", **WHY)
    found = merged(regression, both)
    assert found.waived == {1: WHY["reason"]}
    assert found.waived_lines == {}
    assert found.uses[0].matched == 3
    assert found.uses[0].waived == 1
    assert found.files()[toy.FILE]["branch"] == {"hit": 1, "total": 2, "waived": 1}
    assert found.instances["tb"]["tb.dut.a"]["branch"] == {"hit": 1, "total": 2, "waived": 1}


def test_a_waived_line(regression):
    regression.run({toy.ALWAYS: 1, toy.ELSE: 0})
    found = merged(regression, Code(file=toy.FILE, kind="line", text="p <=", **WHY))
    assert [found.lines[n] for n in found.waived_lines] == [(toy.FILE, 6)]
    assert found.files()[toy.FILE]["line"] == {"hit": 1, "total": 4, "waived": 1}
    assert found.instances["tb"]["tb.dut.a"]["line"] == {"hit": 1, "total": 4, "waived": 1}


def test_by_name(regression):
    regression.run({toy.BIT_UP: 0, toy.BIT_DOWN: 0, toy.TERM: 0})
    found = merged(regression, Code(file=toy.FILE, kind=["toggle", "expr"], name="1->0", **WHY))
    assert [found.spots[n].name for n in found.waived] == ["q[0]:1->0"]


def test_a_waiver_for_one_set_leaves_the_others_hole(regression):
    regression.run({toy.ELSE: 0})
    regression.run({toy.ELSE: 0, toy.TERM: 1}, params="wide")
    waiver = Code(file=toy.FILE, kind="branch", text="if (rst)", params="wide", **WHY)
    found = merged(regression, waiver)
    assert found.waived == {}
    assert found.uses[0].waived == 1
    alone = waiver.model_copy(update={"params": ["default", "wide"]})
    assert len(merged(regression, alone).waived) == 1
    elsewhere = merged(regression, waiver.model_copy(update={"top": ["tb_other"]}))
    assert elsewhere.uses[0].judged is False


def test_a_run_of_icarus_has_no_counts(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"sim": "icarus"}))
    assert collect.collect(tmp_path) is None


def test_a_run_that_left_none_is_named(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"sim": "verilator"}))
    with pytest.raises(CoverageError, match=r"coverage\.dat: cannot be read"):
        collect.collect(tmp_path)


def test_the_big_file_goes_and_the_points_are_kept_once(regression):
    first, second = regression.run({toy.IF: 1}), regression.run({toy.IF: 2})
    for record in (first, second):
        assert not (regression.folder / record.code_coverage).with_name("coverage.dat").exists()
    assert len(list((regression.folder / "coverage").iterdir())) == 1


def test_another_text_is_another_list(regression):
    regression.run({toy.IF: 1})
    regression.source.write_text(toy.SOURCE + "// more\n")
    regression.run({toy.IF: 1})
    found = merged(regression)
    assert hits(found) == {"if": 2}
    assert found.errors == [f"{toy.FILE}: the runs were built from different texts of it"]
