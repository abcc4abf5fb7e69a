// SPDX-License-Identifier: Apache-2.0
// Bench of two rdma blocks, a and b, packets of each into the other, each with its memory: end to end without
// a wire. Work requests from players; both packet streams and every memory transfer recorded.
`default_nettype none

module tb_rdma_pair
  import microhop_pkg::*;
#(
    parameter int LINES = 32768  /// 64-byte lines of each window
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

  logic stop;
  wire [1:0] wr_done, mem_activity, pkt_valid, wr_valid;

  // Packets: index is the sender.
  wire [1:0] pkt_ready, pkt_last;
  wire [511:0] pkt_data[2];
  wire [63:0] pkt_keep[2];
  wire [HDR_W-1:0] pkt_hdr[2];

  tb_ctl #(.N_PLAYERS(2), .N_ACTIVITY(6)) u_ctl (
      .player_done(wr_done), .activity({mem_activity, pkt_valid, wr_valid}), .*);

  for (genvar i = 0; i < 2; i++) begin : g_end
    localparam logic [7:0] S = i == 0 ? "a" : "b";
    logic [RDMA_CFG_W-1:0] cfg;
    logic [4*MR_W-1:0] mrs;
    logic wr_ready, wr_last;
    logic [511:0] wr_data;
    logic [63:0] wr_keep;
    logic [WR_W-1:0] wr_side;
    logic [3:0] arid, rid, awid, bid;
    logic [63:0] araddr, awaddr, wstrb;
    logic [7:0] arlen, awlen;
    logic [2:0] arsize, awsize;
    logic [1:0] arburst, awburst, rresp, bresp;
    logic arvalid, arready, rlast, rvalid, rready, awvalid, awready, wlast, wvalid, wready, bvalid, bready;
    logic [511:0] rdata, wdata;
    logic [2:0] qp_state;
    logic [23:0] e_psn, msn, nxt_psn, una_psn;

    tb_cfg #(.NAME({"rdma_", S}), .W(RDMA_CFG_W)) u_cfg (.q(cfg), .*);
    tb_cfg #(.NAME({"mr_", S}), .W(4 * MR_W)) u_mr (.q(mrs), .*);
    stream_player #(.NAME({"s_wr_", S}), .SIDE_W(WR_W)) u_wr (
        .tvalid(wr_valid[i]), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side),
        .player_done(wr_done[i]), .*);
    stream_monitor #(.NAME({"s_wr_", S}), .SIDE_W(WR_W)) u_wr_mon (
        .tvalid(wr_valid[i]), .tready(wr_ready), .tlast(wr_last), .tkeep(wr_keep), .tdata(wr_data), .side(wr_side), .*);
    stream_monitor #(.NAME({"pkt_", S}), .SIDE_W(HDR_W)) u_pkt_mon (
        .tvalid(pkt_valid[i]), .tready(pkt_ready[i]), .tlast(pkt_last[i]), .tkeep(pkt_keep[i]), .tdata(pkt_data[i]),
        .side(pkt_hdr[i]), .*);

    rdma dut (
        .clk(clk), .rst(rst), .cfg(cfg), .cfg_mr(mrs),
        .s_wr_tvalid(wr_valid[i]), .s_wr_tready(wr_ready), .s_wr_tdata(wr_data), .s_wr_tkeep(wr_keep),
        .s_wr_tlast(wr_last), .s_wr_wr(wr_side),
        .m_pkt_tvalid(pkt_valid[i]), .m_pkt_tready(pkt_ready[i]), .m_pkt_tdata(pkt_data[i]),
        .m_pkt_tkeep(pkt_keep[i]), .m_pkt_tlast(pkt_last[i]), .m_pkt_hdr(pkt_hdr[i]),
        .s_pkt_tvalid(pkt_valid[1-i]), .s_pkt_tready(pkt_ready[1-i]), .s_pkt_tdata(pkt_data[1-i]),
        .s_pkt_tkeep(pkt_keep[1-i]), .s_pkt_tlast(pkt_last[1-i]), .s_pkt_hdr(pkt_hdr[1-i]),
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
        .cnt_drop_admit(), .cnt_drop_state(), .cnt_drop_seq(), .cnt_drop_resp(), .cnt_acks(), .cnt_naks(),
        .cnt_cqes()
    );

    axi_mem #(.NAME({"mem_", S}), .HOST_LINES(LINES), .GPU_LINES(LINES)) u_mem (
        .activity(mem_activity[i]),
        .s_axi_awid(awid), .s_axi_awaddr(awaddr), .s_axi_awlen(awlen), .s_axi_awsize(awsize),
        .s_axi_awburst(awburst), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
        .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wlast(wlast), .s_axi_wvalid(wvalid),
        .s_axi_wready(wready),
        .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
        .s_axi_arid(arid), .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
        .s_axi_arburst(arburst), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
        .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
        .s_axi_rready(rready), .*
    );

    event_recorder #(.NAME({"status_", S}), .W(STATUS_W), .CHANGE(1'b1)) u_status (
        .value({qp_state, e_psn, msn, nxt_psn, una_psn}), .*);
  end
endmodule

`default_nettype wire
