// SPDX-License-Identifier: Apache-2.0
// One end of the bench of a link with its registers: configured through AXI4-Lite alone; player, core and a PHY that errs
// as in tb_link_end. What the registers see is recorded, and what they tell the link.
`default_nettype none

module tb_link_top_end
  import microhop_pkg::*;
#(
    parameter     NAME   = "a",  /// the end's name
    parameter int DATA_W = 512,  /// stream width, bits
    parameter int LANES  = 2,    /// virtual lanes
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire          clk,          /// clock
    input  wire          rst,          /// synchronous reset, active high
    input  wire          start,        /// a phase begins
    input  wire          stop,         /// the phase ended
    input  wire [  15:0] phase,        /// number of the phase
    input  wire [  31:0] cycle,        /// number of this edge
    output wire          player_done,  /// nothing is left to play
    output wire          busy,         /// something moves
    output wire [CW-1:0] tx,           /// to the cable
    input  wire [CW-1:0] rx            /// from the cable
);
  wire [2:0] done;
  assign player_done = &done;

  // ---- errors of what comes in: at random, by thresholds -----------------------------------------------------
  wire [65:0] err;
  wire [31*64-1:0] thresholds;
  wire [CW-1:0] rx_link;
  wire fec_valid, fec_failed;
  wire [4:0] fec_symbols;
  logic [5:0] entry;  // threshold to be written

  tb_cfg #(.NAME({NAME, "_err"}), .W(66)) u_err_cfg (.q(err), .*);
  tb_cfg #(.NAME({NAME, "_thr"}), .W(31 * 64)) u_thr_cfg (.q(thresholds), .*);
  always_ff @(posedge clk) begin
    if (start) entry <= 6'd1;
    else if (entry != '0) entry <= entry == 6'd31 ? 6'd0 : entry + 6'd1;
  end
  initial entry = '0;

  phy_errors #(.DATA_W(DATA_W)) u_errors (
      .clk(clk), .rst(rst), .cfg_on(err[0]), .cfg_kp4(err[1]), .cfg_seed(err[65:2]), .cfg_burst_thr(64'd0),
      .cfg_burst_len(12'd0), .cfg_lose_thr(64'd0), .cfg_repeat_thr(64'd0),
      .thr_we(entry != '0), .thr_addr(entry[4:0]),
      .thr_data(thresholds[64*(entry[4:0]-5'd1)+:64]), .fault(2'd0), .cut(1'b0), .s(rx), .m(rx_link),
      .cw_done(fec_valid), .cw_corrected(fec_symbols), .cw_failed(fec_failed));

  // ---- registers, player, core ---------------------------------------------------------------------------------
  wire [11:0] s_axil_awaddr, s_axil_araddr;
  wire [31:0] s_axil_wdata, s_axil_rdata;
  wire [3:0] s_axil_wstrb;
  wire [1:0] s_axil_bresp, s_axil_rresp, state;
  wire s_axil_awvalid, s_axil_awready, s_axil_wvalid, s_axil_wready, s_axil_bvalid, s_axil_bready;
  wire s_axil_arvalid, s_axil_arready, s_axil_rvalid, s_axil_rready;
  wire s_valid, s_ready, s_last, s_user, m_valid, m_last, m_user, go, up, empty, degraded;
  wire [DATA_W-1:0] s_data, m_data;
  wire [BB-1:0] s_keep, m_keep;
  wire [LANES*8-1:0] free_cells;
  wire [LANES-1:0] s_pause, m_pause;
  wire [LANES*16-1:0] credits;
  wire [7:0] reason;
  wire [19:0] ev;
  wire [10:0] lost;

  axil_player #(.NAME({NAME, "_axil"}), .ADDR_W(12)) u_axil (
      .player_done(done[0]),
      .m_axil_awaddr(s_axil_awaddr), .m_axil_awvalid(s_axil_awvalid), .m_axil_awready(s_axil_awready),
      .m_axil_wdata(s_axil_wdata), .m_axil_wstrb(s_axil_wstrb), .m_axil_wvalid(s_axil_wvalid),
      .m_axil_wready(s_axil_wready), .m_axil_bresp(s_axil_bresp), .m_axil_bvalid(s_axil_bvalid),
      .m_axil_bready(s_axil_bready), .m_axil_araddr(s_axil_araddr), .m_axil_arvalid(s_axil_arvalid),
      .m_axil_arready(s_axil_arready), .m_axil_rdata(s_axil_rdata), .m_axil_rresp(s_axil_rresp),
      .m_axil_rvalid(s_axil_rvalid), .m_axil_rready(s_axil_rready), .*);
  stream_player #(.NAME({NAME, "_s"}), .DATA_W(DATA_W)) u_player (
      .tvalid(s_valid), .tready(s_ready), .tlast(s_last), .tkeep(s_keep), .tdata(s_data), .side(s_user),
      .player_done(done[1]), .*);
  timed_value #(.NAME({NAME, "_pause"}), .W(LANES)) u_pause (
      .init({LANES{1'b0}}), .q(s_pause), .player_done(done[2]), .*);
  stream_sink #(.NAME({NAME, "_go"})) u_go (.tready(go), .*);

  link_top #(.DATA_W(DATA_W), .LANES(LANES)) u_top (
      .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep),
      .s_axis_tlast(s_last), .s_axis_tuser(s_user && s_last), .m_axis_tvalid(m_valid), .m_axis_tdata(m_data),
      .m_axis_tkeep(m_keep), .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_credit(), .drained(empty),
      .rx(rx_link), .*);

  wire [LINK_CFG_W-1:0] cfg = u_top.cfg;
  link_cfg_t told;
  assign told = cfg;
  link_core #(.LANES(LANES)) u_core (
      .cfg_roce(told.roce), .cfg_all(1'b0), .cfg_size(16'd0), .tvalid(m_valid), .tlast(m_last),
      .thead(m_data[127:0]), .over(), .*);

  // ---- records -----------------------------------------------------------------------------------------------
  assign busy = s_valid || m_valid || free_cells != '0 || s_axil_bvalid || s_axil_rvalid;
  stream_monitor #(.NAME({NAME, "_s"}), .DATA_W(DATA_W)) u_s (
      .tvalid(s_valid), .tready(s_ready), .tlast(s_last), .tkeep(s_keep), .tdata(s_data), .side(s_user), .*);
  stream_monitor #(.NAME({NAME, "_m"}), .DATA_W(DATA_W)) u_m (
      .tvalid(m_valid), .tready(1'b1), .tlast(m_last), .tkeep(m_keep), .tdata(m_data), .side(m_user && m_last), .*);
  event_recorder #(.NAME({NAME, "_cfg"}), .W(LINK_CFG_W), .CHANGE(1'b1)) u_cfg (.value(cfg), .*);
  event_recorder #(.NAME({NAME, "_retrain"}), .W(1)) u_retrain (.value(u_top.retrain_req), .*);
  event_recorder #(.NAME({NAME, "_degraded"}), .W(1), .CHANGE(1'b1)) u_degraded (.value(degraded), .*);
  event_recorder #(.NAME({NAME, "_state"}), .W(2), .CHANGE(1'b1)) u_state (.value(state), .*);
  event_recorder #(.NAME({NAME, "_up"}), .W(1), .CHANGE(1'b1)) u_up (.value(up), .*);
  event_recorder #(.NAME({NAME, "_reason"}), .W(8), .CHANGE(1'b1)) u_reason (.value(reason), .*);
  event_recorder #(.NAME({NAME, "_credits"}), .W(LANES * 16), .CHANGE(1'b1)) u_credits (.value(credits), .*);
  event_recorder #(.NAME({NAME, "_s_pause"}), .W(LANES), .CHANGE(1'b1)) u_s_pause (.value(s_pause), .*);
  event_recorder #(.NAME({NAME, "_m_pause"}), .W(LANES), .CHANGE(1'b1)) u_m_pause (.value(m_pause), .*);
  event_recorder #(.NAME({NAME, "_ev"}), .W(31)) u_ev (.value({ev[18] ? lost : 11'd0, ev}), .*);
  event_recorder #(.NAME({NAME, "_fec"}), .W(7)) u_fec (
      .value(fec_valid ? {1'b1, fec_failed, fec_symbols} : 7'd0), .*);
endmodule

`default_nettype wire
