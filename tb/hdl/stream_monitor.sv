// SPDX-License-Identifier: Apache-2.0
// Passive: writes each accepted beat of an AXI4-Stream with its cycle to p<phase>/<NAME>.rec, binary,
// little-endian: {side, data, keep, flags, cycle}, cycle first, each part padded to 32 bits. Flags: bit
// 0 last; bit 1 an unknown bit was seen in this beat (Icarus). An unknown valid or ready outside reset is
// fatal.
`default_nettype none

module stream_monitor #(
    parameter     NAME   = "m_axis",  /// file name
    parameter int DATA_W = 512,       /// data width, bits, a multiple of 32
    parameter int SIDE_W = 1          /// side band width, bits, 1 or more
) (
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
  stream_monitor_core #(
      .DATA_W(DATA_W), .SIDE_W(SIDE_W)
  ) u_core (
      .name(256'(NAME)),
      .*
  );
endmodule

`default_nettype wire
