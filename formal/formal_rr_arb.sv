// SPDX-License-Identifier: Apache-2.0
// rr_arb under the pointer rule of iSLIP (one beyond the winner, and only when its grant is accepted): at most one winner,
// always one that asked, always one when anybody asks; and a requester that keeps asking is among the next N
// accepted grants, whoever else asks whenever.
`default_nettype none
`include "formal.svh"

module formal_rr_arb #(
    parameter int N = 8  /// requesters
) (
    input wire                 clk,     /// clock
    input wire                 rst,     /// reset
    input wire [        N-1:0] req,     /// who asks
    input wire                 accept,  /// the grant is accepted
    input wire [$clog2(N)-1:0] who      /// the requester that is watched
);

  localparam int PW = $clog2(N);

  logic [PW-1:0] ptr;
  wire [N-1:0] gnt;
  rr_arb #(.N(N)) dut (.req(req), .ptr(ptr), .gnt(gnt));

  `FORMAL_START
  `FORMAL_STEADY(who, PW)
  logic waits;  // it asked, and was not served
  always_comb begin
    assume (32'(who) < N);
    if (waits) assume (req[who]);
  end

  logic [PW-1:0] next;
  always_comb begin
    next = '0;
    for (int i = 0; i < N - 1; i++) if (gnt[i]) next = next | PW'(i + 1);
  end
  wire granted = accept && gnt != '0;

  logic [PW:0] passed;  // grants to others since it began to ask
  always_ff @(posedge clk) begin
    if (rst) begin
      ptr    <= '0;
      waits  <= 1'b0;
      passed <= '0;
    end else begin
      if (granted) ptr <= next;
      waits <= req[who] && !(accept && gnt[who]);
      if (!req[who] || (accept && gnt[who])) passed <= '0;
      else passed <= passed + (PW + 1)'(granted);
    end
  end

  // how far the pointer has to go: each accepted grant to another brings it nearer
  wire [PW:0] way = (PW + 1)'(who) >= (PW + 1)'(ptr) ? (PW + 1)'(who) - (PW + 1)'(ptr)
                                                       : (PW + 1)'(who) + (PW + 1)'(N) - (PW + 1)'(ptr);
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_asked : assert ((gnt & ~req) == '0);
      a_one : assert ((gnt & (gnt - 1'b1)) == '0);
      a_some : assert ((gnt == '0) == (req == '0));
      a_pointer : assert (32'(ptr) < N);
      a_nearer : assert (32'(passed) + 32'(way) < N);
      a_served : assert (32'(passed) < N);
      c_longest : cover (32'(passed) == N - 1);
    end
  end

endmodule

`default_nettype wire
