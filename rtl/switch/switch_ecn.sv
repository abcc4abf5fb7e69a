// SPDX-License-Identifier: Apache-2.0
// Marks frames: ECN field 1 or 2 of a RoCEv2 frame becomes 3, its IPv4 checksum and FCS follow (docs/switch.md, C2).
//
//   1  field, checksum and stated length of a first beat   3  rest of the way from the beat's start to the FCS
//   2  CRC of the change, up to the beat that holds it     4  FCS
//
// The change is 18 bits of the first beat, and CRCs are linear: the FCS changes by the CRC of the change alone
// (start 0, no final XOR). `crc` is the register before each beat, moved on a beat at a time. In the beat in which
// the FCS begins it is taken on to the byte where it begins, in steps of 8 and 16 choices.
// Where the FCS begins: four bytes before the last valid one; when the stated length puts it across two beats,
// where that says, since the first of the two may be gone before the second comes. A damaged frame's last
// beat is left as it is.
// Latency: 4 cycles, rigid, one beat a cycle; gaps between beats do not matter. Order kept. Frames do not interleave.
`default_nettype none

module switch_ecn
  import crc_pkg::*;
#(
    parameter int DATA_W = 512  /// bits of a beat, 512 or 1024
) (
    input  wire                 clk,        /// clock
    input  wire                 rst,        /// synchronous reset, active high
    input  wire                 cfg_roce,   /// 0 native: nothing is changed; 1 RoCEv2 over IPv4
    input  wire                 in_valid,   /// beat
    input  wire                 in_first,   /// first beat of a frame
    input  wire                 in_last,    /// last beat of a frame
    input  wire                 in_user,    /// with in_last: the frame is damaged
    input  wire                 in_mark,    /// with in_first: mark the frame
    input  wire  [DATA_W/8-1:0] in_keep,    /// valid bytes
    input  wire  [  DATA_W-1:0] in_data,    /// bytes, first one lowest
    output logic                out_valid,  /// beat
    output logic                out_first,  /// first beat of a frame
    output logic                out_last,   /// last beat of a frame
    output logic                out_user,   /// with out_last: the frame is damaged
    output logic [DATA_W/8-1:0] out_keep,   /// valid bytes
    output logic [  DATA_W-1:0] out_data,   /// bytes
    output logic                out_ecn     /// with the first beat of a frame that was changed
);

  localparam int BB = DATA_W / 8;
  localparam int BW = $clog2(BB);

  // From the change to the register before the first beat; a beat's way; steps of 1..7 bytes and of 8, 16, .. 120.
  localparam logic [1023:0] BACK15 = back_rows(POLY_ICRC, 32, 15 * 8);
  localparam logic [1023:0] BACK24 = back_rows(POLY_ICRC, 32, 24 * 8);
  localparam logic [1023:0] BEAT = ahead_rows(POLY_ICRC, 32, DATA_W);
  localparam logic [1023:0] BY1 = ahead_rows(POLY_ICRC, 32, 8);
  localparam logic [1023:0] BY2 = ahead_rows(POLY_ICRC, 32, 16);
  localparam logic [1023:0] BY3 = ahead_rows(POLY_ICRC, 32, 24);
  localparam logic [1023:0] BY4 = ahead_rows(POLY_ICRC, 32, 32);
  localparam logic [1023:0] BY5 = ahead_rows(POLY_ICRC, 32, 40);
  localparam logic [1023:0] BY6 = ahead_rows(POLY_ICRC, 32, 48);
  localparam logic [1023:0] BY7 = ahead_rows(POLY_ICRC, 32, 56);
  localparam logic [1023:0] BY8 = ahead_rows(POLY_ICRC, 32, 64);
  localparam logic [1023:0] BY16 = ahead_rows(POLY_ICRC, 32, 128);
  localparam logic [1023:0] BY24 = ahead_rows(POLY_ICRC, 32, 192);
  localparam logic [1023:0] BY32 = ahead_rows(POLY_ICRC, 32, 256);
  localparam logic [1023:0] BY64 = ahead_rows(POLY_ICRC, 32, 512);
  localparam logic [1023:0] BY96 = ahead_rows(POLY_ICRC, 32, 768);

  function automatic logic [31:0] ahead_low(input logic [2:0] n, input logic [31:0] s);
    case (n)
      3'd0: return s;
      3'd1: return mul(BY1, s);
      3'd2: return mul(BY2, s);
      3'd3: return mul(BY3, s);
      3'd4: return mul(BY4, s);
      3'd5: return mul(BY5, s);
      3'd6: return mul(BY6, s);
      default: return mul(BY7, s);
    endcase
  endfunction

  function automatic logic [31:0] ahead_high(input logic [3:0] n, input logic [31:0] s);
    logic [31:0] t;
    case (n[1:0])
      2'd0: t = s;
      2'd1: t = mul(BY8, s);
      2'd2: t = mul(BY16, s);
      default: t = mul(BY24, s);
    endcase
    case (n[3:2])
      2'd0: return t;
      2'd1: return mul(BY32, t);
      2'd2: return mul(BY64, t);
      default: return mul(BY96, t);
    endcase
  endfunction

  // IPv4 checksum after a field of the sum grew by `d`, 1 or 2: HC' = ~(~HC + ~m + m'), and ~m + m' is d.
  function automatic logic [15:0] checksum(input logic [15:0] hc, input logic [1:0] d);
    logic [16:0] sum;
    sum = {1'b0, ~hc} + 17'(d);
    return ~(sum[15:0] + 16'(sum[16]));
  endfunction

  // Valid bytes less 4, modulo BB.
  function automatic logic [BW-1:0] fcs_byte(input logic [BB-1:0] keep);
    logic [BW-1:0] n;
    n = '0;
    for (int p = 0; p < BB; p++)
      if (keep[p] && (p == BB - 1 || !keep[(p+1)%BB])) n = n | BW'(p - 3);
    return n;
  endfunction

  // ---- 1: the first beat's fields ------------------------------------------------------------------
  logic v1, first1, last1, user1, chg1, across1;
  logic [BB-1:0] keep1;
  logic [DATA_W-1:0] data1;
  logic [1:0] ecn1;      // change of byte 15
  logic [15:0] sum1;     // change of bytes 24 and 25, byte 24 in bits 7:0
  logic [BW-1:0] from_end1;
  logic [1:0] beyond1;   // bytes of the FCS in the last beat, when it lies across two
  logic [16-BW:0] more1; // beats after the first, then

  logic [15:0] hc, hc_new;
  logic [16:0] stated;
  logic change;
  always_comb begin
    hc     = {in_data[24*8+:8], in_data[25*8+:8]};
    hc_new = checksum(hc, 2'd3 - in_data[15*8+:2]);
    stated = {1'b0, in_data[16*8+:8], in_data[17*8+:8]} + 17'd18;
    change = cfg_roce && in_first && in_mark && in_data[12*8+:24] == 24'h45_00_08 &&
        in_data[15*8] != in_data[15*8+1];
  end

  // ---- 2: the change's CRC up to the beat in hand; what the beat holds of the FCS -----------------
  logic chg, across, pen, fin, whole, begins;  // pen, fin: first and second of two beats; whole: all in one
  logic [1:0] beyond;
  logic [16-BW:0] more;
  logic [31:0] crc_here;
  logic [BW-1:0] at;

  logic chg_f, across_f;
  logic [1:0] beyond_f;
  logic [16-BW:0] more_f;
  logic [31:0] crc_f;

  always_comb begin
    chg      = first1 ? chg1 : chg_f;
    across   = first1 ? across1 : across_f;
    beyond   = first1 ? beyond1 : beyond_f;
    more     = first1 ? more1 : more_f;
    pen      = chg && across && !last1 && more == 1;
    fin      = chg && across && last1 && !user1;
    whole    = chg && !across && last1 && !user1 && keep1[3];
    begins   = pen || whole;
    at       = pen ? {{(BW - 2) {1'b1}}, beyond} : from_end1;
    crc_here = crc_f;
    if (chg && first1) crc_here = mul(BACK15, {30'h0, ecn1}) ^ mul(BACK24, {16'h0, sum1});
  end

  logic v2, first2, last2, user2, ecn2, pen2, fin2, whole2;
  logic [1:0] beyond2;
  logic [BB-1:0] keep2;
  logic [DATA_W-1:0] data2;
  logic [31:0] crc2;
  logic [1:0] turn2;
  logic [3:0] high2;

  // ---- 3, 4 -----------------------------------------------------------------------------------------
  logic v3, first3, last3, user3, ecn3, pen3, fin3, whole3;
  logic [1:0] beyond3, turn3;
  logic [BB-1:0] keep3;
  logic [DATA_W-1:0] data3;
  logic [31:0] crc3;  // kept for the second of two beats

  // The FCS's change laid over the beat: turned so that each byte is in its lane, then cut out.
  function automatic logic [DATA_W-1:0] laid(
      input logic [31:0] crc, input logic [1:0] turn, input logic pen_i, input logic fin_i, input logic whole_i,
      input logic [1:0] beyond_i, input logic [BB-1:0] keep);
    logic [31:0] turned;
    logic [BB-1:0] cut;
    case (turn)
      2'd0: turned = crc;
      2'd1: turned = {crc[23:0], crc[31:24]};
      2'd2: turned = {crc[15:0], crc[31:16]};
      default: turned = {crc[7:0], crc[31:8]};
    endcase
    cut = '0;
    if (whole_i) cut = keep & ~(keep >> 4);
    if (pen_i) cut[BB-4+:4] = 4'hf << beyond_i;
    if (fin_i) cut[3:0] = keep[3:0] & ~(4'hf << beyond_i);
    for (int p = 0; p < BB; p++) laid[p*8+:8] = cut[p] ? turned[(p%4)*8+:8] : 8'h0;
  endfunction

  always_ff @(posedge clk) begin
    if (rst) begin
      v1        <= 1'b0;
      v2        <= 1'b0;
      v3        <= 1'b0;
      out_valid <= 1'b0;
      out_ecn   <= 1'b0;
    end else begin
      v1        <= in_valid;
      v2        <= v1;
      v3        <= v2;
      out_valid <= v3;
      out_ecn   <= v3 && ecn3;
    end
    if (in_valid) begin
      first1    <= in_first;
      last1     <= in_last;
      user1     <= in_user;
      keep1     <= in_keep;
      data1     <= in_data;
      chg1      <= change;
      ecn1      <= change ? ~in_data[15*8+:2] : 2'd0;
      sum1      <= change ? {hc[7:0] ^ hc_new[7:0], hc[15:8] ^ hc_new[15:8]} : 16'd0;
      from_end1 <= fcs_byte(in_keep);
      across1   <= stated[BW-1:2] == 0 && stated[1:0] != 0;
      beyond1   <= stated[1:0];
      more1     <= stated[16:BW];
    end
    if (v1) begin
      first2  <= first1;
      last2   <= last1;
      user2   <= user1;
      keep2   <= keep1;
      data2   <= data1;
      if (chg1 && first1) begin
        data2[15*8+:2]  <= data1[15*8+:2] ^ ecn1;
        data2[24*8+:16] <= data1[24*8+:16] ^ sum1;
      end
      ecn2    <= chg1 && first1;
      pen2    <= pen;
      fin2    <= fin;
      whole2  <= whole;
      beyond2 <= beyond;
      chg_f   <= chg;
      if (chg) begin
        across_f <= across;
        beyond_f <= beyond;
        more_f   <= more - 1'b1;
        crc_f    <= mul(BEAT, crc_here);
      end
      if (begins) begin
        crc2  <= ahead_low(at[2:0], crc_here);
        turn2 <= at[1:0];
        high2 <= 4'(at[BW-1:3]);
      end
    end
    if (v2) begin
      first3  <= first2;
      last3   <= last2;
      user3   <= user2;
      keep3   <= keep2;
      data3   <= data2;
      ecn3    <= ecn2;
      pen3    <= pen2;
      fin3    <= fin2;
      whole3  <= whole2;
      beyond3 <= beyond2;
      if (pen2 || whole2) begin
        crc3  <= ahead_high(high2, crc2);
        turn3 <= turn2;
      end
    end
    if (v3) begin
      out_first <= first3;
      out_last  <= last3;
      out_user  <= user3;
      out_keep  <= keep3;
      if (pen3 || fin3 || whole3) out_data <= data3 ^ laid(crc3, turn3, pen3, fin3, whole3, beyond3, keep3);
      else out_data <= data3;
    end
  end

endmodule

`default_nettype wire
