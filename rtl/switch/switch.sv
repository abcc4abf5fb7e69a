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
    output wire  [           PORTS-1:0] live              /// port is in use (O1)
);
endmodule

`default_nettype wire
