// SPDX-License-Identifier: Apache-2.0
// UAR page: collects one AXI store (its address and its beats) and says what it is.
// Ready again two cycles after the last transfer of a store; a store never waits for the fetch or for
// the transport, only for room in the response FIFO. Rules S1 to S6 of README.md.
// Latency: last of AW and WLAST at c, `st_valid` at c + latency.doorbell.store, BVALID `respond` later.
`default_nettype none
`include "microhop_assert.svh"

module doorbell_store
  import spec_pkg::*;
(
    input  wire          clk,             /// clock
    input  wire          rst,             /// synchronous reset, active high
    input  wire          enable,          /// queue accepts stores (configured, not halted)
    input  wire  [23:0]  qpn,             /// queue pair number
    input  wire  [3:0]   s_uar_awid,      /// write ID
    input  wire  [11:0]  s_uar_awaddr,    /// offset in the page
    input  wire          s_uar_awvalid,   /// address valid
    output wire          s_uar_awready,   /// address accepted
    input  wire  [511:0] s_uar_wdata,     /// data
    input  wire  [63:0]  s_uar_wstrb,     /// byte strobes
    input  wire          s_uar_wlast,     /// last beat
    input  wire          s_uar_wvalid,    /// data valid
    output wire          s_uar_wready,    /// data accepted
    output wire  [3:0]   s_uar_bid,       /// response ID
    output wire  [1:0]   s_uar_bresp,     /// 0 accepted, 2 refused
    output wire          s_uar_bvalid,    /// response valid
    input  wire          s_uar_bready,    /// response accepted
    output wire          st_present,      /// a store is whole in st_data
    output wire          st_valid,        /// it is classified in this cycle
    output wire          st_accept,       /// it is a doorbell or a BlueFlame WQE
    output wire          st_whole,        /// it carries its WQE whole
    output wire  [15:0]  st_index,        /// WQE index of its control segment
    output wire  [4:0]   st_blocks,       /// WQE blocks by its DS field, 0..16
    output logic [2047:0] st_data         /// up to four 64-byte units
);

  localparam logic [11:0] HALF0 = 12'(UAR_BF_OFFSET);
  localparam logic [11:0] HALF1 = 12'(UAR_BF_OFFSET + UAR_BF_REG_SIZE / 2);
  localparam int BW = $clog2(DOORBELL_B_FIFO) + 1;

  logic        aw_full, w_full;
  logic [3:0]  aw_id;
  logic        off_ok;      // address is the start of a half
  logic [2:0]  beats;       // W beats so far; MAX + 1 stands for more
  logic        first_ok;    // bytes 0..7 of the first beat are there
  logic        all_full;    // no strobe is missing in any beat

  wire aw_take = s_uar_awvalid && s_uar_awready;
  wire w_take  = s_uar_wvalid && s_uar_wready;

  assign s_uar_awready = !aw_full;
  assign s_uar_wready  = !w_full;

  wire [BW-1:0] b_count;
  wire          b_empty;

  assign st_present = aw_full && w_full;
  assign st_valid   = st_present && b_count < BW'(DOORBELL_B_FIFO);

  always_ff @(posedge clk) begin
    if (rst) begin
      aw_full <= 1'b0;
      w_full  <= 1'b0;
      beats   <= '0;
    end else begin
      if (aw_take) aw_full <= 1'b1;
      if (w_take && s_uar_wlast) w_full <= 1'b1;
      if (w_take && beats <= 3'(WQE_MAX_BB)) beats <= beats + 1'b1;
      if (st_valid) begin
        aw_full <= 1'b0;
        w_full  <= 1'b0;
        beats   <= '0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (aw_take) begin
      aw_id  <= s_uar_awid;
      off_ok <= s_uar_awaddr == HALF0 || s_uar_awaddr == HALF1;
    end
    if (w_take) begin
      first_ok <= beats == 0 ? &s_uar_wstrb[7:0] : first_ok;
      all_full <= &s_uar_wstrb && (beats == 0 || all_full);
    end
  end

  generate
    for (genvar i = 0; i < WQE_MAX_BB; i++) begin : g_unit
      always_ff @(posedge clk) begin
        if (w_take && beats == 3'(i)) st_data[512*i+:512] <= s_uar_wdata;
      end
    end
  endgenerate

  // First 8 bytes of a control segment, big-endian: opmod index opcode, qpn DS.
  wire [23:0] st_qpn = {st_data[39:32], st_data[47:40], st_data[55:48]};
  wire [5:0]  st_ds  = st_data[61:56];

  assign st_index  = {st_data[15:8], st_data[23:16]};
  assign st_blocks = {1'b0, st_ds[5:2]} + 5'(|st_ds[1:0]);
  assign st_accept = enable && off_ok && first_ok && beats <= 3'(WQE_MAX_BB) && st_qpn == qpn;
  assign st_whole  = st_accept && all_full && st_ds != 0 && st_blocks == 5'(beats);

  sync_fifo #(
      .WIDTH(5),
      .DEPTH(DOORBELL_B_FIFO)
  ) u_b (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (st_valid),
      .wr_data({aw_id, !st_accept}),
      .rd_en  (s_uar_bvalid && s_uar_bready),
      .rd_data({s_uar_bid, s_uar_bresp[1]}),
      .empty  (b_empty),
      .count  (b_count)
  );

  assign s_uar_bvalid   = !b_empty;
  assign s_uar_bresp[0] = 1'b0;

  // What the rest of the block acts on is known when it acts.
  `MH_ASSERT(a_known, !st_valid || (^{st_accept, st_whole}) !== 1'bx)

endmodule

`default_nettype wire
