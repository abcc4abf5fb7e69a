// SPDX-License-Identifier: Apache-2.0
// Queues of frames of one input: NQ lists over the cells, an entry is a frame's first cell and whether it is also
// its last. Head and tail of each list are here, the links in a memory addressed by cell. One push, one pop and
// one move a cycle, the latter two of different queues; what is pushed at t is seen at t+1. Order kept within a queue.
`default_nettype none
`include "microhop_assert.svh"

module switch_queues #(
    parameter int NQ = 9,  /// queues
    parameter int AW = 9   /// bits of a cell number
) (
    input  wire                   clk,          /// clock
    input  wire                   rst,          /// synchronous reset, active high
    input  wire                   push,         /// a frame joins
    input  wire  [$clog2(NQ)-1:0] push_q,       /// its queue
    input  wire  [        AW-1:0] push_cell,    /// its first cell
    input  wire                   push_single,  /// it has only this one
    input  wire                   pop,          /// the head of pop_q leaves
    input  wire  [$clog2(NQ)-1:0] pop_q,        /// a queue that is not empty
    output wire  [        AW-1:0] pop_cell,     /// its head: first cell
    output wire  [          AW:0] pop_depth,    /// its frames, the head counted
    input  wire                   move,         /// the head of move_q leaves; never the queue of a pop
    input  wire  [$clog2(NQ)-1:0] move_q,       /// a queue that is not empty
    output wire  [        AW-1:0] move_cell,    /// its head: first cell
    output wire                   move_single,  /// it has only this one
    input  wire  [$clog2(NQ)-1:0] peek_q,       /// a queue to look into
    output wire  [        AW-1:0] peek_cell,    /// first cell of its head
    output wire  [        AW-1:0] last_cell,    /// first cell of the head of the last queue
    output logic [        NQ-1:0] filled,       /// not empty, by queue
    output logic [        NQ-1:0] one,          /// one frame, by queue
    output logic [        NQ-1:0] single        /// the head has one cell, by queue
);

  localparam int CELLS = 1 << AW;

  logic [AW-1:0] head [NQ];
  logic [AW-1:0] tail [NQ];
  logic [AW:0] depth [NQ];
  logic [AW:0] link_mem [CELLS];  // single, cell

  wire [AW-1:0] push_tail = tail[push_q];
  wire [AW:0] push_depth = depth[push_q];
  // A pop and a move have reads of their own, so that neither waits for the choice between them.
  wire [AW:0] pop_link = link_mem[pop_cell];
  wire [AW:0] move_link = link_mem[move_cell];
  wire [AW:0] move_depth = depth[move_q];
  wire pop_last = pop_depth == (AW + 1)'(1);
  wire move_last = move_depth == (AW + 1)'(1);
  wire same_pop = push && pop && push_q == pop_q;
  wire same_move = push && move && push_q == move_q;
  wire same = same_pop || same_move;
  wire alone = !filled[push_q] || (same && one[push_q]);  // what joins is the head
  assign pop_cell    = head[pop_q];
  assign move_cell   = head[move_q];
  assign move_single = single[move_q];
  assign peek_cell   = head[peek_q];
  wire [$clog2(NQ)-1:0] last_q = ($clog2(NQ))'(NQ - 1);  // Icarus 11 does not follow a word of fixed number
  assign last_cell   = head[last_q];
  assign pop_depth   = depth[pop_q];

  always_ff @(posedge clk) begin
    if (rst) begin
      filled <= '0;
      one    <= '0;
    end else begin
      if (push && !same) begin
        filled[push_q] <= 1'b1;
        one[push_q]    <= !filled[push_q];
      end
      if (pop && !same_pop) begin
        filled[pop_q] <= !pop_last;
        one[pop_q]    <= pop_depth == (AW + 1)'(2);
      end
      if (move && !same_move) begin
        filled[move_q] <= !move_last;
        one[move_q]    <= move_depth == (AW + 1)'(2);
      end
    end
  end
  always_ff @(posedge clk) begin
    if (push) begin
      if (!same) depth[push_q] <= filled[push_q] ? push_depth + 1'b1 : (AW + 1)'(1);
      tail[push_q] <= push_cell;
      if (alone) begin
        head[push_q]   <= push_cell;
        single[push_q] <= push_single;
      end else begin
        link_mem[push_tail] <= {push_single, push_cell};
      end
    end
    if (pop && !pop_last) begin
      if (!same_pop) depth[pop_q] <= pop_depth - 1'b1;
      head[pop_q]   <= pop_link[AW-1:0];
      single[pop_q] <= pop_link[AW];
    end
    if (move && !move_last) begin
      if (!same_move) depth[move_q] <= move_depth - 1'b1;
      head[move_q]   <= move_link[AW-1:0];
      single[move_q] <= move_link[AW];
    end
  end

  // A pop of an empty queue would hand on a stale frame; so would two of one queue.
  `MH_ASSERT(a_pop, (!pop || filled[pop_q]) && (!move || filled[move_q]) && !(pop && move && pop_q == move_q))
  `MH_NEVER_X(a_known, {filled, one, push, pop, move})

endmodule

`default_nettype wire
