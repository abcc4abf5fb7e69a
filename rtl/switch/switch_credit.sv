// SPDX-License-Identifier: Apache-2.0
// Credits of one lane of an output: cells that its far end has room for (docs/switch.md, O3 and O4).
// A cell taken and cells given back count from the next cycle on. `enough` is a register of its own, made from
// the next value, so that the allocator's path starts at a flip-flop.
// Nothing keeps `credit` at or below `init`: a far end that gives back cells from before a `load` takes it above.
`default_nettype none
`include "microhop_assert.svh"

module switch_credit
  import spec_pkg::*;
#(
    parameter int MIN = FRAME_MAX_BEATS + 1  /// credits that a frame needs to be started, 1..65535
) (
    input  wire         clk,     /// clock
    input  wire         rst,     /// synchronous reset, active high
    input  wire         load,    /// 1: credit := init (output dead, or credits not in use)
    input  wire  [15:0] init,    /// cells of the lane at the far end
    input  wire         take,    /// one cell less
    input  wire  [ 7:0] give,    /// so many more
    output logic [15:0] credit,  /// credits at hand
    output logic        enough   /// credit >= MIN
);

  logic [15:0] next;

  always_comb next = (rst || load) ? init : credit + 16'(give) - 16'(take);

  always_ff @(posedge clk) begin
    credit <= next;
    enough <= next >= 16'(MIN);
  end

  // A frame starts only with credit for all of it; a cell without credit would overrun the far end.
  `MH_ASSERT(a_not_negative, load || !take || credit != 0)
  // More than 16 bits hold: the far end gives back what it never got.
  `MH_ASSERT(a_no_wrap, load || {1'b0, credit} + 17'(give) <= 17'hffff)

endmodule

`default_nettype wire
