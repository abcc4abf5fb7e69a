// SPDX-License-Identifier: Apache-2.0
// A cable between the ends a and b: both directions, each a delay of `delay` cycles (length in metres
// times ns per metre, rounded up to cycles by the bench). Names are the ends' own: what leaves end a's
// `tx` port enters here as a_tx and comes out as b_rx.
`default_nettype none

module cable (
    input  wire          clk,             /// clock
    input  wire          rst,             /// synchronous reset, active high
    input  wire  [  7:0] delay,           /// one way, cycles, 1..255
    input  wire          a_tx_tvalid,     /// beat from end a
    input  wire  [511:0] a_tx_tdata,      /// bytes
    input  wire  [ 63:0] a_tx_tkeep,      /// valid bytes
    input  wire          a_tx_tlast,      /// last beat of a frame
    input  wire          a_tx_ctl_valid,  /// control set from end a
    input  wire  [ 15:0] a_tx_ctl_cf,     /// its counter of freed cells
    output wire          b_rx_tvalid,     /// beat to end b
    output wire  [511:0] b_rx_tdata,      /// bytes
    output wire  [ 63:0] b_rx_tkeep,      /// valid bytes
    output wire          b_rx_tlast,      /// last beat of a frame
    output wire          b_rx_ctl_valid,  /// control set to end b
    output wire  [ 15:0] b_rx_ctl_cf,     /// its counter of freed cells
    input  wire          b_tx_tvalid,     /// beat from end b
    input  wire  [511:0] b_tx_tdata,      /// bytes
    input  wire  [ 63:0] b_tx_tkeep,      /// valid bytes
    input  wire          b_tx_tlast,      /// last beat of a frame
    input  wire          b_tx_ctl_valid,  /// control set from end b
    input  wire  [ 15:0] b_tx_ctl_cf,     /// its counter of freed cells
    output wire          a_rx_tvalid,     /// beat to end a
    output wire  [511:0] a_rx_tdata,      /// bytes
    output wire  [ 63:0] a_rx_tkeep,      /// valid bytes
    output wire          a_rx_tlast,      /// last beat of a frame
    output wire          a_rx_ctl_valid,  /// control set to end a
    output wire  [ 15:0] a_rx_ctl_cf      /// its counter of freed cells
);

  phy_delay u_a_to_b (
      .clk          (clk),
      .rst          (rst),
      .delay        (delay),
      .in_tvalid    (a_tx_tvalid),
      .in_tdata     (a_tx_tdata),
      .in_tkeep     (a_tx_tkeep),
      .in_tlast     (a_tx_tlast),
      .in_ctl_valid (a_tx_ctl_valid),
      .in_ctl_cf    (a_tx_ctl_cf),
      .out_tvalid   (b_rx_tvalid),
      .out_tdata    (b_rx_tdata),
      .out_tkeep    (b_rx_tkeep),
      .out_tlast    (b_rx_tlast),
      .out_ctl_valid(b_rx_ctl_valid),
      .out_ctl_cf   (b_rx_ctl_cf)
  );

  phy_delay u_b_to_a (
      .clk          (clk),
      .rst          (rst),
      .delay        (delay),
      .in_tvalid    (b_tx_tvalid),
      .in_tdata     (b_tx_tdata),
      .in_tkeep     (b_tx_tkeep),
      .in_tlast     (b_tx_tlast),
      .in_ctl_valid (b_tx_ctl_valid),
      .in_ctl_cf    (b_tx_ctl_cf),
      .out_tvalid   (a_rx_tvalid),
      .out_tdata    (a_rx_tdata),
      .out_tkeep    (a_rx_tkeep),
      .out_tlast    (a_rx_tlast),
      .out_ctl_valid(a_rx_ctl_valid),
      .out_ctl_cf   (a_rx_ctl_cf)
  );

endmodule

`default_nettype wire
