// SPDX-License-Identifier: Apache-2.0
// Retires packets in PSN order when memory has confirmed their writes: MSN, receive completion, then the
// acknowledgement. Answers wait in two places: an ACK that still waits is replaced by the answer behind
// it, which speaks for it too; a NAK keeps its place. So nothing here ever waits for the transmit side.
//
// A write response accepted at cycle c retires its packet at c+1 (one response a cycle), and its answer
// is offered at c+2. A failed write: NAK 0x63, error state, nothing later is answered.
`default_nettype none
`include "microhop_assert.svh"

module rdma_ack
  import microhop_pkg::*;
  import rdma_pkg::*;
#(
    parameter int RET_DEPTH = 64,  /// packets waiting for memory, a power of two
    parameter int CQ_DEPTH  = 4    /// receive completions waiting to be written
) (
    input  wire             clk,           /// clock
    input  wire             rst,           /// synchronous reset, active high
    input  wire [23:0]      msn0,          /// MSN at reset
    input  wire             ret_push,      /// a packet from the responder
    input  wire [RET_W-1:0] ret_data,      /// ret_t
    output wire [$clog2(RET_DEPTH):0] ret_count,  /// packets waiting
    input  wire [3:0]       m_axi_bid,     /// whose write
    input  wire [1:0]       m_axi_bresp,   /// 0: good
    input  wire             m_axi_bvalid,  /// response offered; always taken
    output wire             cq_push,       /// a receive completion
    output wire [CQR_W-1:0] cq_data,       /// cqr_t
    input  wire [$clog2(CQ_DEPTH):0] cq_count,  /// completions waiting
    output wire             ans_valid,     /// an acknowledge packet waits
    output wire [ANS_W-1:0] ans,           /// ans_t
    input  wire             ans_pop,       /// tx takes it
    output wire             nak_sent,      /// it is a NAK
    output wire             failed,        /// a write failed: move to the error state
    output logic [23:0]     msn            /// messages completed
);

  localparam logic [3:0] ID_PAYLOAD = 4'd1;

  wire ret_empty, ret_pop, b_empty, b_bad;
  wire [RET_W-1:0] ret_head;
  ret_t r;
  assign r = ret_head;

  sync_fifo #(
      .WIDTH(RET_W),
      .DEPTH(RET_DEPTH)
  ) u_ret (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (ret_push),
      .wr_data(ret_data),
      .rd_en  (ret_pop),
      .rd_data(ret_head),
      .empty  (ret_empty),
      .count  (ret_count)
  );

  wire b_in = m_axi_bvalid && m_axi_bid == ID_PAYLOAD;
  wire b_pop;
  sync_fifo #(
      .WIDTH(1),
      .DEPTH(2 * RET_DEPTH)
  ) u_b (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (b_in),
      .wr_data(m_axi_bresp != 0),
      .rd_en  (b_pop),
      .rd_data(b_bad),
      .empty  (b_empty),
      .count  ()
  );

  // ---- retire -------------------------------------------------------------------------------------
  logic got_one;             // the first of two responses is in
  logic bad_one;             // and it was bad
  logic dead;                // a write failed before
  logic [15:0] dead_wqe;     // receive WQE that was completed for it
  logic dead_wqe_valid;

  wire cq_room = cq_count < ($clog2(CQ_DEPTH) + 1)'(CQ_DEPTH);
  wire need_b = r.nb != 0;
  wire final_b = r.nb == 2'd1 || got_one;
  wire bad = need_b && ((!b_empty && b_bad) || bad_one);
  wire fail = bad && !dead;
  wire same = dead && dead_wqe_valid && r.wqe == dead_wqe;
  wire want_cqe = dead ? r.cqe && !same : r.cqe || (bad && r.wqe_used);

  assign b_pop   = !ret_empty && need_b && !b_empty && (!final_b || !want_cqe || cq_room);
  assign ret_pop = !ret_empty && (need_b ? b_pop && final_b : !want_cqe || cq_room);
  assign failed  = ret_pop && fail;
  assign cq_push = ret_pop && want_cqe;

  wire [23:0] msn_next = msn + 24'(r.msn_inc && !bad && !dead);

  cqr_t q;
  wire q_err = bad || dead;
  assign q.op       = q_err ? CQE_RESP_ERR : r.cqe_op;
  assign q.syn      = dead ? CQE_SYN_WR_FLUSH : bad ? CQE_SYN_LOC_QP_OP : r.cqe_syn;
  assign q.wqe      = r.wqe;
  assign q.byte_cnt = q_err ? '0 : r.byte_cnt;
  assign q.imm      = q_err ? '0 : r.imm;
  assign q.se       = !q_err && r.se;
  assign q.sop      = '0;
  assign cq_data    = q;

  always_ff @(posedge clk) begin
    if (rst) begin
      got_one        <= 1'b0;
      bad_one        <= 1'b0;
      dead           <= 1'b0;
      dead_wqe_valid <= 1'b0;
      msn            <= msn0;
    end else begin
      if (b_pop) begin
        got_one <= !final_b;
        bad_one <= !final_b && b_bad;
      end
      if (ret_pop) msn <= msn_next;
      if (failed) begin
        dead           <= 1'b1;
        dead_wqe_valid <= want_cqe;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (failed) dead_wqe <= r.wqe;
  end

  // ---- answers ------------------------------------------------------------------------------------
  wire put = ret_pop && !dead && (r.answer || bad);
  ans_t a;
  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  ans_t s0, l0;
  /* verilator lint_on UNUSEDSIGNAL */
  assign a.syndrome = bad ? SYN_NAK_OP : r.syndrome;
  assign a.psn      = r.psn;
  assign a.msn      = msn_next;

  logic v0, v1;
  logic [ANS_W-1:0] slot0, slot1;
  assign s0        = slot0;
  assign ans_valid = v0;
  assign ans       = slot0;
  assign nak_sent  = ans_pop && s0.syndrome != SYN_ACK_NO_CREDIT;

  // What is left after tx has taken its own: one answer, if any, and whether it may be replaced.
  wire left = ans_pop ? v1 : v0;
  wire [ANS_W-1:0] left0 = ans_pop ? slot1 : slot0;
  assign l0 = left0;
  wire replace = !left || l0.syndrome == SYN_ACK_NO_CREDIT;

  always_ff @(posedge clk) begin
    if (rst) begin
      v0 <= 1'b0;
      v1 <= 1'b0;
    end else begin
      v0 <= left || put;
      v1 <= (v1 && !ans_pop) || (put && !replace);
    end
  end

  always_ff @(posedge clk) begin
    if (ans_pop || put) slot0 <= put && replace ? a : left0;
    if (put && !replace) slot1 <= a;
  end

  // Only an ACK or the last NAK of the connection stands behind a NAK.
  `MH_ASSERT(a_order, !(v1 && !v0))
  `MH_NEVER_X(a_known, {ret_pop, v0, v1, msn, dead})

endmodule

`default_nettype wire
