// SPDX-License-Identifier: Apache-2.0
// The device's side of an mlx5-style send queue: doorbell stores in, decoded work requests out.
//
//   s_uar ─> store ─┬─ doorbell ─> fetch ─> m_axi reads
//                   │                └─ blocks ─> gather ─> decode ─> emit ─> m_wr
//                   └─ BlueFlame WQE ──────────────┘
//
// Rules, latency table and ordering: README.md. Every handshake output is a function of registers.
`default_nettype none
`include "microhop_assert.svh"

module doorbell
  import microhop_pkg::*;
#(
    parameter TAP = "doorbell"  /// prefix of the stage stamps
) (
    input  wire                       clk,               /// clock
    input  wire                       rst,               /// synchronous reset, active high
    input  wire  [DOORBELL_CFG_W-1:0] cfg,               /// doorbell_cfg_t, steady outside reset
    input  wire  [3:0]                s_uar_awid,        /// write ID
    input  wire  [11:0]               s_uar_awaddr,      /// offset in the page
    /* verilator lint_off UNUSEDSIGNAL */  // WLAST ends a burst
    input  wire  [7:0]                s_uar_awlen,       /// beats - 1
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                       s_uar_awvalid,     /// address valid
    output wire                       s_uar_awready,     /// address accepted
    input  wire  [511:0]              s_uar_wdata,       /// data
    input  wire  [63:0]               s_uar_wstrb,       /// byte strobes
    input  wire                       s_uar_wlast,       /// last beat
    input  wire                       s_uar_wvalid,      /// data valid
    output wire                       s_uar_wready,      /// data accepted
    output wire  [3:0]                s_uar_bid,         /// response ID
    output wire  [1:0]                s_uar_bresp,       /// 0 accepted, 2 (SLVERR) refused
    output wire                       s_uar_bvalid,      /// response valid
    input  wire                       s_uar_bready,      /// response accepted
    output wire  [3:0]                m_axi_arid,        /// always 0: reads return in order
    output wire  [63:0]               m_axi_araddr,      /// read address, 64-byte aligned
    output wire  [7:0]                m_axi_arlen,       /// always 0: one beat
    output wire  [2:0]                m_axi_arsize,      /// 6: 64 bytes
    output wire  [1:0]                m_axi_arburst,     /// 1: INCR
    output wire                       m_axi_arvalid,     /// read address valid
    input  wire                       m_axi_arready,     /// read address accepted
    /* verilator lint_off UNUSEDSIGNAL */  // one ID, one beat a read; the low bit of RRESP tells no error
    input  wire  [3:0]                m_axi_rid,         /// ID of the data
    input  wire  [511:0]              m_axi_rdata,       /// data
    input  wire  [1:0]                m_axi_rresp,       /// response: 2 and 3 are errors
    input  wire                       m_axi_rlast,       /// last beat
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                       m_axi_rvalid,      /// data valid
    output wire                       m_axi_rready,      /// always 1: room is reserved before asking
    output wire                       m_wr_tvalid,       /// work request beat
    input  wire                       m_wr_tready,       /// taken
    output wire  [511:0]              m_wr_tdata,        /// inline data from byte 0
    output wire  [63:0]               m_wr_tkeep,        /// its valid bytes
    output wire                       m_wr_tlast,        /// last beat of the work request
    output wire  [WR_W-1:0]           m_wr_wr,           /// wr_t, held on all its beats
    output wire                       halted,            /// the queue has stopped on an error; only reset helps
    output logic [31:0]               cnt_doorbells,     /// stores taken as doorbells
    output logic [31:0]               cnt_blueflame,     /// WQEs taken straight from a store
    output wire  [31:0]               cnt_fetched,       /// WQE blocks taken from memory
    output logic [31:0]               cnt_refused,       /// stores refused: offset, strobes, qpn, size, disabled, halted
    output wire  [31:0]               cnt_record_behind  /// records older than the doorbell that asked for them
);

  doorbell_cfg_t c;
  assign c = cfg;

  wire          st_present, st_valid, st_accept, st_whole, bf_take;
  wire [15:0]   st_index;
  wire [4:0]    st_blocks;
  wire [2047:0] st_data;
  wire          blk_valid, blk_pop, idle;
  wire [511:0]  blk_data;
  wire [15:0]   pub, taken, wq_index;
  wire          wq_valid, wq_fatal, wq_take;
  wire [2047:0] wq_data;
  wire [WR_W-1:0] dec_wr;
  wire [1887:0] dec_payload;
  wire [7:0]    dec_length;

  assign m_axi_arid    = 4'd0;
  assign m_axi_arlen   = 8'd0;
  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_rready  = 1'b1;

  doorbell_store u_store (
      .clk(clk), .rst(rst), .enable(c.enable && !halted), .qpn(c.qpn),
      .s_uar_awid(s_uar_awid), .s_uar_awaddr(s_uar_awaddr), .s_uar_awvalid(s_uar_awvalid),
      .s_uar_awready(s_uar_awready), .s_uar_wdata(s_uar_wdata), .s_uar_wstrb(s_uar_wstrb),
      .s_uar_wlast(s_uar_wlast), .s_uar_wvalid(s_uar_wvalid), .s_uar_wready(s_uar_wready),
      .s_uar_bid(s_uar_bid), .s_uar_bresp(s_uar_bresp), .s_uar_bvalid(s_uar_bvalid),
      .s_uar_bready(s_uar_bready),
      .st_present(st_present), .st_valid(st_valid), .st_accept(st_accept), .st_whole(st_whole),
      .st_index(st_index), .st_blocks(st_blocks), .st_data(st_data)
  );

  doorbell_fetch u_fetch (
      .clk(clk), .rst(rst), .sq_base(c.sq_base), .sq_log(c.sq_log), .dbr_addr(c.dbr_addr), .ci0(c.ci0),
      .ring(st_valid && st_accept && !bf_take), .ring_hint(st_index + 16'(st_blocks)),
      .bf_take(bf_take), .bf_blocks(st_blocks), .taken(taken),
      .blk_valid(blk_valid), .blk_data(blk_data), .blk_pop(blk_pop),
      .idle(idle), .pub(pub), .stop(halted),
      .m_axi_araddr(m_axi_araddr), .m_axi_arvalid(m_axi_arvalid), .m_axi_arready(m_axi_arready),
      .m_axi_rdata(m_axi_rdata), .m_axi_rerr(m_axi_rresp[1]), .m_axi_rvalid(m_axi_rvalid),
      .cnt_fetched(cnt_fetched), .cnt_record_behind(cnt_record_behind)
  );

  doorbell_gather u_gather (
      .clk(clk), .rst(rst), .ci0(c.ci0),
      .blk_valid(blk_valid), .blk_data(blk_data), .blk_pop(blk_pop),
      .st_present(st_present), .st_whole(st_valid && st_whole), .st_index(st_index),
      .st_blocks(st_blocks), .st_data(st_data), .idle(idle), .bf_take(bf_take),
      .pub(pub), .stop(halted), .taken(taken),
      .wq_valid(wq_valid), .wq_fatal(wq_fatal), .wq_index(wq_index), .wq_data(wq_data), .wq_take(wq_take)
  );

  doorbell_decode u_decode (
      .qpn(c.qpn), .fatal(wq_fatal), .index(wq_index), .wq_data(wq_data),
      .wr(dec_wr), .payload(dec_payload), .length(dec_length)
  );

  doorbell_emit u_emit (
      .clk(clk), .rst(rst), .in_valid(wq_valid), .in_take(wq_take),
      .in_wr(dec_wr), .in_payload(dec_payload), .in_length(dec_length),
      .m_wr_tvalid(m_wr_tvalid), .m_wr_tready(m_wr_tready), .m_wr_tdata(m_wr_tdata),
      .m_wr_tkeep(m_wr_tkeep), .m_wr_tlast(m_wr_tlast), .m_wr_wr(m_wr_wr)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_doorbells <= '0;
      cnt_blueflame <= '0;
      cnt_refused   <= '0;
    end else if (st_valid) begin
      if (!st_accept) cnt_refused <= cnt_refused + 1'b1;
      else if (bf_take) cnt_blueflame <= cnt_blueflame + 1'b1;
      else cnt_doorbells <= cnt_doorbells + 1'b1;
    end
  end

  latency_tap #(.NAME({TAP, ".store"})) u_tap_store (.clk(clk), .rst(rst), .event_i(st_valid));
  latency_tap #(.NAME({TAP, ".read"})) u_tap_read (.clk(clk), .rst(rst), .event_i(m_axi_arvalid && m_axi_arready));
  latency_tap #(.NAME({TAP, ".data"})) u_tap_data (.clk(clk), .rst(rst), .event_i(m_axi_rvalid));
  latency_tap #(.NAME({TAP, ".wr"})) u_tap_wr (.clk(clk), .rst(rst), .event_i(m_wr_tvalid && m_wr_tready && m_wr_tlast));

  `MH_NEVER_X(a_known, {s_uar_awready, s_uar_wready, s_uar_bvalid, m_axi_arvalid, m_wr_tvalid, halted, cnt_doorbells,
                        cnt_blueflame, cnt_fetched, cnt_refused, cnt_record_behind})

endmodule

`default_nettype wire
