// SPDX-License-Identifier: Apache-2.0
// cq_index between a lot that keeps the contract (docs/cq.md: RETRY and RECORD of queues that wait only, an early RECORD of
// who asked early; a record is anything that software wrote at any time, in any order). Followed for one queue, any, over every
// mix of operations of all queues: no entry is written over one that software has not consumed (unless overrun is ignored),
// `used` is never below the truth nor beyond the ring; each completion has one outcome, and written, dropped and waiting ones
// make up those that came; once in error nothing is written; an early read is asked for from half full on, one at a time.
`default_nettype none
`include "formal.svh"

module formal_cq_index
  import microhop_pkg::*;
#(
    parameter int CQS = 2,    /// queues
    parameter int PLACES = 2, /// places of the lot
    parameter int LOG = 1     /// log2 of the rings
) (
    input wire                      clk,        /// clock
    input wire                      rst,        /// reset
    input wire [$clog2(CQS)-1:0]    me,         /// the queue that is followed
    input wire                      ctx_we,     /// a table entry is written
    input wire [$clog2(CQS)-1:0]    ctx_addr,   /// its number
    input wire [CQ_CTX_W-1:0]       ctx_data,   /// cq_ctx_t
    input wire                      op,         /// an operation is in C1
    input wire                      op_record,  /// RECORD
    input wire                      op_early,   /// of an early read
    input wire                      op_retry,   /// RETRY
    input wire                      op_with,    /// with record
    input wire [$clog2(PLACES)-1:0] op_place,   /// place
    input wire [23:0]               op_cqn,     /// queue
    input wire [23:0]               op_value,   /// a record
    input wire                      op_good,    /// it could be read
    input wire [$clog2(PLACES)-1:0] slot,       /// the lowest free place
    input wire                      room,       /// an early place is free
    input wire                      bad,        /// a write failed
    input wire [$clog2(CQS)-1:0]    bad_queue,  /// of this queue
    input wire                      consumes    /// software consumes an entry
);

  localparam int QW = $clog2(CQS);
  localparam int PW = $clog2(PLACES);

  /* verilator lint_off UNUSEDSIGNAL */  // the proof looks at some of the outputs
  wire bad_first, refuse, drop, over, write, park, link, ask, early, free, follow, owner;
  wire [PW-1:0] place, tail;
  wire [QW-1:0] queue;
  wire [23:0] index;
  wire [21:0] mask;
  wire [57:0] base;
  wire [60:0] dbr;
  /* verilator lint_on UNUSEDSIGNAL */
  cq_index #(.CQS(CQS), .PLACES(PLACES)) dut (.*);

  `FORMAL_START
  `FORMAL_STEADY(me, QW)

  /* verilator lint_off UNUSEDSIGNAL */  // the proof looks at some of the outputs
  cq_ctx_t w;
  /* verilator lint_on UNUSEDSIGNAL */
  assign w = ctx_data;

  // the queue's table entry, what software knows, what came and went
  logic there, ignore;
  logic [4:0] log;
  logic [23:0] first, ci;
  logic [7:0] came, gone, waiting;
  logic pending;  // an early read is under way, its RECORD not in C1
  wire mine = ctx_we && ctx_addr == me;
  wire of_me = dut.v2 && queue == me;

  // its state as C2 finds it: in the table, or new
  wire [23:0] t_pi, t_used;
  wire t_waits, t_asked;
  wire [PW-1:0] t_tail;
  assign {t_pi, t_used, t_waits, t_tail, t_asked} = dut.fresh[me] ? {first, 24'd0, 1'b0, PW'(0), 1'b0} : dut.st_mem[me];
  wire [23:0] unread = t_pi - ci;

  wire entry = dut.comp && dut.entry;
  wire early_1 = op && op_record && op_early && op_cqn[QW-1:0] == me;
  always_ff @(posedge clk) begin
    if (rst) there <= 1'b0;
    else if (mine) begin
      there   <= 1'b1;
      ignore  <= w.ignore_overrun;
      log     <= w.log;
      first   <= w.pi0;
      ci      <= w.pi0;
      came    <= '0;
      gone    <= '0;
      waiting <= '0;
      pending <= 1'b0;
    end else if (there) begin
      if (consumes) ci <= ci + 24'd1;
      pending <= (pending && !early_1) || (of_me && early);
      if (of_me) begin
        came    <= came + 8'(entry && !refuse);
        gone    <= gone + 8'(write || drop);
        waiting <= waiting + 8'(park) - 8'(free);
      end
    end
  end

  always_comb begin
    if (ctx_we) assume (w.log == 5'(LOG));
    if (ctx_we) assume (!(op && op_cqn[QW-1:0] == ctx_addr) && !(dut.v2 && queue == ctx_addr));
    // software consumes what was written
    if (consumes && there && !ignore) assume (unread != 0);
    if (mine) assume (!pending);
    // RECORD and RETRY are of queues that wait, an early RECORD of one that asked; beside a RECORD of a queue that waits there may
    // be completions that join it
    if (op && (op_record || op_retry)) assume (dut.enabled[op_cqn[QW-1:0]] && dut.t_cqn == op_cqn);
    if (op && op_record) assume (!op_retry);
    if (dut.v2 && (dut.retry2 || (dut.record2 && !dut.early2))) assume (dut.known2 && dut.waits2);
    if (early_1) assume (pending);
    if (dut.v2 && dut.record2 && dut.early2 && queue != me) assume (dut.known2 && dut.asked2);
    if (op && op_record && op_good && op_cqn[QW-1:0] == me && there && !ignore) assume (ci - op_value < 24'h40_0000);
    // a place is free for who waits; those that wait leave in order, the last one is the tail
    if (of_me && park) assume (waiting < 8'(PLACES));
    if (of_me && dut.v2 && dut.retry2) assume ((dut.tail2 == place) == (waiting == 8'd1));
    // nothing is asked of a queue that was never set up
    if (!there) assume (!dut.enabled[me]);
  end

  // every queue: C2 works on what the table holds, and the ring never holds more than its entries
  for (genvar q = 0; q < CQS; q++) begin : g_queue
    wire [4:0] q_log;
    wire q_ignore;
    wire [23:0] q_first, q_pi, q_used;
    wire q_waits, q_asked;
    wire [PW-1:0] q_tail;
    assign {q_log, q_ignore, q_first} = {dut.ctx_mem[q][91:87], dut.ctx_mem[q][85], dut.ctx_mem[q][23:0]};
    assign {q_pi, q_used, q_waits, q_tail, q_asked} = dut.fresh[q] ? {q_first, 24'd0, 1'b0, PW'(0), 1'b0} : dut.st_mem[q];
    logic set_up;
    always_ff @(posedge clk) set_up <= !rst && (set_up || (ctx_we && ctx_addr == QW'(q)));
    always_comb if (!set_up) assume (!dut.enabled[q]);
    always_ff @(posedge clk) begin
      if (!rst && started && set_up) begin
        a_log : assert (q_log == 5'(LOG));
        a_ring : assert (q_ignore || q_used <= 24'd1 << LOG);
        if (dut.v2 && dut.known2 && queue == QW'(q)) begin
          a_now : assert (dut.pi2 == q_pi && dut.used2 == q_used && dut.waits2 == q_waits && dut.tail2 == q_tail &&
                         dut.asked2 == q_asked);
          a_entry : assert (dut.ignore2 == q_ignore && dut.log2 == q_log && dut.may2 == (!q_ignore && LOG != 0) &&
                           dut.half2 == (LOG == 0 ? 24'd0 : 24'hff_ffff << (LOG - 1)));
        end
      end
      if (!rst && started && !set_up) a_new : assert (!(dut.v2 && dut.known2 && queue == QW'(q)));
    end
  end

  logic write_1;  // it wrote in the cycle before
  always_ff @(posedge clk) write_1 <= of_me && write;
  wire [3:0] outcomes = 4'(refuse) + 4'(drop) + 4'(write) + 4'(park) + 4'(dut.again);
  wire [23:0] full_ring = 24'd1 << LOG;
  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_one_outcome : assert (outcomes == 4'(dut.comp));
      if (there) begin
        a_conserved : assert (came == gone + waiting);
        a_waits : assert (t_waits == (waiting != 0) && waiting <= 8'(PLACES));
        a_in_order : assert (!(of_me && entry && write) || waiting == 0);
        a_log : assert (log == 5'(LOG));
        a_table : assert (dut.ctx_mem[me][23:0] == first && dut.ctx_mem[me][85] == ignore && dut.ctx_mem[me][91:87] == log);
        if (of_me && dut.known2) begin
          a_state : assert (dut.pi2 == t_pi && dut.used2 == t_used && dut.waits2 == t_waits && dut.tail2 == t_tail &&
                            dut.asked2 == t_asked);
          a_entry : assert (dut.ignore2 == ignore && dut.log2 == log && dut.may2 == (!ignore && LOG != 0) &&
                            dut.half2 == (LOG == 0 ? 24'd0 : 24'hff_ffff << (LOG - 1)));
          a_early : assert (early == (write && LOG != 0 && !ignore && !pending && room && t_used + 24'd1 >= full_ring >> 1));
          a_dead : assert (dut.dead2 == dut.failed[me]);
          a_error : assert (!(dut.failed[me] && write));
        end
        if (!ignore) begin
          a_used : assert (unread <= t_used && t_used <= full_ring);
          a_not_over : assert (!(of_me && write) || unread < full_ring);
          if (of_me && dut.known2 && dut.record2 && dut.good2)
            a_record : assert (ci - dut.value2 <= 24'h40_0000);
        end
        a_known : assert (!(of_me && dut.record2 && dut.early2) || (dut.known2 && !pending));
        a_pending : assert (t_asked == (pending || (of_me && dut.record2 && dut.early2)));
        c_old_record : cover (of_me && dut.record2 && dut.early2 && dut.good2 && !dut.moves);
        c_early : cover (of_me && dut.moves && dut.early2 && write_1);
        c_full : cover (!ignore && of_me && ask);
        c_record_helps : cover (!ignore && of_me && write && dut.retry2);
        c_wraps : cover (of_me && write && t_pi == 24'hff_ffff);
        c_overrun : cover (of_me && over);
        c_ignored : cover (ignore && of_me && write && unread >= full_ring);
      end
    end
  end

endmodule

`default_nettype wire
