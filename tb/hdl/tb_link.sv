// SPDX-License-Identifier: Apache-2.0
// Bench of the link: ends a and b, each a tb_link_end, over one cable in each direction. Configuration `cable`: cycles
// of both. A phase ends `quiet` cycles after the last beat or freed cell; control sets do not count, they never end.
`default_nettype none

module tb_link
  import microhop_pkg::*;
#(
    parameter int DATA_W  = 512,   /// stream width, bits: 512 or 1024
    parameter int LANES   = 1,     /// virtual lanes
    parameter int LANES_B = LANES  /// of end b, other ones in the test of the refusal
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int CW = CABLE_SIDE_W + DATA_W / 8 + DATA_W;

  logic stop;
  wire [1:0] player_done, busy;
  wire [7:0] cable_delay;
  wire [CW-1:0] a_tx, a_rx, b_tx, b_rx;

  tb_ctl #(.N_PLAYERS(2), .N_ACTIVITY(2)) u_ctl (.activity(busy), .*);
  tb_cfg #(.NAME("cable"), .W(8)) u_cable_cfg (.q(cable_delay), .*);

  tb_link_end #(.NAME("a"), .DATA_W(DATA_W), .LANES(LANES)) u_a (
      .player_done(player_done[0]), .busy(busy[0]), .tx(a_tx), .rx(a_rx), .*);
  tb_link_end #(.NAME("b"), .DATA_W(DATA_W), .LANES(LANES_B)) u_b (
      .player_done(player_done[1]), .busy(busy[1]), .tx(b_tx), .rx(b_rx), .*);

  cable #(.DATA_W(DATA_W)) u_a_to_b (.clk(clk), .rst(rst), .cfg_delay(cable_delay), .s(a_tx), .m(b_rx));
  cable #(.DATA_W(DATA_W)) u_b_to_a (.clk(clk), .rst(rst), .cfg_delay(cable_delay), .s(b_tx), .m(a_rx));

endmodule

`default_nettype wire
