// SPDX-License-Identifier: Apache-2.0
// Bench of the fabric: two NICs, each with its memory (host and GPU window) and a player of stores into its
// UAR page; what the NICs send is recorded at the near ends of their cables.
// Files of a phase: net.cfg, err.cfg {seed, on}, thr.cfg (31 thresholds, the first lowest, written at its start), qp_a.cfg, qp_b.cfg, tbl.play, store_a/b.store, mem_a/b.*; records: cable_a/b,
// mem_a/b, store_a/b, status, pausing, short.
`default_nettype none

module tb_fabric
  import microhop_pkg::*;
#(
    parameter int HOST_LINES = 65536,  /// 64-byte lines of each host memory
    parameter int GPU_LINES  = 262144,  /// 64-byte lines of each GPU memory
    parameter bit ERRORS     = 1'b0     /// cables with phy_errors
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int NET_W = 2 + 8 + 1 + 22 + LINK_CFG_W;
  localparam int QP_W = DOORBELL_CFG_W + RDMA_CFG_W + 4 * MR_W + WIRE_CFG_W;
  localparam int TBL_W = 3 + 10 + 1 + 3;

  logic stop;
  logic [2:0] player_done;
  wire [1:0] mem_activity;

  logic [NET_W-1:0] net_q;
  wire [1:0] cfg_topology;
  wire [7:0] cfg_cable;
  wire cfg_roce;
  wire [21:0] cfg_prefix;
  wire [LINK_CFG_W-1:0] cfg_link;
  assign {cfg_topology, cfg_cable, cfg_roce, cfg_prefix, cfg_link} = net_q;
  tb_cfg #(.NAME("net"), .W(NET_W)) u_net (.q(net_q), .*);

  wire [64:0] err;
  /* verilator lint_off UNUSEDSIGNAL */  // without ERRORS
  wire [31*64-1:0] thresholds;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [5:0] entry;  // threshold to be written, 0: none
  wire [4:0] row = entry == '0 ? 5'd0 : 5'(entry - 6'd1);
  tb_cfg #(.NAME("err"), .W(65)) u_err (.q(err), .*);
  tb_cfg #(.NAME("thr"), .W(31 * 64)) u_thr (.q(thresholds), .*);
  always_ff @(posedge clk) begin
    if (start) entry <= 6'd1;
    else if (entry != '0) entry <= entry == 6'd31 ? 6'd0 : entry + 6'd1;
  end
  initial entry = '0;

  wire [2*DOORBELL_CFG_W-1:0] cfg_doorbell;
  wire [2*RDMA_CFG_W-1:0] cfg_rdma;
  wire [2*4*MR_W-1:0] cfg_mr;
  wire [2*WIRE_CFG_W-1:0] cfg_wire;

  logic tbl_valid_q;
  logic [TBL_W-1:0] tbl_q;
  wire [2:0] tbl_sel;
  wire [9:0] tbl_addr;
  wire tbl_entry;
  wire [2:0] tbl_port;
  assign {tbl_sel, tbl_addr, tbl_entry, tbl_port} = tbl_q;
  /* verilator lint_off PINCONNECTEMPTY */  // the table stream carries everything in its side band
  stream_player #(.NAME("tbl"), .DATA_W(32), .SIDE_W(TBL_W)) u_tbl (
      .tvalid(tbl_valid_q), .tready(1'b1), .tlast(), .tkeep(), .tdata(), .side(tbl_q),
      .player_done(player_done[2]), .*);
  /* verilator lint_on PINCONNECTEMPTY */

  wire [2*12-1:0] uar_awaddr;
  wire [2*8-1:0] uar_awlen;
  wire [1:0] uar_awvalid, uar_awready, uar_wlast, uar_wvalid, uar_wready, uar_bvalid, uar_bready;
  wire [2*512-1:0] uar_wdata;
  wire [2*64-1:0] uar_wstrb;
  wire [2*2-1:0] uar_bresp;
  wire [2*4-1:0] arid, rid, awid, bid;
  wire [2*64-1:0] araddr, awaddr, wstrb;
  wire [2*8-1:0] arlen, awlen;
  wire [1:0] arvalid, arready, rlast, rvalid, awvalid, awready, wlast, wvalid, wready, bvalid, bready;
  wire [2*512-1:0] rdata, wdata;
  wire [2*2-1:0] rresp, bresp;
  wire [1:0] mon_tvalid, mon_tlast, halted;
  wire [2*512-1:0] mon_tdata;
  wire [2*64-1:0] mon_tkeep;
  wire [5:0] qp_state;
  wire [63:0] cnt_dropped;
  wire [95:0] cnt_unknown;

  tb_ctl #(.N_PLAYERS(3), .N_ACTIVITY(3)) u_ctl (.activity({|mem_activity, |mon_tvalid, |uar_wvalid}), .*);

  fabric #(.ERRORS(ERRORS)) dut (
      .clk(clk), .rst(rst),
      .cfg_topology(cfg_topology), .cfg_cable(cfg_cable), .cfg_roce(cfg_roce), .cfg_prefix(cfg_prefix),
      .cfg_link(cfg_link), .cfg_err_on(err[0]), .cfg_err_seed(err[64:1]), .thr_we(entry != '0),
      .thr_addr(entry[4:0]), .thr_data(thresholds[64*32'(row)+:64]),
      .tbl_we(tbl_valid_q ? tbl_sel : 3'b0), .tbl_addr(tbl_addr), .tbl_valid(tbl_entry), .tbl_port(tbl_port),
      .cfg_doorbell(cfg_doorbell), .cfg_rdma(cfg_rdma), .cfg_mr(cfg_mr), .cfg_wire(cfg_wire),
      .s_uar_awaddr(uar_awaddr), .s_uar_awlen(uar_awlen), .s_uar_awvalid(uar_awvalid),
      .s_uar_awready(uar_awready), .s_uar_wdata(uar_wdata), .s_uar_wstrb(uar_wstrb),
      .s_uar_wlast(uar_wlast), .s_uar_wvalid(uar_wvalid), .s_uar_wready(uar_wready),
      .s_uar_bresp(uar_bresp), .s_uar_bvalid(uar_bvalid), .s_uar_bready(uar_bready),
      .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arvalid(arvalid),
      .m_axi_arready(arready), .m_axi_rid(rid), .m_axi_rdata(rdata), .m_axi_rresp(rresp),
      .m_axi_rlast(rlast), .m_axi_rvalid(rvalid),
      .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awvalid(awvalid),
      .m_axi_awready(awready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast),
      .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_bid(bid), .m_axi_bresp(bresp),
      .m_axi_bvalid(bvalid), .m_axi_bready(bready),
      .mon_tvalid(mon_tvalid), .mon_tdata(mon_tdata), .mon_tkeep(mon_tkeep), .mon_tlast(mon_tlast),
      .halted(halted), .qp_state(qp_state), .cnt_dropped(cnt_dropped), .cnt_unknown(cnt_unknown)
  );

  for (genvar i = 0; i < 2; i++) begin : g_nic
    logic [QP_W-1:0] qp_q;
    assign {
      cfg_doorbell[i*DOORBELL_CFG_W+:DOORBELL_CFG_W], cfg_rdma[i*RDMA_CFG_W+:RDMA_CFG_W],
      cfg_mr[i*4*MR_W+:4*MR_W], cfg_wire[i*WIRE_CFG_W+:WIRE_CFG_W]
    } = qp_q;
    tb_cfg #(.NAME(i == 0 ? "qp_a" : "qp_b"), .W(QP_W)) u_cfg (.q(qp_q), .*);

    /* verilator lint_off PINCONNECTEMPTY */  // the NIC takes the size from the strobes
    axi_store_player #(.NAME(i == 0 ? "store_a" : "store_b"), .ADDR_W(12)) u_store (
        .player_done(player_done[i]),
        .m_axi_awaddr(uar_awaddr[i*12+:12]), .m_axi_awlen(uar_awlen[i*8+:8]), .m_axi_awsize(),
        .m_axi_awburst(), .m_axi_awvalid(uar_awvalid[i]), .m_axi_awready(uar_awready[i]),
        .m_axi_wdata(uar_wdata[i*512+:512]), .m_axi_wstrb(uar_wstrb[i*64+:64]),
        .m_axi_wlast(uar_wlast[i]), .m_axi_wvalid(uar_wvalid[i]), .m_axi_wready(uar_wready[i]),
        .m_axi_bresp(uar_bresp[i*2+:2]), .m_axi_bvalid(uar_bvalid[i]), .m_axi_bready(uar_bready[i]), .*);
    /* verilator lint_on PINCONNECTEMPTY */

    axi_mem #(
        .NAME(i == 0 ? "mem_a" : "mem_b"), .HOST_LINES(HOST_LINES), .GPU_LINES(GPU_LINES),
        .WRITE_DEPTH(1024), .BURSTS(256), .RECORD_R(1'b0)
    ) u_mem (
        .activity(mem_activity[i]),
        .s_axi_awid(awid[i*4+:4]), .s_axi_awaddr(awaddr[i*64+:64]), .s_axi_awlen(awlen[i*8+:8]),
        .s_axi_awsize(3'd6), .s_axi_awburst(2'd1), .s_axi_awvalid(awvalid[i]), .s_axi_awready(awready[i]),
        .s_axi_wdata(wdata[i*512+:512]), .s_axi_wstrb(wstrb[i*64+:64]), .s_axi_wlast(wlast[i]),
        .s_axi_wvalid(wvalid[i]), .s_axi_wready(wready[i]),
        .s_axi_bid(bid[i*4+:4]), .s_axi_bresp(bresp[i*2+:2]), .s_axi_bvalid(bvalid[i]),
        .s_axi_bready(bready[i]),
        .s_axi_arid(arid[i*4+:4]), .s_axi_araddr(araddr[i*64+:64]), .s_axi_arlen(arlen[i*8+:8]),
        .s_axi_arsize(3'd6), .s_axi_arburst(2'd1), .s_axi_arvalid(arvalid[i]), .s_axi_arready(arready[i]),
        .s_axi_rid(rid[i*4+:4]), .s_axi_rdata(rdata[i*512+:512]), .s_axi_rresp(rresp[i*2+:2]),
        .s_axi_rlast(rlast[i]), .s_axi_rvalid(rvalid[i]), .s_axi_rready(1'b1), .*);

    stream_monitor #(.NAME(i == 0 ? "cable_a" : "cable_b")) u_cable (
        .tvalid(mon_tvalid[i]), .tready(1'b1), .tlast(mon_tlast[i]), .tkeep(mon_tkeep[i*64+:64]),
        .tdata(mon_tdata[i*512+:512]), .side(1'b0), .*);
  end

  // what the RoCE profile's pauses hold: NIC B, NIC A
  wire [1:0] pausing = {dut.g_nic[1].u_nic.u_link.m_pause, dut.g_nic[0].u_nic.u_link.m_pause};
  event_recorder #(.NAME("pausing"), .W(2), .CHANGE(1'b1)) u_pausing (.value(pausing), .*);
  // a NIC has credits for less than a largest frame
  localparam logic [15:0] M = 16'(spec_pkg::FRAME_MAX_BEATS);
  wire [1:0] short = {dut.g_nic[1].u_nic.u_link.credits[15:0] < M, dut.g_nic[0].u_nic.u_link.credits[15:0] < M};
  event_recorder #(.NAME("short"), .W(2), .CHANGE(1'b1)) u_short (.value(short), .*);
  event_recorder #(.NAME("status"), .W(168), .CHANGE(1'b1)) u_status (
      .value({cnt_unknown, cnt_dropped, qp_state, halted}), .*);
endmodule

`default_nettype wire
