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
    input  wire [4*65-1:0]   ends,  /// base + length of each
    input  wire [31:0]       key,   /// key
    input  wire [63:0]       addr,  /// first byte
    input  wire [31:0]       len,   /// bytes
    input  wire              lw,    /// local write is wanted
    input  wire              rw,    /// remote write is wanted
    output wire              ok     /// verdict on the inputs of the edge before
);

  wire [3:0] hit, allowed, pick;
  wire [63:0] base[4];
  wire [64:0] stop[4];

  for (genvar i = 0; i < 4; i++) begin : g_mr
    /* verilator lint_off UNUSEDSIGNAL */  // the length is in `ends`
    mr_t m;
    /* verilator lint_on UNUSEDSIGNAL */
    assign m = mrs[i*MR_W+:MR_W];
    assign hit[i] = m.valid && m.key == key;
    assign allowed[i] = (!lw || m.local_write) && (!rw || m.remote_write);
    assign base[i] = m.base;
    assign stop[i] = ends[i*65+:65];
  end
  assign pick = hit & (~hit + 1'b1);

  logic good_q;
  logic [63:0] addr_q, base_q;
  logic [64:0] stop_q;
  logic [31:0] len_q;

  always_ff @(posedge clk) begin
    if (en) begin
      good_q <= (pick & allowed) != 0;
      addr_q <= addr;
      len_q  <= len;
      base_q <= ({64{pick[0]}} & base[0]) | ({64{pick[1]}} & base[1]) | ({64{pick[2]}} & base[2]) |
          ({64{pick[3]}} & base[3]);
      stop_q <= ({65{pick[0]}} & stop[0]) | ({65{pick[1]}} & stop[1]) | ({65{pick[2]}} & stop[2]) |
          ({65{pick[3]}} & stop[3]);
    end
  end

  // stop - addr - len >= 0 as one carry: three operands saved to two, and + 2 as two carries in.
  wire [65:0] a = {1'b0, stop_q};
  wire [65:0] b = ~{2'b00, addr_q};
  wire [65:0] c = ~{34'b0, len_q};
  wire [65:0] k = {(a[64:0] & b[64:0]) | (a[64:0] & c[64:0]) | (b[64:0] & c[64:0]), 1'b1};
  /* verilator lint_off UNUSEDSIGNAL */  // only the signs count
  wire [66:0] room = {a ^ b ^ c, 1'b1} + {k, 1'b1};
  wire [64:0] above = {1'b0, addr_q} - {1'b0, base_q};
  /* verilator lint_on UNUSEDSIGNAL */

  assign ok = good_q && !above[64] && !room[66];

endmodule

`default_nettype wire
