// SPDX-License-Identifier: Apache-2.0
// switch_output between allocator and inputs that keep the contract (a match only when it is free and `ok` for the
// frame's lane; at most MAX_BEATS beats a frame, taken whenever), a link that is ready whenever, a far end that gives
// back at most what it got, and a port that comes and goes: `ok` means what O4 says; no beat is taken without credit
// of its lane; credit and cells in flight make up the initial credit; nothing in the output over- or underflows, and
// what is booked is what is inside, and
// in a live output it is of this life: in flight by its credits; the level is F5's. With HONEST 0 the far end gives back
// whatever it likes, beyond what it got: the level is then 0, not that of a number below 0.
`default_nettype none
`include "formal.svh"

module formal_switch_output #(
    parameter int PORTS     = 2,  /// inputs
    parameter int LANES     = 2,  /// lanes
    parameter int MAX_BEATS = 3,  /// beats of a largest frame
    parameter int DEPTH     = 8,  /// beats of the FIFO
    parameter int HONEST    = 1   /// 1: the far end gives back at most what it got
) (
    input wire                           clk,              /// clock
    input wire                           rst,              /// reset
    input wire                           cfg_credit_en,    /// credits in use
    input wire [                   15:0] cfg_credit_init,  /// initial credit
    input wire [                    3:0] cfg_adapt_shift,  /// of the level
    input wire                           port_up,          /// port may be used
    input wire                           in_empty,         /// the input of the same port holds nothing
    input wire                           match,            /// gets an owner
    input wire [      $clog2(PORTS)-1:0] match_in,         /// this input
    input wire [      $clog2(LANES)-1:0] match_lane,       /// its frame's lane
    input wire [                   15:0] match_beats,      /// its frame's beats
    input wire [              PORTS-1:0] take,             /// a beat is taken, by input
    input wire [              PORTS-1:0] other_last,       /// as the inputs that are not its owner have it
    input wire [        PORTS*LANES-1:0] other_lane,       /// as they have it
    input wire [           LANES*8-1:0]  m_credit,         /// cells given back
    input wire [              LANES-1:0] m_pause,          /// pause
    input wire                           m_axis_tready,    /// the link takes
    input wire [         512+64+4-1:0]   q_beat            /// content of a beat
);

  localparam int LW = $clog2(LANES);

  wire live, is_free;
  wire [LANES-1:0] ok;
  wire [LANES*3-1:0] level;
  wire x_valid;
  logic q_valid;  // crossbar: a register
  logic [PORTS-1:0] take_last;
  logic [PORTS*LANES-1:0] take_lane;
  switch_output #(.PORTS(PORTS), .LANES(LANES), .MAX_BEATS(MAX_BEATS), .DEPTH(DEPTH)) dut (
      .clk(clk), .rst(rst), .cfg_roce(1'b0), .cfg_credit_en(cfg_credit_en), .cfg_credit_init(cfg_credit_init),
      .cfg_adapt_shift(cfg_adapt_shift), .port_up(port_up), .in_empty(in_empty),
      .live(live), .is_free(is_free), .ok(ok), .level(level),
      .match(match), .match_in(match_in), .take(take), .take_last(take_last), .take_lane(take_lane),
      .x_valid(x_valid), .x_sel(), .q_valid(q_valid), .q_beat(q_beat), .m_credit(m_credit), .m_pause(m_pause),
      .m_axis_tvalid(), .m_axis_tready(m_axis_tready), .m_axis_tdata(), .m_axis_tkeep(), .m_axis_tlast(),
      .m_axis_tuser(), .lost(), .ecn(), .credits(), .drained(), .open());

  `FORMAL_START
  `FORMAL_STEADY(cfg_credit_en, 1)
  `FORMAL_STEADY(cfg_credit_init, 16)

  // the owner's frame
  logic [$clog2(PORTS)-1:0] own;
  logic [LW-1:0] lane;
  logic [15:0] left;
  wire taken = left != 0 && take[own];
  always_comb begin
    take_last = other_last & take;
    take_lane = other_lane;
    if (left != 0) begin
      take_last[own]                       = taken && left == 1;
      take_lane[32'(own)*LANES+:LANES] = LANES'(1) << lane;
    end
  end
  always_ff @(posedge clk) begin
    q_valid <= !rst && x_valid;
    if (rst) left <= '0;
    else if (match) left <= match_beats;
    else left <= left - 16'(taken);
    if (match) begin
      own  <= match_in;
      lane <= match_lane;
    end
  end

  // the far end
  logic [15:0] flight [LANES];
  always_ff @(posedge clk) begin
    for (int v = 0; v < LANES; v++) begin
      if (rst || !live || !cfg_credit_en) flight[v] <= '0;
      else flight[v] <= flight[v] + 16'(taken && lane == LW'(v)) - 16'(m_credit[v*8+:8]);
    end
  end

  logic [15:0] all_flight, all_given;
  always_comb begin
    all_flight = '0;
    all_given  = '0;
    for (int v = 0; v < LANES; v++) begin
      all_flight = all_flight + flight[v];
      all_given  = all_given + 16'(m_credit[v*8+:8]);
    end
  end

  always_comb begin
    assume (!rst || !match);
    assume (32'(match_in) < PORTS && 32'(match_lane) < LANES);
    if (match) assume (is_free && ok[match_lane] && match_beats >= 1 && match_beats <= 16'(MAX_BEATS));
    if (HONEST != 0) begin
      for (int v = 0; v < LANES; v++)
        if (!rst && live && cfg_credit_en) assume (16'(m_credit[v*8+:8]) <= flight[v]);
      // only what left can come back
      if (!rst && live && cfg_credit_en) assume (all_given == 0 || all_given + 16'(dut.booked) <= all_flight);
    end
    assume (32'(cfg_credit_init) * LANES < 65536);
  end

  logic [LANES-1:0] pause_was;
  always_ff @(posedge clk) pause_was <= rst ? '0 : m_pause;

  wire [15:0] stored = 16'(x_valid) + 16'(q_valid) + 16'(dut.u_ecn.v1) + 16'(dut.u_ecn.v2) + 16'(dut.u_ecn.v3)
                     + 16'(dut.u_ecn.out_valid) + 16'(dut.u_fifo.count) + 16'(dut.held_beat);
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_owner : assert (dut.busy == (left != 0) && (left == 0 || dut.own == own));
      a_beats : assert (left <= 16'(MAX_BEATS));
      a_booked : assert (16'(dut.booked) == stored);
      a_room : assert (16'(dut.booked) + left <= 16'(DEPTH));
      if (HONEST != 0 && live && cfg_credit_en) a_of_this_life : assert (all_flight >= 16'(dut.booked));
      a_empty : assert (dut.empty == (dut.u_fifo.count == 0));
      c_full : cover (32'(dut.booked) == DEPTH);
      c_no_credit : cover (cfg_credit_en && live && dut.g_lane[0].credit == 0 && left == 0);
      c_dies : cover (!live && left != 0);
    end
  end

  for (genvar v = 0; v < LANES; v++) begin : g_of_lane
    wire [15:0] here = dut.g_lane[v].credit;
    wire mine = lane == LW'(v);
    // F5, in numbers that have a sign
    wire signed [17:0] used = cfg_credit_en ? 18'(cfg_credit_init) - 18'(here) : 18'(dut.booked);
    wire [17:0] steps = (used < 0 ? 18'd0 : used) >> cfg_adapt_shift;
    logic [2:0] level_due;
    always_ff @(posedge clk) level_due <= rst ? 3'd0 : steps > 18'd7 ? 3'd7 : steps[2:0];
    always_comb if (HONEST == 0) assume (18'(here) + 18'(m_credit[v*8+:8]) < 18'd65536);
    always_ff @(posedge clk) begin
      if (!rst) begin
        a_level : assert (level[v*3+:3] == level_due);
        if (HONEST == 0) c_more : cover (live && cfg_credit_en && here > cfg_credit_init);
        if (ok[v]) begin
          a_ok : assert (live && 16'(dut.booked) + 16'(MAX_BEATS) + 16'd1 <= 16'(DEPTH) && !pause_was[v]
                         && (!cfg_credit_en || here >= 16'(MAX_BEATS + 1)));
        end
        if (cfg_credit_en) begin
          if (HONEST != 0) a_conserved : assert (17'(here) + 17'(flight[v]) == 17'(cfg_credit_init));
          a_enough : assert (dut.g_lane[v].enough == (here >= 16'(MAX_BEATS + 1)));
          if (live && mine) a_covered : assert (here >= left);
          if (live && mine && taken) a_credit : assert (here != 0);
        end
      end
    end
  end

endmodule

`default_nettype wire
