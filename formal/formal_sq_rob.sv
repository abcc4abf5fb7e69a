// SPDX-License-Identifier: Apache-2.0
// sq_rob behind a T2 that puts only while there is room, and a memory that answers each read once (docs/sq.md, T3, D1).
// Over every order of answers and every stall: places used are never more than there are; a place is not given out
// again before its item has left; items leave in the order of their issue, after their own answer and with it; any one
// is followed.
`default_nettype none
`include "formal.svh"

module formal_sq_rob #(
    parameter int TAGS = 4  /// places
) (
    input wire                      clk,       /// clock
    input wire                      rst,       /// reset
    input wire                      follow,    /// the item that is put now is the one that is followed
    input wire                      put,       /// T2 issues
    input wire                      put_null,  /// what is not read
    input wire [sq_pkg::ITEM_W-1:0] put_item,  /// item_t
    input wire                      r_valid,   /// an answer
    input wire [$clog2(TAGS)-1:0]   r_id,      /// its place
    input wire [511:0]              r_data,    /// its line
    input wire                      r_err,     /// its error
    input wire                      go         /// D1 moves
);

  localparam int TW = $clog2(TAGS);
  wire room, d_valid, d_err;
  wire [TW-1:0] place;
  wire [sq_pkg::ITEM_W-1:0] d_item;
  wire [511:0] d_data;
  sq_rob #(.TAGS(TAGS)) dut (.*);

  `FORMAL_START

  logic [TAGS-1:0] waits;  // asked for, not answered
  logic [TW:0] held;  // places in use
  always_ff @(posedge clk) begin
    if (rst) begin
      waits <= '0;
      held  <= '0;
    end else begin
      if (r_valid) waits[r_id] <= 1'b0;
      if (put) waits[place] <= !put_null;
      held <= held + (TW + 1)'(put) - (TW + 1)'(dut.leave);
    end
  end
  always_comb begin
    if (put) assume (room);
    if (r_valid) assume (waits[r_id]);
  end

  // the item that is followed: how many are before it, what it is
  logic mine, answered;
  logic [TW:0] ahead;
  logic [TW-1:0] at;
  logic [sq_pkg::ITEM_W-1:0] item;
  logic [512:0] line;
  logic left;  // it is in D1
  logic null_one;
  wire leaves = mine && dut.leave && ahead == '0;
  always_ff @(posedge clk) begin
    if (rst) begin
      mine <= 1'b0;
      left <= 1'b0;
    end else begin
      if (go) left <= leaves;
      if (!mine && !left && follow && put) begin
        mine     <= 1'b1;
        answered <= put_null;
        null_one <= put_null;
        at       <= place;
        item     <= put_item;
        ahead    <= held - (TW + 1)'(dut.leave);
      end else if (mine) begin
        if (leaves) mine <= 1'b0;
        if (dut.leave) ahead <= ahead - 1'b1;
        if (r_valid && r_id == at) begin
          answered <= 1'b1;
          line     <= {r_err, r_data};
        end
      end
    end
  end

  wire [TW-1:0] far = at - dut.head;
  logic [TAGS-1:0] in_use;
  always_comb for (int i = 0; i < TAGS; i++) in_use[i] = (TW + 1)'(TW'(TW'(i) - dut.head)) < held;
  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_used : assert (dut.used == held && held <= (TW + 1)'(TAGS));
      a_ends : assert (TW'(dut.head + held[TW-1:0]) == place);
      a_room : assert (room == (held != (TW + 1)'(TAGS)));
      a_back : assert ((dut.back & waits) == '0 && (dut.back | waits) == in_use);
      if (mine) begin
        a_order : assert ((TW + 1)'(far) == ahead && ahead < held);
        a_once : assert (!(put && place == at));
        a_item : assert (dut.items[at] == item && dut.back[at] == answered && waits[at] == !answered);
        a_line : assert (!answered || null_one || dut.lines[at] == line);
        a_own_answer : assert (!leaves || answered);
      end
      a_apart : assert (!(mine && left));
      if (left) begin
        a_left : assert (d_valid && d_item == item && (null_one || {d_err, d_data} == line));
      end
      c_overtaken : cover (leaves && held == (TW + 1)'(TAGS) && dut.back == '1);
      c_full : cover (mine && held == (TW + 1)'(TAGS) && ahead == 2 && answered);
    end
  end

endmodule

`default_nettype wire
