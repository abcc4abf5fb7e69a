// SPDX-License-Identifier: Apache-2.0
// A switch with a link at each port in use; the other ports are idle.
// Cable sides are flat vectors of CABLE_W bits a port (cable_t).
`default_nettype none

module switch_node
  import microhop_pkg::*;
#(
    parameter int PORTS = 8,  /// ports of the switch
    parameter logic [PORTS-1:0] USED = '1,  /// ports with a link
    parameter TAP = "switch"  /// prefix of the stage stamps
) (
    input  wire                     clk,         /// clock
    input  wire                     rst,         /// synchronous reset, active high
    input  wire                     cfg_roce,    /// 0 native, 1 RoCEv2
    input  wire  [21:0]             cfg_prefix,  /// upper 22 bits that a known destination has
    input  wire  [LINK_CFG_W-1:0]   cfg_link,    /// link_cfg_t of every port
    input  wire                     tbl_we,      /// table write
    input  wire  [9:0]              tbl_addr,    /// destination, low 10 bits
    input  wire                     tbl_valid,   /// entry in use
    input  wire  [$clog2(PORTS)-1:0] tbl_port,   /// output port
    /* verilator lint_off UNUSEDSIGNAL */  // the bits of idle ports
    input  wire  [PORTS*CABLE_W-1:0] rx,         /// from the cables
    /* verilator lint_on UNUSEDSIGNAL */
    output wire  [PORTS*CABLE_W-1:0] tx,         /// to the cables
    output wire  [31:0]             cnt_unknown, /// frames dropped: unknown destination
    output wire  [31:0]             cnt_long     /// frames cut at the largest length
);

  /* verilator lint_off UNUSEDSIGNAL */  // the bits of idle ports
  wire [PORTS-1:0]     i_valid, i_last, o_valid, o_ready, o_last;
  wire [PORTS*512-1:0] i_data, o_data;
  wire [PORTS*64-1:0]  i_keep, o_keep;
  wire [PORTS*8-1:0]   free_cells;
  /* verilator lint_on UNUSEDSIGNAL */

  switch #(
      .PORTS(PORTS),
      .TAP_PREFIX(TAP)
  ) u_switch (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .cfg_prefix(cfg_prefix),
      .tbl_we(tbl_we), .tbl_addr(tbl_addr), .tbl_valid(tbl_valid), .tbl_port(tbl_port),
      .s_axis_tvalid(i_valid), .s_axis_tready(), .s_axis_tdata(i_data), .s_axis_tkeep(i_keep),
      .s_axis_tlast(i_last),
      .m_axis_tvalid(o_valid), .m_axis_tready(o_ready), .m_axis_tdata(o_data), .m_axis_tkeep(o_keep),
      .m_axis_tlast(o_last),
      .free_cells(free_cells), .cnt_drop_unknown(cnt_unknown), .cnt_drop_long(cnt_long)
  );

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    if (USED[p]) begin : g_link
      cable_t from_cable, to_cable;
      assign from_cable = rx[p*CABLE_W+:CABLE_W];
      assign tx[p*CABLE_W+:CABLE_W] = to_cable;
      link #(
          .TAP({TAP, ".p", 8'(48 + p)})
      ) u_link (
          .clk(clk), .rst(rst), .cfg(cfg_link),
          .s_axis_tvalid(o_valid[p]), .s_axis_tready(o_ready[p]), .s_axis_tdata(o_data[p*512+:512]),
          .s_axis_tkeep(o_keep[p*64+:64]), .s_axis_tlast(o_last[p]),
          .m_axis_tvalid(i_valid[p]), .m_axis_tdata(i_data[p*512+:512]), .m_axis_tkeep(i_keep[p*64+:64]),
          .m_axis_tlast(i_last[p]), .free_cells(free_cells[p*8+:8]),
          .tx_tvalid(to_cable.tvalid), .tx_tdata(to_cable.tdata), .tx_tkeep(to_cable.tkeep),
          .tx_tlast(to_cable.tlast), .tx_ctl_valid(to_cable.ctl_valid), .tx_ctl_cf(to_cable.ctl_cf),
          .rx_tvalid(from_cable.tvalid), .rx_tdata(from_cable.tdata), .rx_tkeep(from_cable.tkeep),
          .rx_tlast(from_cable.tlast), .rx_ctl_valid(from_cable.ctl_valid), .rx_ctl_cf(from_cable.ctl_cf),
          .credits(), .cnt_tx_frames(), .cnt_rx_frames()
      );
    end else begin : g_idle
      assign tx[p*CABLE_W+:CABLE_W] = '0;
      assign i_valid[p] = 1'b0;
      assign i_last[p] = 1'b0;
      assign i_data[p*512+:512] = '0;
      assign i_keep[p*64+:64] = '0;
      assign o_ready[p] = 1'b1;
    end
  end

endmodule

`default_nettype wire
