// SPDX-License-Identifier: Apache-2.0
// Bench of the doorbell: stores from two players (AW and W apart, so that either may come first), memory with
// delays and pokes behind the read port, patterns on every ready, monitors on every output.
`default_nettype none

module tb_doorbell
  import microhop_pkg::*;
#(
    parameter int LINES = 36864  /// 64-byte lines of the host window, from address 0
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  logic stop, aw_done, w_done, mem_activity;
  logic [DOORBELL_CFG_W-1:0] cfg;

  logic awvalid, awready, aw_last, wvalid, wready, wlast, w_side, bvalid, bready;
  logic [3:0] aw_keep;
  logic [31:0] aw_data;
  logic [23:0] aw_side;  // {len, id, address}
  logic [511:0] wdata;
  logic [63:0] wstrb;
  logic [3:0] bid;
  logic [1:0] bresp;

  logic [3:0] arid, rid, unused_bid;
  logic [63:0] araddr;
  logic [7:0] arlen;
  logic [2:0] arsize;
  logic [1:0] arburst, rresp, unused_bresp;
  logic arvalid, arready, rvalid, rready, rlast, unused_awready, unused_wready, unused_bvalid;
  logic [511:0] rdata;

  logic wr_valid, wr_ready, wr_last;
  logic [511:0] wr_data;
  logic [63:0] wr_keep;
  logic [WR_W-1:0] wr_side;

  logic halted;
  logic [31:0] cnt_doorbells, cnt_blueflame, cnt_fetched, cnt_refused, cnt_record_behind;
  wire unused_ok = &{
      1'b0, aw_last, aw_keep, aw_data, w_side, unused_bid, unused_bresp, unused_awready, unused_wready, unused_bvalid};

  tb_ctl #(.N_PLAYERS(2)) u_ctl (
      .player_done({aw_done, w_done}),
      .activity(mem_activity || awvalid || wvalid || bvalid || arvalid || wr_valid),
      .*
  );
  tb_cfg #(.NAME("doorbell"), .W(DOORBELL_CFG_W)) u_cfg (.q(cfg), .*);

  stream_player #(.NAME("uar_aw"), .DATA_W(32), .SIDE_W(24)) u_aw (
      .tvalid(awvalid), .tready(awready), .tlast(aw_last), .tkeep(aw_keep), .tdata(aw_data), .side(aw_side),
      .player_done(aw_done), .*);
  stream_monitor #(.NAME("uar_aw"), .DATA_W(32), .SIDE_W(24)) u_aw_mon (
      .tvalid(awvalid), .tready(awready), .tlast(aw_last), .tkeep(aw_keep), .tdata(aw_data), .side(aw_side), .*);

  // keep carries the strobes
  stream_player #(.NAME("uar_w")) u_w (
      .tvalid(wvalid), .tready(wready), .tlast(wlast), .tkeep(wstrb), .tdata(wdata), .side(w_side),
      .player_done(w_done), .*);
  stream_monitor #(.NAME("uar_w")) u_w_mon (
      .tvalid(wvalid), .tready(wready), .tlast(wlast), .tkeep(wstrb), .tdata(wdata), .side(w_side), .*);

  stream_sink #(.NAME("uar_b")) u_b (.tready(bready), .*);
  stream_monitor #(.NAME("uar_b"), .DATA_W(32), .SIDE_W(6)) u_b_mon (
      .tvalid(bvalid), .tready(bready), .tlast(1'b1), .tkeep(4'd0), .tdata(32'd0), .side({bid, bresp}), .*);

  doorbell dut (
      .clk(clk), .rst(rst), .cfg(cfg),
      .s_uar_awid(aw_side[15:12]), .s_uar_awaddr(aw_side[11:0]), .s_uar_awlen(aw_side[23:16]),
      .s_uar_awvalid(awvalid), .s_uar_awready(awready),
      .s_uar_wdata(wdata), .s_uar_wstrb(wstrb), .s_uar_wlast(wlast), .s_uar_wvalid(wvalid),
      .s_uar_wready(wready),
      .s_uar_bid(bid), .s_uar_bresp(bresp), .s_uar_bvalid(bvalid), .s_uar_bready(bready),
      .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize),
      .m_axi_arburst(arburst), .m_axi_arvalid(arvalid), .m_axi_arready(arready),
      .m_axi_rid(rid), .m_axi_rdata(rdata), .m_axi_rresp(rresp), .m_axi_rlast(rlast),
      .m_axi_rvalid(rvalid), .m_axi_rready(rready),
      .m_wr_tvalid(wr_valid), .m_wr_tready(wr_ready), .m_wr_tdata(wr_data), .m_wr_tkeep(wr_keep),
      .m_wr_tlast(wr_last), .m_wr_wr(wr_side),
      .halted(halted), .cnt_doorbells(cnt_doorbells), .cnt_blueflame(cnt_blueflame),
      .cnt_fetched(cnt_fetched), .cnt_refused(cnt_refused), .cnt_record_behind(cnt_record_behind)
  );

  axi_mem #(.NAME("mem"), .HOST_LINES(LINES), .GPU_LINES(1024), .WRITE_DEPTH(16)) u_mem (
      .activity(mem_activity),
      .s_axi_awid(4'd0), .s_axi_awaddr(64'd0), .s_axi_awlen(8'd0), .s_axi_awsize(3'd6), .s_axi_awburst(2'd1),
      .s_axi_awvalid(1'b0), .s_axi_awready(unused_awready),
      .s_axi_wdata(512'd0), .s_axi_wstrb(64'd0), .s_axi_wlast(1'b0), .s_axi_wvalid(1'b0),
      .s_axi_wready(unused_wready),
      .s_axi_bid(unused_bid), .s_axi_bresp(unused_bresp), .s_axi_bvalid(unused_bvalid), .s_axi_bready(1'b1),
      .s_axi_arid(arid), .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
      .s_axi_arburst(arburst), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
      .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
      .s_axi_rready(rready), .*
  );

  stream_sink #(.NAME("m_wr")) u_wr (.tready(wr_ready), .*);
  stream_monitor #(.NAME("m_wr"), .SIDE_W(WR_W)) u_wr_mon (
      .tvalid(wr_valid), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side), .*);

  // In the order of the model's counters, the first one highest.
  event_recorder #(.NAME("status"), .W(161), .CHANGE(1'b1)) u_status (
      .value({halted, cnt_doorbells, cnt_blueflame, cnt_fetched, cnt_refused, cnt_record_behind}), .*);
endmodule

`default_nettype wire
