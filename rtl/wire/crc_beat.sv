// SPDX-License-Identifier: Apache-2.0
// One stream beat's share of a CRC: 512 message bits through an XOR matrix into a register.
// Latency 1, one beat a cycle. Without `en` nothing moves, so that an idle block costs nothing.
`default_nettype none

module crc_beat
  import crc_pkg::*;
#(
    parameter logic [31:0] POLY  = POLY_ICRC,  /// reflected polynomial
    parameter int          WIDTH = 32          /// bits of the CRC, 16 or 32
) (
    input  wire              clk,   /// clock
    input  wire              en,    /// take `data`
    input  wire  [511:0]     data,  /// message, first bit on the wire in bit 0
    output logic [WIDTH-1:0] crc    /// register after the beat, from a zero register
);

  localparam logic [32*BEAT_BITS-1:0] ROWS = beat_rows(POLY);

  for (genvar i = 0; i < WIDTH; i++) begin : g_bit
    wire [BEAT_BITS-1:0] row;  // a net: Icarus builds a wide constant anew at each use
    assign row = ROWS[i*BEAT_BITS+:BEAT_BITS];
    always_ff @(posedge clk) if (en) crc[i] <= ^(data & row);
  end

endmodule

`default_nettype wire
