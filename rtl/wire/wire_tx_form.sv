// SPDX-License-Identifier: Apache-2.0
// First half of wire_tx: takes a packet, puts the headers before it and aligns the payload behind
// them. What leaves is the frame's beats with zeros where pad, ICRC, VCRC or FCS go, and where they go.
//
//   s_pkt -> slot (input register) -> turned (payload rotated, headers laid out) -> formed (merged)
//
// A frame has up to two beats more than its payload. They are made in extra slots after the last
// payload beat, and one more after the first beat when the headers fill more than a beat; s_pkt_tready
// is low in exactly those cycles, so the pipeline behind never stalls. A packet's first beat is
// taken only when `reserved` (beats between here and the output FIFO's exit) leaves room for the
// largest frame.
// Latency: accepted at c, formed at c+3 (`m_valid` visible).
`default_nettype none
`include "microhop_assert.svh"

module wire_tx_form
  import microhop_pkg::*;
  import spec_pkg::*;
  import wire_pkg::*;
#(
    parameter int FIFO_BEATS = LATENCY_WIRE_TX_FIFO_BEATS  /// places behind, FRAME_MAX_BEATS..255
) (
    input  wire                    clk,            /// clock
    input  wire                    rst,            /// synchronous reset, active high
    input  wire  [WIRE_CFG_W-1:0]  cfg,            /// wire_cfg_t, constant while packets flow
    input  wire                    s_pkt_tvalid,   /// packet beat offered
    output logic                   s_pkt_tready,   /// packet beat taken
    input  wire  [511:0]           s_pkt_tdata,    /// payload
    input  wire  [63:0]            s_pkt_tkeep,    /// payload bytes; 0 on a packet without payload
    input  wire                    s_pkt_tlast,    /// last beat of the packet
    input  wire  [HDR_W-1:0]       s_pkt_hdr,      /// hdr_t, read with the first beat
    input  wire                    pop,            /// a frame beat left the output FIFO
    output logic                   m_valid,        /// frame beat
    output logic [511:0]           m_data,         /// bytes; zero behind the content
    output logic                   m_first,        /// first beat of the frame
    output logic                   m_body,         /// content (headers, payload, pad) in this beat
    output logic                   m_end,          /// content ends in this beat
    output logic                   m_last,         /// last beat of the frame
    output logic [4:0]             m_end_word,     /// first word behind the content, 0..16
    output logic [3:0]             m_zero_words,   /// whole words behind the content in its last beat
    output logic [3:0]             m_last_word,    /// last beat holds 4 x this + 2 bytes ...
    output logic                   m_eth_pad       /// ... or all 64: the frame is padded to 60 + 4
);

  localparam logic [7:0] LIMIT = 8'(FIFO_BEATS - FRAME_MAX_BEATS);

  /* verilator lint_off UNUSEDSIGNAL */  // the addresses are used by headers() alone
  wire_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  hdr_t      in_hdr;
  assign c      = cfg;
  assign in_hdr = s_pkt_hdr;

  // ---- slots: one frame beat each ------------------------------------------------------------------
  logic       in_pkt, ended;      // between first and last payload beat; last payload beat taken
  logic [1:0] extra;              // extra slots still to come
  logic       second;             // the next extra slot is the header's second beat
  logic [7:0] reserved;           // beats from here to the output FIFO's exit
  logic [1:0] tail_q, cut_q;      // extra slots behind the payload; of those behind the content

  logic       take, sop, eop, slot;
  logic [2:0] in_ext, in_lay;
  logic [4:0] pay_words, end_words;
  logic [1:0] in_tail, in_cut, tail, cut, extra_d;
  logic       in_long, in_pkt_d, ended_d;
  logic [7:0] reserved_d;

  always_comb begin
    take    = s_pkt_tvalid && s_pkt_tready;
    sop     = take && !in_pkt;
    eop     = take && s_pkt_tlast;
    slot    = take || extra != 0;
    in_ext  = ext_of(in_hdr.opcode);
    in_lay  = {c.roce, in_ext[2], in_ext[1] | in_ext[0]};
    in_long = c.roce && in_ext[2];

    // Words of the last payload beat with its pad, 0..16, and the word behind the content, counted
    // from the start of the beat in which the last payload beat begins.
    pay_words = 5'(({1'b0, in_hdr.len[5:0]} + 7'd3) >> 2);
    if (in_hdr.len[5:0] == 0 && in_hdr.len != 0) pay_words = 5'd16;
    end_words = {1'b0, head_words(in_lay)} + pay_words;
    // Beats further on in which the content ends (0, 1) and the frame ends (0..2): native adds
    // ICRC 4 and VCRC 2 bytes to 4 x end_words, RoCE ICRC 4 and FCS 4 to 4 x end_words + 2.
    in_cut  = {1'b0, c.roce ? end_words[4] : end_words > 5'd16};
    in_tail = 2'((6'(end_words) + (c.roce ? 6'd2 : 6'd1)) >> 4);
    tail    = sop ? in_tail : tail_q;
    cut     = sop ? in_tail - in_cut : cut_q;

    if (extra != 0) extra_d = extra - 1'b1;
    else extra_d = ((sop && in_long) ? 2'd1 : 2'd0) + (eop ? tail : 2'd0);
    in_pkt_d   = take ? !s_pkt_tlast : in_pkt;
    ended_d    = take ? s_pkt_tlast : ended;
    reserved_d = reserved + 8'(slot) - 8'(pop);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      in_pkt       <= 1'b0;
      ended        <= 1'b0;
      extra        <= '0;
      second       <= 1'b0;
      reserved     <= '0;
      s_pkt_tready <= 1'b0;
    end else begin
      in_pkt       <= in_pkt_d;
      ended        <= ended_d;
      extra        <= extra_d;
      second       <= sop && in_long;
      reserved     <= reserved_d;
      s_pkt_tready <= extra_d == 0 && (in_pkt_d || reserved_d <= LIMIT);
    end
  end

  // ---- slot register ---------------------------------------------------------------------------------
  logic         v0, first0, second0, tail0, body0, end0, last0;
  logic [511:0] data0;
  hdr_t         hdr0;
  logic [2:0]   lay0;
  logic [3:0]   words0;           // end_words of the frame, modulo one beat
  logic         eth_pad0;
  logic [15:0]  ip_len0;
  logic [16:0]  sum_src0, sum_dst0;
  logic         body_q;           // content of the frame still to come

  // Where the content's and the frame's last slots are: by the extra slots still to come.
  logic is_end;
  always_comb is_end = ended_d && extra_d == cut;

  always_ff @(posedge clk) begin
    if (rst) begin
      v0     <= 1'b0;
      body_q <= 1'b0;
    end else begin
      v0 <= slot;
      if (slot) body_q <= !is_end && (sop || body_q);
    end
    if (slot) begin
      first0  <= sop;
      second0 <= second;
      tail0   <= !take && !second;
      body0   <= sop || body_q;
      end0    <= is_end && (sop || body_q);
      last0   <= ended_d && extra_d == 0;
    end
    if (take) data0 <= s_pkt_tdata & bytes_of(s_pkt_tkeep);
    if (sop) begin
      hdr0     <= in_hdr;
      lay0     <= in_lay;
      words0   <= end_words[3:0];
      eth_pad0 <= in_lay == 3'd4 && in_hdr.len == 0;
      tail_q   <= in_tail;
      cut_q    <= in_tail - in_cut;
      ip_len0  <= 16'({11'((in_hdr.len + 13'd3) >> 2) + 11'(counted_words(in_lay)), 2'b00});
      sum_src0 <= {1'b0, in_hdr.src[31:16]} + {1'b0, in_hdr.src[15:0]};
      sum_dst0 <= {1'b0, in_hdr.dst[31:16]} + {1'b0, in_hdr.dst[15:0]};
    end
  end

  // ---- headers ---------------------------------------------------------------------------------------
  // First byte on the wire in the lowest bits; the IPv4 checksum is left zero. Functions here and
  // below are called where a register moves, so that an idle block costs no simulation time.
  function automatic logic [HEAD_MAX*8-1:0] headers(
      input logic [HDR_W-1:0] fields, input logic [WIRE_CFG_W-1:0] config_bits, input logic [15:0] ip_len);
    hdr_t         h;
    wire_cfg_t    w;
    logic [1:0]   pad;
    logic [2:0]   ext;
    logic [95:0]  bth;
    logic [159:0] ext_bytes;
    logic [63:0]  lrh;
    logic [335:0] outer;
    logic [HEAD_MAX*8-1:0] all;  // first byte on the wire in the highest bits
    h   = fields;
    w   = config_bits;
    pad = 2'd0 - h.len[1:0];
    ext = ext_of(h.opcode);
    bth = {
      h.opcode, h.se, h.mig, pad, 4'h0, h.pkey, h.fecn, h.becn, 6'h0, h.dest_qp, h.ackreq, 7'h0, h.psn
    };
    if (ext[2]) ext_bytes = {h.va, h.rkey, h.dmalen, ext[1] ? h.imm : 32'h0};
    else if (ext[1]) ext_bytes = {h.imm, 128'h0};
    else if (ext[0]) ext_bytes = {h.syndrome, h.msn, 128'h0};
    else ext_bytes = '0;
    // LNH 2: the BTH follows. The IP length counted in words is the native PktLen.
    lrh = {w.vl, 4'h0, w.sl, 2'h0, 2'h2, h.dst[15:0], 5'h0, ip_len[12:2], h.src[15:0]};
    // Ethernet, IPv4 (identification 0: never fragmented, DF), UDP without checksum
    outer = {
      w.dmac, w.smac, 16'h0800,
      8'h45, w.tos, ip_len, 16'h0, 16'h4000, w.ttl, 8'd17, 16'h0, h.src, h.dst,
      w.udp_sport, 16'd4791, ip_len - 16'd20, 16'h0
    };
    if (w.roce) all = {outer, bth, ext_bytes};
    else all = {lrh, bth, ext_bytes, 272'h0};
    for (int i = 0; i < HEAD_MAX; i++) headers[i*8+:8] = all[(HEAD_MAX-1-i)*8+:8];
  endfunction

  // ---- turned ----------------------------------------------------------------------------------------
  logic         v1, first1, second1, body1, end1, last1, eth_pad1;
  logic [511:0] turn1;
  logic [HEAD_MAX*8-1:0] head1;   // headers, first byte on the wire in the lowest bits
  logic [2:0]   lay1;
  logic [3:0]   words1;
  logic [19:0]  sum1;

  always_ff @(posedge clk) begin
    if (rst) v1 <= 1'b0;
    else v1 <= v0;
    if (v0) begin
      first1  <= first0;
      second1 <= second0;
      body1   <= body0;
      end1    <= end0;
      last1   <= last0;
      turn1   <= tail0 ? '0 : rot_up(lay0, data0);
      if (first0) begin
        lay1     <= lay0;
        words1   <= words0;
        eth_pad1 <= eth_pad0;
        head1    <= headers(hdr0, cfg, ip_len0);
        sum1     <= 20'(sum_src0) + 20'(sum_dst0) + 20'(ip_len0) + 20'({8'h45, c.tos})
                    + 20'h04000 + 20'({c.ttl, 8'd17});
      end
    end
  end

  // ---- formed ----------------------------------------------------------------------------------------
  logic [511:0] prev2;            // the beat before, turned: its end belongs into this one

  // Headers, or the end of the beat before, then what of this beat's payload still fits.
  function automatic logic [511:0] merged(
      input logic [2:0] lay, input logic is_first, input logic is_second,
      input logic [HEAD_MAX*8-1:0] head, input logic [19:0] sum, input logic [511:0] prev,
      input logic [511:0] turn);
    logic [511:0] front, mask;
    logic [16:0]  fold;
    logic [15:0]  fold_inc, csum;
    // One's complement sum: carries go around, twice at most.
    fold     = {1'b0, sum[15:0]} + 17'(sum[19:16]);
    fold_inc = sum[15:0] + 16'(sum[19:16]) + 16'd1;
    csum     = ~(fold[16] ? fold_inc : fold[15:0]);
    mask     = bytes_of(head_mask(lay));
    front    = prev;
    if (is_first) begin
      front = head[511:0];
      if (lay[2]) front[24*8+:16] = {csum[7:0], csum[15:8]};
      if (lay[2] && lay[1]) mask = '1;  // headers fill the whole beat
    end else if (is_second) begin
      front = {432'h0, head[HEAD_MAX*8-1:512]};
    end
    merged = (front & mask) | (turn & ~mask);
  endfunction

  always_ff @(posedge clk) begin
    if (rst) m_valid <= 1'b0;
    else m_valid <= v1;
    if (v1) begin
      prev2   <= turn1;
      m_data  <= merged(lay1, first1, second1, head1, sum1, prev2, turn1);
      m_first <= first1;
      m_body  <= body1;
      m_end   <= end1;
      m_last  <= last1;
      if (first1) begin
        // Native content that fills its last beat ends at word 16, not at word 0 of a beat.
        m_end_word   <= {!lay1[2] && words1 == 0, words1};
        m_zero_words <= lay1[2] ? ~words1 : 4'd0 - words1;
        m_last_word  <= words1 + (lay1[2] ? 4'd2 : 4'd1);
        m_eth_pad    <= eth_pad1;
      end
    end
  end

  // A packet's beats and its length must agree, or the frame would lie about its size.
  logic [6:0] seen;
  always_ff @(posedge clk) begin
    if (rst) seen <= '0;
    else if (take) seen <= s_pkt_tlast ? '0 : seen + 1'b1;
  end
  logic [12:0] len_q;
  always_ff @(posedge clk) if (sop) len_q <= in_hdr.len;
  `MH_ASSERT(a_length, !eop || 13'(seen) * 13'd64 + 13'd64 >= (sop ? in_hdr.len : len_q))
  `MH_ASSERT(a_length_more, !eop || seen == 0 || 13'(seen) * 13'd64 < len_q)
  `MH_ASSERT(a_max_length, !sop || in_hdr.len <= 13'(FRAME_MAX_MTU))
  `MH_NEVER_X(a_known, {s_pkt_tready, m_valid})

endmodule

`default_nettype wire
