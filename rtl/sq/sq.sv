// SPDX-License-Identifier: Apache-2.0
// The device's side of many mlx5-style send queues: stores to UAR pages in, decoded work requests out.
//
//   s_uar ─> sq_store ─> sq_assemble ─> sq_ring ───── BlueFlame ─────────┐
//                                         │ doorbell                     v
//   m_axi AR <─ sq_turn <─ sq_active <────┤ again                    sq_decode ─> m_wr
//   m_axi R ──> sq_rob ──> sq_judge ──────┴──── whole WQE ──────────────^
//
// Rules, latency table, ordering: docs/sq.md. Every handshake output is a function of registers.
`default_nettype none
`include "microhop_assert.svh"

module sq
  import microhop_pkg::*;
#(
    parameter int QPS   = 256,                /// queue pairs, a power of two, 2..4096
    parameter int PAGES = 64,                 /// UAR pages, a power of two, 2..4096
    parameter int TAGS  = spec_pkg::SQ_TAGS,  /// reads under way, a power of two, 16..512
    parameter     TAP   = "sq",               /// prefix of the stage stamps
    localparam int QW   = $clog2(QPS),
    localparam int PW   = $clog2(PAGES),
    localparam int TW   = $clog2(TAGS)
) (
    input  wire                 clk,               /// clock
    input  wire                 rst,               /// synchronous reset, active high
    input  wire                 ctx_we,            /// a table entry is written (C1)
    input  wire  [QW-1:0]       ctx_addr,          /// its number
    input  wire  [SQ_CTX_W-1:0] ctx_data,          /// sq_ctx_t
    output wire                 ctx_idle,          /// entry ctx_addr might be written a cycle ago (C5)
    input  wire  [3:0]          s_uar_awid,        /// write ID
    input  wire  [PW+11:0]      s_uar_awaddr,      /// {page, offset in the page}
    /* verilator lint_off UNUSEDSIGNAL */  // WLAST ends a burst
    input  wire  [7:0]          s_uar_awlen,       /// beats - 1
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                 s_uar_awvalid,     /// address valid
    output wire                 s_uar_awready,     /// address accepted
    input  wire  [511:0]        s_uar_wdata,       /// data
    input  wire  [63:0]         s_uar_wstrb,       /// byte strobes
    input  wire                 s_uar_wlast,       /// last beat
    input  wire                 s_uar_wvalid,      /// data valid
    output wire                 s_uar_wready,      /// data accepted
    output wire  [3:0]          s_uar_bid,         /// response ID
    output wire  [1:0]          s_uar_bresp,       /// 0 accepted, 2 (SLVERR) refused
    output wire                 s_uar_bvalid,      /// response valid
    input  wire                 s_uar_bready,      /// response accepted
    output wire  [TW-1:0]       m_axi_arid,        /// place in the reorder ring
    output wire  [63:0]         m_axi_araddr,      /// read address, 64-byte aligned
    output wire  [7:0]          m_axi_arlen,       /// always 0: one beat
    output wire  [2:0]          m_axi_arsize,      /// 6: 64 bytes
    output wire  [1:0]          m_axi_arburst,     /// 1: INCR
    output wire                 m_axi_arvalid,     /// read address valid
    input  wire                 m_axi_arready,     /// read address accepted
    input  wire  [TW-1:0]       m_axi_rid,         /// ID of the data, any order
    input  wire  [511:0]        m_axi_rdata,       /// data
    /* verilator lint_off UNUSEDSIGNAL */  // one beat a read; the low bit of RRESP tells no error
    input  wire  [1:0]          m_axi_rresp,       /// response: 2 and 3 are errors
    input  wire                 m_axi_rlast,       /// last beat
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                 m_axi_rvalid,      /// data valid
    output wire                 m_axi_rready,      /// always 1: room is reserved before asking
    output wire                 m_wr_tvalid,       /// work request beat
    input  wire                 m_wr_tready,       /// taken
    output wire  [511:0]        m_wr_tdata,        /// inline data or data pointers, from byte 0
    output wire  [63:0]         m_wr_tkeep,        /// its valid bytes
    output wire                 m_wr_tlast,        /// last beat of the work request
    output wire  [SQ_WR_W-1:0]  m_wr_wr,           /// sq_wr_t, held on all its beats
    output wire                 arm_valid,         /// a completion queue is armed: one cycle
    output wire  [PW-1:0]       arm_page,          /// by this page
    output wire  [63:0]         arm_data,          /// the 8 bytes stored, first one in bits 63:56
    output wire  [31:0]         cnt_doorbells,     /// stores taken as doorbells (B4)
    output wire  [31:0]         cnt_blueflame,     /// WQEs taken straight from a store (B3)
    output wire  [31:0]         cnt_refused,       /// refused: place, strobes, binding, halted (B2)
    output wire  [31:0]         cnt_torn,          /// assembly slots given up (S7)
    output wire  [31:0]         cnt_fetched,       /// WQE blocks taken from memory (D4)
    output wire  [31:0]         cnt_discarded,     /// blocks read beyond the published index (D4)
    output wire  [31:0]         cnt_record_behind, /// records older than the doorbell that asked for them (D3)
    output wire  [31:0]         cnt_halted         /// queues halted (D6)
);

  assign m_axi_arlen   = 8'd0;
  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_rready  = 1'b1;

  // P1, P2
  wire           p_valid, p_move, p_arm, p_last;
  wire [PW-1:0]  p_page, i_page;
  wire [5:0]     p_line;
  wire [511:0]   p_data;
  wire [63:0]    p_strb;
  wire [3:0]     p_id, i_id;
  wire           i_valid, i_db, i_bf, i_arm, i_bad, i_burst, i_last;
  wire [23:0]    i_qpn;
  wire [15:0]    i_index;
  wire [4:0]     i_blocks;
  wire [2047:0]  i_data;

  sq_store #(.PW(PW)) u_store (.answered(s_uar_bvalid && s_uar_bready), .*);
  sq_assemble #(.PW(PW)) u_assemble (.*);

  // P3, T0, T1, T2, D1, D2, D3: queues and what they do to the flags
  wire [QW-1:0]  p3_qp, l_qp, t0_qp, t1_qp, t2_qp, d1_qp, d_qp, e_qp;
  wire           p_ring, p_direct, p_knock, p_rung, p_busy, p_err, p_virgin, p_ours, p_known, p_push;
  wire           t0_pop, t0_valid, t0_virgin, t0_ours, t0_fresh, t0_recpend, t1_begin, t1_void, t1_record, t1_err;
  wire           t2_end, t2_left, t2_stays, t2_push;
  wire           e_record, e_further, e_idle, e_push, d_halt, d_takes, d_even, d_err;
  wire [15:0]    l_taken, t1_store_taken, t1_hint, t1_judge_taken, t1_pub;
  wire [9:0]     d_begun;

  sq_flags #(.QPS(QPS)) u_flags (.p_qp(p3_qp), .*);

  // direct register and WQE register
  wire           x_valid, x_take, w_valid, w_take, w_error;
  wire [23:0]    x_qpn, w_qpn;
  wire [15:0]    x_index, w_index;
  wire [7:0]     w_opcode;
  wire [2047:0]  x_data, w_data;

  sq_ring #(.QPS(QPS), .PW(PW)) u_ring (.p_qp(p3_qp), .t0_en(t0_pop), .t1_taken(t1_store_taken), .*);

  sq_active #(.QPS(QPS)) u_active (
      .clk(clk), .rst(rst), .ring(p_push), .ring_qp(p3_qp), .judge(e_push), .judge_qp(e_qp), .again(t2_push),
      .again_qp(t2_qp), .head_valid(t0_valid), .head_qp(t0_qp), .head_pop(t0_pop));

  // items
  wire           room, put, put_null, j_valid, j_err, go;
  wire [TW-1:0]  place;
  wire [sq_pkg::ITEM_W-1:0] put_item, j_item;
  wire [511:0]   j_data;

  sq_turn #(.QPS(QPS), .TAGS(TAGS)) u_turn (
      .head_valid(t0_valid), .head_qp(t0_qp), .head_pop(t0_pop), .d_en(go && j_valid), .d2_qp(d_qp), .d2_begun(d_begun), .*);

  sq_rob #(.TAGS(TAGS)) u_rob (
      .clk(clk), .rst(rst), .room(room), .place(place), .put(put), .put_null(put_null), .put_item(put_item),
      .r_valid(m_axi_rvalid), .r_id(m_axi_rid), .r_data(m_axi_rdata), .r_err(m_axi_rresp[1]), .go(go),
      .d_valid(j_valid), .d_item(j_item), .d_data(j_data), .d_err(j_err));

  sq_judge #(.QPS(QPS)) u_judge (
      .i_valid(j_valid), .i_item(j_item), .i_data(j_data), .i_err(j_err), .i_qp(d1_qp), .t0_en(t0_pop),
      .t1_taken(t1_judge_taken), .*);

  // V1 to V3, output
  wire           o_valid, o_done, o_next;
  wire [SQ_WR_W-1:0] o_wr;
  /* verilator lint_off UNUSEDSIGNAL */  // a beat a cycle: the first 64 bytes
  wire [1919:0]  o_load;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [7:0]     o_bytes;

  sq_decode u_decode (.*);
  sq_emit u_emit (.o_load(o_load[511:0]), .*);

  latency_tap #(.NAME({TAP, ".store"})) u_tap_store (.clk(clk), .rst(rst), .event_i(p_valid && p_move && p_last));
  latency_tap #(.NAME({TAP, ".read"})) u_tap_read (.clk(clk), .rst(rst), .event_i(m_axi_arvalid && m_axi_arready));
  latency_tap #(.NAME({TAP, ".data"})) u_tap_data (.clk(clk), .rst(rst), .event_i(m_axi_rvalid));
  latency_tap #(.NAME({TAP, ".wr"})) u_tap_wr (.clk(clk), .rst(rst), .event_i(m_wr_tvalid && m_wr_tready && m_wr_tlast));

  `MH_NEVER_X(a_known, {s_uar_awready, s_uar_wready, s_uar_bvalid, m_axi_arvalid, m_wr_tvalid, arm_valid, ctx_idle, cnt_doorbells,
                        cnt_blueflame, cnt_refused, cnt_torn, cnt_fetched, cnt_discarded, cnt_record_behind, cnt_halted})

endmodule

`default_nettype wire
