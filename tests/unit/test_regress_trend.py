# SPDX-License-Identifier: Apache-2.0
"""The history of regressions, its drawings, and JUnit's format."""

from __future__ import annotations

import json
import multiprocessing
import re
import xml.etree.ElementTree as ET

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from scripts.common import UserError
from scripts.regress import junit, trend
from scripts.regress.charts import RUNS, charts
from tests.unit import fake_regression as fake

SVG = "{http://www.w3.org/2000/svg}"


def entry(n: int, **fields):
    return {"id": f"r{n}", "when": f"2026-11-{n:02d}", "profile": "smoke", "passed": n, "jobs": 100, **fields}


class TestHistory:
    def test_grows_by_one_line_a_regression(self, tmp_path):
        history = tmp_path / "new" / "history.jsonl"
        for n in (1, 2, 3):
            got = trend.update(history, entry(n))
        assert [e["id"] for e in got] == ["r1", "r2", "r3"]
        assert len(history.read_text().splitlines()) == 3
        assert trend.read(history) == got

    def test_the_same_id_takes_the_place_of_the_old_one(self, tmp_path):
        history = tmp_path / "history.jsonl"
        for n in (1, 2):
            trend.update(history, entry(n))
        got = trend.update(history, entry(1, passed=77))
        assert [(e["id"], e["passed"]) for e in got] == [("r2", 2), ("r1", 77)]
        assert len(history.read_text().splitlines()) == 2

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            (b'{"id": "half', r"not JSON"),
            (b"\xff\xfe\x00", r"not JSON"),
            (b"[1, 2]", r"line: .*dictionary"),
            (b'{"id": "x", "when": "", "profile": "", "passed": -1, "jobs": 2}', r"passed: "),
            (b'{"id": "x"}', r"when: "),
        ],
    )
    def test_a_line_that_is_no_entry_is_named_once_and_left_out(self, tmp_path, line, said):
        history = tmp_path / "history.jsonl"
        trend.update(history, entry(1))
        with history.open("ab") as f:
            f.write(line + b"\n")
        problems: list[str] = []
        got = trend.update(history, entry(3), problems)
        assert [e["id"] for e in got] == ["r1", "r3"]
        [text] = problems
        assert re.search(rf"history\.jsonl:2: .*{said}.*left out", text)
        assert line not in history.read_bytes()
        trend.update(history, entry(4), problems)
        assert problems == [text], "it is no problem of every regression to come"
        # and nobody's wish to hear of it is fine too
        trend.update(history, entry(4))

    def test_a_last_line_without_its_end(self, tmp_path):
        history = tmp_path / "history.jsonl"
        history.write_text(json.dumps(entry(1)))
        assert [e["id"] for e in trend.update(history, entry(2))] == ["r1", "r2"]

    def test_not_writable(self, tmp_path):
        (tmp_path / "history.jsonl").mkdir()
        with pytest.raises(UserError, match=r"history\.jsonl"):
            trend.update(tmp_path / "history.jsonl", entry(1))

    def test_two_at_once_lose_nothing(self, tmp_path):
        history = tmp_path / "history.jsonl"
        workers = [multiprocessing.Process(target=_ten, args=(history, n)) for n in (1, 2)]
        for w in workers:
            w.start()
        for w in workers:
            w.join(60)
        assert len(trend.read(history)) == 20


def _ten(history, worker):
    for n in range(10):
        trend.update(history, entry(1 + n, id=f"{worker}.{n}"))


def test_an_entry_holds_what_was_measured():
    data = fake.make(60)
    e = trend.entry(data.plan, data.records, data.code, data.functional)
    assert (e.jobs, e.profile, e.id) == (60, "nightly", data.plan.id)
    # known failures count as passed
    assert e.passed == sum(r.verdict == "pass" for r in data.records) + 1
    assert data.code is not None
    line = data.code["totals"]["line"]
    assert e.coverage["line"] == pytest.approx(100 * (line["hit"] + line["waived"]) / line["total"])
    assert e.figures["fabric/account/hop_ns"] in (101, 102, 103)
    assert "wire/smoke/cycles" not in e.figures
    nothing = trend.entry(data.plan, data.records, None, None)
    assert nothing.functional is None
    assert set(nothing.coverage.values()) == {None}
    unmeasured = trend.entry(data.plan, data.records, {"measured": False, "totals": {}}, {"blocks": {}})
    assert unmeasured.functional is None
    assert set(unmeasured.coverage.values()) == {None}


class TestCharts:
    def test_text_stays_text_and_colours_are_the_pages(self):
        entries = fake.make(60).trend
        assert entries is not None
        found = {f"{c['title']} {c['unit']}".strip(): c["svg"] for c in charts(entries)}
        assert list(found) == ["pass rate %", "coverage %", "other figures", "figures cycles", "figures ns"]
        ids = []
        for svg in found.values():
            root = ET.fromstring(svg.replace("<svg ", f'<svg xmlns="{SVG[1:-1]}" ', 1))
            assert root.get("viewBox") == "0 0 360 210"
            assert root.get("width") is None
            assert re.search(r"#[0-9a-f]{6}\b", svg) is None
            assert "http" not in svg
            assert "<style" not in svg
            ids += re.findall(r'\bid="([^"]+)"', svg)
            for use in re.findall(r'(?:href="#|url\(#)([^")]+)', svg):
                assert use in ids
        assert len(ids) == len(set(ids))
        texts = [t.text or "" for t in ET.fromstring(found["figures ns"]).iter("text")]
        assert any(t.strip().startswith("hop ") for t in texts)
        # a variant of a figure is not drawn
        assert not any("d2d_inline" in t for t in texts)

    def test_only_the_last_runs_of_this_profile(self):
        entries = [entry(n % 28 + 1, id=f"s{n}") for n in range(40)] + [entry(1, id="n", profile="nightly", passed=100)]
        [one] = charts(entries)
        assert one["text"] == "passed 100 %"
        assert one["svg"].count("<use") == 1
        [many] = charts(entries[:-1])
        assert many["svg"].count("<use") == RUNS

    def test_nothing_to_draw(self):
        assert charts([]) == []
        assert charts([entry(1, jobs=0, passed=0)]) == []

    def test_gaps_and_single_points(self):
        gap = [entry(n, coverage={"line": None if n == 2 else 50.0 + n}) for n in (1, 2, 3)]
        assert [c["title"] for c in charts(gap)] == ["pass rate", "coverage"]
        assert len(charts([entry(1, functional=0.0)])) == 2


class TestJunit:
    def test_each_job_is_a_case(self, tmp_path):
        data = fake.make(400)
        path = junit.write(tmp_path, data.records)
        read = JUnitXml.fromfile(str(path))
        cases = [c for suite in read for c in suite]
        assert len(cases) == read.tests == 400
        kinds = {"pass": 0, "fail": 0, "error": 0, "skipped": 0}
        for c in cases:
            result = c.result[0] if c.result else None
            kind = {Failure: "fail", Error: "error", Skipped: "skipped", type(None): "pass"}[type(result)]
            kinds[kind] += 1
        wanted = [
            "skipped"
            if r.known or r.verdict == "notrun"
            else "error"
            if r.verdict in ("error", "timeout")
            else r.verdict
            for r in data.records
        ]
        assert kinds == {k: wanted.count(k) for k in kinds}
        assert min(kinds.values()) > 0
        assert read.failures == kinds["fail"]
        assert read.errors == kinds["error"]
        assert read.skipped == kinds["skipped"]

    def test_names_properties_and_hostile_texts(self, tmp_path):
        data = fake.make(5)
        root = ET.parse(junit.write(tmp_path, data.records)).getroot()
        [case] = [c for c in root.iter("testcase") if c.get("classname") == "fabric.near_wrap.verilator"]
        assert case.get("name") == "account seed 39595"
        properties = {p.get("name"): p.get("value") for p in case.iter("property")}
        assert properties["seed"] == "39595"
        assert properties["command"] == data.records[4].command
        failure = case.find("failure")
        assert failure is not None
        assert "<script>" in (failure.get("message") or "")
        assert "red" in (failure.text or "")
        assert "\x1b" not in ET.tostring(root, encoding="unicode")

    def test_not_writable(self, tmp_path):
        (tmp_path / junit.FILE).mkdir()
        with pytest.raises(UserError, match=r"junit\.xml: cannot be written"):
            junit.write(tmp_path, fake.make(2).records)
