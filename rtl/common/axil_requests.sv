// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite to a request bus, one access at a time. AW and W are taken in any order; a write and a read that wait
// together take turns. Every output is a register. From the cycle in which the access is accepted (the later of AW and
// W) to the request: 2 cycles, from the answer to BVALID or RVALID: 1.
`default_nettype none
`include "microhop_assert.svh"

module axil_requests #(
    parameter int ADDR_W = 17  /// bits of a byte address
) (
    input  wire               clk,             /// clock
    input  wire               rst,             /// synchronous reset, active high
    // AXI4-Lite, 32 bits; the lowest two address bits are ignored
    /* verilator lint_off UNUSEDSIGNAL */  // the two lowest bits: words only
    input  wire  [ADDR_W-1:0] s_axil_awaddr,   /// write address
    input  wire  [ADDR_W-1:0] s_axil_araddr,   /// read address
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire               s_axil_awvalid,  /// write address offered
    output logic              s_axil_awready,  /// write address taken
    input  wire  [      31:0] s_axil_wdata,    /// write data
    input  wire  [       3:0] s_axil_wstrb,    /// bytes to write
    input  wire               s_axil_wvalid,   /// write data offered
    output logic              s_axil_wready,   /// write data taken
    output logic [       1:0] s_axil_bresp,    /// 0 OKAY, 2 SLVERR
    output logic              s_axil_bvalid,   /// write response offered
    input  wire               s_axil_bready,   /// write response taken
    input  wire               s_axil_arvalid,  /// read address offered
    output logic              s_axil_arready,  /// read address taken
    output logic [      31:0] s_axil_rdata,    /// read data
    output logic [       1:0] s_axil_rresp,    /// 0 OKAY, 2 SLVERR
    output logic              s_axil_rvalid,   /// read data offered
    input  wire               s_axil_rready,   /// read data taken
    // request bus
    output logic              req,             /// an access, for one cycle; then none until it is answered
    output logic              req_wr,          /// it is a write
    output logic [ADDR_W-1:0] req_addr,        /// its byte address, a multiple of 4
    output logic [      31:0] req_data,        /// write data
    output logic [       3:0] req_strb,        /// bytes to write
    input  wire               ack,             /// the answer, for one cycle
    input  wire               ack_err,         /// there is no such register
    input  wire  [      31:0] ack_data         /// data of a read
);
  logic [ADDR_W-1:2] aw_addr, ar_addr;
  logic [31:0] w_data;
  logic [3:0] w_strb;
  logic busy, wrote;
  wire do_wr, do_rd;

  // ready low = the register behind it is full
  wire wr_waits = !s_axil_awready && !s_axil_wready && !s_axil_bvalid;
  wire rd_waits = !s_axil_arready && !s_axil_rvalid;
  assign do_wr = wr_waits && !busy && !(rd_waits && wrote);
  assign do_rd = rd_waits && !busy && !do_wr;

  always_ff @(posedge clk) begin
    if (s_axil_awvalid && s_axil_awready) aw_addr <= s_axil_awaddr[ADDR_W-1:2];
    if (s_axil_wvalid && s_axil_wready) {w_data, w_strb} <= {s_axil_wdata, s_axil_wstrb};
    if (s_axil_arvalid && s_axil_arready) ar_addr <= s_axil_araddr[ADDR_W-1:2];
    if (do_wr || do_rd) begin
      req_wr   <= do_wr;
      req_addr <= {do_wr ? aw_addr : ar_addr, 2'b00};
      req_data <= w_data;
      req_strb <= w_strb;
    end
    if (ack) begin
      if (req_wr) s_axil_bresp <= {ack_err, 1'b0};
      else {s_axil_rresp, s_axil_rdata} <= {ack_err, 1'b0, ack_data};
    end
    if (rst) begin
      s_axil_awready <= 1'b1;
      s_axil_wready  <= 1'b1;
      s_axil_arready <= 1'b1;
      s_axil_bvalid  <= 1'b0;
      s_axil_rvalid  <= 1'b0;
      busy           <= 1'b0;
      wrote          <= 1'b0;
      req            <= 1'b0;
    end else begin
      req <= do_wr || do_rd;
      if (do_wr || do_rd) {busy, wrote} <= {1'b1, do_wr};
      if (do_wr) {s_axil_awready, s_axil_wready} <= 2'b11;
      if (do_rd) s_axil_arready <= 1'b1;
      if (s_axil_awvalid && s_axil_awready) s_axil_awready <= 1'b0;
      if (s_axil_wvalid && s_axil_wready) s_axil_wready <= 1'b0;
      if (s_axil_arvalid && s_axil_arready) s_axil_arready <= 1'b0;
      if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (ack) begin
        busy <= 1'b0;
        if (req_wr) s_axil_bvalid <= 1'b1;
        else s_axil_rvalid <= 1'b1;
      end
    end
  end

  `MH_ASSERT(answer_is_due, !ack || busy)
  `MH_ASSERT(one_at_a_time, !busy || !(do_wr || do_rd))
endmodule

`default_nettype wire
