// SPDX-License-Identifier: Apache-2.0
// cq_event between stages that keep the contract (docs/cq.md: a queue fails once from one setting up to the next; B and faults are
// of queues that are set up; an entry is written only while its queue is idle, T2). Every arm, B, fault, deadline and reader: the
// event FIFO holds a completion event and an error event of each queue at most, so that it never overflows and none is lost
// (E8); an event says the number of a queue that is set up; an error bit makes one event.
`default_nettype none
`include "formal.svh"

module formal_cq_event
  import microhop_pkg::*;
#(
    parameter int CQS = 2  /// queues
) (
    input wire                   clk,         /// clock
    input wire                   rst,         /// reset
    input wire                   ctx_we,      /// a table entry is written
    input wire [$clog2(CQS)-1:0] ctx_addr,    /// its number
    input wire [CQ_CTX_W-1:0]    ctx_data,    /// cq_ctx_t
    input wire                   arm_valid,   /// an arm
    input wire [11:0]            arm_page,    /// by this page
    input wire [63:0]            arm_data,    /// {arm word, cqn}
    input wire                   b_valid,     /// a B waits
    input wire                   b_error,     /// an error
    input wire [$clog2(CQS)-1:0] b_queue,     /// its queue
    input wire                   b_solicited, /// a solicited one
    input wire                   fail,        /// overrun
    input wire [$clog2(CQS)-1:0] fail_queue,  /// of this queue
    input wire                   m_ev_tready  /// an event is taken
);

  localparam int QW = $clog2(CQS);
  localparam int DEPTH = 2 * CQS;
  localparam int AW = $clog2(DEPTH);

  /* verilator lint_off UNUSEDSIGNAL */  // the proof looks at some of the outputs
  wire b_take, refused, fired;
  wire [23:0] m_ev_cqn;
  cq_ctx_t w;
  /* verilator lint_on UNUSEDSIGNAL */
  wire bad, m_ev_tvalid, m_ev_error;
  wire [QW-1:0] bad_queue;
  logic [CQS-1:0] set_up, failed, told;  // told: its error event is in the FIFO
  wire bad_first = bad && !failed[bad_queue];
  assign w = ctx_data;

  cq_event #(.CQS(CQS)) dut (.*);

  `FORMAL_START

  wire taken = m_ev_tvalid && m_ev_tready;
  always_ff @(posedge clk) begin
    if (rst) begin
      set_up <= '0;
      failed <= '0;
      told   <= '0;
    end else begin
      if (fail) failed[fail_queue] <= 1'b1;
      if (bad) failed[bad_queue] <= 1'b1;
      if (taken && m_ev_error) told[m_ev_cqn[QW-1:0]] <= 1'b0;
      if (dut.v3 && dut.error3) told[dut.cqn3[QW-1:0]] <= 1'b1;
      if (ctx_we) begin
        set_up[ctx_addr] <= 1'b1;
        failed[ctx_addr] <= 1'b0;
      end
    end
  end

  wire a1 = dut.v1 && dut.q1 == ctx_addr;
  wire a2 = dut.v2 && dut.q2 == ctx_addr;
  wire a3 = dut.v3 && dut.cqn3[QW-1:0] == ctx_addr;
  always_comb begin
    assume (!fail || (set_up[fail_queue] && !failed[fail_queue]));
    assume (!b_valid || set_up[b_queue]);
    if (ctx_we) begin  // T2
      assume (w.cqn[QW-1:0] == ctx_addr);
      assume (!(dut.error[ctx_addr] || dut.waits[ctx_addr] || told[ctx_addr] || a1 || a2 || a3));
      assume (!(dut.keep3 && dut.live3 && dut.q3 == ctx_addr) && !dut.live[ctx_addr]);
      assume (!(arm_valid && arm_data[QW-1:0] == ctx_addr) && !(b_valid && b_queue == ctx_addr));
      assume (!(fail && fail_queue == ctx_addr));
      assume (!(dut.hit && dut.x_queue == ctx_addr));
    end
  end

  // the words inside the FIFO: {cqn, error} from the oldest one on
  wire [DEPTH-1:0] held;
  for (genvar i = 0; i < DEPTH; i++) begin : g_word
    wire [AW-1:0] age = AW'(i) - dut.u_ev.rd_ptr;
    assign held[i] = (AW + 1)'(age) < dut.u_ev.count;
  end
  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_pointers : assert (dut.u_ev.count <= (AW + 1)'(DEPTH) &&
                           AW'(dut.u_ev.wr_ptr - dut.u_ev.rd_ptr) == dut.u_ev.count[AW-1:0]);
      a_first : assert (!(dut.v2 && !dut.waits2) || !(dut.waits[dut.q2] ||
                        (dut.v3 && !dut.error3 && dut.cqn3[QW-1:0] == dut.q2)));
      a_bit : assert (!(dut.v2 && dut.error2) || dut.error[dut.q2]);
      a_cqn : assert (!(dut.v2 && set_up[dut.q2]) || dut.cqn2[QW-1:0] == dut.q2);
      a_known : assert (!(dut.v2 && dut.kind2 != 2'd0) || set_up[dut.q2]);
      a_known1 : assert (!(dut.v1 && dut.kind1 != 2'd0) || set_up[dut.q1]);
      a_x : assert (!dut.hit || set_up[dut.x_queue]);
      a_x_parts : assert (!(dut.x_valid && (dut.x_error || dut.x_live)) || set_up[dut.x_queue]);
      a_3 : assert (!(dut.keep3) || (set_up[dut.q3] && (!dut.st3[0] || dut.st3[2])));
      a_fits : assert (!(dut.v2 && dut.fits2) || set_up[dut.q2]);
      a_v3 : assert (!dut.v3 || set_up[dut.cqn3[QW-1:0]]);
      c_full : cover (dut.u_ev.count == (AW + 1)'(DEPTH));
      c_both : cover (dut.waits[0] && told[0]);
      c_again : cover (fired && dut.leaves);
    end
  end

  for (genvar q = 0; q < CQS; q++) begin : g_queue
    wire [DEPTH-1:0] done, fault;  // his events in the FIFO
    for (genvar i = 0; i < DEPTH; i++) begin : g_word
      assign done[i]  = held[i] && dut.u_ev.mem[i][1+:QW] == QW'(q) && !dut.u_ev.mem[i][0];
      assign fault[i] = held[i] && dut.u_ev.mem[i][1+:QW] == QW'(q) && dut.u_ev.mem[i][0];
    end
    wire on_way = dut.v3 && dut.error3 && dut.cqn3[QW-1:0] == QW'(q);
    wire on_way_done = dut.v3 && !dut.error3 && dut.cqn3[QW-1:0] == QW'(q);
    always_ff @(posedge clk) begin
      if (!rst && started) begin
        a_done : assert (dut.waits[q] == (done != '0) && (done & (done - 1'b1)) == '0);
        a_fault : assert (told[q] == (fault != '0) && (fault & (fault - 1'b1)) == '0);
        a_once : assert (2'(dut.error[q]) + 2'(on_way) + 2'(told[q]) <= 2'(failed[q]));
        a_one : assert (!(on_way_done && dut.waits[q]));
        a_set_up : assert (set_up[q] || !(dut.waits[q] || failed[q] || dut.live[q] || dut.enabled[q] || dut.error[q]));
        a_cqn : assert (!set_up[q] || dut.ctx_mem[q][73+:QW] == QW'(q));
        a_due : assert (!set_up[q] || dut.fresh[q] || (dut.keep3 && dut.q3 == QW'(q)) || !dut.st_mem[q][0] || dut.st_mem[q][2]);
      end
    end
  end

  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_due2 : assert (!(dut.v2 && set_up[dut.q2]) || !dut.due || dut.armed);
    end
  end

endmodule

`default_nettype wire
