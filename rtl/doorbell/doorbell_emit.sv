// SPDX-License-Identifier: Apache-2.0
// Sends a work request as beats: one, or as many as its inline data needs. Rules E1 and E2 of README.md.
// Latency: taken at c, first beat pushed at c + latency.doorbell.decode, at m_wr `emit` later; one beat a
// cycle. The next work request may be taken in the cycle of the last beat's push.
`default_nettype none
`include "microhop_assert.svh"

module doorbell_emit
  import microhop_pkg::*;
  import spec_pkg::*;
(
    input  wire            clk,          /// clock
    input  wire            rst,          /// synchronous reset, active high
    input  wire            in_valid,     /// a decoded work request
    output wire            in_take,      /// taken
    input  wire [WR_W-1:0] in_wr,        /// wr_t
    input  wire [1887:0]   in_payload,   /// inline data
    input  wire [7:0]      in_length,    /// its bytes
    output wire            m_wr_tvalid,  /// work request beat
    input  wire            m_wr_tready,  /// taken
    output wire [511:0]    m_wr_tdata,   /// inline data from byte 0
    output wire [63:0]     m_wr_tkeep,   /// its valid bytes
    output wire            m_wr_tlast,   /// last beat of the work request
    output wire [WR_W-1:0] m_wr_wr       /// wr_t, held on all its beats
);

  localparam int CW = $clog2(DOORBELL_WR_FIFO) + 1;

  logic            em_valid;
  logic [WR_W-1:0] em_wr;
  logic [1887:0]   em_data;
  logic [7:0]      em_left;  // bytes not yet sent

  wire [CW-1:0] count;
  wire          empty;
  wire          push = em_valid && count < CW'(DOORBELL_WR_FIFO);
  wire          last = em_left <= 8'd64;
  wire [63:0]   keep = em_left >= 8'd64 ? '1 : ~(64'hffff_ffff_ffff_ffff << em_left[5:0]);

  assign in_take = in_valid && (!em_valid || (push && last));

  always_ff @(posedge clk) begin
    if (rst) em_valid <= 1'b0;
    else if (in_take) em_valid <= 1'b1;
    else if (push && last) em_valid <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (in_take) begin
      em_wr   <= in_wr;
      em_data <= in_payload;
      em_left <= in_length;
    end else if (push) begin
      em_data <= {512'b0, em_data[1887:512]};
      em_left <= em_left - 8'd64;
    end
  end

  sync_fifo #(
      .WIDTH(512 + 64 + 1 + WR_W),
      .DEPTH(DOORBELL_WR_FIFO)
  ) u_out (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (push),
      .wr_data({em_data[511:0], keep, last, em_wr}),
      .rd_en  (m_wr_tvalid && m_wr_tready),
      .rd_data({m_wr_tdata, m_wr_tkeep, m_wr_tlast, m_wr_wr}),
      .empty  (empty),
      .count  (count)
  );

  assign m_wr_tvalid = !empty;

  `MH_ASSERT(a_length, !em_valid || em_left <= 8'(WQE_MAX_DATA))
  // A work request's fields are known bits whatever the memory held.
  `MH_ASSERT(a_known, !m_wr_tvalid || (^{m_wr_tkeep, m_wr_tlast}) !== 1'bx)

endmodule

`default_nettype wire
