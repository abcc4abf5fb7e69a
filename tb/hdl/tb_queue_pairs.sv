// SPDX-License-Identifier: Apache-2.0
// Bench of the send queues and the completion queues side by side: stores, table entries of both and the transport's
// completions from players, arms by the wires between the two, one memory behind both (rings, doorbell records,
// entries), patterns on every ready, monitors on every output.
`default_nettype none

module tb_queue_pairs
  import microhop_pkg::*;
#(
    parameter int QPS   = 64,    /// queue pairs
    parameter int PAGES = 64,    /// UAR pages
    parameter int CQS   = 64,    /// completion queues
    parameter int TAGS  = 512,   /// reads of the send queues under way
    parameter int LINES = 32768  /// 64-byte lines of the host window, from address 0, and of the GPU's, from 2^32
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
  localparam int CW = $clog2(CQS);
  localparam int PW = $clog2(PAGES);
  localparam int TW = $clog2(TAGS);
  localparam int CTX_W = (SQ_CTX_W + 31) / 32 * 32;

  logic stop, ctx_done, aw_done, w_done, cq_done, cq_ctx_done, done_done, mem_activity;

  // send queues
  logic ctx_we, ctx_last;
  logic [CTX_W/8-1:0] ctx_keep;
  logic [CTX_W-1:0] ctx_data;
  logic [11:0] ctx_addr;
  logic uar_awvalid, uar_awready, uar_awlast, uar_wvalid, uar_wready, uar_wlast, uar_wside, uar_bvalid, uar_bready;
  logic [3:0] uar_awkeep, uar_bid;
  logic [31:0] uar_awdata;
  logic [35:0] uar_awside;  // {len, id, page, offset}
  logic [511:0] uar_wdata;
  logic [63:0] uar_wstrb;
  logic [1:0] uar_bresp;
  logic [TW-1:0] sq_arid;
  logic [63:0] sq_araddr;
  logic [7:0] sq_arlen;
  logic [2:0] sq_arsize;
  logic [1:0] sq_arburst;
  logic sq_arvalid, sq_rready;
  logic wr_valid, wr_ready, wr_last;
  logic [511:0] wr_data;
  logic [63:0] wr_keep;
  logic [SQ_WR_W-1:0] wr_side;
  logic [31:0] cnt_doorbells, cnt_blueflame, cnt_sq_refused, cnt_torn;
  logic [31:0] cnt_fetched, cnt_discarded, cnt_record_behind, cnt_halted;

  // from the one to the other
  logic arm_valid;
  logic [PW-1:0] arm_page;
  logic [63:0] arm_data;

  // completion queues
  logic cq_valid, cq_ready, cq_last, cq_ctx_valid, cq_ctx_last;
  logic [3:0] cq_keep, cq_ctx_keep;
  logic [31:0] cq_data, cq_ctx_word;
  logic [CQ_IN_W-1:0] cq_side;
  logic [CQ_CTX_W+9:0] cq_ctx_side;  // {entry, cq_ctx_t}
  logic [15:0] done0, dma_done;
  logic [4:0] cq_arid;
  logic [63:0] cq_araddr;
  logic [7:0] cq_arlen;
  logic [2:0] cq_arsize;
  logic [1:0] cq_arburst;
  logic cq_arvalid, cq_rready;
  logic ev_valid, ev_ready, ev_error;
  logic [23:0] ev_cqn;
  logic [31:0] cnt_written, cnt_dropped, cnt_refused, cnt_records, cnt_overruns, cnt_bad_writes, cnt_events;
  logic [31:0] cnt_arm_refused;

  // memory
  logic [4:0] awid;
  logic [9:0] bid, rid;  // rid: bit 9 set for the completion queues
  logic [63:0] awaddr, wstrb;
  logic [7:0] awlen;
  logic [2:0] awsize;
  logic [1:0] awburst, bresp, rresp;
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready, arready, rvalid, rlast;
  logic [511:0] wdata, rdata;
  wire unused_ok = &{
      1'b0, ctx_last, ctx_keep, ctx_data, ctx_addr, uar_awlast, uar_awkeep, uar_awdata, uar_awside, uar_wside,
      cq_last, cq_keep, cq_data, cq_ctx_last, cq_ctx_keep, cq_ctx_word, cq_ctx_side, sq_arlen, sq_arsize, sq_arburst,
      cq_arlen, cq_arsize, cq_arburst, bid, rid};

  tb_ctl #(.N_PLAYERS(6)) u_ctl (
      .player_done({ctx_done, aw_done, w_done, cq_done, cq_ctx_done, done_done}),
      .activity(mem_activity || ctx_we || uar_awvalid || uar_wvalid || uar_bvalid || wr_valid || cq_valid ||
                cq_ctx_valid || arm_valid || ev_valid),
      .*
  );

  // keep carries nothing; side is the entry's number
  stream_player #(.NAME("ctx"), .DATA_W(CTX_W), .SIDE_W(12)) u_ctx (
      .tvalid(ctx_we), .tready(1'b1), .tlast(ctx_last), .tkeep(ctx_keep), .tdata(ctx_data), .side(ctx_addr),
      .player_done(ctx_done), .*);
  stream_monitor #(.NAME("ctx"), .DATA_W(CTX_W), .SIDE_W(12)) u_ctx_mon (
      .tvalid(ctx_we), .tready(1'b1), .tlast(ctx_last), .tkeep(ctx_keep), .tdata(ctx_data), .side(ctx_addr), .*);
  stream_player #(.NAME("uar_aw"), .DATA_W(32), .SIDE_W(36)) u_aw (
      .tvalid(uar_awvalid), .tready(uar_awready), .tlast(uar_awlast), .tkeep(uar_awkeep), .tdata(uar_awdata),
      .side(uar_awside), .player_done(aw_done), .*);
  stream_monitor #(.NAME("uar_aw"), .DATA_W(32), .SIDE_W(36)) u_aw_mon (
      .tvalid(uar_awvalid), .tready(uar_awready), .tlast(uar_awlast), .tkeep(uar_awkeep), .tdata(uar_awdata),
      .side(uar_awside), .*);
  // keep carries the strobes
  stream_player #(.NAME("uar_w")) u_w (
      .tvalid(uar_wvalid), .tready(uar_wready), .tlast(uar_wlast), .tkeep(uar_wstrb), .tdata(uar_wdata),
      .side(uar_wside), .player_done(w_done), .*);
  stream_monitor #(.NAME("uar_w")) u_w_mon (
      .tvalid(uar_wvalid), .tready(uar_wready), .tlast(uar_wlast), .tkeep(uar_wstrb), .tdata(uar_wdata),
      .side(uar_wside), .*);
  stream_sink #(.NAME("uar_b")) u_b (.tready(uar_bready), .*);
  stream_monitor #(.NAME("uar_b"), .DATA_W(32), .SIDE_W(6)) u_b_mon (
      .tvalid(uar_bvalid), .tready(uar_bready), .tlast(1'b1), .tkeep(4'd0), .tdata(32'd0),
      .side({uar_bid, uar_bresp}), .*);

  sq #(.QPS(QPS), .PAGES(PAGES), .TAGS(TAGS)) u_sq (
      .clk(clk), .rst(rst),
      .ctx_we(ctx_we), .ctx_addr(ctx_we ? ctx_addr[QW-1:0] : QW'(0)), .ctx_data(ctx_data[SQ_CTX_W-1:0]), .ctx_idle(),
      .s_uar_awid(uar_awside[27:24]), .s_uar_awaddr(uar_awside[PW+11:0]), .s_uar_awlen(uar_awside[35:28]),
      .s_uar_awvalid(uar_awvalid), .s_uar_awready(uar_awready),
      .s_uar_wdata(uar_wdata), .s_uar_wstrb(uar_wstrb), .s_uar_wlast(uar_wlast), .s_uar_wvalid(uar_wvalid),
      .s_uar_wready(uar_wready),
      .s_uar_bid(uar_bid), .s_uar_bresp(uar_bresp), .s_uar_bvalid(uar_bvalid), .s_uar_bready(uar_bready),
      .m_axi_arid(sq_arid), .m_axi_araddr(sq_araddr), .m_axi_arlen(sq_arlen), .m_axi_arsize(sq_arsize),
      .m_axi_arburst(sq_arburst), .m_axi_arvalid(sq_arvalid), .m_axi_arready(arready && !cq_arvalid),
      .m_axi_rid(rid[TW-1:0]), .m_axi_rdata(rdata), .m_axi_rresp(rresp), .m_axi_rlast(rlast),
      .m_axi_rvalid(rvalid && !rid[9]), .m_axi_rready(sq_rready),
      .m_wr_tvalid(wr_valid), .m_wr_tready(wr_ready), .m_wr_tdata(wr_data), .m_wr_tkeep(wr_keep),
      .m_wr_tlast(wr_last), .m_wr_wr(wr_side),
      .arm_valid(arm_valid), .arm_page(arm_page), .arm_data(arm_data),
      .cnt_doorbells(cnt_doorbells), .cnt_blueflame(cnt_blueflame), .cnt_refused(cnt_sq_refused),
      .cnt_torn(cnt_torn), .cnt_fetched(cnt_fetched), .cnt_discarded(cnt_discarded),
      .cnt_record_behind(cnt_record_behind), .cnt_halted(cnt_halted)
  );

  // The transport between the two: takes work requests by a pattern, gives completions and counts data writes by file.
  stream_sink #(.NAME("m_wr")) u_wr (.tready(wr_ready), .*);
  stream_monitor #(.NAME("m_wr"), .SIDE_W(SQ_WR_W)) u_wr_mon (
      .tvalid(wr_valid), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side), .*);
  stream_player #(.NAME("cq"), .DATA_W(32), .SIDE_W(CQ_IN_W)) u_cq_in (
      .tvalid(cq_valid), .tready(cq_ready), .tlast(cq_last), .tkeep(cq_keep), .tdata(cq_data), .side(cq_side),
      .player_done(cq_done), .*);
  stream_monitor #(.NAME("cq"), .DATA_W(32), .SIDE_W(CQ_IN_W)) u_cq_mon (
      .tvalid(cq_valid), .tready(cq_ready), .tlast(cq_last), .tkeep(cq_keep), .tdata(cq_data), .side(cq_side), .*);
  tb_cfg #(.NAME("done0"), .W(16)) u_done0 (.q(done0), .*);
  timed_value #(.NAME("done"), .W(16)) u_done (.init(done0), .q(dma_done), .player_done(done_done), .*);
  stream_player #(.NAME("cq_ctx"), .DATA_W(32), .SIDE_W(CQ_CTX_W + 10)) u_cq_ctx (
      .tvalid(cq_ctx_valid), .tready(1'b1), .tlast(cq_ctx_last), .tkeep(cq_ctx_keep), .tdata(cq_ctx_word),
      .side(cq_ctx_side), .player_done(cq_ctx_done), .*);

  cq #(.CQS(CQS)) u_cq (
      .clk(clk), .rst(rst), .ctx_we(cq_ctx_valid), .ctx_addr(cq_ctx_side[CQ_CTX_W+:CW]),
      .ctx_data(cq_ctx_side[CQ_CTX_W-1:0]),
      .s_cq_tvalid(cq_valid), .s_cq_tready(cq_ready), .s_cq_cq(cq_side), .dma_done(dma_done),
      .arm_valid(arm_valid), .arm_page(12'(arm_page)), .arm_data(arm_data),
      .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awsize(awsize), .m_axi_awburst(awburst),
      .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast),
      .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_bid(bid[4:0]), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid),
      .m_axi_bready(bready), .m_axi_arid(cq_arid), .m_axi_araddr(cq_araddr), .m_axi_arlen(cq_arlen),
      .m_axi_arsize(cq_arsize), .m_axi_arburst(cq_arburst), .m_axi_arvalid(cq_arvalid), .m_axi_arready(arready),
      .m_axi_rid(rid[4:0]), .m_axi_rdata(rdata), .m_axi_rresp(rresp), .m_axi_rlast(rlast),
      .m_axi_rvalid(rvalid && rid[9]), .m_axi_rready(cq_rready),
      .m_ev_tvalid(ev_valid), .m_ev_tready(ev_ready), .m_ev_cqn(ev_cqn), .m_ev_error(ev_error),
      .cnt_written(cnt_written), .cnt_dropped(cnt_dropped), .cnt_refused(cnt_refused), .cnt_records(cnt_records),
      .cnt_overruns(cnt_overruns), .cnt_bad_writes(cnt_bad_writes), .cnt_events(cnt_events),
      .cnt_arm_refused(cnt_arm_refused)
  );

  // One memory: the completion queues' reads of records before the send queues'.
  axi_mem #(
      .NAME("mem"), .ID_W(10), .HOST_LINES(LINES), .GPU_LINES(LINES), .WRITE_DEPTH(4096), .BURSTS(4096),
      .ANY_ORDER(1'b1)
  ) u_mem (
      .activity(mem_activity),
      .s_axi_awid(10'(awid)), .s_axi_awaddr(awaddr), .s_axi_awlen(awlen), .s_axi_awsize(awsize),
      .s_axi_awburst(awburst), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
      .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wlast(wlast), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
      .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
      .s_axi_arid(cq_arvalid ? {5'h10, cq_arid} : 10'(sq_arid)), .s_axi_araddr(cq_arvalid ? cq_araddr : sq_araddr),
      .s_axi_arlen(8'd0), .s_axi_arsize(3'd6), .s_axi_arburst(2'd1),
      .s_axi_arvalid(sq_arvalid || cq_arvalid), .s_axi_arready(arready),
      .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
      .s_axi_rready(sq_rready && cq_rready), .*
  );
  always @(posedge clk)
    if (!rst && (sq_rready !== 1'b1 || cq_rready !== 1'b1)) $fatal(1, "RREADY is not 1 at cycle %0d", cycle);

  stream_sink #(.NAME("m_ev")) u_ev (.tready(ev_ready), .*);
  stream_monitor #(.NAME("m_ev"), .DATA_W(32), .SIDE_W(25)) u_ev_mon (
      .tvalid(ev_valid), .tready(ev_ready), .tlast(1'b1), .tkeep(4'd0), .tdata(32'd0), .side({ev_cqn, ev_error}), .*);

  event_recorder #(.NAME("arm"), .W(77)) u_arm (
      .value(arm_valid ? {1'b1, 12'(arm_page), arm_data} : 77'd0), .*);
  // In the order of the models' counters, the first one highest.
  event_recorder #(.NAME("count"), .W(256), .CHANGE(1'b1)) u_count (
      .value({cnt_doorbells, cnt_blueflame, cnt_sq_refused, cnt_torn,
              cnt_fetched, cnt_discarded, cnt_record_behind, cnt_halted}), .*);
  event_recorder #(.NAME("status"), .W(256), .CHANGE(1'b1)) u_status (
      .value({cnt_written, cnt_dropped, cnt_refused, cnt_records, cnt_overruns, cnt_bad_writes, cnt_events,
              cnt_arm_refused}), .*);
endmodule

`default_nettype wire
