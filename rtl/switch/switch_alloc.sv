// SPDX-License-Identifier: Apache-2.0
// Allocator: one iteration of round-robin grant and accept each cycle (iSLIP with one iteration;
// N. McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM ToN 7(2), 1999).
// Requests come from idle inputs only. Pointers move one beyond the partner, and only when a grant is
// accepted: that is what keeps outputs from choosing the same input again and again.
// Latency 0: `acc` is the match of this cycle; inputs and outputs register it.
`default_nettype none
`include "microhop_assert.svh"

module switch_alloc #(
    parameter int PORTS = 8  /// ports, 2..8
) (
    input  wire                    clk,     /// clock
    input  wire                    rst,     /// synchronous reset, active high
    input  wire  [PORTS*PORTS-1:0] req,     /// bit i*PORTS+o: input i asks for output o
    input  wire  [      PORTS-1:0] out_ok,  /// output is idle and has room for a largest frame
    output logic [PORTS*PORTS-1:0] acc      /// bit i*PORTS+o: input i is matched with output o
);

  localparam int PW = $clog2(PORTS);

  logic [PORTS*PORTS-1:0] gnt_by_out;  // bit o*PORTS+i
  logic [PORTS*PORTS-1:0] acc_by_out;  // bit o*PORTS+i

  for (genvar o = 0; o < PORTS; o++) begin : g_grant
    logic [PORTS-1:0] ask;
    logic [PW-1:0] ptr;
    wire [PORTS-1:0] won = acc_by_out[o*PORTS+:PORTS];
    for (genvar i = 0; i < PORTS; i++) begin : g_ask
      assign ask[i] = req[i*PORTS+o] && out_ok[o];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(ask), .ptr(ptr), .gnt(gnt_by_out[o*PORTS+:PORTS]));

    logic [PW-1:0] beyond;
    always_comb begin
      beyond = '0;
      for (int i = 0; i < PORTS - 1; i++) if (won[i]) beyond = beyond | PW'(i + 1);
    end
    always_ff @(posedge clk) begin
      if (rst) ptr <= '0;
      else if (won != '0) ptr <= beyond;
    end
  end

  for (genvar i = 0; i < PORTS; i++) begin : g_accept
    logic [PORTS-1:0] offer;
    logic [PORTS-1:0] won;
    logic [PW-1:0] ptr;
    for (genvar o = 0; o < PORTS; o++) begin : g_offer
      assign offer[o] = gnt_by_out[o*PORTS+i];
      assign acc_by_out[o*PORTS+i] = won[o];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(offer), .ptr(ptr), .gnt(won));
    assign acc[i*PORTS+:PORTS] = won;

    logic [PW-1:0] beyond;
    always_comb begin
      beyond = '0;
      for (int o = 0; o < PORTS - 1; o++) if (won[o]) beyond = beyond | PW'(o + 1);
    end
    always_ff @(posedge clk) begin
      if (rst) ptr <= '0;
      else if (won != '0) ptr <= beyond;
    end
  end

  // Only what was asked for and can be served is matched.
  `MH_ASSERT(a_asked, (acc & ~req) == '0)
  `MH_NEVER_X(a_known, acc)

endmodule

`default_nettype wire
