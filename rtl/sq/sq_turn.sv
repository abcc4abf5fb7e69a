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
    // T0 samples; what others keep is here in T1a
    input  wire                t0_virgin,     /// taken is the table's first index
    input  wire                t0_ours,       /// taken was moved last by a store
    input  wire                t0_fresh,      /// first turn since idle
    input  wire                t0_recpend,    /// a record read is under way
    input  wire [15:0]         t1_store_taken,/// index taken by stores
    input  wire [15:0]         t1_hint,       /// hint
    input  wire [15:0]         t1_judge_taken,/// index taken by fetched WQEs
    input  wire [15:0]         t1_pub,        /// published index
    // flags
    output wire [QW-1:0]       t1_qp,         /// queue in T1c
    output wire                t1_begin,      /// hands over
    output wire                t1_void,       /// ends at once
    input  wire                t1_record,     /// a record is to be read
    input  wire                t1_err,        /// flag
    output logic [QW-1:0]      t2_qp,         /// queue in T2
    output wire                t2_end,        /// last item
    output logic               t2_left,       /// published blocks are left
    input  wire                t2_stays,      /// flags of its queue let the turn go on (T7)
    // turns begun, for D2
    input  wire                d_en,          /// samples
    input  wire [QW-1:0]       d1_qp,         /// queue in D1
    input  wire [QW-1:0]       d2_qp,         /// queue in D2
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

  // T1a: what T0 sampled
  logic a_valid, a_virgin, a_ours, a_fresh, a_recpend;
  /* verilator lint_off UNUSEDSIGNAL */  // enable and page are for stores
  sq_ctx_t ca;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [SQ_CTX_W-1:0] ca_q;
  logic [15:0] a_req;
  logic [9:0] a_begun;
  logic [QW-1:0] a_qp;
  assign ca = ca_q;

  // T1b: distances from taken; T1c: where the turn may begin and end. What a turn carries through:
  // {qp, begun, qpn, weight, base, log, record's address, hint, fresh, taken}
  localparam int CW = QW + 10 + 24 + 16 + 58 + 4 + 61 + 16 + 1 + 16;
  // Upper lines of the ring's address plus one, to which a carry of the lower ones leads: a half a step.
  logic [21:0] b_up;
  logic [41:0] c_up;
  /* verilator lint_off UNUSEDSIGNAL */  // the upper half
  wire [57:0] b_base;
  /* verilator lint_on UNUSEDSIGNAL */
  logic b_valid, c_valid, b_recpend, c_ahead;
  logic c_hold;  // what was asked for beyond the published index may yet turn out to be published
  logic [CW-1:0] b_with, c_with;
  logic [15:0] b_req, b_pub, b_hint, c_q, c_many, c_many_hint, c_pub;

  // T2
  logic t2_valid, t2_record, t2_null, t2_fresh;
  logic [23:0] t2_qpn;
  logic [57:0] t2_base;  // in lines
  logic [41:0] t2_up;
  logic [60:0] t2_dbr;  // in words of 8 bytes
  logic [3:0] t2_log;
  logic [15:0] t2_i, t2_n, t2_taken, t2_hint, t2_stop, t2_pub;
  wire [15:0] t2_longer = t2_stop + 16'd1;

  wire t2_last = t2_record ? t2_n == 16'd0 : (t2_null || t2_n == 16'd1);
  wire [AC-1:0] ar_count;
  wire issue = t2_valid && room && ar_count < AC'(spec_pkg::SQ_AR_FIFO);
  // T7: nobody could take over, and there is more to ask for. Who waits in T1c finds T2 free all the same.
  wire goes_on = t2_last && !c_valid && t2_left && t2_stays;
  wire longer = issue && goes_on;
  assign t2_end = issue && t2_last && !goes_on;

  wire free2 = !t2_valid || (issue && t2_last);
  wire free_c = !c_valid || free2;
  wire free_b = !b_valid || free_c;
  wire free_a = !a_valid || free_b;
  assign t1_void  = c_valid && free2 && t1_err;
  assign t1_begin = c_valid && free2 && !t1_err;
  assign head_pop = head_valid && free_a;

  // T1a -> T1b
  wire [15:0] taken = a_virgin ? ca.pi0 : a_ours ? t1_store_taken : t1_judge_taken;
  wire [15:0] ring = 16'd1 << ca.sq_log;
  wire [15:0] a_weight = ca.weight == 8'd0 ? 16'd1 : 16'(ca.weight);

  // T1b -> T1c
  wire [15:0] b_to = b_req < b_pub ? b_req : b_pub;
  logic [15:0] b_ring;
  assign b_base = b_with[16+1+16+61+4+:58];

  // T1c -> T2: with the flags of this cycle
  logic [9:0] c_begun;
  logic [23:0] c_qpn;
  logic [15:0] c_weight, c_hint, c_taken;
  logic [57:0] c_base;
  logic [3:0] c_log;
  logic [60:0] c_dbr;
  logic c_fresh;
  assign {t1_qp, c_begun, c_qpn, c_weight, c_base, c_log, c_dbr, c_hint, c_fresh, c_taken} = c_with;
  wire to_hint = t1_record && c_ahead;
  wire [15:0] n_pub = c_many < c_weight ? c_many : c_weight;
  wire [15:0] n_hint = c_many_hint < c_weight ? c_many_hint : c_weight;
  wire [15:0] n = c_hold ? 16'd0 : to_hint ? n_hint : n_pub;
  wire [9:0] n_begun = c_fresh ? 10'd1 : c_begun + 10'd1;
  wire [15:0] stop = c_hold ? c_q : to_hint ? c_q + n_hint : c_q + n_pub;

  always_ff @(posedge clk) begin
    if (ctx_we) table_q[ctx_addr] <= ctx_data;
    if (t1_begin ? !c_hold : longer) req[t1_begin ? t1_qp : t2_qp] <= t1_begin ? stop : t2_longer;
    if (t1_begin) begun[t1_qp] <= n_begun;
    if (head_pop) begin
      ca_q     <= table_q[head_qp];
      a_req    <= req[head_qp];
      a_begun  <= begun[head_qp];
      a_qp     <= head_qp;
      a_virgin <= t0_virgin;
      a_ours   <= t0_ours;
      a_fresh  <= t0_fresh;
      a_recpend <= t0_recpend;
    end
    if (a_valid && free_b) begin
      b_with <= {a_qp, a_begun, ca.qpn, a_weight, ca.sq_base[63:6], ca.sq_log, ca.dbr_addr[63:3], t1_hint, a_fresh, taken};
      b_req  <= a_fresh ? 16'd0 : a_req - taken;
      b_pub  <= a_fresh ? 16'd0 : t1_pub - taken;
      b_hint <= t1_hint - taken;
      b_ring <= ring;
      b_recpend <= a_recpend;
      b_up   <= {1'b0, ca.sq_base[42:22]} + 22'd1;
    end
    if (b_valid && free_c) begin
      c_with      <= b_with;
      c_up        <= {b_base[57:37] + 21'(b_up[21]), b_up[20:0]};
      c_q         <= b_with[15:0] + b_to;
      c_many      <= b_pub - b_to;
      c_many_hint <= b_hint - b_to;
      c_hold      <= b_recpend && b_req > b_pub;
      c_ahead     <= b_hint <= b_ring && b_hint > b_pub;
      c_pub       <= b_with[15:0] + b_pub;
    end
    // turns begun as D2 sees them, however long it waits there
    if (d_en) d2_begun <= t1_begin && t1_qp == d1_qp ? n_begun : begun[d1_qp];
    else if (t1_begin && t1_qp == d2_qp) d2_begun <= n_begun;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      a_valid  <= 1'b0;
      b_valid  <= 1'b0;
      c_valid  <= 1'b0;
      t2_valid <= 1'b0;
    end else begin
      if (free_a) a_valid <= head_valid;
      if (free_b) b_valid <= a_valid;
      if (free_c) c_valid <= b_valid;
      if (t1_begin) t2_valid <= 1'b1;
      else if (t2_end) t2_valid <= 1'b0;
    end
    if (t1_begin) begin
      t2_qp     <= t1_qp;
      t2_qpn    <= c_qpn;
      t2_base   <= c_base;
      t2_up     <= c_up;
      t2_dbr    <= c_dbr;
      t2_log    <= c_log;
      t2_record <= t1_record;
      t2_null   <= !t1_record && n == 16'd0;
      t2_fresh  <= c_fresh;
      t2_i      <= c_q;
      t2_n      <= n;
      t2_taken  <= c_taken;
      t2_hint   <= c_hint;
      t2_stop   <= stop;
      t2_pub    <= c_pub;
      t2_left   <= c_many > c_weight;
    end else if (issue) begin
      t2_record <= 1'b0;
      if (!t2_record) begin
        t2_i <= t2_i + 16'd1;
        if (!longer) t2_n <= t2_n - 16'd1;
      end
      if (longer) begin
        t2_stop <= t2_longer;
        t2_left <= t2_longer != t2_pub;
      end
    end
  end

  item_t item;
  always_comb begin
    item.kind  = t2_record ? ITEM_RECORD : t2_null ? ITEM_NULL : ITEM_BLOCK;
    item.qp    = 12'(t2_qp);
    item.qpn   = t2_qpn;
    item.i     = t2_record ? t2_hint : t2_i;
    item.stop  = t2_left ? t2_pub : t2_stop;
    item.taken = t2_taken;
    item.fresh = t2_fresh;
    item.last  = t2_last && !goes_on;
    item.log   = t2_log;
    item.word  = t2_dbr[2:0];
  end
  assign put      = issue;
  assign put_null = t2_null;
  assign put_item = item;

  wire [15:0] slot = t2_i & ~(16'hffff << t2_log);
  wire [16:0] low = {1'b0, t2_base[15:0]} + {1'b0, slot};
  wire [57:0] line = t2_record ? t2_dbr[60:3] : {low[16] ? t2_up : t2_base[57:16], low[15:0]};
  wire [63:0] addr = {line, 6'd0};
  wire ar_empty;
  sync_fifo #(.WIDTH(TW + 64), .DEPTH(spec_pkg::SQ_AR_FIFO)) u_ar (
      .clk(clk), .rst(rst), .wr_en(issue && !t2_null), .wr_data({place, addr}), .rd_en(m_axi_arvalid && m_axi_arready),
      .rd_data({m_axi_arid, m_axi_araddr}), .empty(ar_empty), .count(ar_count));
  assign m_axi_arvalid = !ar_empty;

  // A turn asks for what the ring holds, not for more.
  `MH_ASSERT(a_ring, !t1_begin || n <= (16'd1 << c_log))

endmodule

`default_nettype wire
