// SPDX-License-Identifier: Apache-2.0
// The small block of docs/add_a_block.md: a 512-bit stream that passes a FIFO, each byte XORed with
// cfg_mask, and a count of the frames that left.
// Latency: `through` cycles from s_axis to m_axis, `frames` from a last beat's transfer to the count
// (spec/fabric.toml, latency.example). One beat a cycle. Order kept. s_axis_tready is 1 while fewer than
// DEPTH beats are inside, as the registers show it.
`default_nettype none
`include "microhop_assert.svh"

module example #(
    parameter int DEPTH = 16  /// beats inside, a power of two, 4 or more for full rate
) (
    input  wire         clk,            /// clock
    input  wire         rst,            /// synchronous reset, active high
    input  wire [  7:0] cfg_mask,       /// XORed to each byte; steady outside reset
    input  wire         s_axis_tvalid,  /// input stream
    output wire         s_axis_tready,  /// room for a beat
    input  wire         s_axis_tlast,   /// last beat of a frame
    input  wire [ 63:0] s_axis_tkeep,   /// valid bytes
    input  wire [511:0] s_axis_tdata,   /// bytes, first one lowest
    output wire         m_axis_tvalid,  /// output stream
    input  wire         m_axis_tready,  /// taken
    output wire         m_axis_tlast,   /// last beat of a frame
    output wire [ 63:0] m_axis_tkeep,   /// valid bytes
    output wire [511:0] m_axis_tdata,   /// bytes, first one lowest
    output logic [15:0] frames          /// frames that left, modulo 2^16
);
  localparam int CW = $clog2(DEPTH) + 1;

  logic [CW-1:0] fill;
  logic         stage_valid;
  logic [576:0] stage;
  wire take = s_axis_tvalid && s_axis_tready;
  wire give = m_axis_tvalid && m_axis_tready;
  wire empty;
  wire [CW-1:0] waiting;

  assign s_axis_tready = fill < CW'(DEPTH);
  assign m_axis_tvalid = !empty;

  always_ff @(posedge clk) begin
    if (rst) begin
      fill        <= '0;
      stage_valid <= 1'b0;
      frames      <= '0;
    end else begin
      fill        <= fill + CW'(take) - CW'(give);
      stage_valid <= take;
      if (give && m_axis_tlast) frames <= frames + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (take) stage <= {s_axis_tlast, s_axis_tkeep, s_axis_tdata ^ {64{cfg_mask}}};
  end

  sync_fifo #(
      .WIDTH(577),
      .DEPTH(DEPTH)
  ) u_fifo (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (stage_valid),
      .wr_data(stage),
      .rd_en  (give),
      .rd_data({m_axis_tlast, m_axis_tkeep, m_axis_tdata}),
      .empty  (empty),
      .count  (waiting)
  );

  // The count that makes `ready` covers the beat in the stage register too.
  `MH_ASSERT(a_inside, fill <= CW'(DEPTH) && fill == waiting + CW'(stage_valid))
  `MH_NEVER_X(a_known, {s_axis_tready, m_axis_tvalid, frames})
endmodule

`default_nettype wire
