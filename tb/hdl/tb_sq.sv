// SPDX-License-Identifier: Apache-2.0
// Bench of the send queues: table entries from a player, stores from two players (AW and W apart, so that either
// may come first), memory that answers reads as they are due, with pokes, patterns on every ready, monitors on
// every output.
`default_nettype none

module tb_sq
  import microhop_pkg::*;
#(
    parameter int QPS       = 256,    /// queue pairs
    parameter int PAGES     = 64,     /// UAR pages
    parameter int TAGS      = 512,    /// reads under way
    parameter int LINES     = 131072  /// 64-byte lines of the host window, from address 0, and of the GPU's, around 2^32
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int QW = $clog2(QPS);
  localparam int PW = $clog2(PAGES);
  localparam int TW = $clog2(TAGS);
  localparam int CTX_W = (SQ_CTX_W + 31) / 32 * 32;

  logic stop, ctx_done, aw_done, w_done, mem_activity;

  logic ctx_we, ctx_last;
  logic [CTX_W/8-1:0] ctx_keep;
  logic [CTX_W-1:0] ctx_data;
  logic [11:0] ctx_addr;
  logic ctx_idle, watch_done, watched;
  logic [12:0] watch;  // {look, entry}: what ctx_addr is while nothing is written
  wire [11:0] addr = ctx_we ? ctx_addr : watch[11:0];

  logic awvalid, awready, aw_last, wvalid, wready, wlast, w_side, bvalid, bready;
  logic [3:0] aw_keep;
  logic [31:0] aw_data;
  logic [35:0] aw_side;  // {len, id, page, offset}
  logic [511:0] wdata;
  logic [63:0] wstrb;
  logic [3:0] bid;
  logic [1:0] bresp;

  logic [TW-1:0] arid;
  logic [8:0] rid;
  logic [63:0] araddr;
  logic [7:0] arlen;
  logic [2:0] arsize;
  logic [1:0] arburst, rresp;
  logic arvalid, arready, rvalid, rready, rlast;
  logic [511:0] rdata;
  logic [8:0] unused_bid;
  logic [1:0] unused_bresp;
  logic unused_awready, unused_wready, unused_bvalid;

  logic wr_valid, wr_ready, wr_last;
  logic [511:0] wr_data;
  logic [63:0] wr_keep;
  logic [SQ_WR_W-1:0] wr_side;

  logic arm_valid;
  logic [PW-1:0] arm_page;
  logic [63:0] arm_data;
  logic [31:0] cnt_doorbells, cnt_blueflame, cnt_refused, cnt_torn;
  logic [31:0] cnt_fetched, cnt_discarded, cnt_record_behind, cnt_halted;
  wire unused_ok = &{
      1'b0, ctx_last, ctx_keep, ctx_data, addr, aw_last, aw_keep, aw_data, aw_side, w_side, rid,
      unused_bid, unused_bresp, unused_awready, unused_wready, unused_bvalid};

  tb_ctl #(.N_PLAYERS(4)) u_ctl (
      .player_done({watch_done, ctx_done, aw_done, w_done}),
      .activity(mem_activity || ctx_we || awvalid || wvalid || bvalid || arvalid || wr_valid),
      .*
  );

  // keep carries nothing; side is the entry's number
  stream_player #(.NAME("ctx"), .DATA_W(CTX_W), .SIDE_W(12)) u_ctx (
      .tvalid(ctx_we), .tready(1'b1), .tlast(ctx_last), .tkeep(ctx_keep), .tdata(ctx_data), .side(ctx_addr),
      .player_done(ctx_done), .*);
  stream_monitor #(.NAME("ctx"), .DATA_W(CTX_W), .SIDE_W(12)) u_ctx_mon (
      .tvalid(ctx_we), .tready(1'b1), .tlast(ctx_last), .tkeep(ctx_keep), .tdata(ctx_data), .side(ctx_addr), .*);

  timed_value #(.NAME("watch"), .W(13)) u_watch (.init(13'd0), .q(watch), .player_done(watch_done), .*);
  always_ff @(posedge clk) watched <= !rst && watch[12] && !ctx_we;
  event_recorder #(.NAME("idle"), .W(1), .CHANGE(1'b1)) u_idle (.value(!watched || ctx_idle), .*);

  stream_player #(.NAME("uar_aw"), .DATA_W(32), .SIDE_W(36)) u_aw (
      .tvalid(awvalid), .tready(awready), .tlast(aw_last), .tkeep(aw_keep), .tdata(aw_data), .side(aw_side),
      .player_done(aw_done), .*);
  stream_monitor #(.NAME("uar_aw"), .DATA_W(32), .SIDE_W(36)) u_aw_mon (
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

  sq #(.QPS(QPS), .PAGES(PAGES), .TAGS(TAGS)) dut (
      .clk(clk), .rst(rst),
      .ctx_we(ctx_we), .ctx_addr(addr[QW-1:0]), .ctx_data(ctx_data[SQ_CTX_W-1:0]), .ctx_idle(ctx_idle),
      .s_uar_awid(aw_side[27:24]), .s_uar_awaddr(aw_side[PW+11:0]), .s_uar_awlen(aw_side[35:28]),
      .s_uar_awvalid(awvalid), .s_uar_awready(awready),
      .s_uar_wdata(wdata), .s_uar_wstrb(wstrb), .s_uar_wlast(wlast), .s_uar_wvalid(wvalid),
      .s_uar_wready(wready),
      .s_uar_bid(bid), .s_uar_bresp(bresp), .s_uar_bvalid(bvalid), .s_uar_bready(bready),
      .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize),
      .m_axi_arburst(arburst), .m_axi_arvalid(arvalid), .m_axi_arready(arready),
      .m_axi_rid(rid[TW-1:0]), .m_axi_rdata(rdata), .m_axi_rresp(rresp), .m_axi_rlast(rlast),
      .m_axi_rvalid(rvalid), .m_axi_rready(rready),
      .m_wr_tvalid(wr_valid), .m_wr_tready(wr_ready), .m_wr_tdata(wr_data), .m_wr_tkeep(wr_keep),
      .m_wr_tlast(wr_last), .m_wr_wr(wr_side),
      .arm_valid(arm_valid), .arm_page(arm_page), .arm_data(arm_data),
      .cnt_doorbells(cnt_doorbells), .cnt_blueflame(cnt_blueflame), .cnt_refused(cnt_refused),
      .cnt_torn(cnt_torn), .cnt_fetched(cnt_fetched), .cnt_discarded(cnt_discarded),
      .cnt_record_behind(cnt_record_behind), .cnt_halted(cnt_halted)
  );

  axi_mem #(
      .NAME("mem"), .ID_W(9), .GPU_BASE(64'h1_0000_0000 - 32 * 64'(LINES)), .HOST_LINES(LINES), .GPU_LINES(LINES),
      .WRITE_DEPTH(16), .BURSTS(1024), .ANY_ORDER(1'b1)
  ) u_mem (
      .activity(mem_activity),
      .s_axi_awid(9'd0), .s_axi_awaddr(64'd0), .s_axi_awlen(8'd0), .s_axi_awsize(3'd6), .s_axi_awburst(2'd1),
      .s_axi_awvalid(1'b0), .s_axi_awready(unused_awready),
      .s_axi_wdata(512'd0), .s_axi_wstrb(64'd0), .s_axi_wlast(1'b0), .s_axi_wvalid(1'b0),
      .s_axi_wready(unused_wready),
      .s_axi_bid(unused_bid), .s_axi_bresp(unused_bresp), .s_axi_bvalid(unused_bvalid), .s_axi_bready(1'b1),
      .s_axi_arid(9'(arid)), .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
      .s_axi_arburst(arburst), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
      .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
      .s_axi_rready(rready), .*
  );
  always @(posedge clk) if (!rst && rready !== 1'b1) $fatal(1, "RREADY is not 1 at cycle %0d (D1)", cycle);

  stream_sink #(.NAME("m_wr")) u_wr (.tready(wr_ready), .*);
  stream_monitor #(.NAME("m_wr"), .SIDE_W(SQ_WR_W)) u_wr_mon (
      .tvalid(wr_valid), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side), .*);

  event_recorder #(.NAME("arm"), .W(77)) u_arm (
      .value(arm_valid ? {1'b1, 12'(arm_page), arm_data} : 77'd0), .*);
  // In the order of the model's counters, the first one highest.
  event_recorder #(.NAME("count"), .W(256), .CHANGE(1'b1)) u_count (
      .value({cnt_doorbells, cnt_blueflame, cnt_refused, cnt_torn,
              cnt_fetched, cnt_discarded, cnt_record_behind, cnt_halted}), .*);
endmodule

`default_nettype wire
