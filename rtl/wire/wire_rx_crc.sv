// SPDX-License-Identifier: Apache-2.0
// CRCs of incoming frames. A frame that ends inside a beat is fed in with zeros behind it; the
// registers are compared with the residue as it stands that many zero bytes later, from a table.
//
//   cycle 0 beat at d2   1 matrices   2 registers   3 compared
//
// Latency: beat at cycle c (`valid`), results of a frame that ends in it at c+3.
`default_nettype none

module wire_rx_crc
  import crc_pkg::*;
  import wire_pkg::*;
(
    input  wire          clk,       /// clock
    input  wire          rst,       /// synchronous reset, active high
    input  wire          roce,      /// format: 0 ICRC and VCRC, 1 ICRC and FCS
    input  wire          valid,     /// beat
    input  wire  [511:0] data,      /// bytes, zero beyond the frame's end
    input  wire          first,     /// first beat of the frame
    input  wire  [5:0]   zeros,     /// bytes beyond the frame's end in this beat
    input  wire  [31:0]  span,     /// half words that the ICRC covers, itself included
    input  wire          covers,    /// the ICRC ends in this beat
    input  wire  [5:0]   beyond,    /// bytes behind it
    output logic         frame_ok,  /// VCRC or FCS is right; holds when the beat was the last
    output logic         icrc_ok    /// ICRC is right; from the beat in which it ends to the frame's end
);

  localparam logic [1023:0] BEAT_I = ahead_rows(POLY_ICRC, 32, BEAT_BITS);
  localparam logic [1023:0] BEAT_V = ahead_rows(POLY_VCRC, 16, BEAT_BITS);
  localparam logic [2047:0] GOOD_I = ahead_table(POLY_ICRC, RESIDUE_ICRC);
  localparam logic [2047:0] GOOD_V = ahead_table(POLY_VCRC, RESIDUE_VCRC);

  // Start values after one beat, as in wire_tx_crc.
  localparam logic [1023:0] BACK_I14 = back_rows(POLY_ICRC, 32, 112);
  localparam logic [31:0] START_ROCE = mul(BEAT_I, mul(BACK_I14, RESIDUE_ICRC));
  localparam logic [31:0] START_I = mul(BEAT_I, 32'hffff_ffff);
  localparam logic [31:0] START_V = mul(BEAT_V, 32'h0000_ffff);

  logic [511:0] view;             // what the ICRC sees; zero at rest, which costs no simulation time
  always_comb begin
    view = '0;
    if (valid) view = halves_of(span) & (first ? icrc_view(roce, data) : data);
  end

  logic [31:0] di, df;
  logic [15:0] dv;
  crc_beat #(.POLY(POLY_ICRC), .WIDTH(32)) u_icrc (.clk, .en(valid), .data(view), .crc(di));
  crc_beat #(.POLY(POLY_ICRC), .WIDTH(32)) u_fcs (.clk, .en(valid && roce), .data, .crc(df));
  crc_beat #(.POLY(POLY_VCRC), .WIDTH(16)) u_vcrc (.clk, .en(valid && !roce), .data, .crc(dv));

  logic [31:0] si, sf;
  logic [15:0] sv;
  logic v1, v2, first1, first2, covers1, covers2;
  logic [5:0] zeros1, zeros2, beyond1, beyond2;

  always_ff @(posedge clk) begin
    if (rst) begin
      v1 <= 1'b0;
      v2 <= 1'b0;
    end else begin
      v1 <= valid;
      v2 <= v1;
    end
    if (valid) begin
      first1  <= first;
      zeros1  <= zeros;
      covers1 <= covers;
      beyond1 <= beyond;
    end
    if (v1) begin
      first2  <= first1;
      zeros2  <= zeros1;
      covers2 <= covers1;
      beyond2 <= beyond1;
      si      <= di ^ (first1 ? (roce ? START_ROCE : START_I) : mul(BEAT_I, si));
    end
    if (v1 && roce) sf <= df ^ (first1 ? START_I : mul(BEAT_I, sf));
    if (v1 && !roce) sv <= dv ^ 16'(first1 ? START_V : mul(BEAT_V, 32'(sv)));
    if (v2) begin
      frame_ok <= roce ? sf == GOOD_I[zeros2*32+:32] : sv == GOOD_V[zeros2*32+:16];
      if (covers2) icrc_ok <= si == GOOD_I[beyond2*32+:32];
      else if (first2) icrc_ok <= 1'b0;
    end
  end

endmodule

`default_nettype wire
