// SPDX-License-Identifier: Apache-2.0
// C0: what goes next into C1, and the room that it goes by (rules I3, I4 of docs/cq.md).
// Latency: picked at C0 in cycle c, in C1 at c + 1, in C2 at c + 2.
`default_nettype none

module cq_pick #(
    parameter int PLACES   = 16,  /// places of the lot
    parameter int OUT_FIFO = 8,   /// words of AW and W FIFO each
    parameter int WRITES   = 512  /// writes without B
) (
    input  wire                      clk,         /// clock
    input  wire                      rst,         /// synchronous reset, active high
    input  wire                      rec_valid,   /// a RECORD waits: it is always taken
    input  wire                      try_valid,   /// a RETRY waits
    output wire                      try_take,    /// it is taken
    input  wire                      h_ready,     /// an ENTRY waits
    output wire                      h_take,      /// it is taken
    input  wire [$clog2(PLACES):0]   lot_used,    /// places in use
    input  wire                      form_busy,   /// an entry is in C3
    input  wire [$clog2(OUT_FIFO):0] out_waiting, /// the fuller one of AW and W FIFO
    input  wire [$clog2(WRITES):0]   owed,        /// writes without B
    output wire                      op,          /// something is picked
    output logic                     v1,          /// something is in C1
    output logic                     record1,     /// a RECORD
    output logic                     retry1,      /// a RETRY; neither: an ENTRY
    output wire                      comp1,       /// C1: a completion
    output logic                     comp2,       /// C2: a completion
    output logic                     entry2       /// C2: an ENTRY
);

  localparam int LW = $clog2(PLACES) + 1;
  localparam int FW = $clog2(OUT_FIFO) + 1;
  localparam int OW = $clog2(WRITES) + 1;

  assign comp1 = v1 && !record1;
  wire entry1 = comp1 && !retry1;
  wire [1:0] under_way = 2'(comp1) + 2'(comp2) + 2'(form_busy);
  wire room = out_waiting + FW'(under_way) < FW'(OUT_FIFO) && owed + OW'(under_way) < OW'(WRITES);
  wire places = lot_used + LW'(entry1) + LW'(entry2) < LW'(PLACES);
  assign try_take = !rec_valid && try_valid && room;
  assign h_take   = !rec_valid && !try_valid && room && places && h_ready;
  assign op       = rec_valid || try_take || h_take;

  always_ff @(posedge clk) begin
    if (rst) begin
      v1     <= 1'b0;
      comp2  <= 1'b0;
      entry2 <= 1'b0;
    end else begin
      v1     <= op;
      comp2  <= comp1;
      entry2 <= entry1;
    end
  end
  always_ff @(posedge clk) begin
    if (op) begin
      record1 <= rec_valid;
      retry1  <= !rec_valid && try_valid;
    end
  end

endmodule

`default_nettype wire
