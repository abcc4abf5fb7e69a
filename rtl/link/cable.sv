// SPDX-License-Identifier: Apache-2.0
// One direction of a cable: a delay of cfg_delay cycles (its length times the ns per metre of its medium,
// rounded up to cycles). Order and gaps kept. What enters is what a link's `tx` side drives, packed.
`default_nettype none

module cable
  import microhop_pkg::*;
(
    input  wire               clk,        /// clock
    input  wire               rst,        /// synchronous reset, active high
    input  wire [        7:0] cfg_delay,  /// cycles, 1..255; steady outside reset
    input  wire [CABLE_W-1:0] s,          /// cable_t from the near end
    output wire [CABLE_W-1:0] m           /// cable_t to the far end, cfg_delay cycles later
);

  cable_t near, far;
  assign near = s;
  assign m = far;

  phy_delay u_delay (
      .clk          (clk),
      .rst          (rst),
      .delay        (cfg_delay),
      .in_tvalid    (near.tvalid),
      .in_tdata     (near.tdata),
      .in_tkeep     (near.tkeep),
      .in_tlast     (near.tlast),
      .in_ctl_valid (near.ctl_valid),
      .in_ctl_cf    (near.ctl_cf),
      .out_tvalid   (far.tvalid),
      .out_tdata    (far.tdata),
      .out_tkeep    (far.tkeep),
      .out_tlast    (far.tlast),
      .out_ctl_valid(far.ctl_valid),
      .out_ctl_cf   (far.ctl_cf)
  );

endmodule

`default_nettype wire
