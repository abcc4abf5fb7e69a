# SPDX-License-Identifier: Apache-2.0
"""Sums, the waterfall, and how numbers are written."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

from scripts import page, report


def stage(name, ns, cycles=None, budget=None, model=None):
    kind = "constant" if cycles is None else "rtl"
    fields = {"path": "p", "name": name, "cycles": cycles, "ns": ns, "budget_ns": budget}
    return {**fields, "model_cycles": model, "kind": kind, "mark": "A" if cycles is None else None}


STAGES = [stage("rx <PHY>", 64.0, budget=64.0), stage("core", 20.0, 20, 94.0, 20), stage("tx", 30.0, 30, 24.0, 29)]


def test_sums():
    sums = report.total(STAGES)
    assert sums == {
        "cycles": 50, "ns": 114.0, "rtl_ns": 50.0, "constant_ns": 64.0, "budget_ns": 182.0, "model_cycles": 49,
        "difference": 1,
    }  # fmt: skip
    assert report.total([stage("a", 1.0), stage("b", 2.0)])["budget_ns"] is None


def test_waterfall_starts_each_bar_where_the_last_ended():
    svg = ET.fromstring(page.waterfall(STAGES))
    bars = [r for r in svg.iter("rect") if r.get("class") != "budget"]
    assert [b.get("class") for b in bars] == ["constant", "rtl", "bad"]
    edges = [(float(b.get("x", "0")), float(b.get("width", "0"))) for b in bars]
    for (x, w), (following, _) in itertools.pairwise(edges):
        assert abs(x + w - following) < 0.2
    assert "rx <PHY>" in [t.text for t in svg.iter("text")]


def test_main_path_is_first():
    fields = {"stages": [stage("a", 1.0), {**stage("b", 1.0), "path": "q"}]}
    assert report.paths_of(fields, "q") == ["q", "p"]
    assert report.paths_of(fields, None) == ["p", "q"]


def test_shared_conditions_are_said_once():
    def figure(target, **conditions):
        return {"target": target, "conditions": conditions}

    figures = {"a": figure(1, clock=1, load="zero"), "b": figure(2, clock=1, load="full"), "c": figure(None, x=1)}
    assert report.shared_conditions(figures) == {"clock": 1}
    assert report.shared_conditions({"a": figures["a"]}) == {}


def test_numbers():
    assert report.number(None) == "-"
    assert report.number(12.50) == "12.5"
    assert report.number(12.0) == "12"
    assert report.number(1234567) == "1,234,567"
