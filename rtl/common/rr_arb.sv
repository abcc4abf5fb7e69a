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
    output logic [N-1:0]         gnt   /// one hot: who is chosen
);

  logic [N-1:0] mask;
  logic [N-1:0] upper;

  // Lowest set bit at or above the pointer, else the lowest set bit of all (x & -x isolates it).
  always_comb begin
    mask  = {N{1'b1}} << ptr;
    upper = req & mask;
    if (upper != 0) gnt = upper & (~upper + 1'b1);
    else gnt = req & (~req + 1'b1);
  end

endmodule

`default_nettype wire
