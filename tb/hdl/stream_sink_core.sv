// SPDX-License-Identifier: Apache-2.0
// Ready (or any one-bit stall) by pattern: at cycle c it is bit (c mod length) of p<phase>/<name>.ready.
// No file: always 1. The file: {bits (DEPTH), length (32)} as one record, bytes reversed.
// The name is a port so that those of many ports are one module; stream_sink has it as a parameter.
`default_nettype none

module stream_sink_core #(
    parameter int DEPTH = 4096       /// bits of the pattern, a multiple of 8
) (
    input  wire [255:0] name,  /// file name, as a string
    input  wire         clk,    /// clock
    input  wire         rst,    /// synchronous reset, active high
    input  wire         start,  /// a phase begins
    input  wire  [15:0] phase,  /// number of the phase
    output logic        tready  /// ready, a register
);
  string dir;
  int fd, n;
  logic always_ready;
  logic [DEPTH+31:0] v;
  logic [31:0] index;

  initial begin
    tready       = 1'b0;
    always_ready = 1'b1;
    index        = '0;
    v            = '0;
  end

  /* verilator lint_off BLKSEQ */  // only this block reads them
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      fd = $fopen($sformatf("%0s/p%0d/%0s.ready", dir, phase, name), "rb");
      always_ready = fd == 0;
      if (fd != 0) begin
        n = $fread(v, fd);
        if (n != DEPTH / 8 + 4) $fatal(1, "%0s.ready: %0d bytes, not %0d", name, n, DEPTH / 8 + 4);
        $fclose(fd);
      end
    end
    if (always_ready) tready <= 1'b1;
    else begin
      if (rst || index + 1 >= v[31:0]) index = '0;
      else index = index + 1;
      tready <= v[32+index];
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
