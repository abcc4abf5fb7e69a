// SPDX-License-Identifier: Apache-2.0
// Read side: takes the packets' reads, asks memory for them (one burst a cycle, cut at 4 KiB), realigns
// the answers and stores them in the transmit buffer; `done` has one word for each packet whose payload
// is whole: 1 when memory reported an error in it.
// The receive queue's reads share the address channel and go first. Read data always has its place
// reserved: m_axi_rready is always 1.
// A read burst is cut so that it never crosses 4 KiB; addresses are rounded down to 64 B.
`default_nettype none
`include "microhop_assert.svh"

module rdma_payload
  import rdma_pkg::*;
#(
    parameter int PKT_DEPTH = 128,  /// packets whose data is awaited or waits
    parameter int RDQ_DEPTH = 8,    /// packets waiting for their read
    parameter int TXB_DEPTH = 512,  /// transmit buffer, beats, a power of two
    parameter int AR_DEPTH  = 4     /// read addresses waiting for the bus
) (
    input  wire         clk,            /// clock
    input  wire         rst,            /// synchronous reset, active high
    input  wire         rd_push,        /// a packet's read
    input  wire  [63:6] rd_addr,        /// its first 64-byte line
    input  wire  [6:0]  rd_n_in,        /// memory beats
    input  wire  [REALIGN_W-1:0] rd_realign,  /// realign_t of its data
    output wire  [$clog2(RDQ_DEPTH):0] rdq_count,  /// reads waiting
    input  wire         rq_valid,       /// the receive queue wants a read (one beat)
    input  wire  [63:0] rq_addr,        /// its address, 64-byte aligned
    output wire         rq_take,        /// taken at this edge
    output wire  [3:0]  m_axi_arid,     /// 1 payload, 2 receive queue
    output wire  [63:0] m_axi_araddr,   /// 64-byte aligned
    output wire  [7:0]  m_axi_arlen,    /// beats less one
    output wire         m_axi_arvalid,  /// address offered
    input  wire         m_axi_arready,  /// address taken
    input  wire  [3:0]  m_axi_rid,      /// whose data
    input  wire [511:0] m_axi_rdata,    /// data
    input  wire  [1:0]  m_axi_rresp,    /// 0: good
    input  wire         m_axi_rvalid,   /// data offered
    output wire         m_axi_rready,   /// always 1
    input  wire         txb_pop,        /// tx takes a beat
    output wire [511:0] txb_data,       /// oldest beat of the transmit buffer
    output wire         done_empty,     /// no packet is whole
    output wire         done_err,       /// the oldest whole packet had a read error
    input  wire         done_pop        /// tx takes it
);

  localparam logic [3:0] ID_PAYLOAD = 4'd1;
  localparam logic [3:0] ID_RQ = 4'd2;

  // ---- addresses ----------------------------------------------------------------------------------
  wire rdq_empty, ar_room;
  wire [63:6] head_addr;
  wire [6:0] head_n;
  logic second;  // the head's first burst has been asked for
  wire [$clog2(AR_DEPTH):0] ar_count;

  assign ar_room = ar_count < ($clog2(AR_DEPTH) + 1)'(AR_DEPTH);
  assign rq_take = rq_valid && ar_room;

  wire [6:0] to_edge = 7'd64 - {1'b0, head_addr[11:6]};  // beats before the 4 KiB boundary
  wire cut = head_n > to_edge;
  wire pay_push = !rq_valid && !rdq_empty && ar_room;
  wire rdq_pop = pay_push && (second || !cut);
  wire [63:0] pay_addr = second ? {head_addr[63:12] + 1'b1, 12'b0} : {head_addr[63:6], 6'b0};
  wire [6:0] pay_n = second ? head_n - to_edge : cut ? to_edge : head_n;

  sync_fifo #(
      .WIDTH(65),
      .DEPTH(RDQ_DEPTH)
  ) u_rdq (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (rd_push),
      .wr_data({rd_addr, rd_n_in}),
      .rd_en  (rdq_pop),
      .rd_data({head_addr, head_n}),
      .empty  (rdq_empty),
      .count  (rdq_count)
  );

  wire ar_empty;
  sync_fifo #(
      .WIDTH(76),
      .DEPTH(AR_DEPTH)
  ) u_ar (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (rq_take || pay_push),
      .wr_data(rq_valid ? {ID_RQ, rq_addr, 8'd0} : {ID_PAYLOAD, pay_addr, 8'(pay_n) - 8'd1}),
      .rd_en  (m_axi_arvalid && m_axi_arready),
      .rd_data({m_axi_arid, m_axi_araddr, m_axi_arlen}),
      .empty  (ar_empty),
      .count  (ar_count)
  );
  assign m_axi_arvalid = !ar_empty;

  always_ff @(posedge clk) begin
    if (rst) second <= 1'b0;
    else if (pay_push) second <= cut && !second;
  end

  // ---- data ---------------------------------------------------------------------------------------
  wire ra_empty, want_in, in_last, want_flush, out_en, ra_last;
  wire [REALIGN_W-1:0] ra_cmd;
  wire [511:0] out_data;
  wire in_en = m_axi_rvalid && m_axi_rid == ID_PAYLOAD;
  wire finish = out_en && ra_last;
  wire start = !ra_empty && (!want_in || (in_en && in_last));

  assign m_axi_rready = 1'b1;

  // Written beside the packet FIFO, so never more than PKT_DEPTH of them.
  sync_fifo #(
      .WIDTH(REALIGN_W),
      .DEPTH(PKT_DEPTH)
  ) u_ra (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (rd_push),
      .wr_data(rd_realign),
      .rd_en  (start),
      .rd_data(ra_cmd),
      .empty  (ra_empty),
      .count  ()
  );

  rdma_realign u_realign (
      .clk       (clk),
      .rst       (rst),
      .start     (start),
      .cmd       (ra_cmd),
      .in_en     (in_en),
      .in_data   (m_axi_rdata),
      .fl_en     (want_flush),
      .want_in   (want_in),
      .in_last   (in_last),
      .want_flush(want_flush),
      .last      (ra_last),
      .out_en    (out_en),
      .out_data  (out_data)
  );

  sync_fifo #(
      .WIDTH(512),
      .DEPTH(TXB_DEPTH)
  ) u_txb (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (out_en),
      .wr_data(out_data),
      .rd_en  (txb_pop),
      .rd_data(txb_data),
      .empty  (),
      .count  ()
  );

  // A flush step may share its cycle with the next packet's first beat, whose response is not its own.
  wire  r_err = in_en && m_axi_rresp != 0;
  logic bad;  // an earlier beat of the packet that is finished next was bad
  wire  bad_now = bad || (r_err && !want_flush);

  always_ff @(posedge clk) begin
    if (rst) bad <= 1'b0;
    else if (finish) bad <= r_err && want_flush;
    else bad <= bad || r_err;
  end

  sync_fifo #(
      .WIDTH(1),
      .DEPTH(PKT_DEPTH)
  ) u_done (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (finish),
      .wr_data(bad_now),
      .rd_en  (done_pop),
      .rd_data(done_err),
      .empty  (done_empty),
      .count  ()
  );

  `MH_NEVER_X(a_known, {m_axi_arvalid, m_axi_rready, done_empty})

endmodule

`default_nettype wire
