// SPDX-License-Identifier: Apache-2.0
// Completions wait here for their data: FIFO and the register H (rules I1, I2 of docs/cq.md).
// Latency: accepted at c, in H from c + latency.cq.fifo + latency.cq.head on. In order.
`default_nettype none
`include "microhop_assert.svh"

module cq_take
  import microhop_pkg::*;
  import spec_pkg::*;
(
    input  wire               clk,       /// clock
    input  wire               rst,       /// synchronous reset, active high
    input  wire               s_valid,   /// a completion
    output wire               s_ready,   /// accepted
    input  wire [CQ_IN_W-1:0] s_data,    /// cq_in_t
    input  wire [15:0]        dma_done,  /// write bursts whose B came, modulo 2^16
    output wire               ready,     /// H holds a completion whose data is visible
    output wire [CQ_IN_W-1:0] data,      /// H: cq_in_t
    input  wire               take       /// it is issued in this cycle
);

  localparam int CW = $clog2(CQ_IN_FIFO) + 1;

  wire [CW-1:0] count;
  wire empty;
  wire [CQ_IN_W-1:0] head;
  logic h_valid;
  /* verilator lint_off UNUSEDSIGNAL */  // the barrier is looked at here, the rest goes on
  cq_in_t h;
  /* verilator lint_on UNUSEDSIGNAL */

  wire load = !empty && (!h_valid || take);
  /* verilator lint_off UNUSEDSIGNAL */  // only the sign counts
  wire [15:0] ahead = dma_done - h.barrier;
  /* verilator lint_on UNUSEDSIGNAL */
  logic acked;  // it was, in a cycle before

  assign s_ready = count < CW'(CQ_IN_FIFO);
  assign ready   = h_valid && (acked || !ahead[15]);
  assign data    = h;

  sync_fifo #(.WIDTH(CQ_IN_W), .DEPTH(CQ_IN_FIFO)) u_fifo (
      .clk(clk), .rst(rst), .wr_en(s_valid && s_ready), .wr_data(s_data), .rd_en(load), .rd_data(head),
      .empty(empty), .count(count));

  always_ff @(posedge clk) begin
    if (rst) h_valid <= 1'b0;
    else if (load) h_valid <= 1'b1;
    else if (take) h_valid <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (load) h <= head;
    acked <= !load && (acked || !ahead[15]);
  end

  // Only what is there can be issued.
  `MH_ASSERT(a_take, !take || ready)

`ifndef SYNTHESIS
  // I2, rule of use: how far dma_done is beyond each barrier, not modulo 2^16, from the acceptance until H has it.
  logic [31:0] moved;  // how far dma_done went
  logic [15:0] was;
  logic signed [32:0] beyond[CQ_IN_FIFO];  // barrier to `moved` at the acceptance
  logic signed [32:0] beyond_h;
  logic loaded;
  logic [CW-2:0] wr, rd;
  /* verilator lint_off UNUSEDSIGNAL */  // only the barrier is looked at
  cq_in_t s;
  /* verilator lint_on UNUSEDSIGNAL */
  assign s = s_data;
  wire [31:0] total = moved + 32'(16'(dma_done - was));
  wire [15:0] lead = dma_done - s.barrier;
  always_ff @(posedge clk) begin
    was   <= dma_done;
    moved <= rst ? '0 : total;
    if (rst) begin
      wr <= '0;
      rd <= '0;
    end else begin
      if (s_valid && s_ready) begin
        wr         <= wr + 1'b1;
        beyond[wr] <= $signed({17'd0, lead}) - $signed({16'd0, lead[15], 16'd0}) - $signed({1'b0, total});
      end
      if (load) rd <= rd + 1'b1;
    end
    if (load) beyond_h <= beyond[rd];
    loaded <= load && !rst;
  end
  `MH_ASSERT(a_wraps, !loaded || beyond_h + $signed({1'b0, total}) < 33'sd32768)
`endif

endmodule

`default_nettype wire
