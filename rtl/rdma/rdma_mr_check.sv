// SPDX-License-Identifier: Apache-2.0
// Key check (InfiniBand vol. 1, 10.6): key known, rights present, addr .. addr+len-1 inside the region,
// without wrap-around; addr + len may equal the end. Two stages: inputs at cycle c, `ok` during c+1
// (from registers through logic). Of entries with the same key the lowest counts.
`default_nettype none

module rdma_mr_check
  import microhop_pkg::*;
(
    input  wire              clk,   /// clock
    input  wire              en,    /// inputs count at this edge
    input  wire [4*MR_W-1:0] mrs,   /// four memory regions
    input  wire [31:0]       key,   /// key
    input  wire [63:0]       addr,  /// first byte
    input  wire [31:0]       len,   /// bytes
    input  wire              lw,    /// local write is wanted
    input  wire              rw,    /// remote write is wanted
    output wire              ok     /// verdict on the inputs of the edge before
);

  wire [3:0] hit, below;
  wire [63:0] off[4];
  wire [63:0] size[4];

  for (genvar i = 0; i < 4; i++) begin : g_mr
    mr_t m;
    assign m = mrs[i*MR_W+:MR_W];
    assign hit[i] = m.valid && m.key == key;
    assign {below[i], off[i]} = {1'b0, addr} - {1'b0, m.base};
    // A right that is wanted and missing looks like an address below the region.
    assign size[i] = (lw && !m.local_write) || (rw && !m.remote_write) ? '0 : m.length;
  end

  logic hit_q, below_q;
  logic [63:0] off_q, size_q;
  logic [31:0] len_q;

  always_ff @(posedge clk) begin
    if (en) begin
      hit_q   <= hit != 0;
      below_q <= hit[0] ? below[0] : hit[1] ? below[1] : hit[2] ? below[2] : below[3];
      off_q   <= hit[0] ? off[0] : hit[1] ? off[1] : hit[2] ? off[2] : off[3];
      size_q  <= hit[0] ? size[0] : hit[1] ? size[1] : hit[2] ? size[2] : size[3];
      len_q   <= len;
    end
  end

  // size - off - len >= 0 as one carry chain: three operands saved to two, and + 2 as two carries in.
  wire [65:0] a = {2'b00, size_q};
  wire [65:0] b = ~{2'b00, off_q};
  wire [65:0] c = ~{34'b0, len_q};
  wire [65:0] s = a ^ b ^ c;
  wire [65:0] k = {(a[64:0] & b[64:0]) | (a[64:0] & c[64:0]) | (b[64:0] & c[64:0]), 1'b1};
  /* verilator lint_off UNUSEDSIGNAL */  // only the sign counts
  wire [66:0] t = {s, 1'b1} + {k, 1'b1};
  /* verilator lint_on UNUSEDSIGNAL */

  assign ok = hit_q && !below_q && !t[66];

endmodule

`default_nettype wire
