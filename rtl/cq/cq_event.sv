// SPDX-License-Identifier: Apache-2.0
// Arms and events of all queues: E0 picks an arm, a visit or a write's B, E1 looks the table up, E2 decides; a scan looks for
// deadlines and errors, a queue a cycle (rules E1 to E8 of docs/cq.md).
//
// `gap` is dist(ci, vis), `over` is gap - count: both move with vis, so no distance is taken when a B comes.
// Latency: arm at c, B at the head of its FIFO at c: decided in c + 2, the event at m_ev in c + 4.
`default_nettype none
`include "microhop_assert.svh"

module cq_event
  import microhop_pkg::*;
#(
    parameter int CQS = 64,  /// completion queues, a power of two
    localparam int QW = $clog2(CQS)
) (
    input  wire                clk,           /// clock
    input  wire                rst,           /// synchronous reset, active high
    input  wire                ctx_we,        /// a table entry is written
    input  wire [QW-1:0]       ctx_addr,      /// its number
    input  wire [CQ_CTX_W-1:0] ctx_data,      /// cq_ctx_t
    input  wire                arm_valid,     /// an arm: one cycle, cannot wait
    input  wire [11:0]         arm_page,      /// by this page
    input  wire [63:0]         arm_data,      /// {arm word, cqn}
    input  wire                b_valid,       /// the B of a write waits
    input  wire                b_error,       /// it is an error
    input  wire [QW-1:0]       b_queue,       /// its queue
    input  wire                b_solicited,   /// its entry is a solicited one
    output wire                b_take,        /// E0: it is taken
    input  wire                fail,          /// C2: overrun
    input  wire [QW-1:0]       fail_queue,    /// of this queue
    output wire                bad,           /// E2: a write failed
    output wire [QW-1:0]       bad_queue,     /// of this queue
    input  wire                bad_first,     /// and puts it into error
    output wire                refused,       /// E2: an arm is refused
    output wire                fired,         /// E2: a completion event
    output wire                m_ev_tvalid,   /// an event
    input  wire                m_ev_tready,   /// taken
    output wire [23:0]         m_ev_cqn,      /// its queue
    output wire                m_ev_error     /// 0 completion, 1 the queue is in error
);

  localparam int CW = 24 + 12 + 24 + 16 + 20 + 1;
  localparam int SW = 24 + 24 + 24 + 24 + 1 + 1 + 1 + 1;
  localparam logic [1:0] ARM = 2'd0, VISIT = 2'd1, DONE = 2'd2;

  /* verilator lint_off UNUSEDSIGNAL */  // the other fields belong to the index logic
  cq_ctx_t w;
  /* verilator lint_on UNUSEDSIGNAL */
  assign w = ctx_data;

  logic [CW-1:0] ctx_mem[CQS];
  logic [SW-1:0] st_mem[CQS];
  logic [21:0] due_mem[CQS];  // deadlines, as they were a cycle ago
  logic [CQS-1:0] enabled, fresh, live, error;
  logic [CQS-1:0] waits;  // a completion event of the queue is on its way to m_ev
  wire leaves;  // one leaves
  logic v3, error3;  // an event on its way into the FIFO
  logic [23:0] cqn3;
  logic [21:0] now;

  always_ff @(posedge clk) begin
    if (ctx_we) ctx_mem[ctx_addr] <= {w.cqn, w.page, w.pi0, w.mod_count, w.mod_period, w.events};
  end
  always_ff @(posedge clk) now <= rst ? '0 : now + 22'd1;

  // ---- scan: X0, X1 -----------------------------------------------------------------------------------------
  logic [QW-1:0] scan, x_queue;
  logic x_valid, x_live, x_error;
  logic [21:0] x_due;
  /* verilator lint_off UNUSEDSIGNAL */  // only the sign counts
  wire [21:0] x_past = now - x_due;
  /* verilator lint_on UNUSEDSIGNAL */
  wire hit = x_valid && (x_error || (x_live && !x_past[21]));
  logic visited;  // the last pick that was no ARM
  wire visits = hit && !arm_valid && !(b_valid && visited);

  always_ff @(posedge clk) begin
    if (rst) begin
      scan    <= '0;
      x_valid <= 1'b0;
    end else if (!hit || visits) begin
      scan    <= scan + 1'b1;
      x_valid <= 1'b1;
      x_queue <= scan;
      x_live  <= live[scan];
      x_error <= error[scan];
      x_due   <= due_mem[scan];
    end
  end

  // ---- E0 ---------------------------------------------------------------------------------------------------
  // turn about with visits: neither keeps the other waiting
  assign b_take = b_valid && !arm_valid && (!hit || visited);

  logic v1, so1, solicited1, bad1;
  logic [1:0] kind1;
  logic [QW-1:0] q1;
  logic [23:0] ci1, cqn1;
  logic [11:0] page1;
  always_ff @(posedge clk) v1 <= !rst && (arm_valid || hit || b_valid);
  always_ff @(posedge clk) begin
    if (rst) visited <= 1'b0;
    else if (visits || b_take) visited <= visits;
  end
  always_ff @(posedge clk) begin
    if (arm_valid || hit || b_valid) begin
      kind1      <= arm_valid ? ARM : visits ? VISIT : DONE;
      q1         <= arm_valid ? arm_data[QW-1:0] : visits ? x_queue : b_queue;
      solicited1 <= b_solicited;
      bad1       <= b_error;
    end
    if (arm_valid) begin
      so1   <= arm_data[56];
      ci1   <= arm_data[55:32];
      cqn1  <= arm_data[23:0];
      page1 <= arm_page;
    end
  end
  wire unused_ok = &{1'b0, arm_data[63:57], arm_data[31:24]};

  // ---- E1 ---------------------------------------------------------------------------------------------------
  wire [23:0] t_cqn, t_pi0, m_vis, m_ls, m_gap, m_over;
  wire [11:0] t_page;
  wire [15:0] t_count;
  wire [19:0] t_period;
  wire t_events, m_some, m_armed, m_so, m_due;
  assign {t_cqn, t_page, t_pi0, t_count, t_period, t_events} = ctx_mem[q1];
  // of the cycle before, not in the tables yet
  logic keep3, sets3;
  logic [SW-1:0] st3;
  logic [QW-1:0] q3;
  logic [21:0] due_at3;
  assign {m_vis, m_ls, m_gap, m_over, m_some, m_armed, m_so, m_due} =
      keep3 && q3 == q1 ? st3 : fresh[q1] ? {t_pi0, 24'd0, 24'd0, 24'd0, 4'd0} : st_mem[q1];

  // ---- E2 ---------------------------------------------------------------------------------------------------
  logic v2, so2, solicited2, bad2, fits2, atonce2;
  logic [1:0] kind2;
  logic [QW-1:0] q2;
  logic [23:0] ci2, target2, cqn2;
  logic error2, waits2;  // error bit and waiting event of the queue, as they are in E2
  logic [21:0] due_at2, deadline2;
  logic [23:0] vis, ls, gap, over;
  logic some, armed, so, due;

  wire arm = v2 && kind2 == ARM && fits2;
  wire done = v2 && kind2 == DONE;
  wire visit = v2 && kind2 == VISIT;
  assign refused   = v2 && kind2 == ARM && !fits2;
  assign bad       = done && bad2;
  assign bad_queue = q2;

  wire [23:0] arm_gap = vis - ci2;
  wire [23:0] arm_over = vis - target2;
  /* verilator lint_off UNUSEDSIGNAL */  // only the sign counts
  wire [23:0] arm_ls = ls - ci2;
  /* verilator lint_on UNUSEDSIGNAL */
  wire there = so2 ? some && !arm_ls[23] : !arm_gap[23] && arm_gap != 0;
  wire [23:0] vis_next = vis + 24'd1;
  wire stays = gap == 24'h7f_ffff;
  wire counts = armed && !gap[23] && (solicited2 || !so);
  /* verilator lint_off UNUSEDSIGNAL */  // only the sign counts
  wire [21:0] past = now - deadline2;
  /* verilator lint_on UNUSEDSIGNAL */

  wire [23:0] n_gap = arm ? arm_gap : done && !stays ? gap + 24'd1 : gap;
  wire [23:0] n_over = arm ? arm_over : done && !stays ? over + 24'd1 : over;
  wire [23:0] n_vis = done ? vis_next : vis;
  wire [23:0] n_ls = done && solicited2 ? vis : ls;
  wire n_some = done ? solicited2 || (some && {!ls[23], ls[22:0]} != vis_next) : some;
  wire is_due = arm ? there : due || (done && counts);
  wire is_armed = arm || armed;
  wire n_so = arm ? so2 : so;
  wire sets = (arm && there) || (done && counts && !due);
  wire tells = visit && error2;
  wire fire = is_armed && is_due &&
      (visit ? !error2 && !past[21] : (arm || done) && (!n_over[23] || atonce2));
  wire n_armed = is_armed && !fire;
  wire n_due = is_due && !fire;
  wire keep = arm || done || visit;
  wire forward = keep && q2 == q1;
  wire [21:0] n_deadline = sets ? due_at2 : deadline2;

  // The tables and what the scan looks at follow a cycle later: a decision does not have to reach every queue's bits.
  wire live3 = st3[2] && st3[0];

  always_ff @(posedge clk) begin
    if (keep3) st_mem[q3] <= st3;
    if (sets3) due_mem[q3] <= due_at3;
  end

  always_ff @(posedge clk) begin
    keep3 <= keep && !rst;
    sets3 <= sets && !rst;
  end
  always_ff @(posedge clk) begin
    if (keep) begin
      q3      <= q2;
      st3     <= {n_vis, n_ls, n_gap, n_over, n_some, n_armed, n_so, n_due};
      due_at3 <= due_at2;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      v2      <= 1'b0;
      enabled <= '0;
      fresh   <= '0;
      live    <= '0;
      error   <= '0;
    end else begin
      v2 <= v1;
      if (keep) fresh[q2] <= 1'b0;
      if (keep3) live[q3] <= live3;
      if (tells) error[q2] <= 1'b0;
      if (fail) error[fail_queue] <= 1'b1;
      if (bad && bad_first) error[q2] <= 1'b1;
      if (ctx_we) begin
        enabled[ctx_addr] <= w.enable;
        fresh[ctx_addr]   <= 1'b1;
        live[ctx_addr]    <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (v1) begin
      kind2      <= kind1;
      q2         <= q1;
      so2        <= so1;
      solicited2 <= solicited1;
      bad2       <= bad1;
      ci2        <= ci1;
      cqn2       <= t_cqn;
      fits2      <= enabled[q1] && t_events && t_cqn == cqn1 && t_page == page1;
      atonce2    <= t_period == 0;
      target2    <= ci1 + 24'(t_count);
      due_at2    <= now + 22'd1 + 22'(t_period);
      error2     <= (error[q1] || (fail && fail_queue == q1) || (bad && bad_first && q2 == q1)) && !(tells && q2 == q1);
      waits2     <= (waits[q1] || (fired && q2 == q1) || (v3 && !error3 && cqn3[QW-1:0] == q1)) &&
          !(leaves && m_ev_cqn[QW-1:0] == q1);
      deadline2  <= forward ? n_deadline : sets3 && q3 == q1 ? due_at3 : due_mem[q1];
      {vis, ls, gap, over, some, armed, so, due} <= forward ?
          {n_vis, n_ls, n_gap, n_over, n_some, n_armed, n_so, n_due} :
          {m_vis, m_ls, m_gap, m_over, m_some, m_armed, m_so, m_due};
    end
  end

  // ---- events -----------------------------------------------------------------------------------------------
  wire ev_empty;
  wire ev_take = m_ev_tvalid && m_ev_tready;
  assign leaves = ev_take && !m_ev_error;
  assign fired  = fire && !waits2;
  always_ff @(posedge clk) v3 <= !rst && (fired || tells);
  always_ff @(posedge clk) begin
    if (v2) {cqn3, error3} <= {cqn2, tells};
  end

  sync_fifo #(.WIDTH(25), .DEPTH(2 * CQS)) u_ev (
      .clk(clk), .rst(rst), .wr_en(v3), .wr_data({cqn3, error3}), .rd_en(ev_take),
      .rd_data({m_ev_cqn, m_ev_error}), .empty(ev_empty), .count());
  assign m_ev_tvalid = !ev_empty;

  always_ff @(posedge clk) begin
    if (rst) waits <= '0;
    else begin
      if (leaves) waits[m_ev_cqn[QW-1:0]] <= 1'b0;
      if (v3 && !error3) waits[cqn3[QW-1:0]] <= 1'b1;
    end
  end

  // T2: a queue that begins anew has nothing inside.
  `MH_ASSERT(a_idle, !(ctx_we && (error[ctx_addr] || (keep3 && live3 && q3 == ctx_addr) ||
                                  waits[ctx_addr] || (v2 && keep && q2 == ctx_addr) ||
                                  (v1 && kind1 != ARM && q1 == ctx_addr))))
  // due without armed would fire for nobody.
  `MH_ASSERT(a_due, !(v2 && keep && due && !armed))
  `MH_NEVER_X(a_known, {m_ev_tvalid, refused, fired, tells, bad})

endmodule

`default_nettype wire
