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
  logic [LW-1:0] turn;  // cp
  wire [LANES-1:0] wanted = is_some == '0 ? {LANES{1'b1}} : is_some;
  logic [LW-1:0] one, two;  // lanes of the two entries
  function automatic logic [LW-1:0] plus(input logic [LW-1:0] lane, input int k);
    return int'(lane) + k >= LANES ? LW'(int'(lane) + k - LANES) : LW'(int'(lane) + k);
  endfunction
  // Who waits longest is in the CF, and who has most: the first keeps small lanes from starving, the second bounds what
  // a busy lane has unsaid, whatever the others do (docs/link.md, how large a buffer is).
  logic [LW-1:0] top;  // the lane with the most unsaid three cycles ago, the lowest of several
  logic top_some;  // it had some
  wire most = top_some && top != one;
  wire [LW-1:0] passed = most ? one : two;  // the turn goes on behind it
  always_comb begin
    one = turn;
    for (int k = LANES - 1; k >= 0; k--) if (wanted[plus(turn, k)]) one = plus(turn, k);
    two = one;
    for (int k = LANES - 1; k > 0; k--) if (wanted[plus(one, k)]) two = plus(one, k);
    if (most) two = top;
  end

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
        if (say && (one == LW'(v) || two == LW'(v))) said <= cf;
      end
    end
  end

  // The most: among four lanes, then among the winners, a cycle each.
  localparam int GROUPS = (LANES + 3) / 4;
  logic [GROUPS*8-1:0] best;
  logic [GROUPS*LW-1:0] best_lane;
  for (genvar g = 0; g < GROUPS; g++) begin : g_best
    logic [7:0] high;
    logic [LW-1:0] lane;
    always_comb begin
      high = level[g*32+:8];
      lane = LW'(g * 4);
      for (int v = g * 4 + 1; v < g * 4 + 4 && v < LANES; v++) begin
        if (level[v*8+:8] > high) begin
          high = level[v*8+:8];
          lane = LW'(v);
        end
      end
    end
    always_ff @(posedge clk) begin
      if (rst || fresh) begin
        best[g*8+:8] <= '0;
        best_lane[g*LW+:LW] <= '0;
      end else if ({best[g*8+:8], best_lane[g*LW+:LW]} != {high, lane}) begin
        best[g*8+:8] <= high;
        best_lane[g*LW+:LW] <= lane;
      end
    end
    `MH_ASSERT(a_best, int'(best_lane[g*LW+:LW]) < LANES)
  end
  logic [7:0] high_all;
  logic [LW-1:0] lane_all;
  always_comb begin
    high_all = best[7:0];
    lane_all = best_lane[LW-1:0];
    for (int g = 1; g < GROUPS; g++) begin
      if (best[g*8+:8] > high_all) begin
        high_all = best[g*8+:8];
        lane_all = best_lane[g*LW+:LW];
      end
    end
  end
  always_ff @(posedge clk) begin
    if (rst || fresh) begin
      top      <= '0;
      top_some <= 1'b0;
    end else begin
      if (top != lane_all) top <= lane_all;
      if (top_some != (high_all != '0)) top_some <= high_all != '0;
    end
  end

  assign many = is_many != '0;
  assign some = is_some != '0;
  assign words = {5'(one), cf_all[one*15+:15], 5'(two), cf_all[two*15+:15]};

  always_ff @(posedge clk) begin
    if (rst || fresh) turn <= '0;
    else if (say) turn <= int'(passed) == LANES - 1 ? '0 : passed + 1'b1;
  end

  `MH_ASSERT(a_top, int'(top) < LANES)
  `MH_ASSERT(a_lane, !say || (int'(one) < LANES && int'(two) < LANES))

endmodule

`default_nettype wire
