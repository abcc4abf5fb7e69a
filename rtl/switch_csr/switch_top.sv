// SPDX-License-Identifier: Apache-2.0
// The switch with its registers: what a chip instantiates. AXI4-Lite, the links' state and the streams; everything
// else the switch needs comes from registers. A port may be used while its link is up and its CTRL.enable is set.
// Frames, latencies and rules are those of rtl/switch/switch.sv.
`default_nettype none

module switch_top
  import spec_pkg::*;
#(
    parameter int PORTS      = 8,                    /// ports, 2..80
    parameter int LANES      = 1,                    /// virtual lanes, 1..8
    parameter int DATA_W     = 512,                  /// bits of a beat, 512 or 1024
    parameter int CELLS      = LINK_BUFFER_CELLS,    /// cells of an input's buffer
    parameter int MAX_BEATS  = (FRAME_MAX_BEATS * 512 + DATA_W - 1) / DATA_W,  /// beats of a largest frame
    parameter int EGRESS     = SWITCH_EGRESS_BEATS,  /// beats of an egress FIFO
    parameter int ADDR_W     = 10,                   /// bits of a table index
    parameter int GROUPS     = 64,                   /// groups of next hops
    parameter int ALLOC      = 1,                    /// 0 round robin, 1..4 iSLIP iterations, 5 wavefront
    parameter bit SAF        = 1'b0,                 /// 1 store and forward, 0 cut through
    parameter     TAP_PREFIX = ""                    /// prefix of the inner stage stamps; empty: none
) (
    input  wire                        clk,             /// clock
    input  wire                        rst,             /// synchronous reset, active high
    // registers: AXI4-Lite, 32 bits, byte addresses
    input  wire  [               16:0] s_axil_awaddr,   /// write address
    input  wire                        s_axil_awvalid,  /// write address offered
    output wire                        s_axil_awready,  /// write address taken
    input  wire  [               31:0] s_axil_wdata,    /// write data
    input  wire  [                3:0] s_axil_wstrb,    /// bytes to write
    input  wire                        s_axil_wvalid,   /// write data offered
    output wire                        s_axil_wready,   /// write data taken
    output wire  [                1:0] s_axil_bresp,    /// 0 OKAY, 2 SLVERR
    output wire                        s_axil_bvalid,   /// write response offered
    input  wire                        s_axil_bready,   /// write response taken
    input  wire  [               16:0] s_axil_araddr,   /// read address
    input  wire                        s_axil_arvalid,  /// read address offered
    output wire                        s_axil_arready,  /// read address taken
    output wire  [               31:0] s_axil_rdata,    /// read data
    output wire  [                1:0] s_axil_rresp,    /// 0 OKAY, 2 SLVERR
    output wire                        s_axil_rvalid,   /// read data offered
    input  wire                        s_axil_rready,   /// read data taken
    // ports
    input  wire  [          PORTS-1:0] port_up_i,       /// link is up
    input  wire  [          PORTS-1:0] s_axis_tvalid,   /// beat offered
    output wire  [          PORTS-1:0] s_axis_tready,   /// beat accepted
    input  wire  [   PORTS*DATA_W-1:0] s_axis_tdata,    /// bytes, first one lowest
    input  wire  [ PORTS*DATA_W/8-1:0] s_axis_tkeep,    /// valid bytes
    input  wire  [          PORTS-1:0] s_axis_tlast,    /// last beat of a frame
    output wire  [  PORTS*LANES*2-1:0] free_cells,      /// cells given back in this cycle, by input and lane
    output wire  [    PORTS*LANES-1:0] s_pause,         /// PFC: lane of an input is to be paused
    output wire  [          PORTS-1:0] m_axis_tvalid,   /// beat offered
    input  wire  [          PORTS-1:0] m_axis_tready,   /// beat taken
    output wire  [   PORTS*DATA_W-1:0] m_axis_tdata,    /// bytes
    output wire  [ PORTS*DATA_W/8-1:0] m_axis_tkeep,    /// valid bytes
    output wire  [          PORTS-1:0] m_axis_tlast,    /// last beat of a frame
    output wire  [          PORTS-1:0] m_axis_tuser,    /// with tlast: the frame is damaged
    input  wire  [  PORTS*LANES*8-1:0] m_credit,        /// cells given back by the far end, by output and lane
    input  wire  [    PORTS*LANES-1:0] m_pause,         /// PFC: lane of an output is paused by the far end
    // events, as the counters see them
    output wire  [        PORTS*4-1:0] drop,            /// reason code of an input's decision, 0 none
    output wire  [          PORTS-1:0] mc_lost,         /// multicast frame of an input without a live output
    output wire  [          PORTS-1:0] lost,            /// frame lost at a dead output
    output wire  [          PORTS-1:0] ecn,             /// frame of an output marked
    output wire  [          PORTS-1:0] live,            /// port is in use
    output wire  [          PORTS-1:0] drained          /// nothing of the port is inside: its link may come up
);
  wire cfg_roce, cfg_pfc, cfg_credit_en, tbl_we, tbl_valid, grp_we;
  wire [31:0] cfg_prefix;
  wire [15:0] cfg_seed, cfg_xoff, cfg_xon, cfg_ecn, cfg_credit_init;
  wire [3:0] cfg_adapt_shift;
  wire [ADDR_W-1:0] tbl_addr;
  wire [$clog2(GROUPS)-1:0] tbl_group, grp_addr;
  wire [1:0] grp_mode;
  wire [PORTS-1:0] grp_ports, port_enable, port_up, s_beat, s_last, m_beat, m_last, m_wait;
  wire [PORTS*16-1:0] in_use;
  wire [PORTS*LANES*16-1:0] credits;

  assign s_beat  = s_axis_tvalid & s_axis_tready;
  assign s_last  = s_beat & s_axis_tlast;
  assign m_beat  = m_axis_tvalid & m_axis_tready;
  assign m_last  = m_beat & m_axis_tlast;
  assign m_wait  = m_axis_tvalid & ~m_axis_tready;
  assign port_up = port_up_i & port_enable;

  switch_csr #(
      .PORTS(PORTS),
      .LANES(LANES),
      .DATA_W(DATA_W),
      .CELLS(CELLS),
      .MAX_BEATS(MAX_BEATS),
      .EGRESS(EGRESS),
      .ADDR_W(ADDR_W),
      .GROUPS(GROUPS),
      .ALLOC(ALLOC),
      .SAF(SAF)
  ) u_csr (
      .port_up(port_up_i),
      .*
  );

  switch #(
      .PORTS(PORTS),
      .LANES(LANES),
      .DATA_W(DATA_W),
      .CELLS(CELLS),
      .MAX_BEATS(MAX_BEATS),
      .EGRESS(EGRESS),
      .ADDR_W(ADDR_W),
      .GROUPS(GROUPS),
      .ALLOC(ALLOC),
      .SAF(SAF),
      .TAP_PREFIX(TAP_PREFIX)
  ) u_switch (
      .*
  );
endmodule

`default_nettype wire
