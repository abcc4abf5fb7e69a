// SPDX-License-Identifier: Apache-2.0
// One input of the switch: entrance, route, decision, buffer and queues, and the match that empties them
// (docs/switch.md). A beat accepted at c is decided at c+5 and may be taken from c+6 on; one taken at p is at x_* at
// p+1. One beat in and one out a cycle. Order kept within a queue.
`default_nettype none
`include "microhop_assert.svh"

module switch_input
  import spec_pkg::*;
#(
    parameter int PORTS     = 8,    /// ports, 2..80
    parameter int LANES     = 1,    /// virtual lanes, 1..8
    parameter int DATA_W    = 512,  /// bits of a beat
    parameter int CELLS     = LINK_BUFFER_CELLS,  /// cells of the buffer, a power of two
    parameter int MAX_BEATS = FRAME_MAX_BEATS,   /// beats of a largest frame
    parameter int ADDR_W    = 10,   /// bits of a table index
    parameter int GROUPS    = 64,   /// groups of next hops
    parameter bit SAF       = 1'b0  /// 1 store and forward
) (
    input  wire                         clk,            /// clock
    input  wire                         rst,            /// synchronous reset, active high
    input  wire  [   $clog2(PORTS)-1:0] self_no,        /// number of this port, steady
    input  wire                         cfg_roce,       /// as those of the switch
    input  wire  [                31:0] cfg_prefix,     /// as those of the switch
    input  wire  [                15:0] cfg_seed,       /// as those of the switch
    input  wire                         cfg_pfc,        /// as those of the switch
    input  wire                         cfg_credit_en,  /// as those of the switch
    input  wire  [                15:0] cfg_xoff,       /// as those of the switch
    input  wire  [                15:0] cfg_xon,        /// as those of the switch
    input  wire  [                15:0] cfg_ecn,        /// as those of the switch
    input  wire                         tbl_we,         /// write a destination
    input  wire  [          ADDR_W-1:0] tbl_addr,       /// its index
    input  wire                         tbl_valid,      /// entry in use
    input  wire  [  $clog2(GROUPS)-1:0] tbl_group,      /// its group
    input  wire                         grp_we,         /// write a group
    input  wire  [  $clog2(GROUPS)-1:0] grp_addr,       /// its number
    input  wire  [                 1:0] grp_mode,       /// its mode
    input  wire  [           PORTS-1:0] grp_ports,      /// its set of ports
    input  wire  [           PORTS-1:0] live,           /// ports in use
    input  wire  [   PORTS*LANES*3-1:0] level,          /// adaptive level, by output and lane
    output wire                         empty,          /// nothing inside, nothing owed
    output wire  [                15:0] in_use,         /// beats inside
    input  wire                         s_axis_tvalid,  /// frames from the link
    output wire                         s_axis_tready,  /// beat accepted
    input  wire  [          DATA_W-1:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire  [        DATA_W/8-1:0] s_axis_tkeep,   /// valid bytes
    input  wire                         s_axis_tlast,   /// last beat of a frame
    output wire  [         LANES*2-1:0] free_cells,     /// cells given back in this cycle, by lane
    output wire  [           LANES-1:0] s_pause,        /// lane is to be paused
    output logic [                 3:0] drop,           /// code of the decision of the cycle before
    input  wire  [     PORTS*LANES-1:0] ok,             /// a largest frame may be started, by output and lane
    output wire                         is_free,        /// no match, or its last beat is taken now
    output wire  [           PORTS-1:0] req,            /// asks for this output
    input  wire  [           PORTS-1:0] acc,            /// matched with it (one hot or zero)
    input  wire                         held,           /// a multicast frame of this input is next: no other match
    /* verilator lint_off UNUSEDSIGNAL */  // with one lane there is nothing to keep
    input  wire                         mc_keep,        /// a multicast frame of this input is picked: mc_lane stays
    input  wire                         mc_over,        /// the pick ends: matched or given up
    /* verilator lint_on UNUSEDSIGNAL */
    output wire                         mc_req,         /// has a multicast frame
    output wire  [           PORTS-1:0] mc_set,         /// set of the one that was next in the cycle before
    output logic [   $clog2(LANES+1)-1:0] mc_lane,      /// its lane
    input  wire                         mc_go,          /// it is matched now
    output wire                         decided,        /// a frame's first beat is stored
    output wire                         take,           /// a beat is taken
    output wire                         take_last,      /// it is its frame's last
    output wire  [           LANES-1:0] take_lane,      /// its lane (one hot)
    output wire  [DATA_W+DATA_W/8+3:0]  x_beat          /// beat to the crossbar: first, mark, last, user, keep, data
);

  localparam int AW = $clog2(CELLS);
  localparam int CW = $clog2(CELLS + 3);  // a number of cells: those of a lane and two more
  localparam int GW = $clog2(GROUPS);
  localparam int LW = LANES == 1 ? 1 : $clog2(LANES);
  localparam int QUOTA = CELLS / LANES;
  localparam int MAX = MAX_BEATS < QUOTA ? MAX_BEATS : QUOTA;  // beats of a longest frame
  localparam int NW = $clog2(MAX + 1);
  localparam int NU = PORTS * LANES;  // queues of outputs
  localparam int NQ = NU + LANES + 1;  // and of multicast, and the one of discards
  localparam int QW = $clog2(NQ);

  // ---- entrance ---------------------------------------------------------------------------------------------
  logic s1_valid, s1_first, s1_last, s1_abort;
  logic [DATA_W-1:0] s1_data;
  logic [DATA_W/8-1:0] s1_keep;
  wire dropped;
  wire nothing_inside, settled, late, late_next;
  assign empty = nothing_inside && settled;
  switch_entrance #(.DATA_W(DATA_W), .CELLS(CELLS)) u_entrance (
      .clk(clk), .rst(rst), .cfg_pfc(cfg_pfc), .closed(late && !cfg_credit_en), .live(live[self_no]), .take(take),
      .dropped(dropped), .empty(nothing_inside),
      .in_use(in_use),
      .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready), .s_axis_tdata(s_axis_tdata),
      .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
      .s1_valid(s1_valid), .s1_first(s1_first), .s1_last(s1_last), .s1_abort(s1_abort),
      .s1_data(s1_data), .s1_keep(s1_keep));

  // ---- route: stages 2 to 5 ---------------------------------------------------------------------------------
  logic moved;
  logic [GW-1:0] moved_group;
  logic [15:0] moved_flow;
  logic [LW-1:0] moved_lane;
  logic r_malformed, r_long, r_unknown, r_no_way, r_mc;
  logic [NW-1:0] r_need;
  logic [LW-1:0] r_lane;
  logic [PORTS-1:0] r_dst;
  logic [GW-1:0] r_group;
  logic [15:0] r_flow;
  switch_route #(
      .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .ADDR_W(ADDR_W), .GROUPS(GROUPS), .MAX(MAX), .LW(LW),
      .NW(NW)
  ) u_route (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .cfg_prefix(cfg_prefix), .cfg_seed(cfg_seed),
      .tbl_we(tbl_we), .tbl_addr(tbl_addr), .tbl_valid(tbl_valid), .tbl_group(tbl_group),
      .grp_we(grp_we), .grp_addr(grp_addr), .grp_mode(grp_mode), .grp_ports(grp_ports),
      .self_no(self_no), .live(live), .level(level), .s1_first(s1_valid && s1_first), .s1_data(s1_data), .s1_keep(s1_keep),
      .moved(moved), .moved_group(moved_group), .moved_flow(moved_flow), .moved_lane(moved_lane),
      .malformed(r_malformed), .too_long(r_long), .unknown(r_unknown), .no_way(r_no_way), .need(r_need),
      .lane(r_lane), .multicast(r_mc), .dst(r_dst), .group(r_group), .flow(r_flow));

  // The beats beside it. A moved frame travels without one.
  localparam int BW = DATA_W + DATA_W / 8 + 2;
  logic [2:0] d_valid;  // stages 2 to 4
  logic s5_valid, s5_first, s5_last, s5_abort, s5_moved, s5_single;
  logic [DATA_W-1:0] s5_data;
  logic [DATA_W/8-1:0] s5_keep;
  logic [AW-1:0] s5_cell;
  logic [BW-1:0] s2_beat, s3_beat, s4_beat;
  logic [2:0] d_first;
  logic [2:0] m_valid;  // moved frame in stages 2 to 4
  logic [AW:0] m2, m3, m4;  // single, cell
  always_ff @(posedge clk) begin
    if (rst) {s5_valid, d_valid} <= '0;
    else {s5_valid, d_valid} <= {d_valid, s1_valid};
    d_first <= {d_first[1:0], s1_first};
    s5_first <= d_first[2];
    if (s1_valid) s2_beat <= {s1_abort, s1_last, s1_keep, s1_data};
    if (d_valid[0]) s3_beat <= s2_beat;
    if (d_valid[1]) s4_beat <= s3_beat;
    if (d_valid[2]) {s5_abort, s5_last, s5_keep, s5_data} <= s4_beat;
  end

  // codes of `drop` (docs/switch.md, F10)
  localparam logic [3:0] MALFORMED = 4'd1, UNKNOWN = 4'd2, TOO_LONG = 4'd3, OVERFLOW = 4'd4, NO_WAY = 4'd5, CUT = 4'd6,
      SHORT = 4'd7, ABORTED = 4'd8;

  // ---- stage 5: decision --------------------------------------------------------------------------------------
  logic dropping;  // the rest of the frame is dropped
  logic [NW-1:0] cur_need;
  logic [NW-1:0] stored;  // beats of the frame stored
  logic [LW-1:0] cur_lane;
  logic cur_mc;
  logic [PORTS-1:0] cur_dst;
  logic [AW-1:0] cur_cell;  // first cell
  wire [LANES*CW-1:0] held_cells;

  wire overflow = cfg_pfc && CW'(r_need) > CW'(QUOTA) - held_cells[32'(r_lane)*CW+:CW];
  wire refused = r_malformed || r_long || r_unknown || r_no_way || overflow;
  wire [LW-1:0] lane = s5_first ? r_lane : cur_lane;
  wire [NW-1:0] need = s5_first ? r_need : cur_need;
  wire [NW-1:0] count = s5_first ? NW'(1) : stored + 1'b1;
  wire store = s5_valid && !(s5_first ? refused : dropping);
  assign dropped = s5_valid && !store;
  wire cut = store && !s5_last && count == need;
  wire short_frame = store && s5_last && !s5_abort && count < need;
  wire aborted = store && s5_abort;
  wire damaged = cut || short_frame || aborted;
  wire store_last = s5_last || cut;
  wire lost_way = s5_moved && r_no_way;

  always_ff @(posedge clk) begin
    if (rst) drop <= '0;
    else begin
      drop <= '0;
      if (s5_valid && s5_first && refused)
        drop <= r_malformed ? MALFORMED : r_long ? TOO_LONG : r_unknown ? UNKNOWN : r_no_way ? NO_WAY : OVERFLOW;
      else if (lost_way) drop <= NO_WAY;
      else if (cut) drop <= CUT;
      else if (short_frame) drop <= SHORT;
      else if (aborted) drop <= ABORTED;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) dropping <= 1'b0;
    else if (s5_valid) dropping <= (s5_first ? refused : dropping) || cut;
    if (s5_valid) stored <= count;
    if (s5_valid && s5_first) begin
      cur_need <= r_need;
      cur_lane <= r_lane;
      cur_mc   <= r_mc;
      cur_dst  <= r_dst;
    end
  end

  // ---- buffer -------------------------------------------------------------------------------------------------
  wire [AW-1:0] store_cell;
  logic start;  // the first beat of the matched frame is taken now
  wire [AW-1:0] pop_cell, move_cell, discard_cell;
  wire move_single;
  logic [NQ-1:0] filled, one, single;
  logic [NQ-1:0] match_q;  // queue of the frame that is started now (one hot or zero)
  logic x_first, x_mark, x_last, x_user;
  logic [DATA_W-1:0] x_data;
  logic [DATA_W/8-1:0] x_keep;
  wire start_single = (match_q & single) != '0;
  switch_buffer #(.DATA_W(DATA_W), .AW(AW)) u_buffer (
      .clk(clk), .rst(rst), .store(store), .store_first(s5_first), .store_last(store_last), .store_user(damaged),
      .store_data(s5_data), .store_keep(s5_keep), .store_cell(store_cell),
      .start(start), .start_cell(pop_cell), .start_single(start_single), .take(take), .take_last(take_last),
      .x_data(x_data), .x_keep(x_keep), .x_last(x_last), .x_user(x_user));
  always_ff @(posedge clk) if (store && s5_first) cur_cell <= store_cell;
  assign decided = store && s5_first;

  // ---- queues -------------------------------------------------------------------------------------------------
  wire to_discard = lost_way || (SAF && damaged);
  wire push = s5_moved || (store && (SAF ? store_last : s5_first));
  wire from_first = s5_moved || s5_first;  // route is that of stage 5, not of the frame's first beat before
  wire push_mc = from_first ? r_mc : cur_mc;
  wire [PORTS-1:0] push_dst = from_first ? r_dst : cur_dst;
  logic [QW-1:0] push_q;
  always_comb begin
    push_q = '0;
    for (int o = 0; o < PORTS; o++) if (push_dst[o]) push_q = push_q | QW'(o * LANES);
    push_q = push_q + QW'(s5_moved ? r_lane : lane);
    if (push_mc) push_q = QW'(NU) + QW'(s5_moved ? r_lane : lane);
    if (to_discard) push_q = QW'(NQ - 1);
  end
  wire [AW-1:0] push_cell = s5_moved ? s5_cell : s5_first ? store_cell : cur_cell;
  wire push_single = s5_moved ? s5_single : s5_first && store_last;

  wire pop_move;
  wire [QW-1:0] move_q;
  logic [QW-1:0] start_q;
  wire [AW:0] pop_depth;
  wire [AW-1:0] mc_cell;
  switch_queues #(.NQ(NQ), .AW(AW)) u_queues (
      .clk(clk), .rst(rst), .push(push), .push_q(push_q), .push_cell(push_cell), .push_single(push_single),
      .pop(start), .pop_q(start_q), .pop_cell(pop_cell), .pop_depth(pop_depth),
      .move(pop_move), .move_q(move_q), .move_cell(move_cell), .move_single(move_single),
      .peek_q(QW'(NU) + QW'(mc_lane)), .peek_cell(mc_cell), .last_cell(discard_cell),
      .filled(filled), .one(one), .single(single));
  // what there is to match: not the frame that is started now
  wire [NQ-1:0] ready = filled & ~(match_q & one);

  // What a move and a multicast match need to know of a frame, by its first cell.
  localparam int MW = LW + GW + 16;
  logic [MW-1:0] meta_mem [CELLS];
  logic [PORTS-1:0] set_mem [CELLS];
  wire [MW-1:0] move_meta = meta_mem[move_cell];
  /* verilator lint_off UNUSEDSIGNAL */  // of a discard the lane alone counts
  wire [MW-1:0] discard_meta = meta_mem[discard_cell];
  /* verilator lint_on UNUSEDSIGNAL */
  always_ff @(posedge clk) begin
    if (store && s5_first) begin
      meta_mem[store_cell] <= {r_lane, r_group, r_flow};
    end
    if (store && s5_first) set_mem[store_cell] <= r_dst;
    else if (s5_moved) set_mem[s5_cell] <= r_dst;  // the group may have become a multicast one
  end

  // ---- frames of dead outputs move on -----------------------------------------------------------------------
  switch_stranded #(.PORTS(PORTS), .LANES(LANES), .QW(QW)) u_stranded (
      .clk(clk), .rst(rst), .live(live), .filled(filled[NU-1:0]), .starting(match_q[NU-1:0]), .entered(s1_valid),
      .move(pop_move), .move_q(move_q), .late(late), .late_next(late_next));
  always_ff @(posedge clk) begin
    if (rst) {s5_moved, m_valid} <= '0;
    else {s5_moved, m_valid} <= {m_valid, pop_move};
    if (pop_move) begin
      m2 <= {move_single, move_cell};
      {moved_lane, moved_group, moved_flow} <= move_meta;
    end
    m3 <= m2;
    m4 <= m3;
    {s5_single, s5_cell} <= m4;
  end
  assign moved = m_valid[0];

  // ---- match -------------------------------------------------------------------------------------------------
  logic busy;
  logic match_discard;
  logic [LW-1:0] match_lane;
  assign is_free = !busy || take_last;
  wire idle_now = is_free && !held;
  wire discard = idle_now && ready[NQ-1];
  wire [NU-1:0] can = ready[NU-1:0] & ok;
  wire ask = idle_now && !ready[NQ-1];
  for (genvar o = 0; o < PORTS; o++) begin : g_req
    assign req[o] = ask && can[o*LANES+:LANES] != '0;
  end

  // lane of a match, by output
  logic [PORTS*LANES-1:0] pick;  // one hot within an output's lanes
  if (LANES == 1) begin : g_one_lane
    assign pick = '1;
  end else begin : g_lanes
    for (genvar o = 0; o < PORTS; o++) begin : g_lane
      logic [LW-1:0] lp;
      wire [LANES-1:0] won = pick[o*LANES+:LANES];
      rr_arb #(.N(LANES)) u_arb (.req(can[o*LANES+:LANES]), .ptr(lp), .gnt(pick[o*LANES+:LANES]));
      logic [LW-1:0] after;
      always_comb begin
        after = '0;
        for (int v = 0; v < LANES - 1; v++) if (won[v]) after = after | LW'(v + 1);
      end
      always_ff @(posedge clk) begin
        if (rst) lp <= '0;
        else if (acc[o]) lp <= after;
      end
    end
  end

  // multicast: the lane whose frame is next, and in the next cycle its set
  wire [LANES-1:0] mc_ready = ready[NU+:LANES];
  logic [LANES-1:0] mc_pick;
  if (LANES == 1) begin : g_mc_one
    assign mc_pick = mc_ready;
    assign mc_lane = '0;
  end else begin : g_mc_lanes
    logic [LW-1:0] ml;
    logic [LW-1:0] mc_pick_no;
    rr_arb #(.N(LANES)) u_arb (.req(mc_ready), .ptr(ml), .gnt(mc_pick));
    always_comb begin
      mc_pick_no = '0;
      for (int v = 0; v < LANES; v++) if (mc_pick[v]) mc_pick_no = mc_pick_no | LW'(v);
    end
    always_ff @(posedge clk) begin
      if (rst) ml <= '0;
      else if (mc_over && mc_keep) ml <= 32'(mc_lane) == LANES - 1 ? '0 : LW'(mc_lane + 1'b1);
      if (rst) mc_lane <= '0;
      else if (!mc_keep) mc_lane <= ($clog2(LANES + 1))'(mc_pick_no);
    end
  end
  assign mc_req = mc_pick != '0;
  assign mc_set = set_mem[mc_cell];

  logic [NQ-1:0] next_q;
  logic [QW-1:0] next_no;
  always_comb begin
    next_q = '0;
    for (int o = 0; o < PORTS; o++) begin
      if (acc[o]) next_q[o*LANES+:LANES] = pick[o*LANES+:LANES];
    end
    if (mc_go) next_q[NU+32'(mc_lane)] = 1'b1;
    if (discard) next_q[NQ-1] = 1'b1;
    next_no = '0;
    for (int q = 0; q < NQ; q++) if (next_q[q]) next_no = next_no | QW'(q);
  end
  logic [LW-1:0] next_lane;
  always_comb begin
    next_lane = mc_go ? LW'(mc_lane) : '0;
    for (int o = 0; o < PORTS; o++) begin
      for (int v = 0; v < LANES; v++) if (acc[o] && pick[o*LANES+v]) next_lane = next_lane | LW'(v);
    end
  end
  wire matched = acc != '0 || mc_go || discard;
  // Registered in every cycle, matched or not: an enable would be the end of the longest path.
  always_ff @(posedge clk) begin
    if (rst) begin
      busy    <= 1'b0;
      start   <= 1'b0;
      match_q <= '0;
    end else begin
      busy    <= matched || (busy && !take_last);
      start   <= matched;
      match_q <= next_q;
    end
    start_q       <= next_no;
    match_lane    <= next_lane;
    match_discard <= discard;
  end

  // ---- lane of what is taken, cells held and given back, pause, ECN ---------------------------------------------
  logic [LW-1:0] run_lane;  // of the match under way; of a discard known when it starts
  wire [LW-1:0] now_lane = !start ? run_lane : match_discard ? discard_meta[MW-1-:LW] : match_lane;
  always_ff @(posedge clk) run_lane <= now_lane;
  wire [LANES-1:0] lane_in, lane_out, lane_dropped;
  for (genvar v = 0; v < LANES; v++) begin : g_lane_events
    assign take_lane[v] = now_lane == LW'(v);
    assign lane_in[v] = store && lane == LW'(v);
    assign lane_out[v] = take && take_lane[v];
    assign lane_dropped[v] = dropped && lane == LW'(v);
  end
  switch_lanes #(.LANES(LANES), .QUOTA(QUOTA), .CW(CW)) u_lanes (
      .clk(clk), .rst(rst), .cfg_pfc(cfg_pfc), .cfg_xoff(cfg_xoff), .cfg_xon(cfg_xon),
      .keep_back(late && cfg_credit_en && !cfg_pfc && live[self_no]), .late_next(late_next), .in(lane_in), .out(lane_out),
      .dropped(lane_dropped), .held(held_cells), .settled(settled), .free_cells(free_cells), .s_pause(s_pause));

  assign x_beat = {x_first, x_mark, x_last, x_user, x_keep, x_data};
  always_ff @(posedge clk) begin
    if (take) x_first <= start;
    if (take) x_mark <= start && 32'(start_q) < NU && cfg_roce && cfg_ecn != '0 && 16'(pop_depth) >= cfg_ecn;
  end

endmodule

`default_nettype wire
