// SPDX-License-Identifier: Apache-2.0
// The lot: completions of queues that look full wait here for the doorbell record, in order in each queue
// (rules L1 to L4 of docs/cq.md). `try` says that a place is to be tried again.
// Latency: a place in C2 of cycle c is taken, free or to be tried again from c + 1 on.
`default_nettype none
`include "microhop_assert.svh"

module cq_lot
  import microhop_pkg::*;
#(
    parameter int PLACES = 16,  /// places, a power of two
    localparam int PW    = $clog2(PLACES)
) (
    input  wire               clk,           /// clock
    input  wire               rst,           /// synchronous reset, active high
    input  wire               park,          /// C2: `slot` is taken
    input  wire [CQ_IN_W-1:0] park_data,     /// by this completion, cq_in_t
    input  wire               link,          /// C2: it is behind place `tail`
    input  wire [PW-1:0]      tail,          /// last place of its queue
    input  wire               free,          /// C2: `place` is free
    input  wire               follow,        /// C2: the one behind it is to be tried
    input  wire [PW-1:0]      place,         /// C2: place of the operation
    output logic [PW-1:0]     slot,          /// the lowest free place
    output wire [PW:0]        used,          /// places in use
    output wire               try_valid,     /// a place is to be tried again
    output logic [PW-1:0]     try_place,     /// the lowest one
    output wire               try_with,      /// with record
    output wire [CQ_IN_W-1:0] try_data,      /// cq_in_t
    input  wire               try_take,      /// C0: it is
    input  wire               rec_take,      /// C0: the record came
    input  wire [PW-1:0]      rec_place      /// for this place
);

  logic [PLACES-1:0] busy, again, with_record;
  logic [PW:0] count;
  logic [PW-1:0] next[PLACES];
  logic [CQ_IN_W-1:0] data[PLACES];

  always_comb begin
    slot      = '0;
    try_place = '0;
    for (int i = PLACES - 1; i >= 0; i--) begin
      if (!busy[i]) slot = PW'(i);
      if (again[i]) try_place = PW'(i);
    end
  end

  assign used      = count;
  assign try_valid = again != '0;
  assign try_with  = with_record[try_place];
  assign try_data  = data[try_place];

  always_ff @(posedge clk) begin
    if (rst) begin
      busy  <= '0;
      again <= '0;
      count <= '0;
    end else begin
      if (park) busy[slot] <= 1'b1;
      if (free) busy[place] <= 1'b0;
      count <= count + (PW + 1)'(park) - (PW + 1)'(free);
      if (try_take) again[try_place] <= 1'b0;
      if (follow) again[next[place]] <= 1'b1;
      if (rec_take) again[rec_place] <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (follow) with_record[next[place]] <= 1'b0;
    if (rec_take) with_record[rec_place] <= 1'b1;
    if (park) data[slot] <= park_data;
    if (link) next[tail] <= slot;
  end

  // C0 keeps a place for every completion that it issues.
  `MH_ASSERT(a_place, !(park && (busy[slot] || count == (PW + 1)'(PLACES))))
  // Only a place in use is freed, and by nobody else in the same cycle.
  `MH_ASSERT(a_free, !(free && !busy[place]))
  `MH_ASSERT(a_one, !(free && park && slot == place))
  // A record is for a place that waits.
  `MH_ASSERT(a_answer, !(rec_take && !busy[rec_place]))

endmodule

`default_nettype wire
