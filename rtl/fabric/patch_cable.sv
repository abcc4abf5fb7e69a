// SPDX-License-Identifier: Apache-2.0
// A cable whose ends are flat vectors (cable_t), as the patch panel and the switch nodes have them.
// Latency: `delay` cycles each way.
`default_nettype none

module patch_cable
  import microhop_pkg::*;
(
    input  wire               clk,    /// clock
    input  wire               rst,    /// synchronous reset, active high
    input  wire [7:0]         delay,  /// one way, cycles, 1..255
    input  wire [CABLE_W-1:0] a_tx,   /// what end a sends
    output wire [CABLE_W-1:0] b_rx,   /// the same at end b
    input  wire [CABLE_W-1:0] b_tx,   /// what end b sends
    output wire [CABLE_W-1:0] a_rx    /// the same at end a
);

  cable_t from_a, to_b, from_b, to_a;
  assign from_a = a_tx;
  assign from_b = b_tx;
  assign b_rx = to_b;
  assign a_rx = to_a;

  cable u_cable (
      .clk(clk), .rst(rst), .delay(delay),
      .a_tx_tvalid(from_a.tvalid), .a_tx_tdata(from_a.tdata), .a_tx_tkeep(from_a.tkeep),
      .a_tx_tlast(from_a.tlast), .a_tx_ctl_valid(from_a.ctl_valid), .a_tx_ctl_cf(from_a.ctl_cf),
      .b_rx_tvalid(to_b.tvalid), .b_rx_tdata(to_b.tdata), .b_rx_tkeep(to_b.tkeep),
      .b_rx_tlast(to_b.tlast), .b_rx_ctl_valid(to_b.ctl_valid), .b_rx_ctl_cf(to_b.ctl_cf),
      .b_tx_tvalid(from_b.tvalid), .b_tx_tdata(from_b.tdata), .b_tx_tkeep(from_b.tkeep),
      .b_tx_tlast(from_b.tlast), .b_tx_ctl_valid(from_b.ctl_valid), .b_tx_ctl_cf(from_b.ctl_cf),
      .a_rx_tvalid(to_a.tvalid), .a_rx_tdata(to_a.tdata), .a_rx_tkeep(to_a.tkeep),
      .a_rx_tlast(to_a.tlast), .a_rx_ctl_valid(to_a.ctl_valid), .a_rx_ctl_cf(to_a.ctl_cf)
  );

endmodule

`default_nettype wire
