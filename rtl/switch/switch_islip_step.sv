// SPDX-License-Identifier: Apache-2.0
// One iteration of iSLIP, combinational: outputs not matched grant, inputs not matched accept.
// An input that is granted anything accepts something, so that who is matched is known from the grants, before the
// accepts; and an output's choice does not wait for whether it is matched itself. An iteration is thus one choice
// behind the one before, not two.
`default_nettype none

module switch_islip_step #(
    parameter int PORTS = 8  /// ports, 2..80
) (
    input  wire  [        PORTS*PORTS-1:0] req,       /// bit i*PORTS+o: input i asks for output o
    input  wire  [              PORTS-1:0] in_done,   /// inputs matched by the iterations before
    input  wire  [              PORTS-1:0] out_done,  /// outputs matched by them; later than in_done
    input  wire  [PORTS*$clog2(PORTS)-1:0] g_ptr,     /// grant pointers, by output
    input  wire  [PORTS*$clog2(PORTS)-1:0] a_ptr,     /// accept pointers, by input
    output wire  [        PORTS*PORTS-1:0] won,       /// bit i*PORTS+o: matched by this iteration
    output wire  [              PORTS-1:0] in_next,   /// in_done with this iteration's
    output logic [              PORTS-1:0] out_next   /// out_done with this iteration's
);

  localparam int PW = $clog2(PORTS);

  wire [PORTS*PORTS-1:0] gnt;  // bit o*PORTS+i
  for (genvar o = 0; o < PORTS; o++) begin : g_grant
    wire [PORTS-1:0] ask, choice;
    for (genvar i = 0; i < PORTS; i++) begin : g_ask
      assign ask[i] = req[i*PORTS+o] && !in_done[i];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(ask), .ptr(g_ptr[o*PW+:PW]), .gnt(choice));
    assign gnt[o*PORTS+:PORTS] = choice & {PORTS{!out_done[o]}};
  end

  for (genvar i = 0; i < PORTS; i++) begin : g_accept
    wire [PORTS-1:0] offer;
    for (genvar o = 0; o < PORTS; o++) begin : g_offer
      assign offer[o] = gnt[o*PORTS+i];
    end
    rr_arb #(.N(PORTS)) u_arb (.req(offer), .ptr(a_ptr[i*PW+:PW]), .gnt(won[i*PORTS+:PORTS]));
    assign in_next[i] = in_done[i] || offer != '0;
  end

  always_comb begin
    out_next = out_done;
    for (int i = 0; i < PORTS; i++) out_next = out_next | won[i*PORTS+:PORTS];
  end

endmodule

`default_nettype wire
