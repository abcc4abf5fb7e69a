// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 over a stream of whole beats (invalid bytes are zeros), one beat a cycle.
// A beat given at c: `state` holds the register after it at c+2, `sealed` at c+2 what the CRC is with the four
// bytes of `word` (given with the beat's share, at c+1) behind it, final XOR included. Without `en` nothing moves.
`default_nettype none

module link_crc
  import crc_pkg::*;
#(
    parameter int DATA_W = 512  /// stream width, bits: 512 or 1024
) (
    input  wire               clk,    /// clock
    input  wire               en,     /// a beat
    input  wire               first,  /// it is the first of its message
    input  wire  [DATA_W-1:0] data,   /// bytes, first one lowest
    input  wire  [      31:0] word,   /// four more bytes for `sealed`, one cycle behind the beat, lowest first
    output logic [      31:0] state,  /// register after the beat, two cycles behind it
    output logic [      31:0] sealed  /// CRC of the message and `word`, two cycles behind the beat
);

  localparam logic [1023:0] BEAT = ahead_rows(POLY_ICRC, 32, DATA_W);
  localparam logic [1023:0] HALF = ahead_rows(POLY_ICRC, 32, 512);
  localparam logic [1023:0] WORD = ahead_rows(POLY_ICRC, 32, 32);

  logic en1, first1;
  wire [31:0] share;  // the beat's share, one cycle behind it
  always_ff @(posedge clk) begin
    en1 <= en;
    if (en) first1 <= first;
  end

  if (DATA_W == 512) begin : g_512
    crc_beat u_beat (.clk(clk), .en(en), .data(data), .crc(share));
  end else begin : g_1024
    wire [31:0] low, high;
    crc_beat u_low (.clk(clk), .en(en), .data(data[511:0]), .crc(low));
    crc_beat u_high (.clk(clk), .en(en), .data(data[DATA_W-1-:512]), .crc(high));
    assign share = high ^ mul(HALF, low);
  end

  wire [31:0] moved = mul(BEAT, first1 ? 32'hffff_ffff : state) ^ share;
  // The word runs through the register like message bits: CRC(m, w) = WORD x (register xor w).
  always_ff @(posedge clk) begin
    if (en1) begin
      state  <= moved;
      sealed <= ~mul(WORD, moved ^ word);
    end
  end

endmodule

`default_nettype wire
