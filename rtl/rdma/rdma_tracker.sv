// SPDX-License-Identifier: Apache-2.0
// Requester, second half: what is outstanding. Window of PSNs, responses, ACK timer, WQE table,
// send completions, and the queue pair's error state.
//
// A response given at cycle c is judged at c; una, the timer and the error state follow at c+1. Each
// cycle the oldest WQE completes if it can: by acknowledgement, as a NOP, or with its error; WQEs
// complete in posting order. Rules: README, "Responses and completions".
`default_nettype none
`include "microhop_assert.svh"

module rdma_tracker
  import microhop_pkg::*;
  import rdma_pkg::*;
#(
    parameter int TAB_DEPTH  = 64,  /// WQEs not yet completed, a power of two
    parameter int CQ_DEPTH   = 4,   /// completions waiting to be written
    parameter int TIMER_LOG  = 12   /// log2 of the timer's unit (4.096 us) in cycles
) (
    input  wire             clk,          /// clock
    input  wire             rst,          /// synchronous reset, active high
    input  wire             err_init,     /// in the error state from reset on
    input  wire [23:0]      sq_psn,       /// first PSN, taken at reset
    input  wire [4:0]       ack_timeout,  /// timer code; 0: never
    input  wire             rsp_err,      /// the responder or the memory failed: move to the error state
    input  wire             tab_push,     /// an entry for the WQE table
    input  wire [SQT_W-1:0] tab_data,     /// sqt_t
    output wire [$clog2(TAB_DEPTH):0] tab_count,  /// entries
    input  wire             sent,         /// a request packet starts
    input  wire [23:0]      sent_psn,     /// its PSN
    input  wire             sent_ackreq,  /// its acknowledge request
    input  wire             bad,          /// a packet's payload could not be read
    input  wire [7:0]       bad_tab,      /// its entry's number
    input  wire             resp_valid,   /// a response packet
    input  wire             resp_ack,     /// it is an ACKNOWLEDGE (else another response opcode)
    input  wire [23:0]      resp_psn,     /// its PSN
    input  wire [7:0]       resp_syn,     /// its AETH syndrome
    output wire             resp_drop,    /// it is ignored
    output logic [25:0]     una,          /// oldest PSN not acknowledged, extended by two bits
    output logic [23:0]     nxt,          /// PSN after the last one sent
    output logic            err,          /// error state
    output wire             cq_push,      /// a send completion
    output wire [CQR_W-1:0] cq_data,      /// cqr_t
    input  wire [$clog2(CQ_DEPTH):0] cq_count  /// completions waiting
);

  // ---- responses ----------------------------------------------------------------------------------
  logic fatal;            // a WQE waits to be completed with fatal_syn: the oldest not acknowledged
  logic [7:0] fatal_syn;

  wire [23:0] ahead = 24'(add64(64'(resp_psn), {40'b0, ~una[23:0]}, 1'b1));
  wire [23:0] open = 24'(add64(64'(nxt), {40'b0, ~una[23:0]}, 1'b1));
  /* verilator lint_off UNUSEDSIGNAL */  // only the carry counts
  wire [64:0] ghost = add64(64'(ahead), {40'b0, ~open}, 1'b1);  // carry into bit 24: ahead >= open
  /* verilator lint_on UNUSEDSIGNAL */
  wire in_window = !ghost[24];
  wire is_ack = resp_ack && resp_syn[7:5] == 3'b000;
  wire is_rnr = resp_ack && resp_syn[7:5] == 3'b001;
  wire is_nak = resp_ack && resp_syn[7:5] == 3'b011 && resp_syn[4:0] < 5'd4;
  wire heed = resp_valid && !err && in_window && (is_ack || is_rnr || is_nak || !resp_ack);
  wire stop = heed && !is_ack;
  // Two bits above the PSN keep a message of 2^23 packets behind others apart from one that is done.
  wire [23:0] una_low = is_ack ? resp_psn + 1'b1 : resp_psn;
  wire [25:0] una_next = {una[25:24] + 2'(una_low < una[23:0]), una_low};
  wire [7:0] stop_syn = !resp_ack ? CQE_SYN_BAD_RESP :
      is_rnr ? CQE_SYN_RNR_EXC :
      resp_syn[1:0] == 2'd0 ? CQE_SYN_RETRY_EXC :
      resp_syn[1:0] == 2'd1 ? CQE_SYN_REM_INV_REQ :
      resp_syn[1:0] == 2'd2 ? CQE_SYN_REM_ACCESS : CQE_SYN_REM_OP;
  wire progress = heed && is_ack;

  assign resp_drop = resp_valid && !heed;

  // ---- timer --------------------------------------------------------------------------------------
  logic run;
  logic [TIMER_LOG+31:0] count;  // cycles since the start
  wire  ring = sent && sent_ackreq;
  wire  expired = run && ack_timeout != 0 && !err && !heed && count[6'(TIMER_LOG)+6'(ack_timeout)];

  always_ff @(posedge clk) begin
    if (rst) begin
      run   <= 1'b0;
      count <= '0;
    end else if (expired) run <= 1'b0;
    else if (progress || (ring && !run)) begin
      run   <= ring || una_low != nxt;
      count <= (TIMER_LOG + 32)'(1);
    end else if (run) count <= count + 1'b1;
  end

  // ---- table and completions ----------------------------------------------------------------------
  wire tab_empty, tab_pop;
  wire [SQT_W-1:0] tab_head;
  logic [7:0] head_num;
  sqt_t t;
  assign t = tab_head;

  sync_fifo #(
      .WIDTH(SQT_W),
      .DEPTH(TAB_DEPTH)
  ) u_tab (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (tab_push),
      .wr_data(tab_data),
      .rd_en  (tab_pop),
      .rd_data(tab_head),
      .empty  (tab_empty),
      .count  (tab_count)
  );

  /* verilator lint_off UNUSEDSIGNAL */  // only the sign counts
  wire [25:0] behind = t.last_psn - una;
  /* verilator lint_on UNUSEDSIGNAL */
  wire acked = behind[25];
  wire local_bad = bad && bad_tab == head_num;
  wire ok = t.status == 0 && (t.has_psn ? acked : !err || fatal);
  wire failed = t.status != 0 || err || local_bad;
  wire use_fatal = t.status == 0 && t.has_psn && !acked && err && fatal;
  wire [7:0] syn = ok ? 8'd0 :
      use_fatal ? fatal_syn :
      err ? CQE_SYN_WR_FLUSH :
      t.status != 0 ? t.status : CQE_SYN_LOC_PROT;
  wire want_cqe = !ok || t.signaled;
  wire cq_room = cq_count < ($clog2(CQ_DEPTH) + 1)'(CQ_DEPTH);

  assign tab_pop = !tab_empty && (ok || failed) && (!want_cqe || cq_room);
  assign cq_push = tab_pop && want_cqe;

  cqr_t q;
  assign q.op       = ok ? CQE_REQ : CQE_REQ_ERR;
  assign q.syn      = syn;
  assign q.wqe      = t.wqe_index;
  assign q.byte_cnt = '0;
  assign q.imm      = '0;
  assign q.se       = 1'b0;
  assign q.sop      = t.opcode;
  assign cq_data    = q;

  always_ff @(posedge clk) begin
    if (rst) begin
      una      <= {2'b00, sq_psn};
      nxt      <= sq_psn;
      err      <= err_init;
      fatal    <= 1'b0;
      head_num <= '0;
    end else begin
      if (sent) nxt <= sent_psn + 1'b1;
      if (heed) una <= una_next;
      if (stop || expired) fatal <= 1'b1;
      else if (tab_pop && use_fatal) fatal <= 1'b0;
      if (stop || expired || rsp_err || (tab_pop && !ok)) err <= 1'b1;
      if (tab_pop) head_num <= head_num + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (stop) fatal_syn <= stop_syn;
    else if (expired) fatal_syn <= CQE_SYN_RETRY_EXC;
  end

  // What is acknowledged was sent.
  `MH_ASSERT(a_window, (nxt - una[23:0]) < 24'h80_0000)
  `MH_NEVER_X(a_known, {una, nxt, err, tab_pop, cq_push})

endmodule

`default_nettype wire
