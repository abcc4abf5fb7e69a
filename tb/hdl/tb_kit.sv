// SPDX-License-Identifier: Apache-2.0
// Bench of the kit's own AXI4 memory: a store player and a read player at its port, no design.
`default_nettype none

module tb_kit #(
    parameter int LINES     = 1024,  /// 64-byte lines of each window
    parameter bit ANY_ORDER = 1'b0   /// reads are answered as they are due
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  logic stop, activity, store_done, load_done;
  logic [63:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [2:0] awsize, arsize;
  logic [1:0] awburst, arburst, bresp, rresp;
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic arvalid, arready, rvalid, rready, rlast;
  logic [511:0] wdata, rdata;
  logic [63:0] wstrb;
  logic [3:0] bid, arid, rid;
  wire unused_ok = &{1'b0, bid, rid, rresp, rlast, rdata, rvalid};

  tb_ctl #(.N_PLAYERS(2)) u_ctl (.player_done({store_done, load_done}), .*);

  axi_store_player #(.NAME("store")) u_store (
      .player_done  (store_done),
      .m_axi_awaddr (awaddr),
      .m_axi_awlen  (awlen),
      .m_axi_awsize (awsize),
      .m_axi_awburst(awburst),
      .m_axi_awvalid(awvalid),
      .m_axi_awready(awready),
      .m_axi_wdata  (wdata),
      .m_axi_wstrb  (wstrb),
      .m_axi_wlast  (wlast),
      .m_axi_wvalid (wvalid),
      .m_axi_wready (wready),
      .m_axi_bresp  (bresp),
      .m_axi_bvalid (bvalid),
      .m_axi_bready (bready),
      .*
  );

  axi_read_player #(.NAME("load")) u_load (
      .player_done  (load_done),
      .m_axi_arid   (arid),
      .m_axi_araddr (araddr),
      .m_axi_arlen  (arlen),
      .m_axi_arsize (arsize),
      .m_axi_arburst(arburst),
      .m_axi_arvalid(arvalid),
      .m_axi_arready(arready),
      .m_axi_rready (rready),
      .*
  );

  axi_mem #(
      .NAME("mem"),
      .HOST_LINES(LINES),
      .GPU_LINES(LINES),
      .HOST_BASE(64'h0000_0000_1000_0000),
      .ANY_ORDER(ANY_ORDER)
  ) u_mem (
      .s_axi_awid   (4'd5),
      .s_axi_awaddr (awaddr),
      .s_axi_awlen  (awlen),
      .s_axi_awsize (awsize),
      .s_axi_awburst(awburst),
      .s_axi_awvalid(awvalid),
      .s_axi_awready(awready),
      .s_axi_wdata  (wdata),
      .s_axi_wstrb  (wstrb),
      .s_axi_wlast  (wlast),
      .s_axi_wvalid (wvalid),
      .s_axi_wready (wready),
      .s_axi_bid    (bid),
      .s_axi_bresp  (bresp),
      .s_axi_bvalid (bvalid),
      .s_axi_bready (bready),
      .s_axi_arid   (arid),
      .s_axi_araddr (araddr),
      .s_axi_arlen  (arlen),
      .s_axi_arsize (arsize),
      .s_axi_arburst(arburst),
      .s_axi_arvalid(arvalid),
      .s_axi_arready(arready),
      .s_axi_rid    (rid),
      .s_axi_rdata  (rdata),
      .s_axi_rresp  (rresp),
      .s_axi_rlast  (rlast),
      .s_axi_rvalid (rvalid),
      .s_axi_rready (rready),
      .*
  );
endmodule

`default_nettype wire
