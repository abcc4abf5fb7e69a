// SPDX-License-Identifier: Apache-2.0
// One output of the switch: its owner, room, credits and pause, the ECN stage, the egress FIFO, and whether the port
// is in use (docs/switch.md, O1 to O6). Room for a largest frame is there before a frame starts, so nothing behind
// has a stall. Latency: a beat at q_* at c is at m_axis at c+6 at the earliest. One beat a cycle. Order kept.
`default_nettype none
`include "microhop_assert.svh"

module switch_output
  import spec_pkg::*;
#(
    parameter int PORTS     = 8,    /// ports, 2..80
    parameter int LANES     = 1,    /// virtual lanes, 1..8
    parameter int DATA_W    = 512,  /// bits of a beat
    parameter int MAX_BEATS = FRAME_MAX_BEATS,   /// beats of a largest frame
    parameter int DEPTH     = SWITCH_EGRESS_BEATS   /// beats of the FIFO, a power of two above MAX_BEATS
) (
    input  wire                       clk,              /// clock
    input  wire                       rst,              /// synchronous reset, active high
    input  wire                       cfg_roce,         /// as those of the switch
    input  wire                       cfg_credit_en,    /// as those of the switch
    input  wire  [              15:0] cfg_credit_init,  /// as those of the switch
    input  wire  [               3:0] cfg_adapt_shift,  /// as those of the switch
    input  wire                       port_up,          /// port may be used
    input  wire                       in_empty,         /// the input of the same port holds nothing
    output logic                      live,             /// port is in use
    output wire                       drained,          /// nothing of the port is inside: it may come up
    output wire                       is_free,          /// no owner, or its frame's last beat is taken now
    output wire  [         LANES-1:0] open,             /// neither credit nor pause keeps a frame back, by lane
    output wire  [         LANES-1:0] ok,               /// a largest frame may be started, by lane
    output logic [       LANES*3-1:0] level,            /// adaptive level, by lane
    output wire  [      LANES*16-1:0] credits,          /// credits at hand, by lane (O3)
    input  wire                       match,            /// gets an owner
    input  wire  [ $clog2(PORTS)-1:0] match_in,         /// this input
    input  wire  [         PORTS-1:0] take,             /// a beat is taken, by input
    input  wire  [         PORTS-1:0] take_last,        /// it is its frame's last
    input  wire  [   PORTS*LANES-1:0] take_lane,        /// its lane, one hot
    output logic                      x_valid,          /// crossbar: a beat for this output
    output logic [ $clog2(PORTS)-1:0] x_sel,            /// from this input
    input  wire                       q_valid,          /// beat that crossed
    input  wire  [ DATA_W+DATA_W/8+3:0] q_beat,         /// first, mark, last, user, keep, data
    input  wire  [       LANES*8-1:0] m_credit,         /// cells given back by the far end, by lane
    input  wire  [         LANES-1:0] m_pause,          /// lane is paused by the far end
    output wire                       m_axis_tvalid,    /// frames to the link
    input  wire                       m_axis_tready,    /// taken
    output logic [        DATA_W-1:0] m_axis_tdata,     /// bytes
    output logic [      DATA_W/8-1:0] m_axis_tkeep,     /// valid bytes
    output logic                      m_axis_tlast,     /// last beat of a frame
    output logic                      m_axis_tuser,     /// with it: the frame is damaged
    output wire                       lost,             /// a frame's last beat went nowhere: the port is dead
    output wire                       ecn               /// a frame was marked
);

  localparam int PW = $clog2(PORTS);
  localparam int CW = $clog2(DEPTH) + 1;

  // ---- owner ---------------------------------------------------------------------------------------------
  logic busy;
  logic [PW-1:0] own;
  wire now_take = busy && take[own];
  wire now_last = busy && take_last[own];
  wire [LANES-1:0] now_lane = take_lane[32'(own)*LANES+:LANES];
  assign is_free = !busy || now_last;
  always_ff @(posedge clk) begin
    if (rst) begin
      busy    <= 1'b0;
      x_valid <= 1'b0;
    end else begin
      if (match) busy <= 1'b1;
      else if (now_last) busy <= 1'b0;
      x_valid <= now_take;
    end
    if (match) own <= match_in;
    if (now_take) x_sel <= own;
  end

  // ---- room, live, credits ----------------------------------------------------------------------------------
  logic [CW-1:0] booked;
  logic held_beat;  // the output register holds one
  logic [LANES-1:0] paused;
  wire leave = held_beat && (m_axis_tready || !live);
  assign drained = booked == '0 && !busy && in_empty;
  wire [CW-1:0] next_booked = now_take == leave ? booked : now_take ? booked + 1'b1 : booked - 1'b1;
  wire next_live = port_up && (live || drained);
  logic may;  // live and room for a largest frame and one beat more: the allocator's path starts at a register
  always_ff @(posedge clk) begin
    if (rst) begin
      booked <= '0;
      live   <= 1'b0;
      may    <= 1'b0;
      paused <= '0;
    end else begin
      booked <= next_booked;
      live   <= next_live;
      may    <= next_live && next_booked <= CW'(DEPTH - MAX_BEATS - 1);
      paused <= m_pause;
    end
  end

  for (genvar v = 0; v < LANES; v++) begin : g_lane
    wire [15:0] credit;
    wire enough;
    wire [15:0] used = !cfg_credit_en ? 16'(booked) : credit > cfg_credit_init ? 16'd0 : cfg_credit_init - credit;
    wire [15:0] steps = used >> cfg_adapt_shift;
    switch_credit #(.MIN(MAX_BEATS + 1)) u_credit (
        .clk(clk), .rst(rst), .load(!live || !cfg_credit_en), .init(cfg_credit_init), .take(now_take && now_lane[v]),
        .give(m_credit[v*8+:8]), .credit(credit), .enough(enough));
    assign credits[v*16+:16] = credit;
    assign open[v] = (enough || !cfg_credit_en) && !paused[v];
    assign ok[v] = may && open[v];
    always_ff @(posedge clk) begin
      if (rst) level[v*3+:3] <= '0;
      else level[v*3+:3] <= steps > 16'd7 ? 3'd7 : steps[2:0];
    end
  end

  // ---- ECN, egress FIFO, output register ----------------------------------------------------------------------
  localparam int XW = DATA_W + DATA_W / 8 + 2;
  wire q_first, q_mark, q_last, q_user;
  wire [DATA_W-1:0] q_data;
  wire [DATA_W/8-1:0] q_keep;
  assign {q_first, q_mark, q_last, q_user, q_keep, q_data} = q_beat;
  wire e_valid, e_last, e_user;
  wire [DATA_W-1:0] e_data;
  wire [DATA_W/8-1:0] e_keep;
  switch_ecn #(.DATA_W(DATA_W)) u_ecn (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .in_valid(q_valid), .in_first(q_first), .in_last(q_last),
      .in_user(q_user), .in_mark(q_mark), .in_keep(q_keep), .in_data(q_data), .out_valid(e_valid), .out_first(),
      .out_last(e_last), .out_user(e_user), .out_keep(e_keep), .out_data(e_data), .out_ecn(ecn));

  logic empty;
  logic [XW-1:0] f_beat;
  wire load = !empty && (!held_beat || leave);
  sync_fifo #(.WIDTH(XW), .DEPTH(DEPTH)) u_fifo (
      .clk(clk), .rst(rst), .wr_en(e_valid), .wr_data({e_user, e_last, e_keep, e_data}), .rd_en(load),
      .rd_data(f_beat), .empty(empty), .count());

  assign m_axis_tvalid = held_beat && live;
  assign lost = leave && !live && m_axis_tlast;
  always_ff @(posedge clk) begin
    if (rst) held_beat <= 1'b0;
    else held_beat <= load || (held_beat && !leave);
    if (load) {m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= f_beat;
  end

  // An owner is given only to a free output; what is booked fits.
  `MH_ASSERT(a_match, !match || is_free)
  `MH_ASSERT(a_room, booked <= CW'(DEPTH))
  `MH_NEVER_X(a_known, {live, is_free, ok, m_axis_tvalid, lost, ecn})

endmodule

`default_nettype wire
