// SPDX-License-Identifier: Apache-2.0
// Where a frame goes: table, group, live candidates, choice (docs/switch.md, H4, F1 to F7). A first beat in stage 1
// at c+1 has its answer at c+5, one a cycle; a moved frame comes in at stage 2 with its group and flow. The inputs'
// tables have the same content; a copy for each is what gives each its own read port.
`default_nettype none
`include "microhop_assert.svh"

module switch_route
  import spec_pkg::*;
#(
    parameter int PORTS  = 8,    /// ports, 2..80
    parameter int LANES  = 1,    /// virtual lanes, 1..8
    parameter int DATA_W = 512,  /// bits of a beat
    parameter int ADDR_W = 10,   /// bits of a table index
    parameter int GROUPS = 64,   /// groups of next hops
    parameter int MAX    = FRAME_MAX_BEATS,   /// beats of a longest frame
    parameter int LW     = 1,    /// bits of a lane number
    parameter int NW     = 7     /// bits of `need`
) (
    input  wire                       clk,         /// clock
    input  wire                       rst,         /// synchronous reset, active high
    input  wire  [ $clog2(PORTS)-1:0] self_no,     /// number of this port, steady
    input  wire                       cfg_roce,    /// 0 native, 1 RoCEv2 over IPv4
    input  wire  [              31:0] cfg_prefix,  /// upper bits of a known destination
    input  wire  [              15:0] cfg_seed,    /// initial value of the flow hash
    input  wire                       tbl_we,      /// write a destination
    input  wire  [        ADDR_W-1:0] tbl_addr,    /// its index
    input  wire                       tbl_valid,   /// entry in use
    input  wire  [$clog2(GROUPS)-1:0] tbl_group,   /// its group
    input  wire                       grp_we,      /// write a group
    input  wire  [$clog2(GROUPS)-1:0] grp_addr,    /// its number
    input  wire  [               1:0] grp_mode,    /// 0 by flow, 1 spraying, 2 adaptive, 3 multicast
    input  wire  [         PORTS-1:0] grp_ports,   /// its set of ports
    input  wire  [         PORTS-1:0] live,        /// ports in use
    input  wire  [ PORTS*LANES*3-1:0] level,       /// 0..7: how much of an output's lane is in use
    input  wire                       s1_first,    /// a first beat is in stage 1
    input  wire  [        DATA_W-1:0] s1_data,     /// its bytes
    input  wire  [      DATA_W/8-1:0] s1_keep,     /// its valid bytes
    input  wire                       moved,       /// a moved frame is in stage 2 (no first beat is)
    input  wire  [$clog2(GROUPS)-1:0] moved_group, /// its group
    input  wire  [              15:0] moved_flow,  /// its flow hash
    input  wire  [            LW-1:0] moved_lane,  /// its lane
    output logic                      malformed,   /// stage 5: F8, in this order
    output logic                      too_long,    /// stage 5
    output logic                      unknown,     /// stage 5
    output logic                      no_way,      /// stage 5
    output logic [            NW-1:0] need,        /// stage 5: stated beats
    output logic [            LW-1:0] lane,        /// stage 5
    output logic                      multicast,   /// stage 5: `dst` is a set
    output logic [         PORTS-1:0] dst,         /// stage 5: output (one hot), or set
    output logic [$clog2(GROUPS)-1:0] group,       /// stage 5: group, kept for a move
    output logic [              15:0] flow         /// stage 5: flow hash, kept for a move
);

  localparam int GW = $clog2(GROUPS);
  localparam int PW = $clog2(PORTS);
  localparam int ENTRIES = 1 << ADDR_W;
  localparam int FW = 16 + PW + 1;

  // ---- stage 1: header, table -------------------------------------------------------------------------
  logic h_malformed, h_long, h_prefix;
  logic [ADDR_W-1:0] h_index;
  logic [LW-1:0] h_lane;
  logic [NW-1:0] h_need;
  logic [95:0] h_key;
  switch_header #(
      .LANES(LANES), .DATA_W(DATA_W), .ADDR_W(ADDR_W), .MAX(MAX), .LW(LW), .NW(NW)
  ) u_header (
      .cfg_roce  (cfg_roce),
      .cfg_prefix(cfg_prefix),
      .data      (s1_data),
      .keep      (s1_keep),
      .malformed (h_malformed),
      .too_long  (h_long),
      .prefix_ok (h_prefix),
      .index     (h_index),
      .lane      (h_lane),
      .need      (h_need),
      .key       (h_key)
  );

  logic [GW-1:0] tbl_mem [ENTRIES];
  logic [ENTRIES-1:0] tbl_used;
  logic s2_new, s2_used, s2_malformed, s2_long, s2_prefix;
  logic [GW-1:0] s2_tbl_group;
  logic [LW-1:0] s2_lane;
  logic [NW-1:0] s2_need;
  logic [95:0] s2_key;
  always_ff @(posedge clk) begin
    if (rst) tbl_used <= '0;
    else if (tbl_we) tbl_used[tbl_addr] <= tbl_valid;
    if (tbl_we) tbl_mem[tbl_addr] <= tbl_group;
  end
  always_ff @(posedge clk) begin
    if (rst) s2_new <= 1'b0;
    else s2_new <= s1_first;
    if (s1_first) begin
      s2_used      <= tbl_used[h_index];
      s2_tbl_group <= tbl_mem[h_index];
      s2_malformed <= h_malformed;
      s2_long      <= h_long;
      s2_prefix    <= h_prefix;
      s2_lane      <= h_lane;
      s2_need      <= h_need;
      s2_key       <= h_key;
    end
  end

  // ---- stage 2: group, flow hash -------------------------------------------------------------------------
  logic [PORTS+1:0] grp_mem [GROUPS];  // mode, ports
  logic [GROUPS-1:0] grp_used;
  wire [GW-1:0] s2_group = moved ? moved_group : s2_tbl_group;
  wire [15:0] s2_flow;
  switch_flow u_flow (.key(s2_key), .seed(cfg_seed), .flow(s2_flow));

  logic s3_valid, s3_malformed, s3_long, s3_unknown, s3_used;
  logic [1:0] s3_mode;
  logic [PORTS-1:0] s3_ports;
  logic [GW-1:0] s3_group;
  logic [15:0] s3_flow;
  logic [LW-1:0] s3_lane;
  logic [NW-1:0] s3_need;
  always_ff @(posedge clk) begin
    if (rst) grp_used <= '0;
    else if (grp_we) grp_used[grp_addr] <= 1'b1;
    if (grp_we) grp_mem[grp_addr] <= {grp_mode, grp_ports};
  end
  always_ff @(posedge clk) begin
    if (rst) s3_valid <= 1'b0;
    else s3_valid <= s2_new || moved;
    if (s2_new || moved) begin
      {s3_mode, s3_ports} <= grp_mem[s2_group];
      s3_used             <= grp_used[s2_group];
      s3_malformed        <= !moved && s2_malformed;
      s3_long             <= !moved && s2_long;
      s3_unknown          <= !moved && !(s2_prefix && s2_used);
      s3_group            <= s2_group;
      s3_flow             <= moved ? moved_flow : s2_flow;
      s3_lane             <= moved ? moved_lane : s2_lane;
      s3_need             <= s2_need;
    end
  end

  // ---- stage 3: candidates; how many there are below each; the least used ---------------------------------
  wire [PORTS-1:0] self = PORTS'(1) << self_no;
  wire s3_mc = s3_mode == 2'd3;
  wire [PORTS-1:0] cand = s3_used ? s3_ports & (s3_mc ? ~self : live) : '0;
  logic [PORTS-1:0] least;  // candidates of the lowest level
  logic [PORTS-1:0] at_level;
  always_comb begin
    least    = '0;
    at_level = '0;
    for (int k = 7; k >= 0; k--) begin
      for (int o = 0; o < PORTS; o++) begin
        at_level[o] = cand[o] && level[(o*LANES+32'(s3_lane))*3+:3] == 3'(k);
      end
      if (at_level != '0) least = at_level;
    end
  end
  logic [PORTS*(PW+1)-1:0] below;  // candidates below each port
  logic [PW:0] count;
  always_comb begin
    count = '0;
    below = '0;
    for (int o = 0; o < PORTS; o++) begin
      below[o*(PW+1)+:PW+1] = count;
      count = count + (PW + 1)'(cand[o]);
    end
  end

  logic s4_valid, s4_malformed, s4_long, s4_unknown;
  logic [1:0] s4_mode;
  logic [PORTS-1:0] s4_cand, s4_ring;
  logic [PORTS*(PW+1)-1:0] s4_below;
  logic [PW:0] s4_count;
  logic [GW-1:0] s4_group;
  logic [15:0] s4_flow;
  logic [LW-1:0] s4_lane;
  logic [NW-1:0] s4_need;
  always_ff @(posedge clk) begin
    if (rst) s4_valid <= 1'b0;
    else s4_valid <= s3_valid;
    if (s3_valid) begin
      s4_cand      <= cand;
      s4_ring      <= s3_mode == 2'd2 ? least : cand;
      s4_below     <= below;
      s4_count     <= count;
      s4_mode      <= s3_mode;
      s4_malformed <= s3_malformed;
      s4_long      <= s3_long;
      s4_unknown   <= s3_unknown;
      s4_group     <= s3_group;
      s4_flow      <= s3_flow;
      s4_lane      <= s3_lane;
      s4_need      <= s3_need;
    end
  end

  // ---- stage 4: choice ---------------------------------------------------------------------------------------
  logic [PW-1:0] sp;  // where spraying goes on
  logic [PORTS-1:0] by_flow, by_turn;
  /* verilator lint_off UNUSEDSIGNAL */  // the rank is the product's upper part
  wire [FW-1:0] product = FW'(s4_flow) * FW'(s4_count);
  /* verilator lint_on UNUSEDSIGNAL */
  wire [PW:0] rank = product[FW-1:16];
  rr_arb #(.N(PORTS)) u_turn (.req(s4_ring), .ptr(sp), .gnt(by_turn));
  logic [PW-1:0] beyond;
  always_comb begin
    beyond = '0;
    for (int o = 0; o < PORTS; o++) begin
      by_flow[o] = s4_cand[o] && s4_below[o*(PW+1)+:PW+1] == rank;
      if (by_turn[o] && o != PORTS - 1) beyond = beyond | PW'(o + 1);
    end
  end
  wire s4_turns = s4_mode == 2'd1 || s4_mode == 2'd2;
  always_ff @(posedge clk) begin
    if (rst) sp <= '0;
    else if (s4_valid && s4_turns && s4_cand != '0 && !s4_malformed && !s4_long && !s4_unknown) sp <= beyond;
    if (s4_valid) begin
      malformed <= s4_malformed;
      too_long  <= s4_long;
      unknown   <= s4_unknown;
      no_way    <= s4_cand == '0;
      need      <= s4_need;
      lane      <= s4_lane;
      multicast <= s4_mode == 2'd3;
      dst       <= s4_mode == 2'd3 ? s4_cand : s4_turns ? by_turn : by_flow;
      group     <= s4_group;
      flow      <= s4_flow;
    end
  end

  // A moved frame and a first beat never meet.
  `MH_ASSERT(a_slot, !(moved && s2_new))
  `MH_NEVER_X(a_known, {s3_valid, s4_valid})

endmodule

`default_nettype wire
