// SPDX-License-Identifier: Apache-2.0
// Cycle counter and end of a phase.
//
// A phase: rst high; start high for one edge while rst is high (files of p<phase>/ are opened); rst low.
// Cycle 0 is the first edge at which rst is sampled low. `done` comes `quiet` cycles after the last
// activity once every player is empty; `timeout` at `max_cycles`. Both hold to the next start.
// File p<phase>/ctl.cfg: two little-endian words, quiet and max_cycles, bytes reversed (tb/README.md).
`default_nettype none

module tb_ctl #(
    parameter int N_PLAYERS  = 1,  /// players that must be empty
    parameter int N_ACTIVITY = 1   /// bits watched for activity
) (
    input  wire                   clk,          /// clock
    input  wire                   rst,          /// synchronous reset, active high
    input  wire                   start,        /// high for one edge inside reset: a phase begins
    input  wire  [          15:0] phase,        /// number of the phase
    input  wire  [ N_PLAYERS-1:0] player_done,  /// a player has nothing left
    input  wire  [N_ACTIVITY-1:0] activity,     /// a transfer, or anything else that means "not idle"
    output logic                  stop,         /// done or timeout: recorders close their files
    output logic                  done,         /// the phase ended by itself
    output logic                  timeout,      /// the phase reached its cycle limit
    output logic [          31:0] cycle         /// number of this edge
);
  string dir;
  int fd, n;
  logic [63:0] cfg;
  logic [31:0] idle;

  assign stop = done || timeout;

  initial begin
    done    = 1'b0;
    timeout = 1'b0;
    cycle   = '0;
    cfg     = '0;
    idle    = '0;
  end

  // Blocking writes below are to variables that only this block reads.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      fd = $fopen($sformatf("%0s/p%0d/ctl.cfg", dir, phase), "rb");
      if (fd == 0) $fatal(1, "no file %0s/p%0d/ctl.cfg", dir, phase);
      n = $fread(cfg, fd);
      if (n != 8) $fatal(1, "%0s/p%0d/ctl.cfg is short", dir, phase);
      $fclose(fd);
    end
    if (rst) begin
      cycle   <= '0;
      idle    <= '0;
      done    <= 1'b0;
      timeout <= 1'b0;
    end else begin
      cycle <= cycle + 1;
      if (|activity || !(&player_done)) idle <= '0;
      else idle <= idle + 1;
      if (!stop) begin
        if (idle >= cfg[31:0]) done <= 1'b1;
        else if (cycle >= cfg[63:32]) timeout <= 1'b1;
      end
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
