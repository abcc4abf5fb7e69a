// SPDX-License-Identifier: Apache-2.0
// Records a small vector to p<phase>/<NAME>.evt, binary, little-endian {value (padded to 32 bits), cycle}:
// at each cycle in which it is not zero (pulses), or in which it differs from the cycle before (levels,
// counters; the value at cycle 0 is always recorded).
`default_nettype none

module event_recorder #(
    parameter     NAME   = "event",  /// file name
    parameter int W      = 1,        /// width, bits
    parameter bit CHANGE = 1'b0      /// 0: whenever not zero; 1: whenever it changes
) (
    input wire         clk,    /// clock
    input wire         rst,    /// synchronous reset, active high
    input wire         start,  /// a phase begins
    input wire         stop,   /// the phase ended: the file is closed
    input wire [ 15:0] phase,  /// number of the phase
    input wire [ 31:0] cycle,  /// number of this edge
    input wire [W-1:0] value   /// what is recorded
);
  localparam int WP = (W + 31) / 32 * 32;
  string dir;
  int fd;
  logic first;
  logic [W-1:0] prev;

  initial begin
    fd     = 0;
    first  = 1'b1;
    prev = '0;
  end

  /* verilator lint_off BLKSEQ */  // only this block reads them
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      if (fd != 0) $fclose(fd);
      fd = $fopen($sformatf("%0s/p%0d/%0s.evt", dir, phase, NAME), "wb");
      if (fd == 0) $fatal(1, "cannot write %0s/p%0d/%0s.evt", dir, phase, NAME);
      first = 1'b1;
    end else if (stop && fd != 0) begin
      $fclose(fd);
      fd = 0;
    end
    if (!rst && fd != 0) begin
`ifdef __ICARUS__
      if ((^value) === 1'bx) $fatal(1, "%0s: unknown value at cycle %0d", NAME, cycle);
`endif
      if (CHANGE ? (first || value != prev) : (value != '0)) $fwrite(fd, "%u", {WP'(value), cycle});
      prev = value;
      first  = 1'b0;
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
