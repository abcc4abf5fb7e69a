// SPDX-License-Identifier: Apache-2.0
// Crossbar: each output's register takes the beat of the input that it is told. Latency 1, one beat a cycle and
// output; an input may go to several outputs at once.
`default_nettype none

module switch_xbar #(
    parameter int PORTS = 8,   /// ports, 2..80
    parameter int W     = 577  /// bits of a beat with its flags
) (
    input  wire                            clk,      /// clock
    input  wire                            rst,      /// synchronous reset, active high
    input  wire  [                  W-1:0] x_beat [PORTS],  /// beats, by input
    input  wire  [              PORTS-1:0] x_valid,  /// output gets a beat
    input  wire  [PORTS*$clog2(PORTS)-1:0] x_sel,    /// from this input, by output
    output logic [              PORTS-1:0] q_valid,  /// beat of an output
    output wire  [                  W-1:0] q_beat [PORTS]   /// beats, by output
);

  localparam int PW = $clog2(PORTS);

  always_ff @(posedge clk) begin
    if (rst) q_valid <= '0;
    else q_valid <= x_valid;
  end
  for (genvar o = 0; o < PORTS; o++) begin : g_out
    wire [PW-1:0] sel = x_sel[o*PW+:PW];
    logic [W-1:0] beat;  // Icarus 11 lets no register out through a port that is an array: hence a net behind it
    always_ff @(posedge clk) if (x_valid[o]) beat <= x_beat[sel];
    assign q_beat[o] = beat;
  end

endmodule

`default_nettype wire
