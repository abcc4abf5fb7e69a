// SPDX-License-Identifier: Apache-2.0
// Receive side of one end of a cable, behind the PHY: hands the beats to the core, which always takes
// them (the far end's credits stand for its buffer), and counts frames.
// Latency 1. Order kept, gaps kept.
`default_nettype none
`include "microhop_assert.svh"

module link_rx (
    input  wire          clk,            /// clock
    input  wire          rst,            /// synchronous reset, active high
    input  wire          rx_tvalid,      /// beat from the PHY
    input  wire  [511:0] rx_tdata,       /// bytes, first one lowest
    input  wire  [ 63:0] rx_tkeep,       /// valid bytes
    input  wire          rx_tlast,       /// last beat of a frame
    input  wire  [  7:0] free_cells,     /// cells that the core freed in this cycle (for the check only)
    output logic         m_axis_tvalid,  /// beat to the core
    output logic [511:0] m_axis_tdata,   /// bytes
    output logic [ 63:0] m_axis_tkeep,   /// valid bytes
    output logic         m_axis_tlast,   /// last beat of a frame
    output logic [ 31:0] cnt_rx_frames   /// frames received, modulo 2^32
);

  always_ff @(posedge clk) begin
    if (rst) begin
      m_axis_tvalid <= 1'b0;
      cnt_rx_frames <= '0;
    end else begin
      m_axis_tvalid <= rx_tvalid;
      if (rx_tvalid && rx_tlast) cnt_rx_frames <= cnt_rx_frames + 32'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (rx_tvalid) {m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= {rx_tlast, rx_tkeep, rx_tdata};
  end

`ifndef SYNTHESIS
  // What the core holds, by what it was given and gave back; and idle cycles inside a frame.
  logic [15:0] held;
  logic in_frame;
  logic [7:0] gap;
  always_ff @(posedge clk) begin
    if (rst) begin
      held     <= '0;
      in_frame <= 1'b0;
      gap      <= '0;
    end else begin
      held <= held + 16'(m_axis_tvalid) - 16'(free_cells);
      if (rx_tvalid) in_frame <= !rx_tlast;
      if (rx_tvalid) gap <= '0;
      else if (in_frame && gap != '1) gap <= gap + 8'd1;
    end
  end

  // The credits promise this; beyond it a core would lose data.
  `MH_ASSERT(a_buffer, held <= 16'(spec_pkg::LINK_BUFFER_CELLS))
  // A full beat takes 64/50 cycles, a control set a little more: two idle cycles are a hole.
  `MH_ASSERT(a_no_hole, !(in_frame && gap > 8'd1))
  `MH_NEVER_X(a_known, {m_axis_tvalid, cnt_rx_frames, free_cells})
`endif

endmodule

`default_nettype wire
