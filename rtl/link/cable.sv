// SPDX-License-Identifier: Apache-2.0
// One direction of a cable: a delay of cfg_delay cycles (its length times the ns per metre of its medium,
// rounded up to cycles). Order and gaps kept. What enters is what a link's `tx` side drives.
`default_nettype none

module cable
  import microhop_pkg::*;
#(
    parameter  int DATA_W = 512,  /// stream width, bits
    localparam int CW = CABLE_SIDE_W + DATA_W / 8 + DATA_W
) (
    input  wire          clk,        /// clock
    input  wire          rst,        /// synchronous reset, active high
    input  wire [   7:0] cfg_delay,  /// cycles, 1..255; steady outside reset
    input  wire [CW-1:0] s,          /// {cable_side_t, keep, data} from the near end
    output wire [CW-1:0] m           /// the same to the far end, cfg_delay cycles later
);

  phy_delay #(.DATA_W(DATA_W)) u_delay (.clk(clk), .rst(rst), .delay(cfg_delay), .s(s), .m(m));

endmodule

`default_nettype wire
