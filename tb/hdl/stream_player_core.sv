// SPDX-License-Identifier: Apache-2.0
// Plays p<phase>/<name>.play on an AXI4-Stream: beats in order, none before its own earliest cycle
// (cycle 1 at the soonest), each held until accepted; back to back when the file says so. No file:
// nothing to play. Record: {side, data, keep, flags (bit 0: last), cycle} with the cycle in the lowest
// word, each part padded to 32 bits; bytes of a record reversed in the file (tb/README.md).
// The name is a port so that those of many ports are one module; stream_player has it as a parameter.
`default_nettype none

module stream_player_core #(
    parameter int DATA_W = 512,       /// data width, bits, a multiple of 32
    parameter int SIDE_W = 1          /// side band width, bits, 1 or more
) (
    input  wire  [       255:0] name,         /// file name, as a string
    input  wire                 clk,          /// clock
    input  wire                 rst,          /// synchronous reset, active high
    input  wire                 start,        /// a phase begins
    input  wire  [        15:0] phase,        /// number of the phase
    input  wire  [        31:0] cycle,        /// number of this edge
    output logic                tvalid,       /// beat offered
    input  wire                 tready,       /// beat accepted
    output logic                tlast,        /// last beat of the frame
    output logic [DATA_W/8-1:0] tkeep,        /// valid bytes
    output logic [  DATA_W-1:0] tdata,        /// bytes, first one lowest
    output logic [  SIDE_W-1:0] side,         /// side band of the frame
    output logic                player_done   /// nothing left to offer
);
  localparam int KEEP_W = DATA_W / 8;
  localparam int KEEP_P = (KEEP_W + 31) / 32 * 32;
  localparam int SIDE_P = (SIDE_W + 31) / 32 * 32;
  localparam int REC_W = 64 + KEEP_P + DATA_W + SIDE_P;

  string dir;
  int fd, n;
  logic have;  // rec holds the next beat
  logic holds;  // the port holds a beat after this edge
  /* verilator lint_off UNUSEDSIGNAL */  // the pad bits of a record
  logic [REC_W-1:0] rec;
  /* verilator lint_on UNUSEDSIGNAL */

  initial begin
    fd          = 0;
    have        = 1'b0;
    tvalid      = 1'b0;
    player_done = 1'b0;
  end

  /* verilator lint_off BLKSEQ */  // only this block reads them
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      if (fd != 0) $fclose(fd);
      fd = $fopen($sformatf("%0s/p%0d/%0s.play", dir, phase, name), "rb");
      have = 1'b0;
      if (fd != 0) begin
        n = $fread(rec, fd);
        have = n == REC_W / 8;
      end
    end
    if (rst) begin
      tvalid      <= 1'b0;
      player_done <= 1'b0;
    end else if (!tvalid || tready) begin
      holds = have && rec[31:0] <= cycle + 1;
      tvalid <= holds;
      if (holds) begin
        tlast <= rec[32];
        tkeep <= rec[64+:KEEP_W];
        tdata <= rec[64+KEEP_P+:DATA_W];
        side  <= rec[64+KEEP_P+DATA_W+:SIDE_W];
        n     = $fread(rec, fd);
        have  = n == REC_W / 8;
        if (n != 0 && !have) $fatal(1, "%0s.play: short record", name);
      end
      player_done <= !have && !holds;
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
