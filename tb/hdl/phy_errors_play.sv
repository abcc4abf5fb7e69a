// SPDX-License-Identifier: Apache-2.0
// What a phy_errors is driven with: p<phase>/<NAME>.cfg (its configuration, tb/phy_errors/config.py; must exist),
// p<phase>/<NAME>_fault.play (a fault in each beat's cycle) and p<phase>/<NAME>_cut.play (a level that changes).
// Thresholds are written in cycles 0 to 30, cfg_on comes in cycle 32 (ON_FROM of models/phy_errors.py).
`default_nettype none

module phy_errors_play #(
    parameter NAME = "errors"  /// file name
) (
    input  wire         clk,            /// clock
    input  wire         rst,            /// synchronous reset, active high
    input  wire         start,          /// a phase begins
    input  wire  [15:0] phase,          /// number of the phase
    input  wire  [31:0] cycle,          /// number of this edge
    output logic        cfg_on,         /// to phy_errors
    output wire         cfg_kp4,        /// to phy_errors
    output wire  [63:0] cfg_seed,       /// to phy_errors
    output wire         thr_we,         /// to phy_errors
    output wire  [ 4:0] thr_addr,       /// to phy_errors
    output logic [63:0] thr_data,       /// to phy_errors
    output wire  [63:0] cfg_burst_thr,  /// to phy_errors
    output wire  [11:0] cfg_burst_len,  /// to phy_errors
    output wire  [ 1:0] fault,          /// to phy_errors
    output wire         cut,            /// to phy_errors
    output wire         player_done     /// no fault and no cut is left
);

  localparam int W = 2 + 12 + 64 + 64 + 31 * 64;
  wire [W-1:0] q;
  wire on;
  wire [31*64-1:0] thr;
  tb_cfg #(.NAME(NAME), .W(W)) u_cfg (.*);
  assign {on, cfg_kp4, cfg_burst_len, cfg_burst_thr, cfg_seed, thr} = q;

  logic [5:0] j;  // threshold that is written
  assign thr_we   = !j[5] && !rst;
  assign thr_addr = j[4:0];
  always_comb thr_data = thr_we ? thr[(32'(j)-1)*64+:64] : '0;
  always_ff @(posedge clk) begin
    if (rst) j <= 6'd1;
    else if (!j[5]) j <= j + 6'd1;
    cfg_on <= !rst && j[5] && on;
  end

  logic fault_now;
  wire fault_done, cut_done;
  /* verilator lint_off UNUSEDSIGNAL */  // the pad bits of a record
  wire [31:0] fault_data;
  /* verilator lint_on UNUSEDSIGNAL */
  stream_player #(.NAME({NAME, "_fault"}), .DATA_W(32)) u_fault (
      .tvalid(fault_now), .tready(1'b1), .tlast(), .tkeep(), .tdata(fault_data), .side(), .player_done(fault_done), .*);
  assign fault = fault_now ? fault_data[1:0] : 2'd0;
  timed_value #(.NAME({NAME, "_cut"})) u_cut (.init(1'b0), .q(cut), .player_done(cut_done), .*);
  assign player_done = fault_done && cut_done;

endmodule

`default_nettype wire
