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
    input  wire  [3:0]          s_uar_awid,        /// write ID
    input  wire  [PW+11:0]      s_uar_awaddr,      /// {page, offset in the page}
    input  wire  [7:0]          s_uar_awlen,       /// beats - 1
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
    input  wire  [1:0]          m_axi_rresp,       /// response: 2 and 3 are errors
    input  wire                 m_axi_rlast,       /// last beat
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
endmodule

`default_nettype wire
