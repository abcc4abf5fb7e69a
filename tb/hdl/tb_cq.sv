// SPDX-License-Identifier: Apache-2.0
// Bench of the completion queues: completions, table entries, arms and the count of data writes from players, memory with
// delays, pokes and reads in any order behind the ports, patterns on every ready, monitors on every output.
`default_nettype none

module tb_cq
  import microhop_pkg::*;
#(
    parameter int CQS = 64  /// completion queues
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int QW = $clog2(CQS);
  localparam int HOST_LINES = 24576;  // from address 0
  localparam int GPU_LINES = 24576;  // so far from there that a ring of 2^22 entries begins here and ends there
  localparam logic [63:0] GPU_BASE = 64'h1000_0000;

  logic stop, cq_done, ctx_done, arm_done, done_done, mem_activity;

  logic cq_valid, cq_ready, cq_last, ctx_valid, ctx_last, arm_valid, arm_last;
  logic [3:0] cq_keep, ctx_keep, arm_keep;
  logic [31:0] cq_data, ctx_word, arm_word;
  logic [CQ_IN_W-1:0] cq_side;
  logic [CQ_CTX_W+9:0] ctx_side;  // {entry, cq_ctx_t}
  logic [75:0] arm_side;  // {page, arm word, cqn}
  logic [15:0] done0, dma_done;

  logic [4:0] awid, bid, arid, rid;
  logic [63:0] awaddr, wstrb, araddr;
  logic [7:0] awlen, arlen;
  logic [2:0] awsize, arsize;
  logic [1:0] awburst, bresp, arburst, rresp;
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready, arvalid, arready, rvalid, rready, rlast;
  logic [511:0] wdata, rdata;

  logic ev_valid, ev_ready, ev_error;
  logic [23:0] ev_cqn;
  logic [31:0] cnt_written, cnt_dropped, cnt_refused, cnt_records, cnt_overruns, cnt_bad_writes, cnt_events;
  logic [31:0] cnt_arm_refused;
  wire unused_ok = &{
      1'b0, cq_last, cq_keep, cq_data, ctx_last, ctx_keep, ctx_word, ctx_side, arm_last, arm_keep,
      arm_word};

  tb_ctl #(.N_PLAYERS(4)) u_ctl (
      .player_done({cq_done, ctx_done, arm_done, done_done}),
      .activity(mem_activity || cq_valid || ctx_valid || arm_valid || ev_valid),
      .*
  );

  stream_player #(.NAME("cq"), .DATA_W(32), .SIDE_W(CQ_IN_W)) u_cq (
      .tvalid(cq_valid), .tready(cq_ready), .tlast(cq_last), .tkeep(cq_keep), .tdata(cq_data), .side(cq_side),
      .player_done(cq_done), .*);
  stream_monitor #(.NAME("cq"), .DATA_W(32), .SIDE_W(CQ_IN_W)) u_cq_mon (
      .tvalid(cq_valid), .tready(cq_ready), .tlast(cq_last), .tkeep(cq_keep), .tdata(cq_data), .side(cq_side), .*);
  stream_player #(.NAME("ctx"), .DATA_W(32), .SIDE_W(CQ_CTX_W + 10)) u_ctx (
      .tvalid(ctx_valid), .tready(1'b1), .tlast(ctx_last), .tkeep(ctx_keep), .tdata(ctx_word), .side(ctx_side),
      .player_done(ctx_done), .*);
  stream_player #(.NAME("arm"), .DATA_W(32), .SIDE_W(76)) u_arm (
      .tvalid(arm_valid), .tready(1'b1), .tlast(arm_last), .tkeep(arm_keep), .tdata(arm_word), .side(arm_side),
      .player_done(arm_done), .*);
  tb_cfg #(.NAME("done0"), .W(16)) u_done0 (.q(done0), .*);
  timed_value #(.NAME("done"), .W(16)) u_done (.init(done0), .q(dma_done), .player_done(done_done), .*);

  cq #(.CQS(CQS)) dut (
      .clk(clk), .rst(rst), .ctx_we(ctx_valid), .ctx_addr(ctx_side[CQ_CTX_W+:QW]), .ctx_data(ctx_side[CQ_CTX_W-1:0]),
      .s_cq_tvalid(cq_valid), .s_cq_tready(cq_ready), .s_cq_cq(cq_side), .dma_done(dma_done),
      .arm_valid(arm_valid), .arm_page(arm_side[75:64]), .arm_data(arm_side[63:0]),
      .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awsize(awsize), .m_axi_awburst(awburst),
      .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast),
      .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_bid(bid), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid),
      .m_axi_bready(bready), .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize),
      .m_axi_arburst(arburst), .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_rid(rid), .m_axi_rdata(rdata),
      .m_axi_rresp(rresp), .m_axi_rlast(rlast), .m_axi_rvalid(rvalid), .m_axi_rready(rready),
      .m_ev_tvalid(ev_valid), .m_ev_tready(ev_ready), .m_ev_cqn(ev_cqn), .m_ev_error(ev_error),
      .cnt_written(cnt_written), .cnt_dropped(cnt_dropped), .cnt_refused(cnt_refused), .cnt_records(cnt_records),
      .cnt_overruns(cnt_overruns), .cnt_bad_writes(cnt_bad_writes), .cnt_events(cnt_events),
      .cnt_arm_refused(cnt_arm_refused)
  );

  axi_mem #(.NAME("mem"), .ID_W(5), .GPU_BASE(GPU_BASE), .HOST_LINES(HOST_LINES), .GPU_LINES(GPU_LINES), .WRITE_DEPTH(4096),
            .BURSTS(4096), .ANY_ORDER(1'b1)) u_mem (
      .activity(mem_activity),
      .s_axi_awid(awid), .s_axi_awaddr(awaddr), .s_axi_awlen(awlen), .s_axi_awsize(awsize), .s_axi_awburst(awburst),
      .s_axi_awvalid(awvalid), .s_axi_awready(awready),
      .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wlast(wlast), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
      .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
      .s_axi_arid(arid), .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
      .s_axi_arburst(arburst), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
      .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
      .s_axi_rready(rready), .*
  );
  stream_sink #(.NAME("m_ev")) u_ev (.tready(ev_ready), .*);
  stream_monitor #(.NAME("m_ev"), .DATA_W(32), .SIDE_W(25)) u_ev_mon (
      .tvalid(ev_valid), .tready(ev_ready), .tlast(1'b1), .tkeep(4'd0), .tdata(32'd0), .side({ev_cqn, ev_error}), .*);

  // In the order of the model's counters, the first one highest.
  event_recorder #(.NAME("status"), .W(256), .CHANGE(1'b1)) u_status (
      .value({cnt_written, cnt_dropped, cnt_refused, cnt_records, cnt_overruns, cnt_bad_writes, cnt_events,
              cnt_arm_refused}), .*);
endmodule

`default_nettype wire
