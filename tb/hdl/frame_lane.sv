// SPDX-License-Identifier: Apache-2.0
// Lane of a frame by its first beat, as a switch finds it (docs/switch.md, H1, H2): the VL of a native frame, 0
// when it is malformed; the class of a RoCE frame, 0 beyond the last lane. Combinational.
`default_nettype none

module frame_lane #(
    parameter int LANES = 1  /// virtual lanes, 1..8
) (
    input  wire         roce,  /// 0 native, 1 RoCEv2 over IPv4
    /* verilator lint_off UNUSEDSIGNAL */  // a lane is found from a few of these
    input  wire [127:0] head,  /// first 16 bytes, first one lowest
    input  wire [ 63:0] keep,  /// valid bytes of the first 64
    /* verilator lint_on UNUSEDSIGNAL */
    output wire [  2:0] lane   /// the lane
);
  wire [3:0] version = head[3:0];
  wire [3:0] vl = head[7:4];
  wire [1:0] lnh = head[9:8];
  wire [10:0] words = {head[34:32], head[47:40]};
  wire [2:0] tos = head[127:125];
  wire whole_local = keep[25];
  wire whole_global = keep[63];
  wire bad = version != '0 || lnh < 2'd2 || 32'(vl) >= LANES || words < 11'd6 || !whole_local ||
      (lnh == 2'd3 && (words < 11'd16 || !whole_global));
  wire [2:0] native = bad ? 3'd0 : vl[2:0];

  assign lane = !roce ? native : 32'(tos) < LANES ? tos : 3'd0;
endmodule

`default_nettype wire
