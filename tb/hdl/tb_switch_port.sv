// SPDX-License-Identifier: Apache-2.0
// What the switch's bench has at one port: player, credit gate and monitor at the input; sink, monitor and credit
// return at the output. Files: s<nn> (played and recorded), m<nn>, and the pattern cr<nn> of the credit return.
// The number is a port, so that Verilator compiles one such module for all ports of a switch.
`default_nettype none

module tb_switch_port #(
    parameter int LANES     = 1,    /// virtual lanes, 1..8
    parameter int DATA_W    = 512,  /// bits of a beat
    parameter int QUOTA     = 512,  /// cells of a lane
    parameter int MAX_BEATS = 66    /// beats of a largest frame
) (
    input  wire                 clk,            /// clock
    input  wire                 rst,            /// synchronous reset, active high
    input  wire                 start,          /// a phase begins
    input  wire                 stop,           /// the phase ended
    input  wire  [        15:0] phase,          /// number of the phase
    input  wire  [        31:0] cycle,          /// number of this edge
    input  wire  [         6:0] number,         /// number of the port, 0..99
    input  wire                 roce,           /// 0 native, 1 RoCEv2 over IPv4
    input  wire                 gate,           /// 1: the player is held to the credits of free_cells
    output wire                 player_done,    /// nothing left to offer
    output wire                 s_axis_tvalid,  /// to the switch: beat offered
    input  wire                 s_axis_tready,  /// beat accepted
    output wire  [  DATA_W-1:0] s_axis_tdata,   /// bytes, first one lowest
    output wire  [DATA_W/8-1:0] s_axis_tkeep,   /// valid bytes
    output wire                 s_axis_tlast,   /// last beat of a frame
    input  wire  [ LANES*2-1:0] free_cells,     /// cells given back, by lane
    input  wire                 live,           /// the port is in use
    input  wire                 m_axis_tvalid,  /// from the switch: beat offered
    output wire                 m_axis_tready,  /// beat taken
    input  wire  [  DATA_W-1:0] m_axis_tdata,   /// bytes, first one lowest
    input  wire  [DATA_W/8-1:0] m_axis_tkeep,   /// valid bytes
    input  wire                 m_axis_tlast,   /// last beat of a frame
    input  wire                 m_axis_tuser,   /// the frame is damaged
    output wire  [ LANES*8-1:0] m_credit        /// cells given back by the far end, by lane
);
  // "s07", "m07", "cr07"
  wire [15:0] digits = {8'(48 + 32'(number) / 10), 8'(48 + 32'(number) % 10)};
  wire [255:0] s_name = {232'd0, 8'h73, digits};
  wire [255:0] m_name = {232'd0, 8'h6d, digits};
  wire [255:0] cr_name = {224'd0, 16'h6372, digits};

  wire p_valid, p_ready, g_valid, cut, go;
  wire [2:0] s_lane, m_lane;

  stream_player_core #(.DATA_W(DATA_W)) u_player (
      .name(s_name), .tvalid(p_valid), .tready(p_ready), .tlast(s_axis_tlast), .tkeep(s_axis_tkeep),
      .tdata(s_axis_tdata), .side(), .*);
  frame_lane #(.LANES(LANES)) u_s_lane (
      .roce(roce), .head(s_axis_tdata[127:0]), .keep(s_axis_tkeep[63:0]), .lane(s_lane));
  credit_gate #(.LANES(LANES), .QUOTA(QUOTA), .MAX_BEATS(MAX_BEATS)) u_gate (
      .clk(clk), .rst(rst), .live(live), .on(gate), .cut(cut), .head_lane(s_lane), .free_cells(free_cells), .s_valid(p_valid),
      .s_ready(p_ready), .s_last(s_axis_tlast), .m_valid(g_valid), .m_ready(s_axis_tready));
  frame_cut u_cut (
      .clk(clk), .rst(rst), .live(live), .valid(g_valid), .ready(s_axis_tready), .last(s_axis_tlast), .cut(cut));
  assign s_axis_tvalid = g_valid && !cut;
  stream_monitor_core #(.DATA_W(DATA_W)) u_s (
      .name(s_name), .tvalid(g_valid), .tready(s_axis_tready), .tlast(s_axis_tlast), .tkeep(s_axis_tkeep),
      .tdata(s_axis_tdata), .side(1'b0), .*);

  stream_sink_core u_sink (.name(m_name), .tready(m_axis_tready), .*);
  stream_monitor_core #(.DATA_W(DATA_W)) u_m (
      .name(m_name), .tvalid(m_axis_tvalid), .tready(m_axis_tready), .tlast(m_axis_tlast), .tkeep(m_axis_tkeep),
      .tdata(m_axis_tdata), .side(m_axis_tuser), .*);
  stream_sink_core u_go (.name(cr_name), .tready(go), .*);
  frame_lane #(.LANES(LANES)) u_m_lane (
      .roce(roce), .head(m_axis_tdata[127:0]), .keep(m_axis_tkeep[63:0]), .lane(m_lane));
  credit_return #(.LANES(LANES)) u_return (
      .clk(clk), .rst(rst), .live(live), .go(go), .head_lane(m_lane), .left(m_axis_tvalid && m_axis_tready), .last(m_axis_tlast),
      .credit(m_credit));
endmodule

`default_nettype wire
