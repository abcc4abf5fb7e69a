# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of a regression: sums, holes, waivers, and files that cannot be used."""

import json

import pytest

from scripts.common import UserError
from scripts.coverage.waivers import Functional
from scripts.regress import functional
from scripts.regress.records import Job, Record
from tb.common.coverage import BinInfo

DECLARED = functional.declared
BINS = (
    BinInfo("g.size", "small", ("sizes",), "cover", 1),
    BinInfo("g.size", "large", ("sizes", "long"), "cover", 2),
    BinInfo("g.both", "small x x", ("long",), "cross", 1),
)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    known = {"toy": BINS, "toy_pair": BINS[:1], "other": BINS[:1]}

    def declared(block):
        if block == "broken":
            raise ImportError("no module")
        return known.get(block, ())

    monkeypatch.setattr(functional, "declared", declared)


def record(folder, number, hits=None, block="toy", verdict="pass", text=None, counts_as=None):
    """A record whose run left `hits` (or `text`) as its functional.json."""
    job = Job(number=number, block=block, test="t", params="default", sim="verilator", seed=1,
              build_limit_s=1, run_limit_s=1)  # fmt: skip
    path = None
    if hits is not None or text is not None:
        path = f"jobs/{number:05d}/a1/functional.json"
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(json.dumps({"block": counts_as or block, "hits": hits}) if text is None else text)
    return Record(job=job, verdict=verdict, command="make sim", functional=path)


def test_hits_are_summed_over_runs_and_holes_have_names(tmp_path):
    runs = [
        record(tmp_path, 1, {"g.size": {"small": 3, "large": 1}}),
        record(tmp_path, 2, {"g.size": {"small": 1, "large": 1}, "g.both": {"small x x": 0}}),
        record(tmp_path, 3),
    ]
    got = functional.summary(tmp_path, runs)
    covers = got["blocks"]["toy"]["covers"]
    assert covers["g.size"] == {
        "kind": "cover", "hit": 2, "total": 2,
        "bins": {
            "small": {"hits": 4, "at_least": 1, "points": ["sizes"], "waived": None},
            "large": {"hits": 2, "at_least": 2, "points": ["long", "sizes"], "waived": None},
        },
    }  # fmt: skip
    assert covers["g.both"]["bins"]["small x x"]["hits"] == 0
    assert {k: got["blocks"]["toy"][k] for k in ("hit", "total", "waived")} == {"hit": 2, "total": 3, "waived": 0}
    assert got["holes"] == [{"block": "toy", "cover": "g.both", "bin": "small x x", "points": ["long"]}]
    assert got["errors"] == []
    assert json.loads((tmp_path / "functional.json").read_text()) == got


def test_fewer_hits_than_asked_for_are_a_hole(tmp_path):
    got = functional.summary(tmp_path, [record(tmp_path, 1, {"g.size": {"small": 1, "large": 1}})])
    assert [h["bin"] for h in got["holes"]] == ["small x x", "large"]
    assert got["blocks"]["toy"]["covers"]["g.size"]["hit"] == got["blocks"]["toy"]["hit"] == 1


def test_a_failed_run_counts_too(tmp_path):
    got = functional.summary(tmp_path, [record(tmp_path, 1, {"g.size": {"small": 1}}, verdict="fail")])
    assert got["blocks"]["toy"]["hit"] == 1


def test_what_was_not_measured_is_not_there(tmp_path):
    got = functional.summary(tmp_path, [record(tmp_path, 1)])
    assert got == {"blocks": {}, "holes": [], "errors": []}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "block"),
        ('{"block": "toy"}', "hits"),
        ('{"block": "toy", "hits": {"g.size": 3}}', "hits"),
        ('{"block": "toy", "hits": {"g.size": {"small": -1}}}', "hits.g.size.small"),
        ('{"block": "toy", "hits": {"g.size": {"small": true}}}', "hits.g.size.small"),
        ('{"block": "other", "hits": {}}', "it counts 'other', the job ran 'toy'"),
        ('{"block": "toy", "hits": {"g.size": {"small": 7, "huge": 1}, "h.x": {"y": 1}}}', "g.size 'huge', h.x 'y'"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_job(tmp_path, text, said):
    good = record(tmp_path, 1, {"g.size": {"small": 2}})
    got = functional.summary(tmp_path, [record(tmp_path, 2, text=text), good])
    (error,) = got["errors"]
    assert "jobs/00002/a1/functional.json" in error and "job 2 (toy/t/default/verilator/1)" in error and said in error
    assert got["blocks"]["toy"]["covers"]["g.size"]["bins"]["small"]["hits"] == (9 if "huge" in text else 2)


def test_a_file_that_is_gone_and_a_block_without_declaration_are_errors(tmp_path):
    gone = record(tmp_path, 1, {})
    (tmp_path / gone.functional).unlink()
    bare = record(tmp_path, 2, {}, block="bare")
    broken = record(tmp_path, 3, {}, block="broken")
    got = functional.summary(tmp_path, [gone, bare, broken])
    assert "cannot be read" in got["errors"][0]
    assert "'bare' declares no coverage" in got["errors"][1]
    assert any("cannot be imported: ImportError" in e for e in got["errors"])


def test_a_pair_may_count_for_itself_or_for_its_block(tmp_path):
    runs = [
        record(tmp_path, 1, {"g.size": {"small": 1}}, block="toy_pair"),
        record(tmp_path, 2, {"g.size": {"small": 1}}, block="toy_pair", counts_as="toy"),
    ]
    got = functional.summary(tmp_path, runs)
    assert {b: e["total"] for b, e in got["blocks"].items()} == {"toy": 3, "toy_pair": 1}


def waiver(block, cover, name):
    return Functional(block=block, cover=cover, bin=name, reason="cannot happen", date="2026-01-31", where=f"w {name}")


def test_waivers_excuse_holes_and_stale_ones_are_errors(tmp_path):
    waivers = [
        waiver("toy", "g.both", "small*"),
        waiver("toy", "g.size", "small"),
        waiver("toy", "g.size", "huge"),
        waiver("other", "g.size", "not run"),
        waiver("nobody", "g.size", "nothing"),
    ]
    got = functional.summary(tmp_path, [record(tmp_path, 1, {"g.size": {"small": 1, "large": 2}})], waivers)
    assert got["holes"] == [] and got["blocks"]["toy"]["waived"] == 1
    assert got["blocks"]["toy"]["covers"]["g.both"]["bins"]["small x x"]["waived"] == "cannot happen"
    assert [e.split(":")[0] for e in got["errors"]] == ["w small", "w huge", "w nothing"]


def test_waivers_that_cannot_be_read_are_an_error_and_the_rest_is_summed(tmp_path, monkeypatch):
    def broken():
        raise UserError("spec/waivers/x.toml: not TOML")

    monkeypatch.setattr(functional, "load", broken)
    got = functional.summary(tmp_path, [record(tmp_path, 1, {"g.size": {"small": 1}})])
    assert got["errors"] == ["spec/waivers/x.toml: not TOML"] and got["blocks"]["toy"]["hit"] == 1


def test_declarations_are_found_by_the_block_s_name():
    bins = DECLARED("example")
    assert {b.cover for b in bins} >= {"frame.length", "reset.known"} and bins == DECLARED("example")
    assert DECLARED("kit") == () and DECLARED("example_pair") == ()
