// SPDX-License-Identifier: Apache-2.0
// The switch: parse, table look-up, queues of frames for each output and lane, allocator, crossbar, per-lane
// credits, ECN. Rules: docs/switch.md. Latency, alone and with room everywhere: 15 cycles from s_axis to m_axis,
// first beat to first beat (spec/fabric.toml, latency.switch: store + match + cross). One beat a cycle and port, no
// idle cycle between frames. Order kept from each input to each output and lane, but for moves off a dead port.
`default_nettype none

module switch
  import spec_pkg::*;
#(
    parameter int PORTS      = 8,                    /// ports, 2..80
    parameter int LANES      = 1,                    /// virtual lanes, 1..8
    parameter int DATA_W     = 512,                  /// bits of a beat, 512 or 1024
    parameter int CELLS      = LINK_BUFFER_CELLS,    /// cells of an input's buffer, a power of two, CELLS/LANES above MAX_BEATS
    parameter int MAX_BEATS  = (FRAME_MAX_BEATS * 512 + DATA_W - 1) / DATA_W,  /// beats of a largest frame
    parameter int EGRESS     = SWITCH_EGRESS_BEATS,  /// beats of an egress FIFO, a power of two above MAX_BEATS
    parameter int ADDR_W     = 10,                   /// bits of a table index: 1..21 (native), a table of 2^ADDR_W entries
    parameter int GROUPS     = 64,                   /// groups of next hops, a power of two, 2 or more
    parameter int ALLOC      = 1,                    /// 0 round robin, 1..4 iSLIP iterations, 5 wavefront
    parameter bit SAF        = 1'b0,                 /// 1 store and forward, 0 cut through
    parameter     TAP_PREFIX = ""                    /// prefix of the inner stage stamps; empty: none
) (
    input  wire                         clk,              /// clock
    input  wire                         rst,              /// synchronous reset, active high
    // configuration, steady while frames are inside unless said otherwise
    input  wire                         cfg_roce,         /// 0 native, 1 RoCEv2 over IPv4
    input  wire  [                31:0] cfg_prefix,       /// destination >> ADDR_W of a known destination
    input  wire  [                15:0] cfg_seed,         /// initial value of the flow hash
    input  wire                         cfg_pfc,          /// 1: tready is always 1, pause and drops take its place
    input  wire  [                15:0] cfg_xoff,         /// cells held of a lane from which on it is paused
    input  wire  [                15:0] cfg_xon,          /// cells held down to which the pause ends
    input  wire  [                15:0] cfg_ecn,          /// frames in a queue from which on they are marked; 0 off
    input  wire                         cfg_credit_en,    /// 1: outputs start frames by credit
    input  wire  [                15:0] cfg_credit_init,  /// cells of a lane at the far end of an output
    input  wire  [                 3:0] cfg_adapt_shift,  /// cells of a step of the adaptive level, log2
    input  wire  [           PORTS-1:0] port_up,          /// port may be used; may change at any time
    // tables, one write each a cycle, at any time
    input  wire                         tbl_we,           /// write a destination
    input  wire  [          ADDR_W-1:0] tbl_addr,         /// its index
    input  wire                         tbl_valid,        /// entry in use
    input  wire  [  $clog2(GROUPS)-1:0] tbl_group,        /// its group
    input  wire                         grp_we,           /// write a group
    input  wire  [  $clog2(GROUPS)-1:0] grp_addr,         /// its number
    input  wire  [                 1:0] grp_mode,         /// 0 by flow, 1 spraying, 2 adaptive, 3 multicast
    input  wire  [           PORTS-1:0] grp_ports,        /// its set of ports
    // frames in, by port
    input  wire  [           PORTS-1:0] s_axis_tvalid,    /// beat offered
    output wire  [           PORTS-1:0] s_axis_tready,    /// beat accepted
    input  wire  [    PORTS*DATA_W-1:0] s_axis_tdata,     /// bytes, first one lowest
    input  wire  [  PORTS*DATA_W/8-1:0] s_axis_tkeep,     /// valid bytes
    input  wire  [           PORTS-1:0] s_axis_tlast,     /// last beat of a frame
    output wire  [   PORTS*LANES*2-1:0] free_cells,       /// cells given back in this cycle, by input and lane
    output wire  [     PORTS*LANES-1:0] s_pause,          /// PFC: lane of an input is to be paused
    // frames out, by port
    output wire  [           PORTS-1:0] m_axis_tvalid,    /// beat offered
    input  wire  [           PORTS-1:0] m_axis_tready,    /// beat taken
    output wire  [    PORTS*DATA_W-1:0] m_axis_tdata,     /// bytes
    output wire  [  PORTS*DATA_W/8-1:0] m_axis_tkeep,     /// valid bytes
    output wire  [           PORTS-1:0] m_axis_tlast,     /// last beat of a frame
    output wire  [           PORTS-1:0] m_axis_tuser,     /// with tlast: the frame is damaged
    input  wire  [   PORTS*LANES*8-1:0] m_credit,         /// cells given back by the far end in this cycle, by output and lane
    input  wire  [     PORTS*LANES-1:0] m_pause,          /// PFC: lane of an output is paused by the far end
    // events, for counters
    output wire  [         PORTS*4-1:0] drop,             /// reason code of an input's decision, 0 none (docs/switch.md, F10)
    output wire  [           PORTS-1:0] mc_lost,          /// multicast frame of an input without a live output
    output wire  [           PORTS-1:0] lost,             /// frame lost at a dead output
    output wire  [           PORTS-1:0] ecn,              /// frame of an output marked
    output wire  [           PORTS-1:0] live,             /// port is in use (O1)
    output wire  [           PORTS-1:0] drained,          /// nothing of the port is inside: its link may come up (O1)
    // to be looked at, registers as they are
    output wire  [        PORTS*16-1:0] in_use,           /// beats inside an input (E1)
    output wire  [  PORTS*LANES*16-1:0] credits           /// credits of an output's lanes (O3)
);
  localparam int PW = $clog2(PORTS);
  localparam int KW = DATA_W / 8;
  localparam int VW = $clog2(LANES + 1);
  localparam int XW = DATA_W + KW + 4;  // first, mark, last, user, keep, data

  switch_sizes #(
      .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .CELLS(CELLS), .MAX_BEATS(MAX_BEATS), .EGRESS(EGRESS),
      .ADDR_W(ADDR_W), .GROUPS(GROUPS), .ALLOC(ALLOC)
  ) u_sizes ();

  wire [PORTS*PORTS-1:0] req, acc, mc_set;  // bit i*PORTS+o
  wire [PORTS*VW-1:0] mc_lane;
  wire [PORTS-1:0] in_empty, in_free, out_free, mc_req, mc_keep, mc_in_held, mc_out_held, mc_go, mc_dst;
  wire [PW-1:0] mc_from;
  wire mc_over;
  wire [PORTS*LANES-1:0] open, ok, take_lane;
  wire [PORTS*LANES*3-1:0] level;
  wire [PORTS-1:0] take, take_last, x_valid, q_valid;
  /* verilator lint_off UNUSEDSIGNAL */  // for the stage stamps alone
  wire [PORTS-1:0] decided;  // a frame's first beat is stored
  /* verilator lint_on UNUSEDSIGNAL */
  wire [PORTS*PW-1:0] x_sel;
  wire [XW-1:0] x_beat [PORTS];
  wire [XW-1:0] q_beat [PORTS];

  for (genvar i = 0; i < PORTS; i++) begin : g_in
    switch_input #(
        .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .CELLS(CELLS), .MAX_BEATS(MAX_BEATS), .ADDR_W(ADDR_W),
        .GROUPS(GROUPS), .SAF(SAF)
    ) u_in (
        .clk          (clk),
        .rst          (rst),
        .self_no      (PW'(i)),
        .cfg_roce     (cfg_roce),
        .cfg_prefix   (cfg_prefix),
        .cfg_seed     (cfg_seed),
        .cfg_pfc      (cfg_pfc),
        .cfg_credit_en(cfg_credit_en),
        .cfg_xoff     (cfg_xoff),
        .cfg_xon      (cfg_xon),
        .cfg_ecn      (cfg_ecn),
        .tbl_we       (tbl_we),
        .tbl_addr     (tbl_addr),
        .tbl_valid    (tbl_valid),
        .tbl_group    (tbl_group),
        .grp_we       (grp_we),
        .grp_addr     (grp_addr),
        .grp_mode     (grp_mode),
        .grp_ports    (grp_ports),
        .live         (live),
        .level        (level),
        .empty        (in_empty[i]),
        .in_use       (in_use[i*16+:16]),
        .s_axis_tvalid(s_axis_tvalid[i]),
        .s_axis_tready(s_axis_tready[i]),
        .s_axis_tdata (s_axis_tdata[i*DATA_W+:DATA_W]),
        .s_axis_tkeep (s_axis_tkeep[i*KW+:KW]),
        .s_axis_tlast (s_axis_tlast[i]),
        .free_cells   (free_cells[i*LANES*2+:LANES*2]),
        .s_pause      (s_pause[i*LANES+:LANES]),
        .drop         (drop[i*4+:4]),
        .ok           (ok),
        .is_free      (in_free[i]),
        .req          (req[i*PORTS+:PORTS]),
        .acc          (acc[i*PORTS+:PORTS]),
        .held         (mc_in_held[i]),
        .mc_keep      (mc_keep[i]),
        .mc_req       (mc_req[i]),
        .mc_set       (mc_set[i*PORTS+:PORTS]),
        .mc_lane      (mc_lane[i*VW+:VW]),
        .mc_over      (mc_over),
        .mc_go        (mc_go[i]),
        .decided      (decided[i]),
        .take         (take[i]),
        .take_last    (take_last[i]),
        .take_lane    (take_lane[i*LANES+:LANES]),
        .x_beat       (x_beat[i])
    );
`ifndef SYNTHESIS
    if (TAP_PREFIX != "") begin : g_tap
      latency_tap #(.NAME({TAP_PREFIX, ".voq"}), .NUMBER(i)) u_stored (.clk(clk), .rst(rst), .event_i(decided[i]));
    end
`endif
  end

  switch_mcast #(
      .PORTS(PORTS), .LANES(LANES), .HOLD(SWITCH_MCAST_HOLD)
  ) u_mcast (
      .clk(clk), .rst(rst), .live(live), .req(mc_req), .set(mc_set), .lane(mc_lane), .in_free(in_free),
      .out_free(out_free), .open(open), .ok(ok), .keep(mc_keep), .in_held(mc_in_held), .out_held(mc_out_held), .go(mc_go),
      .dst(mc_dst), .over(mc_over), .from(mc_from), .mc_lost(mc_lost));

  switch_alloc #(
      .PORTS(PORTS), .ALLOC(ALLOC)
  ) u_alloc (
      .clk(clk), .rst(rst), .req(req), .out_ok(out_free & ~mc_out_held), .acc(acc));

  switch_xbar #(
      .PORTS(PORTS), .W(XW)
  ) u_xbar (
      .clk(clk), .rst(rst), .x_beat(x_beat), .x_valid(x_valid), .x_sel(x_sel), .q_valid(q_valid), .q_beat(q_beat));

  // The new owner of each output.
  logic [PORTS-1:0] match;
  logic [PORTS*PW-1:0] match_in;
  always_comb begin
    match    = '0;
    match_in = '0;
    for (int i = 0; i < PORTS; i++) begin
      match = match | acc[i*PORTS+:PORTS];
      if (acc[i*PORTS+:PORTS] != '0) begin
        for (int o = 0; o < PORTS; o++) if (acc[i*PORTS+o]) match_in[o*PW+:PW] = match_in[o*PW+:PW] | PW'(i);
      end
    end
    if (mc_go != '0) begin
      match = match | mc_dst;
      for (int o = 0; o < PORTS; o++) if (mc_dst[o]) match_in[o*PW+:PW] = mc_from;
    end
  end

  for (genvar o = 0; o < PORTS; o++) begin : g_out
    switch_output #(
        .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .MAX_BEATS(MAX_BEATS), .DEPTH(EGRESS)
    ) u_out (
        .clk            (clk),
        .rst            (rst),
        .cfg_roce       (cfg_roce),
        .cfg_credit_en  (cfg_credit_en),
        .cfg_credit_init(cfg_credit_init),
        .cfg_adapt_shift(cfg_adapt_shift),
        .port_up        (port_up[o]),
        .in_empty       (in_empty[o]),
        .live           (live[o]),
        .drained        (drained[o]),
        .is_free        (out_free[o]),
        .open           (open[o*LANES+:LANES]),
        .ok             (ok[o*LANES+:LANES]),
        .level          (level[o*LANES*3+:LANES*3]),
        .credits        (credits[o*LANES*16+:LANES*16]),
        .match          (match[o]),
        .match_in       (match_in[o*PW+:PW]),
        .take           (take),
        .take_last      (take_last),
        .take_lane      (take_lane),
        .x_valid        (x_valid[o]),
        .x_sel          (x_sel[o*PW+:PW]),
        .q_valid        (q_valid[o]),
        .q_beat         (q_beat[o]),
        .m_credit       (m_credit[o*LANES*8+:LANES*8]),
        .m_pause        (m_pause[o*LANES+:LANES]),
        .m_axis_tvalid  (m_axis_tvalid[o]),
        .m_axis_tready  (m_axis_tready[o]),
        .m_axis_tdata   (m_axis_tdata[o*DATA_W+:DATA_W]),
        .m_axis_tkeep   (m_axis_tkeep[o*KW+:KW]),
        .m_axis_tlast   (m_axis_tlast[o]),
        .m_axis_tuser   (m_axis_tuser[o]),
        .lost           (lost[o]),
        .ecn            (ecn[o])
    );
`ifndef SYNTHESIS
    if (TAP_PREFIX != "") begin : g_tap
      latency_tap #(.NAME({TAP_PREFIX, ".xbar"}), .NUMBER(o)) u_crossed (
          .clk(clk), .rst(rst), .event_i(q_valid[o] && q_beat[o][XW-1]));
    end
`endif
  end

endmodule

`default_nettype wire
