// SPDX-License-Identifier: Apache-2.0
// Puts packets on m_pkt: acknowledge packets first, at packet boundaries, then request packets whose
// payload is whole, in PSN order. One beat a cycle into a two-entry output FIFO; no hole inside a packet
// while m_pkt_tready is high. After the queue pair is in error no request packet is started. A packet
// whose payload had a read error is not sent: `bad` names its WQE and everything behind it stays.
`default_nettype none
`include "microhop_assert.svh"

module rdma_tx
  import microhop_pkg::*;
  import rdma_pkg::*;
#(
    parameter int PKT_DEPTH = 128,  /// packets waiting
    parameter int OUT_DEPTH = 2     /// beats in the output FIFO
) (
    input  wire              clk,         /// clock
    input  wire              rst,         /// synchronous reset, active high
    input  wire [RDMA_CFG_W-1:0] cfg,     /// rdma_cfg_t
    input  wire              err,         /// the queue pair is in the error state
    input  wire              pkt_push,    /// a packet from the segmenter
    input  wire [PKTD_W-1:0] pkt_data,    /// pktd_t
    output wire [$clog2(PKT_DEPTH):0] pkt_count,  /// packets waiting
    input  wire [511:0]      inl_data,    /// oldest inline beat
    output wire              inl_pop,     /// taken
    input  wire [511:0]      txb_data,    /// oldest beat of the transmit buffer
    output wire              txb_pop,     /// taken
    input  wire              done_empty,  /// no fetched packet is whole
    input  wire              done_err,    /// the oldest whole one had a read error
    output wire              done_pop,    /// taken
    input  wire              ans_valid,   /// an acknowledge packet waits
    input  wire [ANS_W-1:0]  ans,         /// ans_t
    output wire              ans_pop,     /// taken
    output wire              sent,        /// a request packet's first beat goes into the output FIFO
    output wire [23:0]       sent_psn,    /// its PSN
    output wire              sent_ackreq, /// its acknowledge request
    output logic             bad,         /// a packet had a read error
    output logic [7:0]       bad_tab,     /// number of its WQE in the table
    output wire              m_pkt_tvalid,  /// packets out
    input  wire              m_pkt_tready,  /// taken
    output wire [511:0]      m_pkt_tdata,   /// payload, bytes beyond tkeep are 0
    output wire [63:0]       m_pkt_tkeep,   /// valid bytes
    output wire              m_pkt_tlast,   /// last beat
    output wire [HDR_W-1:0]  m_pkt_hdr      /// hdr_t, held to the last beat
);

  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  rdma_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  wire pkt_empty, pkt_pop;
  wire [PKTD_W-1:0] pkt_head;
  pktd_t p;
  assign p = pkt_head;

  sync_fifo #(
      .WIDTH(PKTD_W),
      .DEPTH(PKT_DEPTH)
  ) u_pkt (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (pkt_push),
      .wr_data(pkt_data),
      .rd_en  (pkt_pop),
      .rd_data(pkt_head),
      .empty  (pkt_empty),
      .count  (pkt_count)
  );

  wire [$clog2(OUT_DEPTH):0] out_count;
  logic mid;           // inside a packet
  logic [6:0] done_n;  // beats of it pushed

  wire room = out_count < ($clog2(OUT_DEPTH) + 1)'(OUT_DEPTH);
  wire ready = !pkt_empty && !err && !bad && (!p.fetched || !done_empty);
  wire give_ans = room && !mid && ans_valid;
  wire see_bad = room && !mid && !ans_valid && ready && p.fetched && done_err;
  wire start = room && !mid && !ans_valid && ready && !(p.fetched && done_err);
  wire beat = start || (room && mid);
  wire [6:0] beats = p.len == 0 ? 7'd1 : 7'((p.len + 13'd63) >> 6);
  wire last = done_n + 1'b1 == beats;

  assign pkt_pop     = beat && last;
  assign ans_pop     = give_ans;
  assign done_pop    = start && p.fetched;
  assign txb_pop     = beat && p.fetched;
  assign inl_pop     = beat && !p.fetched && p.len != 0;
  assign sent        = start;
  assign sent_psn    = p.psn;
  assign sent_ackreq = p.ackreq;

  always_ff @(posedge clk) begin
    if (rst) begin
      mid    <= 1'b0;
      done_n <= '0;
      bad    <= 1'b0;
    end else begin
      if (beat) begin
        mid    <= !last;
        done_n <= last ? '0 : done_n + 1'b1;
      end
      if (see_bad) bad <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (see_bad) bad_tab <= p.tab;
  end

  ans_t a;
  assign a = ans;
  hdr_t h;
  assign h.dst      = c.dst;
  assign h.src      = c.src;
  assign h.opcode   = give_ans ? OP_ACKNOWLEDGE : p.opcode;
  assign h.se       = !give_ans && p.se;
  assign h.mig      = 1'b0;
  assign h.pkey     = c.pkey;
  assign h.fecn     = 1'b0;
  assign h.becn     = 1'b0;
  assign h.dest_qp  = c.dest_qpn;
  assign h.ackreq   = !give_ans && p.ackreq;
  assign h.psn      = give_ans ? a.psn : p.psn;
  assign h.va       = give_ans ? '0 : p.va;
  assign h.rkey     = give_ans ? '0 : p.rkey;
  assign h.dmalen   = give_ans ? '0 : p.dmalen;
  assign h.imm      = give_ans ? '0 : p.imm;
  assign h.syndrome = give_ans ? a.syndrome : '0;
  assign h.msn      = give_ans ? a.msn : '0;
  assign h.len      = give_ans ? '0 : p.len;

  wire [5:0] tail = p.len[5:0];  // bytes of the last beat, 0: all 64
  wire none = give_ans || p.len == 0;
  wire [63:0] keep = none ? '0 : last && tail != 0 ? ~(64'hffff_ffff_ffff_ffff << tail) : '1;
  wire [511:0] raw = p.fetched ? txb_data : inl_data;
  wire [511:0] data;
  for (genvar i = 0; i < 64; i++) begin : g_mask
    assign data[8*i+:8] = keep[i] ? raw[8*i+:8] : 8'h00;
  end

  wire out_empty;
  sync_fifo #(
      .WIDTH(512 + 64 + 1 + HDR_W),
      .DEPTH(OUT_DEPTH)
  ) u_out (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (give_ans || beat),
      .wr_data({h, give_ans || last, keep, data}),
      .rd_en  (m_pkt_tvalid && m_pkt_tready),
      .rd_data({m_pkt_hdr, m_pkt_tlast, m_pkt_tkeep, m_pkt_tdata}),
      .empty  (out_empty),
      .count  (out_count)
  );
  assign m_pkt_tvalid = !out_empty;

  // An acknowledge packet inside a request packet would tear it.
  `MH_ASSERT(a_boundary, !(give_ans && mid))
  `MH_NEVER_X(a_known, {m_pkt_tvalid, sent, ans_pop})

endmodule

`default_nettype wire
