// SPDX-License-Identifier: Apache-2.0
// Credits of one end, for each lane: cells free at the far end, and what the own core has freed (docs/link.md, C1 to
// C4, K5). Counters are absolute, modulo 2^15, so that a lost CF is healed by the next one.
// Latency: a beat that leaves at d, free_cells of d, a CF behind the PHY at d count from d+1 on.
`default_nettype none
`include "microhop_assert.svh"

module link_credit
  import spec_pkg::*;
#(
    parameter int LANES = 1,  /// virtual lanes, 1..16
    localparam int LW = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire                 clk,         /// clock
    input  wire                 rst,         /// synchronous reset, active high
    input  wire                 fresh,       /// state OFF: counters stand at cnt_init
    input  wire  [        14:0] cnt_init,    /// CC and CF of both ends at a fresh start
    input  wire                 load,        /// far cells become far_init
    input  wire  [         9:0] far_init,    /// receive cells of a lane at the far end
    input  wire                 up,          /// free_cells count
    input  wire                 sent,        /// a new beat leaves
    input  wire  [      LW-1:0] sent_lane,   /// its lane
    input  wire  [ LANES*8-1:0] free_cells,  /// cells that the own core freed in this cycle
    input  wire                 cf_valid,    /// a CF is behind the PHY
    input  wire  [        19:0] cf_one,      /// its first entry: lane 19:15, counter 14:0
    input  wire  [        19:0] cf_two,      /// its second entry
    input  wire                 say,         /// the CF `words` leaves
    output wire  [        39:0] words,       /// {first, second} entry of the next CF
    output wire                 many,        /// some lane has LINK_CREDIT_UPDATE_CELLS unsaid
    output wire                 some,        /// some lane has a cell unsaid
    output wire  [LANES*16-1:0] credits,     /// cells free at the far end, as known here
    output wire  [ LANES*8-1:0] m_credit     /// cells that came free there, for a core that counts itself
);

  // ---- what the far end has room for -----------------------------------------------------------------
  logic [9:0] far_cells;
  always_ff @(posedge clk) begin
    if (load) far_cells <= far_init;
    else if (rst || fresh) far_cells <= '0;
  end

  logic [LANES-1:0] is_many, is_some;  // as it was in the cycle before
  logic [LANES*8-1:0] level;  // unsaid cells, 255 at most, likewise
  wire [LANES*15-1:0] cf_all;
  for (genvar v = 0; v < LANES; v++) begin : g_lane
    logic [14:0] cc, far_cf, credit;
    logic [14:0] due, gain;  // cells to report; those that the last CF added
    logic [7:0] given;
    wire leaves = sent && sent_lane == LW'(v);
    wire hit_two = cf_valid && cf_two[19:15] == 5'(v);
    wire hit = hit_two || (cf_valid && cf_one[19:15] == 5'(v));
    wire [14:0] heard = hit_two ? cf_two[14:0] : cf_one[14:0];
    wire [14:0] total = due + gain;
    wire [14:0] pay = total > 15'd255 ? 15'd255 : total;

    always_ff @(posedge clk) begin
      if (rst || fresh) begin
        cc     <= cnt_init;
        far_cf <= cnt_init;
        due    <= '0;
        gain   <= '0;
        given  <= '0;
      end else begin
        if (leaves) cc <= cc + 15'd1;
        if (hit) far_cf <= heard;
        if (gain != '0 || hit) gain <= hit ? heard - far_cf : 15'd0;
        if (due != '0 || gain != '0) due <= total - pay;
        if (given != pay[7:0]) given <= pay[7:0];
      end
      if (load) credit <= 15'(far_init);
      else if (rst || fresh) credit <= '0;
      else if (hit) credit <= 15'(far_cells) + heard - cc - 15'(leaves);
      else if (leaves) credit <= credit - 15'd1;
    end
    assign credits[v*16+:16] = {1'b0, credit};
    assign m_credit[v*8+:8] = given;

    // More credits than cells, or fewer than none (which wraps), means a lost or invented cell.
    `MH_ASSERT(a_credits, credit <= 15'(far_cells))
    `MH_NEVER_X(a_known, {credit, given})
  end

  // ---- what the own core has freed ---------------------------------------------------------------------
  // Lanes as one bit each. The two entries of a CF: who is next by turn; and who has most, else the next after that. The
  // turn keeps small lanes from starving, the other bounds what a busy lane has unsaid, whatever the others do
  // (docs/link.md, how large a buffer is).
  function automatic logic [LANES-1:0] lowest(input logic [LANES-1:0] x);
    for (int v = 0; v < LANES; v++) lowest[v] = x[v] && (x & ~({LANES{1'b1}} << v)) == '0;
  endfunction
  logic [LANES-1:0] from;  // lanes at or after cp
  logic [LANES-1:0] top;  // the lane with the most unsaid three cycles ago, the lowest of several; 0: none had any
  wire [LANES-1:0] later = is_some & from, round = is_some & ~from;  // the turn comes to the first ones first
  wire [LANES-1:0] later_1 = lowest(later), round_1 = lowest(round);
  wire [LANES-1:0] later_2 = lowest(later & ~later_1), round_2 = lowest(round & ~round_1);
  wire [LANES-1:0] cp = lowest(from);
  wire [LANES-1:0] cp_next = LANES == 1 || cp[LANES-1] ? LANES'(1) : cp << 1;
  logic [LANES-1:0] one, two, next;  // the entries, and the second of them by turn
  always_comb begin
    if (later != '0) begin
      one = later_1;
      next = later_2 != '0 ? later_2 : round != '0 ? round_1 : later_1;
    end else if (round != '0) begin
      one = round_1;
      next = round_2 != '0 ? round_2 : round_1;
    end else begin
      one = cp;
      next = cp_next;
    end
  end
  wire most = top != '0 && (top & one) == '0;
  assign two = most ? top : next;
  wire [LANES-1:0] passed = most ? one : next;  // the turn goes on behind it

  for (genvar v = 0; v < LANES; v++) begin : g_freed
    logic [14:0] cf, said;
    wire [14:0] unsaid = cf - said;
    wire [7:0] now = unsaid > 15'd255 ? 8'd255 : unsaid[7:0];
    assign cf_all[v*15+:15] = cf;
    always_ff @(posedge clk) begin
      if (rst || fresh) begin
        cf   <= cnt_init;
        said <= cnt_init;
        is_some[v] <= 1'b0;
        is_many[v] <= 1'b0;
        level[v*8+:8] <= '0;
      end else begin
        if (level[v*8+:8] != now) level[v*8+:8] <= now;
        if (is_some[v] != (unsaid != '0)) is_some[v] <= unsaid != '0;
        if (is_many[v] != (unsaid >= 15'(LINK_CREDIT_UPDATE_CELLS))) begin
          is_many[v] <= unsaid >= 15'(LINK_CREDIT_UPDATE_CELLS);
        end
        if (up && free_cells[v*8+:8] != 8'd0) cf <= cf + 15'(free_cells[v*8+:8]);
        if (say && (one[v] || two[v])) said <= cf;
      end
    end
  end

  // The most: among four lanes, then among the winners, a cycle each.
  localparam int GROUPS = (LANES + 3) / 4;
  logic [GROUPS*8-1:0] best;
  logic [LANES-1:0] best_lane;  // one of each four
  for (genvar g = 0; g < GROUPS; g++) begin : g_best
    localparam int N = LANES - g * 4 < 4 ? LANES - g * 4 : 4;
    logic [7:0] high;
    logic [N-1:0] lane;
    always_comb begin
      high = level[g*32+:8];
      lane = N'(1);
      for (int v = 1; v < N; v++) begin
        if (level[(g*4+v)*8+:8] > high) begin
          high = level[(g*4+v)*8+:8];
          lane = N'(1) << v;
        end
      end
    end
    always_ff @(posedge clk) begin
      if (rst || fresh) begin
        best[g*8+:8] <= '0;
        best_lane[g*4+:N] <= N'(1);
      end else if ({best[g*8+:8], best_lane[g*4+:N]} != {high, lane}) begin
        best[g*8+:8] <= high;
        best_lane[g*4+:N] <= lane;
      end
    end
    `MH_ASSERT(a_best, best_lane[g*4+:N] != '0 && (best_lane[g*4+:N] & (best_lane[g*4+:N] - 1'b1)) == '0)
  end
  logic [7:0] high_all;
  logic [GROUPS-1:0] group;
  logic [LANES-1:0] top_next;
  always_comb begin
    high_all = best[7:0];
    group = GROUPS'(1);
    for (int g = 1; g < GROUPS; g++) begin
      if (best[g*8+:8] > high_all) begin
        high_all = best[g*8+:8];
        group = GROUPS'(1) << g;
      end
    end
    for (int v = 0; v < LANES; v++) top_next[v] = best_lane[v] && group[v/4] && high_all != '0;
  end
  always_ff @(posedge clk) begin
    if (rst || fresh) top <= '0;
    else if (top != top_next) top <= top_next;
  end

  assign many = is_many != '0;
  assign some = is_some != '0;
  logic [4:0] lane_one, lane_two;
  logic [14:0] cf_one_out, cf_two_out;
  always_comb begin
    lane_one = '0;
    lane_two = '0;
    cf_one_out = '0;
    cf_two_out = '0;
    for (int v = 0; v < LANES; v++) begin
      lane_one = lane_one | (one[v] ? 5'(v) : 5'd0);
      lane_two = lane_two | (two[v] ? 5'(v) : 5'd0);
      cf_one_out = cf_one_out | (one[v] ? cf_all[v*15+:15] : 15'd0);
      cf_two_out = cf_two_out | (two[v] ? cf_all[v*15+:15] : 15'd0);
    end
  end
  assign words = {lane_one, cf_one_out, lane_two, cf_two_out};

  always_ff @(posedge clk) begin
    if (rst || fresh) from <= '1;
    else if (say) begin
      for (int v = 0; v < LANES; v++) from[v] <= passed[LANES-1] || (passed & ~({LANES{1'b1}} << v)) != '0;
    end
  end

  `MH_ASSERT(a_turn, from[LANES-1] && (from & ~(from >> 1) & ~(LANES'(1) << (LANES - 1))) == '0)
  `MH_ASSERT(a_top, (top & (top - 1'b1)) == '0)
  `MH_ASSERT(a_lanes, !say || (one == lowest(one) && two == lowest(two) && one != '0 && two != '0))

endmodule

`default_nettype wire
