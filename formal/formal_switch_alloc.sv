// SPDX-License-Identifier: Apache-2.0
// switch_alloc, any allocator: a match is a matching (at most one output an input, one input an output), of pairs that
// ask and whose output may be matched only; when anybody asks somebody is matched; a pair that keeps asking is
// matched within WAIT cycles, whoever else asks whenever (0: not claimed). A wavefront match can not be added to (M6);
// pointers stay below PORTS.
`default_nettype none
`include "formal.svh"

module formal_switch_alloc #(
    parameter int PORTS = 2,  /// ports
    parameter int ALLOC = 1,  /// allocator
    parameter int WAIT  = 0,  /// cycles within which a pair that keeps asking is matched
    parameter bit STAND = 1'b0  /// 1: every pair that asks keeps asking until it is matched
) (
    input wire                     clk,     /// clock
    input wire                     rst,     /// reset
    input wire [  PORTS*PORTS-1:0] req,     /// requests
    input wire [        PORTS-1:0] out_ok,  /// outputs with room, credit, not paused, not dead
    input wire [$clog2(PORTS)-1:0] wi,      /// input of the pair that is watched
    input wire [$clog2(PORTS)-1:0] wo       /// its output
);

  localparam int PW = $clog2(PORTS);

  wire [PORTS*PORTS-1:0] acc;
  switch_alloc #(.PORTS(PORTS), .ALLOC(ALLOC)) dut (.*);

  `FORMAL_START
  `FORMAL_STEADY(wi, PW)
  `FORMAL_STEADY(wo, PW)

  wire [PORTS*PORTS-1:0] ask = req & {PORTS{out_ok}};
  logic asks, served;
  logic [PORTS-1:0] row_used, col_used;
  logic twice, more;
  always_comb begin
    asks     = 1'b0;
    served   = 1'b0;
    row_used = '0;
    col_used = '0;
    twice    = 1'b0;
    for (int i = 0; i < PORTS; i++) begin
      for (int o = 0; o < PORTS; o++) begin
        if (32'(wi) == i && 32'(wo) == o) begin
          asks   = ask[i*PORTS+o];
          served = acc[i*PORTS+o];
        end
        if (acc[i*PORTS+o]) begin
          if (row_used[i] || col_used[o]) twice = 1'b1;
          row_used[i] = 1'b1;
          col_used[o] = 1'b1;
        end
      end
    end
    more = 1'b0;
    for (int i = 0; i < PORTS; i++)
      for (int o = 0; o < PORTS; o++) if (ask[i*PORTS+o] && !row_used[i] && !col_used[o]) more = 1'b1;
  end

  logic waits;  // the pair asked and was not matched
  always_ff @(posedge clk) waits <= !rst && asks && !served;
  if (WAIT != 0) begin : g_wait
    logic [$clog2(WAIT+2)-1:0] waited;  // for so many cycles
    always_ff @(posedge clk) begin
      waited <= rst || !asks || served || 32'(waited) >= WAIT ? '0 : waited + 1'b1;
      if (!rst) a_served : assert (32'(waited) < WAIT);
    end
  end
  logic [PORTS*PORTS-1:0] standing;  // asked, not matched
  always_ff @(posedge clk) standing <= rst ? '0 : ask & ~acc;
  always_comb begin
    assume (32'(wi) < PORTS && 32'(wo) < PORTS);
    if (waits) assume (asks);
    if (STAND) assume ((standing & ~ask) == '0);
  end

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_ok : assert ((acc & ~ask) == '0);
      a_matching : assert (!twice);
      a_some : assert ((acc == '0) == (ask == '0));
      if (ALLOC == 5) a_maximal : assert (!more);
      c_all : cover (&row_used);
      c_waits : cover (waits && served);
    end
  end

  // ---- pointers: one beyond the partner, only for a match (iSLIP: of the first iteration) ------------------
  if (ALLOC <= 4) begin : g_pointers
    for (genvar p = 0; p < PORTS; p++) begin : g_port
      wire [PW-1:0] g, a;
      wire [PORTS*PORTS-1:0] first;
      if (ALLOC == 0) begin : g_drrm
        assign g     = dut.g_drrm.u_alloc.g_out[p].g;
        assign a     = dut.g_drrm.u_alloc.g_in[p].a;
        assign first = acc;
      end else begin : g_islip
        assign g     = dut.g_islip.u_alloc.g_ptr_of[p].g;
        assign a     = dut.g_islip.u_alloc.g_ptr_of[p].a;
        assign first = dut.g_islip.u_alloc.done[1];
      end
      logic [PW-1:0] g_want, a_want;
      logic known;
      always_ff @(posedge clk) begin
        known  <= 1'b1;
        g_want <= rst ? '0 : g;
        a_want <= rst ? '0 : a;
        if (!rst) begin
          for (int q = 0; q < PORTS; q++) begin
            if (first[q*PORTS+p]) g_want <= PW'((q + 1) % PORTS);
            if (first[p*PORTS+q]) a_want <= PW'((q + 1) % PORTS);
          end
        end
      end
      initial known = 1'b0;
      always_ff @(posedge clk) begin
        if (!rst) begin
          a_below : assert (32'(g) < PORTS && 32'(a) < PORTS);
          a_moved : assert (!known || (g == g_want && a == a_want));
        end
      end
    end
  end else begin : g_diagonal
    always_ff @(posedge clk) if (!rst) a_below : assert (32'(dut.g_wavefront.u_alloc.w) < PORTS);
  end

endmodule

`default_nettype wire
