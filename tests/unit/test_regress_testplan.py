# SPDX-License-Identifier: Apache-2.0
"""States of test points: every state and what moves a point from one to the next."""

import json

import pytest

from scripts.blocks import Blocks
from scripts.regress import testplan
from scripts.regress.records import UNEXPECTED, Job, Record
from tb.common.coverage import BinInfo

PLAN = """[[point]]
id = "b"
feature = "f"
intent = "x"
kind = "random"
rules = ["R2", "R1"]
tests = ["two", "one"]
mutants = ["m1", "m2"]

[[point]]
id = "a"
feature = "f"
intent = "y"
kind = "directed"
tests = ["pair/joined"]

[[point]]
id = "untested"
feature = "g"
intent = "z"
kind = "negative"
tests = []

[[point]]
id = "uncounted"
feature = "g"
intent = "z"
kind = "negative"
tests = ["one"]
"""
BINS = {"toy": (BinInfo("g.c", "x", ("b",), "cover", 1), BinInfo("g.c", "y", ("b", "untested"), "cover", 1)),
        "toy_pair": (BinInfo("p.c", "z", ("a",), "cover", 1),)}  # fmt: skip
NOTHING = {"blocks": {}, "holes": [], "errors": []}


def block(*tests):
    return {"summary": "s", "rtl": [], "tb": ["t"], "top": "t", "default_test": tests[0],
            "tests": {t: {"module": "m", "summary": "s"} for t in tests}}  # fmt: skip


SPEC = Blocks.model_validate(
    {"seed": 1, "default_block": "toy", "blocks": {"toy": block("one", "two"), "toy_pair": block("joined")}}
)


class Judge:
    """judge(records, functional, mutants) -> {id: point} of the toy's plan; `all`: the whole summary."""

    def __init__(self, folder):
        self.folder, self.plans = folder, folder / "plans"
        self.plans.mkdir()
        (self.plans / "toy.toml").write_text(PLAN)
        self.all = {}

    def __call__(self, records, functional=NOTHING, mutants=None):
        self.all = testplan.summary(self.folder, records, functional, mutants, self.plans, SPEC)
        assert json.loads((self.folder / "testplan.json").read_text()) == self.all
        assert sum(self.all["counts"].values()) == sum(map(len, self.all["blocks"].values()))
        return {p["id"]: p for p in self.all["blocks"]["toy"]}


@pytest.fixture
def judge(tmp_path, monkeypatch):
    monkeypatch.setattr(testplan, "declared", lambda name: BINS.get(name, ()))
    return Judge(tmp_path)


def run(number, name, verdict="pass", expected=None, reason=""):
    block_, test = name.split("/")
    job = Job(number=number, block=block_, test=test, params="default", sim="verilator", seed=number,
              build_limit_s=1, run_limit_s=1, expected=expected)  # fmt: skip
    return Record(job=job, verdict=verdict, command="make sim", reason=reason)


def covered(x=1, y=1, z=1, waived=None):
    def entry(n, points):
        return {"hits": n, "at_least": 1, "points": points, "waived": waived if n == 0 else None}

    toy = {"x": entry(x, ["b"]), "y": entry(y, ["b", "untested"])}
    return {
        "blocks": {
            "toy": {"covers": {"g.c": {"kind": "cover", "bins": toy}}},
            "toy_pair": {"covers": {"p.c": {"kind": "cover", "bins": {"z": entry(z, ["a"])}}}},
        }
    }


def planted(**states):
    return {"blocks": {"toy": {"fresh": True, "mutants": [{"name": n, "state": s} for n, s in states.items()]}}}


BOTH = [run(1, "toy/one"), run(2, "toy/two")]


def test_nothing_ran(judge):
    points = judge([])
    assert {i: (p["state"], p["why"]) for i, p in points.items()} == {
        "a": ("open", "none of its tests ran"),
        "b": ("open", "none of its tests ran"),
        "untested": ("open", "no test runs it"),
        "uncounted": ("open", "no bin counts it"),
    }
    assert points["b"]["bins"][0] == {
        "cover": "g.c", "bin": "x", "hits": None, "hit": False, "block": "toy", "waived": None,
    }  # fmt: skip
    assert judge.all["counts"] == {"open": 4, "failing": 0, "passing": 0, "closed": 0}


def test_jobs_that_did_not_run_leave_a_point_open(judge):
    assert judge([run(1, "toy/one", "notrun"), run(2, "toy/two", "notrun")], covered())["b"]["state"] == "open"


@pytest.mark.parametrize("verdict", ["fail", "error", "timeout"])
def test_failing(judge, verdict):
    point = judge([*BOTH, run(3, "toy/two", verdict)], covered())["b"]
    assert (point["state"], point["why"]) == ("failing", "toy/two did not pass in 1 of 2 jobs")
    assert point["tests"][1] == {"name": "toy/two", "pass": 1, "bad": 1, "notrun": 0, "jobs": [2, 3]}


def test_a_known_failure_is_failing_and_says_so(judge):
    point = judge([run(1, "toy/one"), run(2, "toy/two", "fail", expected="issue 7")], covered())["b"]
    assert point["state"] == "failing" and point["why"].endswith("(known to fail: toy/two)")


def test_a_failure_that_did_not_come_is_failing(judge):
    late = run(2, "toy/two", "fail", expected="issue 7", reason=f"{UNEXPECTED}: issue 7")
    point = judge([run(1, "toy/one"), late], covered())["b"]
    assert point["state"] == "failing" and "known to fail" not in point["why"]


@pytest.mark.parametrize(
    ("records", "functional", "mutants", "why"),
    [
        (BOTH, covered(y=0), None, "1 of 2 bins not hit: g.c 'y'"),
        (BOTH, NOTHING, None, "no run left coverage"),
        (BOTH[:1], covered(), None, "toy/two did not run"),
        ([*BOTH, run(3, "toy/one", "notrun")], covered(), None, "1 jobs did not run"),
        (BOTH, covered(), planted(m1="killed", m2="survived"), "mutants survive: m2"),
        (BOTH[:1], covered(x=0), None, "toy/two did not run; 1 of 2 bins not hit: g.c 'x'"),
    ],
)
def test_passing(judge, records, functional, mutants, why):
    point = judge(records, functional, mutants)["b"]
    assert (point["state"], point["why"]) == ("passing", why)


@pytest.mark.parametrize("mutants", [None, {}, planted(m1="killed", m2="equivalent"), planted(m1="error")])
def test_closed(judge, mutants):
    points = judge([*BOTH, run(3, "toy_pair/joined")], covered(), mutants)
    assert (points["b"]["state"], points["b"]["why"]) == ("closed", "2 tests passed, 2 bins hit")
    assert points["a"]["state"] == "closed"
    assert judge.all["counts"] == {"open": 2, "failing": 0, "passing": 0, "closed": 2}


def test_a_waived_bin_closes(judge):
    point = judge(BOTH, covered(y=0, waived="cannot be"))["b"]
    assert (point["state"], point["why"]) == ("closed", "2 tests passed, 2 bins hit, 1 of them waived")


def test_links_lead_both_ways(judge):
    points = judge([*BOTH, run(3, "toy_pair/joined")], covered(), planted(m1="killed"))
    assert [p["id"] for p in judge.all["blocks"]["toy"]] == ["a", "b", "uncounted", "untested"]
    assert judge.all["tests"] == {
        "toy/one": ["toy/b", "toy/uncounted"], "toy/two": ["toy/b"], "toy_pair/joined": ["toy/a"],
    }  # fmt: skip
    b = points["b"]
    assert [t["name"] for t in b["tests"]] == ["toy/one", "toy/two"] and b["rules"] == ["R1", "R2"]
    assert b["mutants"] == [{"name": "m1", "state": "killed"}, {"name": "m2", "state": None}]
    assert points["a"]["bins"] == [
        {"cover": "p.c", "bin": "z", "hits": 1, "hit": True, "block": "toy_pair", "waived": None}
    ]


def test_a_broken_plan_and_an_unknown_test_are_errors_and_the_rest_is_told(judge):
    (judge.plans / "bad.toml").write_text("[[point]]\n")
    (judge.plans / "lost.toml").write_text(PLAN.split("\n\n")[0].replace('"two"', '"gone"'))
    judge([])
    bad, *lost = judge.all["errors"]
    assert "bad.toml" in bad and "point.0.id" in bad
    assert lost[0] == "spec/testplan/lost.toml: point b: no test 'lost/gone'"
    assert set(judge.all["blocks"]) == {"toy", "lost"}
