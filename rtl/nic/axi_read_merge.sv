// SPDX-License-Identifier: Apache-2.0
// Merges two AXI4 read masters into one port. Addresses pass through a FIFO of four (latency 1),
// round robin between the masters at each address; data go to the master whose ID came back: ID 0 is
// master 0, every other ID master 1 (no register on the way). Both masters keep rready at 1: they
// reserve room before they ask.
`default_nettype none
`include "microhop_assert.svh"

module axi_read_merge (
    input  wire          clk,            /// clock
    input  wire          rst,            /// synchronous reset, active high
    input  wire  [3:0]   s0_arid,        /// master 0: ID (0)
    input  wire  [63:0]  s0_araddr,      /// master 0: address
    input  wire  [7:0]   s0_arlen,       /// master 0: beats - 1
    input  wire          s0_arvalid,     /// master 0: address valid
    output wire          s0_arready,     /// master 0: address accepted
    output wire          s0_rvalid,      /// master 0: data valid
    input  wire  [3:0]   s1_arid,        /// master 1: ID (not 0)
    input  wire  [63:0]  s1_araddr,      /// master 1: address
    input  wire  [7:0]   s1_arlen,       /// master 1: beats - 1
    input  wire          s1_arvalid,     /// master 1: address valid
    output wire          s1_arready,     /// master 1: address accepted
    output wire          s1_rvalid,      /// master 1: data valid
    output wire  [3:0]   m_axi_arid,     /// merged: ID
    output wire  [63:0]  m_axi_araddr,   /// merged: address
    output wire  [7:0]   m_axi_arlen,    /// merged: beats - 1
    output wire          m_axi_arvalid,  /// merged: address valid
    input  wire          m_axi_arready,  /// merged: address accepted
    input  wire  [3:0]   m_axi_rid,      /// merged: ID of the data
    input  wire          m_axi_rvalid    /// merged: data valid
);

  localparam int DEPTH = 4;
  localparam int W = 4 + 64 + 8;

  logic       next_is_1;  // who comes first when both ask
  wire  [2:0] count;
  wire        empty;
  wire        room = count < 3'(DEPTH);
  wire        take_1 = s1_arvalid && (next_is_1 || !s0_arvalid);
  wire        wr_en = room && (s0_arvalid || s1_arvalid);
  wire [W-1:0] s0_word = {s0_arid, s0_araddr, s0_arlen};
  wire [W-1:0] s1_word = {s1_arid, s1_araddr, s1_arlen};

  assign s0_arready = room && s0_arvalid && !take_1;
  assign s1_arready = room && take_1;

  always_ff @(posedge clk) begin
    if (rst) next_is_1 <= 1'b0;
    else if (wr_en) next_is_1 <= !take_1;
  end

  sync_fifo #(
      .WIDTH(W),
      .DEPTH(DEPTH)
  ) u_fifo (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (wr_en),
      .wr_data(take_1 ? s1_word : s0_word),
      .rd_en  (m_axi_arvalid && m_axi_arready),
      .rd_data({m_axi_arid, m_axi_araddr, m_axi_arlen}),
      .empty  (empty),
      .count  (count)
  );
  assign m_axi_arvalid = !empty;

  assign s0_rvalid = m_axi_rvalid && m_axi_rid == 4'd0;
  assign s1_rvalid = m_axi_rvalid && m_axi_rid != 4'd0;

  // The ID is all that routes the answer.
  `MH_ASSERT(a_s0_id, !s0_arvalid || s0_arid == 4'd0)
  `MH_ASSERT(a_s1_id, !s1_arvalid || s1_arid != 4'd0)
  // Who is first shows only when both ask, which may be long after reset.
  `MH_NEVER_X(a_known, {next_is_1, m_axi_arvalid})

endmodule

`default_nettype wire
