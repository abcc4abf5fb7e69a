# SPDX-License-Identifier: Apache-2.0
"""Waivers: each says why and since when, and one that waives nothing is an error."""

from __future__ import annotations

import re

import pytest

from scripts.coverage import waivers
from scripts.coverage.waivers import Code, Functional, Use, WaiverError
from tests.unit import coverage_toy as toy

CODE = """[[code]]
file = "rtl/a/a.sv"
kind = "branch"
text = "if (rst)"
reason = "cannot happen here"
date = 2026-01-31
"""
BIN = """[[functional]]
block = "link"
cover = "credits.level"
bin = "none"
reason = "cannot happen here"
date = 2026-01-31
"""


def folder(tmp_path, content: str):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.toml").write_text(content)
    return tmp_path / "w"


def test_they_are_read(tmp_path):
    found = waivers.load(folder(tmp_path, CODE + BIN))
    assert found.code[0].kind == ["branch"]
    assert str(found.code[0].date) == "2026-01-31"
    assert found.code[0].where.endswith("a.toml: code 1 (rtl/a/a.sv: if (rst))")
    assert found.functional[0].where.endswith("a.toml: functional 1 (link credits.level none)")


def test_no_folder_is_no_waivers(tmp_path):
    assert waivers.load(tmp_path / "none") == waivers.Waivers()


def test_the_projects_own_are_good():
    found = waivers.load()
    assert [waivers.stale(w, Use(judged=False)) for w in found.code] == [None] * len(found.code)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('reason = "cannot happen here"\n', "", "code.1.reason: Field required"),
        ('reason = "cannot happen here"\n', 'reason = "so"\n', "code.1.reason: .*at least 10"),
        ("date = 2026-01-31\n", "", "code.1.date: Field required"),
        ("date = 2026-01-31\n", 'date = "soon"\n', "code.1.date: "),
        ('kind = "branch"', 'kind = "brunch"', "code.1.kind.1: "),
        ('text = "if (rst)"', "line = 12", "code.1.line: Extra inputs"),
        ('text = "if (rst)"\n', "", "text or name must say"),
        ('kind = "branch"\ntext = "if (rst)"', 'kind = "line"\nname = "x"', "a line has no name"),
        ("[[code]]", "[[cod]]", "cod: Extra inputs"),
        ("[[code]]", "[[code", "not TOML"),
    ],
)
def test_a_bad_entry_is_named(tmp_path, old, new, said):
    assert old in CODE
    with pytest.raises(WaiverError, match=rf"a\.toml: .*{said}"):
        waivers.load(folder(tmp_path, CODE.replace(old, new)))


BINS = {("link", "credits.level", "none"): 0, ("link", "credits.level", "all"): 3, ("rdma", "credits.level", "none"): 0}


def use(**other):
    waiver = Functional(**{"block": "link", "cover": "credits.level", "bin": "none", "date": "2026-01-31",
                           "reason": "cannot happen here", "where": "a.toml: functional 1", **other})  # fmt: skip
    reasons, uses = waivers.apply([waiver], [(name, hits > 0) for name, hits in BINS.items()])
    return reasons, waivers.stale(waiver, uses[0])


def test_a_bin_is_waived():
    assert use() == ({("link", "credits.level", "none"): "cannot happen here"}, None)


def test_a_star_stands_for_any_text():
    assert set(use(bin="*")[0]) == {("link", "credits.level", "none")}
    assert use(bin="n?ne")[1] == "a.toml: functional 1: it matches nothing"


def test_a_bin_that_is_hit_needs_no_waiver():
    assert use(bin="all") == ({}, "a.toml: functional 1: all that it matches (1) is hit; remove it")


def test_a_bin_that_is_gone():
    assert use(bin="some") == ({}, "a.toml: functional 1: it matches nothing")


def test_a_block_that_did_not_run_says_nothing():
    assert use(block="switch") == ({}, None)


@pytest.fixture
def source(tmp_path, monkeypatch):
    (tmp_path / "rtl" / "a").mkdir(parents=True)
    (tmp_path / toy.FILE).write_text(toy.SOURCE)
    monkeypatch.setattr(waivers, "ROOT", tmp_path)


@pytest.mark.parametrize(
    ("other", "used", "said"),
    [
        ({}, Use(2, 1), None),
        ({}, Use(2, 0), r"all that it matches \(2\) is hit"),
        ({}, Use(0, 0), "matches nothing"),
        ({}, Use(0, 0, judged=False), None),
        ({"text": "if (gone)"}, Use(0, 0, judged=False), "its text is not in rtl/a/a.sv any more"),
        ({"file": "rtl/a/b.sv"}, Use(0, 0, judged=False), "no such file 'rtl/a/b.sv'"),
    ],
)
def test_stale_code(source, other, used, said):
    waiver = Code(**{"file": toy.FILE, "kind": "branch", "text": "if (rst)", "reason": "cannot happen here",
                     "date": "2026-01-31", "where": "a.toml: code 1", **other})  # fmt: skip
    found = waivers.stale(waiver, used)
    assert re.fullmatch(f"a.toml: code 1: .*{said}.*" if said else "", found or "")
