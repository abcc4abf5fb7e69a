// SPDX-License-Identifier: Apache-2.0
// iSLIP: K iterations of grant and accept in one cycle (docs/switch.md, M4; N. McKeown, "The iSLIP scheduling
// algorithm for input-queued switches", IEEE/ACM ToN 7(2), 1999). Pointers move one beyond the partner, and only for
// what is accepted in the first iteration: that keeps outputs from choosing the same input again and again.
// Latency 0: `acc` is the match of this cycle.
`default_nettype none

module switch_islip #(
    parameter int PORTS = 8,  /// ports, 2..80
    parameter int K     = 1   /// iterations, 1..4
) (
    input  wire                    clk,  /// clock
    input  wire                    rst,  /// synchronous reset, active high
    input  wire  [PORTS*PORTS-1:0] req,  /// bit i*PORTS+o: input i asks for output o, which may be matched
    output wire  [PORTS*PORTS-1:0] acc   /// bit i*PORTS+o: input i is matched with output o
);

  localparam int PW = $clog2(PORTS);

  wire [PORTS*PORTS-1:0] done [K+1];  // matched so far, by iteration
  wire [PORTS-1:0] in_done [K+1];
  wire [PORTS-1:0] out_done [K+1];
  wire [PORTS*PW-1:0] g_ptr, a_ptr;
  assign done[0]     = '0;
  assign in_done[0]  = '0;
  assign out_done[0] = '0;
  assign acc         = done[K];

  for (genvar n = 0; n < K; n++) begin : g_iter
    wire [PORTS*PORTS-1:0] won;
    switch_islip_step #(.PORTS(PORTS)) u_step (
        .req(req), .in_done(in_done[n]), .out_done(out_done[n]), .g_ptr(g_ptr), .a_ptr(a_ptr), .won(won),
        .in_next(in_done[n+1]), .out_next(out_done[n+1]));
    assign done[n+1] = done[n] | won;
  end

  for (genvar p = 0; p < PORTS; p++) begin : g_ptr_of
    logic [PW-1:0] g, a;  // as an output, as an input
    logic [PW-1:0] g_next, a_next;
    logic g_won, a_won;
    assign g_ptr[p*PW+:PW] = g;
    assign a_ptr[p*PW+:PW] = a;
    always_comb begin
      g_next = '0;
      a_next = '0;
      g_won  = 1'b0;
      a_won  = 1'b0;
      for (int q = 0; q < PORTS; q++) begin
        if (done[1][q*PORTS+p]) begin
          g_won = 1'b1;
          if (q != PORTS - 1) g_next = g_next | PW'(q + 1);
        end
        if (done[1][p*PORTS+q]) begin
          a_won = 1'b1;
          if (q != PORTS - 1) a_next = a_next | PW'(q + 1);
        end
      end
    end
    always_ff @(posedge clk) begin
      if (rst) begin
        g <= '0;
        a <= '0;
      end else begin
        if (g_won) g <= g_next;
        if (a_won) a <= a_next;
      end
    end
  end

endmodule

`default_nettype wire
