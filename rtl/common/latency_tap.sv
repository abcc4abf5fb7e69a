// SPDX-License-Identifier: Apache-2.0
// Stage stamp, simulation only: writes the cycle of every event to <run_dir>/taps/<NAME>.tap, a line each,
// and "reset" when a reset ends a phase; the bench builds the waterfall from them. Nothing is left of it
// in synthesis, and Python is not woken. Enabled by +taps; the folder must be there.
`default_nettype none

module latency_tap #(
    parameter     NAME   = "tap",  /// file name, unique in the design
    parameter int NUMBER = -1      /// from 0 on: written behind the name, with as many digits as it has
) (
    input wire        clk,    /// clock
    input wire        rst,    /// synchronous reset, active high: the cycle count starts again
    input wire        event_i /// an item crosses the stage boundary at this edge
);

`ifndef SYNTHESIS
  int unsigned cycle;
  int fd;
  reg [8*256-1:0] dir;

  initial begin
    fd = 0;
    if ($test$plusargs("taps") != 0 && $value$plusargs("run_dir=%s", dir) != 0)
      if (NUMBER < 0) fd = $fopen($sformatf("%0s/taps/%0s.tap", dir, NAME), "w");
      else fd = $fopen($sformatf("%0s/taps/%0s%0d.tap", dir, NAME, NUMBER), "w");
  end

  // Counts as the bench's cycle counter does: 0 is the first edge after reset.
  always_ff @(posedge clk) begin
    if (rst) cycle <= 0;
    else cycle <= cycle + 1;
    if (fd != 0 && (rst ? cycle != 0 : event_i)) begin
      if (rst) $fdisplay(fd, "reset");
      else $fdisplay(fd, "%0d", cycle);
      $fflush(fd);  // the bench reads between phases; events are frames, not beats
    end
  end

  final if (fd != 0) $fclose(fd);
`endif

endmodule

`default_nettype wire
