// SPDX-License-Identifier: Apache-2.0
// One end of a cable with its registers: what a chip instantiates. AXI4-Lite, the streams, the cable, and what the FEC
// decoder tells; the link's configuration comes from registers alone. Frames, latencies and rules are those of
// rtl/link/link.sv (docs/link.md), the registers' those of link_csr.sv.
`default_nettype none

module link_top
  import microhop_pkg::*;
#(
    parameter int DATA_W = 512,  /// stream width, bits: 512 (400 Gb/s) or 1024 (800 Gb/s)
    parameter int LANES  = 1,    /// virtual lanes, 1..16; with the RoCE profile at most 8
    parameter     TAP    = "",   /// prefix of the stage stamps; empty: none
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire                clk,             /// clock
    input  wire                rst,             /// synchronous reset, active high
    // registers: AXI4-Lite, 32 bits, byte addresses
    input  wire [        11:0] s_axil_awaddr,   /// write address
    input  wire                s_axil_awvalid,  /// write address offered
    output wire                s_axil_awready,  /// write address taken
    input  wire [        31:0] s_axil_wdata,    /// write data
    input  wire [         3:0] s_axil_wstrb,    /// bytes to write
    input  wire                s_axil_wvalid,   /// write data offered
    output wire                s_axil_wready,   /// write data taken
    output wire [         1:0] s_axil_bresp,    /// 0 OKAY, 2 SLVERR
    output wire                s_axil_bvalid,   /// write response offered
    input  wire                s_axil_bready,   /// write response taken
    input  wire [        11:0] s_axil_araddr,   /// read address
    input  wire                s_axil_arvalid,  /// read address offered
    output wire                s_axil_arready,  /// read address taken
    output wire [        31:0] s_axil_rdata,    /// read data
    output wire [         1:0] s_axil_rresp,    /// 0 OKAY, 2 SLVERR
    output wire                s_axil_rvalid,   /// read data offered
    input  wire                s_axil_rready,   /// read data taken
    output wire                degraded,        /// the FEC corrects or fails too much
    // the core
    input  wire                s_axis_tvalid,   /// frames from the core
    output wire                s_axis_tready,   /// taken
    input  wire [  DATA_W-1:0] s_axis_tdata,    /// bytes, first one lowest
    input  wire [      BB-1:0] s_axis_tkeep,    /// valid bytes
    input  wire                s_axis_tlast,    /// last beat of a frame
    input  wire                s_axis_tuser,    /// with the last beat: the frame is damaged
    output wire                m_axis_tvalid,   /// frames to the core, which has room
    output wire [  DATA_W-1:0] m_axis_tdata,    /// bytes
    output wire [      BB-1:0] m_axis_tkeep,    /// valid bytes
    output wire                m_axis_tlast,    /// last beat of a frame
    output wire                m_axis_tuser,    /// with the last beat: the frame is damaged
    input  wire [ LANES*8-1:0] free_cells,      /// cells of each lane that the core freed in this cycle
    output wire [ LANES*8-1:0] m_credit,        /// cells of each lane that came free at the far end
    input  wire [   LANES-1:0] s_pause,         /// RoCE: the core wants the far end to pause these lanes
    output wire [   LANES-1:0] m_pause,         /// RoCE: the far end wants these lanes paused
    output wire                up,              /// the core may send and receive
    input  wire                drained,         /// the core is empty: a fresh start may be made
    output wire [LANES*16-1:0] credits,         /// cells of each lane free at the far end, as known here
    output wire [         1:0] state,           /// 0 OFF, 1 INIT, 2 UP, 3 RETRAIN
    output wire [         7:0] reason,          /// why the link is not up (docs/link.md, B10)
    output wire [        19:0] ev,              /// events, as the counters see them
    output wire [        10:0] lost,            /// with ev[18]: segments whose fate is unknown
    // the cable and the FEC decoder in front of it
    output wire [      CW-1:0] tx,              /// to the cable: {cable_side_t, keep, data}
    input  wire [      CW-1:0] rx,              /// from the cable
    input  wire                fec_valid,       /// a codeword (docs/link.md, E6)
    input  wire [         4:0] fec_symbols,     /// its wrong symbols, corrected
    input  wire                fec_failed       /// it could not be corrected
);
  wire [LINK_CFG_W-1:0] cfg;
  wire retrain_req;

  link_csr #(.LANES(LANES), .DATA_W(DATA_W)) u_csr (.fec_failed(fec_failed), .*);
  link #(.DATA_W(DATA_W), .LANES(LANES), .TAP(TAP)) u_link (.retrain_req(retrain_req), .*);
endmodule

`default_nettype wire
