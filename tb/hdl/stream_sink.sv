// SPDX-License-Identifier: Apache-2.0
// Ready (or any one-bit stall) by pattern: at cycle c it is bit (c mod length) of p<phase>/<NAME>.ready.
// No file: always 1. The file: {bits (DEPTH), length (32)} as one record, bytes reversed.
`default_nettype none

module stream_sink #(
    parameter     NAME  = "m_axis",  /// file name
    parameter int DEPTH = 4096       /// bits of the pattern, a multiple of 8
) (
    input  wire         clk,    /// clock
    input  wire         rst,    /// synchronous reset, active high
    input  wire         start,  /// a phase begins
    input  wire  [15:0] phase,  /// number of the phase
    output logic        tready  /// ready, a register
);
  stream_sink_core #(
      .DEPTH(DEPTH)
  ) u_core (
      .name(256'(NAME)),
      .*
  );
endmodule

`default_nettype wire
