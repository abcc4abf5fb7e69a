# SPDX-License-Identifier: Apache-2.0
"""`make timing`: a longer chain is slower, results are kept, big memories are macros."""

from __future__ import annotations

import pytest
from rich.console import Console

from scripts import needs, timing
from scripts.common import UserError

CHAIN = """
module chain #(parameter int N = 4) (input wire clk, input wire [N-1:0] a, output logic y);
  logic [N-1:0] q, a_q;
  logic c;
  // a carry chain that no rewriting flattens
  always_comb begin
    c = 1'b0;
    for (int i = 0; i < N; i++) c = (q[i] & c) | (a_q[i] & ~c);
  end
  always_ff @(posedge clk) begin
    a_q <= a;
    q   <= a_q;
    y   <= c;
  end
endmodule
"""
MEMORY = """
module ram #(parameter int WORDS = 64) (
    input wire clk, input wire we, input wire [9:0] wa, input wire [9:0] ra, input wire [63:0] d,
    output logic [63:0] q
);
  logic [63:0] mem [WORDS];
  always_ff @(posedge clk) begin
    if (we) mem[wa[$clog2(WORDS)-1:0]] <= d;
    q <= mem[ra[$clog2(WORDS)-1:0]];
  end
endmodule
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    if any(needs.NEEDS[n].found() is None for n in ("sta", "osu018")):
        pytest.skip("OpenSTA or the cell library is not installed: only make timing wants them")
    (tmp_path / "chain.sv").write_text(CHAIN)
    (tmp_path / "ram.sv").write_text(MEMORY)
    monkeypatch.setattr(timing, "ROOT", tmp_path)
    monkeypatch.setattr(timing, "TIMING", tmp_path / "build" / "timing")
    monkeypatch.setattr(timing, "rel", lambda p: str(p.relative_to(tmp_path)))
    return tmp_path


def chain(n):
    return timing.analyse(timing.Target("chain", ("chain.sv",), (), (("N", n),)))


def test_a_longer_chain_is_slower_and_results_are_kept(project):
    short, long = chain(2), chain(24)
    assert 0.3 < short.ns < long.ns
    assert long.end == "y"
    assert long.start.startswith(("q[", "a_q["))
    assert chain(24) == long, "the second call takes the first one's result, its seconds too"
    with pytest.raises(UserError, match=r"yosys failed"):
        timing.analyse(timing.Target("nosuch", ("chain.sv",)))


def test_a_big_memory_is_a_macro(project):
    small = timing.analyse(timing.Target("ram", ("ram.sv",), (), (("WORDS", 64),)))
    big = timing.analyse(timing.Target("ram", ("ram.sv",), (), (("WORDS", 1024),)))
    assert small.cells > 4096, "64 words of 64 bits are flip-flops"
    assert big.cells < 1000, "1024 words are not"
    assert big.ns < small.ns


@pytest.mark.parametrize(
    ("fo4", "why", "code", "word"),
    [
        (49, None, 0, "PASS"),
        (51, None, 1, "FAIL"),
        (51, "slow", 0, "above"),
        (49, "slow", 1, "it is not"),
    ],
)
def test_above_the_ceiling_wants_a_reason_and_a_reason_wants_it_above(fo4, why, code, word, capsys):
    unit, ceiling = timing.fo4_figures()
    path = timing.Path_(
        "m", {"N": 2}, ns=fo4 * unit * ceiling / 50, start="a", end="b", cells=1, area=1, seconds=1, folder=""
    )
    assert timing.show(Console(width=140), [path], [why]) == code
    assert word in (said := capsys.readouterr().out) and (why or "") in said
