// SPDX-License-Identifier: Apache-2.0
// sync_fifo, used as its contract says (no write when full, no read when empty): the count is right and never
// leaves 0..DEPTH, and a word of the solver's choice comes out unchanged, behind all that were written before it.
`default_nettype none
`include "formal.svh"

module formal_sync_fifo #(
    parameter int WIDTH = 8,  /// bits of a word
    parameter int DEPTH = 8   /// words
) (
    input wire             clk,      /// clock
    input wire             rst,      /// reset
    input wire             wr_en,    /// write
    input wire [WIDTH-1:0] wr_data,  /// word
    input wire             rd_en,    /// read
    input wire             pick      /// the word written now is the one to follow
);

  localparam int AW = $clog2(DEPTH);

  wire [WIDTH-1:0] rd_data;
  wire empty;
  wire [AW:0] count;
  sync_fifo #(.WIDTH(WIDTH), .DEPTH(DEPTH)) dut (.*);

  `FORMAL_START
  always_comb begin
    if (!rst) begin
      assume (!(wr_en && count == (AW + 1)'(DEPTH)));
      assume (!(rd_en && empty));
    end
  end

  logic [AW:0] level;  // words inside, counted here
  logic follow;
  logic [WIDTH-1:0] word;
  logic [AW:0] ahead;  // words that must come out before it
  always_ff @(posedge clk) begin
    if (rst) begin
      level  <= '0;
      follow <= 1'b0;
    end else begin
      level <= level + (AW + 1)'(wr_en) - (AW + 1)'(rd_en);
      if (!follow && wr_en && pick) begin
        follow <= 1'b1;
        word   <= wr_data;
        ahead  <= level - (AW + 1)'(rd_en);
      end else if (follow && rd_en) begin
        ahead <= ahead - 1'b1;
        if (ahead == 0) follow <= 1'b0;
      end
    end
  end

  // where it lies, for the induction
  wire [AW-1:0] place = dut.rd_ptr + ahead[AW-1:0];
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_count : assert (count == level && level <= (AW + 1)'(DEPTH));
      a_empty : assert (empty == (level == 0));
      a_pointers : assert (dut.wr_ptr == dut.rd_ptr + count[AW-1:0]);
      if (follow) begin
        a_inside : assert (ahead < level);
        a_stored : assert (dut.mem[place] == word);
        if (ahead == 0) a_word : assert (rd_data == word);
      end
      c_full : cover (count == (AW + 1)'(DEPTH));
      c_comes_out : cover (follow && rd_en && ahead == 0);
    end
  end

endmodule

`default_nettype wire
