// SPDX-License-Identifier: Apache-2.0
// Packet to frame: LRH BTH .. payload pad ICRC VCRC (native) or Ethernet IPv4 UDP BTH .. payload pad
// ICRC [padding] FCS (RoCEv2). One 64-byte beat a cycle.
//
//   s_pkt -> wire_tx_form -> delay ------------------> insert -> FIFO -> m_axis
//                        \-> wire_tx_crc -> CRC words -^
//
// Latency: 10 cycles, first packet beat taken to first frame beat offered (spec: latency.wire). The
// pipeline has no stall; the FIFO behind it has room for what is taken (wire_tx_form). Frames leave in
// the order of the packets.
`default_nettype none
`include "microhop_assert.svh"

module wire_tx
  import microhop_pkg::*;
  import spec_pkg::*;
  import wire_pkg::*;
#(
    parameter int FIFO_BEATS = LATENCY_WIRE_TX_FIFO_BEATS  /// output FIFO: a power of two above FRAME_MAX_BEATS, below 256
) (
    input  wire                   clk,            /// clock
    input  wire                   rst,            /// synchronous reset, active high
    input  wire  [WIRE_CFG_W-1:0] cfg,            /// wire_cfg_t, constant while packets flow
    input  wire                   s_pkt_tvalid,   /// packet beat offered
    output wire                   s_pkt_tready,   /// packet beat taken
    input  wire  [511:0]          s_pkt_tdata,    /// payload
    input  wire  [63:0]           s_pkt_tkeep,    /// payload bytes; 0 on a packet without payload
    input  wire                   s_pkt_tlast,    /// last beat of the packet
    input  wire  [HDR_W-1:0]      s_pkt_hdr,      /// hdr_t, read with the first beat
    output logic                  m_axis_tvalid,  /// frame beat offered
    input  wire                   m_axis_tready,  /// frame beat taken
    output logic [511:0]          m_axis_tdata,   /// frame, first byte in the lowest bits
    output logic [63:0]           m_axis_tkeep,   /// valid bytes, all but in a last beat
    output logic                  m_axis_tlast    /// last beat of the frame
);

  localparam int STAGES = 5;  // formed beat to CRC words

  /* verilator lint_off UNUSEDSIGNAL */  // only the format matters here; wire_tx_form uses the rest
  wire_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  logic pop;
  assign pop = m_axis_tvalid && m_axis_tready;

  // ---- form ------------------------------------------------------------------------------------------
  wire          f_valid, f_first, f_body, f_end, f_last, f_eth_pad;
  wire  [511:0] f_data;
  wire  [4:0]   f_end_word;
  wire  [3:0]   f_zero_words, f_last_word;

  wire_tx_form #(.FIFO_BEATS(FIFO_BEATS)) u_form (
      .clk, .rst, .cfg,
      .s_pkt_tvalid, .s_pkt_tready, .s_pkt_tdata, .s_pkt_tkeep, .s_pkt_tlast, .s_pkt_hdr,
      .pop,
      .m_valid(f_valid), .m_data(f_data), .m_first(f_first), .m_body(f_body), .m_end(f_end),
      .m_last(f_last), .m_end_word(f_end_word), .m_zero_words(f_zero_words),
      .m_last_word(f_last_word), .m_eth_pad(f_eth_pad)
  );

  // ---- CRCs ------------------------------------------------------------------------------------------
  wire [95:0] words;

  wire_tx_crc u_crc (
      .clk, .rst, .roce(c.roce),
      .valid(f_valid && f_body), .data(f_data), .first(f_first), .ends(f_end),
      .zero_words(f_zero_words), .eth_pad(f_eth_pad), .words
  );

  // ---- delay beside the CRCs -----------------------------------------------------------------------
  logic [STAGES:1] v;
  // {content ends here, behind the content, last beat, padded frame, end word, last word}
  wire  [12:0] f_tags = {f_end, !f_body, f_last, f_eth_pad, f_end_word, f_last_word};
  wire  [511:0] data5;
  wire  [12:0] tags5;

  always_ff @(posedge clk) begin
    if (rst) v <= '0;
    else v <= {v[STAGES-1:1], f_valid};
  end

  for (genvar i = 1; i <= STAGES; i++) begin : g_delay
    logic [511:0] d;
    logic [12:0]  t;
    if (i == 1) begin : g_in
      always_ff @(posedge clk) if (f_valid) {t, d} <= {f_tags, f_data};
    end else begin : g_in
      always_ff @(posedge clk) if (v[i-1]) {t, d} <= {g_delay[i-1].t, g_delay[i-1].d};
    end
  end

  assign data5 = g_delay[STAGES].d;
  assign tags5 = g_delay[STAGES].t;

  // ---- insert ----------------------------------------------------------------------------------------
  wire          ends5, behind5, last5, pad5;
  wire  [4:0]   word5;
  wire  [3:0]   tail5;
  assign {ends5, behind5, last5, pad5, word5, tail5} = tags5;

  // First CRC word to word w of the beat in which the content ends: bit w of hot5. The words may reach
  // over the beat's end: in the beat behind, only what lies beyond word 15 is left of them, the words
  // behind one that was put at 14 or 15 included. Bit w + 2 of at5: a first CRC word at w.
  wire  [31:0]  hot5 = (ends5 || behind5) ? 32'h1 << word5 : 32'h0;
  wire  [17:0]  at5  = behind5 ? {hot5[31:16], hot5[15:14]} : {hot5[15:0], 2'b00};
  logic         v6, last6;
  logic [511:0] data6;
  logic [63:0]  keep6;

  always_ff @(posedge clk) begin
    if (rst) v6 <= 1'b0;
    else v6 <= v[STAGES];
    if (v[STAGES]) begin
      for (int w = 0; w < 16; w++)
        data6[w*32+:32] <= data5[w*32+:32] | ({32{at5[w+2]}} & words[31:0])
            | ({32{at5[w+1]}} & words[63:32]) | ({32{at5[w]}} & words[95:64]);
      for (int i = 0; i < 64; i++) keep6[i] <= !last5 || pad5 || i < 32'({tail5, 2'b10});
      last6 <= last5;
    end
  end

  // ---- output FIFO -----------------------------------------------------------------------------------
  wire_out_fifo #(.DEPTH(FIFO_BEATS)) u_fifo (
      .clk, .rst,
      .s_valid(v6), .s_data({last6, keep6, data6}),
      .m_valid(m_axis_tvalid), .m_ready(m_axis_tready),
      .m_data({m_axis_tlast, m_axis_tkeep, m_axis_tdata})
  );

  `MH_NEVER_X(a_known, m_axis_tvalid)
  `MH_NEVER_X(a_known_data, m_axis_tvalid ? ^{m_axis_tdata, m_axis_tkeep, m_axis_tlast} : 1'b0)

endmodule

`default_nettype wire
