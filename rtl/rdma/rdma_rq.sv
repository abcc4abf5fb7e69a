// SPDX-License-Identifier: Apache-2.0
// Receive queue: fetches the doorbell record (word 0) and the 64-byte line with the receive WQE at the
// consumer index, both at once, record first; keeps the line, so that the other WQEs in it that the
// record had published need no read of their own.
//
// fetch at cycle c: the record's read is offered at c+1, the line's when that is taken; `done` is 1 in
// the cycle after the line's data came. No prefetch: a receive WQE is read when one is needed.
`default_nettype none
`include "microhop_assert.svh"

module rdma_rq
  import microhop_pkg::*;
(
    input  wire         clk,       /// clock
    input  wire         rst,       /// synchronous reset, active high
    input  wire [RDMA_CFG_W-1:0] cfg,  /// rdma_cfg_t
    input  wire         fetch,     /// read record and line; not while a fetch runs
    output logic        done,      /// the fetch ended (one cycle)
    input  wire         consume,   /// the WQE at the consumer index is taken
    output wire         have,      /// a WQE stands at the consumer index, and it is here
    output wire         posted,    /// the record shows WQEs not yet taken (as of the last fetch)
    output wire         bad,       /// the last fetch failed, or its record is beyond the ring
    output logic [15:0] ci,        /// consumer index
    output wire [31:0]  byte_cnt,  /// WQE at the consumer index: bytes
    output wire [31:0]  lkey,      /// its key
    output wire [63:0]  addr,      /// its address
    output wire         rq_valid,  /// read wanted
    output wire [63:0]  rq_addr,   /// its address
    input  wire         rq_take,   /// taken
    input  wire         r_valid,   /// read data (ID 2)
    input  wire [511:0] r_data,    /// data
    input  wire         r_bad      /// its response is an error
);

  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  rdma_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  logic [1:0] ask;   // reads still to ask for
  logic [1:0] wait_n;  // answers still to come
  logic [15:0] pi;   // as the record showed it
  logic line_valid, err;
  logic [13:0] line_tag;
  logic [511:0] line;

  logic [15:0] mask;    // of the index in the ring; constant outside reset
  logic [16:0] size;    // WQEs of the ring; constant outside reset
  logic [31:0] base_up; // upper half of the ring's address, plus one; constant outside reset
  /* verilator lint_off UNUSEDSIGNAL */  // four receive WQEs share a line
  wire [15:0] slot = ci & mask;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [15:0] count = pi - ci;

  assign posted = count != 0;
  assign have   = posted && !bad && line_valid && line_tag == ci[15:2];
  assign bad    = err || 17'(count) > size;

  assign rq_valid = ask != 0;
  wire [26:0] low = {1'b0, c.rq_base[31:6]} + 27'(slot[15:2]);
  assign rq_addr  = ask == 2'd2 ? {c.rq_dbr[63:6], 6'b0} : {low[26] ? base_up : c.rq_base[63:32], low[25:0], 6'b0};

  // The record stands in one of eight places of its line, big-endian.
  /* verilator lint_off UNUSEDSIGNAL */  // the receive counter is 16 bits of word 0
  wire [63:0] rec = 64'(r_data >> {c.rq_dbr[5:3], 6'b0});
  /* verilator lint_on UNUSEDSIGNAL */

  // One cycle behind line and index: the header is looked at two cycles after either changes.
  logic [127:0] seg;
  always_ff @(posedge clk) seg <= 128'(line >> {ci[1:0], 7'b0});
  wire [7:0] b[16];
  for (genvar i = 0; i < 16; i++) begin : g_byte
    assign b[i] = seg[8*i+:8];
  end
  assign byte_cnt = {b[0], b[1], b[2], b[3]};
  assign lkey     = {b[4], b[5], b[6], b[7]};
  assign addr     = {b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]};

  always_ff @(posedge clk) begin
    if (rst) begin
      ask        <= '0;
      wait_n     <= '0;
      ci         <= c.rq_ci0;
      pi         <= c.rq_ci0;
      line_valid <= 1'b0;
      line_tag   <= '0;
      err        <= 1'b0;
      done       <= 1'b0;
      mask       <= ~(16'hffff << c.rq_log);
      size       <= 17'd1 << c.rq_log;
      base_up    <= c.rq_base[63:32] + 1'b1;
    end else begin
      done <= r_valid && wait_n == 2'd1;
      if (fetch) begin
        ask    <= 2'd2;
        wait_n <= 2'd2;
        err    <= 1'b0;
      end else begin
        if (rq_take) ask <= ask - 1'b1;
        if (r_valid) begin
          wait_n <= wait_n - 1'b1;
          if (r_bad) err <= 1'b1;
          if (wait_n == 2'd2) pi <= {rec[23:16], rec[31:24]};
          else begin
            line_valid <= !r_bad;
            line_tag   <= ci[15:2];
          end
        end
      end
      if (consume) ci <= ci + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (r_valid && wait_n == 2'd1) line <= r_data;
  end

  // An answer that nobody asked for would be taken for the next one.
  `MH_ASSERT(a_asked, !(r_valid && wait_n == 0))
  `MH_ASSERT(a_once, !(fetch && wait_n != 0))
  `MH_NEVER_X(a_known, {rq_valid, done, ci, pi})

endmodule

`default_nettype wire
