// SPDX-License-Identifier: Apache-2.0
// Plays p<phase>/<NAME>.play on an AXI4-Stream: beats in order, none before its own earliest cycle
// (cycle 1 at the soonest), each held until accepted; back to back when the file says so. No file:
// nothing to play. Record: {side, data, keep, flags (bit 0: last), cycle} with the cycle in the lowest
// word, each part padded to 32 bits; bytes of a record reversed in the file (tb/README.md).
`default_nettype none

module stream_player #(
    parameter     NAME   = "s_axis",  /// file name
    parameter int DATA_W = 512,       /// data width, bits, a multiple of 32
    parameter int SIDE_W = 1          /// side band width, bits, 1 or more
) (
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
  stream_player_core #(
      .DATA_W(DATA_W), .SIDE_W(SIDE_W)
  ) u_core (
      .name(256'(NAME)),
      .*
  );
endmodule

`default_nettype wire
