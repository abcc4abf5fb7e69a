// SPDX-License-Identifier: Apache-2.0
// Bench of the NIC: memory and UAR stores on one side, on the other a cable to a peer link whose core side
// plays and records raw frames; the peer frees a cell for each beat it takes.
// Files of a phase: net.cfg, qp.cfg, far.cfg, peer.play, store.store, mem.*; records: peer, peer_rx, mem, store,
// status.
`default_nettype none

module tb_nic
  import microhop_pkg::*;
#(
    parameter int HOST_LINES = 65536,  /// 64-byte lines of the host memory
    parameter int GPU_LINES  = 65536   /// 64-byte lines of the GPU memory
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int NET_W = 8 + LINK_CFG_W;
  localparam int QP_W = DOORBELL_CFG_W + RDMA_CFG_W + 4 * MR_W + WIRE_CFG_W;

  logic stop;
  logic [1:0] player_done;
  wire mem_activity;

  logic [NET_W-1:0] net_q;
  logic [QP_W-1:0] qp_q;
  wire [7:0] cfg_cable;
  wire [LINK_CFG_W-1:0] cfg_link;
  wire [DOORBELL_CFG_W-1:0] cfg_doorbell;
  wire [RDMA_CFG_W-1:0] cfg_rdma;
  wire [4*MR_W-1:0] cfg_mr;
  wire [WIRE_CFG_W-1:0] cfg_wire;
  assign {cfg_cable, cfg_link} = net_q;
  assign {cfg_doorbell, cfg_rdma, cfg_mr, cfg_wire} = qp_q;
  tb_cfg #(.NAME("net"), .W(NET_W)) u_net (.q(net_q), .*);
  tb_cfg #(.NAME("qp"), .W(QP_W)) u_qp (.q(qp_q), .*);

  // A page-aligned address other than 0 in `far`: the GPU memory is seen there too, so that addresses
  // of real machines can be used.
  wire [63:0] far;
  tb_cfg #(.NAME("far"), .W(64)) u_far (.q(far), .*);
  function automatic logic [63:0] place(input logic [63:0] a);
    return far != 0 && a - far < 64'(GPU_LINES) * 64 ? a - far + 64'h1_0000_0000 : a;
  endfunction

  wire [11:0] uar_awaddr;
  wire [7:0] uar_awlen;
  wire uar_awvalid, uar_awready, uar_wlast, uar_wvalid, uar_wready, uar_bvalid, uar_bready;
  wire [511:0] uar_wdata;
  wire [63:0] uar_wstrb;
  wire [1:0] uar_bresp;
  wire [3:0] arid, rid, awid, bid;
  wire [63:0] araddr, awaddr, wstrb;
  wire [7:0] arlen, awlen;
  wire [2:0] arsize, awsize;
  wire [1:0] arburst, awburst;
  wire arvalid, arready, rlast, rvalid, rready, awvalid, awready, wlast, wvalid, wready, bvalid, bready;
  wire [511:0] rdata, wdata;
  wire [1:0] rresp, bresp;
  wire halted;
  wire [2:0] qp_state;
  wire [31:0] cnt_refused, cnt_rx_good, cnt_drop_fcs, cnt_drop_format, cnt_drop_icrc;

  localparam int CABLE_W = CABLE_SIDE_W + 64 + 512;
  wire [CABLE_W-1:0] nic_tx, nic_rx, peer_tx, peer_rx;
  /* verilator lint_off UNUSEDSIGNAL */  // only for what is under way
  cable_side_t nic_side, peer_side;
  /* verilator lint_on UNUSEDSIGNAL */
  assign nic_side = nic_tx[CABLE_W-1-:CABLE_SIDE_W];
  assign peer_side = peer_tx[CABLE_W-1-:CABLE_SIDE_W];

  wire p_valid, p_ready, p_last;
  wire [511:0] p_data;
  wire [63:0] p_keep;
  wire r_valid, r_last;
  wire [511:0] r_data;
  wire [63:0] r_keep;
  logic [7:0] peer_free;

  tb_ctl #(.N_PLAYERS(2), .N_ACTIVITY(4)) u_ctl (
      .activity({mem_activity, nic_side.valid, peer_side.valid, uar_wvalid}), .*);

  /* verilator lint_off PINCONNECTEMPTY */  // sizes are constant, statistics are not this bench's matter
  nic dut (
      .clk(clk), .rst(rst),
      .cfg_doorbell(cfg_doorbell), .cfg_rdma(cfg_rdma), .cfg_mr(cfg_mr), .cfg_wire(cfg_wire),
      .cfg_link(cfg_link),
      .s_uar_awid(4'd0), .s_uar_awaddr(uar_awaddr), .s_uar_awlen(uar_awlen), .s_uar_awvalid(uar_awvalid),
      .s_uar_awready(uar_awready), .s_uar_wdata(uar_wdata), .s_uar_wstrb(uar_wstrb),
      .s_uar_wlast(uar_wlast), .s_uar_wvalid(uar_wvalid), .s_uar_wready(uar_wready),
      .s_uar_bid(), .s_uar_bresp(uar_bresp), .s_uar_bvalid(uar_bvalid), .s_uar_bready(uar_bready),
      .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize), .m_axi_arburst(arburst),
      .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_rid(rid), .m_axi_rdata(rdata),
      .m_axi_rresp(rresp), .m_axi_rlast(rlast), .m_axi_rvalid(rvalid), .m_axi_rready(rready),
      .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awsize(awsize), .m_axi_awburst(awburst),
      .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb),
      .m_axi_wlast(wlast), .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_bid(bid),
      .m_axi_bresp(bresp), .m_axi_bvalid(bvalid), .m_axi_bready(bready),
      .tx(nic_tx), .rx(nic_rx),
      .halted(halted), .qp_state(qp_state), .cnt_doorbells(), .cnt_refused(cnt_refused),
      .cnt_rx_good(cnt_rx_good), .cnt_drop_fcs(cnt_drop_fcs), .cnt_drop_format(cnt_drop_format),
      .cnt_drop_icrc(cnt_drop_icrc)
  );

  cable u_to_peer (.clk(clk), .rst(rst), .cfg_delay(cfg_cable), .s(nic_tx), .m(peer_rx));
  cable u_to_nic (.clk(clk), .rst(rst), .cfg_delay(cfg_cable), .s(peer_tx), .m(nic_rx));

  link u_peer (
      .clk(clk), .rst(rst), .cfg(cfg_link), .retrain_req(1'b0),
      .s_axis_tvalid(p_valid), .s_axis_tready(p_ready), .s_axis_tdata(p_data), .s_axis_tkeep(p_keep),
      .s_axis_tlast(p_last), .s_axis_tuser(1'b0),
      .m_axis_tvalid(r_valid), .m_axis_tdata(r_data), .m_axis_tkeep(r_keep), .m_axis_tlast(r_last),
      .m_axis_tuser(), .free_cells(peer_free), .m_credit(), .s_pause(1'b0), .m_pause(), .up(), .drained(1'b1),
      .tx(peer_tx), .rx(peer_rx), .credits(), .state(), .reason(), .ev(), .lost()
  );
  always_ff @(posedge clk) peer_free <= rst ? 8'd0 : 8'(r_valid);

  stream_player #(.NAME("peer")) u_player (
      .tvalid(p_valid), .tready(p_ready), .tlast(p_last), .tkeep(p_keep), .tdata(p_data), .side(),
      .player_done(player_done[0]), .*);
  stream_monitor #(.NAME("peer")) u_in (
      .tvalid(p_valid), .tready(p_ready), .tlast(p_last), .tkeep(p_keep), .tdata(p_data), .side(1'b0), .*);
  stream_monitor #(.NAME("peer_rx")) u_out (
      .tvalid(r_valid), .tready(1'b1), .tlast(r_last), .tkeep(r_keep), .tdata(r_data), .side(1'b0), .*);

  axi_store_player #(.NAME("store"), .ADDR_W(12)) u_store (
      .player_done(player_done[1]),
      .m_axi_awaddr(uar_awaddr), .m_axi_awlen(uar_awlen), .m_axi_awsize(), .m_axi_awburst(),
      .m_axi_awvalid(uar_awvalid), .m_axi_awready(uar_awready), .m_axi_wdata(uar_wdata),
      .m_axi_wstrb(uar_wstrb), .m_axi_wlast(uar_wlast), .m_axi_wvalid(uar_wvalid),
      .m_axi_wready(uar_wready), .m_axi_bresp(uar_bresp), .m_axi_bvalid(uar_bvalid),
      .m_axi_bready(uar_bready), .*);
  /* verilator lint_on PINCONNECTEMPTY */

  axi_mem #(
      .NAME("mem"), .HOST_LINES(HOST_LINES), .GPU_LINES(GPU_LINES), .RECORD_R(1'b0)
  ) u_mem (
      .activity(mem_activity),
      .s_axi_awid(awid), .s_axi_awaddr(place(awaddr)), .s_axi_awlen(awlen), .s_axi_awsize(awsize),
      .s_axi_awburst(awburst), .s_axi_awvalid(awvalid), .s_axi_awready(awready), .s_axi_wdata(wdata),
      .s_axi_wstrb(wstrb), .s_axi_wlast(wlast), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
      .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
      .s_axi_arid(arid), .s_axi_araddr(place(araddr)), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
      .s_axi_arburst(arburst), .s_axi_arvalid(arvalid), .s_axi_arready(arready), .s_axi_rid(rid),
      .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
      .s_axi_rready(rready), .*);

  event_recorder #(.NAME("status"), .W(164), .CHANGE(1'b1)) u_status (
      .value({cnt_drop_icrc, cnt_drop_format, cnt_drop_fcs, cnt_rx_good, cnt_refused, qp_state, halted}), .*);
endmodule

`default_nettype wire
