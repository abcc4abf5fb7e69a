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

  // Column c of a turned row is output (c + w) mod PORTS, so that the diagonals are in fixed order: k holds the pairs
  // of input i and column (k - i) mod PORTS.
  logic [PORTS*PORTS-1:0] ask, won;
  always_comb begin
    for (int i = 0; i < PORTS; i++) ask[i*PORTS+:PORTS] = PORTS'({2{req[i*PORTS+:PORTS]}} >> w);
  end

  logic [PORTS-1:0] row, col;  // not matched yet
  logic hit;
  always_comb begin
    won = '0;
    row = '1;
    col = '1;
    hit = 1'b0;
    for (int k = 0; k < PORTS; k++) begin
      for (int i = 0; i < PORTS; i++) begin
        hit = ask[i*PORTS+(k+PORTS-i)%PORTS] && row[i] && col[(k+PORTS-i)%PORTS];
        won[i*PORTS+(k+PORTS-i)%PORTS] = hit;
        row[i]                 = row[i] && !hit;
        col[(k+PORTS-i)%PORTS] = col[(k+PORTS-i)%PORTS] && !hit;
      end
    end
  end

  always_comb begin
    for (int i = 0; i < PORTS; i++) acc[i*PORTS+:PORTS] = PORTS'({2{won[i*PORTS+:PORTS]}} << w >> PORTS);
  end

  // Whenever anything is asked for something is matched.
  always_ff @(posedge clk) begin
    if (rst) w <= '0;
    else if (req != '0) w <= 32'(w) == PORTS - 1 ? '0 : w + 1'b1;
  end

endmodule

`default_nettype wire
