// SPDX-License-Identifier: Apache-2.0
// Passive: writes each accepted beat of an AXI4-Stream with its cycle to p<phase>/<name>.rec, binary,
// little-endian: {side, data, keep, flags, cycle}, cycle first, each part padded to 32 bits. Flags: bit
// 0 last; bit 1 an unknown bit was seen in this beat (Icarus). An unknown valid or ready outside reset is
// fatal.
// The name is a port so that those of many ports are one module; stream_monitor has it as a parameter.
`default_nettype none

module stream_monitor_core #(
    parameter int DATA_W = 512,       /// data width, bits, a multiple of 32
    parameter int SIDE_W = 1          /// side band width, bits, 1 or more
) (
    input wire [       255:0] name,    /// file name, as a string
    input wire                clk,     /// clock
    input wire                rst,     /// synchronous reset, active high
    input wire                start,   /// a phase begins
    input wire                stop,    /// the phase ended: the file is closed
    input wire [        15:0] phase,   /// number of the phase
    input wire [        31:0] cycle,   /// number of this edge
    input wire                tvalid,  /// beat offered
    input wire                tready,  /// beat accepted
    input wire                tlast,   /// last beat of the frame
    input wire [DATA_W/8-1:0] tkeep,   /// valid bytes
    input wire [  DATA_W-1:0] tdata,   /// bytes, first one lowest
    input wire [  SIDE_W-1:0] side     /// side band of the frame
);
  localparam int KEEP_P = (DATA_W / 8 + 31) / 32 * 32;
  localparam int SIDE_P = (SIDE_W + 31) / 32 * 32;

  string dir;
  int fd;
  logic unknown;

  initial begin
    fd      = 0;
    unknown = 1'b0;
  end

  /* verilator lint_off BLKSEQ */  // only this block reads them
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      if (fd != 0) $fclose(fd);
      fd = $fopen($sformatf("%0s/p%0d/%0s.rec", dir, phase, name), "wb");
      if (fd == 0) $fatal(1, "cannot write %0s/p%0d/%0s.rec", dir, phase, name);
    end else if (stop && fd != 0) begin
      $fclose(fd);
      fd = 0;
    end
    if (!rst && fd != 0) begin
`ifdef __ICARUS__
      if ((tvalid ^ tready) === 1'bx) $fatal(1, "%0s: unknown valid or ready at cycle %0d", name, cycle);
      if (tvalid) unknown = (^{tlast, tkeep, side}) === 1'bx;
      if (tvalid && (^tdata) === 1'bx)  // only valid bytes count; the loop is slow and rarely needed
        for (int i = 0; i < DATA_W / 8; i++) if (tkeep[i] === 1'b1 && (^tdata[8*i+:8]) === 1'bx) unknown = 1'b1;
`endif
      if (tvalid && tready)
        $fwrite(fd, "%u", {SIDE_P'(side), tdata, KEEP_P'(tkeep), 30'b0, unknown, tlast, cycle});
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
