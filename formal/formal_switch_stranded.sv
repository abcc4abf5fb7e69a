// SPDX-License-Identifier: Apache-2.0
// switch_stranded behind an entrance that closes while `late` (docs/switch.md, Q3, Q5): whatever the stream, the live
// ports and the matches do, no frame that could be moved waits longer than WAIT + 2 cycles for a move; what moves is the
// head of the lowest queue of a dead port that no match takes from, and only in a cycle without a beat in the route.
`default_nettype none
`include "formal.svh"

module formal_switch_stranded #(
    parameter int PORTS = 3,  /// ports
    parameter int LANES = 2,  /// virtual lanes
    parameter int WAIT  = 4   /// cycles that a frame waits before the input is late
) (
    input wire                   clk,       /// clock
    input wire                   rst,       /// reset
    input wire [      PORTS-1:0] live,      /// ports in use
    input wire [PORTS*LANES-1:0] filled,    /// queue holds a frame
    input wire [PORTS*LANES-1:0] starting,  /// its head is taken from
    input wire                   entered    /// a beat entered in the cycle before
);

  localparam int NU = PORTS * LANES;
  localparam int QW = $clog2(NU + 1);
  localparam int NW = $clog2(WAIT + 4);

  wire move, late, late_next;
  wire [QW-1:0] move_q;
  switch_stranded #(.PORTS(PORTS), .LANES(LANES), .QW(QW), .WAIT(WAIT)) dut (.*);

  `FORMAL_START

  logic closed;  // `tready` was low in the cycle before
  always_ff @(posedge clk) closed <= !rst && late;
  always_comb if (started && closed) assume (!entered);

  logic some;  // a frame that could be moved
  logic [QW-1:0] lowest;
  always_comb begin
    some   = 1'b0;
    lowest = '0;
    for (int o = 0; o < PORTS; o++) begin
      for (int v = 0; v < LANES; v++) begin
        if (!some && !live[o] && filled[o*LANES+v] && !starting[o*LANES+v]) begin
          some   = 1'b1;
          lowest = QW'(o * LANES + v);
        end
      end
    end
  end

  logic [NW-1:0] idle;  // cycles in a row in which a frame that could be moved was not
  always_ff @(posedge clk) idle <= rst || !some || move ? '0 : idle + 1'b1;

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_in_time : assert (!some || move || 32'(idle) < WAIT + 2);
      a_bound : assert (32'(idle) <= WAIT + 2);
      a_counted : assert (32'(idle) > WAIT || dut.waited == ($clog2(WAIT + 1))'(idle));
      a_limit : assert (32'(idle) <= WAIT || (late && 32'(dut.waited) == WAIT));
      a_closed : assert (32'(idle) != WAIT + 2 || closed);
      a_slot : assert (!move || !entered);
      a_lowest : assert (!move || (some && move_q == lowest));
      a_over : assert (some || !late_next);
      a_early : assert (!late_next || late || 32'(dut.waited) == WAIT);
      c_late : cover (late && move);
      c_last : cover (some && !move && 32'(idle) == WAIT + 1);
    end
  end

endmodule

`default_nettype wire
