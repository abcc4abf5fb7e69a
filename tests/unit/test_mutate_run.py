# SPDX-License-Identifier: Apache-2.0
"""`make mutate` on a toy: killed, survived, equivalent, hung, no build; results, exit codes, bad input."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from scripts import blocks, mutate
from scripts.common import UserError
from scripts.mutate import hand, results, tree, trial
from scripts.mutate import main as verb
from tests.unit import toy

FAULT = {"name": "m", "file": "rtl/toy.sv", "find": "q + 1'b1", "block": "toy", "why": "w", "sim": "icarus"}
OWNED = toy.BLOCKS.replace('top = "tb_toy"', 'top = "tb_toy"\nowns = ["rtl/toy.sv"]').replace(
    'summary = "counts", params', 'summary = "counts", sims = ["icarus"], params'
)
LISTED = """
[[equivalent]]
file = "rtl/toy.sv"
operator = "constant"
line = "{line}"
reason = "a reason of a few words"
"""
LINE = "always_ff @(posedge clk) if (rst) q <= a_pkg::START; else q <= q + 1'b1;"


@pytest.fixture
def root(tmp_path, monkeypatch):
    made = toy.make(tmp_path, OWNED)
    for module in (blocks, hand, tree):
        monkeypatch.setattr(module, "ROOT", made)
    monkeypatch.setattr(tree, "FOLDER", made / "build" / "mutate")
    monkeypatch.setattr(tree, "COPIED", (*tree.COPIED, "toytests.py"))
    for module in (verb, results):
        monkeypatch.setattr(module, "blocks", lambda: blocks.load(made / "spec" / "blocks.toml"))
    (made / "tests" / "mutants").mkdir(parents=True)
    return made


@pytest.fixture
def judge(root):
    def run(**other):
        spec = blocks.load(root / "spec" / "blocks.toml")
        mutant = hand.Mutant(**{**FAULT, "replace": "q + 2'd2", **other})
        return trial.judge(hand.fault(mutant, spec, root), spec, root)

    return run


def run(root, **other):
    """Exit code and what was said."""
    said = io.StringIO()
    code = mutate.run_blocks(Console(file=said, width=200), ["toy"], **{"count": 2, "jobs": 2, **other})
    return code, said.getvalue()


def toothless(root):
    """The test looks at nothing any more."""
    path = root / "toytests.py"
    path.write_text(path.read_text().replace("assert int(dut.q.value) ==", "assert 1 + int(dut.q.value) >="))


def test_a_fault_is_killed(judge):
    found = judge()
    assert (found.state, found.verdict, found.killed_by) == ("killed", "fail", "toy/smoke (icarus)")
    assert "the count is off" in found.reason
    assert not (tree.FOLDER / "trees" / "m").exists()


def test_a_fault_that_changes_nothing_survives(judge):
    assert judge(replace="1'b1 + q").state == "survived"


def test_what_is_edited_meanwhile_is_not_met(root):
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    clean = tree.snapshot()
    toothless(root)
    spec = blocks.load(root / "spec" / "blocks.toml")
    mutant = hand.Mutant(**{**FAULT, "replace": "q + 2'd2"})
    assert trial.judge(hand.fault(mutant, spec, root), spec, clean).state == "killed"


def test_a_fault_that_does_not_build_is_an_error(judge):
    found = judge(replace="q +")
    assert found.state == "error"
    assert "does not build" in found.reason


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"find": "q - 1"}, "0 times"),
        ({"find": "q"}, "not once"),
        ({"block": "tou"}, "did you mean 'toy'"),
        ({"test": "smok"}, "did you mean 'smoke'"),
        ({"params": "wode"}, "did you mean 'wide'"),
        ({"file": "rtl/none.sv"}, "no such file"),
    ],
)
def test_faults_that_say_nothing(judge, other, said):
    with pytest.raises(UserError, match=said):
        judge(**other)


def test_the_list_is_checked(tmp_path):
    (tmp_path / "a.toml").write_text('[[mutant]]\nname = "x"\n')
    with pytest.raises(hand.MutantError, match=r"a\.toml: mutant\.0\.file: Field required"):
        hand.load(tmp_path)


def test_all_killed(root):
    code, said = run(root)
    assert code == 0, said
    block = mutate.summary(tree.FOLDER)["blocks"]["toy"]
    assert block["operators"] == {"killed": 2, "survived": 0, "equivalent": 0, "error": 0, "total": 2}
    assert (block["fresh"], block["score"], block["hand"]) == (True, 100, {"killed": 0, "total": 0})
    assert {m["killed_by"] for m in block["mutants"]} == {"toy/smoke (icarus)"}
    (root / "rtl" / "toy.sv").write_text(toy.RTL + "\n")
    assert mutate.summary(tree.FOLDER)["blocks"]["toy"]["fresh"] is False


def test_survivors_are_told_with_exit_code_1(root):
    toothless(root)
    code, said = run(root, count=20)
    assert code == 1
    block = json.loads((tree.FOLDER / "toy.json").read_text())
    alive = [m for m in block["mutants"] if m["state"] == "survived"]
    assert alive
    for m in alive:
        assert f"{m['file']}:{m['line']}" in said
        assert m["command"] in said
        # the one command plants that one alone, and keeps the block's results
        assert run(root, name=m["name"])[0] == 1
    assert json.loads((tree.FOLDER / "toy.json").read_text()) == block
    assert "target 95 %" in said


def test_an_equivalent_one_is_not_run(root):
    toothless(root)
    (root / "tests" / "mutants" / "equivalent.toml").write_text(LISTED.format(line=LINE))
    run(root, count=20)
    states = {m["operator"]: m["state"] for m in json.loads((tree.FOLDER / "toy.json").read_text())["mutants"]}
    assert states["constant"] == "equivalent"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LISTED.format(line="q <= 3;"), r"no such change any more(.|\n)*rtl/toy\.sv: constant 1 in 'q <= 3;'"),
        (LISTED.format(line=LINE) * 2, "listed twice"),
        (LISTED.format(line=LINE).replace("toy.sv", "tou.sv"), "did you mean 'rtl/toy.sv'"),
        (LISTED.format(line=LINE).replace("a reason of a few words", "no"), r"equivalent\.0\.reason"),
    ],
)
def test_stale_and_bad_equivalent_entries_are_named(root, text, said):
    (root / "tests" / "mutants" / "equivalent.toml").write_text(text)
    with pytest.raises(UserError, match=said):
        run(root)


def test_a_red_clean_tree_stops_it(root):
    path = root / "toytests.py"
    path.write_text(path.read_text().replace("== 1 + n", "== 2 + n"))
    with pytest.raises(UserError, match=r"clean tree is not green(.|\n)*toy/smoke \(icarus\): fail"):
        run(root)


def test_an_unknown_name_is_an_error(root):
    with pytest.raises(UserError, match="NAME=none: no mutant of that name"):
        run(root, name="none")


def test_a_hang_is_killed_at_a_limit_from_the_clean_run(root, monkeypatch):
    for name, value in {"LIMIT_FLOOR_S": 3.0, "LIMIT_FACTOR": 1.0}.items():
        monkeypatch.setattr(trial, name, value)
    (root / "tests" / "mutants" / "toy.toml").write_text(
        '[[mutant]]\nname = "hang"\nfile = "spec/blocks.toml"\nfind = \'default = "good"\'\n'
        'replace = \'default = "slow"\'\nblock = "toy"\nsim = "icarus"\nwhy = "it sleeps"\n'
    )
    code, said = run(root, name="hang")
    assert code == 0, said
    assert "killed hang by toy/smoke (icarus): killed at its limit of" in said


def test_results_that_are_no_use_are_named(root):
    tree.FOLDER.mkdir(parents=True)
    (tree.FOLDER / "toy.json").write_text("{")
    found = mutate.summary(tree.FOLDER)
    assert found["blocks"] == {}
    assert "toy.json: cannot be used" in found["errors"][0]


def test_bad_settings_are_named(root):
    for given, said in (({"N": "0"}, "N=0"), ({"BLOK": "toy"}, "did you mean 'BLOCK'"), ({"BLOCK": "tou"}, "'toy'")):
        with pytest.raises(UserError, match=said):
            mutate.main_mutate(Console(file=io.StringIO()), given)


def test_what_a_killed_process_left_is_removed(root):
    left = tree.FOLDER / "trees" / "clean-999999999"
    left.mkdir(parents=True)
    clean = tree.snapshot()
    assert [p.name for p in (tree.FOLDER / "trees").iterdir()] == [clean.name]
    assert (clean / "rtl" / "toy.sv").is_file()
