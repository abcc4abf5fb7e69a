// SPDX-License-Identifier: Apache-2.0
// The far end of an input: a frame that was under way, or began, while the port was dead is not sent on when the port
// comes back. Its beats are taken from the player and not offered (docs/switch.md, E2).
`default_nettype none

module frame_cut (
    input  wire  clk,    /// clock
    input  wire  rst,    /// synchronous reset, active high
    input  wire  live,   /// the port is in use
    input  wire  valid,  /// beat offered by the player
    input  wire  ready,  /// the switch accepts
    input  wire  last,   /// last beat of the frame
    output logic cut     /// beats are not offered
);
  logic open;  // a frame is under way into the switch
  wire lost = !live || cut;

  always_ff @(posedge clk) begin
    if (rst) begin
      cut  <= 1'b0;
      open <= 1'b0;
    end else begin
      if (valid && ready) cut <= lost && !last;
      else if (!live && open && ready) cut <= 1'b1;
      if (!live && ready) open <= 1'b0;
      else if (valid && ready && !lost) open <= !last;
    end
  end
endmodule

`default_nettype wire
