// SPDX-License-Identifier: Apache-2.0
// CRCs of outgoing frames: takes formed beats (content, zeros behind it) and gives, with the beat in
// which the content ends, the words that follow the content.
//
//   cycle  0 beat in   1 matrices   2 registers   3, 4 zero padding taken out   5 second CRC added
//
// The last beat is fed in whole, zeros included; the register is then run backwards over the zeros in
// conditional steps of 1, 2, 4, 8 words, which saves a 512-bit shifter. VCRC and FCS cover the ICRC,
// which comes last: both are computed over the content beside the ICRC and then taken on over the
// four ICRC bytes.
// Latency: beat at cycle c (`valid`), words of its frame from c+5 on, until the next content ends.
`default_nettype none

module wire_tx_crc
  import crc_pkg::*;
  import wire_pkg::*;
(
    input  wire          clk,         /// clock
    input  wire          rst,         /// synchronous reset, active high
    input  wire          roce,        /// format: 0 ICRC and VCRC, 1 ICRC and FCS
    input  wire          valid,       /// content in this beat
    input  wire  [511:0] data,        /// beat
    input  wire          first,       /// first beat of the frame
    input  wire          ends,        /// content ends in this beat
    input  wire  [3:0]   zero_words,  /// whole words of zeros behind it (RoCE: and two bytes more)
    input  wire          eth_pad,     /// two bytes of Ethernet padding between ICRC and FCS
    output logic [95:0]  words        /// three words to put behind the content, first in bits 31:0
);

  // One beat's way, and small steps back (bytes in the name).
  localparam logic [32*BEAT_BITS-1:0] BEAT_I = beat_rows(POLY_ICRC);
  localparam logic [32*BEAT_BITS-1:0] BEAT_V = beat_rows(POLY_VCRC);
  localparam logic [1023:0] BACK_I2 = back_rows(POLY_ICRC, 32, 16);
  localparam logic [1023:0] BACK_I4 = back_rows(POLY_ICRC, 32, 32);
  localparam logic [1023:0] BACK_I6 = back_rows(POLY_ICRC, 32, 48);
  localparam logic [1023:0] BACK_I8 = back_rows(POLY_ICRC, 32, 64);
  localparam logic [1023:0] BACK_I16 = back_rows(POLY_ICRC, 32, 128);
  localparam logic [1023:0] BACK_I32 = back_rows(POLY_ICRC, 32, 256);
  localparam logic [1023:0] BACK_V4 = back_rows(POLY_VCRC, 16, 32);
  localparam logic [1023:0] BACK_V8 = back_rows(POLY_VCRC, 16, 64);
  localparam logic [1023:0] BACK_V16 = back_rows(POLY_VCRC, 16, 128);
  localparam logic [1023:0] BACK_V32 = back_rows(POLY_VCRC, 16, 256);
  // Over the ICRC's 4 bytes (and 2 of padding): the register, and the ICRC as message.
  localparam logic [1023:0] ICRC_F = word_rows(POLY_ICRC, 0);
  localparam logic [1023:0] ICRC_F_PAD = word_rows(POLY_ICRC, 16);
  localparam logic [1023:0] ICRC_V = word_rows(POLY_VCRC, 0);

  // Start values after one beat of zeros. RoCEv2's ICRC starts with eight bytes of ones, which leave
  // RESIDUE_ICRC, and the 14 Ethernet bytes before the IPv4 header must not count: run back over them.
  localparam logic [1023:0] BACK_I14 = back_rows(POLY_ICRC, 32, 112);
  localparam logic [31:0] START_ROCE = mul_beat(BEAT_I, mul(BACK_I14, RESIDUE_ICRC));
  localparam logic [31:0] START_I = mul_beat(BEAT_I, 32'hffff_ffff);
  localparam logic [31:0] START_V = mul_beat(BEAT_V, 32'h0000_ffff);

  // ---- 1: matrices -------------------------------------------------------------------------------
  logic [31:0] di, df;
  logic [15:0] dv;
  logic v1, first1, ends1, pad1;
  logic [3:0] zeros1;

  crc_beat #(.POLY(POLY_ICRC), .WIDTH(32)) u_icrc (
      .clk, .en(valid), .data(first ? icrc_view(roce, data) : data), .crc(di)
  );
  crc_beat #(.POLY(POLY_ICRC), .WIDTH(32)) u_fcs (.clk, .en(valid && roce), .data, .crc(df));
  crc_beat #(.POLY(POLY_VCRC), .WIDTH(16)) u_vcrc (.clk, .en(valid && !roce), .data, .crc(dv));

  // ---- 2..5: registers, steps back, second CRC -----------------------------------------------------
  logic [31:0] si, sf, bi, bf, ri, rf;
  logic [15:0] sv, bv, rv;
  logic ends2, ends3, ends4, pad2, pad3, pad4;
  logic [3:0] zeros2;
  logic [1:0] zeros3;

  logic [31:0] bi_a, bf_a, icrc, fcs;
  logic [15:0] bv_a, vcrc;

  always_comb begin
    // The frame's content ends on a word (native) or two bytes behind one (RoCE), which takes two
    // bytes more. The FCS makes up for them when it is taken on over the ICRC.
    case ({roce, zeros2[0]})
      2'b00: bi_a = si;
      2'b01: bi_a = mul(BACK_I4, si);
      2'b10: bi_a = mul(BACK_I2, si);
      default: bi_a = mul(BACK_I6, si);
    endcase
    bf_a = zeros2[0] ? mul(BACK_I6, sf) : mul(BACK_I2, sf);
    bv_a = zeros2[0] ? 16'(mul(BACK_V4, 32'(sv))) : sv;

    icrc = ~ri;
    fcs  = ~(pad4 ? mul(ICRC_F_PAD, rf ^ icrc) : mul(ICRC_F, rf ^ icrc));
    vcrc = ~16'(mul(ICRC_V, icrc ^ 32'(rv)));
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      v1    <= 1'b0;
      ends1 <= 1'b0;
      ends2 <= 1'b0;
      ends3 <= 1'b0;
      ends4 <= 1'b0;
    end else begin
      v1    <= valid;
      ends1 <= valid && ends;
      ends2 <= ends1;
      ends3 <= ends2;
      ends4 <= ends3;
    end
    if (valid) begin
      first1 <= first;
      zeros1 <= zero_words;
      pad1   <= eth_pad;
    end
    if (v1) begin
      si     <= di ^ (first1 ? (roce ? START_ROCE : START_I) : mul_beat(BEAT_I, si));
      zeros2 <= zeros1;
      pad2   <= pad1;
    end
    if (v1 && roce) sf <= df ^ (first1 ? START_I : mul_beat(BEAT_I, sf));
    if (v1 && !roce) sv <= dv ^ 16'(first1 ? START_V : mul_beat(BEAT_V, 32'(sv)));
    if (ends2) begin
      bi     <= zeros2[1] ? mul(BACK_I8, bi_a) : bi_a;
      bf     <= zeros2[1] ? mul(BACK_I8, bf_a) : bf_a;
      bv     <= zeros2[1] ? 16'(mul(BACK_V8, 32'(bv_a))) : bv_a;
      zeros3 <= zeros2[3:2];
      pad3   <= pad2;
    end
    if (ends3) begin
      case (zeros3)
        2'd0: ri <= bi;
        2'd1: ri <= mul(BACK_I16, bi);
        2'd2: ri <= mul(BACK_I32, bi);
        default: ri <= mul(BACK_I16, mul(BACK_I32, bi));
      endcase
      case (zeros3)
        2'd0: rf <= bf;
        2'd1: rf <= mul(BACK_I16, bf);
        2'd2: rf <= mul(BACK_I32, bf);
        default: rf <= mul(BACK_I16, mul(BACK_I32, bf));
      endcase
      case (zeros3)
        2'd0: rv <= bv;
        2'd1: rv <= 16'(mul(BACK_V16, 32'(bv)));
        2'd2: rv <= 16'(mul(BACK_V32, 32'(bv)));
        default: rv <= 16'(mul(BACK_V16, mul(BACK_V32, 32'(bv))));
      endcase
      pad4 <= pad3;
    end
    if (ends4) begin
      if (!roce) words <= {32'h0, 16'h0, vcrc, icrc};
      else if (pad4) words <= {fcs, 16'h0, icrc[31:16], icrc[15:0], 16'h0};
      else words <= {16'h0, fcs, icrc, 16'h0};
    end
  end

endmodule

`default_nettype wire
