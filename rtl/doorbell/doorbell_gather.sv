// SPDX-License-Identifier: Apache-2.0
// Puts one WQE together: from its blocks in the order of the ring, or whole from a BlueFlame store.
// Owns the index of the next block to take. Rules G1 to G5 of README.md.
// Latency: the last block at c, `wq_valid` at c + latency.doorbell.load; one WQE a cycle at best.
`default_nettype none
`include "microhop_assert.svh"

module doorbell_gather
  import spec_pkg::*;
(
    input  wire           clk,         /// clock
    input  wire           rst,         /// synchronous reset, active high
    input  wire  [15:0]   ci0,         /// index at reset
    input  wire           blk_valid,   /// a block from memory
    input  wire  [511:0]  blk_data,    /// the block
    output wire           blk_pop,     /// taken
    input  wire           st_present,  /// a store waits for its classification or is classified
    input  wire           st_whole,    /// the store classified in this cycle carries its WQE whole
    input  wire  [15:0]   st_index,    /// its index
    input  wire  [4:0]    st_blocks,   /// its blocks
    input  wire  [2047:0] st_data,     /// its data
    input  wire           idle,        /// nothing pending in the fetch
    output wire           bf_take,     /// the store goes straight to the decoder
    input  wire  [15:0]   pub,         /// published index
    input  wire           stop,        /// halt after the published blocks
    output logic [15:0]   taken,       /// next block to take
    output logic          wq_valid,    /// a whole WQE
    output logic          wq_fatal,    /// not a WQE: the queue's own error
    output logic [15:0]   wq_index,    /// index of its first block
    output logic [2047:0] wq_data,     /// its blocks
    input  wire           wq_take      /// decoded
);

  localparam logic [5:0] MAX_DS = 6'(4 * WQE_MAX_BB);

  logic [1:0] have;        // blocks of an unfinished WQE that are in wq_data
  logic [1:0] left;        // blocks that it still lacks
  logic [3:0] skip;        // blocks of a WQE too large, still to be thrown away
  logic       fatal_done;  // the queue's own error has been reported

  wire free = !wq_valid || wq_take;

  wire [5:0] ds     = blk_data[61:56];
  wire [4:0] blocks = ds == 0 ? 5'd1 : {1'b0, ds[5:2]} + 5'(|ds[1:0]);
  wire       too_big = ds > MAX_DS;

  wire pop_skip  = blk_valid && skip != 0;
  wire pop_first = blk_valid && skip == 0 && free && have == 0;
  wire pop_next  = blk_valid && skip == 0 && free && have != 0;
  wire fatal     = stop && !fatal_done && taken == pub && free;

  assign blk_pop = pop_skip || pop_first || pop_next;
  assign bf_take = st_whole && idle && st_index == taken && !wq_valid && have == 0 && skip == 0;

  always_ff @(posedge clk) begin
    if (rst) begin
      wq_valid   <= 1'b0;
      wq_fatal   <= 1'b0;
      have       <= '0;
      left       <= '0;
      skip       <= '0;
      fatal_done <= 1'b0;
      taken      <= ci0;
      wq_index   <= '0;
    end else begin
      if (wq_take) wq_valid <= 1'b0;
      if (blk_pop) taken <= taken + 1'b1;
      if (pop_skip) skip <= skip - 1'b1;
      if (pop_first) begin
        wq_index <= taken;
        if (too_big) begin
          wq_valid <= 1'b1;
          skip     <= 4'(blocks - 5'd1);
        end else if (blocks == 5'd1) wq_valid <= 1'b1;
        else begin
          have <= 2'd1;
          left <= 2'(blocks - 5'd1);
        end
      end
      if (pop_next) begin
        have <= have + 1'b1;
        left <= left - 1'b1;
        if (left == 2'd1) begin
          wq_valid <= 1'b1;
          have     <= '0;
        end
      end
      if (bf_take) begin
        wq_valid <= 1'b1;
        wq_index <= taken;
        taken    <= taken + 16'(st_blocks);
      end
      if (fatal) begin
        wq_valid   <= 1'b1;
        wq_fatal   <= 1'b1;
        wq_index   <= have == 0 ? taken : wq_index;
        have       <= '0;
        fatal_done <= 1'b1;
      end
    end
  end

  // The data is loaded on little conditions, so that the wide enables come early; only wq_valid says
  // whether it means something. Blocks beyond the WQE read as zero, not as those of an older WQE.
  wire ld_store = st_present && !blk_valid && free && have == 0;

  always_ff @(posedge clk) begin
    if (pop_first) wq_data[511:0] <= blk_data;
    else if (ld_store) wq_data[511:0] <= st_data[511:0];
  end

  generate
    for (genvar i = 1; i < WQE_MAX_BB; i++) begin : g_unit
      always_ff @(posedge clk) begin
        if (pop_next && have == 2'(i)) wq_data[512*i+:512] <= blk_data;
        else if (pop_first) wq_data[512*i+:512] <= '0;
        else if (ld_store) wq_data[512*i+:512] <= st_blocks > 5'(i) ? st_data[512*i+:512] : '0;
      end
    end
  endgenerate

  // An unfinished WQE keeps its place: nothing may be loaded over it.
  `MH_ASSERT(a_have, have == 0 || !wq_valid)
  `MH_ASSERT(a_one, !(bf_take && (blk_pop || fatal)) && !(fatal && blk_pop))

endmodule

`default_nettype wire
