// SPDX-License-Identifier: Apache-2.0
// Bench of the example block: the design between a player and a sink, everything recorded. With PINS the
// two streams belong to per-beat agents in Python instead, for tests of the protocol's corners.
`default_nettype none

module tb_example #(
    parameter int DEPTH = 16,  /// parameter of the design
    parameter bit PINS = 1'b0  /// 1: s_axis_* and m_axis_tready are driven from outside
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  logic stop, player_done;
  logic [7:0] cfg_mask;
  logic s_axis_tvalid, s_axis_tready, s_axis_tlast, m_axis_tvalid, m_axis_tready, m_axis_tlast;
  logic [63:0] s_axis_tkeep, m_axis_tkeep;
  logic [511:0] s_axis_tdata, m_axis_tdata;
  logic s_axis_side;
  logic [15:0] frames;

  tb_ctl u_ctl (
      .activity(s_axis_tvalid || (m_axis_tvalid && m_axis_tready)),
      .*
  );
  tb_cfg #(.NAME("mask"), .W(8)) u_mask (.q(cfg_mask), .*);

  if (PINS) begin : g_pins
    assign player_done = 1'b1;
    assign s_axis_side = 1'b0;
  end else begin : g_players
    stream_player #(.NAME("s_axis")) u_player (
        .tvalid(s_axis_tvalid),
        .tready(s_axis_tready),
        .tlast (s_axis_tlast),
        .tkeep (s_axis_tkeep),
        .tdata (s_axis_tdata),
        .side  (s_axis_side),
        .*
    );
    stream_sink #(.NAME("m_axis")) u_sink (
        .tready(m_axis_tready),
        .*
    );
  end

  example #(.DEPTH(DEPTH)) dut (.*);

  stream_monitor #(.NAME("s_axis")) u_in (
      .tvalid(s_axis_tvalid),
      .tready(s_axis_tready),
      .tlast (s_axis_tlast),
      .tkeep (s_axis_tkeep),
      .tdata (s_axis_tdata),
      .side  (s_axis_side),
      .*
  );
  stream_monitor #(.NAME("m_axis")) u_out (
      .tvalid(m_axis_tvalid),
      .tready(m_axis_tready),
      .tlast (m_axis_tlast),
      .tkeep (m_axis_tkeep),
      .tdata (m_axis_tdata),
      .side  (1'b0),
      .*
  );
  event_recorder #(.NAME("frames"), .W(16), .CHANGE(1'b1)) u_frames (
      .value(frames),
      .*
  );
endmodule

`default_nettype wire
