// SPDX-License-Identifier: Apache-2.0
// What every proof starts with. Its module has `clk` and `rst`; every other input may be anything at any time
// that the module's assumptions allow.
//
// FORMAL_START      : reset in the first cycle, `started` from the second on.
// FORMAL_STEADY(a)  : the input `a` never changes.
`ifndef MICROHOP_FORMAL_SVH
`define MICROHOP_FORMAL_SVH

`define FORMAL_START \
  logic started; \
  initial started = 1'b0; \
  always_ff @(posedge clk) started <= 1'b1; \
  always_comb assume (started || rst);

`define FORMAL_STEADY(a, width) \
  logic [width-1:0] a``_was; \
  always_ff @(posedge clk) a``_was <= a; \
  always_comb if (started) assume (a == a``_was);

`endif
