// SPDX-License-Identifier: Apache-2.0
// Bench of the switch: a player at each input, a sink at each output, the table written through a port of
// its own. Everything that leaves the design is recorded.
`default_nettype none

module tb_switch #(
    parameter int PORTS = 8  /// ports of the switch
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);

  localparam int PW = $clog2(PORTS);

  logic stop;
  logic [PORTS:0] player_done;
  logic [PORTS-1:0] s_valid, s_ready, s_last, m_valid, m_ready, m_last;
  logic [PORTS*64-1:0] s_keep, m_keep;
  logic [PORTS*512-1:0] s_data, m_data;
  logic [PORTS*8-1:0] free_cells;
  logic [31:0] unknown, long_frames;
  logic cfg_roce;
  logic [21:0] cfg_prefix;

  tb_ctl #(.N_PLAYERS(PORTS + 1), .N_ACTIVITY(3)) u_ctl (
      .activity({s_valid != '0, m_valid != '0, free_cells != '0}), .*);
  tb_cfg #(.NAME("roce"), .W(1)) u_roce (.q(cfg_roce), .*);
  tb_cfg #(.NAME("prefix"), .W(22)) u_prefix (.q(cfg_prefix), .*);

  // Table writes: {port, valid, index} in the low bits of a 32-bit beat, one a cycle.
  logic tbl_we;
  /* verilator lint_off UNUSEDSIGNAL */  // a player's data are whole words; the entry needs fewer bits
  logic [31:0] tbl_data;
  /* verilator lint_on UNUSEDSIGNAL */
  stream_player #(.NAME("table"), .DATA_W(32)) u_table (
      .tvalid(tbl_we), .tready(1'b1), .tlast(), .tkeep(), .tdata(tbl_data), .side(),
      .player_done(player_done[PORTS]), .*);

  switch #(
      .PORTS(PORTS)
  ) dut (
      .clk             (clk),
      .rst             (rst),
      .cfg_roce        (cfg_roce),
      .cfg_prefix      (cfg_prefix),
      .tbl_we          (tbl_we),
      .tbl_addr        (tbl_data[9:0]),
      .tbl_valid       (tbl_data[10]),
      .tbl_port        (tbl_data[11+:PW]),
      .s_axis_tvalid   (s_valid),
      .s_axis_tready   (s_ready),
      .s_axis_tdata    (s_data),
      .s_axis_tkeep    (s_keep),
      .s_axis_tlast    (s_last),
      .m_axis_tvalid   (m_valid),
      .m_axis_tready   (m_ready),
      .m_axis_tdata    (m_data),
      .m_axis_tkeep    (m_keep),
      .m_axis_tlast    (m_last),
      .free_cells      (free_cells),
      .cnt_drop_unknown(unknown),
      .cnt_drop_long   (long_frames)
  );

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    stream_player #(.NAME({"s", 8'(48 + p)})) u_player (
        .tvalid(s_valid[p]), .tready(s_ready[p]), .tlast(s_last[p]), .tkeep(s_keep[p*64+:64]),
        .tdata(s_data[p*512+:512]), .side(), .player_done(player_done[p]), .*);
    stream_monitor #(.NAME({"s", 8'(48 + p)})) u_s (
        .tvalid(s_valid[p]), .tready(s_ready[p]), .tlast(s_last[p]), .tkeep(s_keep[p*64+:64]),
        .tdata(s_data[p*512+:512]), .side(1'b0), .*);
    stream_sink #(.NAME({"m", 8'(48 + p)})) u_sink (.tready(m_ready[p]), .*);
    stream_monitor #(.NAME({"m", 8'(48 + p)})) u_m (
        .tvalid(m_valid[p]), .tready(m_ready[p]), .tlast(m_last[p]), .tkeep(m_keep[p*64+:64]),
        .tdata(m_data[p*512+:512]), .side(1'b0), .*);
    event_recorder #(.NAME({"free", 8'(48 + p)}), .W(8)) u_free (.value(free_cells[p*8+:8]), .*);
  end
  event_recorder #(.NAME("unknown"), .W(32), .CHANGE(1'b1)) u_unknown (.value(unknown), .*);
  event_recorder #(.NAME("long"), .W(32), .CHANGE(1'b1)) u_long (.value(long_frames), .*);

endmodule

`default_nettype wire
