// SPDX-License-Identifier: Apache-2.0
// switch_queues, used by its contract (a cell that is in no queue joins; only a queue that is not empty gives, by pop
// or move, at most one of it a cycle): what leaves a queue, and what is seen of it, is what a list kept here says, in order,
// unchanged. For the induction the lists say where every link and every end lies.
`default_nettype none
`include "formal.svh"

module formal_switch_queues #(
    parameter int NQ = 2,  /// queues
    parameter int AW = 2   /// bits of a cell number
) (
    input wire                  clk,          /// clock
    input wire                  rst,          /// reset
    input wire                  push,         /// a frame joins
    input wire [$clog2(NQ)-1:0] push_q,       /// its queue
    input wire [        AW-1:0] push_cell,    /// its first cell
    input wire                  push_single,  /// it has only this one
    input wire                  pop,          /// a head leaves
    input wire [$clog2(NQ)-1:0] pop_q,        /// its queue
    input wire                  move,         /// a head is moved
    input wire [$clog2(NQ)-1:0] move_q,       /// its queue
    input wire [$clog2(NQ)-1:0] look          /// a queue that is looked into
);

  localparam int QW = $clog2(NQ);
  localparam int CELLS = 1 << AW;
  localparam int EW = AW + 1;  // an entry: single, cell

  wire [AW-1:0] pop_cell, move_cell, peek_cell;
  wire [AW:0] pop_depth;
  wire move_single;
  wire [NQ-1:0] filled, one, single;
  switch_queues #(.NQ(NQ), .AW(AW)) dut (
      .clk(clk), .rst(rst), .push(push), .push_q(push_q), .push_cell(push_cell), .push_single(push_single),
      .pop(pop), .pop_q(pop_q), .pop_cell(pop_cell), .pop_depth(pop_depth), .move(move), .move_q(move_q),
      .move_cell(move_cell), .move_single(move_single), .peek_q(look), .peek_cell(peek_cell), .last_cell(),
      .filled(filled), .one(one), .single(single));

  `FORMAL_START

  // the lists: entry k of a queue at k*EW, the first to leave at 0
  wire [NQ*CELLS*EW-1:0] entries;
  wire [NQ*(AW+1)-1:0] levels;
  logic [CELLS-1:0] used;
  logic twice;  // a cell is in two places
  always_comb begin
    used  = '0;
    twice = 1'b0;
    for (int q = 0; q < NQ; q++) begin
      for (int k = 0; k < CELLS; k++) begin
        if (k < 32'(levels[q*(AW+1)+:AW+1])) begin
          if (used[entries[(q*CELLS+k)*EW+:AW]]) twice = 1'b1;
          used[entries[(q*CELLS+k)*EW+:AW]] = 1'b1;
        end
      end
    end
  end
  always_comb begin
    assume (32'(look) < NQ && 32'(push_q) < NQ && 32'(pop_q) < NQ && 32'(move_q) < NQ);
    assume (!rst || !(push || pop || move));
    if (push) assume (!used[push_cell]);
    if (pop) assume (filled[pop_q]);
    if (move) assume (filled[move_q]);
    assume (!(pop && move && pop_q == move_q));
  end
  always_ff @(posedge clk) begin
    if (!rst) a_once : assert (!twice);
  end

  for (genvar q = 0; q < NQ; q++) begin : g_queue
    logic [CELLS*EW-1:0] list;
    logic [AW:0] level;
    assign entries[q*CELLS*EW+:CELLS*EW] = list;
    assign levels[q*(AW+1)+:AW+1] = level;
    wire joins = push && push_q == QW'(q);
    wire leaves = (pop && pop_q == QW'(q)) || (move && move_q == QW'(q));
    wire [AW:0] after = level - (AW + 1)'(leaves);
    logic [CELLS*EW-1:0] list_next;
    always_comb begin
      list_next = leaves ? list >> EW : list;
      for (int k = 0; k < CELLS; k++) if (joins && k == 32'(after)) list_next[k*EW+:EW] = {push_single, push_cell};
    end
    always_ff @(posedge clk) begin
      level <= rst ? '0 : after + (AW + 1)'(joins);
      if (!rst) list <= list_next;
    end

    logic linked;  // each entry leads to the next
    always_comb begin
      linked = level == 0 || dut.tail[q] == list[(32'(level)-1)*EW+:AW];
      for (int k = 0; k + 1 < CELLS; k++)
        if (k + 1 < 32'(level) && dut.link_mem[list[k*EW+:AW]] != list[(k+1)*EW+:EW]) linked = 1'b0;
    end
    always_ff @(posedge clk) begin
      if (!rst) begin
        a_filled : assert (filled[q] == (level != 0) && one[q] == (level == 1));
        a_level : assert (level <= (AW + 1)'(CELLS));
        a_linked : assert (linked);
        if (level != 0) begin
          a_depth : assert (dut.depth[q] == level);
          a_head : assert (dut.head[q] == list[AW-1:0] && single[q] == list[AW]);
          if (look == QW'(q)) a_peek : assert (peek_cell == list[AW-1:0]);
          if (pop && pop_q == QW'(q)) a_pop : assert (pop_cell == list[AW-1:0] && pop_depth == level);
          if (move && move_q == QW'(q)) a_move : assert (move_cell == list[AW-1:0] && move_single == list[AW]);
        end
        c_long : cover (level == (AW + 1)'(CELLS));
        c_in_and_out : cover (joins && leaves && level == 1);
        c_two : cover (pop && move && joins && leaves);
      end
    end
  end

endmodule

`default_nettype wire
