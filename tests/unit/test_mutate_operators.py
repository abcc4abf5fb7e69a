# SPDX-License-Identifier: Apache-2.0
"""Operator mutants of a small file: every operator, none in what is left out, names and samples that hold."""

from __future__ import annotations

import pytest

from scripts.common import ROOT, UserError
from scripts.mutate.operators import OPERATORS, candidates, other_constant
from scripts.mutate.sample import sample

HEAD = '// SPDX-License-Identifier: Apache-2.0\n`include "microhop_assert.svh"\n'
SOURCE = (
    HEAD
    + """
module m #(parameter int W = 3 + 1) (input wire clk, input wire rst, input wire [W-1:0] a, output logic [3:0] q);
  localparam int LEFT = W + 7;
  typedef enum logic [1:0] {A = 2'd0, B = 2'd1} t_e;
  logic [LEFT-1:0] only_declared;
  wire same = a == 4'd2 && !a[0];
  wire more = a < 4'd9 ? a[W-1] : |a[2:1];
  wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h3);
  sub #(.W(W + 2)) u_sub (.clk(clk), .a(a ^ q));
  latency_tap #(.NAME("x")) u_tap (.clk(clk), .rst(rst), .event_i(a > 1));
  for (genvar i = 0; i < 4; i++) begin : g_bit
    if (i == 1) begin : g_one
      assign only_declared[i] = a[i] || q[i];
    end
  end
  always_comb begin
    for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+4] = 1'b1;
  end
  initial if (W < 2) $fatal(1, "W is %0d", W + 1);
  always_ff @(posedge clk) begin
    if (rst) q <= '0;
    else if (same) q <= q + 4'd1;
    if (!rst) assert (a != 4'd7) else $error("seven");
  end
`ifndef SYNTHESIS
  always_ff @(posedge clk) if (a == 4'd5) $display("five");
`endif
  `MH_ASSERT(a_small, a <= 4'd12 && q != 4'd11)
endmodule
"""
)
# operator -> (the line's begin, its change), all that there are
EXPECTED = """
relational  wire same = a == 4'd2 && !a[0]; -> wire same = a != 4'd2 && !a[0];
constant    wire same = a == 4'd2 && !a[0]; -> wire same = a == 4'd3 && !a[0];
logical     wire same = a == 4'd2 && !a[0]; -> wire same = a == 4'd2 || !a[0];
negation    wire same = a == 4'd2 && !a[0]; -> wire same = a == 4'd2 && a[0];
constant    wire same = a == 4'd2 && !a[0]; -> wire same = a == 4'd2 && !a[1];
relational  wire more = a < 4'd9 ? a[W-1] : |a[2:1]; -> wire more = a <= 4'd9 ? a[W-1] : |a[2:1];
constant    wire more = a < 4'd9 ? a[W-1] : |a[2:1]; -> wire more = a < 4'd10 ? a[W-1] : |a[2:1];
ternary     wire more = a < 4'd9 ? a[W-1] : |a[2:1]; -> wire more = a < 4'd9 ? (|a[2:1]) : (a[W-1]);
arithmetic  wire more = a < 4'd9 ? a[W-1] : |a[2:1]; -> wire more = a < 4'd9 ? a[W+1] : |a[2:1];
constant    wire more = a < 4'd9 ? a[W-1] : |a[2:1]; -> wire more = a < 4'd9 ? a[W-2] : |a[2:1];
bitwise     wire more = a < 4'd9 ? a[W-1] : |a[2:1]; -> wire more = a < 4'd9 ? a[W-1] : &a[2:1];
arithmetic  wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h3); -> wire [3:0] sum = 4'(a) - {4{a[0]}} - (a & 4'h3);
constant    wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h3); -> wire [3:0] sum = 4'(a) + {4{a[1]}} - (a & 4'h3);
arithmetic  wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h3); -> wire [3:0] sum = 4'(a) + {4{a[0]}} + (a & 4'h3);
bitwise     wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h3); -> wire [3:0] sum = 4'(a) + {4{a[0]}} - (a | 4'h3);
constant    wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h3); -> wire [3:0] sum = 4'(a) + {4{a[0]}} - (a & 4'h4);
bitwise     sub #(.W(W + 2)) u_sub (.clk(clk), .a(a ^ q)); -> sub #(.W(W + 2)) u_sub (.clk(clk), .a(a | q));
logical     assign only_declared[i] = a[i] || q[i]; -> assign only_declared[i] = a[i] && q[i];
condition   for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+4] = 1'b1; -> for (int i = 0; i < 4; i++) if (!(a[i])) only_declared[i+4] = 1'b1;
arithmetic  for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+4] = 1'b1; -> for (int i = 0; i < 4; i++) if (a[i]) only_declared[i-4] = 1'b1;
constant    for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+4] = 1'b1; -> for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+5] = 1'b1;
constant    for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+4] = 1'b1; -> for (int i = 0; i < 4; i++) if (a[i]) only_declared[i+4] = 1'b0;
assignment  if (rst) q <= '0; -> if (rst) ;
constant    if (rst) q <= '0; -> if (rst) q <= '1;
condition   else if (same) q <= q + 4'd1; -> else if (!(same)) q <= q + 4'd1;
assignment  else if (same) q <= q + 4'd1; -> else if (same) ;
arithmetic  else if (same) q <= q + 4'd1; -> else if (same) q <= q - 4'd1;
constant    else if (same) q <= q + 4'd1; -> else if (same) q <= q + 4'd2;
negation    if (!rst) assert (a != 4'd7) else $error("seven"); -> if (rst) assert (a != 4'd7) else $error("seven");
"""  # noqa: E501


def found(tmp_path, text=SOURCE):
    (tmp_path / "m.sv").write_text(text)
    return candidates("m.sv", [str(ROOT / "rtl" / "common")], tmp_path)


def test_every_operator_and_nothing_of_what_is_left_out(tmp_path):
    told = [f"{c.operator:<11} {c.before} -> {c.after}" for c in found(tmp_path)]
    assert told == EXPECTED.strip().splitlines()
    assert {c.operator for c in found(tmp_path)} == set(OPERATORS)


def test_a_change_is_made_where_it_says(tmp_path):
    source = SOURCE.encode()
    for c in found(tmp_path):
        changed = c.apply(source).decode().splitlines()
        old = SOURCE.splitlines()
        assert [n for n in range(len(old)) if old[n] != changed[n]] == [c.line - 1]
        assert " ".join(changed[c.line - 1].split()) == c.after


def test_names_hold_when_lines_are_added_and_are_not_shared(tmp_path):
    names = [c.name for c in found(tmp_path)]
    assert len(set(names)) == len(names)
    longer = SOURCE.replace("module m", "// a line more\nmodule m")
    assert [c.name for c in found(tmp_path, longer)] == names


def test_equal_lines_are_told_apart(tmp_path):
    twice = SOURCE.replace("if (rst) q <= '0;", "if (rst) q <= '0;\n    if (rst) q <= '0;")
    assert [c.occurrence for c in found(tmp_path, twice) if c.operator == "assignment" and "'0" in c.before] == [1, 2]


def test_generated_files_have_none(tmp_path):
    assert found(tmp_path, SOURCE.replace(HEAD, HEAD + "// Generated from spec/x.toml\n")) == []


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"m\.sv: pyslang cannot read it"):
        found(tmp_path, "module m; assign = ; endmodule")
    with pytest.raises(UserError, match=r"n\.sv: cannot be read"):
        candidates("n.sv", [], tmp_path)


def test_the_sample_is_stable_and_spread(tmp_path):
    every = found(tmp_path)
    ten = sample(every, 10, 1)
    assert [c.name for c in ten] == [c.name for c in sample(list(reversed(every)), 10, 1)]
    assert sample(every, 4, 1) == ten[:4]
    assert sample(every, 10, 2) != ten
    assert {c.operator for c in ten} == set(OPERATORS)
    assert len(sample(every, 1000, 1)) == len(every)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("1'b1", "1'b0"), ("1'b0", "1'b1"), ("8'hff", "8'h0"), ("3'd2", "3'd3"), ("41", "42"), ("'0", "'1"),
        ("'1", "'0"), ("'d3", "'d4"), ("4'sb0111", "4'sb1000"), ("32'hdead_beef", "32'hdeadbef0"), ("3'b1??", None),
        ("4'bx", None),
    ],
)  # fmt: skip
def test_the_other_constant(text, other):
    assert other_constant(text) == other
