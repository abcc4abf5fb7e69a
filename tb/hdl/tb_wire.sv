// SPDX-License-Identifier: Apache-2.0
// Bench of the wire block: wire_tx and wire_rx, each between a player and a sink; with `loop` set,
// wire_rx takes wire_tx's frames instead of its player's. Everything is recorded.
`default_nettype none

module tb_wire
  import microhop_pkg::*;
(
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  logic stop, loop, tx_done, rx_done;
  logic [WIRE_CFG_W-1:0] cfg;

  logic s_pkt_tvalid, s_pkt_tready, s_pkt_tlast;
  logic [511:0] s_pkt_tdata;
  logic [63:0] s_pkt_tkeep;
  logic [HDR_W-1:0] s_pkt_hdr;
  logic m_axis_tvalid, m_axis_tready, m_axis_tlast;
  logic [511:0] m_axis_tdata;
  logic [63:0] m_axis_tkeep;
  logic p_tvalid, p_tlast, s_axis_tvalid, s_axis_tready, s_axis_tlast;
  logic [511:0] p_tdata, s_axis_tdata;
  logic [63:0] p_tkeep, s_axis_tkeep;
  logic m_pkt_tvalid, m_pkt_tready, m_pkt_tlast;
  logic [511:0] m_pkt_tdata;
  logic [63:0] m_pkt_tkeep;
  logic [HDR_W-1:0] m_pkt_hdr;
  logic [7:0] free_cells;
  logic [31:0] cnt_good, cnt_drop_fcs, cnt_drop_format, cnt_drop_icrc;
  /* verilator lint_off UNUSEDSIGNAL */  // frames have no side band
  wire p_side;
  /* verilator lint_on UNUSEDSIGNAL */

  tb_ctl #(.N_PLAYERS(2)) u_ctl (
      .player_done({tx_done, rx_done}),
      .activity(s_pkt_tvalid || m_axis_tvalid || s_axis_tvalid || m_pkt_tvalid),
      .*
  );
  tb_cfg #(.NAME("wire"), .W(WIRE_CFG_W)) u_cfg (.q(cfg), .*);
  tb_cfg #(.NAME("loop"), .W(1)) u_loop (.q(loop), .*);

  // ---- wire_tx ---------------------------------------------------------------------------------------
  stream_player #(.NAME("s_pkt"), .SIDE_W(HDR_W)) u_tx_player (
      .tvalid(s_pkt_tvalid), .tready(s_pkt_tready), .tlast(s_pkt_tlast), .tkeep(s_pkt_tkeep),
      .tdata(s_pkt_tdata), .side(s_pkt_hdr), .player_done(tx_done), .*);
  stream_monitor #(.NAME("s_pkt"), .SIDE_W(HDR_W)) u_tx_in (
      .tvalid(s_pkt_tvalid), .tready(s_pkt_tready), .tlast(s_pkt_tlast), .tkeep(s_pkt_tkeep),
      .tdata(s_pkt_tdata), .side(s_pkt_hdr), .*);
  wire_tx u_tx (
      .clk, .rst, .cfg,
      .s_pkt_tvalid, .s_pkt_tready, .s_pkt_tdata, .s_pkt_tkeep, .s_pkt_tlast, .s_pkt_hdr,
      .m_axis_tvalid, .m_axis_tready, .m_axis_tdata, .m_axis_tkeep, .m_axis_tlast
  );
  stream_sink #(.NAME("m_axis")) u_tx_sink (.tready(m_axis_tready), .*);
  stream_monitor #(.NAME("m_axis")) u_tx_out (
      .tvalid(m_axis_tvalid), .tready(m_axis_tready), .tlast(m_axis_tlast), .tkeep(m_axis_tkeep),
      .tdata(m_axis_tdata), .side(1'b0), .*);

  // ---- wire_rx ---------------------------------------------------------------------------------------
  // rx_axis records what wire_rx takes, be it from the player (s_axis) or from wire_tx.
  stream_player #(.NAME("s_axis")) u_rx_player (
      .tvalid(p_tvalid), .tready(s_axis_tready), .tlast(p_tlast), .tkeep(p_tkeep), .tdata(p_tdata),
      .side(p_side), .player_done(rx_done), .*);

  always_comb begin
    s_axis_tvalid = loop ? m_axis_tvalid && m_axis_tready : p_tvalid;
    s_axis_tlast  = loop ? m_axis_tlast : p_tlast;
    s_axis_tkeep  = loop ? m_axis_tkeep : p_tkeep;
    s_axis_tdata  = loop ? m_axis_tdata : p_tdata;
  end

  stream_monitor #(.NAME("rx_axis")) u_rx_in (
      .tvalid(s_axis_tvalid), .tready(s_axis_tready), .tlast(s_axis_tlast), .tkeep(s_axis_tkeep),
      .tdata(s_axis_tdata), .side(1'b0), .*);
  wire_rx u_rx (
      .clk, .rst, .cfg,
      .s_axis_tvalid, .s_axis_tready, .s_axis_tdata, .s_axis_tkeep, .s_axis_tlast,
      .m_pkt_tvalid, .m_pkt_tready, .m_pkt_tdata, .m_pkt_tkeep, .m_pkt_tlast, .m_pkt_hdr,
      .free_cells, .cnt_good, .cnt_drop_fcs, .cnt_drop_format, .cnt_drop_icrc
  );
  stream_sink #(.NAME("m_pkt")) u_rx_sink (.tready(m_pkt_tready), .*);
  stream_monitor #(.NAME("m_pkt"), .SIDE_W(HDR_W)) u_rx_out (
      .tvalid(m_pkt_tvalid), .tready(m_pkt_tready), .tlast(m_pkt_tlast), .tkeep(m_pkt_tkeep),
      .tdata(m_pkt_tdata), .side(m_pkt_hdr), .*);
  event_recorder #(.NAME("free_cells"), .W(8)) u_free (.value(free_cells), .*);
  event_recorder #(.NAME("good"), .W(32), .CHANGE(1'b1)) u_good (.value(cnt_good), .*);
  event_recorder #(.NAME("drop_fcs"), .W(32), .CHANGE(1'b1)) u_fcs (.value(cnt_drop_fcs), .*);
  event_recorder #(.NAME("drop_format"), .W(32), .CHANGE(1'b1)) u_format (.value(cnt_drop_format), .*);
  event_recorder #(.NAME("drop_icrc"), .W(32), .CHANGE(1'b1)) u_icrc (.value(cnt_drop_icrc), .*);
endmodule

`default_nettype wire
