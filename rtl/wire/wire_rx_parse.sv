// SPDX-License-Identifier: Apache-2.0
// Header side of wire_rx: reads the headers of a frame as its beats pass, checks the format, and
// gives the transport fields with the frame's last beat.
//
//   cycle 0 beat at d1   1 fields read, beat at d2   2 headers kept, lengths   3 checks, fields   4 out
//
// The checks (InfiniBand vol. 1, ch. 7 for LRH, ch. 9 for BTH; annex A17 for RoCEv2): LVer 0, LNH 2,
// TVer 0; EtherType IPv4, version 4 and IHL 5, protocol UDP, port 4791; the lengths in LRH, or in IPv4
// and UDP, agree with each other and with the frame; headers, pad and ICRC fit; the payload is at
// most FRAME_MAX_MTU bytes and the frame at most FRAME_MAX_BEATS.
`default_nettype none

module wire_rx_parse
  import microhop_pkg::*;
  import spec_pkg::*;
  import wire_pkg::*;
(
    input  wire              clk,        /// clock
    input  wire              roce,       /// format
    input  wire              v1,         /// beat
    /* verilator lint_off UNUSEDSIGNAL */  // addresses and variant fields are not checked
    input  wire  [511:0]     d1,         /// its bytes, zero beyond its end
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire              first1,     /// first beat of the frame
    input  wire  [6:0]       index1,     /// number in the frame, from 0, stays at 127
    input  wire  [6:0]       bytes1,     /// bytes in it, 1..64
    input  wire              v2,         /// d1's beat one cycle later
    input  wire              first2,     /// first1 one cycle later
    input  wire              last2,      /// last1 one cycle later
    input  wire  [6:0]       index2,     /// index1 one cycle later
    input  wire  [79:0]      d2_low,     /// its first ten bytes
    input  wire  [511:0]     d2,         /// its bytes
    input  wire              last3,      /// valid last beat, two cycles later
    input  wire              last4,      /// valid last beat, three cycles later
    output logic [2:0]       lay2,       /// header layout of the frame at d2 (wire_pkg)
    output logic [31:0]      cover2,     /// half words of the beat at d2 that the ICRC covers, itself included
    output logic             covers2,    /// the ICRC ends in this beat
    output logic [5:0]       beyond2,    /// bytes behind it in this beat
    output logic             ok5,        /// format is right (with last beat, four cycles later)
    output logic [6:0]       beats5,     /// payload beats
    output logic [HDR_W-1:0] hdr5        /// hdr_t
);

  // ---- fields read in the first beat -----------------------------------------------------------------
  logic [7:0]  opcode;
  logic [5:0]  pad_tver;
  logic [2:0]  ext;
  logic [15:0] ip_len, udp_len;
  logic [10:0] pkt_len;
  logic [14:0] span, span_now;    // ICRC's last word, counted from the frame's start
  logic        fixed_ok;
  logic [10:0] ends_at;           // beat in which the ICRC ends

  logic [14:0] span_q;
  logic [13:0] counted2;          // words that the length field counts
  logic [1:0]  pad2;
  logic        ok2;
  logic        tiny2;             // RoCE frame that Ethernet pads
  logic        long2;             // length field beyond any legal frame

  always_comb begin
    opcode  = roce ? d1[42*8+:8] : d1[8*8+:8];
    pad_tver = roce ? d1[43*8+:6] : d1[9*8+:6];
    ext     = ext_of(opcode);
    ip_len  = {d1[16*8+:8], d1[17*8+:8]};
    udp_len = {d1[38*8+:8], d1[39*8+:8]};
    pkt_len = {d1[4*8+:3], d1[5*8+:8]};
    if (roce) begin
      fixed_ok = {d1[12*8+:8], d1[13*8+:8]} == 16'h0800 && d1[14*8+:8] == 8'h45
          && d1[23*8+:8] == 8'd17 && {d1[36*8+:8], d1[37*8+:8]} == 16'd4791
          && ip_len == udp_len + 16'd20 && ip_len[1:0] == 0;
      span = {1'b0, ip_len[15:2]} + 15'd3;  // two bytes of this word
    end else begin
      fixed_ok = d1[3:0] == 0 && d1[1*8+:2] == 2'd2;
      span = 15'(pkt_len) - 15'd1;
    end
    span_now = first1 ? span : span_q;
    ends_at  = span_now[14:4];
  end

  always_ff @(posedge clk) begin
    if (v1 && first1) begin
      span_q   <= span;
      lay2     <= {roce, ext[2], ext[1] | ext[0]};
      counted2 <= roce ? ip_len[15:2] : 14'(pkt_len);
      pad2     <= pad_tver[5:4];
      ok2      <= fixed_ok && pad_tver[3:0] == 0;
      tiny2    <= roce && ip_len == 16'd44;
      long2    <= roce && ip_len[15:13] != 0;
    end
    if (v1) begin
      covers2 <= 11'(index1) == ends_at;
      beyond2 <= {~span_now[3:0], roce, 1'b0};
      for (int h = 0; h < 32; h++)
        cover2[h] <= 11'(index1) < ends_at
            || (11'(index1) == ends_at && h <= 32'({span_now[3:0], !roce}));
    end
  end

  // ---- headers kept, lengths ---------------------------------------------------------------------------
  logic [HEAD_MAX*8-1:0] head3;   // first byte on the wire in the lowest bits
  logic [6:0]  bytes2;
  logic [13:0] frame3, want3;
  logic [14:0] words3;            // payload and pad; negative when the headers do not fit
  logic [1:0]  pad3;
  logic        ok3, tiny3;

  always_ff @(posedge clk) begin
    if (v1) bytes2 <= bytes1;
    if (v2 && first2) begin
      head3[511:0] <= d2;
      head3[HEAD_MAX*8-1:512] <= '0;
    end else if (v2 && index2 == 7'd1) begin
      head3[HEAD_MAX*8-1:512] <= d2_low;
    end
    if (v2 && last2) begin
      frame3 <= {1'b0, index2, 6'b0} + 14'(bytes2);
      want3  <= roce ? {counted2[11:0], 2'b00} + 14'd18 : {counted2[11:0], 2'b00} + 14'd2;
      words3 <= {1'b0, counted2} - 15'(counted_words(lay2));
      pad3   <= pad2;
      ok3    <= ok2 && !long2 && index2 < 7'(FRAME_MAX_BEATS);
      tiny3  <= tiny2;
    end
  end

  // ---- checks and fields -------------------------------------------------------------------------------
  logic [HDR_W-1:0] hdr4;
  logic        ok4;
  logic [12:0] len4;
  logic [16:0] len3;

  // hdr_t of a header stack. Reserved and checked fields go no further.
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic logic [HDR_W-1:0] fields(
      input logic is_roce, input logic [HEAD_MAX*8-1:0] head, input logic [12:0] len);
    logic [HEAD_MAX*8-1:0] be;  // first byte on the wire in the highest bits
    logic [95:0]  bth;
    logic [159:0] ext_bytes;
    logic [2:0]   kind;
    hdr_t         h;
    for (int k = 0; k < HEAD_MAX; k++) be[k*8+:8] = head[(HEAD_MAX-1-k)*8+:8];
    if (is_roce) begin
      bth       = be[HEAD_MAX*8-1-42*8-:96];
      ext_bytes = be[HEAD_MAX*8-1-54*8-:160];
    end else begin
      bth       = be[HEAD_MAX*8-1-8*8-:96];
      ext_bytes = be[HEAD_MAX*8-1-20*8-:160];
    end
    kind = ext_of(bth[95:88]);

    h         = '0;
    h.dst     = is_roce ? be[HEAD_MAX*8-1-30*8-:32] : {16'h0, be[HEAD_MAX*8-1-2*8-:16]};
    h.src     = is_roce ? be[HEAD_MAX*8-1-26*8-:32] : {16'h0, be[HEAD_MAX*8-1-6*8-:16]};
    h.opcode  = bth[95:88];
    h.se      = bth[87];
    h.mig     = bth[86];
    h.pkey    = bth[79:64];
    h.fecn    = bth[63];
    h.becn    = bth[62];
    h.dest_qp = bth[55:32];
    h.ackreq  = bth[31];
    h.psn     = bth[23:0];
    if (kind[2]) begin
      h.va     = ext_bytes[159:96];
      h.rkey   = ext_bytes[95:64];
      h.dmalen = ext_bytes[63:32];
    end
    if (kind[1]) h.imm = kind[2] ? ext_bytes[31:0] : ext_bytes[159:128];
    if (kind[0]) begin
      h.syndrome = ext_bytes[159:152];
      h.msn      = ext_bytes[151:128];
    end
    h.len  = len;
    fields = h;
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  always_comb len3 = {words3, 2'b00} - 17'(pad3);

  always_ff @(posedge clk) begin
    if (last3) begin
      hdr4 <= fields(roce, head3, len3[12:0]);
      ok4  <= ok3 && (frame3 == want3 || (tiny3 && frame3 == 14'd64))
              && !len3[16] && len3[15:0] <= 16'(FRAME_MAX_MTU);
      len4 <= len3[12:0];
    end
    if (last4) begin
      hdr5   <= hdr4;
      ok5    <= ok4;
      beats5 <= 7'((len4 + 13'd63) >> 6);
    end
  end

endmodule

`default_nettype wire
