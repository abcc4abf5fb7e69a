// SPDX-License-Identifier: Apache-2.0
// Round-robin choice, combinational: the first requester at or after `ptr`, counted upwards and
// around. The caller owns the pointer (iSLIP moves it only when a grant is accepted).
// Latency 0. At most one bit of `gnt` is set; none when `req` is zero.
`default_nettype none

module rr_arb #(
    parameter int N = 8  /// requesters
) (
    input  wire  [N-1:0]         req,  /// who asks
    input  wire  [$clog2(N)-1:0] ptr,  /// who comes first
    output wire  [N-1:0]         gnt   /// one hot: who is chosen
);

  // Each requester looks for one that comes before it: from the pointer up to it, or, when it is below the pointer
  // itself, all from the pointer up and those below it. Who comes before whom is known from the pointer alone, so
  // that a late request passes one AND and one OR: a search for the lowest bit takes half as long again.
  wire [N-1:0] mask = {N{1'b1}} << ptr;
  for (genvar i = 0; i < N; i++) begin : g_of
    localparam logic [N-1:0] BELOW = ~({N{1'b1}} << i);
    assign gnt[i] = req[i] && (req & (mask[i] ? mask & BELOW : mask | BELOW)) == '0;
  end

endmodule

`default_nettype wire
