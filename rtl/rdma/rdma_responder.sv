// SPDX-License-Identifier: Apache-2.0
// Takes packets from the wire, checks them in the specification's order, and decides: execute,
// acknowledge again, refuse, drop; hands responses to the requester's half.
//
// Four cycles a packet: LOAD the header (visible one cycle after its first beat was accepted), A look at it,
// B combine (and, when a receive WQE is needed and not at hand, fetch one and look again), C decide: what
// is to be done goes to the DMA write and to the retire queue, state changes, next header. C waits for
// room in those two, which depend on memory only, never on the transmit side.
// Rules: README, "Responder". Over 400 lines: one state machine and the checks that share its registers.
`default_nettype none
`include "microhop_assert.svh"

module rdma_responder
  import microhop_pkg::*;
  import rdma_pkg::*;
#(
    parameter int HDR_DEPTH = 16,  /// packets waiting
    parameter int PAY_DEPTH = 64,  /// payload beats waiting
    parameter int CMD_DEPTH = 8,   /// payloads waiting for the DMA write
    parameter int RET_DEPTH = 64   /// packets waiting for memory
) (
    input  wire              clk,          /// clock
    input  wire              rst,          /// synchronous reset, active high
    input  wire [RDMA_CFG_W-1:0] cfg,      /// rdma_cfg_t
    input  wire [4*MR_W-1:0] mrs,          /// memory regions
    input  wire [4*65-1:0]   ends,         /// base + length of each
    input  wire              err,          /// the queue pair is in the error state
    input  wire              s_pkt_tvalid, /// packets in, whole and good
    output wire              s_pkt_tready, /// room for a beat
    input  wire [511:0]      s_pkt_tdata,  /// payload
    input  wire              s_pkt_tkeep0, /// the beat has bytes
    input  wire              s_pkt_tlast,  /// last beat
    input  wire [HDR_W-1:0]  s_pkt_hdr,    /// hdr_t
    output wire              pay_empty,    /// no payload beat waits
    output wire [511:0]      pay_data,     /// oldest payload beat
    input  wire              pay_pop,      /// taken
    output logic             cmd_push,     /// payload for the DMA write
    output wire [WCMD_W-1:0] cmd_data,     /// wcmd_t
    input  wire [$clog2(CMD_DEPTH):0] cmd_count,  /// waiting there
    output wire              ret_push,     /// entry for the retire queue
    output wire [RET_W-1:0]  ret_data,     /// ret_t
    input  wire [$clog2(RET_DEPTH):0] ret_count,  /// waiting there
    input  wire              nak_sent,     /// tx took the NAK that was pending
    output wire              fatal,        /// move the queue pair to the error state
    output wire              resp_valid,   /// a response for the requester
    output wire              resp_ack,     /// it is an ACKNOWLEDGE
    output wire [23:0]       resp_psn,     /// its PSN
    output wire [7:0]        resp_syn,     /// its syndrome
    output wire              rq_valid,     /// receive queue: read wanted
    output wire [63:0]       rq_addr,      /// its address
    input  wire              rq_take,      /// taken
    input  wire              r_valid,      /// receive queue: read data
    input  wire [511:0]      r_data,       /// data
    input  wire              r_bad,        /// its response is an error
    output logic [23:0]      epsn,         /// PSN expected next
    output wire              drop_admit,   /// a packet is dropped: not for this queue pair
    output wire              drop_state,   /// dropped: state of the queue pair
    output wire              drop_seq      /// dropped: ahead again, or an old request that is not acknowledged
);

  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  rdma_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  // ---- input --------------------------------------------------------------------------------------
  wire [$clog2(HDR_DEPTH):0] hdr_count;
  wire [$clog2(PAY_DEPTH):0] pay_count;
  wire hdr_empty, hdr_pop;
  wire [HDR_W-1:0] hdr_head;
  logic sof;
  wire take = s_pkt_tvalid && s_pkt_tready;

  assign s_pkt_tready = !rst && hdr_count < ($clog2(HDR_DEPTH) + 1)'(HDR_DEPTH) &&
      pay_count < ($clog2(PAY_DEPTH) + 1)'(PAY_DEPTH);

  always_ff @(posedge clk) begin
    if (rst) sof <= 1'b1;
    else if (take) sof <= s_pkt_tlast;
  end

  sync_fifo #(
      .WIDTH(HDR_W),
      .DEPTH(HDR_DEPTH)
  ) u_hdr (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (take && sof),
      .wr_data(s_pkt_hdr),
      .rd_en  (hdr_pop),
      .rd_data(hdr_head),
      .empty  (hdr_empty),
      .count  (hdr_count)
  );

  sync_fifo #(
      .WIDTH(512),
      .DEPTH(PAY_DEPTH)
  ) u_pay (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (take && s_pkt_tkeep0),
      .wr_data(s_pkt_tdata),
      .rd_en  (pay_pop),
      .rd_data(pay_data),
      .empty  (pay_empty),
      .count  (pay_count)
  );

  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  hdr_t h, h_in;
  /* verilator lint_on UNUSEDSIGNAL */
  assign h_in = hdr_head;

  // ---- receive queue ------------------------------------------------------------------------------
  wire rq_done, rq_have, rq_posted, rq_bad, rq_fetch, rq_consume;
  wire [15:0] rq_ci;
  wire [31:0] rq_bytes, rq_lkey;
  wire [63:0] rq_va;

  rdma_rq u_rq (
      .clk     (clk),
      .rst     (rst),
      .cfg     (cfg),
      .fetch   (rq_fetch),
      .done    (rq_done),
      .consume (rq_consume),
      .have    (rq_have),
      .posted  (rq_posted),
      .bad     (rq_bad),
      .ci      (rq_ci),
      .byte_cnt(rq_bytes),
      .lkey    (rq_lkey),
      .addr    (rq_va),
      .rq_valid(rq_valid),
      .rq_addr (rq_addr),
      .rq_take (rq_take),
      .r_valid (r_valid),
      .r_data  (r_data),
      .r_bad   (r_bad)
  );

  // ---- state --------------------------------------------------------------------------------------
  localparam logic [2:0] LOAD = 3'd0, A = 3'd1, B = 3'd2, C = 3'd3, FETCH = 3'd4, FLUSH_READ = 3'd5, FLUSH = 3'd6;
  localparam logic [1:0] IDLE = 2'd0, IN_SEND = 2'd1, IN_WRITE = 2'd2;

  logic [2:0] state;
  logic [1:0] msg;         // message under way
  logic [63:0] cur_addr;   // its next byte's address
  logic [31:0] rem;        // bytes it may still bring
  logic [31:0] got;        // bytes it has brought
  logic [31:0] cur_lkey;   // SEND: key of its receive WQE
  logic [15:0] cur_wqe;    // SEND: index of its receive WQE
  logic nak_mem;           // a NAK for this gap was sent: no other before the expected PSN arrives
  logic nak_busy;          // a NAK that is not fatal waits to be sent
  logic fetched;           // this packet has had its fetch
  logic flushed;           // the receive queue was flushed

  // ---- LOAD ---------------------------------------------------------------------------------------
  wire in_send = h_in.opcode <= OP_SEND_ONLY_IMM;
  wire [7:0] kind = in_send ? h_in.opcode : h_in.opcode - OP_WRITE_FIRST;  // 0 first 1 middle 2,3 last 4,5 only
  logic is_send, is_write, is_first, is_mid, is_last, is_only, is_imm, starts;

  always_ff @(posedge clk) begin
    if (state == LOAD && !hdr_empty) begin
      h        <= hdr_head;
      is_send  <= in_send;
      is_write <= h_in.opcode >= OP_WRITE_FIRST && h_in.opcode <= OP_WRITE_ONLY_IMM;
      is_first <= kind == 8'd0;
      is_mid   <= kind == 8'd1;
      is_last  <= kind == 8'd2 || kind == 8'd3;
      is_only  <= kind == 8'd4 || kind == 8'd5;
      is_imm   <= kind == 8'd3 || kind == 8'd5;
      starts   <= kind == 8'd0 || kind == 8'd4 || kind == 8'd5;
    end
  end

  // ---- A: look ------------------------------------------------------------------------------------

  wire [23:0] d = h.psn - epsn;
  wire pkey_ok = h.pkey[14:0] == c.pkey[14:0] && h.pkey[14:0] != 0 && (h.pkey[15] || c.pkey[15]);
  wire [12:0] mtu = 13'd128 << c.pmtu;
  wire [31:0] limit = !starts ? rem : is_send ? rq_bytes : h.dmalen;
  /* verilator lint_off UNUSEDSIGNAL */  // 32 bits and their sign
  wire [64:0] left = add64({32'b0, limit}, ~64'(h.len), 1'b1);
  /* verilator lint_on UNUSEDSIGNAL */
  wire [63:0] addr = !starts ? cur_addr : is_send ? rq_va : h.va;

  // Registers of A.
  logic a_admit, a_state, a_resp, a_ack, a_zero, a_ahead, a_known, a_send, a_write, a_last,
      a_imm, a_starts, a_seq, a_need, a_have, a_size, a_fit, a_equal, a_huge, a_data, a_nokey;
  logic [63:0] a_addr;
  logic [31:0] a_left, c_got;

  wire key_ok;
  rdma_mr_check u_key (
      .clk (clk),
      .en  (state == A),
      .mrs (mrs),
      .ends(ends),
      .key (is_send ? (starts ? rq_lkey : cur_lkey) : h.rkey),
      .addr(addr),
      .len (is_send ? 32'(h.len) : h.dmalen),
      .lw  (is_send),
      .rw  (!is_send),
      .ok  (key_ok)
  );

  always_ff @(posedge clk) begin
    if (state == A) begin
      a_admit  <= h.opcode[7:5] == 3'b000 && h.dest_qp == c.qpn && h.dest_qp != 0 && h.src == c.dst &&
          h.dst == c.src && pkey_ok;
      a_resp   <= h.opcode >= OP_READ_RESP_FIRST && h.opcode <= OP_ATOMIC_ACK;
      a_ack    <= h.opcode == OP_ACKNOWLEDGE;
      a_state  <= c.state == QP_RTS || (c.state == QP_RTR &&
          !(h.opcode >= OP_READ_RESP_FIRST && h.opcode <= OP_ATOMIC_ACK));
      a_zero   <= d == 0;
      a_ahead  <= d != 0 && !d[23];
      a_known  <= is_send || is_write;
      a_send   <= is_send;
      a_write  <= is_write;
      a_last   <= is_last || is_only;
      a_imm    <= is_imm;
      a_starts <= starts;
      a_seq    <= msg == IDLE ? starts : (msg == IN_SEND ? is_send : is_write) && !starts;
      a_need   <= is_send ? starts : is_imm;
      a_have   <= rq_have;
      a_size   <= is_first || is_mid ? h.len == mtu : h.len <= mtu && !(is_last && h.len == 0);
      a_fit    <= left[64];
      a_equal  <= limit == 32'(h.len);
      a_huge   <= starts && h.dmalen > 32'h8000_0000;
      a_data   <= h.len != 0;
      a_nokey  <= is_send ? h.len == 0 : !starts || h.dmalen == 0;
      a_addr   <= addr;
      a_left   <= left[31:0];
    end
  end

  // ---- B: combine ---------------------------------------------------------------------------------
  // Sequence and kind of the opcode come before resources, length after them.
  wire b_invalid = !a_known || !a_seq || (a_write && !c.remote_write);
  wire b_expected = a_admit && a_state && !a_resp && a_zero;
  wire b_fetch = b_expected && !b_invalid && a_need && !a_have && !fetched && !err;
  wire [12:0] end_off = 13'(a_addr[5:0]) + h.len;
  wire [6:0] to_edge = 7'd64 - {1'b0, a_addr[11:6]};
  wire [6:0] n_out = 7'((end_off + 13'd63) >> 6);

  logic [32:0] c_low;   // next byte's address: lower half and its carry
  logic [31:0] c_up;    // upper half plus one
  logic c_invalid, c_length, c_key, c_two;
  logic [6:0] c_n_in, c_n_out, c_n_first;

  always_ff @(posedge clk) begin
    if (state == B) begin
      c_invalid <= b_invalid;
      c_length  <= !a_size || (a_write && a_huge) || (a_write && a_last ? !a_equal : !a_fit);
      c_key     <= !a_nokey && !key_ok;
      c_low     <= {1'b0, a_addr[31:0]} + 33'(h.len);
      c_up      <= a_addr[63:32] + 1'b1;
      c_got     <= (a_starts ? 32'd0 : got) + 32'(h.len);
      c_n_in    <= 7'((h.len + 13'd63) >> 6);
      c_n_out   <= n_out;
      c_two     <= n_out > to_edge;
      c_n_first <= n_out > to_edge ? to_edge : n_out;
    end
  end

  // ---- C: decide ----------------------------------------------------------------------------------
  wire room = cmd_count < ($clog2(CMD_DEPTH) + 1)'(CMD_DEPTH) && ret_count < ($clog2(RET_DEPTH) + 1)'(RET_DEPTH);
  wire decide = state == C && room;
  wire live = decide && !err && a_admit && a_state;
  wire expected = live && !a_resp && a_zero;
  wire lack = a_need && !a_have;  // after its fetch
  wire no_wqe = lack && !rq_bad;

  wire do_resp  = live && a_resp;
  wire do_ahead = live && !a_resp && a_ahead;
  wire do_dup   = live && !a_resp && !a_zero && !a_ahead;
  wire x_inv    = expected && c_invalid;
  wire x_rqbad  = expected && !c_invalid && lack && rq_bad;
  wire x_rnr    = expected && !c_invalid && no_wqe;
  wire x_len    = expected && !c_invalid && !lack && c_length;
  wire x_key    = expected && !c_invalid && !lack && !c_length && c_key;
  wire x_go     = expected && !c_invalid && !lack && !c_length && !c_key;

  wire say_seq = do_ahead && !nak_mem && !nak_busy;
  wire say_rnr = x_rnr && !nak_busy;
  wire say_dup = do_dup && a_known;

  assign fatal      = x_inv || x_rqbad || x_len || x_key;
  assign resp_valid = do_resp;
  assign resp_ack   = a_ack;
  assign resp_psn   = h.psn;
  assign resp_syn   = h.syndrome;
  assign hdr_pop    = decide;
  assign drop_admit = decide && !a_admit;
  assign drop_state = decide && a_admit && (err || !a_state);
  assign drop_seq   = (do_ahead && !say_seq) || (x_rnr && !say_rnr) || (do_dup && !say_dup);

  // A receive WQE that a failing packet uses completes in error: the one of the SEND under way, or the
  // one that this packet would have started.
  wire send_wqe = x_rqbad || msg == IN_SEND || (a_send && a_starts && (x_len || x_key));
  wire flush_one = state == FLUSH_READ && msg == IN_SEND && ret_count < ($clog2(RET_DEPTH) + 1)'(RET_DEPTH);
  wire flush_all = state == FLUSH && rq_posted && !rq_bad && ret_count < ($clog2(RET_DEPTH) + 1)'(RET_DEPTH);
  wire flushing = flush_one || flush_all;

  ret_t r;
  assign r.answer   = fatal || say_seq || say_rnr || say_dup || (x_go && h.ackreq);
  assign r.syndrome = x_inv || x_len ? SYN_NAK_INVALID :
      x_key ? (a_send ? SYN_NAK_OP : SYN_NAK_ACCESS) :
      x_rqbad ? SYN_NAK_OP :
      say_seq ? SYN_NAK_PSN :
      say_rnr ? SYN_RNR | 8'(c.min_rnr) : SYN_ACK_NO_CREDIT;
  assign r.psn      = say_seq ? epsn : say_dup ? epsn - 1'b1 : h.psn;
  assign r.nb       = !x_go || !a_data ? 2'd0 : c_two ? 2'd2 : 2'd1;
  assign r.msn_inc  = x_go && a_last;
  assign r.cqe      = flushing || (fatal && send_wqe) || (x_go && a_last && (a_send || a_imm));
  assign r.cqe_op   = flushing || fatal ? CQE_RESP_ERR :
      a_write ? CQE_RESP_WR_IMM : a_imm ? CQE_RESP_SEND_IMM : CQE_RESP_SEND;
  assign r.cqe_syn  = flushing ? CQE_SYN_WR_FLUSH :
      x_rqbad ? CQE_SYN_LOC_QP_OP :
      x_key ? CQE_SYN_LOC_PROT :
      x_len && a_size ? CQE_SYN_LOC_LEN :
      fatal ? CQE_SYN_REM_INV_REQ : 8'd0;
  assign r.wqe_used = x_go && (a_send || a_need);
  assign r.wqe      = flush_all || (a_need && !flush_one && !x_inv) ? rq_ci : cur_wqe;
  assign r.byte_cnt = flushing || fatal ? '0 : c_got;
  assign r.imm      = flushing || fatal || !a_imm ? '0 : h.imm;
  assign r.se       = !flushing && !fatal && h.se;
  assign ret_data   = r;
  assign ret_push   = flushing || fatal || say_seq || say_rnr || say_dup || x_go;

  wcmd_t w;
  assign w.discard = !x_go;
  assign w.addr    = a_addr;
  assign w.len     = h.len;
  assign w.n_in    = c_n_in;
  assign w.n_out   = c_n_out;
  assign w.n_first = c_n_first;
  assign w.two     = c_two;
  assign cmd_data  = w;
  assign cmd_push  = decide && a_data;

  assign rq_consume = flush_all || (x_go && a_need) || (fatal && a_send && a_starts && (x_len || x_key));
  wire go_flush = state == LOAD && err && !flushed;
  assign rq_fetch = (state == B && b_fetch) || (state == FLUSH_READ && msg != IN_SEND && !fetched);

  always_ff @(posedge clk) begin
    if (rst) begin
      state    <= LOAD;
      msg      <= IDLE;
      epsn     <= c.rq_psn;
      nak_mem  <= 1'b0;
      nak_busy <= 1'b0;
      fetched  <= 1'b0;
      flushed  <= c.state == QP_RESET;
    end else begin
      case (state)
        LOAD:
        if (go_flush) begin
          state   <= FLUSH_READ;
          fetched <= 1'b0;
        end else if (!hdr_empty) state <= A;
        A: state <= B;
        B: state <= b_fetch ? FETCH : C;
        C:
        if (room) begin
          state   <= LOAD;
          fetched <= 1'b0;
        end
        FETCH:
        if (rq_done) begin
          state   <= A;
          fetched <= 1'b1;
        end
        FLUSH_READ: begin
          // The WQE of the SEND under way goes first, then what the record shows.
          if (rq_fetch) fetched <= 1'b1;
          if (rq_done) state <= FLUSH;
        end
        default:
        if (!rq_posted || rq_bad) begin
          state   <= LOAD;
          flushed <= 1'b1;
          fetched <= 1'b0;
        end
      endcase

      if (expected) nak_mem <= say_rnr;
      else if (say_seq) nak_mem <= 1'b1;
      if (say_seq || say_rnr) nak_busy <= 1'b1;
      else if (nak_sent) nak_busy <= 1'b0;

      if (fatal || flush_one) msg <= IDLE;
      else if (x_go) msg <= a_last ? IDLE : a_send ? IN_SEND : IN_WRITE;
      if (x_go) epsn <= epsn + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (x_go) begin
      cur_addr <= {c_low[32] ? c_up : a_addr[63:32], c_low[31:0]};
      rem      <= a_left;
      got      <= c_got;
      if (a_send && a_starts) begin
        cur_lkey <= rq_lkey;
        cur_wqe  <= rq_ci;
      end
    end
  end

  // One NAK at a time is decided: the answer queue has one place for it.
  `MH_ASSERT(a_one_nak, !((say_seq || say_rnr) && nak_busy))
  `MH_NEVER_X(a_known_out, {s_pkt_tready, decide, epsn, nak_busy, nak_mem})

endmodule

`default_nettype wire
