// SPDX-License-Identifier: Apache-2.0
// One end of a cable: transmit and receive side with the delays of the PHY. The rules are in README.md.
// Latency, with zero backlog and full credits: s_axis to tx 2 + LINK_START_SLACK + cfg.phy_tx cycles,
// rx to m_axis cfg.phy_rx + 1. Order kept. m_axis and the cable side have no stall.
`default_nettype none

module link
  import microhop_pkg::*;
#(
    parameter int CNT_INIT = 0,  /// credit counters at reset, the same at both ends; not 0 only in tests
    parameter     TAP      = ""  /// prefix of the stage stamps; empty: none
) (
    input  wire                  clk,            /// clock
    input  wire                  rst,            /// synchronous reset, active high
    input  wire [LINK_CFG_W-1:0] cfg,            /// link_cfg_t; steady outside reset
    input  wire                  s_axis_tvalid,  /// frames from the core
    output wire                  s_axis_tready,  /// taken
    input  wire [         511:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire [          63:0] s_axis_tkeep,   /// valid bytes
    input  wire                  s_axis_tlast,   /// last beat of a frame
    output wire                  m_axis_tvalid,  /// frames to the core, which has room
    output wire [         511:0] m_axis_tdata,   /// bytes
    output wire [          63:0] m_axis_tkeep,   /// valid bytes
    output wire                  m_axis_tlast,   /// last beat of a frame
    input  wire [           7:0] free_cells,     /// cells that the core freed in this cycle
    output wire                  tx_tvalid,      /// beat to the cable
    output wire [         511:0] tx_tdata,       /// bytes
    output wire [          63:0] tx_tkeep,       /// valid bytes
    output wire                  tx_tlast,       /// last beat of a frame
    output wire                  tx_ctl_valid,   /// control set to the cable
    output wire [          15:0] tx_ctl_cf,      /// own counter of freed cells
    input  wire                  rx_tvalid,      /// beat from the cable
    input  wire [         511:0] rx_tdata,       /// bytes
    input  wire [          63:0] rx_tkeep,       /// valid bytes
    input  wire                  rx_tlast,       /// last beat of a frame
    input  wire                  rx_ctl_valid,   /// control set from the cable
    input  wire [          15:0] rx_ctl_cf,      /// the far end's counter of freed cells
    output wire [          15:0] credits,        /// cells free at the far end, as known here
    output wire [          31:0] cnt_tx_frames,  /// frames sent
    output wire [          31:0] cnt_rx_frames   /// frames received
);

  link_cfg_t c;
  assign c = cfg;

  logic mac_tx_tvalid, mac_tx_tlast, mac_tx_ctl_valid;
  logic [511:0] mac_tx_tdata;
  logic [63:0] mac_tx_tkeep;
  logic [15:0] mac_tx_ctl_cf;
  logic mac_rx_tvalid, mac_rx_tlast, mac_rx_ctl_valid;
  logic [511:0] mac_rx_tdata;
  logic [63:0] mac_rx_tkeep;
  logic [15:0] mac_rx_ctl_cf;

  link_tx #(
      .CNT_INIT(CNT_INIT)
  ) u_tx (
      .clk          (clk),
      .rst          (rst),
      .cfg_roce     (c.roce),
      .s_axis_tvalid(s_axis_tvalid),
      .s_axis_tready(s_axis_tready),
      .s_axis_tdata (s_axis_tdata),
      .s_axis_tkeep (s_axis_tkeep),
      .s_axis_tlast (s_axis_tlast),
      .free_cells   (free_cells),
      .rx_ctl_valid (mac_rx_ctl_valid),
      .rx_ctl_cf    (mac_rx_ctl_cf),
      .tx_tvalid    (mac_tx_tvalid),
      .tx_tdata     (mac_tx_tdata),
      .tx_tkeep     (mac_tx_tkeep),
      .tx_tlast     (mac_tx_tlast),
      .tx_ctl_valid (mac_tx_ctl_valid),
      .tx_ctl_cf    (mac_tx_ctl_cf),
      .credits      (credits),
      .cnt_tx_frames(cnt_tx_frames)
  );

  phy_delay u_phy_tx (
      .clk          (clk),
      .rst          (rst),
      .delay        (c.phy_tx),
      .in_tvalid    (mac_tx_tvalid),
      .in_tdata     (mac_tx_tdata),
      .in_tkeep     (mac_tx_tkeep),
      .in_tlast     (mac_tx_tlast),
      .in_ctl_valid (mac_tx_ctl_valid),
      .in_ctl_cf    (mac_tx_ctl_cf),
      .out_tvalid   (tx_tvalid),
      .out_tdata    (tx_tdata),
      .out_tkeep    (tx_tkeep),
      .out_tlast    (tx_tlast),
      .out_ctl_valid(tx_ctl_valid),
      .out_ctl_cf   (tx_ctl_cf)
  );

  phy_delay u_phy_rx (
      .clk          (clk),
      .rst          (rst),
      .delay        (c.phy_rx),
      .in_tvalid    (rx_tvalid),
      .in_tdata     (rx_tdata),
      .in_tkeep     (rx_tkeep),
      .in_tlast     (rx_tlast),
      .in_ctl_valid (rx_ctl_valid),
      .in_ctl_cf    (rx_ctl_cf),
      .out_tvalid   (mac_rx_tvalid),
      .out_tdata    (mac_rx_tdata),
      .out_tkeep    (mac_rx_tkeep),
      .out_tlast    (mac_rx_tlast),
      .out_ctl_valid(mac_rx_ctl_valid),
      .out_ctl_cf   (mac_rx_ctl_cf)
  );

  link_rx u_rx (
      .clk          (clk),
      .rst          (rst),
      .rx_tvalid    (mac_rx_tvalid),
      .rx_tdata     (mac_rx_tdata),
      .rx_tkeep     (mac_rx_tkeep),
      .rx_tlast     (mac_rx_tlast),
      .free_cells   (free_cells),
      .m_axis_tvalid(m_axis_tvalid),
      .m_axis_tdata (m_axis_tdata),
      .m_axis_tkeep (m_axis_tkeep),
      .m_axis_tlast (m_axis_tlast),
      .cnt_rx_frames(cnt_rx_frames)
  );

  // Stage stamps at both sides of the PHY: first beats of frames.
`ifndef SYNTHESIS
  if (TAP != "") begin : g_tap
    link_taps #(
        .TAP(TAP)
    ) u_taps (
        .clk(clk),
        .rst(rst),
        .core_tx({s_axis_tvalid && s_axis_tready, s_axis_tlast}),
        .mac_tx({mac_tx_tvalid, mac_tx_tlast}),
        .phy_tx({tx_tvalid, tx_tlast}),
        .phy_rx({rx_tvalid, rx_tlast}),
        .mac_rx({mac_rx_tvalid, mac_rx_tlast}),
        .core_rx({m_axis_tvalid, m_axis_tlast})
    );
  end
`endif

endmodule

`default_nettype wire
