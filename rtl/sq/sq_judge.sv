// SPDX-License-Identifier: Apache-2.0
// D1 to D3 of the send queues: records judged, blocks put together to WQEs (docs/sq.md, D2 to D7). Holds what
// returns write of each queue: published and taken index, the unfinished WQE's blocks, turns done.
`default_nettype none
`include "microhop_assert.svh"

module sq_judge
  import sq_pkg::*;
#(
    parameter int QPS = 256,  /// queue pairs
    localparam int QW = $clog2(QPS)
) (
    input  wire              clk,       /// clock
    input  wire              rst,       /// synchronous reset, active high
    // D1
    input  wire              i_valid,   /// an item
    input  wire [ITEM_W-1:0] i_item,    /// item_t
    input  wire [511:0]      i_data,    /// its line
    input  wire              i_err,     /// read with an error
    output wire              go,        /// D1 and D2 move
    output wire [QW-1:0]     i_qp,      /// queue in D1
    // D3: flags
    output logic [QW-1:0]    e_qp,      /// queue in D3
    output logic             e_record,  /// its record was judged
    output logic             e_further, /// it publishes more than was asked for
    output logic             e_idle,    /// nothing is under way or unfinished
    // D2: flags
    output wire [QW-1:0]     d_qp,      /// queue in D2
    output wire              d_halt,    /// the queue halts
    output wire              d_takes,   /// taken moves
    output wire              d_even,    /// turns done = turns begun
    input  wire              d_err,     /// the queue has halted
    input  wire [9:0]        d_begun,   /// turns begun
    // the index taken, for P3
    input  wire [QW-1:0]     l_qp,      /// queue in P2
    output logic [15:0]      l_taken,   /// its index, in P3
    // T0 samples
    input  wire              t0_en,     /// samples
    input  wire [QW-1:0]     t0_qp,     /// its queue
    output logic [15:0]      t1_taken,  /// index taken
    output logic [15:0]      t1_pub,    /// published index
    // WQE register
    output logic             w_valid,   /// holds a WQE
    input  wire              w_take,    /// taken
    output logic             w_error,   /// in place of a WQE: the queue halted, or its WQE is too long
    output logic [23:0]      w_qpn,     /// queue pair
    output logic [15:0]      w_index,   /// index
    output logic [7:0]       w_opcode,  /// of an error
    output logic [2047:0]    w_data,    /// bytes
    // counters
    output logic [31:0]      cnt_fetched,       /// blocks taken from memory
    output logic [31:0]      cnt_discarded,     /// blocks thrown away
    output logic [31:0]      cnt_record_behind, /// records older than their hint
    output logic [31:0]      cnt_halted         /// queues halted
);

  // what is kept of a queue: indexes, blocks of the unfinished WQE and how many it takes, turns done
  logic [15:0] pubs [QPS];
  logic [15:0] takens [QPS];
  logic [34:0] rests [QPS];  // {next block, have, need, done}
  logic [511:0] part0 [QPS];
  logic [511:0] part1 [QPS];
  logic [511:0] part2 [QPS];

  assign go = !w_valid || w_take;

  /* verilator lint_off UNUSEDSIGNAL */  // D1 looks at the queue and the place of a record
  item_t a;
  /* verilator lint_on UNUSEDSIGNAL */
  assign a    = i_item;
  assign i_qp = a.qp[QW-1:0];

  // D2
  logic v, r_err;
  logic [ITEM_W-1:0] item_q;
  logic [511:0] line, p0, p1, p2;
  logic [15:0] record;
  logic [15:0] s_pub, s_taken, s_next;
  logic [3:0] s_have;
  logic [4:0] s_need;
  logic [9:0] s_done;
  /* verilator lint_off UNUSEDSIGNAL */  // the place of a record was looked at in D1
  item_t d;
  /* verilator lint_on UNUSEDSIGNAL */
  assign d = item_q;
  assign d_qp = d.qp[QW-1:0];

  wire on = v && go;
  wire live = on && !d_err;
  wire is_record = d.kind == ITEM_RECORD;
  wire is_block = d.kind == ITEM_BLOCK;
  wire [15:0] ring = 16'd1 << d.log;

  // record (D3)
  wire [15:0] to_record = record - s_taken;
  wire [15:0] to_base = s_pub - s_taken;
  wire [15:0] back = s_pub - record;
  wire [15:0] behind = d.i - record;
  wire newer = to_record > to_base && to_record <= ring;
  wire older = back <= ring;
  wire [15:0] to_stop = d.stop - s_taken;
  wire [15:0] pub = is_record && newer ? record : s_pub;
  wire bad_record = r_err || (!newer && !older);

  // block (D4)
  // Blocks of a queue come in order, and those beyond the published index last: one that is not the next comes
  // when nothing published is left.
  wire wanted = is_block && s_next != s_pub;
  wire good = wanted && !r_err;
  wire first = s_have == 4'd0;
  wire [5:0] ds = line[61:56];
  wire [4:0] blocks = ds == 6'd0 ? 5'd1 : 5'((7'(ds) + 7'd3) >> 2);
  wire [4:0] need = first ? blocks : s_need;
  wire long_one = need > 5'd4;
  wire ends = 5'(s_have) + 5'd1 == need;
  wire d_ends = good && ends;
  wire emit = good && (long_one ? first : ends);

  wire judged = live && is_record && !bad_record;
  assign d_halt    = live && ((is_record && bad_record) || (wanted && r_err));
  assign d_takes   = live && d_ends;

  wire [15:0] after = s_next + 16'd1;
  wire [15:0] n_taken = d_ends ? after : s_taken;
  wire [15:0] n_next = good ? after : s_next;
  wire [3:0] n_have = !good ? s_have : ends ? 4'd0 : s_have + 4'd1;
  wire [4:0] n_need = good ? need : s_need;
  wire [9:0] n_done = s_done + 10'(d.last);
  assign d_even = on && d.last && n_done == d_begun;

  logic [15:0] word;
  always_comb begin
    word = '0;
    for (int k = 0; k < 8; k++) if (a.word == 3'(k)) word = {i_data[64*k+48+:8], i_data[64*k+56+:8]};
  end

  // The first record since idle begins anew.
  wire anew = a.kind == ITEM_RECORD && a.fresh;
  wire fwd = on && d_qp == i_qp;
  wire store0 = live && good && s_have == 4'd0 && !long_one;
  wire store1 = live && good && s_have == 4'd1 && !long_one;
  wire store2 = live && good && s_have == 4'd2 && !long_one;

  always_ff @(posedge clk) begin
    if (on) begin
      pubs[d_qp]   <= pub;
      takens[d_qp] <= n_taken;
      rests[d_qp]  <= {n_next, n_have, n_need, n_done};
    end
    if (store0) part0[d_qp] <= line;
    if (store1) part1[d_qp] <= line;
    if (store2) part2[d_qp] <= line;
    if (go && i_valid) begin
      item_q <= i_item;
      line   <= i_data;
      r_err  <= i_err;
      record <= word;
      s_pub   <= anew ? a.taken : fwd ? pub : pubs[i_qp];
      s_taken <= anew ? a.taken : fwd ? n_taken : takens[i_qp];
      {s_next, s_have, s_need, s_done} <= anew ? {a.taken, 19'd0} : fwd ? {n_next, n_have, n_need, n_done} : rests[i_qp];
      p0     <= fwd && store0 ? line : part0[i_qp];
      p1     <= fwd && store1 ? line : part1[i_qp];
      p2     <= fwd && store2 ? line : part2[i_qp];
    end
    l_taken <= on && d_qp == l_qp ? n_taken : takens[l_qp];
    if (t0_en) begin
      t1_taken <= takens[t0_qp];
      t1_pub   <= pubs[t0_qp];
    end
  end

  logic k_fetched, k_discarded, k_behind, k_halted;  // to be counted

  always_ff @(posedge clk) begin
    if (rst) begin
      v                 <= 1'b0;
      w_valid           <= 1'b0;
      cnt_fetched       <= '0;
      cnt_discarded     <= '0;
      cnt_record_behind <= '0;
      cnt_halted        <= '0;
      {k_fetched, k_discarded, k_behind, k_halted} <= 4'd0;
      {e_record, e_idle} <= 2'd0;
    end else begin
      e_record <= judged;
      e_idle   <= live && d.last && n_done == d_begun && n_taken == pub && n_have == 4'd0 && !d_halt;
      if (go) begin
        v       <= i_valid;
        w_valid <= live && (emit || d_halt);
      end
      k_fetched   <= live && good;
      k_discarded <= live && is_block && !wanted;
      k_behind    <= live && is_record && !r_err && behind != 16'd0 && behind <= ring;
      k_halted    <= d_halt;
      cnt_fetched       <= cnt_fetched + 32'(k_fetched);
      cnt_discarded     <= cnt_discarded + 32'(k_discarded);
      cnt_record_behind <= cnt_record_behind + 32'(k_behind);
      cnt_halted        <= cnt_halted + 32'(k_halted);
    end
    e_qp      <= d_qp;
    e_further <= newer ? to_record > to_stop : to_base > to_stop;
    if (go && v) begin
      w_error  <= d_halt || long_one;
      w_qpn    <= d.qpn;
      w_index  <= s_taken;
      w_opcode <= d_halt ? 8'd0 : line[31:24];
      w_data   <= {line, line, line, line};
      if (need > 5'd1) w_data[511:0] <= p0;
      if (need > 5'd2) w_data[1023:512] <= p1;
      if (need > 5'd3) w_data[1535:1024] <= p2;
    end
  end

  // Blocks come in the order of the ring, none is missing.
  `MH_ASSERT(a_next, !(live && good) || (d.i == s_next && s_next == s_taken + 16'(s_have)))

endmodule

`default_nettype wire
