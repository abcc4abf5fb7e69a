// SPDX-License-Identifier: Apache-2.0
// Forms mlx5 completion queue entries (64 bytes, rdma-core providers/mlx5) of the send and of the receive
// queue, one a cycle, taking turns, and gives them to the DMA write with their ring addresses.
// Owner bit: bit log2(entries) of the producer index, so it changes with each pass over the ring.
// The ring is not checked for overflow (README, limits). A completion waits one cycle here.
`default_nettype none
`include "microhop_assert.svh"

module rdma_completion
  import microhop_pkg::*;
  import rdma_pkg::*;
#(
    parameter int CQ_DEPTH   = 4,  /// completions waiting, each queue
    parameter int CQEW_DEPTH = 4   /// completions waiting in the DMA write
) (
    input  wire             clk,        /// clock
    input  wire             rst,        /// synchronous reset, active high
    input  wire [RDMA_CFG_W-1:0] cfg,   /// rdma_cfg_t
    input  wire             scq_push,   /// a send completion
    input  wire [CQR_W-1:0] scq_data,   /// cqr_t
    output wire [$clog2(CQ_DEPTH):0] scq_count,  /// waiting
    input  wire             rcq_push,   /// a receive completion
    input  wire [CQR_W-1:0] rcq_data,   /// cqr_t
    output wire [$clog2(CQ_DEPTH):0] rcq_count,  /// waiting
    output wire             cqe_push,   /// an entry for the DMA write
    output wire [63:0]      cqe_addr,   /// its address
    output wire [511:0]     cqe_data,   /// its bytes, first one lowest
    input  wire [$clog2(CQEW_DEPTH):0] cqe_count  /// entries waiting there
);

  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  rdma_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  wire s_empty, r_empty;
  wire [CQR_W-1:0] s_head, r_head;
  logic s_turn;  // the send queue is next when both wait
  logic [23:0] s_pi, r_pi;
  logic [26:0] s_at, r_at;  // 64-byte lines of the entries that are next: lower half of the address and its carry
  // Constant outside reset: index masks, first slots, upper halves of the addresses plus one.
  logic [23:0] s_mask, r_mask, s_slot, r_slot;
  logic [31:0] s_up, r_up;

  wire room = cqe_count < ($clog2(CQEW_DEPTH) + 1)'(CQEW_DEPTH);
  wire pick_s = !s_empty && (r_empty || s_turn);
  wire s_pop = room && pick_s;
  wire r_pop = room && !r_empty && !pick_s;

  sync_fifo #(
      .WIDTH(CQR_W),
      .DEPTH(CQ_DEPTH)
  ) u_scq (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (scq_push),
      .wr_data(scq_data),
      .rd_en  (s_pop),
      .rd_data(s_head),
      .empty  (s_empty),
      .count  (scq_count)
  );

  sync_fifo #(
      .WIDTH(CQR_W),
      .DEPTH(CQ_DEPTH)
  ) u_rcq (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (rcq_push),
      .wr_data(rcq_data),
      .rd_en  (r_pop),
      .rd_data(r_head),
      .empty  (r_empty),
      .count  (rcq_count)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      s_turn <= 1'b0;
      s_pi   <= c.scq_pi0;
      r_pi   <= c.rcq_pi0;
      s_mask <= ~(24'hff_ffff << c.scq_log);
      r_mask <= ~(24'hff_ffff << c.rcq_log);
      s_slot <= c.scq_pi0 & s_mask;
      r_slot <= c.rcq_pi0 & r_mask;
      s_up   <= c.scq_base[63:32] + 1'b1;
      r_up   <= c.rcq_base[63:32] + 1'b1;
      s_at   <= {1'b0, c.scq_base[31:6]} + 27'(s_slot);
      r_at   <= {1'b0, c.rcq_base[31:6]} + 27'(r_slot);
    end else begin
      if (s_pop || r_pop) s_turn <= r_pop;
      if (s_pop) begin
        s_pi <= s_pi + 1'b1;
        s_at <= (s_pi & s_mask) == s_mask ? {1'b0, c.scq_base[31:6]} : s_at + 1'b1;
      end
      if (r_pop) begin
        r_pi <= r_pi + 1'b1;
        r_at <= (r_pi & r_mask) == r_mask ? {1'b0, c.rcq_base[31:6]} : r_at + 1'b1;
      end
    end
  end

  cqr_t q;
  assign q = pick_s ? s_head : r_head;
  wire [23:0] pi = pick_s ? s_pi : r_pi;
  wire [4:0] log = pick_s ? c.scq_log : c.rcq_log;
  wire owner = 1'(pi >> log);

  // Big-endian fields: byte n of the entry is bits 8n+7..8n here, so words are given byte by byte.
  wire [511:0] e;
  assign e[8*36-1:0] = '0;
  assign e[8*36+:32] = {q.imm[7:0], q.imm[15:8], q.imm[23:16], q.imm[31:24]};
  assign e[8*40+:32] = '0;
  assign e[8*44+:32] = {q.byte_cnt[7:0], q.byte_cnt[15:8], q.byte_cnt[23:16], q.byte_cnt[31:24]};
  assign e[8*48+:56] = '0;
  assign e[8*55+:8]  = q.syn;
  assign e[8*56+:8]  = q.sop;
  assign e[8*57+:24] = {c.qpn[7:0], c.qpn[15:8], c.qpn[23:16]};
  assign e[8*60+:16] = {q.wqe[7:0], q.wqe[15:8]};
  assign e[8*62+:8]  = '0;
  assign e[8*63+:8]  = {q.op, 2'b00, q.se, owner};

  assign cqe_push = s_pop || r_pop;
  wire [57:0] s_line = {s_at[26] ? s_up : c.scq_base[63:32], s_at[25:0]};
  wire [57:0] r_line = {r_at[26] ? r_up : c.rcq_base[63:32], r_at[25:0]};
  assign cqe_addr = {pick_s ? s_line : r_line, 6'b0};
  assign cqe_data = e;

  `MH_NEVER_X(a_known, {cqe_push, s_pi, r_pi})

endmodule

`default_nettype wire
