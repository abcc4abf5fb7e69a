// SPDX-License-Identifier: Apache-2.0
// Reads the doorbell record and the WQE blocks up to the published index, one 64-byte read a block, in
// order, up to DOORBELL_FETCH_BLOCKS of them in flight or buffered. Rules F1 to F9 of README.md.
// All reads carry one ID, so they come back in the order of issue: a block asked for ahead of its record
// is judged after it. Latencies: latency.doorbell.ring, issue, judge, block.
//
// Indexes count blocks modulo 2^16 and stand in this order around the ring:
//   taken (given to the decoder) <= ri (next to return) <= pub (published); fi (next to ask) <= limit
`default_nettype none
`include "microhop_assert.svh"

module doorbell_fetch
  import spec_pkg::*;
(
    input  wire          clk,                /// clock
    input  wire          rst,                /// synchronous reset, active high
    /* verilator lint_off UNUSEDSIGNAL */  // 64-byte and 8-byte aligned
    input  wire  [63:0]  sq_base,            /// address of the ring
    input  wire  [3:0]   sq_log,             /// log2 of its blocks
    input  wire  [63:0]  dbr_addr,           /// address of the doorbell record
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire  [15:0]  ci0,                /// index at reset
    input  wire          ring,               /// a doorbell
    input  wire  [15:0]  ring_hint,          /// index it promises
    input  wire          bf_take,            /// a BlueFlame WQE goes straight to the decoder
    input  wire  [4:0]   bf_blocks,          /// its blocks
    input  wire  [15:0]  taken,              /// next block the decoder takes
    output wire          blk_valid,          /// a block for the decoder
    output wire  [511:0] blk_data,           /// the block
    input  wire          blk_pop,            /// taken
    output wire          idle,               /// nothing rung, in flight, buffered or wrong
    output logic [15:0]  pub,                /// published index
    output logic         stop,               /// the queue halts after what is published
    output wire  [63:0]  m_axi_araddr,       /// read address
    output wire          m_axi_arvalid,      /// read address valid
    input  wire          m_axi_arready,      /// read address accepted
    input  wire  [511:0] m_axi_rdata,        /// data
    input  wire          m_axi_rerr,         /// SLVERR or DECERR
    input  wire          m_axi_rvalid,       /// data valid
    output logic [31:0]  cnt_fetched,        /// blocks given to the decoder from memory
    output logic [31:0]  cnt_record_behind   /// records older than the doorbell that asked for them
);

  localparam int BLOCKS = DOORBELL_FETCH_BLOCKS;
  localparam int CW = $clog2(BLOCKS) + 1;
  localparam int AW = $clog2(DOORBELL_AR_FIFO) + 1;

  // Doorbells not yet acted on, and the record read they lead to.
  logic        rung;
  logic [15:0] hint;         // the furthest of the doorbells kept in `rung`
  logic        rec_busy;     // a record read is on its way
  logic [15:0] rec_hint;     // hint at its issue
  logic [CW-1:0] rec_after;  // blocks that return before it
  // Indexes and fill.
  logic [15:0] fi, ri, limit;
  logic [CW-1:0] inflight;   // blocks asked for and not returned
  logic [CW-1:0] held;       // the same and those in the FIFO
  logic        drain;        // blocks beyond the published index are on their way: wait for them
  // R input register; the record's index is picked on the way in, which shortens its judgement.
  logic         rq_valid, rq_err;
  logic [511:0] rq_data;
  logic [15:0]  rec;

  // Word 1 of the record, big-endian: its low 16 bits are bytes 6 and 7 behind an 8-byte boundary of the beat.
  wire [15:0] rec_le = m_axi_rdata[{dbr_addr[5:3], 6'd48}+:16];

  always_ff @(posedge clk) begin
    if (rst) rq_valid <= 1'b0;
    else rq_valid <= m_axi_rvalid;
    if (m_axi_rvalid) begin
      rq_data <= m_axi_rdata;
      rq_err  <= m_axi_rerr;
      rec     <= {rec_le[7:0], rec_le[15:8]};
    end
  end

  // What has returned.
  wire arr_rec = rq_valid && rec_busy && rec_after == 0;
  wire arr_blk = rq_valid && !arr_rec;
  wire wanted  = arr_blk && ri != pub;
  wire keep    = wanted && !rq_err;
  wire fail    = wanted && rq_err;

  // Distances from the next block to take, and the ring's size.
  wire [16:0] size   = 17'd1 << sq_log;
  wire [15:0] d_rec  = rec - taken;
  wire [15:0] d_pub  = pub - taken;
  wire [15:0] d_fi   = fi - taken;
  wire [15:0] d_hint = hint - taken;
  wire [15:0] d_old   = pub - rec;
  wire        rec_in  = {1'b0, d_rec} <= size;
  wire        rec_bad = rq_err || (!rec_in && {1'b0, d_old} > size);
  wire        rec_new = !stop && !rq_err && rec_in && d_rec > d_pub;
  wire [15:0] rec_lag = rec_hint - rec;
  wire        hint_ok = {1'b0, d_hint} <= size && d_hint > d_pub;
  wire        newer   = 16'(ring_hint - hint) < 16'h8000;

  // Reads: the record before the blocks.
  wire [AW-1:0] ar_count;
  wire can     = ar_count < AW'(DOORBELL_AR_FIFO) && !drain && !arr_rec && !fail;
  wire iss_rec = can && rung && !rec_busy && !stop;
  wire iss_blk = can && !iss_rec && fi != limit && held < CW'(BLOCKS);
  wire [14:0] slot    = fi[14:0] & ~(15'h7fff << sq_log);

  // A 64-bit sum would be the longest path of the block: the upper part is one of two prepared values.
  logic [42:0] base_up;  // upper part of the ring's address and one; steady, as the configuration is
  always_ff @(posedge clk) base_up <= sq_base[63:21] + 1'b1;
  wire [15:0] low = {1'b0, sq_base[20:6]} + {1'b0, slot};
  wire [63:0] ar_addr = iss_rec ? {dbr_addr[63:6], 6'b0} : {low[15] ? base_up : sq_base[63:21], low[14:0], 6'b0};

  assign idle = !rung && !rec_busy && fi == pub && held == 0 && !drain && !stop;

  always_ff @(posedge clk) begin
    if (rst) begin
      rung      <= 1'b0;
      rec_busy  <= 1'b0;
      rec_after <= '0;
      fi        <= ci0;
      ri        <= ci0;
      pub       <= ci0;
      limit     <= ci0;
      inflight  <= '0;
      held      <= '0;
      drain     <= 1'b0;
      stop      <= 1'b0;
      cnt_fetched       <= '0;
      cnt_record_behind <= '0;
    end else begin
      // doorbells merge; the furthest hint is kept
      if (ring) rung <= 1'b1;
      else if (iss_rec) rung <= 1'b0;

      if (iss_rec) begin
        rec_busy  <= 1'b1;
        rec_after <= inflight - CW'(arr_blk);
        if (hint_ok) limit <= hint;
      end else if (arr_blk && rec_after != 0) rec_after <= rec_after - 1'b1;

      if (iss_blk) fi <= fi + 1'b1;
      if (keep) ri <= ri + 1'b1;
      inflight <= inflight + CW'(iss_blk) - CW'(arr_blk);
      held     <= held + CW'(iss_blk) - CW'(blk_pop) - CW'(arr_blk && !keep);
      if (blk_pop) cnt_fetched <= cnt_fetched + 1'b1;

      if (arr_rec) begin
        rec_busy <= 1'b0;
        pub      <= rec_new ? rec : pub;
        limit    <= rec_new ? rec : pub;
        drain    <= rec_new ? d_fi > d_rec : d_fi > d_pub;
        if (rec_bad) stop <= 1'b1;
        if (!stop && !rec_bad && rec_lag != 0 && !rec_lag[15]) cnt_record_behind <= cnt_record_behind + 1'b1;
      end
      if (fail) begin
        pub   <= ri;
        limit <= ri;
        drain <= 1'b1;
        stop  <= 1'b1;
      end
      if (drain && inflight == 0) begin
        drain <= 1'b0;
        fi    <= pub;
      end
      if (bf_take) begin
        fi    <= fi + 16'(bf_blocks);
        ri    <= ri + 16'(bf_blocks);
        pub   <= pub + 16'(bf_blocks);
        limit <= limit + 16'(bf_blocks);
      end
    end
  end

  always_ff @(posedge clk) begin
    if (ring && (!rung || iss_rec || newer)) hint <= ring_hint;
    if (iss_rec) rec_hint <= hint;
  end

  wire ar_empty;

  sync_fifo #(
      .WIDTH(64),
      .DEPTH(DOORBELL_AR_FIFO)
  ) u_ar (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (iss_rec || iss_blk),
      .wr_data(ar_addr),
      .rd_en  (m_axi_arvalid && m_axi_arready),
      .rd_data(m_axi_araddr),
      .empty  (ar_empty),
      .count  (ar_count)
  );

  wire          blk_empty;
  wire [CW-1:0] blk_count;

  sync_fifo #(
      .WIDTH(512),
      .DEPTH(BLOCKS)
  ) u_blk (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (keep),
      .wr_data(rq_data),
      .rd_en  (blk_pop),
      .rd_data(blk_data),
      .empty  (blk_empty),
      .count  (blk_count)
  );

  assign m_axi_arvalid = !ar_empty;
  assign blk_valid     = !blk_empty;

  // Room is reserved at the issue of a read.
  `MH_ASSERT(a_held, held <= CW'(BLOCKS) && held == inflight + blk_count)
  // Data that nobody asked for would be taken for a block.
  `MH_ASSERT(a_asked, !arr_blk || inflight != 0)
  // The order of the indexes, on which all distances rest.
  `MH_ASSERT(a_order, ri - taken <= d_pub && {1'b0, d_pub} <= size)
  `MH_ASSERT(a_bf_idle, !bf_take || idle)

endmodule

`default_nettype wire
