// SPDX-License-Identifier: Apache-2.0
// Bench of rdma: work requests and packets from players, packets out to a sink, memory with delays behind the
// AXI port, monitors on every stream, a record of each status port.
`default_nettype none

module tb_rdma
  import microhop_pkg::*;
#(
    parameter int LINES = 32768  /// 64-byte lines of the host window, from address 0, and of the GPU window
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int STATUS_W = 99;  // qp_state, e_psn, msn, nxt_psn, una_psn
  localparam int COUNT_W = 112;  // seven counters

  logic stop, wr_done, pkt_done, mem_activity;
  logic [RDMA_CFG_W-1:0] cfg;
  logic [4*MR_W-1:0] mrs;
  logic [63:0] far;

  logic wr_valid, wr_ready, wr_last, in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [511:0] wr_data, in_data, out_data;
  logic [63:0] wr_keep, in_keep, out_keep;
  logic [WR_W-1:0] wr_side;
  logic [HDR_W-1:0] in_side, out_side;

  logic [3:0] arid, rid, awid, bid;
  logic [63:0] araddr, awaddr, wstrb;
  logic [7:0] arlen, awlen;
  logic [2:0] arsize, awsize;
  logic [1:0] arburst, awburst, rresp, bresp;
  logic arvalid, arready, rlast, rvalid, rready, awvalid, awready, wlast, wvalid, wready, bvalid, bready;
  logic [511:0] rdata, wdata;

  logic [2:0] qp_state;
  logic [23:0] e_psn, msn, nxt_psn, una_psn;
  logic [15:0] c_admit, c_state, c_seq, c_resp, c_acks, c_naks, c_cqes;

  tb_ctl #(.N_PLAYERS(2)) u_ctl (
      .player_done({wr_done, pkt_done}),
      .activity(mem_activity || wr_valid || in_valid || out_valid),
      .*
  );
  tb_cfg #(.NAME("rdma"), .W(RDMA_CFG_W)) u_cfg (.q(cfg), .*);
  tb_cfg #(.NAME("mr"), .W(4 * MR_W)) u_mr (.q(mrs), .*);
  tb_cfg #(.NAME("far"), .W(64)) u_far (.q(far), .*);

  // A page-aligned address other than 0 in `far`: the GPU window is seen there too, so that addresses
  // of real machines can be used.
  function automatic logic [63:0] place(input logic [63:0] a);
    return far != 0 && a - far < 64'(LINES) * 64 ? a - far + 64'h1_0000_0000 : a;
  endfunction

  stream_player #(.NAME("s_wr"), .SIDE_W(WR_W)) u_wr (
      .tvalid(wr_valid), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side),
      .player_done(wr_done), .*);
  stream_monitor #(.NAME("s_wr"), .SIDE_W(WR_W)) u_wr_mon (
      .tvalid(wr_valid), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side), .*);
  stream_player #(.NAME("s_pkt"), .SIDE_W(HDR_W)) u_pkt (
      .tvalid(in_valid), .tready(in_ready), .tlast(in_last), .tkeep(in_keep), .tdata(in_data), .side(in_side),
      .player_done(pkt_done), .*);
  stream_monitor #(.NAME("s_pkt"), .SIDE_W(HDR_W)) u_pkt_mon (
      .tvalid(in_valid), .tready(in_ready), .tlast(in_last), .tkeep(in_keep), .tdata(in_data), .side(in_side), .*);
  stream_sink #(.NAME("m_pkt")) u_out (.tready(out_ready), .*);
  stream_monitor #(.NAME("m_pkt"), .SIDE_W(HDR_W)) u_out_mon (
      .tvalid(out_valid), .tready(out_ready), .tlast(out_last), .tkeep(out_keep), .tdata(out_data), .side(out_side), .*);

  rdma dut (
      .clk(clk), .rst(rst), .cfg(cfg), .cfg_mr(mrs),
      .s_wr_tvalid(wr_valid), .s_wr_tready(wr_ready), .s_wr_tdata(wr_data), .s_wr_tkeep(wr_keep),
      .s_wr_tlast(wr_last), .s_wr_wr(wr_side),
      .m_pkt_tvalid(out_valid), .m_pkt_tready(out_ready), .m_pkt_tdata(out_data), .m_pkt_tkeep(out_keep),
      .m_pkt_tlast(out_last), .m_pkt_hdr(out_side),
      .s_pkt_tvalid(in_valid), .s_pkt_tready(in_ready), .s_pkt_tdata(in_data), .s_pkt_tkeep(in_keep),
      .s_pkt_tlast(in_last), .s_pkt_hdr(in_side),
      .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize),
      .m_axi_arburst(arburst), .m_axi_arvalid(arvalid), .m_axi_arready(arready),
      .m_axi_rid(rid), .m_axi_rdata(rdata), .m_axi_rresp(rresp), .m_axi_rlast(rlast),
      .m_axi_rvalid(rvalid), .m_axi_rready(rready),
      .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awsize(awsize),
      .m_axi_awburst(awburst), .m_axi_awvalid(awvalid), .m_axi_awready(awready),
      .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast), .m_axi_wvalid(wvalid),
      .m_axi_wready(wready),
      .m_axi_bid(bid), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid), .m_axi_bready(bready),
      .qp_state(qp_state), .e_psn(e_psn), .msn(msn), .nxt_psn(nxt_psn), .una_psn(una_psn),
      .cnt_drop_admit(c_admit), .cnt_drop_state(c_state), .cnt_drop_seq(c_seq), .cnt_drop_resp(c_resp),
      .cnt_acks(c_acks), .cnt_naks(c_naks), .cnt_cqes(c_cqes)
  );

  axi_mem #(.NAME("mem"), .HOST_LINES(LINES), .GPU_LINES(LINES)) u_mem (
      .activity(mem_activity),
      .s_axi_awid(awid), .s_axi_awaddr(place(awaddr)), .s_axi_awlen(awlen), .s_axi_awsize(awsize),
      .s_axi_awburst(awburst), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
      .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wlast(wlast), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
      .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
      .s_axi_arid(arid), .s_axi_araddr(place(araddr)), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
      .s_axi_arburst(arburst), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
      .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
      .s_axi_rready(rready), .*
  );

  event_recorder #(.NAME("status"), .W(STATUS_W), .CHANGE(1'b1)) u_status (
      .value({qp_state, e_psn, msn, nxt_psn, una_psn}), .*);
  event_recorder #(.NAME("counters"), .W(COUNT_W), .CHANGE(1'b1)) u_counters (
      .value({c_admit, c_state, c_seq, c_resp, c_acks, c_naks, c_cqes}), .*);
endmodule

`default_nettype wire
