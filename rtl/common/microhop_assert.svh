// SPDX-License-Identifier: Apache-2.0
// Assertions for both simulators, from one place.
//
// MH_ASSERT(name, expr)  : expr must hold at every clock edge outside reset.
// MH_NEVER_X(name, sig)  : sig has no unknown bit outside reset (seen by Icarus; two-valued elsewhere).
//
// Code coverage leaves them out: an assertion that holds never takes its failing side.
//
// They are immediate assertions in a clocked block, which Verilator, Icarus 11 and yosys all read;
// `clk` and `rst` of the surrounding module are used. Synthesis drops them; a proof (FORMAL, formal/README.md)
// proves MH_ASSERT along with its own properties, and knows no unknown bits.
`ifndef MICROHOP_ASSERT_SVH
`define MICROHOP_ASSERT_SVH

`ifdef FORMAL
`define MH_ASSERT(name, expr) \
  always_ff @(posedge clk) begin : name \
    if (!rst) assert (expr); \
  end
`define MH_NEVER_X(name, sig)
`elsif SYNTHESIS
`define MH_ASSERT(name, expr)
`define MH_NEVER_X(name, sig)
`else
`define MH_ASSERT(name, expr) \
  /*verilator coverage_off*/ \
  always_ff @(posedge clk) begin : name \
    if (!rst && !(expr)) $fatal(1, "assertion %m failed"); \
  end \
  /*verilator coverage_on*/
`define MH_NEVER_X(name, sig) \
  /*verilator coverage_off*/ \
  always_ff @(posedge clk) begin : name \
    if (!rst && ((^(sig)) === 1'bx)) $fatal(1, "unknown value in %m"); \
  end \
  /*verilator coverage_on*/
`endif

`endif
