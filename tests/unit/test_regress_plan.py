# SPDX-License-Identifier: Apache-2.0
"""Profiles and plans: what becomes a job, and what bad input gets."""

from __future__ import annotations

import pytest

from scripts.blocks import load as load_blocks
from scripts.common import UserError
from scripts.regress import plan, profile

SPEC = load_blocks()


def profile_file(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text('summary = "s"\n' + text)
    return str(path)


def jobs(p, expected=(), blocks=None, sims=None, seeds=None):
    return plan.jobs(
        SPEC, p, list(expected),
        blocks=plan.chosen_blocks(SPEC, p, blocks), sims=plan.chosen_sims(p, sims), seeds=seeds,
    )  # fmt: skip


def test_every_stored_profile_plans_something():
    assert {"smoke", "nightly"} <= set(profile.known())
    for name in profile.known():
        p = profile.load(name, SPEC)
        found = jobs(p, seeds=p.seeds)
        assert [j.number for j in found] == list(range(1, len(found) + 1))
        assert len({j.name for j in found}) == len(found), "two jobs of one name"


def test_blocks_by_parameters_by_simulators_by_seeds(tmp_path):
    p = profile.load(profile_file(tmp_path, 'only = ["link/random_traffic"]'), SPEC)
    found = jobs(p, seeds=3)
    test = SPEC.blocks["link"].tests["random_traffic"]
    assert len(found) == len(test.params) * 2 * 3
    assert {j.seed for j in found} == {1, 2, 3}
    assert [j.sim for j in found[:2]] == ["verilator", "icarus"], "a pair runs close together"
    assert all(j.coverage == (j.sim == "verilator") for j in found)


def test_a_test_lists_its_own_seeds_first():
    test = SPEC.blocks["nic"].tests["random_traffic"]
    assert plan.seeds_of(test, None) == [1, 2]
    assert plan.seeds_of(test, 1) == [1]
    assert plan.seeds_of(test, 4) == [1, 2, 3, 4]


def test_settings_go_before_the_profile(tmp_path):
    p = profile.load(profile_file(tmp_path, 'blocks = ["link", "wire"]'), SPEC)
    assert {j.block for j in jobs(p)} == {"link", "wire"}
    assert {j.block for j in jobs(p, blocks="switch, link")} == {"switch", "link"}
    assert {j.sim for j in jobs(p, sims="icarus")} == {"icarus"}


def test_limits_and_options(tmp_path):
    text = 'blocks = ["fabric"]\n[limits]\nrun_s = 7\n[options.fabric]\ntokens = 3\n'
    found = jobs(profile.load(profile_file(tmp_path, text), SPEC))
    assert {j.run_limit_s for j in found} == {7}
    by_test = {j.test: j.options.get("tokens") for j in found}
    assert by_test["account"] == 3
    assert by_test["account_roce"] is None, "a test's own value stands"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('blocks = ["swich"]', "mine.toml: blocks: unknown block 'swich'; did you mean 'switch'?"),
        ('only = ["switch/incst"]', "mine.toml: only: unknown test 'switch/incst'"),
        ("seeds = 0", "mine.toml: seeds: "),
        ("speed = 3", "mine.toml: speed: Extra inputs are not permitted (allowed: summary, tests, blocks"),
        ('sims = ["questa"]', "mine.toml: sims.0: Input should be 'verilator' or 'icarus'"),
        ("[options.fabric]\ntoken = 1", "mine.toml: options.fabric: unknown option 'token'; did you mean 'tokens'?"),
        ("[options.fabric]\ntokens = 1000", "tokens wants an integer, at least 1, at most 128"),
        ("blocks = [", "mine.toml: not TOML"),
    ],
)
def test_a_bad_profile_says_what_is_wrong(tmp_path, text, says):
    with pytest.raises(UserError) as caught:
        profile.load(profile_file(tmp_path, text), SPEC)
    assert says in str(caught.value)


def test_an_unknown_profile_names_the_known_ones():
    with pytest.raises(UserError, match="unknown profile 'nigthly'; did you mean 'nightly'"):
        profile.load("nigthly", SPEC)
    with pytest.raises(UserError, match="nowhere.toml: cannot be read"):
        profile.load("nowhere.toml", SPEC)


def test_nothing_to_run_is_no_success(tmp_path):
    p = profile.load(profile_file(tmp_path, 'only = ["switch/incast"]'), SPEC)
    with pytest.raises(UserError, match="nothing to run"):
        jobs(p, blocks="link")


def test_expected_failures_reach_their_jobs_only(tmp_path):
    path = tmp_path / "expected.toml"
    path.write_text(
        '[[failure]]\nblock = "link"\ntest = "few_of_all"\nsim = "icarus"\nreason = "known"\ndate = 2026-11-30\n'
    )
    entries = profile.expected_failures(SPEC, path)
    p = profile.load(profile_file(tmp_path, 'blocks = ["link"]'), SPEC)
    one_seed = [entries[0].model_copy(update={"seed": 2})]
    assert {j.seed for j in jobs(p, one_seed, seeds=3) if j.expected} == {2}, "the seed counts too"
    marked = [j for j in jobs(p, entries) if j.expected]
    assert marked and {(j.test, j.sim, j.expected) for j in marked} == {("few_of_all", "icarus", "known")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('block = "switch"\ntest = "gone"\nreason = "r"\ndate = 2026-11-30', "failure.0: unknown test 'gone'"),
        ('block = "switch"\ntest = "incast"\ndate = 2026-11-30', "failure.0.reason: Field required"),
        ('block = "switch"\ntest = "incast"\nreason = "r"', "failure.0.date: Field required"),
    ],
)
def test_a_bad_expected_failure(tmp_path, text, says):
    path = tmp_path / "expected.toml"
    path.write_text(f"[[failure]]\n{text}\n")
    with pytest.raises(UserError) as caught:
        profile.expected_failures(SPEC, path)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["rtl/a.sv", "tb/a.py", "models/a.py", "spec/a.toml", "tests/a.py", "scripts/a.py"])
def test_the_sources_digest_sees_a_change(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text("one\n")
    monkeypatch.setattr(plan, "ROOT", tmp_path)
    before = plan.sources_digest()
    path.write_text("two\n")
    assert plan.sources_digest() != before


def test_a_bound_on_seeds(tmp_path):
    p = profile.load(profile_file(tmp_path, 'blocks = ["kit"]'), SPEC)
    with pytest.raises(UserError, match="SEEDS=5000000000: wants at most 10000"):
        jobs(p, seeds=5_000_000_000)
