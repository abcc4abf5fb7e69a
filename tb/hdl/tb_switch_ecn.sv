// SPDX-License-Identifier: Apache-2.0
// Bench of the ECN stage: a player, the stage, a monitor that is always ready. The side band in is {damaged,
// mark}; where a signal does not count (mark behind the first beat, user before the last) it is the opposite.
// The side band out is {user with the last beat, first}.
`default_nettype none

module tb_switch_ecn #(
    parameter int DATA_W = 512  /// parameter of the design
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  logic stop, player_done, cfg_roce;
  logic tvalid, tlast, first;
  logic [1:0] side;
  logic [DATA_W/8-1:0] tkeep, out_keep;
  logic [DATA_W-1:0] tdata, out_data;
  logic out_valid, out_first, out_last, out_user, out_ecn;

  tb_ctl u_ctl (.activity(tvalid || out_valid), .*);
  tb_cfg #(.NAME("roce"), .W(1)) u_roce (.q(cfg_roce), .*);
  stream_player #(.NAME("s_axis"), .DATA_W(DATA_W), .SIDE_W(2)) u_player (.tready(1'b1), .*);

  always_ff @(posedge clk) begin
    if (rst) first <= 1'b1;
    else if (tvalid) first <= tlast;
  end

  switch_ecn #(.DATA_W(DATA_W)) dut (
      .in_valid(tvalid),
      .in_first(first),
      .in_last (tlast),
      .in_user (side[1] == tlast),
      .in_mark (side[0] == first),
      .in_keep (tkeep),
      .in_data (tdata),
      .*
  );

  stream_monitor #(.NAME("s_axis"), .DATA_W(DATA_W), .SIDE_W(2)) u_in (.tready(1'b1), .*);
  stream_monitor #(.NAME("m_axis"), .DATA_W(DATA_W), .SIDE_W(2)) u_out (
      .tvalid(out_valid),
      .tready(1'b1),
      .tlast (out_last),
      .tkeep (out_keep),
      .tdata (out_data),
      .side  ({out_last && out_user, out_first}),
      .*
  );
  event_recorder #(.NAME("ecn")) u_ecn (.value(out_ecn), .*);
endmodule

`default_nettype wire
