// SPDX-License-Identifier: Apache-2.0
// P2 and P3 of the send queues: table look-up, binding, doorbells and BlueFlame that goes direct, responses
// (docs/sq.md, B1 to B4). Holds what stores write of each queue: the index taken by stores, and the hint.
`default_nettype none
`include "microhop_assert.svh"

module sq_ring
  import microhop_pkg::*;
#(
    parameter int QPS = 256,  /// queue pairs
    parameter int PW  = 6,    /// bits of a page number
    localparam int QW = $clog2(QPS)
) (
    input  wire                clk,           /// clock
    input  wire                rst,           /// synchronous reset, active high
    input  wire                ctx_we,        /// a table entry is written
    input  wire [QW-1:0]       ctx_addr,      /// its number
    /* verilator lint_off UNUSEDSIGNAL */  // the turn needs the rest
    input  wire [SQ_CTX_W-1:0] ctx_data,      /// sq_ctx_t
    /* verilator lint_on UNUSEDSIGNAL */
    // P2
    input  wire                i_valid,       /// an item
    input  wire                i_db,          /// doorbell
    input  wire                i_bf,          /// whole BlueFlame WQE
    input  wire                i_arm,         /// arms a completion queue
    input  wire                i_bad,         /// refused
    input  wire [PW-1:0]       i_page,        /// page
    input  wire [23:0]         i_qpn,         /// queue pair
    input  wire [15:0]         i_index,       /// index in the control segment
    input  wire [4:0]          i_blocks,      /// its blocks
    input  wire [2047:0]       i_data,        /// bytes of the WQE
    input  wire                i_burst,       /// a beat of a burst, not what P1 gave up
    input  wire                i_last,        /// a response is due
    input  wire [3:0]          i_id,          /// write ID
    // flags, P3
    output wire [QW-1:0]       p_qp,          /// queue in P3
    output wire                p_ring,        /// doorbell accepted
    output wire                p_direct,      /// goes direct
    output wire                p_knock,       /// one of both
    input  wire                p_rung,        /// flag
    input  wire                p_busy,        /// flag
    input  wire                p_err,         /// flag
    input  wire                p_known,       /// the entry was written since reset
    input  wire                p_virgin,      /// taken is the table's first index
    input  wire                p_ours,        /// taken is the one kept here
    // the index taken by fetched WQEs
    output wire [QW-1:0]       l_qp,          /// queue in P2
    input  wire [15:0]         l_taken,       /// its index in P3, one cycle later
    // T0
    input  wire                t0_en,         /// samples
    input  wire [QW-1:0]       t0_qp,         /// its queue
    output logic [15:0]        t1_taken,      /// index taken by stores
    output logic [15:0]        t1_hint,       /// hint
    // direct register
    output logic               x_valid,       /// holds a WQE
    input  wire                x_take,        /// taken
    output logic [23:0]        x_qpn,         /// queue pair
    output logic [15:0]        x_index,       /// index
    output logic [2047:0]      x_data,        /// bytes
    // responses
    output wire [3:0]          s_uar_bid,     /// write ID
    output wire [1:0]          s_uar_bresp,   /// response
    output wire                s_uar_bvalid,  /// offered
    input  wire                s_uar_bready,  /// accepted
    // arm
    output logic               arm_valid,     /// a completion queue is armed
    output logic [PW-1:0]      arm_page,      /// by this page
    output logic [63:0]        arm_data,      /// bytes stored
    // counters
    output logic [31:0]        cnt_doorbells, /// accepted as doorbells
    output logic [31:0]        cnt_blueflame, /// taken directly
    output logic [31:0]        cnt_refused    /// refused
);

  /* verilator lint_off UNUSEDSIGNAL */  // the turn needs the rest
  sq_ctx_t c_in;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c_in = ctx_data;

  localparam int TW = 1 + 24 + 12 + 16;
  logic [TW-1:0] table_q [QPS];
  logic [15:0] taken [QPS];
  logic [15:0] hint [QPS];

  // P2
  assign l_qp = i_qpn[QW-1:0];

  // P3
  logic v, db, bf, arm, bad, last, of_burst;
  logic [PW-1:0] page;
  logic [23:0] qpn;
  logic [15:0] index;
  logic [4:0] blocks;
  logic [2047:0] data;
  logic [3:0] id;
  logic [15:0] my_taken, my_hint, pi0;
  logic enable;
  logic [23:0] c_qpn;
  logic [11:0] c_page;
  logic burst_bad;
  logic k_doorbell, k_blueflame, k_refused;  // to be counted

  assign p_qp = qpn[QW-1:0];
  wire bound = p_known && enable && c_qpn == qpn && c_page == 12'(page) && !p_err;
  wire refuse = v && (bad || ((db || bf) && !bound));
  wire good = v && bound;
  wire [15:0] now_taken = p_virgin ? pi0 : p_ours ? my_taken : l_taken;
  wire [15:0] ends = index + 16'(blocks);
  assign p_direct = good && bf && !p_busy && index == now_taken && (!x_valid || x_take);
  assign p_knock  = good && (db || bf);
  assign p_ring   = good && (db || (bf && !p_direct));
  wire nearer = 16'(ends - my_hint) >= 16'h8000;  // than the hint that is there
  wire [15:0] new_hint = !p_rung || !nearer ? ends : my_hint;

  always_ff @(posedge clk) begin
    if (ctx_we) table_q[ctx_addr] <= {c_in.enable, c_in.qpn, c_in.page, c_in.pi0};
    if (p_direct) taken[p_qp] <= ends;
    if (p_ring) hint[p_qp] <= new_hint;
    {enable, c_qpn, c_page, pi0} <= table_q[l_qp];
    my_taken <= p_direct && p_qp == l_qp ? ends : taken[l_qp];
    my_hint  <= p_ring && p_qp == l_qp ? new_hint : hint[l_qp];
    if (t0_en) begin
      t1_taken <= taken[t0_qp];
      t1_hint  <= hint[t0_qp];
    end
  end

  wire b_empty;
  /* verilator lint_off UNUSEDSIGNAL */  // room is reserved in P0
  wire [$clog2(spec_pkg::SQ_B_FIFO):0] b_count;
  /* verilator lint_on UNUSEDSIGNAL */
  sync_fifo #(.WIDTH(6), .DEPTH(spec_pkg::SQ_B_FIFO)) u_b (
      .clk(clk), .rst(rst), .wr_en(v && last), .wr_data({id, refuse || burst_bad, 1'b0}),
      .rd_en(s_uar_bvalid && s_uar_bready), .rd_data({s_uar_bid, s_uar_bresp}), .empty(b_empty), .count(b_count));
  assign s_uar_bvalid = !b_empty;

  always_ff @(posedge clk) begin
    if (rst) begin
      v             <= 1'b0;
      x_valid       <= 1'b0;
      burst_bad     <= 1'b0;
      arm_valid     <= 1'b0;
      cnt_doorbells <= '0;
      cnt_blueflame <= '0;
      cnt_refused   <= '0;
      {k_doorbell, k_blueflame, k_refused} <= 3'd0;
    end else begin
      v         <= i_valid;
      arm_valid <= v && arm;
      if (p_direct) x_valid <= 1'b1;
      else if (x_take) x_valid <= 1'b0;
      // what S7 gives up is no beat of a burst
      if (v && last) burst_bad <= 1'b0;
      else if (refuse && of_burst) burst_bad <= 1'b1;
      k_doorbell    <= p_ring;
      k_blueflame   <= p_direct;
      k_refused     <= refuse;
      cnt_doorbells <= cnt_doorbells + 32'(k_doorbell);
      cnt_blueflame <= cnt_blueflame + 32'(k_blueflame);
      cnt_refused   <= cnt_refused + 32'(k_refused);
    end
    db     <= i_db;
    bf     <= i_bf;
    arm    <= i_arm;
    bad    <= i_bad;
    last   <= i_last;
    page   <= i_page;
    qpn    <= i_qpn;
    index  <= i_index;
    blocks <= i_blocks;
    id     <= i_id;
    of_burst <= i_burst;
    if (i_valid && (i_bf || i_arm)) data <= i_data;
    if (p_direct) begin
      x_qpn   <= qpn;
      x_index <= index;
      x_data  <= data;
    end
    arm_page <= page;
    for (int k = 0; k < 8; k++) arm_data[8*(7-k)+:8] <= data[8*(32+k)+:8];
  end

  // Block cq takes an arm every other cycle (S2).
  `MH_ASSERT(a_arm_gap, !(arm_valid && v && arm))

endmodule

`default_nettype wire
