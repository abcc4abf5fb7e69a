// SPDX-License-Identifier: Apache-2.0
// A configuration vector read from p<phase>/<NAME>.cfg at start (while rst is high); it holds through
// the phase. The file is the value, most significant byte first, ceil(W/8) bytes. No file: fatal.
`default_nettype none

module tb_cfg #(
    parameter     NAME = "cfg",  /// file name
    parameter int W    = 32      /// width, bits
) (
    input  wire         clk,    /// clock
    input  wire         start,  /// a phase begins
    input  wire  [15:0] phase,  /// number of the phase
    output logic [W-1:0] q      /// the value
);
  localparam int WB = (W + 7) / 8 * 8;
  string dir;
  int fd, n;
  /* verilator lint_off UNUSEDSIGNAL */  // the pad bits of the file's last byte
  logic [WB-1:0] v;
  /* verilator lint_on UNUSEDSIGNAL */

  initial q = '0;

  /* verilator lint_off BLKSEQ */  // only this block reads them
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      fd = $fopen($sformatf("%0s/p%0d/%0s.cfg", dir, phase, NAME), "rb");
      if (fd == 0) $fatal(1, "no file %0s/p%0d/%0s.cfg", dir, phase, NAME);
      n = $fread(v, fd);
      if (n != WB / 8) $fatal(1, "%0s/p%0d/%0s.cfg: %0d bytes, not %0d", dir, phase, NAME, n, WB / 8);
      $fclose(fd);
      q <= v[W-1:0];
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
