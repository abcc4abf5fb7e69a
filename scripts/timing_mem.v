// SPDX-License-Identifier: Apache-2.0
// A big memory as the timing estimate sees it: a macro, not flip-flops.
//
// Every input is registered at the macro's border and a clocked read port's output is a register, so
// paths to and from a macro are timed as if to and from a flip-flop. A combinational read port costs a
// chain of 2:1 multiplexers as deep as a tree over all words would be. Contents do not matter.
`define BIG_BITS 8192

(* techmap_celltype = "$mem_v2" *)
module microhop_memory_macro (
    RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA, WR_CLK, WR_EN, WR_ADDR, WR_DATA
);
  parameter MEMID = "";
  parameter signed SIZE = 4;
  parameter signed OFFSET = 0;
  parameter signed ABITS = 2;
  parameter signed WIDTH = 8;
  parameter INIT = 1'bx;
  parameter signed RD_PORTS = 1;
  parameter RD_CLK_ENABLE = 1'b1;
  parameter RD_CLK_POLARITY = 1'b1;
  parameter RD_TRANSPARENCY_MASK = 1'b0;
  parameter RD_COLLISION_X_MASK = 1'b0;
  parameter RD_WIDE_CONTINUATION = 1'b0;
  parameter RD_CE_OVER_SRST = 1'b0;
  parameter RD_ARST_VALUE = 1'b0;
  parameter RD_SRST_VALUE = 1'b0;
  parameter RD_INIT_VALUE = 1'b0;
  parameter signed WR_PORTS = 1;
  parameter WR_CLK_ENABLE = 1'b1;
  parameter WR_CLK_POLARITY = 1'b1;
  parameter WR_PRIORITY_MASK = 1'b0;
  parameter WR_WIDE_CONTINUATION = 1'b0;

  input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;
  input [RD_PORTS*ABITS-1:0] RD_ADDR;
  output [RD_PORTS*WIDTH-1:0] RD_DATA;
  input [WR_PORTS-1:0] WR_CLK;
  input [WR_PORTS*WIDTH-1:0] WR_EN;
  input [WR_PORTS*ABITS-1:0] WR_ADDR;
  input [WR_PORTS*WIDTH-1:0] WR_DATA;

  localparam MACRO = WR_PORTS > 0 && SIZE * WIDTH >= `BIG_BITS;
  wire _TECHMAP_FAIL_ = !MACRO;

  genvar p, k;
  generate if (MACRO) begin : macro
    wire clk = WR_CLK[0];
    for (p = 0; p < WR_PORTS; p = p + 1) begin : wr
      (* keep *) reg [ABITS-1:0] addr;
      (* keep *) reg [WIDTH-1:0] data;
      (* keep *) reg en;
      always @(posedge clk) begin
        addr <= WR_ADDR[p*ABITS+:ABITS];
        data <= WR_DATA[p*WIDTH+:WIDTH];
        en   <= |WR_EN[p*WIDTH+:WIDTH];
      end
    end
    for (p = 0; p < RD_PORTS; p = p + 1) begin : rd
      if (RD_CLK_ENABLE[p]) begin : clocked
        (* keep *) reg [ABITS-1:0] addr;
        (* keep *) reg en, srst;
        (* keep *) reg [WIDTH-1:0] data;
        always @(posedge clk) begin
          addr <= RD_ADDR[p*ABITS+:ABITS];
          en   <= RD_EN[p];
          srst <= RD_SRST[p];
          data <= wr[0].data;
        end
        assign RD_DATA[p*WIDTH+:WIDTH] = data;
      end else begin : open
        for (k = 0; k < ABITS; k = k + 1) begin : level
          (* keep *) reg [WIDTH-1:0] word;
          wire [WIDTH-1:0] below, out;
          always @(posedge clk) word <= k == 0 ? wr[0].data : ~below;
          if (k == 0) begin : first
            assign below = ~wr[0].data;
          end else begin : other
            assign below = level[k-1].out;
          end
          assign out = RD_ADDR[p*ABITS+k] ? word : below;
        end
        assign RD_DATA[p*WIDTH+:WIDTH] = level[ABITS-1].out;
      end
    end
  end endgenerate
endmodule
