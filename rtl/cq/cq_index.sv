// SPDX-License-Identifier: Apache-2.0
// Index logic of all queues: C1 looks the table up, C2 decides (rules T1, T2, X1 to X7 of docs/cq.md).
//
// One operation a cycle, of one queue or of all in any order: the state that C2 writes is forwarded to the C1
// beside it. The table itself is never cleared; `fresh` says that a queue begins anew.
// Latency: operation at C1 in cycle c, its decision in c + 1 (a function of registers), in force from c + 2 on.
`default_nettype none
`include "microhop_assert.svh"

module cq_index
  import microhop_pkg::*;
#(
    parameter int CQS   = 64,  /// completion queues, a power of two
    parameter int PLACES = 16,  /// places of the lot, a power of two
    localparam int QW   = $clog2(CQS),
    localparam int PW   = $clog2(PLACES)
) (
    input  wire                 clk,        /// clock
    input  wire                 rst,        /// synchronous reset, active high
    input  wire                 ctx_we,     /// a table entry is written
    input  wire [QW-1:0]        ctx_addr,   /// its number
    input  wire [CQ_CTX_W-1:0]  ctx_data,   /// cq_ctx_t
    input  wire                 op,         /// an operation is in C1
    input  wire                 op_record,  /// it is a RECORD
    input  wire                 op_early,   /// of an early read
    input  wire                 op_retry,   /// it is a RETRY; neither: an ENTRY
    input  wire                 op_with,    /// a RETRY with record
    input  wire [PW-1:0]        op_place,   /// place of a RETRY
    input  wire [23:0]          op_cqn,     /// queue
    input  wire [23:0]          op_value,   /// a RECORD's consumer index
    input  wire                 op_good,    /// it could be read
    input  wire [PW-1:0]        slot,       /// the lowest free place
    input  wire                 room,       /// an early place is free
    input  wire                 bad,        /// a write failed (E2)
    input  wire [QW-1:0]        bad_queue,  /// of this queue
    output wire                 bad_first,  /// and puts it into error
    output wire                 refuse,     /// C2: refused
    output wire                 drop,       /// C2: dropped
    output wire                 over,       /// C2: overrun, the queue is in error now
    output wire                 write,      /// C2: to be written
    output wire                 park,       /// C2: takes place `slot`
    output wire                 link,       /// C2: behind place `tail`
    output wire                 ask,        /// C2: the record is to be read
    output wire                 early,      /// C2: early
    output wire                 free,       /// C2: place `place` is free
    output wire                 follow,     /// C2: and the next one of its queue is to be tried
    output logic [PW-1:0]       place,      /// C2: place of the operation
    output wire [PW-1:0]        tail,       /// C2: last place of its queue
    output logic [QW-1:0]       queue,      /// C2: its entry
    output wire [23:0]          index,      /// C2: index to write
    output wire                 owner,      /// C2: owner bit
    output logic [21:0]         mask,       /// C2: index bits that make the slot in the ring
    output logic [57:0]         base,       /// C2: line of the ring
    output logic [60:0]         dbr         /// C2: address of the record, in 8 bytes
);

  localparam int SW = 24 + 24 + 1 + PW + 1;

  /* verilator lint_off UNUSEDSIGNAL */  // the table's other fields belong to the events
  cq_ctx_t w;
  /* verilator lint_on UNUSEDSIGNAL */
  assign w = ctx_data;

  localparam int TW = 24 + 58 + 5 + 2 + 61 + 24;
  logic [TW-1:0] ctx_mem[CQS];
  logic [SW-1:0] st_mem[CQS];
  logic [CQS-1:0] enabled, fresh, failed;

  always_ff @(posedge clk) begin
    if (ctx_we)
      ctx_mem[ctx_addr] <= {w.cqn, w.base[63:6], w.log, w.collapsed, w.ignore_overrun, w.dbr_addr[63:3], w.pi0};
  end

  // ---- C1 ---------------------------------------------------------------------------------------------------
  wire [QW-1:0] q1 = op_cqn[QW-1:0];
  wire [23:0] t_cqn, t_pi0, m_pi, m_used;
  wire [57:0] t_base;
  wire [4:0] t_log;
  wire [60:0] t_dbr;
  wire t_collapsed, t_ignore, m_waits, m_asked;
  wire [PW-1:0] m_tail;
  assign {t_cqn, t_base, t_log, t_collapsed, t_ignore, t_dbr, t_pi0} = ctx_mem[q1];
  assign {m_pi, m_used, m_waits, m_tail, m_asked} = fresh[q1] ? {t_pi0, 24'd0, 1'b0, PW'(0), 1'b0} : st_mem[q1];

  // ---- C2 ---------------------------------------------------------------------------------------------------
  logic v2, record2, early2, retry2, with2, known2, ignore2, good2, dead2;
  logic [23:0] pi2, used2, value2;
  logic waits2, asked2;
  logic [PW-1:0] tail2;
  logic [4:0] log2;
  logic may2;  // the queue may ask early
  logic [23:0] half2;  // bits of used that say half full

  wire full = !ignore2 && used2[log2];
  wire comp = v2 && !record2;
  wire mine = comp && known2 && !dead2;
  wire entry = !retry2;
  wire first = mine && entry && !waits2 && full;
  wire again = mine && retry2 && full && !with2;
  assign refuse = comp && !known2;
  assign over   = mine && retry2 && full && with2;
  assign drop   = (comp && known2 && dead2) || over;
  assign write  = mine && !full && !(entry && waits2);
  assign link   = mine && entry && waits2;
  assign park   = first || link;
  // X7: half full after this write; the sum is not waited for
  wire half = (used2 & half2) != '0 || (used2 | half2) == '1;
  assign early  = write && may2 && !asked2 && half && room;
  assign ask    = first || again || early;
  assign free   = comp && retry2 && !again;
  assign follow = free && tail2 != place;
  assign tail   = tail2;
  assign index  = pi2;
  assign owner  = pi2[log2];

  // What the queue is from the next cycle on. A record between what is known and what was written counts.
  wire [23:0] unread = pi2 - value2;
  wire moves = v2 && record2 && good2 && unread <= used2;
  wire [23:0] n_pi = write ? pi2 + 24'd1 : pi2;
  wire [23:0] n_used = moves ? unread : write ? used2 + 24'd1 : used2;
  wire n_waits = (waits2 || park) && !(free && tail2 == place);
  wire [PW-1:0] n_tail = park ? slot : tail2;
  wire n_asked = (asked2 || early) && !(v2 && record2 && early2);
  wire keep = v2 && known2;
  wire forward = keep && queue == q1;

  always_ff @(posedge clk) begin
    if (keep) st_mem[queue] <= {n_pi, n_used, n_waits, n_tail, n_asked};
  end

  assign bad_first = bad && !failed[bad_queue];

  always_ff @(posedge clk) begin
    if (rst) begin
      v2      <= 1'b0;
      enabled <= '0;
      fresh   <= '0;
      failed  <= '0;
    end else begin
      v2 <= op;
      if (keep) fresh[queue] <= 1'b0;
      if (over) failed[queue] <= 1'b1;
      if (bad) failed[bad_queue] <= 1'b1;
      if (ctx_we) begin
        enabled[ctx_addr] <= w.enable;
        fresh[ctx_addr]   <= 1'b1;
        failed[ctx_addr]  <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (op) begin
      record2 <= op_record;
      early2  <= op_early;
      retry2  <= op_retry;
      with2   <= op_with;
      good2   <= op_good;
      place   <= op_place;
      queue   <= q1;
      known2  <= enabled[q1] && t_cqn == op_cqn;
      ignore2 <= t_ignore;
      log2    <= t_log;
      may2    <= !t_ignore && t_log != 0;
      half2   <= 24'hff_ffff << (t_log - 5'd1);
      mask    <= t_collapsed ? '0 : ~(22'h3f_ffff << t_log);
      base    <= t_base;
      dbr     <= t_dbr;
      dead2   <= failed[q1] || (over && queue == q1) || (bad && bad_queue == q1);
      value2  <= op_value;
      {pi2, used2, waits2, tail2, asked2} <= forward ?
          {n_pi, n_used, n_waits, n_tail, n_asked} : {m_pi, m_used, m_waits, m_tail, m_asked};
    end
  end

  // T2: a queue that begins anew has nothing inside.
  `MH_ASSERT(a_idle, !(ctx_we && ((op && q1 == ctx_addr) || (v2 && queue == ctx_addr))))
  // Only the head of a queue that waits has a record or a try, and who asked early has an early record.
  `MH_ASSERT(a_waits, !(v2 && (retry2 || (record2 && !early2)) && !(known2 && waits2)))
  `MH_ASSERT(a_asked, !(v2 && record2 && early2 && !(known2 && asked2)))
  // A ring never holds more than its entries, unless nobody looks.
  `MH_ASSERT(a_ring, !(v2 && known2 && !ignore2) || used2 <= 24'd1 << log2)
  `MH_NEVER_X(a_known, {write, refuse, drop, park, ask, free})

endmodule

`default_nettype wire
