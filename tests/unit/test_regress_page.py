# SPDX-License-Identifier: Apache-2.0
"""The regression's page as a document: what it says, where its links lead, what hostile input does to it."""

from __future__ import annotations

import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from scripts.common import UserError
from scripts.regress import page, views, views_mutants, views_parts, views_plan
from scripts.regress.figures import more_is_better, worst
from scripts.regress.links import Links
from scripts.regress.records import Record
from scripts.report import Figure
from tests.unit import fake_regression as fake

MOST_BYTES = 5_000_000
MOST_SECONDS = 10
VOID = {"meta", "link", "input", "br", "hr", "img"}
MAY_STAY_OPEN = {"tr", "td", "th"}


class Page(HTMLParser):
    """Ids, links, sources, texts; `wrong`: tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[str] = []
        self.scripts = 0
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.wrong += [f"left open: {t}" for t in self._open]

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append(tag)
        self.scripts += tag == "script"
        if values.get("id"):
            self.ids.append(values["id"])
        href = values.get("href")
        if href is not None and tag in ("a", "use"):
            self.links.append(href)
        self.sources += [v for k, v in attrs if k in ("src", "srcset", "data") and v]
        if tag == "link" and href:
            self.sources.append(href)
        if tag in MAY_STAY_OPEN:
            while self._open and self._open[-1] in (MAY_STAY_OPEN if tag == "tr" else {"td", "th"}):
                self._open.pop()
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        while self._open and self._open[-1] != tag and self._open[-1] in MAY_STAY_OPEN:
            self._open.pop()
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"{tag} at {self.getpos()}")


def made(folder: Path, data: page.PageData, *, files: bool = True) -> str:
    if files:
        fake.files(folder, data)
    page.render(folder, data)
    return (folder / page.FILE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """2,000 jobs: the folder, the page's text, the seconds that it took."""
    folder = tmp_path_factory.mktemp("regress") / "big"
    folder.mkdir()
    data = fake.make(2000)
    fake.files(folder, data)
    started = time.monotonic()
    page.render(folder, data)
    seconds = time.monotonic() - started
    assert data.problems == []
    return folder, (folder / page.FILE).read_text(encoding="utf-8"), seconds


def test_two_thousand_jobs_are_quick_and_small(big):
    _, text, seconds = big
    assert seconds < MOST_SECONDS
    assert len(text.encode()) < MOST_BYTES


def test_every_link_leads_somewhere(big):
    folder, text, _ = big
    found = Page(text)
    assert len(found.ids) == len(set(found.ids))
    ids = set(found.ids)
    inside = [x for x in found.links if x[0] == "#"]
    outside = [x.partition("#")[0] for x in found.links if x[0] != "#"]
    assert [x for x in inside if x[1:] not in ids] == []
    assert [x for x in outside if not (folder / unquote(x)).exists()] == []
    files = {x for x in found.links if x[0] != "#"}
    # a report and a log of each job that ran
    assert len(files) > 3500
    assert "../20261129-083000-nightly/index.html" in files
    assert "source/rtl/link/link_rx.sv.html" in files
    assert "source/rtl/link/link_rx.sv.html#L9" in files


def test_nothing_comes_from_elsewhere(big):
    found = Page(big[1])
    assert found.sources == ["data:,"]
    assert "http://" not in big[1]
    assert "https://" not in big[1]
    assert "@import" not in big[1]
    assert not {"img", "iframe", "object", "embed"} & set(found.tags)


def test_hostile_texts_do_not_break_it(big):
    text = big[1]
    found = Page(text)
    assert found.wrong == []
    # its own, at the end
    assert found.scripts == 1
    assert "&lt;script&gt;document.title=" in text
    assert not [c for c in text if ord(c) < 32 and c not in "\n\t"]
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "日本語 🚀" in text


def test_half_characters_and_terminal_codes_next_to_markup(tmp_path):
    data = fake.make(24, good=True)
    nasty = "half \ud800 pair, cut \x1b[ and \x1b[38;5 and \x1b]0;title and \x9b31m \x1b"
    data.records[0] = data.records[0].model_copy(update={"verdict": "fail", "reason": nasty, "lines": [nasty] * 3})
    data.buckets = fake._buckets(data.records)
    found = Page(made(tmp_path, data))
    assert found.wrong == []
    assert data.problems == []


def test_a_file_that_is_not_there_gets_no_link(tmp_path):
    data = fake.make(60)
    folder = tmp_path / "r"
    folder.mkdir()
    found = Page(made(folder, data, files=False))
    assert [x for x in found.links if x[0] != "#"] == []


def test_places_whose_names_look_alike_are_two(tmp_path):
    links = Links(tmp_path)
    names = [("t", "a-b", "c"), ("t", "a", "b-c"), ("t", "a", "b c"), ("t", "a", "ü<")]
    ids = [links.place(*n) for n in names]
    assert len(set(ids)) == 4
    assert [links.to(*n) for n in names] == [f"#{i}" for i in ids]
    assert links.place(*names[1]) == ids[1]
    assert links.to("t", "a") is None


def test_names_that_urls_must_quote(tmp_path):
    data = fake.make(1, good=True)
    data.records[0] = data.records[0].model_copy(update={"log": "jobs/00001/a1/100% #1?.log"})
    found = Page(made(tmp_path, data))
    assert "jobs/00001/a1/100%25%20%231%3F.log" in found.links


class TestVerdict:
    def test_all_passed(self):
        assert views.verdict(fake.make(212, good=True)) == ("pass", "All 212 jobs passed.")

    def test_failures(self):
        data = fake.make(60)
        word, said = views.verdict(data)
        assert word == "fail"
        assert said == "4 of 60 jobs failed (2 fail, 1 error, 1 timeout) in 4 buckets; 1 failed as expected; 1 not run."

    def test_not_run_is_no_pass(self):
        data = fake.make(10, good=True)
        data.records[3] = data.records[3].model_copy(update={"verdict": "notrun"})
        assert views.verdict(data) == ("error", "9 of 10 jobs passed; 1 not run.")

    def test_problems_are_no_pass(self):
        data = fake.make(10, good=True)
        data.problems.append("jobs/00001/record.json: not JSON")
        assert views.verdict(data) == ("error", "All 10 jobs passed; the tool met 1 problem.")

    def test_nothing_is_no_pass(self):
        data = fake.make(1, good=True)
        data.records.clear()
        assert views.verdict(data)[0] == "error"

    def test_known_failures_pass(self):
        data = fake.make(14)
        data.records = [r for r in data.records if r.verdict == "pass" or r.known]
        assert any(r.known for r in data.records)
        word, said = views.verdict(data)
        assert (word, said) == ("pass", "9 jobs passed; 1 failed as expected.")


def test_partial_and_problems_stand_at_the_top(tmp_path):
    data = fake.make(60)
    data.problems.append("jobs/00003/record.json: not JSON: <eof>")
    text = made(tmp_path, data)
    head = text[: text.index("<section>")]
    assert "Partial:" in head
    assert "59 of 60" in head
    assert "record.json: not JSON: &lt;eof&gt;" in head
    assert "Partial:" not in page.html(tmp_path, fake.make(60, good=True))


def test_not_measured_is_never_a_number(tmp_path):
    data = fake.make(24, good=True)
    data.code = data.functional = data.testplan = data.mutants = data.trend = None
    data.records = [r.model_copy(update={"figures": {}}) for r in data.records]
    text = made(tmp_path, data)
    assert data.problems == []
    assert Page(text).wrong == []
    for said in (
        "targets met: not measured",
        "line coverage: not measured",
        "functional coverage: not measured",
        "test points closed: not measured",
        "mutants killed: not measured",
        "Code coverage was not measured.",
        "Functional coverage was not measured.",
        "No earlier runs are known.",
    ):
        assert said in text
    body = text[text.index("<body>") : text.index("<script>")]
    assert " %" not in body


def test_measured_false_is_not_measured(tmp_path):
    data = fake.make(24, good=True)
    data.code = {"measured": False, "runs": 0, "totals": {"line": {"hit": 0, "total": 0, "waived": 0}}, "blocks": {}}
    text = made(tmp_path, data)
    assert "Code coverage was not measured." in text
    assert "line coverage: not measured" in text


@pytest.mark.parametrize("part", ["buckets", "code", "functional", "testplan", "mutants", "trend"])
@pytest.mark.parametrize("broken", [{"blocks": 7, "measured": True}, [1, None], "text", {"blocks": {"wire": None}}])
def test_a_broken_part_costs_only_itself(tmp_path, part, broken):
    data = fake.make(60)
    setattr(data, part, broken)
    text = made(tmp_path, data, files=False)
    assert Page(text).wrong == []
    assert "4 of 60 jobs failed" in text
    assert 'id="joblist"' in text
    # what could not be shown is named, or else was empty
    assert all("cannot be shown" in p for p in data.problems)


def test_a_part_that_its_template_cannot_show_costs_only_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(views_plan, "testplan", lambda *_: {"counts": 7, "blocks": [], "total": 0, "closed": 0})
    data = fake.make(60)
    text = made(tmp_path, data, files=False)
    assert Page(text).wrong == []
    assert any(p.startswith("Test plan: cannot be shown: ") for p in data.problems)
    head = text[: text.index("<section>")]
    assert "Test plan: cannot be shown" in head
    assert '<h2 id="testplan">' in text
    assert '<h2 id="mutants">' in text


def test_what_is_not_known_of_a_point_is_said(tmp_path):
    data = fake.make(60)
    text = made(tmp_path, data)
    plan = text[text.index('id="tp-doorbell"') : text.index('id="tp-fabric"')]
    assert "not measured:" in plan
    assert "×0" not in plan
    assert ">0 of " not in plan
    assert "None" not in text


def test_every_job_has_a_row_and_every_bad_one_a_bucket(big):
    _, text, _ = big
    data = fake.make(2000)
    assert text.count("<tr id=j-") == 2000
    by_bucket = {n for b in data.buckets for n in b["jobs"]}
    assert by_bucket == {r.job.number for r in data.records if r.bad}
    failures = text[text.index('id="failures"') : text.index('id="figures"')]
    assert all(f'href="#j-{n}"' in failures for n in by_bucket)


def test_points_tests_bins_and_mutants_are_linked_both_ways(big):
    text = big[1]
    plan = text[text.index('id="testplan"') : text.index('id="mutants"')]
    tests = text[text.index('id="tests"') : text.index('id="jobs"')]
    coverage = text[text.index('id="coverage"') : text.index('id="testplan"')]
    mutants = text[text.index('id="mutants"') : text.index('id="trend"')]
    for place in ("#t-link-smoke", "#c-link-frame.size", "#m-link-link_fault_0"):
        assert f'href="{place}"' in plan
    for part in (tests, coverage, mutants):
        assert 'href="#p-link-smoke_point"' in part
    assert 'href="#t-link-smoke"' in mutants
    assert 'href="source/rtl/link/link_rx.sv.html#L8"' in mutants


class TestFigures:
    def test_which_side_is_better(self):
        def figure(value, target, passed):
            return more_is_better(Figure(value=value, unit="", target=target, passed=passed))

        assert not figure(100, 260, True)
        assert not figure(300, 260, False)
        assert figure(12, 10, True)
        assert figure(9, 10, False)

    def test_the_worst_run_counts(self):
        def record(number: int, value: float, passed: bool, target: float) -> Record:
            r = fake.make(1, good=True).records[0]
            job = r.job.model_copy(update={"number": number})
            f = Figure(value=value, unit="x", target=target, passed=passed)
            return r.model_copy(update={"job": job, "figures": {"f": f, "no_target": Figure(value=1, unit="x")}})

        [low] = worst([record(1, 5, True, 10), record(2, 8, True, 10), record(3, 7, True, 10)])
        assert (low.value, low.record.job.number, low.ok, low.runs, low.low, low.high) == (8, 2, True, 3, 5, 8)
        [high] = worst([record(1, 15, True, 10), record(2, 12, True, 10)])
        assert (high.value, high.record.job.number) == (12, 2)
        [missed] = worst([record(1, 15, True, 10), record(2, 9, False, 10), record(3, 8, False, 10)])
        assert (missed.value, missed.ok, missed.missed) == (8, False, 2)
        assert missed.used == pytest.approx(1.25)

    def test_zero_is_a_value(self):
        r = fake.make(1, good=True).records[0]
        r = r.model_copy(update={"figures": {"lost": Figure(value=0, unit="frames", target=0, passed=True)}})
        [w] = worst([r])
        assert (w.ok, w.used) == (True, 0.0)


def test_percent_is_never_rounded_up():
    assert views_parts.percent_text(9999, 10000) == "99.9 %"
    assert views_parts.percent_text(10000, 10000) == "100 %"
    assert views_parts.percent_text(0, 10) == "0.0 %"
    assert views_parts.percent_text(29, 100) == "29.0 %"


def test_scores_of_mutants():
    def score(operators=None, hand=None):
        targets = {"hand": 100, "operators": 95}
        return views_mutants.mutant_score({"operators": operators or {}, "hand": hand or {}}, targets)

    assert views_mutants.mutant_score(None) is None
    assert score() is None
    sampled = score({"killed": 19, "survived": 1, "equivalent": 3, "error": 2, "total": 25})
    assert sampled is not None
    assert (sampled["text"], sampled["low"]) == ("95.0 %", False)
    below = score({"killed": 18, "survived": 1}, {"killed": 8, "total": 8})
    assert below is not None
    assert (below["ops_low"], below["hand_low"]) == (True, False)
    forgotten = score({"killed": 19, "survived": 1}, {"killed": 7, "total": 8})
    assert forgotten is not None
    assert (forgotten["ops_low"], forgotten["hand_low"], forgotten["low"]) == (False, True, True)
    hand = score({"killed": 0, "survived": 0, "total": 0}, {"killed": 8, "total": 8})
    assert hand is not None
    assert (hand["text"], hand["kind"], hand["low"]) == ("100 %", "hand-written", False)


def test_a_large_cross_lists_its_holes(tmp_path):
    data = fake.make(24, good=True)
    assert data.functional is not None
    bins = {f"bin{n}": {"hits": n % 50, "at_least": 1, "points": ["smoke_point"], "waived": None} for n in range(5000)}
    cover = {"kind": "cross", "hit": 4900, "total": 5000, "bins": bins}
    data.functional["blocks"]["link"]["covers"]["big.cross"] = cover
    text = made(tmp_path, data)
    assert "4900 bins that were hit are left out here" in text
    assert "<td>bin50<" in text
    assert "<td>bin51<" not in text


def test_a_page_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / page.FILE).mkdir()
    with pytest.raises(UserError, match=r"index\.html: cannot be written"):
        page.render(tmp_path, fake.make(5, good=True))
    assert not list(tmp_path.glob(".index*"))
