// SPDX-License-Identifier: Apache-2.0
// cq_lot between C0 and C2 that keep the contract (docs/cq.md, L1 to L4; cq_room, cq_index): a place is asked for while one is
// free, a queue is a chain of places from its head to its tail, only its head has a record, is tried and freed, one operation of
// the lot a cycle in C2. Followed for all places: none is lost nor used twice: `used` counts those in use, each in use is
// waiting for its record, to be tried, on its way, or the next of exactly one that is in front of it, whose leaving makes it one
// to be tried; so the order in a queue is kept. What is tried is the completion that took the place.
`default_nettype none
`include "formal.svh"

module formal_cq_lot
  import microhop_pkg::*;
#(
    parameter int PLACES = 2  /// places
) (
    input wire                      clk,       /// clock
    input wire                      rst,       /// reset
    input wire [$clog2(PLACES)-1:0] me,        /// the place whose completion is followed
    input wire                      park,      /// C2: a place is taken
    input wire [CQ_IN_W-1:0]        park_data, /// by this completion
    input wire                      link,      /// C2: behind a tail
    input wire [$clog2(PLACES)-1:0] tail,      /// the tail
    input wire                      free,      /// C2: a place is free
    input wire                      again,     /// C2: it waits for a record instead
    input wire [$clog2(PLACES)-1:0] place,     /// C2: place of the operation
    input wire                      try_go,    /// C0: room for a RETRY
    input wire                      rec_take,  /// C0: a record
    input wire [$clog2(PLACES)-1:0] rec_place  /// for this place
);

  localparam int PW = $clog2(PLACES);
  localparam logic [1:0] ASKED = 2'd0, TRY = 2'd1, MOVES = 2'd2, BEHIND = 2'd3;

  wire [PW-1:0] slot, try_place;
  wire [PW:0] used;
  wire try_valid;
  /* verilator lint_off UNUSEDSIGNAL */  // it decides nothing here
  wire try_with;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [CQ_IN_W-1:0] try_data;
  wire try_take = try_go && try_valid && !rec_take;
  wire follow;

  cq_lot #(.PLACES(PLACES)) dut (.*);

  `FORMAL_START
  `FORMAL_STEADY(me, PW)

  // what each place is, which one is in front of it, whether one is behind it
  logic [1:0] is[PLACES];
  logic [PW-1:0] front[PLACES];
  logic [PLACES-1:0] taken, has_next;
  logic [PW-1:0] behind[PLACES];
  logic [CQ_IN_W-1:0] mine;

  assign follow = free && has_next[place];

  always_ff @(posedge clk) begin
    if (rst) taken <= '0;
    else begin
      if (park) taken[slot] <= 1'b1;
      if (free) taken[place] <= 1'b0;
    end
    if (park) begin
      is[slot]       <= link ? BEHIND : ASKED;
      front[slot]    <= tail;
      has_next[slot] <= 1'b0;
      if (slot == me) mine <= park_data;
    end
    if (park && link) begin
      has_next[tail] <= 1'b1;
      behind[tail]   <= slot;
    end
    if (again) is[place] <= ASKED;
    if (follow) is[behind[place]] <= TRY;
    if (rec_take) is[rec_place] <= TRY;
    if (try_take) is[try_place] <= MOVES;
  end

  always_comb begin
    assume (!park || used < (PW + 1)'(PLACES));
    assume (2'(park) + 2'(free) + 2'(again) <= 2'd1);
    assume (!link || (park && taken[tail] && !has_next[tail]));
    assume (!(free || again) || (taken[place] && is[place] == MOVES));
    assume (!rec_take || (taken[rec_place] && is[rec_place] == ASKED));
  end

  wire [PW:0] in_use;
  wire [PLACES:0][PW:0] sum;
  assign sum[0] = '0;
  for (genvar i = 0; i < PLACES; i++) begin : g_place
    assign sum[i+1] = sum[i] + (PW + 1)'(taken[i]);
    always_ff @(posedge clk) begin
      if (!rst && started) begin
        a_busy : assert (dut.busy[i] == taken[i]);
        a_again : assert (dut.again[i] == (taken[i] && is[i] == TRY));
        if (taken[i]) begin
          a_behind : assert (is[i] != BEHIND || (taken[front[i]] && has_next[front[i]] && behind[front[i]] == PW'(i)));
          a_next : assert (!has_next[i] || (dut.next[i] == behind[i] && taken[behind[i]] && is[behind[i]] == BEHIND &&
                           front[behind[i]] == PW'(i)));
        end
      end
    end
  end
  assign in_use = sum[PLACES];

  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_used : assert (used == in_use);
      a_slot : assert (!park || !taken[slot]);
      a_head : assert (!try_valid || (taken[try_place] && is[try_place] == TRY));
      a_data : assert (!taken[me] || dut.data[me] == mine);
      a_tried : assert (!(try_take && try_place == me) || try_data == mine);
      c_full : cover (used == (PW + 1)'(PLACES));
      c_chain : cover (try_valid && is[try_place] == TRY && has_next[try_place] && !try_with);
      c_both : cover (taken[me] && is[me] == TRY && rec_take);
    end
  end

endmodule

`default_nettype wire
