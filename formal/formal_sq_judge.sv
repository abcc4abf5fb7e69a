// SPDX-License-Identifier: Apache-2.0
// sq_judge behind a reorder ring that keeps the contract (docs/sq.md: the first record since idle begins anew, blocks
// of a queue come in order, those beyond the published index last). Followed for one queue, any, over every record, ds,
// error and stall: the published index never moves back and is never further than the ring from the taken one; no block
// at or beyond it becomes part of a WQE; taken moves by whole WQEs, up to the published index at most.
`default_nettype none
`include "formal.svh"

module formal_sq_judge #(
    parameter int QPS = 2  /// queue pairs
) (
    input wire                       clk,      /// clock
    input wire                       rst,      /// reset
    input wire [$clog2(QPS)-1:0]     me,       /// the queue that is followed
    input wire [3:0]                 log,      /// log2 of its ring
    input wire                       i_valid,  /// an item is in D1
    input wire [sq_pkg::ITEM_W-1:0]  i_item,   /// item_t
    input wire [511:0]               i_data,   /// its line
    input wire                       i_err,    /// read with an error
    input wire                       d_err,    /// the queue has halted
    input wire [9:0]                 d_begun,  /// turns begun
    input wire [$clog2(QPS)-1:0]     l_qp,     /// queue in P2
    input wire                       t0_en,    /// T0 samples
    input wire [$clog2(QPS)-1:0]     t0_qp,    /// its queue
    input wire                       w_take    /// the WQE register is taken
);

  import sq_pkg::*;
  localparam int QW = $clog2(QPS);
  /* verilator lint_off UNUSEDSIGNAL */  // the proof looks at some of the outputs
  wire go, e_record, e_further, e_idle, d_halt, d_takes, d_even, w_valid, w_error;
  wire [QW-1:0] i_qp, d_qp, e_qp;
  wire [15:0] l_taken, t1_taken, t1_pub, w_index;
  wire [23:0] w_qpn;
  wire [7:0] w_opcode;
  wire [2047:0] w_data;
  wire [31:0] cnt_fetched, cnt_discarded, cnt_record_behind, cnt_halted;
  /* verilator lint_on UNUSEDSIGNAL */
  sq_judge #(.QPS(QPS)) dut (.*);

  `FORMAL_START
  `FORMAL_STEADY(me, QW)
  `FORMAL_STEADY(log, 4)

  /* verilator lint_off UNUSEDSIGNAL */  // D1's assumptions need some of its members
  item_t a;
  /* verilator lint_on UNUSEDSIGNAL */
  assign a = i_item;
  wire mine1 = i_valid && i_qp == me;
  wire mine2 = dut.v && d_qp == me;
  logic begun;  // the queue's first record has passed D1
  logic touched;  // and D2
  always_ff @(posedge clk) begin
    if (rst) {begun, touched} <= 2'b00;
    else if (go) begin
      if (mine1) begun <= 1'b1;
      if (mine2) touched <= 1'b1;
    end
  end

  wire [15:0] ring = 16'd1 << log;
  // indexes of the queue as kept: what D2 would write now, else what was written
  wire [15:0] pub = mine2 ? dut.s_pub : dut.pubs[me];
  wire [15:0] taken = mine2 ? dut.s_taken : dut.takens[me];
  wire [15:0] next = mine2 ? dut.s_next : dut.rests[me][34:19];
  wire [3:0] have = mine2 ? dut.s_have : dut.rests[me][18:15];
  wire [4:0] need = mine2 ? dut.s_need : dut.rests[me][14:10];
  wire known = mine2 || touched;

  always_comb begin
    if (w_take) assume (w_valid);
    assume (a.qp < 12'(QPS));
    if (mine1) begin
      assume (a.log == log);
      if (!begun) assume (a.kind == ITEM_RECORD && a.fresh);
      if (a.fresh && begun) assume (!a.last && a.kind == ITEM_BLOCK);  // fresh once: idle again is another life
    end
    // what holds for the queue that is followed holds for the others
    if (dut.v && d_qp != me && dut.wanted) assume (dut.d.i == dut.s_next && dut.s_next == dut.s_taken + 16'(dut.s_have));
    // in order, and what is beyond the published index comes last
    if (mine2 && dut.is_block && dut.s_next != dut.s_pub) assume (dut.d.i == dut.s_next);
  end

  logic [15:0] pub_was, taken_was;
  logic known_was;
  always_ff @(posedge clk) begin
    pub_was   <= pub;
    taken_was <= taken;
    known_was <= known && !rst;
  end

  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_item : assert (!mine2 || dut.d.log == log);
      a_touched : assert (!touched || begun);
      a_begun : assert (begun == (mine2 || touched));
      if (known) begin
        a_ring : assert (16'(pub - taken) <= ring);
        a_next : assert (16'(next - taken) == 16'(have));
        a_not_beyond : assert (16'(next - taken) <= 16'(pub - taken));
        a_have : assert (have == 0 || (5'(have) < need && need <= 5'd16));
      end
      if (known && known_was) begin
        a_never_back : assert (16'(pub - taken_was) >= 16'(pub_was - taken_was) || 16'(taken - taken_was) > ring);
        a_forward : assert (16'(taken - taken_was) <= 16'd16 && 16'(taken - taken_was) <= 16'(pub_was - taken_was));
      end
      if (mine2 && go && dut.good && !d_err) begin
        a_published : assert (16'(dut.d.i - taken) < 16'(pub - taken));
      end
      if (w_valid && !w_error) c_wqe : cover (have == 0);
      c_long : cover (mine2 && have == 4'd9);
      c_wrap : cover (known && pub < taken && log == 4'd15);
      c_behind : cover (mine2 && dut.is_block && !dut.wanted);
    end
  end

endmodule

`default_nettype wire
