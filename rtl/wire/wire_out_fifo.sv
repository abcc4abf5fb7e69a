// SPDX-License-Identifier: Apache-2.0
// FIFO at the end of a pipeline that cannot stall: a RAM and a register at the output. A word passes
// the RAM by when it is empty, so that the latency is 1 in an idle FIFO.
// The writer reserves room (DEPTH words, the output register included); an assertion watches it.
`default_nettype none
`include "microhop_assert.svh"

module wire_out_fifo #(
    parameter int WIDTH = 577,  /// bits of a word
    parameter int DEPTH = 128   /// words of the RAM, a power of two
) (
    input  wire              clk,      /// clock
    input  wire              rst,      /// synchronous reset, active high
    input  wire              s_valid,  /// write s_data
    input  wire  [WIDTH-1:0] s_data,   /// word
    output logic             m_valid,  /// word offered
    input  wire              m_ready,  /// word taken
    output logic [WIDTH-1:0] m_data    /// word, held until taken
);

  localparam int AW = $clog2(DEPTH);

  logic [WIDTH-1:0] mem [DEPTH];
  logic [AW-1:0] wr_ptr, rd_ptr;
  logic [AW:0] count;             // words in the RAM

  logic load, from_mem, past, store;
  always_comb begin
    load     = !m_valid || m_ready;
    from_mem = load && count != 0;
    past     = load && count == 0 && s_valid;
    store    = s_valid && !past;
  end

  always_ff @(posedge clk) begin
    if (store) mem[wr_ptr] <= s_data;
  end

  always_ff @(posedge clk) begin
    if (from_mem) m_data <= mem[rd_ptr];
    else if (past) m_data <= s_data;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      wr_ptr  <= '0;
      rd_ptr  <= '0;
      count   <= '0;
      m_valid <= 1'b0;
    end else begin
      if (store) wr_ptr <= wr_ptr + 1'b1;
      if (from_mem) rd_ptr <= rd_ptr + 1'b1;
      count <= count + (AW + 1)'(store) - (AW + 1)'(from_mem);
      if (load) m_valid <= from_mem || past;
    end
  end

  // A lost beat would go unnoticed until the frame's CRC is checked at the far end.
  `MH_ASSERT(a_no_overflow, !(store && count == (AW + 1)'(DEPTH)))

endmodule

`default_nettype wire
