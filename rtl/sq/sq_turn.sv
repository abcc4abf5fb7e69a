// SPDX-License-Identifier: Apache-2.0
// T0, T1 and T2 of the send queues: a turn of the first active queue, its record read and its block reads, one a
// cycle (docs/sq.md, T1 to T5). Holds what turns write of each queue: the index asked for, and turns begun.
`default_nettype none
`include "microhop_assert.svh"

module sq_turn
  import microhop_pkg::*;
  import sq_pkg::*;
#(
    parameter int QPS  = 256,  /// queue pairs
    parameter int TAGS = 512,  /// places of the reorder ring
    localparam int QW  = $clog2(QPS),
    localparam int TW  = $clog2(TAGS)
) (
    input  wire                clk,           /// clock
    input  wire                rst,           /// synchronous reset, active high
    input  wire                ctx_we,        /// a table entry is written
    input  wire [QW-1:0]       ctx_addr,      /// its number
    /* verilator lint_off UNUSEDSIGNAL */  // enable and page are for stores
    input  wire [SQ_CTX_W-1:0] ctx_data,      /// sq_ctx_t
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                head_valid,    /// the active queue holds somebody
    input  wire [QW-1:0]       head_qp,       /// its head
    output wire                head_pop,      /// has its turn
    // T0 samples; what others keep is here in T1
    input  wire                t0_virgin,     /// taken is the table's first index
    input  wire                t0_ours,       /// taken was moved last by a store
    input  wire [15:0]         t1_store_taken,/// index taken by stores
    input  wire [15:0]         t1_hint,       /// hint
    input  wire [15:0]         t1_judge_taken,/// index taken by fetched WQEs
    input  wire [15:0]         t1_pub,        /// published index
    // flags
    output logic [QW-1:0]      t1_qp,         /// queue in T1
    output wire                t1_begin,      /// hands over
    output wire                t1_void,       /// ends at once
    input  wire                t1_record,     /// a record is to be read
    input  wire                t1_fresh,      /// flag
    input  wire                t1_err,        /// flag
    output logic [QW-1:0]      t2_qp,         /// queue in T2
    output wire                t2_end,        /// last item
    output wire                t2_left,       /// published blocks are left
    // turns begun, for D2
    input  wire                d_en,          /// samples
    input  wire [QW-1:0]       d1_qp,         /// queue in D1
    output logic [9:0]         d2_begun,      /// its turns begun, in D2
    // reorder ring
    input  wire                room,          /// a place is free
    input  wire [TW-1:0]       place,         /// its number
    output wire                put,           /// it is used
    output wire                put_null,      /// returned at once
    output wire [ITEM_W-1:0]   put_item,      /// item_t
    // reads
    output wire [TW-1:0]       m_axi_arid,    /// place
    output wire [63:0]         m_axi_araddr,  /// address
    output wire                m_axi_arvalid, /// offered
    input  wire                m_axi_arready  /// accepted
);

  localparam int AC = $clog2(spec_pkg::SQ_AR_FIFO) + 1;

  logic [SQ_CTX_W-1:0] table_q [QPS];
  logic [15:0] req [QPS];
  logic [9:0] begun [QPS];

  // T1
  logic t1_valid, t1_virgin, t1_ours;
  /* verilator lint_off UNUSEDSIGNAL */  // enable and page are for stores
  sq_ctx_t c1;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [SQ_CTX_W-1:0] c1_q;
  logic [15:0] t1_req;
  logic [9:0] t1_begun;
  assign c1 = c1_q;

  // T2
  logic t2_valid, t2_record, t2_null, t2_fresh;
  logic [23:0] t2_qpn;
  logic [57:0] t2_base;  // in lines
  logic [60:0] t2_dbr;  // in words of 8 bytes
  logic [3:0] t2_log;
  logic [15:0] t2_i, t2_n, t2_taken, t2_hint, t2_stop, t2_pub;

  wire t2_last = t2_record ? t2_n == 16'd0 : (t2_null || t2_n == 16'd1);
  wire [AC-1:0] ar_count;
  wire issue = t2_valid && room && ar_count < AC'(spec_pkg::SQ_AR_FIFO);
  assign t2_end = issue && t2_last;

  wire free2 = !t2_valid || t2_end;
  assign t1_void  = t1_valid && free2 && t1_err;
  assign t1_begin = t1_valid && free2 && !t1_err;
  assign head_pop = head_valid && (!t1_valid || free2);

  // T2 of the rules: where the turn begins and ends
  wire [15:0] ring = 16'd1 << c1.sq_log;
  wire [15:0] taken = t1_virgin ? c1.pi0 : t1_ours ? t1_store_taken : t1_judge_taken;
  wire [15:0] to_req = t1_req - taken;
  wire [15:0] to_pub = t1_fresh ? 16'd0 : t1_pub - taken;
  wire [15:0] to_hint = t1_hint - taken;
  wire [15:0] to_q = t1_fresh ? 16'd0 : to_req < to_pub ? to_req : to_pub;
  wire [15:0] to_limit = t1_record && to_hint <= ring && to_hint > to_pub ? to_hint : to_pub;
  wire [15:0] many = to_limit - to_q;
  wire [15:0] weight = c1.weight == 8'd0 ? 16'd1 : 16'(c1.weight);
  wire [15:0] n = many < weight ? many : weight;
  wire [15:0] q = taken + to_q;
  wire [15:0] stop = q + n;

  always_ff @(posedge clk) begin
    if (ctx_we) table_q[ctx_addr] <= ctx_data;
    if (t1_begin) begin
      req[t1_qp]   <= stop;
      begun[t1_qp] <= t1_fresh ? 10'd1 : t1_begun + 10'd1;
    end
    if (head_pop) begin
      c1_q     <= table_q[head_qp];
      t1_req   <= req[head_qp];
      t1_begun <= begun[head_qp];
    end
    if (d_en) d2_begun <= begun[d1_qp];
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      t1_valid <= 1'b0;
      t2_valid <= 1'b0;
    end else begin
      if (head_pop) t1_valid <= 1'b1;
      else if (free2) t1_valid <= 1'b0;
      if (t1_begin) t2_valid <= 1'b1;
      else if (t2_end) t2_valid <= 1'b0;
    end
    if (head_pop) begin
      t1_qp     <= head_qp;
      t1_virgin <= t0_virgin;
      t1_ours   <= t0_ours;
    end
    if (t1_begin) begin
      t2_qp     <= t1_qp;
      t2_qpn    <= c1.qpn;
      t2_base   <= c1.sq_base[63:6];
      t2_dbr    <= c1.dbr_addr[63:3];
      t2_log    <= c1.sq_log;
      t2_record <= t1_record;
      t2_null   <= !t1_record && n == 16'd0;
      t2_fresh  <= t1_fresh;
      t2_i      <= q;
      t2_n      <= n;
      t2_taken  <= taken;
      t2_hint   <= t1_hint;
      t2_stop   <= stop;
      t2_pub    <= taken + to_pub;
    end else if (issue) begin
      t2_record <= 1'b0;
      if (!t2_record) begin
        t2_i <= t2_i + 16'd1;
        t2_n <= t2_n - 16'd1;
      end
    end
  end

  // T5: published and not asked for
  wire [15:0] left = t2_pub - t2_stop;
  assign t2_left = left != 16'd0 && left <= 16'h8000;

  item_t item;
  always_comb begin
    item.kind  = t2_record ? ITEM_RECORD : t2_null ? ITEM_NULL : ITEM_BLOCK;
    item.qp    = 12'(t2_qp);
    item.qpn   = t2_qpn;
    item.i     = t2_record ? t2_hint : t2_i;
    item.stop  = t2_stop;
    item.taken = t2_taken;
    item.fresh = t2_fresh;
    item.last  = t2_last;
    item.log   = t2_log;
    item.word  = t2_dbr[2:0];
  end
  assign put      = issue;
  assign put_null = t2_null;
  assign put_item = item;

  wire [15:0] slot = t2_i & ~(16'hffff << t2_log);
  wire [57:0] line = t2_record ? t2_dbr[60:3] : t2_base + 58'(slot);
  wire [63:0] addr = {line, 6'd0};
  wire ar_empty;
  sync_fifo #(.WIDTH(TW + 64), .DEPTH(spec_pkg::SQ_AR_FIFO)) u_ar (
      .clk(clk), .rst(rst), .wr_en(issue && !t2_null), .wr_data({place, addr}), .rd_en(m_axi_arvalid && m_axi_arready),
      .rd_data({m_axi_arid, m_axi_araddr}), .empty(ar_empty), .count(ar_count));
  assign m_axi_arvalid = !ar_empty;

  // A turn asks for what the ring holds, not for more.
  `MH_ASSERT(a_ring, !t1_begin || n <= (16'd1 << c1.sq_log))

endmodule

`default_nettype wire
