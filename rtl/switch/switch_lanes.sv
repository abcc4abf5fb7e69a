// SPDX-License-Identifier: Apache-2.0
// Cells of an input, by lane: held, given back to the far end, and the pause that asks it to stop (docs/switch.md, F8,
// F10, F11). An input that is late with frames of a dead port keeps what it owes, or pauses every lane. Latency 1.
`default_nettype none
`include "microhop_assert.svh"

module switch_lanes #(
    parameter int LANES = 1,    /// virtual lanes, 1..8
    parameter int QUOTA = 512,  /// cells of a lane
    parameter int CW    = 10    /// bits of a number of cells, QUOTA + 2 among them
) (
    input  wire                 clk,         /// clock
    input  wire                 rst,         /// synchronous reset, active high
    input  wire                 cfg_pfc,     /// as those of the switch
    input  wire  [        15:0] cfg_xoff,    /// as those of the switch
    input  wire  [        15:0] cfg_xon,     /// as those of the switch
    input  wire                 keep_back,   /// nothing is given back but what is above QUOTA
    input  wire                 late_next,   /// every lane is to be paused from the next cycle on
    input  wire  [   LANES-1:0] in,          /// a beat of the lane is stored
    input  wire  [   LANES-1:0] out,         /// a beat of the lane is taken
    input  wire  [   LANES-1:0] dropped,     /// a beat of the lane is dropped at its decision
    output wire  [LANES*CW-1:0] held,        /// cells stored
    output wire                 settled,     /// nothing is owed
    output logic [ LANES*2-1:0] free_cells,  /// cells given back
    output logic [   LANES-1:0] s_pause      /// lane is to be paused
);

  logic [LANES-1:0] owing, high;
  assign settled = owing == '0;

  for (genvar v = 0; v < LANES; v++) begin : g_lane
    logic [CW-1:0] cells, owed;
    assign held[v*CW+:CW] = cells;

    // What is said and what is left, for 0, 1 and 2 cells given: `dropped` is known last.
    wire [2:0] rest_k;
    wire [1:0] said_k [3];
    wire [CW-1:0] left_k [3];
    for (genvar k = 0; k < 3; k++) begin : g_given
      wire [CW-1:0] due = owed + CW'(k);
      wire [CW-1:0] above = due > CW'(QUOTA) ? due - CW'(QUOTA) : '0;
      wire [CW-1:0] sayable = keep_back ? above : due;
      assign said_k[k] = sayable > CW'(3) ? 2'd3 : sayable[1:0];
      assign left_k[k] = due - CW'(said_k[k]);
      assign rest_k[k] = left_k[k] != '0;
    end
    wire [1:0] said = dropped[v] ? (out[v] ? said_k[2] : said_k[1]) : (out[v] ? said_k[1] : said_k[0]);
    wire [CW-1:0] left = dropped[v] ? (out[v] ? left_k[2] : left_k[1]) : (out[v] ? left_k[1] : left_k[0]);
    wire rest = dropped[v] ? (out[v] ? rest_k[2] : rest_k[1]) : (out[v] ? rest_k[1] : rest_k[0]);
    always_ff @(posedge clk) begin
      if (rst) begin
        owed                 <= '0;
        owing[v]             <= 1'b0;
        free_cells[v*2+:2]   <= '0;
      end else begin
        owed                 <= left;
        owing[v]             <= rest;
        free_cells[v*2+:2]   <= said;
      end
    end

    wire next_high = cfg_pfc && (16'(cells) >= cfg_xoff || (16'(cells) > cfg_xon && high[v]));
    always_ff @(posedge clk) begin
      if (rst) begin
        cells      <= '0;
        high[v]    <= 1'b0;
        s_pause[v] <= 1'b0;
      end else begin
        if (in[v] != out[v]) cells <= in[v] ? cells + 1'b1 : cells - 1'b1;
        high[v]    <= next_high;
        s_pause[v] <= next_high || (cfg_pfc && late_next);
      end
    end

    // What is kept back is never more than the far end can have sent for.
    `MH_ASSERT(a_owed, owed <= CW'(QUOTA))
  end

  `MH_NEVER_X(a_known, {free_cells, s_pause})

endmodule

`default_nettype wire
