// SPDX-License-Identifier: Apache-2.0
// sq_flags between stages that keep the contract (docs/sq.md): turns only of queues that are in the active queue, a
// record judged only while one is read, one end a turn. Followed for one queue, any: a doorbell is never lost (who
// rang waits in the active queue, in a turn, or behind a record that is read); the queue is in the active queue or in
// a turn once at most, so that FIFOs of a word a queue cannot overflow; busy ends only when nothing waits; a BlueFlame
// WQE goes direct only while nothing of its queue is rung, queued or read.
`default_nettype none
`include "formal.svh"

module formal_sq_flags #(
    parameter int QPS = 2  /// queue pairs
) (
    input wire                   clk,        /// clock
    input wire                   rst,        /// reset
    input wire [$clog2(QPS)-1:0] me,         /// the queue that is followed
    input wire                   ctx_we,     /// a table entry is written
    input wire [$clog2(QPS)-1:0] ctx_addr,   /// its number
    input wire [$clog2(QPS)-1:0] p_qp,       /// queue in P3
    input wire                   p_store,    /// an accepted store is in P3
    input wire                   p_bf,       /// it is a BlueFlame WQE that could go direct
    input wire [$clog2(QPS)-1:0] t0_qp,      /// queue in T0
    input wire [$clog2(QPS)-1:0] t1_qp,      /// queue in T1c
    input wire                   t1_go,      /// T2 is free
    input wire [$clog2(QPS)-1:0] t2_qp,      /// queue in T2
    input wire                   t2_end,     /// last item of the turn
    input wire                   t2_left,    /// published blocks are left
    input wire [$clog2(QPS)-1:0] e_qp,       /// queue in D3
    input wire                   e_record,   /// its record was judged
    input wire                   e_further,  /// it publishes more than was asked for
    input wire                   e_idle,     /// the last item under way, nothing unfinished
    input wire [$clog2(QPS)-1:0] d_qp,       /// queue in D2
    input wire                   d_halt,     /// it halts
    input wire                   d_takes,    /// its taken index moves
    input wire                   d_even      /// turns done = turns begun
);

  localparam int QW = $clog2(QPS);
  /* verilator lint_off UNUSEDSIGNAL */  // the proof looks at some of the outputs
  wire p_ring, p_direct, p_knock, p_rung, p_busy, p_err, p_virgin, p_ours, p_known, p_push;
  wire t0_virgin, t0_ours, t0_fresh, t0_recpend;
  wire t1_begin, t1_void, t1_record, t1_err, t2_stays, t2_push, d_err, e_push, ctx_idle;
  /* verilator lint_on UNUSEDSIGNAL */
  sq_flags #(.QPS(QPS)) dut (.*);

  assign p_direct = p_store && p_known && !p_err && p_bf && !p_busy;
  assign p_ring   = p_store && p_known && !p_err && !p_direct;
  assign p_knock  = p_store && p_known && !p_err;
  assign t1_begin = t1_go && !t1_err;
  assign t1_void  = t1_go && t1_err;

  `FORMAL_START
  `FORMAL_STEADY(me, QW)

  // what the stages know of the queue that is followed
  logic [1:0] places;  // in the active queue or in a turn: how often
  logic turn;  // its turn is in T2
  wire pushed_p = p_push && p_qp == me;
  wire pushed_d = e_push && e_qp == me;
  wire ends = t2_end && t2_qp == me;
  wire again = t2_push && t2_qp == me;
  wire begins = t1_begin && t1_qp == me;
  wire void_turn = t1_void && t1_qp == me;
  wire mine = ctx_we && ctx_addr == me;
  always_ff @(posedge clk) begin
    if (rst || mine) begin
      places <= '0;
      turn   <= 1'b0;
    end else begin
      places <= places + 2'(pushed_p) + 2'(pushed_d) + 2'(again) - 2'(ends) - 2'(void_turn);
      turn   <= begins || (turn && !ends);
    end
  end

  always_comb begin
    // a turn is of who is in the active queue and not in a turn; its end, of who is in one
    if (t1_go && t1_qp == me) assume (places != 0 && !turn);
    if (t2_end && t2_qp == me) assume (turn);
    // any other queue keeps the same contract
    if (t1_go) assume (dut.queued[t1_qp]);
    if (t2_end) assume (dut.queued[t2_qp]);
    if (t1_go && t2_end) assume (t1_qp != t2_qp);
    // a record is judged while one is read; nothing comes back of a queue that has nothing under way
    if (e_record) assume (dut.recpend[e_qp]);
    if (e_idle) assume (dut.busy[e_qp] && (e_record || !dut.recpend[e_qp]));
    if (d_halt || d_takes) assume (dut.busy[d_qp] && !d_err);
    // blocks that were published and not asked for are not taken yet
    assume (!(e_idle && e_further && e_record));
    // C2
    if (ctx_we) assume (dut.idle && !dut.queued[ctx_addr]);
    if (ctx_we && p_store) assume (p_qp != ctx_addr);
    if (ctx_we && (d_halt || d_takes)) assume (d_qp != ctx_addr);
    if (ctx_we && (e_record || e_idle)) assume (e_qp != ctx_addr);
  end

  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_once : assert (places <= 2'd1);
      a_queued : assert (dut.queued[me] == (places != 0));
      a_turn : assert (!turn || places != 0);
      a_not_lost : assert (!dut.rung[me] || dut.queued[me] || dut.recpend[me] || dut.err[me]);
      a_busy : assert (dut.busy[me] || !(dut.rung[me] || dut.queued[me] || dut.recpend[me] || dut.fresh[me]) || dut.err[me]);
      a_fresh : assert (!dut.fresh[me] || (dut.queued[me] && !turn) || dut.err[me]);
      a_more : assert (!dut.more[me] || dut.queued[me] || dut.err[me]);
      a_direct : assert (!(p_direct && p_qp == me) || !(dut.rung[me] || dut.queued[me] || dut.recpend[me]));
      c_rung_while_read : cover (dut.rung[me] && dut.recpend[me] && !dut.queued[me]);
      c_all_at_once : cover (p_ring && p_qp == me && e_record && e_qp == me && t2_end && t2_qp == me);
      c_idle_again : cover (started && !dut.busy[me] && dut.known[me] && !dut.virgin[me]);
    end
  end

endmodule

`default_nettype wire
