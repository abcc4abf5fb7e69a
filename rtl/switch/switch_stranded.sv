// SPDX-License-Identifier: Apache-2.0
// Frames of dead outputs: which one moves on in this cycle, and whether the input is late with it (docs/switch.md,
// Q3, Q5). One frame a cycle, in cycles whose slot in the route no beat has.
`default_nettype none
`include "microhop_assert.svh"

module switch_stranded
  import spec_pkg::*;
#(
    parameter int PORTS = 8,  /// ports, 2..80
    parameter int LANES = 1,  /// virtual lanes, 1..8
    parameter int QW    = 4,  /// bits of a queue number, more than PORTS x LANES of them
    parameter int WAIT  = SWITCH_MOVE_WAIT  /// cycles that a frame waits before the input is late
) (
    input  wire                    clk,       /// clock
    input  wire                    rst,       /// synchronous reset, active high
    input  wire  [      PORTS-1:0] live,      /// ports in use
    input  wire  [PORTS*LANES-1:0] filled,    /// queue holds a frame, by output and lane
    input  wire  [PORTS*LANES-1:0] starting,  /// the first beat of its head is taken now
    input  wire                    entered,   /// a beat entered in the cycle before
    output wire                    move,      /// the head of a stranded queue leaves it
    output logic [         QW-1:0] move_q,    /// that queue
    output logic                   late,      /// far end is to be held back
    output wire                    late_next  /// what `late` becomes
);

  localparam int NU = PORTS * LANES;
  localparam int WW = $clog2(WAIT + 1);

  logic stranded;
  always_comb begin
    move_q   = '0;
    stranded = 1'b0;
    if (live != '1) begin
      for (int q = NU - 1; q >= 0; q--) begin
        if (filled[q] && !starting[q] && !live[q/LANES]) begin
          move_q   = QW'(q);
          stranded = 1'b1;
        end
      end
    end
  end
  assign move = stranded && !entered;

  logic [WW-1:0] waited;
  wire at_limit = waited == WW'(WAIT);
  assign late_next = stranded && (late || at_limit);
  always_ff @(posedge clk) begin
    if (rst) begin
      waited <= '0;
      late   <= 1'b0;
    end else begin
      late <= late_next;
      if (!stranded || move) waited <= '0;
      else if (!at_limit) waited <= waited + 1'b1;
    end
  end

  `MH_NEVER_X(a_known, {move, late})

endmodule

`default_nettype wire
