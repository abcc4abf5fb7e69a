// SPDX-License-Identifier: Apache-2.0
// Bench of two switches, a and b, back to back: the last port of each is one end of a link with credits, which goes down
// and up as the file `light` says; hosts at all other ports. Port p of a is number p in the file names, of b 10 + p.
// Files: s<nn>, m<nn>, cr<nn> of a host; m<nn> of a link's end is recorded. light, table {group, valid, index} for both
// switches and group {ports, switch at bit 40, mode, number} are played. Credits of all outputs, drops and losses are
// recorded as vectors of both switches, a lowest.
`default_nettype none

module tb_switch_pair
  import spec_pkg::*;
#(
    parameter int PORTS     = 3,   /// ports of a switch, 2..10
    parameter int LANES     = 1,   /// virtual lanes
    parameter int CELLS     = 8,   /// cells of an input
    parameter int MAX_BEATS = 4,   /// beats of a largest frame
    parameter int EGRESS    = 8,   /// beats of an egress FIFO
    parameter int ADDR_W    = 5,   /// bits of a table index
    parameter int GROUPS    = 32,  /// groups of next hops
    parameter int ALLOC     = 1,   /// 0 round robin, 1..4 iSLIP, 5 wavefront
    parameter int SAF       = 0    /// 1 store and forward
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);

  localparam int DATA_W = 512;
  localparam int HOSTS = PORTS - 1;
  localparam int GW = $clog2(GROUPS);

  logic stop;
  wire [2*HOSTS+2:0] player_done;
  wire [2*PORTS-1:0] busy;  // a port's stream moves, or a cell is given back
  wire roce, light, up;
  wire [1:0] link_drained;
  wire [15:0] credit_init;

  tb_ctl #(.N_PLAYERS(2 * HOSTS + 3), .N_ACTIVITY(2 * PORTS)) u_ctl (.activity(busy), .*);
  tb_cfg #(.NAME("roce"), .W(1)) u_roce (.q(roce), .*);
  tb_cfg #(.NAME("credit_init"), .W(16)) u_credit_init (.q(credit_init), .*);
  timed_value #(.NAME("light"), .W(1)) u_light (.init(1'b1), .q(light), .player_done(player_done[2*HOSTS]), .*);
  switch_link u_link (.clk(clk), .rst(rst), .light(light), .drained(link_drained), .up(up));

  wire tbl_we, grp_we;
  /* verilator lint_off UNUSEDSIGNAL */  // a player's data are whole words; the fields need fewer bits
  wire [63:0] tbl;
  wire [95:0] grp;
  /* verilator lint_on UNUSEDSIGNAL */
  stream_player #(.NAME("table"), .DATA_W(64)) u_table (
      .tvalid(tbl_we), .tready(1'b1), .tlast(), .tkeep(), .tdata(tbl), .side(),
      .player_done(player_done[2*HOSTS+1]), .*);
  stream_player #(.NAME("group"), .DATA_W(96)) u_group (
      .tvalid(grp_we), .tready(1'b1), .tlast(), .tkeep(), .tdata(grp), .side(),
      .player_done(player_done[2*HOSTS+2]), .*);

  // what leaves an end of the link, by its switch, and what its input gives back
  wire [1:0] l_valid, l_ready, l_last;
  wire [DATA_W-1:0] l_data[2];
  wire [DATA_W/8-1:0] l_keep[2];
  wire [LANES*2-1:0] l_free[2];

  wire [2*PORTS*LANES*16-1:0] credits;
  wire [2*PORTS*4-1:0] drops;
  wire [2*PORTS-1:0] losts, mc_losts, lives, draineds;

  for (genvar n = 0; n < 2; n++) begin : g_switch
    wire [PORTS-1:0] s_valid, s_ready, s_last, m_valid, m_ready, m_last, m_user, live, drained;
    wire [PORTS*DATA_W-1:0] s_data, m_data;
    wire [PORTS*DATA_W/8-1:0] s_keep, m_keep;
    wire [PORTS*LANES*2-1:0] free_cells;
    wire [PORTS*LANES*8-1:0] m_credit;

    switch #(
        .PORTS(PORTS), .LANES(LANES), .DATA_W(DATA_W), .CELLS(CELLS), .MAX_BEATS(MAX_BEATS), .EGRESS(EGRESS),
        .ADDR_W(ADDR_W), .GROUPS(GROUPS), .ALLOC(ALLOC), .SAF(SAF != 0)
    ) dut (
        .clk(clk), .rst(rst), .cfg_roce(roce), .cfg_prefix(32'd0), .cfg_seed(16'd0), .cfg_pfc(1'b0),
        .cfg_xoff(16'hffff), .cfg_xon(16'd0), .cfg_ecn(16'd0), .cfg_credit_en(1'b1), .cfg_credit_init(credit_init),
        .cfg_adapt_shift(4'd0), .port_up({up, {HOSTS{1'b1}}}),
        .tbl_we(tbl_we), .tbl_addr(tbl[ADDR_W-1:0]), .tbl_valid(tbl[32]), .tbl_group(tbl[33+:GW]),
        .grp_we(grp_we && 32'(grp[40]) == n), .grp_addr(grp[GW-1:0]), .grp_mode(grp[33:32]), .grp_ports(grp[64+:PORTS]),
        .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep),
        .s_axis_tlast(s_last), .free_cells(free_cells), .s_pause(),
        .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tdata(m_data), .m_axis_tkeep(m_keep),
        .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_credit(m_credit), .m_pause({PORTS * LANES{1'b0}}),
        .drop(drops[n*PORTS*4+:PORTS*4]), .mc_lost(mc_losts[n*PORTS+:PORTS]), .lost(losts[n*PORTS+:PORTS]), .ecn(),
        .live(live), .drained(drained), .in_use(), .credits());

    for (genvar h = 0; h < HOSTS; h++) begin : g_host
      tb_switch_port #(.LANES(LANES), .DATA_W(DATA_W), .QUOTA(CELLS / LANES), .MAX_BEATS(MAX_BEATS)) u_port (
          .number       (7'(10 * n + h)),
          .gate         (1'b1),
          .player_done  (player_done[n*HOSTS+h]),
          .s_axis_tvalid(s_valid[h]),
          .s_axis_tready(s_ready[h]),
          .s_axis_tdata (s_data[h*DATA_W+:DATA_W]),
          .s_axis_tkeep (s_keep[h*DATA_W/8+:DATA_W/8]),
          .s_axis_tlast (s_last[h]),
          .free_cells   (free_cells[h*LANES*2+:LANES*2]),
          .live         (live[h]),
          .m_axis_tvalid(m_valid[h]),
          .m_axis_tready(m_ready[h]),
          .m_axis_tdata (m_data[h*DATA_W+:DATA_W]),
          .m_axis_tkeep (m_keep[h*DATA_W/8+:DATA_W/8]),
          .m_axis_tlast (m_last[h]),
          .m_axis_tuser (m_user[h]),
          .m_credit     (m_credit[h*LANES*8+:LANES*8]),
          .*
      );
    end

    // the link: what the other end sends, and gives back
    assign l_valid[n] = m_valid[HOSTS];
    assign l_last[n]  = m_last[HOSTS];
    assign l_data[n]  = m_data[HOSTS*DATA_W+:DATA_W];
    assign l_keep[n]  = m_keep[HOSTS*DATA_W/8+:DATA_W/8];
    assign l_free[n]  = free_cells[HOSTS*LANES*2+:LANES*2];
    assign l_ready[n] = s_ready[HOSTS];
    assign m_ready[HOSTS] = l_ready[1-n];
    assign s_valid[HOSTS] = l_valid[1-n];
    assign s_last[HOSTS]  = l_last[1-n];
    assign s_data[HOSTS*DATA_W+:DATA_W] = l_data[1-n];
    assign s_keep[HOSTS*DATA_W/8+:DATA_W/8] = l_keep[1-n];
    for (genvar v = 0; v < LANES; v++) begin : g_back
      assign m_credit[(HOSTS*LANES+v)*8+:8] = {6'd0, l_free[1-n][v*2+:2]};
    end
    assign link_drained[n] = drained[HOSTS];
    stream_monitor_core #(.DATA_W(DATA_W)) u_link_mon (
        .name({232'd0, 8'h6d, 8'(48 + n), 8'(48 + HOSTS)}), .tvalid(m_valid[HOSTS]), .tready(m_ready[HOSTS]),
        .tlast(m_last[HOSTS]), .tkeep(l_keep[n]), .tdata(l_data[n]), .side(m_user[HOSTS]), .*);

    for (genvar o = 0; o < PORTS; o++) begin : g_credit
      for (genvar v = 0; v < LANES; v++) begin : g_lane
        assign credits[((n*PORTS+o)*LANES+v)*16+:16] = dut.g_out[o].u_out.g_lane[v].credit;
      end
    end
    assign lives[n*PORTS+:PORTS]    = live;
    assign draineds[n*PORTS+:PORTS] = drained;
    assign busy[n*PORTS+:PORTS]     = s_valid | m_valid | ~drained;
  end

  event_recorder #(.NAME("credit"), .W(2*PORTS*LANES*16), .CHANGE(1'b1)) u_credit (.value(credits), .*);
  event_recorder #(.NAME("drop"), .W(2*PORTS*4)) u_drop (.value(drops), .*);
  event_recorder #(.NAME("lost"), .W(2*PORTS)) u_lost (.value(losts), .*);
  event_recorder #(.NAME("mc_lost"), .W(2*PORTS)) u_mc_lost (.value(mc_losts), .*);
  event_recorder #(.NAME("live"), .W(2*PORTS), .CHANGE(1'b1)) u_live (.value(lives), .*);
  event_recorder #(.NAME("drained"), .W(2*PORTS), .CHANGE(1'b1)) u_drained (.value(draineds), .*);

endmodule

`default_nettype wire
