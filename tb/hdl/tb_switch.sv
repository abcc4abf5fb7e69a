// SPDX-License-Identifier: Apache-2.0
// Bench of the switch: a tb_switch_port at each port; ports up and down, pauses of the far ends and writes of both
// tables at given cycles. Everything that leaves the design is recorded, events as vectors of all ports.
// Files: s<nn>, m<nn>, cr<nn>; port_up, m_pause, table {group, valid, index} and group {ports, mode, number} are played.
`default_nettype none

module tb_switch
  import spec_pkg::*;
#(
    parameter int PORTS     = 8,                                              /// ports of the switch
    parameter int LANES     = 1,                                              /// virtual lanes
    parameter int DATA_W    = 512,                                            /// bits of a beat
    parameter int CELLS     = LINK_BUFFER_CELLS,                              /// cells of an input
    parameter int MAX_BEATS = (FRAME_MAX_BEATS * 512 + DATA_W - 1) / DATA_W,  /// beats of a largest frame
    parameter int EGRESS    = SWITCH_EGRESS_BEATS,                            /// beats of an egress FIFO
    parameter int ADDR_W    = 10,                                             /// bits of a table index
    parameter int GROUPS    = 64,                                             /// groups of next hops
    parameter int ALLOC     = 1,                                              /// 0 round robin, 1..4 iSLIP, 5 wavefront
    parameter int SAF       = 0,                                              /// 1 store and forward
    parameter int TAPS      = 0                                               /// 1: stage stamps sw.voq<i>, sw.xbar<o>
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);

  localparam int GW = $clog2(GROUPS);
  localparam int PW = (PORTS + 31) / 32 * 32;  // a set of ports in a record

  logic stop;
  wire [PORTS+3:0] player_done;
  wire [PORTS-1:0] s_valid, s_ready, s_last, m_valid, m_ready, m_last, m_user;
  wire [PORTS*DATA_W-1:0] s_data, m_data;
  wire [PORTS*DATA_W/8-1:0] s_keep, m_keep;
  wire [PORTS*LANES*2-1:0] free_cells;
  wire [PORTS*LANES-1:0] s_pause, m_pause;
  wire [PORTS*LANES*8-1:0] m_credit;
  wire [PORTS*4-1:0] drop;
  wire [PORTS-1:0] mc_lost, lost, ecn, live, port_up, up;
  wire cfg_roce, cfg_pfc, cfg_credit_en, gate;
  wire [31:0] cfg_prefix;
  wire [15:0] cfg_seed, cfg_xoff, cfg_xon, cfg_ecn, cfg_credit_init;
  wire [3:0] cfg_adapt_shift;

  tb_ctl #(.N_PLAYERS(PORTS + 4), .N_ACTIVITY(4)) u_ctl (
      .activity({s_valid != '0, m_valid != '0, free_cells != '0, m_credit != '0}), .*);

  tb_cfg #(.NAME("roce"), .W(1)) u_roce (.q(cfg_roce), .*);
  tb_cfg #(.NAME("prefix"), .W(32)) u_prefix (.q(cfg_prefix), .*);
  tb_cfg #(.NAME("seed"), .W(16)) u_seed (.q(cfg_seed), .*);
  tb_cfg #(.NAME("pfc"), .W(1)) u_pfc (.q(cfg_pfc), .*);
  tb_cfg #(.NAME("xoff"), .W(16)) u_xoff (.q(cfg_xoff), .*);
  tb_cfg #(.NAME("xon"), .W(16)) u_xon (.q(cfg_xon), .*);
  tb_cfg #(.NAME("ecn_at"), .W(16)) u_ecn_at (.q(cfg_ecn), .*);
  tb_cfg #(.NAME("credit_en"), .W(1)) u_credit_en (.q(cfg_credit_en), .*);
  tb_cfg #(.NAME("credit_init"), .W(16)) u_credit_init (.q(cfg_credit_init), .*);
  tb_cfg #(.NAME("adapt_shift"), .W(4)) u_adapt_shift (.q(cfg_adapt_shift), .*);
  tb_cfg #(.NAME("gate"), .W(1)) u_gate (.q(gate), .*);
  tb_cfg #(.NAME("up"), .W(PORTS)) u_up (.q(up), .*);

  timed_value #(.NAME("port_up"), .W(PORTS)) u_port_up (
      .init(up), .q(port_up), .player_done(player_done[PORTS]), .*);
  timed_value #(.NAME("m_pause"), .W(PORTS*LANES)) u_m_pause (
      .init({(PORTS * LANES) {1'b0}}), .q(m_pause), .player_done(player_done[PORTS+1]), .*);

  wire tbl_we, grp_we;
  /* verilator lint_off UNUSEDSIGNAL */  // a player's data are whole words; the fields need fewer bits
  wire [63:0] tbl;
  wire [63+PW:0] grp;
  /* verilator lint_on UNUSEDSIGNAL */
  stream_player #(.NAME("table"), .DATA_W(64)) u_table (
      .tvalid(tbl_we), .tready(1'b1), .tlast(), .tkeep(), .tdata(tbl), .side(),
      .player_done(player_done[PORTS+2]), .*);
  stream_player #(.NAME("group"), .DATA_W(64 + PW)) u_group (
      .tvalid(grp_we), .tready(1'b1), .tlast(), .tkeep(), .tdata(grp), .side(),
      .player_done(player_done[PORTS+3]), .*);

  switch #(
      .PORTS    (PORTS),
      .LANES    (LANES),
      .DATA_W   (DATA_W),
      .CELLS    (CELLS),
      .MAX_BEATS(MAX_BEATS),
      .EGRESS   (EGRESS),
      .ADDR_W   (ADDR_W),
      .GROUPS   (GROUPS),
      .ALLOC    (ALLOC),
      .SAF      (SAF != 0),
      .TAP_PREFIX(TAPS != 0 ? "sw" : "")
  ) dut (
      .clk            (clk),
      .rst            (rst),
      .cfg_roce       (cfg_roce),
      .cfg_prefix     (cfg_prefix),
      .cfg_seed       (cfg_seed),
      .cfg_pfc        (cfg_pfc),
      .cfg_xoff       (cfg_xoff),
      .cfg_xon        (cfg_xon),
      .cfg_ecn        (cfg_ecn),
      .cfg_credit_en  (cfg_credit_en),
      .cfg_credit_init(cfg_credit_init),
      .cfg_adapt_shift(cfg_adapt_shift),
      .port_up        (port_up),
      .tbl_we         (tbl_we),
      .tbl_addr       (tbl[ADDR_W-1:0]),
      .tbl_valid      (tbl[32]),
      .tbl_group      (tbl[33+:GW]),
      .grp_we         (grp_we),
      .grp_addr       (grp[GW-1:0]),
      .grp_mode       (grp[33:32]),
      .grp_ports      (grp[64+:PORTS]),
      .s_axis_tvalid  (s_valid),
      .s_axis_tready  (s_ready),
      .s_axis_tdata   (s_data),
      .s_axis_tkeep   (s_keep),
      .s_axis_tlast   (s_last),
      .free_cells     (free_cells),
      .s_pause        (s_pause),
      .m_axis_tvalid  (m_valid),
      .m_axis_tready  (m_ready),
      .m_axis_tdata   (m_data),
      .m_axis_tkeep   (m_keep),
      .m_axis_tlast   (m_last),
      .m_axis_tuser   (m_user),
      .m_credit       (m_credit),
      .m_pause        (m_pause),
      .drop           (drop),
      .mc_lost        (mc_lost),
      .lost           (lost),
      .ecn            (ecn),
      .live           (live),
      .drained        (),
      .in_use         (),
      .credits        ()
  );

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    tb_switch_port #(.LANES(LANES), .DATA_W(DATA_W), .QUOTA(CELLS / LANES), .MAX_BEATS(MAX_BEATS)) u_port (
        .number       (7'(p)),
        .roce         (cfg_roce),
        .gate         (gate),
        .player_done  (player_done[p]),
        .s_axis_tvalid(s_valid[p]),
        .s_axis_tready(s_ready[p]),
        .s_axis_tdata (s_data[p*DATA_W+:DATA_W]),
        .s_axis_tkeep (s_keep[p*DATA_W/8+:DATA_W/8]),
        .s_axis_tlast (s_last[p]),
        .free_cells   (free_cells[p*LANES*2+:LANES*2]),
        .live         (live[p]),
        .m_axis_tvalid(m_valid[p]),
        .m_axis_tready(m_ready[p]),
        .m_axis_tdata (m_data[p*DATA_W+:DATA_W]),
        .m_axis_tkeep (m_keep[p*DATA_W/8+:DATA_W/8]),
        .m_axis_tlast (m_last[p]),
        .m_axis_tuser (m_user[p]),
        .m_credit     (m_credit[p*LANES*8+:LANES*8]),
        .*
    );
  end

  event_recorder #(.NAME("free"), .W(PORTS*LANES*2)) u_free (.value(free_cells), .*);
  event_recorder #(.NAME("drop"), .W(PORTS*4)) u_drop (.value(drop), .*);
  event_recorder #(.NAME("mc_lost"), .W(PORTS)) u_mc_lost (.value(mc_lost), .*);
  event_recorder #(.NAME("lost"), .W(PORTS)) u_lost (.value(lost), .*);
  event_recorder #(.NAME("ecn"), .W(PORTS)) u_ecn (.value(ecn), .*);
  event_recorder #(.NAME("s_pause"), .W(PORTS*LANES), .CHANGE(1'b1)) u_s_pause (.value(s_pause), .*);
  event_recorder #(.NAME("live"), .W(PORTS), .CHANGE(1'b1)) u_live (.value(live), .*);

endmodule

`default_nettype wire
