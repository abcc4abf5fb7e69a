// SPDX-License-Identifier: Apache-2.0
// One end of a cable: pace, credits, retry (native) or PFC and FCS (RoCE), bring-up, and the delays of the PHY.
// Every rule, to the cycle, is in docs/link.md.
// Latency at zero load: s_axis to tx LINK_START_SLACK + latency.link.tx_fifo + tx_out + cfg.phy_tx cycles; a
// segment's last beat at rx to its first at m_axis cfg.phy_rx + latency.link.rx. Exactly once and in order (native).
// m_axis and the cable side have no stall.
`default_nettype none

module link
  import microhop_pkg::*;
#(
    parameter int DATA_W = 512,  /// stream width, bits: 512 (400 Gb/s) or 1024 (800 Gb/s)
    parameter int LANES  = 1,    /// virtual lanes, 1..16; with the RoCE profile at most 8
    parameter     TAP    = "",   /// prefix of the stage stamps; empty: none
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire                  clk,            /// clock
    input  wire                  rst,            /// synchronous reset, active high
    input  wire [LINK_CFG_W-1:0] cfg,            /// link_cfg_t; steady outside reset but for enable
    input  wire                  retrain_req,    /// 1: train anew, from state UP
    input  wire                  s_axis_tvalid,  /// frames from the core
    output wire                  s_axis_tready,  /// taken
    input  wire [    DATA_W-1:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire [        BB-1:0] s_axis_tkeep,   /// valid bytes
    input  wire                  s_axis_tlast,   /// last beat of a frame
    input  wire                  s_axis_tuser,   /// with the last beat: the frame is damaged
    output wire                  m_axis_tvalid,  /// frames to the core, which has room
    output wire [    DATA_W-1:0] m_axis_tdata,   /// bytes
    output wire [        BB-1:0] m_axis_tkeep,   /// valid bytes
    output wire                  m_axis_tlast,   /// last beat of a frame
    output wire                  m_axis_tuser,   /// with the last beat: the frame is damaged
    input  wire [   LANES*8-1:0] free_cells,     /// cells of each lane that the core freed in this cycle
    output wire [   LANES*8-1:0] m_credit,       /// cells of each lane that came free at the far end
    input  wire [     LANES-1:0] s_pause,        /// RoCE: the core wants the far end to pause these lanes
    output wire [     LANES-1:0] m_pause,        /// RoCE: the far end wants these lanes paused
    output wire                  up,             /// the core may send and receive
    input  wire                  drained,        /// the core is empty: a fresh start may be made
    output wire [        CW-1:0] tx,             /// to the cable: {cable_side_t, keep, data}
    input  wire [        CW-1:0] rx,             /// from the cable
    output wire [  LANES*16-1:0] credits,        /// cells of each lane free at the far end, as known here
    output wire [           1:0] state,          /// 0 OFF, 1 INIT, 2 UP, 3 RETRAIN
    output wire [           7:0] reason,         /// why the link is not up (docs/link.md, B10)
    output wire [          19:0] ev,             /// events (docs/link.md, Events)
    output wire [          10:0] lost            /// with ev[18]: segments whose fate is unknown
);
endmodule

`default_nettype wire
