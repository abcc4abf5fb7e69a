// SPDX-License-Identifier: Apache-2.0
// Reorder ring of the send queues: items in the order of their issue, data in any order (docs/sq.md, T3, D1, D0).
// A place is used from issue to the cycle in which its item leaves.
`default_nettype none
`include "microhop_assert.svh"

module sq_rob
  import sq_pkg::*;
#(
    parameter int TAGS = 512,  /// places
    localparam int TW  = $clog2(TAGS)
) (
    input  wire              clk,       /// clock
    input  wire              rst,       /// synchronous reset, active high
    output wire              room,      /// a place is free
    output logic [TW-1:0]    place,     /// its number
    input  wire              put,       /// it is used
    input  wire              put_null,  /// and returned at once
    input  wire [ITEM_W-1:0] put_item,  /// item_t
    input  wire              r_valid,   /// data comes
    input  wire [TW-1:0]     r_id,      /// for this place
    input  wire [511:0]      r_data,    /// a line
    input  wire              r_err,     /// read with an error
    input  wire              go,        /// D1 and D2 move
    output logic             d_valid,   /// an item is in D1
    output logic [ITEM_W-1:0] d_item,   /// item_t
    output logic [511:0]     d_data,    /// its line
    output logic             d_err      /// read with an error
);

  logic [ITEM_W-1:0] items [TAGS];
  logic [512:0] lines [TAGS];
  logic [TAGS-1:0] back;  // returned
  logic [TW-1:0] head;
  logic [TW:0] used;

  assign room = used != (TW + 1)'(TAGS);
  wire leave = go && used != '0 && back[head];

  always_ff @(posedge clk) begin
    if (put) items[place] <= put_item;
    if (r_valid) lines[r_id] <= {r_err, r_data};
    if (leave) begin
      d_item <= items[head];
      {d_err, d_data} <= lines[head];
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      place   <= '0;
      head    <= '0;
      used    <= '0;
      back    <= '0;
      d_valid <= 1'b0;
    end else begin
      if (leave) back[head] <= 1'b0;
      if (put) back[place] <= put_null;
      if (r_valid) back[r_id] <= 1'b1;
      if (put) place <= place + 1'b1;
      if (leave) head <= head + 1'b1;
      used <= used + (TW + 1)'(put) - (TW + 1)'(leave);
      if (go) d_valid <= leave;
    end
  end

  // An answer to nothing would be handed on as a later read's.
  `MH_ASSERT(a_asked, !(r_valid && back[r_id]))

endmodule

`default_nettype wire
