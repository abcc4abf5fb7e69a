// SPDX-License-Identifier: Apache-2.0
// Multicast: one frame at a time in the whole switch is picked, its input and all outputs of its set are held as they
// become free, and it is matched with all of them at once (docs/switch.md, M8). One reservation at a time, none while
// a branch waits for credit or a pause, and none for longer than HOLD cycles: nothing waits for another for ever, in
// this switch or through others. Pick at t, held from t+2 on, matched at t+2 at the earliest.
`default_nettype none
`include "microhop_assert.svh"

module switch_mcast
  import spec_pkg::*;
#(
    parameter int PORTS = 8,  /// ports, 2..80
    parameter int LANES = 1,  /// virtual lanes, 1..8
    parameter int HOLD  = SWITCH_MCAST_HOLD /// cycles after which a pick is given up, and for which then none is made, 2 or more
) (
    input  wire                              clk,      /// clock
    input  wire                              rst,      /// synchronous reset, active high
    input  wire  [                PORTS-1:0] live,     /// ports in use
    input  wire  [                PORTS-1:0] req,      /// has a multicast frame, by input
    input  wire  [          PORTS*PORTS-1:0] set,      /// set of the one that was next in the cycle before, by input
    input  wire  [PORTS*$clog2(LANES+1)-1:0] lane,     /// its lane
    input  wire  [                PORTS-1:0] in_free,  /// inputs free for a match
    input  wire  [                PORTS-1:0] out_free, /// outputs free for a match
    input  wire  [          PORTS*LANES-1:0] open,     /// neither credit nor pause keeps a frame back, by output and lane
    input  wire  [          PORTS*LANES-1:0] ok,       /// a largest frame may be started, by output and lane
    output wire  [                PORTS-1:0] keep,     /// input whose frame is picked (one hot or zero)
    output wire  [                PORTS-1:0] in_held,  /// input held (one hot or zero)
    output wire  [                PORTS-1:0] out_held, /// outputs held
    output wire  [                PORTS-1:0] go,       /// input matched now (one hot or zero)
    output wire  [                PORTS-1:0] dst,      /// its outputs
    output wire                              over,     /// the pick ends: matched or given up
    output logic [        $clog2(PORTS)-1:0] from,     /// number of the input picked
    output logic [                PORTS-1:0] mc_lost   /// the frame of this input had no live output
);

  localparam int PW = $clog2(PORTS);
  localparam int VW = $clog2(LANES + 1);

  logic picked;  // a frame is picked
  logic ready;  // its set is known: input and outputs may be held
  localparam int HW = $clog2(HOLD + 1);
  logic [HW-1:0] left;  // cycles for which the pick stays, or for which none is made
  logic [PW-1:0] mp;
  logic [PORTS-1:0] who, winner;
  logic [PORTS-1:0] held_set;
  logic [VW-1:0] held_lane;

  rr_arb #(.N(PORTS)) u_arb (.req(req), .ptr(mp), .gnt(winner));

  logic [PW-1:0] winner_no;
  always_comb begin
    winner_no = '0;
    for (int i = 0; i < PORTS; i++) if (winner[i]) winner_no = winner_no | PW'(i);
  end

  logic [PORTS-1:0] lane_ok, lane_open;
  always_comb begin
    for (int o = 0; o < PORTS; o++) begin
      lane_ok[o]   = ok[o*LANES+32'(held_lane)];
      lane_open[o] = open[o*LANES+32'(held_lane)];
    end
  end
  wire [PORTS-1:0] branches = held_set & live;
  wire hold = ready && (branches & ~lane_open) == '0;
  wire commit = hold && (in_free & who) != '0 && (branches & ~(out_free & lane_ok)) == '0;
  wire give_up = ready && !commit && left == HW'(1);
  assign over = commit || give_up;

  assign keep     = who & {PORTS{picked}};
  assign in_held  = who & {PORTS{hold}};
  assign out_held = branches & {PORTS{hold}};
  assign go       = who & {PORTS{commit}};
  assign dst      = branches;

  always_ff @(posedge clk) begin
    if (rst) begin
      picked  <= 1'b0;
      ready   <= 1'b0;
      mp      <= '0;
      mc_lost <= '0;
      left    <= '0;
    end else begin
      mc_lost <= commit && branches == '0 ? who : '0;
      if (give_up || (picked && !ready)) left <= HW'(HOLD);
      else if (commit) left <= '0;
      else if (left != '0) left <= left - 1'b1;
      if (over) begin
        picked <= 1'b0;
        ready  <= 1'b0;
        mp     <= 32'(from) == PORTS - 1 ? '0 : from + 1'b1;
      end else begin
        if (!picked) picked <= req != '0 && left == '0;
        ready <= picked;
      end
    end
    if (!picked) begin
      who  <= winner;
      from <= winner_no;
    end
    if (picked && !ready) begin
      held_set  <= set[32'(from)*PORTS+:PORTS];
      held_lane <= lane[32'(from)*VW+:VW];
    end
  end

  // All branches at once, or none.
  `MH_ASSERT(a_all, go == '0 || (dst & ~out_free) == '0)
  `MH_NEVER_X(a_known, {picked, ready, mp, go, left})

endmodule

`default_nettype wire
