// SPDX-License-Identifier: Apache-2.0
// A level that changes at given cycles: q is `init` until the first beat of p<phase>/<NAME>.play, from a beat's
// cycle on that beat's data. Earliest change: cycle 1, and one a cycle.
`default_nettype none

module timed_value #(
    parameter     NAME = "level",  /// file name
    parameter int W    = 1         /// width, bits
) (
    input  wire         clk,         /// clock
    input  wire         rst,         /// synchronous reset, active high
    input  wire         start,       /// a phase begins
    input  wire [ 15:0] phase,       /// number of the phase
    input  wire [ 31:0] cycle,       /// number of this edge
    input  wire [W-1:0] init,        /// the value until the first change
    output wire [W-1:0] q,           /// the level
    output wire         player_done  /// no change is left
);
  localparam int WP = (W + 31) / 32 * 32;

  logic change;
  /* verilator lint_off UNUSEDSIGNAL */  // the pad bits of a record
  logic [WP-1:0] data;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [W-1:0] kept;

  stream_player #(.NAME(NAME), .DATA_W(WP)) u_player (
      .tvalid(change), .tready(1'b1), .tlast(), .tkeep(), .tdata(data), .side(), .*);

  assign q = change ? data[W-1:0] : kept;
  always_ff @(posedge clk) kept <= rst ? init : q;
endmodule

`default_nettype wire
