// SPDX-License-Identifier: Apache-2.0
// Allocator: which input is matched with which output in this cycle (docs/switch.md, M1, M4 to M6).
// Latency 0: inputs and outputs register `acc`. Pointers are 0 after reset.
`default_nettype none
`include "microhop_assert.svh"

module switch_alloc #(
    parameter int PORTS = 8,  /// ports, 2..80
    parameter int ALLOC = 1   /// 0 round robin, 1..4 iSLIP iterations, 5 wavefront
) (
    input  wire                    clk,     /// clock
    input  wire                    rst,     /// synchronous reset, active high
    input  wire  [PORTS*PORTS-1:0] req,     /// bit i*PORTS+o: input i asks for output o
    input  wire  [      PORTS-1:0] out_ok,  /// output may be matched
    output wire  [PORTS*PORTS-1:0] acc      /// bit i*PORTS+o: input i is matched with output o
);

  wire [PORTS*PORTS-1:0] ask = req & {PORTS{out_ok}};

  if (ALLOC == 0) begin : g_drrm
    switch_drrm #(.PORTS(PORTS)) u_alloc (.clk(clk), .rst(rst), .req(ask), .acc(acc));
  end else if (ALLOC <= 4) begin : g_islip
    switch_islip #(.PORTS(PORTS), .K(ALLOC)) u_alloc (.clk(clk), .rst(rst), .req(ask), .acc(acc));
  end else begin : g_wavefront
    switch_wavefront #(.PORTS(PORTS)) u_alloc (.clk(clk), .rst(rst), .req(ask), .acc(acc));
  end

  // Only what was asked for and can be served is matched.
  `MH_ASSERT(a_asked, (acc & ~ask) == '0)
  `MH_NEVER_X(a_known, acc)

endmodule

`default_nettype wire
