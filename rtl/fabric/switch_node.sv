// SPDX-License-Identifier: Apache-2.0
// A switch with a link at each port in use; the other ports are idle.
// Cable sides are flat vectors of CABLE_W bits a port (cable_t).
`default_nettype none

module switch_node
  import microhop_pkg::*;
  import spec_pkg::*;
#(
    parameter int PORTS = 8,  /// ports of the switch, 2..10: a digit in the stamps' names
    parameter logic [PORTS-1:0] USED = '1,  /// ports with a link
    parameter TAP = "switch",  /// prefix of the stage stamps
    localparam int CABLE_W = CABLE_SIDE_W + 64 + 512
) (
    input  wire                     clk,         /// clock
    input  wire                     rst,         /// synchronous reset, active high
    input  wire                     cfg_roce,    /// 0 native, 1 RoCEv2
    input  wire  [21:0]             cfg_prefix,  /// upper 22 bits that a known destination has
    input  wire  [LINK_CFG_W-1:0]   cfg_link,    /// link_cfg_t of every port, `gate` ignored: the switch waits
    input  wire                     tbl_we,      /// table write
    input  wire  [9:0]              tbl_addr,    /// destination, low 10 bits
    input  wire                     tbl_valid,   /// entry in use
    input  wire  [$clog2(PORTS)-1:0] tbl_port,   /// output port
    /* verilator lint_off UNUSEDSIGNAL */  // the bits of idle ports
    input  wire  [PORTS*CABLE_W-1:0] rx,         /// from the cables
    /* verilator lint_on UNUSEDSIGNAL */
    output wire  [PORTS*CABLE_W-1:0] tx,         /// to the cables
    output logic [31:0]             cnt_unknown  /// frames dropped: unknown destination, modulo 2^32
);

  localparam int GROUPS = 16;
  if (PORTS < 2 || PORTS > 10) begin : g_bad_ports
    initial $fatal(1, "switch_node: PORTS %0d; allowed: 2..10", PORTS);
  end
  localparam logic [3:0] DROP_UNKNOWN = 4'd2;  // docs/switch.md, F10

  /* verilator lint_off UNUSEDSIGNAL */  // the bits of idle ports
  wire [PORTS-1:0]     i_valid, i_last, o_valid, o_ready, o_last, o_user, drained, pause_out;
  wire [PORTS*512-1:0] i_data, o_data;
  wire [PORTS*64-1:0]  i_keep, o_keep;
  wire [PORTS*2-1:0]   free_cells;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [PORTS*4-1:0]   drop;

  // Group n has port n alone; a destination's group is its port. Written in the first cycles after reset.
  localparam int GW = $clog2(GROUPS);
  logic [GW:0] grp;
  wire grp_we = grp < (GW + 1)'(PORTS);
  always_ff @(posedge clk) begin
    if (rst) grp <= '0;
    else if (grp_we) grp <= grp + 1'b1;
  end

  // A frame must not wait behind another lane's in the link, so the switch itself counts the far end's cells and obeys
  // its pauses; the link is told not to.
  link_cfg_t link_cfg;
  always_comb begin
    link_cfg = cfg_link;
    link_cfg.gate = 1'b0;
  end
  wire [PORTS-1:0] port_up, pause_in;
  wire [PORTS*8-1:0] credit;

  switch #(
      .PORTS(PORTS),
      .GROUPS(GROUPS),
      .CELLS(LINK_PORT_CELLS),
      .TAP_PREFIX(TAP)
  ) u_switch (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .cfg_prefix({10'd0, cfg_prefix}), .cfg_seed(16'd0), .cfg_pfc(cfg_roce),
      .cfg_xoff(16'(PROFILE_ROCE_XOFF)), .cfg_xon(16'(PROFILE_ROCE_XON)), .cfg_ecn(16'd0), .cfg_credit_en(!cfg_roce),
      .cfg_credit_init({6'd0, link_cfg.cells, 4'd0}),
      .cfg_adapt_shift(4'd0), .port_up(port_up),
      .tbl_we(tbl_we), .tbl_addr(tbl_addr), .tbl_valid(tbl_valid), .tbl_group(GW'(tbl_port)),
      .grp_we(grp_we), .grp_addr(grp[GW-1:0]), .grp_mode(2'd0), .grp_ports(PORTS'(1) << grp),
      .s_axis_tvalid(i_valid), .s_axis_tready(), .s_axis_tdata(i_data), .s_axis_tkeep(i_keep),
      .s_axis_tlast(i_last), .free_cells(free_cells), .s_pause(pause_out),
      .m_axis_tvalid(o_valid), .m_axis_tready(o_ready), .m_axis_tdata(o_data), .m_axis_tkeep(o_keep),
      .m_axis_tlast(o_last), .m_axis_tuser(o_user), .m_credit(credit), .m_pause(pause_in),
      .drop(drop), .mc_lost(), .lost(), .ecn(), .live(), .drained(drained), .in_use(), .credits()
  );

  logic [$clog2(PORTS+1)-1:0] unknown_now;
  always_comb begin
    unknown_now = '0;
    for (int p = 0; p < PORTS; p++) unknown_now = unknown_now + ($clog2(PORTS + 1))'(drop[p*4+:4] == DROP_UNKNOWN);
  end
  always_ff @(posedge clk) begin
    if (rst) cnt_unknown <= '0;
    else if (unknown_now != '0) cnt_unknown <= cnt_unknown + 32'(unknown_now);
  end

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    if (USED[p]) begin : g_link
      wire [CABLE_W-1:0] from_cable;
      assign from_cable = rx[p*CABLE_W+:CABLE_W];
      link #(
          .TAP({TAP, ".p", 8'(48 + p)})
      ) u_link (
          .clk(clk), .rst(rst), .cfg(link_cfg), .retrain_req(1'b0),
          .s_axis_tvalid(o_valid[p]), .s_axis_tready(o_ready[p]), .s_axis_tdata(o_data[p*512+:512]),
          .s_axis_tkeep(o_keep[p*64+:64]), .s_axis_tlast(o_last[p]), .s_axis_tuser(o_user[p]),
          .m_axis_tvalid(i_valid[p]), .m_axis_tdata(i_data[p*512+:512]), .m_axis_tkeep(i_keep[p*64+:64]),
          .m_axis_tlast(i_last[p]), .m_axis_tuser(), .free_cells({6'd0, free_cells[p*2+:2]}),
          .m_credit(credit[p*8+:8]), .s_pause(pause_out[p]), .m_pause(pause_in[p]),
          .up(port_up[p]), .drained(drained[p]), .tx(tx[p*CABLE_W+:CABLE_W]), .rx(from_cable),
          .credits(), .state(), .reason(), .ev(), .lost()
      );
    end else begin : g_idle
      assign tx[p*CABLE_W+:CABLE_W] = '0;
      assign i_valid[p] = 1'b0;
      assign i_last[p] = 1'b0;
      assign i_data[p*512+:512] = '0;
      assign i_keep[p*64+:64] = '0;
      assign o_ready[p] = 1'b1;
      assign port_up[p] = 1'b1;
      assign pause_in[p] = 1'b0;
      assign credit[p*8+:8] = 8'(o_valid[p]);  // what is lost there frees its cells
    end
  end

endmodule

`default_nettype wire
