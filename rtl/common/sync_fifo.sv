// SPDX-License-Identifier: Apache-2.0
// FIFO with one clock. A word written at cycle c is visible at the output at c+1 (latency 1, first
// word falls through to the output register-file read). One write and one read a cycle.
// Ordering: first in, first out. Writing when full or reading when empty is an error (assertion):
// the user reserves room before it writes.
`default_nettype none
`include "microhop_assert.svh"

module sync_fifo #(
    parameter int WIDTH = 32,  /// bits of a word
    parameter int DEPTH = 16   /// words, a power of two
) (
    input  wire                    clk,       /// clock
    input  wire                    rst,       /// synchronous reset, active high
    input  wire                    wr_en,     /// write wr_data
    input  wire  [WIDTH-1:0]       wr_data,   /// word to write
    input  wire                    rd_en,     /// take the word at rd_data
    output wire  [WIDTH-1:0]       rd_data,   /// oldest word, valid when !empty
    output wire                    empty,     /// no word inside
    output logic [$clog2(DEPTH):0] count      /// words inside
);

  localparam int AW = $clog2(DEPTH);

  logic [WIDTH-1:0] mem [DEPTH];
  logic [AW-1:0] wr_ptr, rd_ptr;

  assign empty   = count == 0;
  assign rd_data = mem[rd_ptr];

  always_ff @(posedge clk) begin
    if (wr_en) mem[wr_ptr] <= wr_data;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      wr_ptr <= '0;
      rd_ptr <= '0;
      count  <= '0;
    end else begin
      if (wr_en) wr_ptr <= wr_ptr + 1'b1;
      if (rd_en) rd_ptr <= rd_ptr + 1'b1;
      count <= count + (AW + 1)'(wr_en) - (AW + 1)'(rd_en);
    end
  end

  // Room is reserved before a word is sent here; an overflow would lose it silently.
  `MH_ASSERT(a_no_overflow, !(wr_en && count == (AW + 1)'(DEPTH)))
  // A read of nothing would hand on stale data as if it were new.
  `MH_ASSERT(a_no_underflow, !(rd_en && empty))

endmodule

`default_nettype wire
