// SPDX-License-Identifier: Apache-2.0
// Requester, first half: takes work requests, checks them, cuts messages into packets at the path MTU.
//
// Intake: one beat a cycle; a request counts when its last beat is in. Three cycles later it is at the
// head of the checked queue. Segmenter: one cycle to load a request, then one packet a cycle while there
// is room: packet FIFO, read FIFO, transmit buffer, WQE table, PSN window (at most 2^23-1 outstanding).
// A refused request (malformed, too long, key) goes to the WQE table with its syndrome and stops the
// segmenter; later ones go there to be flushed. Order kept. Rules: README, "Requester".
`default_nettype none
`include "microhop_assert.svh"

module rdma_requester
  import microhop_pkg::*;
  import rdma_pkg::*;
#(
    parameter int WQ_DEPTH  = 8,    /// checked work requests
    parameter int INL_DEPTH = 32,   /// inline beats
    parameter int PKT_DEPTH = 128,  /// packets waiting for payload or line
    parameter int RDQ_DEPTH = 8,    /// packets waiting for their read
    parameter int TXB_DEPTH = 512,  /// transmit buffer, beats
    parameter int TAB_DEPTH = 64    /// WQEs not yet completed
) (
    input  wire              clk,            /// clock
    input  wire              rst,            /// synchronous reset, active high
    input  wire              open,           /// the queue pair can take work requests (RTS, or ERR to flush)
    input  wire              err,            /// the queue pair is in the error state
    input  wire [2:0]        pmtu,           /// path MTU code
    input  wire [23:0]       sq_psn,         /// first PSN, taken at reset
    input  wire [4*MR_W-1:0] mrs,            /// memory regions
    input  wire [4*65-1:0]   ends,           /// base + length of each
    input  wire [25:0]       una,            /// oldest PSN not acknowledged, extended
    input  wire              s_wr_tvalid,    /// work request
    output wire              s_wr_tready,    /// room for it
    input  wire [511:0]      s_wr_tdata,     /// inline data
    input  wire              s_wr_tkeep0,    /// the beat has bytes
    input  wire              s_wr_tlast,     /// last beat
    input  wire [WR_W-1:0]   s_wr_wr,        /// wr_t
    input  wire              inl_pop,        /// tx takes an inline beat
    output wire [511:0]      inl_data,       /// oldest inline beat
    output logic             pkt_push,       /// a packet for tx
    output wire [PKTD_W-1:0] pkt_data,       /// pktd_t
    input  wire [$clog2(PKT_DEPTH):0] pkt_count,  /// packets there
    output logic             rd_push,        /// a packet's read
    output wire [63:6]       rd_addr,        /// its first 64-byte line
    output wire [6:0]        rd_n_in,        /// memory beats
    output wire [REALIGN_W-1:0] rd_realign,  /// realign_t of its data
    input  wire [$clog2(RDQ_DEPTH):0] rdq_count,  /// reads waiting
    input  wire              txb_free,       /// tx took a beat from the transmit buffer
    output logic             tab_push,       /// an entry for the WQE table
    output wire [SQT_W-1:0]  tab_data,       /// sqt_t
    input  wire [$clog2(TAB_DEPTH):0] tab_count  /// entries there
);

  // ---- intake -------------------------------------------------------------------------------------
  logic [$clog2(WQ_DEPTH):0] wq_used;  // checked queue and the two stages before it
  wire  [$clog2(INL_DEPTH):0] inl_count;
  logic stop;  // a request was refused: nothing more is sent
  wire  wq_pop;

  assign s_wr_tready = open && wq_used < ($clog2(WQ_DEPTH) + 1)'(WQ_DEPTH) &&
      (stop || err || inl_count < ($clog2(INL_DEPTH) + 1)'(INL_DEPTH));

  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  wr_t w;
  /* verilator lint_on UNUSEDSIGNAL */
  assign w = s_wr_wr;
  wire take = s_wr_tvalid && s_wr_tready;
  wire take_last = take && s_wr_tlast;
  wire inl_push = take && w.is_inline && w.opcode != WQE_NOP && s_wr_tkeep0 && !stop && !err;

  sync_fifo #(
      .WIDTH(512),
      .DEPTH(INL_DEPTH)
  ) u_inl (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (inl_push),
      .wr_data(s_wr_tdata),
      .rd_en  (inl_pop),
      .rd_data(inl_data),
      .empty  (),
      .count  (inl_count)
  );

  logic v1, v2;
  /* verilator lint_off UNUSEDSIGNAL */  // the key has been checked where r2 is read
  wr_t  r1, r2;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [31:0] lm1;  // length - 1
  wire  key_ok;

  rdma_mr_check u_key (
      .clk (clk),
      .en  (v1),
      .mrs (mrs),
      .ends(ends),
      .key (r1.lkey),
      .addr(r1.laddr),
      .len (r1.length),
      .lw  (1'b0),
      .rw  (1'b0),
      .ok  (key_ok)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      v1 <= 1'b0;
      v2 <= 1'b0;
    end else begin
      v1 <= take_last;
      v2 <= v1;
    end
  end

  always_ff @(posedge clk) begin
    if (take_last) r1 <= s_wr_wr;
    if (v1) begin
      r2  <= r1;
      lm1 <= r1.length - 1'b1;
    end
  end

  wire known = r2.opcode == WQE_NOP || r2.opcode == WQE_WRITE || r2.opcode == WQE_WRITE_IMM ||
      r2.opcode == WQE_SEND || r2.opcode == WQE_SEND_IMM;
  wire nop = r2.opcode == WQE_NOP;
  sqe_t q_in;
  /* verilator lint_off UNUSEDSIGNAL */  // the address and length under way have registers of their own
  sqe_t q;
  /* verilator lint_on UNUSEDSIGNAL */
  assign q_in.opcode    = r2.opcode;
  assign q_in.wqe_index = r2.wqe_index;
  assign q_in.signaled  = r2.signaled;
  assign q_in.se        = r2.se;
  assign q_in.is_inline = r2.is_inline;
  assign q_in.status    = r2.error != 0 ? r2.error :
      !known ? CQE_SYN_LOC_QP_OP :
      nop ? 8'd0 :
      r2.length > 32'h8000_0000 ? CQE_SYN_LOC_LEN :
      !r2.is_inline && r2.length != 0 && !key_ok ? CQE_SYN_LOC_PROT : 8'd0;
  assign q_in.imm       = r2.imm;
  assign q_in.raddr     = r2.raddr;
  assign q_in.rkey      = r2.rkey;
  assign q_in.length    = r2.length;
  assign q_in.laddr     = r2.laddr;
  // ceil(length / PMTU) - 1, and 0 for an empty message
  assign q_in.npk_m1    = r2.length == 0 ? '0 : 24'(lm1 >> (4'd7 + 4'(pmtu)));

  wire wq_empty;
  wire [SQE_W-1:0] wq_data;
  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  sqe_t wq_head;
  /* verilator lint_on UNUSEDSIGNAL */
  assign wq_head = wq_data;
  sync_fifo #(
      .WIDTH(SQE_W),
      .DEPTH(WQ_DEPTH)
  ) u_wq (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (v2),
      .wr_data(q_in),
      .rd_en  (wq_pop),
      .rd_data(wq_data),
      .empty  (wq_empty),
      .count  ()
  );

  always_ff @(posedge clk) begin
    if (rst) wq_used <= '0;
    else wq_used <= wq_used + ($clog2(WQ_DEPTH) + 1)'(take_last) - ($clog2(WQ_DEPTH) + 1)'(wq_pop);
  end

  // ---- segmenter ----------------------------------------------------------------------------------
  logic act, first;
  logic [12:0] mtu;      // path MTU, bytes; constant outside reset
  logic [31:0] page_up;  // upper half of the message's first laddr, plus one: 2^31 bytes cross one multiple of 2^32
  logic [7:0] tab_ptr;   // number of the table's entry pushed next
  logic [31:0] rem;      // bytes left
  logic [63:0] laddr;    // next byte
  logic [25:0] psn;      // next PSN to give, extended by two bits
  logic [$clog2(TXB_DEPTH):0] txb_used;   // beats of the transmit buffer given to packets
  logic [$clog2(TXB_DEPTH):0] txb_limit;  // most of them that leave room; constant outside reset

  assign wq_pop = !act && !wq_empty;

  wire        fits  = rem <= 32'(mtu);  // this packet is the last
  wire [12:0] len   = fits ? rem[12:0] : mtu;
  wire [6:0]  n_out = 7'((len + 13'd63) >> 6);
  wire [6:0]  n_in  = 7'((len + 13'(laddr[5:0]) + 13'd63) >> 6);
  wire [32:0] low   = {1'b0, laddr[31:0]} + 33'(mtu);
  wire [25:0] used  = psn - una;

  wire is_send  = q.opcode == WQE_SEND || q.opcode == WQE_SEND_IMM;
  wire has_imm  = q.opcode == WQE_WRITE_IMM || q.opcode == WQE_SEND_IMM;
  wire is_nop   = q.opcode == WQE_NOP;
  wire fetch    = !q.is_inline && len != 0;
  wire local_end = q.status != 0 || is_nop || stop || err;  // no packet comes from this request

  wire tab_room = tab_count < ($clog2(TAB_DEPTH) + 1)'(TAB_DEPTH);
  wire pkt_room = pkt_count < ($clog2(PKT_DEPTH) + 1)'(PKT_DEPTH);
  wire win_room = used < 26'h7f_ffff;
  // Room for a packet of the path MTU, whatever this one's length.
  wire buf_room = txb_used <= txb_limit && rdq_count < ($clog2(RDQ_DEPTH) + 1)'(RDQ_DEPTH);

  wire [$clog2(TXB_DEPTH):0] txb_less = txb_used - ($clog2(TXB_DEPTH) + 1)'(txb_free);
  wire [$clog2(TXB_DEPTH):0] txb_more = txb_less + ($clog2(TXB_DEPTH) + 1)'(n_out);

  wire do_local = act && first && local_end && tab_room;
  wire do_drop  = act && !first && (stop || err);  // its entry stands in the table already
  wire do_pkt   = act && !(first && local_end) && !(stop || err) && (!first || tab_room) && pkt_room &&
      win_room && (!fetch || buf_room);

  assign pkt_push = do_pkt;
  assign rd_push  = do_pkt && fetch;
  assign tab_push = do_local || (do_pkt && first);

  pktd_t p;
  wire [7:0] base = is_send ? OP_SEND_FIRST : OP_WRITE_FIRST;
  wire with_reth = first && !is_send;
  assign p.opcode  = first && fits ? base + (has_imm ? 8'd5 : 8'd4) :
      first ? base : fits ? base + (has_imm ? 8'd3 : 8'd2) : base + 8'd1;
  assign p.se      = fits && q.se && (is_send || has_imm);
  assign p.ackreq  = fits;
  assign p.psn     = psn[23:0];
  assign p.va      = with_reth ? q.raddr : '0;
  assign p.rkey    = with_reth ? q.rkey : '0;
  assign p.dmalen  = with_reth ? q.length : '0;
  assign p.imm     = fits && has_imm ? q.imm : '0;
  assign p.len     = len;
  assign p.fetched = fetch;
  assign p.tab     = first ? tab_ptr : tab_ptr - 1'b1;
  assign pkt_data  = p;

  realign_t ra;
  assign ra.shift = {1'b0, laddr[5:0]};
  assign ra.skip  = 1'b1;
  assign ra.flush = n_in == n_out;
  assign ra.n_in  = n_in;
  assign rd_addr    = laddr[63:6];
  assign rd_n_in    = n_in;
  assign rd_realign = ra;

  sqt_t t;
  assign t.opcode    = q.opcode;
  assign t.wqe_index = q.wqe_index;
  assign t.signaled  = q.signaled;
  assign t.has_psn   = !local_end;
  assign t.status    = stop || err ? CQE_SYN_WR_FLUSH : q.status;
  assign t.last_psn  = psn + 26'(q.npk_m1);
  assign tab_data    = t;

  always_ff @(posedge clk) begin
    if (rst) begin
      act      <= 1'b0;
      first    <= 1'b1;
      stop     <= 1'b0;
      psn      <= {2'b00, sq_psn};
      tab_ptr  <= '0;
      txb_used <= '0;
      mtu      <= 13'd128 << pmtu;
      txb_limit <= ($clog2(TXB_DEPTH) + 1)'(TXB_DEPTH) - ($clog2(TXB_DEPTH) + 1)'(8'd2 << pmtu);
    end else begin
      if (wq_pop) begin
        act   <= 1'b1;
        first <= 1'b1;
      end else if (do_local || do_drop || (do_pkt && fits)) act <= 1'b0;
      if (do_pkt) begin
        first <= 1'b0;
        psn   <= psn + 1'b1;
      end
      if (do_local && q.status != 0) stop <= 1'b1;
      if (tab_push) tab_ptr <= tab_ptr + 1'b1;
      txb_used <= rd_push ? txb_more : txb_less;
    end
  end

  always_ff @(posedge clk) begin
    if (wq_pop) begin
      q     <= wq_data;
      rem   <= wq_head.length;
      laddr <= wq_head.laddr;
      page_up <= wq_head.laddr[63:32] + 1'b1;
    end else if (do_pkt) begin
      rem   <= rem - 32'(mtu);
      laddr <= {low[32] ? page_up : laddr[63:32], low[31:0]};
    end
  end

  // Buffer space given back was reserved before.
  `MH_ASSERT(a_txb, !(txb_free && txb_used == 0))
  `MH_NEVER_X(a_known, {s_wr_tready, pkt_push, rd_push, tab_push})

endmodule

`default_nettype wire
