# SPDX-License-Identifier: Apache-2.0
"""A regression's coverage: its JSON, pages and exports, and what a broken file does to them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from scripts.coverage import annotate, holes, points, waivers
from scripts.coverage.summary import summary
from tests.unit import coverage_toy as toy

WAIVER = """[[code]]
file = "rtl/a/a.sv"
kind = "expr"
name = "(q==1 && d==1)"
reason = "d <rests> while q is up"
date = 2026-01-31
"""


@pytest.fixture
def regression(tmp_path, monkeypatch):
    root = tmp_path / "root"
    for module in (points, waivers):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(waivers, "FOLDER", root / "waivers")
    return toy.Regression(tmp_path / "regress", root)


def fill(regression):
    regression.run({toy.ALWAYS: 9, toy.IF: 2, toy.ELSE: 0, toy.BIT_UP: 1, toy.BIT_DOWN: 0, toy.TERM: 0})
    regression.run({toy.ALWAYS: 9, toy.IF: 3, toy.ELSE: 0, toy.BIT_UP: 1, toy.BIT_DOWN: 0, toy.TERM: 0})
    regression.run({toy.ALWAYS: 1, toy.ELSIF: 4}, params="wide")
    regression.run(None)


def test_the_json(regression):
    fill(regression)
    regression.waivers.write_text(WAIVER)
    said = summary(regression.folder, regression.records)
    assert said == json.loads((regression.folder / "code_coverage.json").read_text())
    assert said["errors"] == []
    assert said["measured"] is True
    assert said["runs"] == 3
    assert said["totals"] == said["blocks"]["a"] == said["files"][toy.FILE]["totals"]
    assert said["totals"] == {
        "line": {"hit": 3, "total": 6, "waived": 0},
        "branch": {"hit": 2, "total": 3, "waived": 0},
        "toggle": {"hit": 1, "total": 2, "waived": 0},
        "expr": {"hit": 0, "total": 1, "waived": 1},
    }
    assert said["waivers"][0]["matched"] == 1
    assert said["instances"]["tb"]["tb.dut.a"]["branch"]["total"] == 3
    found = {(h["line"], h["kind"], tuple(h["names"]), h["waived"]) for h in said["files"][toy.FILE]["holes"]}
    assert (6, "expr", ("(q==1 && d==1) => 1",), "d <rests> while q is up") in found
    assert (7, "toggle", ("q[0] 1->0",), None) in found
    assert (3, "branch", ("else",), None) in found


def test_nothing_measured_is_not_zero(regression):
    regression.run(None)
    said = summary(regression.folder, regression.records)
    assert said["measured"] is False
    assert said["totals"] is None
    assert not (regression.folder / "lcov.info").exists()


def test_a_broken_file_of_counts_is_named_with_its_job_and_the_rest_counts(regression):
    fill(regression)
    (regression.folder / regression.records[0].code_coverage).write_bytes(b"PK broken")
    (regression.folder / regression.records[2].code_coverage).unlink()
    said = summary(regression.folder, regression.records)
    assert said["runs"] == 1
    assert said["totals"]["branch"] == {"hit": 1, "total": 2, "waived": 0}
    assert re.match(r"job 1 \(a/t/default/verilator/1\): .*code_coverage.npz: not a file of counts", said["errors"][0])
    assert re.match(r"job 3 \(a/t/wide/verilator/1\): .*code_coverage.npz: the counts are missing", said["errors"][1])


def test_counts_that_do_not_fit_their_points_are_an_error(regression):
    record = regression.run({toy.IF: 1})
    path = regression.folder / record.code_coverage
    with np.load(path) as kept:
        name = kept["points"]
    np.savez(path, counts=np.zeros(7, np.uint32), points=name)
    assert "7 counts for 1 points" in summary(regression.folder, regression.records)["errors"][0]


def test_a_file_that_was_cut_off_between_two_lines_is_named(regression):
    regression.run({toy.IF: 1, toy.ELSE: 1})
    regression.run({toy.IF: 1})
    regression.run({toy.IF: 1}, params="wide")
    said = summary(regression.folder, regression.records)
    assert said["errors"] == ["job 2 (a/t/default/verilator/1): only 1 of 2 points: cut short, or built otherwise"]


def test_a_broken_list_of_points_is_an_error_of_each_run(regression):
    fill(regression)
    for path in (regression.folder / "coverage").iterdir():
        path.write_bytes(b"")
    said = summary(regression.folder, regression.records)
    assert len(said["errors"]) == 3
    assert said["measured"] is False


def test_a_stale_waiver_is_an_error(regression):
    fill(regression)
    regression.waivers.write_text(
        WAIVER.replace("q==1 && d==1", "z==1") + WAIVER.replace('name = "(q==1', 'text = "(q==1')
    )
    said = summary(regression.folder, regression.records)
    assert [re.sub(r".*/", "", e) for e in said["errors"]] == [
        "a.sv: (z==1)): it matches nothing",
        "a.sv any more",
    ]


def test_a_bad_file_of_waivers_is_an_error_and_the_rest_counts(regression):
    fill(regression)
    regression.waivers.write_text("[[code]]\n")
    said = summary(regression.folder, regression.records)
    assert "code.1.reason: Field required" in said["errors"][0]
    assert said["runs"] == 3


def test_the_page(regression):
    fill(regression)
    regression.waivers.write_text(WAIVER)
    summary(regression.folder, regression.records)
    page = (regression.folder / annotate.page_of(toy.FILE)).read_text()
    rows = {m[1]: m[0] for m in re.finditer(r'<div class="r [a-z]*" id="L(\d+)">.*?</div>', page, re.DOTALL)}
    assert len(rows) == len(toy.SOURCE.splitlines())
    assert 'class="r hit"' in rows["2"]
    assert ">19</span>" in rows["2"]
    assert 'class="r part"' in rows["3"]
    assert "branch: <code>else</code>" in rows["3"]
    assert 'class="r miss"' in rows["6"]
    assert "waived: d &lt;rests&gt; while q is up" in rows["6"]
    assert "toggle: <code>q[0] 1-&gt;0</code>" in rows["7"]
    assert "q &amp;&amp; d" in rows["6"]
    assert not re.search(r"(src|href)=\"?(https?:)?//", page)


def test_lcov_and_cobertura_say_the_same(regression):
    fill(regression)
    regression.waivers.write_text(
        WAIVER.replace('"expr"', '"branch"').replace('name = "(q==1 && d==1)"', 'text = "if (en"')
    )
    summary(regression.folder, regression.records)
    text = (regression.folder / "lcov.info").read_text().splitlines()
    assert [x for x in text if x.startswith("DA")] == ["DA:2,19", "DA:3,5", "DA:4,0", "DA:5,4", "DA:6,0", "DA:7,0"]
    assert [x for x in text if x.startswith("BRDA")] == ["BRDA:3,0,0,0", "BRDA:3,0,1,5", "BRDA:5,0,0,4"]
    assert {"LF:6", "LH:3", "BRF:3", "BRH:2"} <= set(text)
    root = ET.parse(regression.folder / "cobertura.xml").getroot()
    assert (root.get("lines-valid"), root.get("lines-covered")) == ("6", "3")
    assert (root.get("branches-valid"), root.get("branches-covered")) == ("3", "2")
    assert {(x.get("number"), x.get("hits")) for x in root.iter("line")} == {
        ("2", "19"), ("3", "5"), ("4", "0"), ("5", "4"), ("6", "0"), ("7", "0"),
    }  # fmt: skip
    assert next(root.iter("class")).get("filename") == toy.FILE


def test_waived_lines_and_branches_are_not_exported(regression):
    fill(regression)
    line = WAIVER.replace('"expr"', '"line"').replace('name = "(q==1 && d==1)"', 'text = "else begin"')
    branch = WAIVER.replace('"expr"', '"branch"').replace('name = "(q==1 && d==1)"', 'text = "if (rst)"')
    regression.waivers.write_text(line + branch)
    said = summary(regression.folder, regression.records)
    assert said["errors"] == []
    assert said["totals"]["branch"] == {"hit": 2, "total": 3, "waived": 1}
    assert said["totals"]["line"] == {"hit": 3, "total": 6, "waived": 1}
    text = (regression.folder / "lcov.info").read_text().splitlines()
    assert [x for x in text if x.startswith("DA")] == ["DA:2,19", "DA:3,5", "DA:5,4", "DA:6,0", "DA:7,0"]
    assert [x for x in text if x.startswith("BRDA")] == ["BRDA:3,0,0,5", "BRDA:5,0,0,4"]


def test_bits_are_said_as_ranges():
    names = [f"d[{n}]:0->1" for n in (0, 1, 2, 5)] + ["d[0]:1->0", "d[1]:1->0", "v:0->1", "v:1->0"]
    assert holes.bits(names) == ("d[1:0] 0->1, 1->0", "d[2] 0->1", "d[5] 0->1", "v 0->1, 1->0")
    assert holes.bits(["a[1].b[0]:0->1", "a[1].b[1]:0->1"]) == ("a[1].b[1:0] 0->1",)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0"), (999, "999"), (1234, "1.2k"), (25_416_970, "25M"), (10**15, "1000T")]
)
def test_counts_are_short(count, said):
    assert annotate.short(count) == said


@pytest.mark.parametrize(
    ("cell", "said"), [((0, 0, 0), "–"), ((9999, 10000, 0), "99.9 %"), ((1, 3, 2), "100.0 %"), ((0, 4, 1), "25.0 %")]
)
def test_percent(cell, said):
    assert annotate.percent(dict(zip(("hit", "total", "waived"), cell, strict=True))) == said
