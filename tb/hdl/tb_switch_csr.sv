// SPDX-License-Identifier: Apache-2.0
// Bench of the switch's registers. SWITCH 0: switch_csr alone, its events played as levels of one vector (EVENT_BITS
// a port, tb.switch_csr.access.columns names them), what it tells the switch recorded. SWITCH 1:
// switch_top, configured through AXI4-Lite only, with a tb_switch_port at each port and link states at given cycles.
`default_nettype none

module tb_switch_csr
  import spec_pkg::*;
#(
    parameter int SWITCH    = 0,                    /// 1: with the switch behind them
    parameter int PORTS     = 4,                    /// ports
    parameter int LANES     = 1,                    /// virtual lanes
    parameter int CELLS     = LINK_BUFFER_CELLS,    /// cells of an input
    parameter int MAX_BEATS = FRAME_MAX_BEATS,      /// beats of a largest frame
    parameter int EGRESS    = SWITCH_EGRESS_BEATS,  /// beats of an egress FIFO
    parameter int ADDR_W    = 10,                   /// bits of a table index
    parameter int GROUPS    = 64,                   /// groups of next hops
    parameter int ALLOC     = 1,                    /// allocator
    parameter int SAF       = 0                     /// 1 store and forward
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int DATA_W = 512;
  localparam int EVENT_BITS = 30 + 18 * LANES;
  localparam int GW = $clog2(GROUPS);
  localparam int CFG_W = 119;

  logic stop;
  wire axil_done, active, others_done;
  wire [16:0] s_axil_awaddr, s_axil_araddr;
  wire [31:0] s_axil_wdata, s_axil_rdata;
  wire [3:0] s_axil_wstrb;
  wire [1:0] s_axil_bresp, s_axil_rresp;
  wire s_axil_awvalid, s_axil_awready, s_axil_wvalid, s_axil_wready, s_axil_bvalid, s_axil_bready;
  wire s_axil_arvalid, s_axil_arready, s_axil_rvalid, s_axil_rready;

  tb_ctl #(.N_PLAYERS(2), .N_ACTIVITY(3)) u_ctl (
      .player_done({axil_done, others_done}), .activity({s_axil_bvalid, s_axil_rvalid, active}), .*);

  axil_player #(.NAME("axil")) u_axil (
      .player_done(axil_done),
      .m_axil_awaddr(s_axil_awaddr), .m_axil_awvalid(s_axil_awvalid), .m_axil_awready(s_axil_awready),
      .m_axil_wdata(s_axil_wdata), .m_axil_wstrb(s_axil_wstrb), .m_axil_wvalid(s_axil_wvalid),
      .m_axil_wready(s_axil_wready), .m_axil_bresp(s_axil_bresp), .m_axil_bvalid(s_axil_bvalid),
      .m_axil_bready(s_axil_bready), .m_axil_araddr(s_axil_araddr), .m_axil_arvalid(s_axil_arvalid),
      .m_axil_arready(s_axil_arready), .m_axil_rdata(s_axil_rdata), .m_axil_rresp(s_axil_rresp),
      .m_axil_rvalid(s_axil_rvalid), .m_axil_rready(s_axil_rready), .*);

  if (SWITCH == 0) begin : g_csr
    wire [PORTS*EVENT_BITS-1:0] events;
    wire [PORTS-1:0] port_up, live, s_beat, s_last, m_beat, m_last, lost, mc_lost, ecn, port_enable, grp_ports;
    wire [PORTS-1:0] m_wait;
    wire [PORTS*4-1:0] drop;
    wire [PORTS*LANES-1:0] s_pause, m_pause;
    wire [PORTS*16-1:0] in_use;
    wire [PORTS*LANES*16-1:0] credits, by_lane;  // by_lane: all ports' lane 0 lowest
    wire cfg_roce, cfg_pfc, cfg_credit_en, tbl_we, tbl_valid, grp_we;
    wire [31:0] cfg_prefix;
    wire [15:0] cfg_seed, cfg_xoff, cfg_xon, cfg_ecn, cfg_credit_init;
    wire [3:0] cfg_adapt_shift;
    wire [ADDR_W-1:0] tbl_addr;
    wire [GW-1:0] tbl_group, grp_addr;
    wire [1:0] grp_mode;

    assign active = tbl_we || grp_we;
    timed_value #(.NAME("events"), .W(PORTS*EVENT_BITS)) u_events (
        .init({(PORTS * EVENT_BITS) {1'b0}}), .q(events), .player_done(others_done), .*);
    for (genvar p = 0; p < PORTS; p++) begin : g_credits
      for (genvar v = 0; v < LANES; v++) begin : g_lane
        assign credits[(p*LANES+v)*16+:16] = by_lane[(v*PORTS+p)*16+:16];
      end
    end
    assign {by_lane, in_use, m_wait, m_pause, s_pause, ecn, mc_lost,
            lost, drop, m_last, m_beat, s_last, s_beat, live, port_up} = events;

    switch_csr #(
        .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .CELLS(CELLS), .MAX_BEATS(MAX_BEATS), .EGRESS(EGRESS),
        .ADDR_W(ADDR_W), .GROUPS(GROUPS), .ALLOC(ALLOC), .SAF(SAF != 0)
    ) dut (.*);

    event_recorder #(.NAME("cfg"), .W(CFG_W), .CHANGE(1'b1)) u_cfg (
        .value({cfg_adapt_shift, cfg_credit_init, cfg_credit_en, cfg_ecn, cfg_xon, cfg_xoff, cfg_pfc, cfg_seed,
                cfg_prefix, cfg_roce}), .*);
    event_recorder #(.NAME("enable"), .W(PORTS), .CHANGE(1'b1)) u_enable (.value(port_enable), .*);
    event_recorder #(.NAME("table"), .W(64)) u_table (
        .value(tbl_we ? {14'd0, 1'b1, tbl_valid, 16'(tbl_group), 32'(tbl_addr)} : 64'd0), .*);
    event_recorder #(.NAME("group"), .W(32+PORTS)) u_group (
        .value(grp_we ? {grp_ports, 12'd0, 1'b1, 1'b0, grp_mode, 16'(grp_addr)} : {(32 + PORTS) {1'b0}}), .*);
  end else begin : g_switch
    wire [PORTS+1:0] player_done;
    wire [PORTS-1:0] s_axis_tvalid, s_axis_tready, s_axis_tlast, m_axis_tvalid, m_axis_tready, m_axis_tlast;
    wire [PORTS-1:0] m_axis_tuser, mc_lost, lost, ecn, live, port_up_i, up;
    wire [PORTS*DATA_W-1:0] s_axis_tdata, m_axis_tdata;
    wire [PORTS*DATA_W/8-1:0] s_axis_tkeep, m_axis_tkeep;
    wire [PORTS*LANES*2-1:0] free_cells;
    wire [PORTS*LANES*8-1:0] m_credit;
    wire [PORTS*4-1:0] drop;
    wire [PORTS*LANES-1:0] s_pause, m_pause;
    wire roce, gate;

    assign others_done = &player_done;
    assign active = s_axis_tvalid != '0 || m_axis_tvalid != '0 || free_cells != '0 || m_credit != '0;
    tb_cfg #(.NAME("roce"), .W(1)) u_roce (.q(roce), .*);
    tb_cfg #(.NAME("gate"), .W(1)) u_gate (.q(gate), .*);
    tb_cfg #(.NAME("up"), .W(PORTS)) u_up (.q(up), .*);
    timed_value #(.NAME("port_up"), .W(PORTS)) u_port_up (
        .init(up), .q(port_up_i), .player_done(player_done[PORTS]), .*);
    timed_value #(.NAME("m_pause"), .W(PORTS*LANES)) u_m_pause (
        .init({(PORTS * LANES) {1'b0}}), .q(m_pause), .player_done(player_done[PORTS+1]), .*);

    switch_top #(
        .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .CELLS(CELLS), .MAX_BEATS(MAX_BEATS), .EGRESS(EGRESS),
        .ADDR_W(ADDR_W), .GROUPS(GROUPS), .ALLOC(ALLOC), .SAF(SAF != 0)
    ) dut (.drained(), .*);

    for (genvar p = 0; p < PORTS; p++) begin : g_port
      tb_switch_port #(.LANES(LANES), .DATA_W(DATA_W), .QUOTA(CELLS / LANES), .MAX_BEATS(MAX_BEATS)) u_port (
          .number       (7'(p)),
          .gate         (gate),
          .live         (live[p]),
          .player_done  (player_done[p]),
          .s_axis_tvalid(s_axis_tvalid[p]),
          .s_axis_tready(s_axis_tready[p]),
          .s_axis_tdata (s_axis_tdata[p*DATA_W+:DATA_W]),
          .s_axis_tkeep (s_axis_tkeep[p*DATA_W/8+:DATA_W/8]),
          .s_axis_tlast (s_axis_tlast[p]),
          .free_cells   (free_cells[p*LANES*2+:LANES*2]),
          .m_axis_tvalid(m_axis_tvalid[p]),
          .m_axis_tready(m_axis_tready[p]),
          .m_axis_tdata (m_axis_tdata[p*DATA_W+:DATA_W]),
          .m_axis_tkeep (m_axis_tkeep[p*DATA_W/8+:DATA_W/8]),
          .m_axis_tlast (m_axis_tlast[p]),
          .m_axis_tuser (m_axis_tuser[p]),
          .m_credit     (m_credit[p*LANES*8+:LANES*8]),
          .*
      );
    end

    event_recorder #(.NAME("free"), .W(PORTS*LANES*2)) u_free (.value(free_cells), .*);
    event_recorder #(.NAME("s_pause"), .W(PORTS*LANES), .CHANGE(1'b1)) u_s_pause (.value(s_pause), .*);
    event_recorder #(.NAME("drop"), .W(PORTS*4)) u_drop (.value(drop), .*);
    event_recorder #(.NAME("mc_lost"), .W(PORTS)) u_mc_lost (.value(mc_lost), .*);
    event_recorder #(.NAME("lost"), .W(PORTS)) u_lost (.value(lost), .*);
    event_recorder #(.NAME("ecn"), .W(PORTS)) u_ecn (.value(ecn), .*);
    event_recorder #(.NAME("waited"), .W(PORTS)) u_waited (.value(m_axis_tvalid & ~m_axis_tready), .*);
    event_recorder #(.NAME("live"), .W(PORTS), .CHANGE(1'b1)) u_live (.value(live), .*);
  end
endmodule

`default_nettype wire
