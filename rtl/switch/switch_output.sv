// SPDX-License-Identifier: Apache-2.0
// One output of the switch: its column of the crossbar, the egress FIFO, and the answer to "may a frame
// be granted". Room for a largest frame is there before a frame starts, so nothing behind has a stall.
// Latency: a beat at x_* at c is at m_axis at c+3 at the earliest: crossbar register, FIFO, output register.
// One beat a cycle. Order kept.
`default_nettype none
`include "microhop_assert.svh"

module switch_output
  import spec_pkg::*;
#(
    parameter int PORTS = 8,                    /// ports of the switch, 2..8
    parameter int DEPTH = SWITCH_EGRESS_BEATS,  /// beats of the FIFO, a power of two above 2 x FRAME_MAX_BEATS
    parameter     TAP   = ""                    /// name of the stage stamp "first beat crossed"; empty: none
) (
    input  wire                  clk,            /// clock
    input  wire                  rst,            /// synchronous reset, active high
    input  wire  [    PORTS-1:0] acc,            /// input that is matched with this output now (one hot or zero)
    input  wire  [    PORTS-1:0] taken,          /// input that takes a beat for this output from its buffer now
    input  wire  [    PORTS-1:0] done,           /// input that takes a frame's last beat now
    output wire                  ok,             /// idle, and a largest frame fits
    input  wire  [    PORTS-1:0] x_hit,          /// input whose beat is for this output (one hot or zero)
    input  wire  [PORTS*512-1:0] x_data,         /// bytes, by input
    input  wire  [ PORTS*64-1:0] x_keep,         /// valid bytes, by input
    input  wire  [    PORTS-1:0] x_last,         /// last of a frame, by input
    output logic                 m_axis_tvalid,  /// frames to the link
    input  wire                  m_axis_tready,  /// taken
    output logic [        511:0] m_axis_tdata,   /// bytes
    output logic [         63:0] m_axis_tkeep,   /// valid bytes
    output logic                 m_axis_tlast    /// last beat of a frame
);

  localparam int CW = $clog2(DEPTH) + 1;

  // ---- match and room: beats are counted from the moment they are on their way ------------------------
  logic busy;
  logic [CW-1:0] booked;
  wire enter = taken != '0;
  wire leave = m_axis_tvalid && m_axis_tready;
  assign ok = !busy && booked <= CW'(DEPTH - FRAME_MAX_BEATS);

  always_ff @(posedge clk) begin
    if (rst) begin
      busy   <= 1'b0;
      booked <= '0;
    end else begin
      if (acc != '0) busy <= 1'b1;
      else if ((done & taken) != '0) busy <= 1'b0;
      if (enter != leave) booked <= enter ? booked + 1'b1 : booked - 1'b1;
    end
  end

  // ---- crossbar column ------------------------------------------------------------------------------
  logic q_valid, q_last;
  logic [511:0] q_data;
  logic [63:0] q_keep;

  always_ff @(posedge clk) begin
    if (rst) q_valid <= 1'b0;
    else q_valid <= x_hit != '0;
  end
  always_ff @(posedge clk) begin
    for (int i = 0; i < PORTS; i++) begin
      if (x_hit[i]) {q_last, q_keep, q_data} <= {x_last[i], x_keep[i*64+:64], x_data[i*512+:512]};
    end
  end

  // ---- egress FIFO and output register ----------------------------------------------------------------
  logic empty, f_last;
  logic [511:0] f_data;
  logic [63:0] f_keep;
  wire load = !empty && (!m_axis_tvalid || m_axis_tready);

  sync_fifo #(
      .WIDTH(577),
      .DEPTH(DEPTH)
  ) u_fifo (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (q_valid),
      .wr_data({q_last, q_keep, q_data}),
      .rd_en  (load),
      .rd_data({f_last, f_keep, f_data}),
      .empty  (empty),
      .count  ()
  );

  always_ff @(posedge clk) begin
    if (rst) m_axis_tvalid <= 1'b0;
    else m_axis_tvalid <= load || (m_axis_tvalid && !m_axis_tready);
  end
  always_ff @(posedge clk) begin
    if (load) {m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= {f_last, f_keep, f_data};
  end

`ifndef SYNTHESIS
  if (TAP != "") begin : g_tap
    logic mid;
    always_ff @(posedge clk) begin
      if (rst) mid <= 1'b0;
      else if (q_valid) mid <= !q_last;
    end
    latency_tap #(.NAME(TAP)) u_crossed (.clk(clk), .rst(rst), .event_i(q_valid && !mid));
  end
`endif

  // One input at a time owns the output.
  `MH_ASSERT(a_one, (x_hit & (x_hit - 1'b1)) == '0 && (taken & (taken - 1'b1)) == '0)
  `MH_ASSERT(a_match, !(busy && acc != '0))
  `MH_ASSERT(a_room, booked <= CW'(DEPTH))
  `MH_NEVER_X(a_known, {ok, m_axis_tvalid})

endmodule

`default_nettype wire
