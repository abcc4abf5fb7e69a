// SPDX-License-Identifier: Apache-2.0
// Output of the send queues: beats of the work request in V3 into the output FIFO, one a cycle (docs/sq.md, V2, W6).
`default_nettype none

module sq_emit
  import microhop_pkg::*;
(
    input  wire               clk,          /// clock
    input  wire               rst,          /// synchronous reset, active high
    input  wire               o_valid,      /// a work request is in V3
    output wire               o_done,       /// its last beat is pushed
    output wire               o_next,       /// another of its beats is pushed
    input  wire [SQ_WR_W-1:0] o_wr,         /// sq_wr_t
    input  wire [511:0]       o_load,       /// bytes of the beat
    input  wire [7:0]         o_bytes,      /// bytes left, with this beat's
    output wire               m_wr_tvalid,  /// work request beat
    input  wire               m_wr_tready,  /// taken
    output wire [511:0]       m_wr_tdata,   /// bytes from byte 0
    output wire [63:0]        m_wr_tkeep,   /// those that are valid
    output wire               m_wr_tlast,   /// last beat
    output wire [SQ_WR_W-1:0] m_wr_wr       /// sq_wr_t
);

  localparam int C = $clog2(spec_pkg::SQ_WR_FIFO) + 1;
  wire [C-1:0] count;
  wire empty;
  wire push = o_valid && count != C'(spec_pkg::SQ_WR_FIFO);
  wire last = o_bytes <= 8'd64;
  wire [63:0] keep = o_bytes >= 8'd64 ? '1 : ~(64'hffff_ffff_ffff_ffff << o_bytes[5:0]);
  assign o_done = push && last;
  assign o_next = push && !last;

  sync_fifo #(.WIDTH(SQ_WR_W + 1 + 64 + 512), .DEPTH(spec_pkg::SQ_WR_FIFO)) u_fifo (
      .clk(clk), .rst(rst), .wr_en(push), .wr_data({o_wr, last, keep, o_load}), .rd_en(m_wr_tvalid && m_wr_tready),
      .rd_data({m_wr_wr, m_wr_tlast, m_wr_tkeep, m_wr_tdata}), .empty(empty), .count(count));
  assign m_wr_tvalid = !empty;

endmodule

`default_nettype wire
