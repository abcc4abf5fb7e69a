// SPDX-License-Identifier: Apache-2.0
// Dual round-robin matching: each input picks one output, each output grants one of the inputs that picked it; both
// pointers move one beyond the partner, and only for a match (docs/switch.md, M5; Y. Li, S. Panwar, H. J. Chao, "On the
// performance of a dual round-robin switch", INFOCOM 2001). Latency 0.
`default_nettype none

module switch_drrm #(
    parameter int PORTS = 8  /// ports, 2..80
) (
    input  wire                    clk,  /// clock
    input  wire                    rst,  /// synchronous reset, active high
    input  wire  [PORTS*PORTS-1:0] req,  /// bit i*PORTS+o: input i asks for output o, which may be matched
    output wire  [PORTS*PORTS-1:0] acc   /// bit i*PORTS+o: input i is matched with output o
);

  localparam int PW = $clog2(PORTS);

  wire [PORTS*PORTS-1:0] choice;  // bit i*PORTS+o
  for (genvar i = 0; i < PORTS; i++) begin : g_in
    logic [PW-1:0] a, next;
    rr_arb #(.N(PORTS)) u_arb (.req(req[i*PORTS+:PORTS]), .ptr(a), .gnt(choice[i*PORTS+:PORTS]));
    always_comb begin
      next = '0;
      for (int o = 0; o < PORTS - 1; o++) if (acc[i*PORTS+o]) next = next | PW'(o + 1);
    end
    always_ff @(posedge clk) begin
      if (rst) a <= '0;
      else if (acc[i*PORTS+:PORTS] != '0) a <= next;
    end
  end

  for (genvar o = 0; o < PORTS; o++) begin : g_out
    logic [PW-1:0] g, next;
    wire [PORTS-1:0] ask, won;
    for (genvar i = 0; i < PORTS; i++) begin : g_ask
      assign ask[i] = choice[i*PORTS+o];
      assign acc[i*PORTS+o] = won[i];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(ask), .ptr(g), .gnt(won));
    always_comb begin
      next = '0;
      for (int i = 0; i < PORTS - 1; i++) if (won[i]) next = next | PW'(i + 1);
    end
    always_ff @(posedge clk) begin
      if (rst) g <= '0;
      else if (won != '0) g <= next;
    end
  end

endmodule

`default_nettype wire
