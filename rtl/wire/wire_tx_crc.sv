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
  localparam logic [1023:0] BEAT_I = ahead_rows(POLY_ICRC, 32, BEAT_BITS);
  localparam logic [1023:0] BEAT_V = ahead_rows(POLY_VCRC, 16, BEAT_BITS);
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
  localparam logic [31:0] START_ROCE = mul(BEAT_I, mul(BACK_I14, RESIDUE_ICRC));
  localparam logic [31:0] START_I = mul(BEAT_I, 32'hffff_ffff);
  localparam logic [31:0] START_V = mul(BEAT_V, 32'h0000_ffff);

  // ---- 1: matrices -------------------------------------------------------------------------------
  logic [31:0] di, df;
  logic [15:0] dv;
  logic v1, first1, ends1, pad1;
  logic [3:0] zeros1;

  logic [511:0] view;             // what the ICRC sees; zero at rest, which costs no simulation time
  always_comb begin
    view = '0;
    if (valid) view = first ? icrc_view(roce, data) : data;
  end

  crc_beat #(.POLY(POLY_ICRC), .WIDTH(32)) u_icrc (.clk, .en(valid), .data(view), .crc(di));
  crc_beat #(.POLY(POLY_ICRC), .WIDTH(32)) u_fcs (.clk, .en(valid && roce), .data, .crc(df));
  crc_beat #(.POLY(POLY_VCRC), .WIDTH(16)) u_vcrc (.clk, .en(valid && !roce), .data, .crc(dv));

  // ---- 2..5: registers, steps back, second CRC -----------------------------------------------------
  logic [31:0] si, sf, bi, bf, ri, rf;
  logic [15:0] sv, bv, rv;
  logic ends2, ends3, ends4, pad2, pad3, pad4;
  logic [3:0] zeros2;
  logic [1:0] zeros3;

  // Functions, called where their stage moves: a stage at rest costs no simulation time.

  // Out of the ICRC's register: z[0] words, z[1] double words of zeros. Content ends on a word
  // (native) or two bytes behind one (RoCE), which takes two bytes more.
  function automatic logic [31:0] back_low_i(input logic r, input logic [1:0] z, input logic [31:0] s);
    logic [31:0] t;
    case ({r, z[0]})
      2'b00: t = s;
      2'b01: t = mul(BACK_I4, s);
      2'b10: t = mul(BACK_I2, s);
      default: t = mul(BACK_I6, s);
    endcase
    return z[1] ? mul(BACK_I8, t) : t;
  endfunction

  // The same for the FCS, always RoCE, and the VCRC, always native.
  function automatic logic [31:0] back_low_f(input logic [1:0] z, input logic [31:0] s);
    logic [31:0] t;
    t = z[0] ? mul(BACK_I6, s) : mul(BACK_I2, s);
    return z[1] ? mul(BACK_I8, t) : t;
  endfunction

  function automatic logic [15:0] back_low_v(input logic [1:0] z, input logic [15:0] s);
    logic [31:0] t;
    t = z[0] ? mul(BACK_V4, {16'h0, s}) : {16'h0, s};
    return 16'(z[1] ? mul(BACK_V8, t) : t);
  endfunction

  // Four and eight words of zeros.
  function automatic logic [31:0] back_high_i(input logic [1:0] z, input logic [31:0] s);
    logic [31:0] t;
    t = z[0] ? mul(BACK_I16, s) : s;
    return z[1] ? mul(BACK_I32, t) : t;
  endfunction

  function automatic logic [15:0] back_high_v(input logic [1:0] z, input logic [15:0] s);
    logic [31:0] t;
    t = z[0] ? mul(BACK_V16, {16'h0, s}) : {16'h0, s};
    return 16'(z[1] ? mul(BACK_V32, t) : t);
  endfunction

  // The three words behind the content: ICRC and VCRC, or ICRC, padding and FCS.
  function automatic logic [95:0] trailer(
      input logic r, input logic pad, input logic [31:0] i, input logic [31:0] f, input logic [15:0] vc);
    logic [31:0] icrc, fcs;
    icrc = ~i;
    if (!r) return {48'h0, ~16'(mul(ICRC_V, icrc ^ {16'h0, vc})), icrc};
    fcs = ~(pad ? mul(ICRC_F_PAD, f ^ icrc) : mul(ICRC_F, f ^ icrc));
    return pad ? {fcs, 16'h0, icrc, 16'h0} : {16'h0, fcs, icrc, 16'h0};
  endfunction

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
      si     <= di ^ (first1 ? (roce ? START_ROCE : START_I) : mul(BEAT_I, si));
      zeros2 <= zeros1;
      pad2   <= pad1;
    end
    if (v1 && roce) sf <= df ^ (first1 ? START_I : mul(BEAT_I, sf));
    if (v1 && !roce) sv <= dv ^ 16'(first1 ? START_V : mul(BEAT_V, 32'(sv)));
    if (ends2) begin
      bi     <= back_low_i(roce, zeros2[1:0], si);
      if (roce) bf <= back_low_f(zeros2[1:0], sf);
      else bv <= back_low_v(zeros2[1:0], sv);
      zeros3 <= zeros2[3:2];
      pad3   <= pad2;
    end
    if (ends3) begin
      ri <= back_high_i(zeros3, bi);
      if (roce) rf <= back_high_i(zeros3, bf);
      else rv <= back_high_v(zeros3, bv);
      pad4 <= pad3;
    end
    if (ends4) words <= trailer(roce, pad4, ri, rf, rv);
  end

endmodule

`default_nettype wire
