# SPDX-License-Identifier: Apache-2.0
"""The regression's page in headless Chromium, as wide as a phone and as a desk, light and dark."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from scripts.regress import page
from scripts.regress.records import Record
from tests.unit import fake_regression as fake

CHROMIUM = shutil.which("chromium")
PHONE, DESK = (390, 844), (1280, 800)
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter((e) => {
  const box = e.getBoundingClientRect();
  return box.width && (box.right > innerWidth + 1 || box.left < -1) && !e.closest(".scroll, pre, svg");
}).map((e) => e.outerHTML.slice(0, 120))"""
OPEN_ALL = '() => document.querySelectorAll("details").forEach((d) => (d.open = true))'
WIDTH = "() => document.documentElement.scrollWidth"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is not installed")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        # as root, as in a container, Chromium has no sandbox
        found = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Pages by name: the folder of each."""
    root = tmp_path_factory.mktemp("regress")
    found = {}
    for name, data in {"big": fake.make(2000), "bad": fake.make(60), "good": fake.make(212, good=True)}.items():
        found[name] = root / name
        found[name].mkdir()
        fake.files(found[name], data)
        page.render(found[name], data)
    return found


class View:
    """A page that is open, and what its console said."""

    def __init__(self, browser, folder: Path, size=DESK, scheme="light", scripts=True) -> None:
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            offline=True,
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", lambda m: self.said.append(m.text))
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.on("requestfailed", lambda r: self.said.append(f"failed: {r.url}"))
        self.page.goto((folder / page.FILE).as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", ["bad", "good"])
def test_nothing_overflows(browser, places, name, size, scheme):
    with View(browser, places[name], size, scheme) as v:
        assert v.page.evaluate(WIDTH) <= size[0]
        assert v.page.evaluate(OUTSIDE) == []
        v.page.evaluate(OPEN_ALL)
        assert v.page.evaluate(WIDTH) <= size[0]
        assert v.page.evaluate(OUTSIDE) == []
        assert v.said == []


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_long_names_do_not_overflow(browser, tmp_path, size):
    text = json.dumps([r.model_dump(by_alias=True) for r in fake.make(60).records])
    data = fake.make(60)
    long = "n" * 180
    for part in ("functional", "testplan", "mutants", "code", "buckets", "trend", "summary"):
        kept = json.dumps(getattr(data, part))
        for name in ("link", "frame.size", "smoke_point", "random_traffic", "rtl/link", "killed by", "default for"):
            kept = kept.replace(name, f"{name}{long}")
        setattr(data, part, json.loads(kept))
    for old in ("random_traffic", "near_wrap", '"link'):
        text = text.replace(old, f"{old}{long}")
    data.records = [Record.model_validate(r) for r in json.loads(text)]
    data.plan = data.plan.model_copy(update={"id": long, "profile": long, "commit": long})
    data.problems.append(f"{long}/{long}")
    page.render(tmp_path, data)
    assert data.problems == [f"{long}/{long}"]
    with View(browser, tmp_path, size) as v:
        v.page.evaluate(OPEN_ALL)
        assert v.page.evaluate(OUTSIDE) == []
        assert v.page.evaluate(WIDTH) <= size[0]


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_two_thousand_jobs_fit_and_stay_quick(browser, places, size):
    with View(browser, places["big"], size) as v:
        v.page.evaluate(OPEN_ALL)
        assert v.page.evaluate(WIDTH) <= size[0]
        took = v.page.evaluate(
            """() => { const at = performance.now(); const box = document.getElementById("words");
            box.value = "icarus wire"; box.dispatchEvent(new Event("input")); document.body.offsetHeight;
            return performance.now() - at; }"""
        )
        assert took < 2000
        assert v.said == []


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize(("name", "word"), [("bad", "FAIL"), ("good", "PASS")])
def test_the_verdict_is_seen_first(browser, places, name, word, size):
    with View(browser, places[name], size) as v:
        head = v.page.locator("h1")
        assert head.inner_text() == word
        box = head.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < size[1] / 3
        lead = v.page.locator(".lead").bounding_box()
        assert lead is not None
        assert lead["y"] + lead["height"] < size[1]
        assert v.page.title().startswith(word)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(browser, places, scheme):
    """Contrast of 4.5 (WCAG 2 AA, normal text) between each colour of text and the page."""
    contrast = """(names) => {
      const style = getComputedStyle(document.documentElement), probe = document.createElement("i");
      document.body.append(probe);
      const light = (name) => {
        probe.style.color = style.getPropertyValue(name);
        const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map((x) => {
          const c = x / 255;
          return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      return names.flatMap((n) => ["--page", "--panel"].map((ground) => {
        const [a, b] = [light(n), light(ground)].sort((x, y) => y - x);
        return [n, ground, (a + 0.05) / (b + 0.05)];
      }));
    }"""
    names = ["--ink", "--soft", "--accent", "--good", "--bad", "--warn"]
    with View(browser, places["good"], DESK, scheme) as v:
        assert [x for x in v.page.evaluate(contrast, names) if x[2] < 4.5] == []


def test_a_link_opens_the_folds_around_its_target(browser, places):
    with View(browser, places["bad"]) as v:
        row = v.page.locator("#j-5")
        assert not row.is_visible()
        v.page.locator('#failures ~ details a[href="#j-5"]').first.click()
        row.wait_for(state="visible")
        box = row.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < DESK[1]
        v.page.evaluate("() => (document.getElementById('alljobs').open = false)")
        v.page.locator('#failures ~ details a[href="#j-5"]').first.click()
        row.wait_for(state="visible")
        v.page.goto((places["bad"] / page.FILE).as_uri() + "#c-link-frame.size")
        v.page.locator("[id='c-link-frame.size'] table").wait_for(state="visible")


def test_filter_and_sort(browser, places):
    data = fake.make(60)
    with View(browser, places["bad"]) as v:
        v.page.locator("#alljobs > summary").click()
        shown = v.page.locator("#joblist tbody tr:visible")
        assert shown.count() == 60
        v.page.fill("#words", "ICARUS  wire")
        wanted = [r for r in data.records if r.job.sim == "icarus" and r.job.block == "wire"]
        assert shown.count() == len(wanted) > 0
        assert v.page.locator("#shown").inner_text() == f"{len(wanted)} of 60"
        v.page.fill("#words", "")
        v.page.select_option("#verdict", "timeout")
        assert shown.count() == sum(r.verdict == "timeout" for r in data.records) == 1
        v.page.select_option("#verdict", "")
        v.page.locator("#tests ~ table a[data-filter]").first.click()
        name = v.page.input_value("#words")
        assert name in {f"{r.job.block}/{r.job.test}" for r in data.records}
        assert shown.count() == sum(name == f"{r.job.block}/{r.job.test}" for r in data.records) > 0
        v.page.fill("#words", "")
        head = v.page.locator("#joblist th", has_text="seconds")
        head.click()
        column = "() => [...document.querySelectorAll('#joblist tbody tr')].map((r) => +r.cells[6].textContent || 0)"
        assert (up := v.page.evaluate(column)) == sorted(up)
        head.press("Enter")
        assert v.page.evaluate(column) == sorted(up, reverse=True)
        assert head.get_attribute("aria-sort") == "descending"
        assert v.said == []


def test_copies_the_command(browser, places):
    with View(browser, places["bad"]) as v:
        v.context.grant_permissions(["clipboard-read", "clipboard-write"])
        box = v.page.locator(".cmd").first
        box.locator("button").click()
        v.page.wait_for_function("() => document.querySelector('.cmd button').textContent !== 'copy'")
        assert v.page.evaluate("() => navigator.clipboard.readText()") == box.locator("code").inner_text()


def test_without_scripts(browser, places):
    with View(browser, places["bad"], scripts=False) as v:
        assert v.page.locator("h1").inner_text() == "FAIL"
        assert not v.page.locator("#filter").is_visible()
        v.page.locator("#alljobs > summary").click()
        assert v.page.locator("#joblist tbody tr").last.is_visible()


def test_hostile_texts_run_nothing(browser, places):
    with View(browser, places["bad"]) as v:
        assert "broken" not in v.page.title()
        assert v.page.locator("script").count() == 1
