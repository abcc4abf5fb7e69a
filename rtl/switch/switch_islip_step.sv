// SPDX-License-Identifier: Apache-2.0
// One iteration of iSLIP, combinational: outputs not matched grant, inputs not matched accept.
`default_nettype none

module switch_islip_step #(
    parameter int PORTS = 8  /// ports, 2..80
) (
    input  wire [        PORTS*PORTS-1:0] req,    /// bit i*PORTS+o: input i asks for output o
    input  wire [        PORTS*PORTS-1:0] done,   /// matched by the iterations before
    input  wire [PORTS*$clog2(PORTS)-1:0] g_ptr,  /// grant pointers, by output
    input  wire [PORTS*$clog2(PORTS)-1:0] a_ptr,  /// accept pointers, by input
    output wire [        PORTS*PORTS-1:0] acc     /// matched with this iteration's
);

  localparam int PW = $clog2(PORTS);

  logic [PORTS-1:0] in_done, out_done;
  always_comb begin
    out_done = '0;
    for (int i = 0; i < PORTS; i++) begin
      in_done[i] = done[i*PORTS+:PORTS] != '0;
      out_done   = out_done | done[i*PORTS+:PORTS];
    end
  end

  wire [PORTS*PORTS-1:0] gnt;  // bit o*PORTS+i
  for (genvar o = 0; o < PORTS; o++) begin : g_grant
    wire [PORTS-1:0] ask;
    for (genvar i = 0; i < PORTS; i++) begin : g_ask
      assign ask[i] = req[i*PORTS+o] && !in_done[i] && !out_done[o];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(ask), .ptr(g_ptr[o*PW+:PW]), .gnt(gnt[o*PORTS+:PORTS]));
  end

  for (genvar i = 0; i < PORTS; i++) begin : g_accept
    wire [PORTS-1:0] offer, won;
    for (genvar o = 0; o < PORTS; o++) begin : g_offer
      assign offer[o] = gnt[o*PORTS+i];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(offer), .ptr(a_ptr[i*PW+:PW]), .gnt(won));
    assign acc[i*PORTS+:PORTS] = done[i*PORTS+:PORTS] | won;
  end

endmodule

`default_nettype wire
