// SPDX-License-Identifier: Apache-2.0
// Bench of the link: ends a and b over a cable, each between a player and a core that frees late. What
// each puts on its cable side, gives its core, and counts is recorded.
`default_nettype none

module tb_link
  import microhop_pkg::*;
#(
    parameter int CNT_INIT = 0  /// credit counters at reset
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);

  logic stop;
  logic [1:0] player_done;
  logic [7:0] cable_delay;

  logic [1:0] busy;  // something moves at this end
  logic a_player_done, b_player_done;
  assign player_done = {b_player_done, a_player_done};

  tb_ctl #(.N_PLAYERS(2), .N_ACTIVITY(2)) u_ctl (.activity(busy), .*);
  tb_cfg #(.NAME("cable"), .W(8)) u_cable_cfg (.q(cable_delay), .*);

  // ---- end a ----------------------------------------------------------------------------------------
  logic [LINK_CFG_W-1:0] a_cfg;
  logic a_all;
  logic a_s_valid, a_s_ready, a_s_last, a_m_valid, a_m_last, a_go;
  logic [63:0] a_s_keep, a_m_keep;
  logic [511:0] a_s_data, a_m_data;
  logic [7:0] a_free;
  logic [15:0] a_credits;
  logic [31:0] a_tx_frames, a_rx_frames;
  cable_t a_tx, a_rx;
  assign busy[0] = a_s_valid || a_m_valid || a_tx.tvalid || a_tx.ctl_valid || a_free != '0;

  tb_cfg #(.NAME("a_link"), .W(LINK_CFG_W)) u_a_cfg (.q(a_cfg), .*);
  tb_cfg #(.NAME("a_all"), .W(1)) u_a_all (.q(a_all), .*);
  stream_player #(.NAME("a_s")) u_a_player (
      .tvalid(a_s_valid), .tready(a_s_ready), .tlast(a_s_last), .tkeep(a_s_keep), .tdata(a_s_data),
      .side(), .player_done(a_player_done), .*);
  stream_monitor #(.NAME("a_s")) u_a_s (
      .tvalid(a_s_valid), .tready(a_s_ready), .tlast(a_s_last), .tkeep(a_s_keep), .tdata(a_s_data),
      .side(1'b0), .*);
  link #(
      .CNT_INIT(CNT_INIT)
  ) u_a (
      .clk(clk), .rst(rst), .cfg(a_cfg),
      .s_axis_tvalid(a_s_valid), .s_axis_tready(a_s_ready), .s_axis_tdata(a_s_data),
      .s_axis_tkeep(a_s_keep), .s_axis_tlast(a_s_last),
      .m_axis_tvalid(a_m_valid), .m_axis_tdata(a_m_data), .m_axis_tkeep(a_m_keep),
      .m_axis_tlast(a_m_last), .free_cells(a_free),
      .tx_tvalid(a_tx.tvalid), .tx_tdata(a_tx.tdata), .tx_tkeep(a_tx.tkeep), .tx_tlast(a_tx.tlast),
      .tx_ctl_valid(a_tx.ctl_valid), .tx_ctl_cf(a_tx.ctl_cf),
      .rx_tvalid(a_rx.tvalid), .rx_tdata(a_rx.tdata), .rx_tkeep(a_rx.tkeep), .rx_tlast(a_rx.tlast),
      .rx_ctl_valid(a_rx.ctl_valid), .rx_ctl_cf(a_rx.ctl_cf),
      .credits(a_credits), .cnt_tx_frames(a_tx_frames), .cnt_rx_frames(a_rx_frames)
  );
  cable u_a_to_b (.clk(clk), .rst(rst), .cfg_delay(cable_delay), .s(a_tx), .m(b_rx));
  stream_sink #(.NAME("a_go")) u_a_go (.tready(a_go), .*);
  link_core u_a_core (
      .clk(clk), .rst(rst), .cfg_all(a_all), .tvalid(a_m_valid), .go(a_go), .free_cells(a_free));

  stream_monitor #(.NAME("a_m")) u_a_m (
      .tvalid(a_m_valid), .tready(1'b1), .tlast(a_m_last), .tkeep(a_m_keep), .tdata(a_m_data),
      .side(1'b0), .*);
  stream_monitor #(.NAME("a_tx")) u_a_tx (
      .tvalid(a_tx.tvalid), .tready(1'b1), .tlast(a_tx.tlast), .tkeep(a_tx.tkeep), .tdata(a_tx.tdata),
      .side(1'b0), .*);
  // A set's counter may be anything before the first one, so it counts only with its valid.
  event_recorder #(.NAME("a_ctl"), .W(17)) u_a_ctl (
      .value({a_tx.ctl_valid, a_tx.ctl_valid ? a_tx.ctl_cf : 16'd0}), .*);
  event_recorder #(.NAME("a_free"), .W(8)) u_a_free (.value(a_free), .*);
  event_recorder #(.NAME("a_credits"), .W(16), .CHANGE(1'b1)) u_a_credits (.value(a_credits), .*);
  event_recorder #(.NAME("a_tx_frames"), .W(32), .CHANGE(1'b1)) u_a_tx_frames (.value(a_tx_frames), .*);
  event_recorder #(.NAME("a_rx_frames"), .W(32), .CHANGE(1'b1)) u_a_rx_frames (.value(a_rx_frames), .*);

  // ---- end b ----------------------------------------------------------------------------------------
  logic [LINK_CFG_W-1:0] b_cfg;
  logic b_all;
  logic b_s_valid, b_s_ready, b_s_last, b_m_valid, b_m_last, b_go;
  logic [63:0] b_s_keep, b_m_keep;
  logic [511:0] b_s_data, b_m_data;
  logic [7:0] b_free;
  logic [15:0] b_credits;
  logic [31:0] b_tx_frames, b_rx_frames;
  cable_t b_tx, b_rx;
  assign busy[1] = b_s_valid || b_m_valid || b_tx.tvalid || b_tx.ctl_valid || b_free != '0;

  tb_cfg #(.NAME("b_link"), .W(LINK_CFG_W)) u_b_cfg (.q(b_cfg), .*);
  tb_cfg #(.NAME("b_all"), .W(1)) u_b_all (.q(b_all), .*);
  stream_player #(.NAME("b_s")) u_b_player (
      .tvalid(b_s_valid), .tready(b_s_ready), .tlast(b_s_last), .tkeep(b_s_keep), .tdata(b_s_data),
      .side(), .player_done(b_player_done), .*);
  stream_monitor #(.NAME("b_s")) u_b_s (
      .tvalid(b_s_valid), .tready(b_s_ready), .tlast(b_s_last), .tkeep(b_s_keep), .tdata(b_s_data),
      .side(1'b0), .*);
  link #(
      .CNT_INIT(CNT_INIT)
  ) u_b (
      .clk(clk), .rst(rst), .cfg(b_cfg),
      .s_axis_tvalid(b_s_valid), .s_axis_tready(b_s_ready), .s_axis_tdata(b_s_data),
      .s_axis_tkeep(b_s_keep), .s_axis_tlast(b_s_last),
      .m_axis_tvalid(b_m_valid), .m_axis_tdata(b_m_data), .m_axis_tkeep(b_m_keep),
      .m_axis_tlast(b_m_last), .free_cells(b_free),
      .tx_tvalid(b_tx.tvalid), .tx_tdata(b_tx.tdata), .tx_tkeep(b_tx.tkeep), .tx_tlast(b_tx.tlast),
      .tx_ctl_valid(b_tx.ctl_valid), .tx_ctl_cf(b_tx.ctl_cf),
      .rx_tvalid(b_rx.tvalid), .rx_tdata(b_rx.tdata), .rx_tkeep(b_rx.tkeep), .rx_tlast(b_rx.tlast),
      .rx_ctl_valid(b_rx.ctl_valid), .rx_ctl_cf(b_rx.ctl_cf),
      .credits(b_credits), .cnt_tx_frames(b_tx_frames), .cnt_rx_frames(b_rx_frames)
  );
  cable u_b_to_a (.clk(clk), .rst(rst), .cfg_delay(cable_delay), .s(b_tx), .m(a_rx));
  stream_sink #(.NAME("b_go")) u_b_go (.tready(b_go), .*);
  link_core u_b_core (
      .clk(clk), .rst(rst), .cfg_all(b_all), .tvalid(b_m_valid), .go(b_go), .free_cells(b_free));

  stream_monitor #(.NAME("b_m")) u_b_m (
      .tvalid(b_m_valid), .tready(1'b1), .tlast(b_m_last), .tkeep(b_m_keep), .tdata(b_m_data),
      .side(1'b0), .*);
  stream_monitor #(.NAME("b_tx")) u_b_tx (
      .tvalid(b_tx.tvalid), .tready(1'b1), .tlast(b_tx.tlast), .tkeep(b_tx.tkeep), .tdata(b_tx.tdata),
      .side(1'b0), .*);
  // A set's counter may be anything before the first one, so it counts only with its valid.
  event_recorder #(.NAME("b_ctl"), .W(17)) u_b_ctl (
      .value({b_tx.ctl_valid, b_tx.ctl_valid ? b_tx.ctl_cf : 16'd0}), .*);
  event_recorder #(.NAME("b_free"), .W(8)) u_b_free (.value(b_free), .*);
  event_recorder #(.NAME("b_credits"), .W(16), .CHANGE(1'b1)) u_b_credits (.value(b_credits), .*);
  event_recorder #(.NAME("b_tx_frames"), .W(32), .CHANGE(1'b1)) u_b_tx_frames (.value(b_tx_frames), .*);
  event_recorder #(.NAME("b_rx_frames"), .W(32), .CHANGE(1'b1)) u_b_rx_frames (.value(b_rx_frames), .*);

endmodule

`default_nettype wire
