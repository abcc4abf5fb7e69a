// SPDX-License-Identifier: Apache-2.0
// Wrapped wavefront allocator: the diagonals of the request matrix one after the other, from a diagonal that moves on by
// one with each cycle that matches anything (docs/switch.md, M6; Y. Tamir, H.-C. Chi, "Symmetric crossbar arbiters for
// VLSI communication switches", IEEE TPDS 4(1), 1993). Latency 0.
`default_nettype none

module switch_wavefront #(
    parameter int PORTS = 8  /// ports, 2..80
) (
    input  wire                    clk,  /// clock
    input  wire                    rst,  /// synchronous reset, active high
    input  wire  [PORTS*PORTS-1:0] req,  /// bit i*PORTS+o: input i asks for output o, which may be matched
    output logic [PORTS*PORTS-1:0] acc   /// bit i*PORTS+o: input i is matched with output o
);

  localparam int PW = $clog2(PORTS);

  logic [PW-1:0] w;
  logic [PORTS-1:0] row, col;  // not matched yet
  logic hit;
  // The 2 PORTS - 1 diagonals of a doubled matrix in fixed order; those from w to w + PORTS - 1 take part.
  always_comb begin
    acc = '0;
    row = '1;
    col = '1;
    hit = 1'b0;
    for (int k = 0; k < 2 * PORTS - 1; k++) begin
      if (k >= 32'(w) && k < 32'(w) + PORTS) begin
        for (int i = 0; i < PORTS; i++) begin
          hit = req[i*PORTS+(k+PORTS-i)%PORTS] && row[i] && col[(k+PORTS-i)%PORTS];
          if (hit) begin
            acc[i*PORTS+(k+PORTS-i)%PORTS] = 1'b1;
            row[i]                         = 1'b0;
            col[(k+PORTS-i)%PORTS]         = 1'b0;
          end
        end
      end
    end
  end
  always_ff @(posedge clk) begin
    if (rst) w <= '0;
    else if (acc != '0) w <= 32'(w) == PORTS - 1 ? '0 : w + 1'b1;
  end

endmodule

`default_nettype wire
