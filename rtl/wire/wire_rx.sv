// SPDX-License-Identifier: Apache-2.0
// Frame to packet, or dropped whole and counted by reason: frame CRC (VCRC or FCS), format, ICRC, in
// this order. No stall: s_axis_tready is 1, the link's credits stand for the buffer inside.
//
//   s_axis -> input -> parse -------------------> fields, format -> decision
//                  \-> turn back -> payload buffer ---------------> m_pkt
//                  \-> CRC matrices -> registers -> compare -----^
//
// Latency: 7 cycles, last frame beat taken to first packet beat offered (spec: latency.wire). Packets
// leave in the order of the frames; a packet is seen whole and good or not at all.
`default_nettype none
`include "microhop_assert.svh"

module wire_rx
  import microhop_pkg::*;
  import spec_pkg::*;
  import wire_pkg::*;
#(
    parameter int CELLS = LINK_BUFFER_CELLS  /// payload buffer, 64-byte cells, a power of two
) (
    input  wire                   clk,              /// clock
    input  wire                   rst,              /// synchronous reset, active high
    input  wire  [WIRE_CFG_W-1:0] cfg,              /// wire_cfg_t, constant while frames flow
    input  wire                   s_axis_tvalid,    /// frame beat
    output wire                   s_axis_tready,    /// always 1
    input  wire  [511:0]          s_axis_tdata,     /// frame, first byte in the lowest bits
    input  wire  [63:0]           s_axis_tkeep,     /// valid bytes, all but in a last beat
    input  wire                   s_axis_tlast,     /// last beat of the frame
    output wire                   m_pkt_tvalid,     /// packet beat offered
    input  wire                   m_pkt_tready,     /// packet beat taken
    output wire  [511:0]          m_pkt_tdata,      /// payload; bytes without tkeep are undefined
    output wire  [63:0]           m_pkt_tkeep,      /// payload bytes; 0 on a packet without payload
    output wire                   m_pkt_tlast,      /// last beat of the packet
    output wire  [HDR_W-1:0]      m_pkt_hdr,        /// hdr_t, held to the last beat
    output wire  [7:0]            free_cells,       /// cells given back in this cycle
    output logic [31:0]           cnt_good,         /// packets delivered
    output logic [31:0]           cnt_drop_fcs,     /// frames dropped: VCRC or FCS wrong
    output logic [31:0]           cnt_drop_format,  /// frames dropped: format or length wrong
    output logic [31:0]           cnt_drop_icrc     /// frames dropped: ICRC wrong
);

  /* verilator lint_off UNUSEDSIGNAL */  // only the format matters here
  wire_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;
  assign s_axis_tready = 1'b1;

  localparam logic [6:0] MAX = 7'(FRAME_MAX_BEATS);

  // ---- 1: input --------------------------------------------------------------------------------------
  logic v1, first1, last1;
  logic [511:0] d1;
  logic [6:0] index1, bytes1;
  logic in_frame;

  // Bytes of a contiguous keep: the place where ones end.
  function automatic logic [6:0] size_of(input logic [63:0] keep);
    size_of = 7'd64;
    for (int i = 1; i < 64; i++) if (keep[i-1] && !keep[i]) size_of = 7'(i);
  endfunction

  always_ff @(posedge clk) begin
    if (rst) begin
      v1       <= 1'b0;
      in_frame <= 1'b0;
    end else begin
      v1 <= s_axis_tvalid;
      if (s_axis_tvalid) in_frame <= !s_axis_tlast;
    end
    if (s_axis_tvalid) begin
      d1     <= s_axis_tdata & bytes_of(s_axis_tkeep);
      first1 <= !in_frame;
      last1  <= s_axis_tlast;
      bytes1 <= size_of(s_axis_tkeep);
      if (!in_frame) index1 <= '0;
      else if (index1 != 7'd127) index1 <= index1 + 1'b1;
    end
  end

  // ---- 2: parse --------------------------------------------------------------------------------------
  logic v2, first2, last2;
  logic [511:0] d2;
  logic [6:0] index2;
  logic [5:0] zeros2;

  always_ff @(posedge clk) begin
    if (rst) v2 <= 1'b0;
    else v2 <= v1;
    if (v1) begin
      d2     <= d1;
      first2 <= first1;
      last2  <= last1;
      index2 <= index1;
      zeros2 <= 6'(7'd64 - bytes1);
    end
  end

  // ---- 3, 4, 5: control beside CRCs and checks -----------------------------------------------------
  logic v3, v4, v5, last3, last4, last5;
  logic [6:0] index3, index4, index5;
  logic [2:0] lay3;
  logic long3, long4;             // headers of more than one beat

  always_ff @(posedge clk) begin
    if (rst) begin
      v3    <= 1'b0;
      v4    <= 1'b0;
      v5    <= 1'b0;
      last3 <= 1'b0;
      last4 <= 1'b0;
      last5 <= 1'b0;
    end else begin
      v3    <= v2;
      v4    <= v3;
      v5    <= v4;
      last3 <= v2 && last2;
      last4 <= last3;
      last5 <= last4;
    end
    index3 <= index2;
    index4 <= index3;
    index5 <= index4;
    long4  <= long3;
  end

  // ---- parse -----------------------------------------------------------------------------------------
  wire [2:0] lay2;
  wire [31:0] cover2;
  wire covers2, format_ok;
  wire [5:0] beyond2;
  wire [6:0] beats5;
  wire [HDR_W-1:0] hdr5;

  wire_rx_parse u_parse (
      .clk, .roce(c.roce),
      .v1, .d1, .first1, .index1, .bytes1,
      .v2, .first2, .last2, .index2, .d2_low(d2[79:0]), .d2,
      .last3, .last4,
      .lay2, .cover2, .covers2, .beyond2,
      .ok5(format_ok), .beats5, .hdr5
  );

  // ---- CRCs ------------------------------------------------------------------------------------------
  wire frame_ok, icrc_ok;

  wire_rx_crc u_crc (
      .clk, .rst, .roce(c.roce),
      .valid(v2), .data(d2), .first(first2), .zeros(zeros2),
      .span(cover2), .covers(covers2), .beyond(beyond2),
      .frame_ok, .icrc_ok
  );

  // ---- payload: turned back, joined with the beat before ------------------------------------------
  // Frame beat b holds the start of payload beat b - skip, whose end is in the next frame beat; the
  // frame's last one is written a cycle later by itself, when the next frame's first beat, which
  // writes nothing, can be at 3.
  logic [511:0] turn3, turn4, wr_data;
  logic [63:0] near3, later3;     // bytes of the header's length from the beat's start, its end
  logic wr_en, more3, flush4;
  logic [6:0] wr_index, skip3, skip4;

  always_ff @(posedge clk) begin
    if (v2) begin
      turn3 <= rot_down(lay2, d2);
      lay3  <= lay2;
    end
    if (v3) turn4 <= turn3;
  end

  always_comb begin
    long3    = lay3[2] && lay3[1];
    skip3    = {6'b0, long3};
    skip4    = {6'b0, long4};
    more3    = v3 && index3 > skip3 && index3 < MAX;
    flush4   = last4 && index4 >= skip4 && index4 < MAX;
    wr_en    = more3 || flush4;
    wr_index = flush4 ? index4 - skip4 : index3 - skip3 - 1'b1;
    near3    = head_mask(lay3);
    for (int i = 0; i < 64; i++) later3[i] = near3[63-i] && !flush4;
    wr_data  = '0;  // at rest: costs no simulation time
    if (wr_en) wr_data = (turn3 & bytes_of(later3)) | (turn4 & ~bytes_of(later3));
  end

  // ---- 5: decision -----------------------------------------------------------------------------------
  logic good, excess;
  logic [6:0] cells;

  always_comb begin
    good   = frame_ok && format_ok && icrc_ok;
    excess = v5 && index5 >= MAX;
    cells  = index5 >= MAX ? MAX : index5 + 1'b1;
  end

  wire_rx_buf #(.CELLS(CELLS)) u_buf (
      .clk, .rst,
      .wr_en, .wr_index, .wr_data,
      .decide(last5), .good, .excess, .hdr(hdr5), .beats(beats5), .cells,
      .m_pkt_tvalid, .m_pkt_tready, .m_pkt_tdata, .m_pkt_tkeep, .m_pkt_tlast, .m_pkt_hdr,
      .free_cells
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_good        <= '0;
      cnt_drop_fcs    <= '0;
      cnt_drop_format <= '0;
      cnt_drop_icrc   <= '0;
    end else if (last5) begin
      if (!frame_ok) cnt_drop_fcs <= cnt_drop_fcs + 1'b1;
      else if (!format_ok) cnt_drop_format <= cnt_drop_format + 1'b1;
      else if (!icrc_ok) cnt_drop_icrc <= cnt_drop_icrc + 1'b1;
      else cnt_good <= cnt_good + 1'b1;
    end
  end

  // All beats but the last are full, and keep is contiguous: else lengths mean nothing.
  `MH_ASSERT(a_full, !s_axis_tvalid || s_axis_tlast || (&s_axis_tkeep))
  `MH_ASSERT(a_keep, !s_axis_tvalid || (s_axis_tkeep[0] && (s_axis_tkeep & (s_axis_tkeep + 64'd1)) == 0))

endmodule

`default_nettype wire
