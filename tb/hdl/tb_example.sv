// SPDX-License-Identifier: Apache-2.0
// Bench of the example block: the design between a player and a sink, everything recorded.
`default_nettype none

module tb_example #(
    parameter int DEPTH = 16  /// parameter of the design
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
  logic s_valid, s_ready, s_last, m_valid, m_ready, m_last;
  logic [63:0] s_keep, m_keep;
  logic [511:0] s_data, m_data;
  logic s_side;
  logic [15:0] frames;

  tb_ctl u_ctl (
      .activity({s_valid || (m_valid && m_ready)}),
      .*
  );
  tb_cfg #(.NAME("mask"), .W(8)) u_mask (.q(cfg_mask), .*);

  stream_player #(.NAME("s_axis")) u_player (
      .tvalid(s_valid), .tready(s_ready), .tlast(s_last), .tkeep(s_keep), .tdata(s_data), .side(s_side), .*);
  stream_monitor #(.NAME("s_axis")) u_in (
      .tvalid(s_valid), .tready(s_ready), .tlast(s_last), .tkeep(s_keep), .tdata(s_data), .side(s_side), .*);

  example #(.DEPTH(DEPTH)) dut (
      .clk(clk),
      .rst(rst),
      .cfg_mask(cfg_mask),
      .s_axis_tvalid(s_valid),
      .s_axis_tready(s_ready),
      .s_axis_tlast(s_last),
      .s_axis_tkeep(s_keep),
      .s_axis_tdata(s_data),
      .m_axis_tvalid(m_valid),
      .m_axis_tready(m_ready),
      .m_axis_tlast(m_last),
      .m_axis_tkeep(m_keep),
      .m_axis_tdata(m_data),
      .frames(frames)
  );

  stream_sink #(.NAME("m_axis")) u_sink (.tready(m_ready), .*);
  stream_monitor #(.NAME("m_axis")) u_out (
      .tvalid(m_valid), .tready(m_ready), .tlast(m_last), .tkeep(m_keep), .tdata(m_data), .side(1'b0), .*);
  event_recorder #(.NAME("frames"), .W(16), .CHANGE(1'b1)) u_frames (.value(frames), .*);
endmodule

`default_nettype wire
