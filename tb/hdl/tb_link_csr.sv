// SPDX-License-Identifier: Apache-2.0
// Bench of a link's registers. LINK 0: link_csr alone, what a link and its FEC show is played as levels of one vector
// (EVENT_BITS; layout: tb.link_csr.events), what the registers tell the link is recorded. LINK 1: two ends, each a link_top,
// configured through AXI4-Lite only, over a cable in each direction.
`default_nettype none

module tb_link_csr
  import microhop_pkg::*;
#(
    parameter int LINK   = 0,   /// 1: with links behind them
    parameter int LANES  = 3,   /// virtual lanes
    parameter int DATA_W = 512  /// bits of a beat
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  logic stop;
  wire [1:0] player_done, activity;
  tb_ctl #(.N_PLAYERS(2), .N_ACTIVITY(2)) u_ctl (.*);

  if (LINK == 0) begin : g_csr
    localparam int EVENT_BITS = 49 + 18 * LANES;
    wire axil_done, events_done;
    wire [11:0] s_axil_awaddr, s_axil_araddr;
    wire [31:0] s_axil_wdata, s_axil_rdata;
    wire [3:0] s_axil_wstrb;
    wire [1:0] s_axil_bresp, s_axil_rresp, state;
    wire s_axil_awvalid, s_axil_awready, s_axil_wvalid, s_axil_wready, s_axil_bvalid, s_axil_bready;
    wire s_axil_arvalid, s_axil_arready, s_axil_rvalid, s_axil_rready;
    wire [LINK_CFG_W-1:0] cfg;
    wire retrain_req, degraded, up, fec_valid, fec_failed;
    wire [7:0] reason;
    wire [LANES*16-1:0] credits;
    wire [LANES-1:0] s_pause, m_pause;
    wire [19:0] ev;
    wire [10:0] lost;
    wire [4:0] fec_symbols;
    wire [EVENT_BITS-1:0] events;

    axil_player #(.NAME("axil"), .ADDR_W(12)) u_axil (
        .player_done(axil_done),
        .m_axil_awaddr(s_axil_awaddr), .m_axil_awvalid(s_axil_awvalid), .m_axil_awready(s_axil_awready),
        .m_axil_wdata(s_axil_wdata), .m_axil_wstrb(s_axil_wstrb), .m_axil_wvalid(s_axil_wvalid),
        .m_axil_wready(s_axil_wready), .m_axil_bresp(s_axil_bresp), .m_axil_bvalid(s_axil_bvalid),
        .m_axil_bready(s_axil_bready), .m_axil_araddr(s_axil_araddr), .m_axil_arvalid(s_axil_arvalid),
        .m_axil_arready(s_axil_arready), .m_axil_rdata(s_axil_rdata), .m_axil_rresp(s_axil_rresp),
        .m_axil_rvalid(s_axil_rvalid), .m_axil_rready(s_axil_rready), .*);

    timed_value #(.NAME("events"), .W(EVENT_BITS)) u_events (
        .init({EVENT_BITS{1'b0}}), .q(events), .player_done(events_done), .*);
    assign {credits, m_pause, s_pause, fec_failed, fec_symbols, fec_valid, lost, ev, reason, up, state} = events;

    link_csr #(.LANES(LANES), .DATA_W(DATA_W)) dut (.*);

    event_recorder #(.NAME("cfg"), .W(LINK_CFG_W), .CHANGE(1'b1)) u_cfg (.value(cfg), .*);
    event_recorder #(.NAME("degraded"), .W(1), .CHANGE(1'b1)) u_degraded (.value(degraded), .*);
    event_recorder #(.NAME("retrain"), .W(1)) u_retrain (.value(retrain_req), .*);
    assign player_done = {axil_done, events_done};
    assign activity = {s_axil_bvalid, s_axil_rvalid};
  end else begin : g_link
    localparam int CW = CABLE_SIDE_W + DATA_W / 8 + DATA_W;
    wire [7:0] cable_delay;
    wire [CW-1:0] a_tx, a_rx, b_tx, b_rx;

    tb_cfg #(.NAME("cable"), .W(8)) u_cable_cfg (.q(cable_delay), .*);
    tb_link_top_end #(.NAME("a"), .DATA_W(DATA_W), .LANES(LANES)) u_a (
        .player_done(player_done[0]), .busy(activity[0]), .tx(a_tx), .rx(a_rx), .*);
    tb_link_top_end #(.NAME("b"), .DATA_W(DATA_W), .LANES(LANES)) u_b (
        .player_done(player_done[1]), .busy(activity[1]), .tx(b_tx), .rx(b_rx), .*);
    cable #(.DATA_W(DATA_W)) u_a_to_b (.clk(clk), .rst(rst), .cfg_delay(cable_delay), .s(a_tx), .m(b_rx));
    cable #(.DATA_W(DATA_W)) u_b_to_a (.clk(clk), .rst(rst), .cfg_delay(cable_delay), .s(b_tx), .m(a_rx));
  end
endmodule

`default_nettype wire
