// SPDX-License-Identifier: Apache-2.0
// Entrance of an input: accepts beats, swallows those of a dead port, ends a frame that such a port left
// unfinished with an abort beat (docs/switch.md, E1 to E3). Latency 1: a beat accepted at c is at s1_* at c+1.
`default_nettype none
`include "microhop_assert.svh"

module switch_entrance
  import spec_pkg::*;
#(
    parameter int DATA_W = 512,  /// bits of a beat
    parameter int CELLS  = LINK_BUFFER_CELLS   /// cells of the buffer
) (
    input  wire                 clk,            /// clock
    input  wire                 rst,            /// synchronous reset, active high
    input  wire                 cfg_pfc,        /// 1: always ready
    input  wire                 closed,         /// without cfg_pfc: not ready, whatever room there is
    input  wire                 live,           /// the port is in use
    input  wire                 take,           /// a beat leaves the buffer
    input  wire                 dropped,        /// a beat is dropped at its decision
    output wire                 empty,          /// nothing inside, and no frame that waits for its rest or its abort
    output wire  [        15:0] in_use,         /// beats inside
    input  wire                 s_axis_tvalid,  /// beat offered
    output wire                 s_axis_tready,  /// beat accepted
    input  wire  [  DATA_W-1:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire  [DATA_W/8-1:0] s_axis_tkeep,   /// valid bytes
    input  wire                 s_axis_tlast,   /// last beat of a frame
    output logic                s1_valid,       /// a beat entered
    output logic                s1_first,       /// first of its frame
    output logic                s1_last,        /// last of its frame
    output logic                s1_abort,       /// an abort beat
    output logic [  DATA_W-1:0] s1_data,        /// bytes
    output logic [DATA_W/8-1:0] s1_keep         /// valid bytes
);

  localparam int CW = $clog2(CELLS + 8) + 1;  // with pause, the beats on their way to the decision come on top

  logic [CW-1:0] beats_in;
  logic in_frame;  // the last beat that entered was not a frame's last
  wire accept = s_axis_tvalid && s_axis_tready;
  wire enter = accept && live;
  wire abort = !live && in_frame && s_axis_tready;
  assign empty = beats_in == '0 && !in_frame;
  assign in_use = 16'(beats_in);
  assign s_axis_tready = cfg_pfc || (beats_in < CW'(CELLS) && !closed);

  always_ff @(posedge clk) begin
    if (rst) begin
      beats_in   <= '0;
      in_frame <= 1'b0;
      s1_valid <= 1'b0;
    end else begin
      beats_in   <= beats_in + CW'(enter || abort) - CW'(take) - CW'(dropped);
      s1_valid <= enter || abort;
      if (abort) in_frame <= 1'b0;
      else if (enter) in_frame <= !s_axis_tlast;
    end
  end
  always_ff @(posedge clk) begin
    if (enter) begin
      s1_first <= !in_frame;
      s1_last  <= s_axis_tlast;
      s1_abort <= 1'b0;
      s1_data  <= s_axis_tdata;
      s1_keep  <= s_axis_tkeep;
    end else if (abort) begin
      s1_first <= 1'b0;
      s1_last  <= 1'b1;
      s1_abort <= 1'b1;
      s1_data  <= '0;
      s1_keep  <= (DATA_W / 8)'(1);
    end
  end

  // No more beats leave than entered.
  `MH_ASSERT(a_inside, beats_in <= CW'(CELLS + 8))
  `MH_NEVER_X(a_known, {s_axis_tready, s1_valid})

endmodule

`default_nettype wire
