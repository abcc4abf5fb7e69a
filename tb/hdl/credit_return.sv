// SPDX-License-Identifier: Apache-2.0
// Far end of a switch's output: gives a cell back for each beat that left, by lane, all that are due at once when
// `go` says so. A beat that leaves at c is due from c+1 on. No more than 255 may be due: go at least every 200 cycles.
`default_nettype none

module credit_return #(
    parameter int LANES = 1  /// virtual lanes, 1..8
) (
    input  wire               clk,        /// clock
    input  wire               rst,        /// synchronous reset, active high
    input  wire               live,       /// the port is in use; when it dies, a frame under way has no end
    input  wire               go,         /// give back now
    input  wire [        2:0] head_lane,  /// lane of the beat that leaves, if it is a frame's first
    input  wire               left,       /// a beat leaves
    input  wire               last,       /// it is a frame's last
    output wire [LANES*8-1:0] credit      /// cells given back in this cycle, by lane
);
  logic in_frame;  // the next beat is not a frame's first
  logic [2:0] kept_lane;
  wire [2:0] lane = in_frame ? kept_lane : head_lane;

  always_ff @(posedge clk) begin
    if (rst || !live) in_frame <= 1'b0;
    else if (left) begin
      in_frame <= !last;
      kept_lane <= lane;
    end
  end

  for (genvar v = 0; v < LANES; v++) begin : g_lane
    logic [7:0] due;
    assign credit[8*v+:8] = go ? due : 8'd0;
    always_ff @(posedge clk) begin
      if (rst || !live) due <= '0;
      else due <= due - credit[8*v+:8] + 8'(left && lane == 3'(v));
    end
  end
endmodule

`default_nettype wire
