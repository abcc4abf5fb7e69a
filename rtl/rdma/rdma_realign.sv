// SPDX-License-Identifier: Apache-2.0
// Byte realigner of one packet at a time, used by the read and by the write side: output beat =
// {this input beat, the one before} >> shift bytes. `shift` is 64 for aligned data, the source offset on
// reads (then the first input beat emits nothing: `skip`), 64 less the destination offset on writes.
// When the input is used up and output is still due, one flush step emits the rest.
// No stall inside: the user gives `in_en` or `fl_en` only when it can take the output, which is
// combinational. Cost: n_in cycles, one more with a flush.
`default_nettype none
`include "microhop_assert.svh"

module rdma_realign
  import rdma_pkg::*;
(
    input  wire                 clk,         /// clock
    input  wire                 rst,         /// synchronous reset, active high
    input  wire                 start,       /// take cmd; only when idle or in the last step
    input  wire [REALIGN_W-1:0] cmd,         /// realign_t of the next packet
    input  wire                 in_en,       /// in_data is the next input beat (only when want_in)
    input  wire [511:0]         in_data,     /// input beat
    input  wire                 fl_en,       /// flush step (only when want_flush)
    output wire                 want_in,     /// input beats are still to come
    output wire                 want_flush,  /// only the flush step is left
    output wire                 first,       /// the next output beat is the packet's first
    output wire                 last,        /// the next output beat is the packet's last
    output wire                 out_en,      /// out_data is an output beat
    output wire [511:0]         out_data,    /// output beat
    output logic [6:0]          done         /// output beats emitted
);

  realign_t c;
  assign c = cmd;

  logic [6:0] shift, n_in, n_out;
  logic skip;
  logic [511:0] prev;

  assign want_in    = n_in != 0;
  assign want_flush = n_in == 0 && n_out != 0;
  assign first      = done == 0;
  assign last       = n_out == 7'd1;
  assign out_en     = (in_en && !skip) || fl_en;

  wire [1023:0] pair = {want_flush ? 512'b0 : in_data, prev};
  assign out_data = 512'(pair >> {shift, 3'b000});

  always_ff @(posedge clk) begin
    if (rst) begin
      shift <= '0;
      n_in  <= '0;
      n_out <= '0;
      skip  <= 1'b0;
      done  <= '0;
    end else if (start) begin
      shift <= c.shift;
      n_in  <= c.n_in;
      n_out <= c.n_out;
      skip  <= c.skip;
      done  <= '0;
    end else begin
      if (in_en) begin
        n_in <= n_in - 1'b1;
        skip <= 1'b0;
      end
      if (out_en) begin
        n_out <= n_out - 1'b1;
        done  <= done + 1'b1;
      end
    end
  end

  // Cleared at the start, so that no byte of another packet shows below the first one's strobes.
  always_ff @(posedge clk) begin
    if (rst || start) prev <= '0;
    else if (in_en) prev <= in_data;
  end

  // A beat that no packet waits for would be lost.
  `MH_ASSERT(a_wanted, !(in_en && !want_in))
  // A packet that is dropped half way would leave its tail to the next one.
  `MH_ASSERT(a_start, !(start && (n_in > 7'(in_en) || n_out > 7'(out_en))))

endmodule

`default_nettype wire
