// SPDX-License-Identifier: Apache-2.0
// The switch: table lookup, virtual output queues, round-robin allocator, cut-through crossbar.
// Latency, alone and with room everywhere: 8 cycles from s_axis to m_axis, first beat to first beat
// (spec/fabric.toml, latency.switch). One beat a cycle and port; one cycle between two frames of an input or
// output. Order kept from each input to each output. Rules X1 to X9 of README.md.
`default_nettype none

module switch
  import spec_pkg::*;
#(
    parameter int PORTS      = 8,                    /// ports, 2..8
    parameter int CELLS      = LINK_BUFFER_CELLS,    /// cells of an input's buffer; less only to estimate timing
    parameter int EGRESS     = SWITCH_EGRESS_BEATS,  /// beats of an egress FIFO
    parameter int ADDR_W     = 10,                   /// bits of a table index; less only to estimate timing
    parameter     TAP_PREFIX = ""                    /// prefix of the inner stage stamps; empty: none
) (
    input  wire                      clk,               /// clock
    input  wire                      rst,               /// synchronous reset, active high
    input  wire                      cfg_roce,          /// 0 native, 1 RoCEv2 over IPv4; steady outside reset
    input  wire  [             21:0] cfg_prefix,        /// IPv4 bits 31:10, or DLID bits 15:10 in its low 6
    input  wire                      tbl_we,            /// table write
    input  wire  [       ADDR_W-1:0] tbl_addr,          /// destination, low 10 bits
    input  wire                      tbl_valid,         /// entry in use
    input  wire  [$clog2(PORTS)-1:0] tbl_port,          /// output port
    input  wire  [        PORTS-1:0] s_axis_tvalid,     /// frames in, by port
    output wire  [        PORTS-1:0] s_axis_tready,     /// a cell is free
    input  wire  [    PORTS*512-1:0] s_axis_tdata,      /// bytes, first one lowest
    input  wire  [     PORTS*64-1:0] s_axis_tkeep,      /// valid bytes
    input  wire  [        PORTS-1:0] s_axis_tlast,      /// last beat of a frame
    output wire  [        PORTS-1:0] m_axis_tvalid,     /// frames out, by port
    input  wire  [        PORTS-1:0] m_axis_tready,     /// taken
    output wire  [    PORTS*512-1:0] m_axis_tdata,      /// bytes
    output wire  [     PORTS*64-1:0] m_axis_tkeep,      /// valid bytes
    output wire  [        PORTS-1:0] m_axis_tlast,      /// last beat of a frame
    output wire  [      PORTS*8-1:0] free_cells,        /// cells given back in this cycle, by input
    output logic [             31:0] cnt_drop_unknown,  /// frames dropped: unknown destination, modulo 2^32
    output logic [             31:0] cnt_drop_long      /// frames cut at FRAME_MAX_BEATS, modulo 2^32
);

  wire [PORTS*PORTS-1:0] req;  // bit i*PORTS+o
  wire [PORTS*PORTS-1:0] acc;
  wire [PORTS*PORTS-1:0] taken;
  wire [PORTS*PORTS-1:0] x_dst;
  wire [PORTS-1:0] done, out_ok, drop_unknown, drop_long, x_last;
  wire [PORTS*512-1:0] x_data;
  wire [PORTS*64-1:0] x_keep;

  for (genvar i = 0; i < PORTS; i++) begin : g_in
    switch_input #(
        .PORTS (PORTS),
        .CELLS (CELLS),
        .ADDR_W(ADDR_W),
        .TAP   (TAP_PREFIX == "" ? "" : {TAP_PREFIX, ".voq", 8'(48 + i)})
    ) u_in (
        .clk          (clk),
        .rst          (rst),
        .cfg_roce     (cfg_roce),
        .cfg_prefix   (cfg_prefix),
        .tbl_we       (tbl_we),
        .tbl_addr     (tbl_addr),
        .tbl_valid    (tbl_valid),
        .tbl_port     (tbl_port),
        .s_axis_tvalid(s_axis_tvalid[i]),
        .s_axis_tready(s_axis_tready[i]),
        .s_axis_tdata (s_axis_tdata[i*512+:512]),
        .s_axis_tkeep (s_axis_tkeep[i*64+:64]),
        .s_axis_tlast (s_axis_tlast[i]),
        .req          (req[i*PORTS+:PORTS]),
        .acc          (acc[i*PORTS+:PORTS]),
        .taken        (taken[i*PORTS+:PORTS]),
        .done         (done[i]),
        .x_dst        (x_dst[i*PORTS+:PORTS]),
        .x_data       (x_data[i*512+:512]),
        .x_keep       (x_keep[i*64+:64]),
        .x_last       (x_last[i]),
        .free_cells   (free_cells[i*8+:8]),
        .drop_unknown (drop_unknown[i]),
        .drop_long    (drop_long[i])
    );
  end

  switch_alloc #(
      .PORTS(PORTS)
  ) u_alloc (
      .clk   (clk),
      .rst   (rst),
      .req   (req),
      .out_ok(out_ok),
      .acc   (acc)
  );

  for (genvar o = 0; o < PORTS; o++) begin : g_out
    wire [PORTS-1:0] acc_o, taken_o, hit_o;  // column o, by input
    for (genvar i = 0; i < PORTS; i++) begin : g_col
      assign acc_o[i]   = acc[i*PORTS+o];
      assign taken_o[i] = taken[i*PORTS+o];
      assign hit_o[i]   = x_dst[i*PORTS+o];
    end
    switch_output #(
        .PORTS(PORTS),
        .DEPTH(EGRESS),
        .TAP  (TAP_PREFIX == "" ? "" : {TAP_PREFIX, ".xbar", 8'(48 + o)})
    ) u_out (
        .clk          (clk),
        .rst          (rst),
        .acc          (acc_o),
        .taken        (taken_o),
        .done         (done),
        .ok           (out_ok[o]),
        .x_hit        (hit_o),
        .x_data       (x_data),
        .x_keep       (x_keep),
        .x_last       (x_last),
        .m_axis_tvalid(m_axis_tvalid[o]),
        .m_axis_tready(m_axis_tready[o]),
        .m_axis_tdata (m_axis_tdata[o*512+:512]),
        .m_axis_tkeep (m_axis_tkeep[o*64+:64]),
        .m_axis_tlast (m_axis_tlast[o])
    );
  end

  // ---- counters ---------------------------------------------------------------------------------------
  logic [3:0] unknown_now, long_now;
  always_comb begin
    unknown_now = '0;
    long_now    = '0;
    for (int i = 0; i < PORTS; i++) begin
      unknown_now = unknown_now + 4'(drop_unknown[i]);
      long_now    = long_now + 4'(drop_long[i]);
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      cnt_drop_unknown <= '0;
      cnt_drop_long    <= '0;
    end else begin
      if (unknown_now != '0) cnt_drop_unknown <= cnt_drop_unknown + 32'(unknown_now);
      if (long_now != '0) cnt_drop_long <= cnt_drop_long + 32'(long_now);
    end
  end

endmodule

`default_nettype wire
