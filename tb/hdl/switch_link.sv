// SPDX-License-Identifier: Apache-2.0
// The link between two switches, as docs/switch.md (O1) wants it: down for at least two cycles, and up again at both
// ends at once when both are drained, so that each end begins with all credits and an empty far end.
`default_nettype none

module switch_link (
    input  wire        clk,      /// clock
    input  wire        rst,      /// synchronous reset, active high
    input  wire        light,    /// the cable carries
    input  wire  [1:0] drained,  /// nothing of the link's port is inside, by end
    output logic       up        /// port_up of both ends
);
  logic was_up;  // up in the cycle before: `drained` still speaks of a port that is in use

  always_ff @(posedge clk) begin
    if (rst) begin
      up     <= 1'b0;
      was_up <= 1'b0;
    end else begin
      up     <= light && (up || (!was_up && drained == '1));
      was_up <= up;
    end
  end
endmodule

`default_nettype wire
