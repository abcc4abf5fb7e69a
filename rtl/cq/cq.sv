// SPDX-License-Identifier: Apache-2.0
// Completion queues: completions in, mlx5 entries to memory, events out.
//
//   s_cq ─> cq_take ────┐ entry             ┌─> cq_form ─> m_axi AW, W
//   cq_lot (waits) ─────┼─> C0 ─> cq_index ─┼─> cq_lot, cq_record ─> m_axi AR
//   m_axi R ─> cq_record┘ record            └─> cq_event <─ m_axi B, arm ─> m_ev
//
// Rules, latency table, ordering: docs/cq.md. Every handshake output is a function of registers.
`default_nettype none
`include "microhop_assert.svh"

module cq
  import microhop_pkg::*;
  import spec_pkg::*;
#(
    parameter int CQS   = 64,         /// completion queues, a power of two, 4..1024
    parameter     TAP   = "cq",       /// prefix of the stage stamps
    localparam int QW   = $clog2(CQS),
    localparam int PW   = $clog2(CQ_WAITING)
) (
    input  wire                 clk,              /// clock
    input  wire                 rst,              /// synchronous reset, active high
    input  wire                 ctx_we,           /// a table entry is written (T1)
    input  wire  [QW-1:0]       ctx_addr,         /// its number
    input  wire  [CQ_CTX_W-1:0] ctx_data,         /// cq_ctx_t
    input  wire                 s_cq_tvalid,      /// a completion of the transport
    output wire                 s_cq_tready,      /// taken
    input  wire  [CQ_IN_W-1:0]  s_cq_cq,          /// cq_in_t
    input  wire  [15:0]         dma_done,         /// DMA write bursts whose B came, in order, modulo 2^16
    input  wire                 arm_valid,        /// a queue is armed: one cycle, cannot wait; never two cycles in a row
    input  wire  [11:0]         arm_page,         /// by this UAR page
    input  wire  [63:0]         arm_data,         /// {arm word, cqn}
    output wire  [PW:0]         m_axi_awid,       /// always 0: B in order
    output wire  [63:0]         m_axi_awaddr,     /// address of the entry
    output wire  [7:0]          m_axi_awlen,      /// always 0: one beat
    output wire  [2:0]          m_axi_awsize,     /// 6: 64 bytes
    output wire  [1:0]          m_axi_awburst,    /// 1: INCR
    output wire                 m_axi_awvalid,    /// write address valid
    input  wire                 m_axi_awready,    /// write address accepted
    output wire  [511:0]        m_axi_wdata,      /// the entry, first byte lowest
    output wire  [63:0]         m_axi_wstrb,      /// all bytes
    output wire                 m_axi_wlast,      /// always 1
    output wire                 m_axi_wvalid,     /// data valid
    input  wire                 m_axi_wready,     /// data accepted
    input  wire  [PW:0]         m_axi_bid,        /// not looked at: in order
    input  wire  [1:0]          m_axi_bresp,      /// 2 and 3 are errors
    input  wire                 m_axi_bvalid,     /// response valid
    output wire                 m_axi_bready,     /// response accepted
    output wire  [PW:0]         m_axi_arid,       /// {early, place}
    output wire  [63:0]         m_axi_araddr,     /// line of a doorbell record
    output wire  [7:0]          m_axi_arlen,      /// always 0: one beat
    output wire  [2:0]          m_axi_arsize,     /// 6: 64 bytes
    output wire  [1:0]          m_axi_arburst,    /// 1: INCR
    output wire                 m_axi_arvalid,    /// read address valid
    input  wire                 m_axi_arready,    /// read address accepted
    input  wire  [PW:0]         m_axi_rid,        /// {early, place}, any order
    input  wire  [511:0]        m_axi_rdata,      /// the line
    input  wire  [1:0]          m_axi_rresp,      /// 2 and 3 are errors
    input  wire                 m_axi_rlast,      /// last beat
    input  wire                 m_axi_rvalid,     /// data valid
    output wire                 m_axi_rready,     /// always 1: there is room for what was asked
    output wire                 m_ev_tvalid,      /// an event
    input  wire                 m_ev_tready,      /// taken
    output wire  [23:0]         m_ev_cqn,         /// its queue
    output wire                 m_ev_error,       /// 0 completion, 1 the queue is in error
    output logic [31:0]         cnt_written,      /// entries written (X5)
    output logic [31:0]         cnt_dropped,      /// completions of queues in error (X2, X4)
    output logic [31:0]         cnt_refused,      /// completions for no queue (X1)
    output logic [31:0]         cnt_records,      /// records read (L2)
    output logic [31:0]         cnt_overruns,     /// queues in error for an overrun (X4)
    output logic [31:0]         cnt_bad_writes,   /// writes answered with an error (E5)
    output logic [31:0]         cnt_events,       /// completion events (E8)
    output logic [31:0]         cnt_arm_refused   /// arms refused (E4)
);

  localparam int OW = $clog2(CQ_WRITES) + 1;
  localparam int FW = $clog2(CQ_OUT_FIFO) + 1;

  wire h_ready, h_take, try_take;
  wire [CQ_IN_W-1:0] h_data;
  cq_take u_take (
      .clk(clk), .rst(rst), .s_valid(s_cq_tvalid), .s_ready(s_cq_tready), .s_data(s_cq_cq), .dma_done(dma_done),
      .ready(h_ready), .data(h_data), .take(h_take));

  // ---- C0: record, retry, entry (I3, I4) ---------------------------------------------------------------------
  wire rec_valid, rec_early, rec_good, try_valid, try_with;
  wire [PW-1:0] rec_place, try_place;
  wire [23:0] rec_value, rec_cqn;
  wire [CQ_IN_W-1:0] try_data;
  wire [PW:0] lot_used;
  wire form_busy;
  wire [FW-1:0] out_waiting;
  wire [OW-1:0] owed;
  wire op, v1, record1, retry1, comp1;
  /* verilator lint_off UNUSEDSIGNAL */  // C0 looks at it
  wire comp2, entry2;
  /* verilator lint_on UNUSEDSIGNAL */
  logic early1, with1, good1;
  logic [PW-1:0] place1;
  logic [23:0] cqn1, value1;
  logic [CQ_IN_W-1:0] data1, data2;
  cq_pick #(.PLACES(CQ_WAITING), .OUT_FIFO(CQ_OUT_FIFO), .WRITES(CQ_WRITES)) u_pick (.owed(owed), .*);

  cq_in_t picked;
  assign picked = try_valid ? try_data : h_data;

  always_ff @(posedge clk) begin
    if (op) begin
      with1  <= try_with;
      place1 <= try_place;
      cqn1   <= rec_valid ? rec_cqn : picked.cqn;
    end
    if (rec_valid) begin
      value1 <= rec_value;
      good1  <= rec_good;
      early1 <= rec_early;
    end
    if (try_take || h_take) data1 <= picked;
    if (comp1) data2 <= data1;
  end

  // ---- C1, C2 -----------------------------------------------------------------------------------------------
  wire refuse, drop, over, write, park, link, ask, early, room_early, free, follow, owner, bad, bad_first, arm_refused, fired;
  wire [PW-1:0] slot, place, tail;
  wire [QW-1:0] queue, bad_queue;
  wire [23:0] index;
  wire [21:0] mask;
  wire [57:0] base;
  wire [60:0] dbr;
  cq_index #(.CQS(CQS), .PLACES(CQ_WAITING)) u_index (
      .op(v1), .op_record(record1), .op_early(early1), .op_retry(retry1), .op_with(with1), .op_place(place1), .op_cqn(cqn1),
      .op_value(value1), .op_good(good1), .room(room_early), .*);

  cq_lot #(.PLACES(CQ_WAITING)) u_lot (
      .park_data(data2), .used(lot_used), .rec_take(rec_valid && !rec_early), .*);

  /* verilator lint_off UNUSEDSIGNAL */  // of who asks only the queue
  cq_in_t of_ask;
  /* verilator lint_on UNUSEDSIGNAL */
  assign of_ask = data2;
  cq_record #(.PLACES(CQ_WAITING), .EARLY(CQ_EARLY)) u_record (
      .ask_place(park ? slot : place), .ask_cqn(of_ask.cqn), .room(room_early), .rec_take(rec_valid),
      .r_error(m_axi_rresp[1]), .*);

  // ---- C3, writes, events -----------------------------------------------------------------------------------
  wire [QW-1:0] b_queue;
  wire b_solicited, b_take, b_empty, b_error;
  wire [$clog2(CQ_B_FIFO):0] b_count;
  cq_form #(.QW(QW), .OUT_FIFO(CQ_OUT_FIFO), .WRITES(CQ_WRITES)) u_form (
      .data(data2), .offset(index[21:0] & mask), .busy(form_busy), .waiting(out_waiting), .*);

  sync_fifo #(.WIDTH(1), .DEPTH(CQ_B_FIFO)) u_b (
      .clk(clk), .rst(rst), .wr_en(m_axi_bvalid && m_axi_bready), .wr_data(m_axi_bresp[1]), .rd_en(b_take),
      .rd_data(b_error), .empty(b_empty), .count(b_count));

  cq_event #(.CQS(CQS)) u_event (
      .b_valid(!b_empty), .fail(over), .fail_queue(queue), .refused(arm_refused), .*);

  assign m_axi_awid    = '0;
  assign m_axi_awlen   = '0;
  assign m_axi_awsize  = 3'd6;
  assign m_axi_awburst = 2'd1;
  assign m_axi_wstrb   = '1;
  assign m_axi_wlast   = 1'b1;
  assign m_axi_bready  = b_count < ($clog2(CQ_B_FIFO) + 1)'(CQ_B_FIFO);
  assign m_axi_arlen   = '0;
  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_rready  = 1'b1;
  wire unused_ok = &{1'b0, m_axi_bid, m_axi_bresp[0], m_axi_rresp[0], m_axi_rlast, index[23:22]};

  // counted a cycle later: a counter is not part of a decision's path
  logic [7:0] counts;
  always_ff @(posedge clk) begin
    counts <= rst ? '0 : {write, drop, refuse, ask, over, bad, fired, arm_refused};
    if (rst) begin
      cnt_written     <= '0;
      cnt_dropped     <= '0;
      cnt_refused     <= '0;
      cnt_records     <= '0;
      cnt_overruns    <= '0;
      cnt_bad_writes  <= '0;
      cnt_events      <= '0;
      cnt_arm_refused <= '0;
    end else begin
      if (counts[7]) cnt_written <= cnt_written + 1'b1;
      if (counts[6]) cnt_dropped <= cnt_dropped + 1'b1;
      if (counts[5]) cnt_refused <= cnt_refused + 1'b1;
      if (counts[4]) cnt_records <= cnt_records + 1'b1;
      if (counts[3]) cnt_overruns <= cnt_overruns + 1'b1;
      if (counts[2]) cnt_bad_writes <= cnt_bad_writes + 1'b1;
      if (counts[1]) cnt_events <= cnt_events + 1'b1;
      if (counts[0]) cnt_arm_refused <= cnt_arm_refused + 1'b1;
    end
  end

  latency_tap #(.NAME({TAP, ".in"})) u_tap_in (.clk(clk), .rst(rst), .event_i(s_cq_tvalid && s_cq_tready));
  latency_tap #(.NAME({TAP, ".write"})) u_tap_write (.clk(clk), .rst(rst), .event_i(m_axi_awvalid && m_axi_awready));
  latency_tap #(.NAME({TAP, ".done"})) u_tap_done (.clk(clk), .rst(rst), .event_i(m_axi_bvalid && m_axi_bready));
  latency_tap #(.NAME({TAP, ".event"})) u_tap_event (.clk(clk), .rst(rst), .event_i(m_ev_tvalid && m_ev_tready));

  // An arm in every cycle would keep B and visits from E0 for ever.
  logic armed_before;
  always_ff @(posedge clk) armed_before <= arm_valid && !rst;
  `MH_ASSERT(a_arms, !(arm_valid && armed_before))
  `MH_NEVER_X(a_known, {s_cq_tready, m_axi_awvalid, m_axi_wvalid, m_axi_arvalid, m_axi_bready, m_ev_tvalid, cnt_written,
                        cnt_dropped, cnt_refused, cnt_records, cnt_overruns, cnt_events})

endmodule

`default_nettype wire
