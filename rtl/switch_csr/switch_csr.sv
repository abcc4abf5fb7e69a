// SPDX-License-Identifier: Apache-2.0
// Registers of the switch behind AXI4-Lite (spec/csr/switch.rdl, docs/switch_registers.md): configuration, table and
// group writes, state and counters of every port. Cycle figures: latency.csr and latency.switch_csr of
// spec/fabric.toml. From the cycle in which an access is accepted: 3 to the register, 5 to its answer and to a table or
// group write.
`default_nettype none

module switch_csr #(
    parameter int PORTS     = 8,     /// ports, 2..80; this and those below as of the switch
    parameter int LANES     = 1,     /// virtual lanes
    parameter int DATA_W    = 512,   /// bits of a beat
    parameter int CELLS     = 512,   /// cells of an input's buffer
    parameter int MAX_BEATS = 66,    /// beats of a largest frame
    parameter int EGRESS    = 128,   /// beats of an egress FIFO
    parameter int ADDR_W    = 10,    /// bits of a table index, 1..32
    parameter int GROUPS    = 64,    /// groups of next hops, a power of two, 2..65536
    parameter int ALLOC     = 1,     /// allocator
    parameter bit SAF       = 1'b0   /// store and forward
) (
    input  wire                       clk,              /// clock
    input  wire                       rst,              /// synchronous reset, active high
    // AXI4-Lite, 32 bits, byte addresses
    input  wire  [              16:0] s_axil_awaddr,    /// write address
    input  wire                       s_axil_awvalid,   /// write address offered
    output wire                       s_axil_awready,   /// write address taken
    input  wire  [              31:0] s_axil_wdata,     /// write data
    input  wire  [               3:0] s_axil_wstrb,     /// bytes to write
    input  wire                       s_axil_wvalid,    /// write data offered
    output wire                       s_axil_wready,    /// write data taken
    output wire  [               1:0] s_axil_bresp,     /// 0 OKAY, 2 SLVERR
    output wire                       s_axil_bvalid,    /// write response offered
    input  wire                       s_axil_bready,    /// write response taken
    input  wire  [              16:0] s_axil_araddr,    /// read address
    input  wire                       s_axil_arvalid,   /// read address offered
    output wire                       s_axil_arready,   /// read address taken
    output wire  [              31:0] s_axil_rdata,     /// read data
    output wire  [               1:0] s_axil_rresp,     /// 0 OKAY, 2 SLVERR
    output wire                       s_axil_rvalid,    /// read data offered
    input  wire                       s_axil_rready,    /// read data taken
    // to the switch; names and meaning of its ports
    output wire                       cfg_roce,         /// format
    output wire  [              31:0] cfg_prefix,       /// upper bits of a known destination
    output wire  [              15:0] cfg_seed,         /// initial value of the flow hash
    output wire                       cfg_pfc,          /// PFC instead of ready
    output wire  [              15:0] cfg_xoff,         /// cells from which on a lane is paused
    output wire  [              15:0] cfg_xon,          /// cells down to which the pause ends
    output wire  [              15:0] cfg_ecn,          /// frames in a queue from which on they are marked
    output wire                       cfg_credit_en,    /// outputs start frames by credit
    output wire  [              15:0] cfg_credit_init,  /// cells of a lane at the far end
    output wire  [               3:0] cfg_adapt_shift,  /// cells of a step of the adaptive level, log2
    output wire  [         PORTS-1:0] port_enable,      /// administration lets the port be used
    output logic                      tbl_we,           /// write a destination
    output logic [        ADDR_W-1:0] tbl_addr,         /// its index
    output logic                      tbl_valid,        /// entry in use
    output logic [$clog2(GROUPS)-1:0] tbl_group,        /// its group
    output logic                      grp_we,           /// write a group
    output logic [$clog2(GROUPS)-1:0] grp_addr,         /// its number
    output logic [               1:0] grp_mode,         /// 0 by flow, 1 spraying, 2 adaptive, 3 multicast
    output logic [         PORTS-1:0] grp_ports,        /// its set of ports
    // from the switch and its ports
    input  wire  [         PORTS-1:0] port_up,          /// the links' state
    input  wire  [         PORTS-1:0] live,             /// port is in use
    input  wire  [         PORTS-1:0] s_beat,           /// beat accepted
    input  wire  [         PORTS-1:0] s_last,           /// last beat accepted
    input  wire  [         PORTS-1:0] m_beat,           /// beat left
    input  wire  [         PORTS-1:0] m_last,           /// last beat left
    input  wire  [       PORTS*4-1:0] drop,             /// reason code of an input's decision
    input  wire  [         PORTS-1:0] lost,             /// frame lost on its way out
    input  wire  [         PORTS-1:0] mc_lost,          /// multicast frame of an input without a live output
    input  wire  [         PORTS-1:0] ecn,              /// frame of an output marked
    input  wire  [   PORTS*LANES-1:0] s_pause,          /// lane of an input is to be paused
    input  wire  [   PORTS*LANES-1:0] m_pause,          /// lane of an output is paused by the far end
    input  wire  [         PORTS-1:0] m_wait,           /// beat offered and not taken
    input  wire  [      PORTS*16-1:0] in_use,           /// cells of an input in use
    input  wire  [PORTS*LANES*16-1:0] credits           /// credits of an output's lanes
);
  localparam int GW = $clog2(GROUPS);

  // --- request bus: 1 cycle out, 1 cycle in the registers, 1 cycle back -------------------------------------------
  wire req, req_wr;
  wire [16:0] req_addr;
  wire [31:0] req_data, req_mask;
  wire [3:0] req_strb;
  logic ack, ack_err;
  logic [31:0] ack_data;

  axil_requests #(.ADDR_W(17)) u_axil (.*);

  assign req_mask = {{8{req_strb[3]}}, {8{req_strb[2]}}, {8{req_strb[1]}}, {8{req_strb[0]}}};

  wire q_wr, q_global;
  wire [15:0] q_addr;
  wire [31:0] q_data, q_mask;
  logic q_none;  // the access is to nothing

  always_ff @(posedge clk) q_none <= req && req_addr[16] && 32'(req_addr[15:8]) >= PORTS && !rst;

  // block PORTS: the global registers
  wire [PORTS-1:0] p_ack, p_err;
  wire [PORTS*32-1:0] p_data;
  wire g_ack, g_err;
  logic n_ack;
  wire [31:0] g_data;
  logic [31:0] any_data;

  always_comb begin
    any_data = g_data;
    for (int p = 0; p < PORTS; p++) any_data |= p_data[p*32+:32];
  end

  assign ack      = g_ack || n_ack || (|p_ack);
  assign ack_err  = g_err || n_ack || (|p_err);
  assign ack_data = any_data;

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    switch_csr_port #(
        .LANES(LANES)
    ) u_port (
        .clk(clk),
        .rst(rst),
        .req(req && req_addr[16] && 32'(req_addr[15:8]) == p),
        .req_wr(req_wr),
        .req_addr(req_addr[7:0]),
        .req_data(req_data),
        .req_mask(req_mask),
        .ack(p_ack[p]),
        .ack_err(p_err[p]),
        .ack_data(p_data[p*32+:32]),
        .port_up(port_up[p]),
        .live(live[p]),
        .port_enable(port_enable[p]),
        .s_beat(s_beat[p]),
        .s_last(s_last[p]),
        .m_beat(m_beat[p]),
        .m_last(m_last[p]),
        .drop(drop[p*4+:4]),
        .lost(lost[p]),
        .mc_lost(mc_lost[p]),
        .ecn(ecn[p]),
        .pausing(s_pause[p*LANES+:LANES] != '0),
        .paused(m_pause[p*LANES+:LANES] != '0),
        .waited(m_wait[p]),
        .in_use(in_use[p*16+:16]),
        .credits(credits[p*LANES*16+:LANES*16])
    );
  end

  // --- the global registers ---------------------------------------------------------------------------------------
  wire rd_ack, rd_err, wr_ack, wr_err, table_write, group_write;
  wire [31:0] rd_data;
  wire [31:0] table_index;
  wire [15:0] table_group, group_index;
  wire table_valid;
  wire [1:0] group_mode;
  /* verilator lint_off UNUSEDSIGNAL */  // bits beyond the switch's ports
  wire [95:0] group_ports;
  /* verilator lint_on UNUSEDSIGNAL */
  logic table_go, group_go;  // the register was written: its fields hold the new values

  wire table_fits = (table_index >> ADDR_W) == '0 && (table_group >> GW) == '0;
  wire group_fits = (group_index >> GW) == '0;

  always_ff @(posedge clk) begin
    n_ack     <= q_none && !rst;
    table_go  <= table_write && !rst;
    group_go  <= group_write && !rst;
    tbl_we    <= table_go && table_fits && !rst;
    tbl_addr  <= table_index[ADDR_W-1:0];
    tbl_valid <= table_valid;
    tbl_group <= table_group[GW-1:0];
    grp_we    <= group_go && group_fits && !rst;
    grp_addr  <= group_index[GW-1:0];
    grp_mode  <= group_mode;
    grp_ports <= group_ports[PORTS-1:0];
  end

  csr_stage #(.ADDR_W(16)) u_stage (
      .req(req && !req_addr[16]),
      .req_addr(req_addr[15:0]),
      .ack(g_ack),
      .ack_err(g_err),
      .ack_data(g_data),
      .q_req(q_global),
      .*
  );

  // --- the tables' copy -------------------------------------------------------------------------------------------
  wire rd_valid, rd_written;
  wire [15:0] rd_group;
  wire [1:0] rd_mode;
  wire [95:0] rd_ports;

  switch_csr_tables #(
      .PORTS(PORTS),
      .ADDR_W(ADDR_W),
      .GROUPS(GROUPS)
  ) u_tables (
      .look(req && !req_addr[16]),
      .*
  );

  // --- what is wrong with the configuration -----------------------------------------------------------------------
  wire [15:0] headroom;
  logic bad_headroom, bad_thresholds, bad_credit;

  always_ff @(posedge clk) begin
    bad_headroom   <= !rst && cfg_pfc && 32'(cfg_xoff) + 32'(headroom) > CELLS / LANES;
    bad_thresholds <= !rst && cfg_pfc && (cfg_xoff == '0 || cfg_xon > cfg_xoff);
    bad_credit     <= !rst && cfg_credit_en && 32'(cfg_credit_init) <= MAX_BEATS;
  end

  switch_global_regs u_global (
      .clk(clk),
      .rst(rst),
      .s_cpuif_req(q_global),
      .s_cpuif_req_is_wr(q_wr),
      .s_cpuif_addr(q_addr),
      .s_cpuif_wr_data(q_data),
      .s_cpuif_wr_biten(q_mask),
      .s_cpuif_req_stall_wr(),
      .s_cpuif_req_stall_rd(),
      .s_cpuif_rd_ack(rd_ack),
      .s_cpuif_rd_err(rd_err),
      .s_cpuif_rd_data(rd_data),
      .s_cpuif_wr_ack(wr_ack),
      .s_cpuif_wr_err(wr_err),
      .hwif_in_SHAPE_ports_next(8'(PORTS)),
      .hwif_in_SHAPE_lanes_next(4'(LANES)),
      .hwif_in_SHAPE_alloc_next(3'(ALLOC)),
      .hwif_in_SHAPE_saf_next(SAF),
      .hwif_in_SHAPE_data_w_next(16'(DATA_W)),
      .hwif_in_BUFFERS_cells_next(16'(CELLS)),
      .hwif_in_BUFFERS_egress_next(16'(EGRESS)),
      .hwif_in_TABLES_groups_next(16'(GROUPS)),
      .hwif_in_TABLES_addr_w_next(6'(ADDR_W)),
      .hwif_in_TABLES_max_beats_next(8'(MAX_BEATS)),
      .hwif_in_CONFIG_ERROR_headroom_hwset(bad_headroom),
      .hwif_in_CONFIG_ERROR_thresholds_hwset(bad_thresholds),
      .hwif_in_CONFIG_ERROR_credit_hwset(bad_credit),
      .hwif_in_TABLE_READ_group_next(rd_group),
      .hwif_in_TABLE_READ_valid_next(rd_valid),
      .hwif_in_GROUP_READ_MODE_mode_next(rd_mode),
      .hwif_in_GROUP_READ_MODE_written_next(rd_written),
      .hwif_in_GROUP_READ_PORTS0_ports_next(rd_ports[31:0]),
      .hwif_in_GROUP_READ_PORTS1_ports_next(rd_ports[63:32]),
      .hwif_in_GROUP_READ_PORTS2_ports_next(rd_ports[95:64]),
      .hwif_out_HEADROOM_cells_value(headroom),
      .hwif_in_TABLE_INDEX_index_incr(table_go),
      .hwif_in_GROUP_INDEX_index_incr(group_go),
      .hwif_in_REFUSED_count_incr((table_go && !table_fits) || (group_go && !group_fits)),
      .hwif_out_MODE_roce_value(cfg_roce),
      .hwif_out_MODE_pfc_value(cfg_pfc),
      .hwif_out_MODE_credit_en_value(cfg_credit_en),
      .hwif_out_PREFIX_prefix_value(cfg_prefix),
      .hwif_out_SEED_seed_value(cfg_seed),
      .hwif_out_PAUSE_xoff_value(cfg_xoff),
      .hwif_out_PAUSE_xon_value(cfg_xon),
      .hwif_out_ECN_frames_value(cfg_ecn),
      .hwif_out_CREDIT_cells_value(cfg_credit_init),
      .hwif_out_ADAPT_shift_value(cfg_adapt_shift),
      .hwif_out_TABLE_INDEX_index_value(table_index),
      .hwif_out_TABLE_ENTRY_group_value(table_group),
      .hwif_out_TABLE_ENTRY_valid_value(table_valid),
      .hwif_out_TABLE_ENTRY_valid_swmod(table_write),
      .hwif_out_GROUP_INDEX_index_value(group_index),
      .hwif_out_GROUP_MODE_mode_value(group_mode),
      .hwif_out_GROUP_MODE_mode_swmod(group_write),
      .hwif_out_GROUP_PORTS0_ports_value(group_ports[31:0]),
      .hwif_out_GROUP_PORTS1_ports_value(group_ports[63:32]),
      .hwif_out_GROUP_PORTS2_ports_value(group_ports[95:64])
  );
endmodule

`default_nettype wire
