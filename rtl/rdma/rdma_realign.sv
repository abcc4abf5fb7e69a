// SPDX-License-Identifier: Apache-2.0
// Byte realigner, used by the read and by the write side: output beat = {this input beat, the one before}
// >> shift bytes. Reads: shift is the source offset and the first input beat emits nothing (`skip`).
// Writes: shift is 64 less the destination offset. When the last input beat leaves bytes behind
// (`flush`), one flush step emits them; the next packet's first beat may come in the same cycle if it
// emits nothing. Output is combinational; the user gives steps only when it can take the output.
`default_nettype none
`include "microhop_assert.svh"

module rdma_realign
  import rdma_pkg::*;
(
    input  wire                 clk,         /// clock
    input  wire                 rst,         /// synchronous reset, active high
    input  wire                 start,       /// take cmd; only when no input is awaited after this edge
    input  wire [REALIGN_W-1:0] cmd,         /// realign_t of the next packet
    input  wire                 in_en,       /// in_data is the next input beat (only when want_in)
    input  wire [511:0]         in_data,     /// input beat
    input  wire                 fl_en,       /// flush step (only when want_flush)
    output wire                 want_in,     /// input beats are still to come
    output wire                 in_last,     /// one of them
    output logic                want_flush,  /// a flush step is due
    output wire                 last,        /// an output beat of this cycle is its packet's last
    output wire                 out_en,      /// out_data is an output beat
    output logic [511:0]        out_data     /// output beat, 0 without out_en
);

  realign_t c;
  assign c = cmd;

  logic [6:0] shift, fl_shift, n_in;
  logic skip, flush;
  logic [511:0] prev;

  assign want_in = n_in != 0;
  assign in_last = n_in == 7'd1;
  assign last    = fl_en || (in_last && !flush);
  assign out_en  = (in_en && !skip) || fl_en;

  // Guarded, so that an idle realigner costs a simulation nothing.
  wire [9:0] bits = {fl_en ? fl_shift : shift, 3'b000};
  always_comb begin
    out_data = '0;
    if (out_en) out_data = 512'({fl_en ? 512'b0 : in_data, prev} >> bits);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      n_in       <= '0;
      skip       <= 1'b0;
      flush      <= 1'b0;
      want_flush <= 1'b0;
    end else begin
      if (start) begin
        n_in  <= c.n_in;
        skip  <= c.skip;
        flush <= c.flush;
      end else if (in_en) begin
        n_in <= n_in - 1'b1;
        skip <= 1'b0;
      end
      if (in_en && in_last && flush) want_flush <= 1'b1;
      else if (fl_en) want_flush <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (start) shift <= c.shift;
    if (in_en && in_last) fl_shift <= shift;
    if (in_en) prev <= in_data;
  end

  // A beat that no packet waits for would be lost.
  `MH_ASSERT(a_wanted, !(in_en && !want_in))
  // A packet that is left half way would give its tail to the next one.
  `MH_ASSERT(a_start, !(start && want_in && !(in_en && in_last)))
  // Two output beats in one cycle: one would be lost.
  `MH_ASSERT(a_one_out, !(in_en && (want_flush != fl_en || (fl_en && !skip))))

endmodule

`default_nettype wire
