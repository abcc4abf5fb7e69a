// SPDX-License-Identifier: Apache-2.0
// Flags of every send queue (docs/sq.md, C3), and what becomes of them when P3, T1, T2, D2 and D3 meet at one queue
// in a cycle (B4, T2, T5, D5, D7). Outputs show the values before the cycle's own writes.
`default_nettype none
`include "microhop_assert.svh"

module sq_flags #(
    parameter int QPS   = 256,  /// queue pairs
    localparam int QW   = $clog2(QPS)
) (
    input  wire          clk,           /// clock
    input  wire          rst,           /// synchronous reset, active high
    input  wire          ctx_we,        /// a table entry is written
    input  wire [QW-1:0] ctx_addr,      /// its number
    output logic         ctx_idle,      /// a cycle ago it might be written (C5)
    // P3
    input  wire [QW-1:0] p_qp,          /// its queue
    input  wire          p_ring,        /// a doorbell is accepted (B4)
    input  wire          p_direct,      /// a WQE goes direct (B3)
    input  wire          p_knock,       /// one of both: of a queue that is busy, a doorbell
    output wire          p_rung,        /// flag of its queue
    output wire          p_busy,        /// flag of its queue
    output wire          p_err,         /// flag of its queue
    output wire          p_virgin,      /// taken is the table's first index
    output wire          p_ours,        /// taken was moved last by a store
    output wire          p_known,       /// its entry was written since reset
    output wire          p_push,        /// to the active queue, source RING
    // T0
    input  wire [QW-1:0] t0_qp,         /// its queue
    output wire          t0_virgin,     /// as p_virgin
    output wire          t0_ours,       /// as p_ours
    output wire          t0_fresh,      /// flag of its queue
    output wire          t0_recpend,    /// flag of its queue
    // T1
    input  wire [QW-1:0] t1_qp,         /// its queue
    input  wire          t1_begin,      /// hands over (T2)
    input  wire          t1_void,       /// ends at once: halted
    output wire          t1_record,     /// a record is to be read
    output wire          t1_err,        /// flag of its queue
    // T2
    input  wire [QW-1:0] t2_qp,         /// its queue
    input  wire          t2_end,        /// last item of the turn (T5)
    input  wire          t2_left,       /// published blocks are left
    output wire          t2_stays,      /// nothing of this queue ends the turn before they are asked for (T7)
    output wire          t2_push,       /// to the active queue, source TURN
    // D3
    input  wire [QW-1:0] e_qp,          /// its queue
    input  wire          e_record,      /// its record was judged (D5)
    input  wire          e_further,     /// it publishes more than was asked for
    input  wire          e_idle,        /// nothing is under way or unfinished (D7, without the flags)
    output wire          e_push,        /// to the active queue, source JUDGE
    // D2
    input  wire [QW-1:0] d_qp,          /// its queue
    input  wire          d_halt,        /// the queue halts (D6)
    input  wire          d_takes,       /// taken moves (D4)
    input  wire          d_even,        /// with it turns done = turns begun
    output wire          d_err          /// flag of its queue
);

  logic [QPS-1:0] rung, queued, recpend, more, busy, fresh, err, virgin, ours, known;
  logic [QPS-1:0] even;  // turns done = turns begun

  assign p_rung    = rung[p_qp];
  assign p_busy    = busy[p_qp];
  assign p_err     = err[p_qp];
  assign p_virgin  = virgin[p_qp];
  assign p_ours    = ours[p_qp];
  assign p_known   = known[p_qp];
  assign p_push    = p_ring && !queued[p_qp] && !recpend[p_qp];
  assign t0_virgin = virgin[t0_qp];
  assign t0_ours   = ours[t0_qp];
  assign t0_fresh  = fresh[t0_qp];
  assign t0_recpend = recpend[t0_qp];
  assign t1_record = rung[t1_qp] && !recpend[t1_qp];
  assign t1_err    = err[t1_qp];

  // A doorbell of this cycle counts for those who would otherwise miss it. Their queues are busy: p_knock is known
  // before p_ring.
  wire e_rung = rung[e_qp] || (p_knock && p_qp == e_qp);
  wire e_want = e_record && (e_further || e_rung);
  assign d_err  = err[d_qp];
  assign e_push = e_want && !queued[e_qp];

  wire t2_rung = rung[t2_qp] || (p_knock && p_qp == t2_qp);
  wire t2_again = t2_left || more[t2_qp] || (e_want && e_qp == t2_qp) || (t2_rung && !recpend[t2_qp]);
  assign t2_push = t2_end && t2_again;
  assign t2_stays = !err[t2_qp] && !(rung[t2_qp] && !recpend[t2_qp]);

  wire e_done = e_idle && !queued[e_qp] && !e_rung && (e_record || !recpend[e_qp]);

  wire idle = !busy[ctx_addr] || (err[ctx_addr] && !queued[ctx_addr] && even[ctx_addr]);

  always_ff @(posedge clk) begin
    if (rst) begin
      ctx_idle <= 1'b1;
      rung    <= '0;
      queued  <= '0;
      recpend <= '0;
      more    <= '0;
      busy    <= '0;
      fresh   <= '0;
      err     <= '0;
      virgin  <= '0;
      ours    <= '0;
      known   <= '0;
      even    <= '0;
    end else begin
      ctx_idle <= idle;
      if (d_even) even[d_qp] <= 1'b1;
      if (t1_begin) even[t1_qp] <= 1'b0;
      if (t1_begin) begin
        fresh[t1_qp] <= 1'b0;
        if (t1_record) begin
          rung[t1_qp]    <= 1'b0;
          recpend[t1_qp] <= 1'b1;
        end
      end
      if (t1_void) queued[t1_qp] <= 1'b0;
      if (e_record) recpend[e_qp] <= 1'b0;
      if (e_want && queued[e_qp]) more[e_qp] <= 1'b1;
      if (e_push) queued[e_qp] <= 1'b1;
      if (e_done) busy[e_qp] <= 1'b0;
      if (d_halt) err[d_qp] <= 1'b1;
      if (d_takes) {virgin[d_qp], ours[d_qp]} <= 2'b00;
      if (t2_end) begin
        more[t2_qp]   <= 1'b0;
        queued[t2_qp] <= t2_again;
      end
      if (p_direct) begin
        virgin[p_qp] <= 1'b0;
        ours[p_qp]   <= 1'b1;
      end
      if (p_ring) begin
        rung[p_qp] <= 1'b1;
        busy[p_qp] <= 1'b1;
        if (!busy[p_qp]) fresh[p_qp] <= 1'b1;
        if (p_push) queued[p_qp] <= 1'b1;
      end
      if (ctx_we) begin
        virgin[ctx_addr]  <= 1'b1;
        known[ctx_addr]   <= 1'b1;
        even[ctx_addr]    <= 1'b1;
        rung[ctx_addr]    <= 1'b0;
        queued[ctx_addr]  <= 1'b0;
        recpend[ctx_addr] <= 1'b0;
        more[ctx_addr]    <= 1'b0;
        busy[ctx_addr]    <= 1'b0;
        fresh[ctx_addr]   <= 1'b0;
        err[ctx_addr]     <= 1'b0;
      end
    end
  end

  // C2: what is under way would be handed on under the new entry.
  `MH_ASSERT(a_idle_write, !(ctx_we && !idle))
  // A queue is in the active queue once.
  `MH_ASSERT(a_once, !(e_push && t2_push && e_qp == t2_qp) && !(p_push && e_push && p_qp == e_qp))
  // The taken index has one writer at a time.
  `MH_ASSERT(a_one_writer, !(p_direct && d_takes && p_qp == d_qp))

endmodule

`default_nettype wire
