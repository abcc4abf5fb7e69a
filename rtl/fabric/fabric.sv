// SPDX-License-Identifier: Apache-2.0
// Fabric: NICs A and B, the switches leaf 0, spine and leaf 1, and their cables.
//
//   cfg_topology 0   A ══════════════════════════════ B          back to back
//                1   A ═ leaf0.0 [leaf 0] leaf0.1 ═══ B          one hop
//                2   A ═ leaf0.0 [leaf 0] leaf0.7 ═ spine.0 [spine] spine.1 ═ leaf1.7 [leaf 1] leaf1.0 ═ B
//
// Port 7 of a leaf goes up to the spine. A patch panel, without a register, puts the NICs' cables where
// the topology says. Each cable delays by cfg_cable cycles each way. Unused ports of the switches are idle.
`default_nettype none

module fabric
  import microhop_pkg::*;
#(
    parameter bit ERRORS = 1'b0  /// the cables can have errors
) (
    input  wire                         clk,           /// clock
    input  wire                         rst,           /// synchronous reset, active high
    input  wire  [1:0]                  cfg_topology,  /// 0 direct, 1 one hop, 2 three hops
    input  wire  [7:0]                  cfg_cable,     /// delay of every cable, cycles, at least 1
    input  wire  [LINK_CFG_W-1:0]       cfg_link,      /// link_cfg_t of every cable end
    input  wire                         cfg_err_on,    /// codewords fail on every cable
    input  wire  [63:0]                 cfg_err_seed,  /// seed of the errors
    input  wire                         thr_we,        /// phy_errors: a threshold is written
    input  wire  [4:0]                  thr_addr,      /// which
    input  wire  [63:0]                 thr_data,      /// its value
    input  wire                         cfg_roce,      /// 0 native, 1 RoCEv2
    input  wire  [21:0]                 cfg_prefix,    /// upper 22 bits of every known destination
    // table writes: one switch at a time
    input  wire  [2:0]                  tbl_we,        /// one bit a switch: leaf 0, spine, leaf 1
    input  wire  [9:0]                  tbl_addr,      /// destination, low 10 bits
    input  wire                         tbl_valid,     /// entry in use
    input  wire  [2:0]                  tbl_port,      /// output port
    // the two NICs, index 0 = A, 1 = B
    input  wire  [2*DOORBELL_CFG_W-1:0] cfg_doorbell,  /// doorbell_cfg_t
    input  wire  [2*RDMA_CFG_W-1:0]     cfg_rdma,      /// rdma_cfg_t
    input  wire  [2*4*MR_W-1:0]         cfg_mr,        /// four mr_t each
    input  wire  [2*WIRE_CFG_W-1:0]     cfg_wire,      /// wire_cfg_t
    input  wire  [2*12-1:0]             s_uar_awaddr,  /// UAR write: offset in the page
    input  wire  [2*8-1:0]              s_uar_awlen,   /// UAR write: beats - 1
    input  wire  [1:0]                  s_uar_awvalid, /// UAR write: address valid
    output wire  [1:0]                  s_uar_awready, /// UAR write: address accepted
    input  wire  [2*512-1:0]            s_uar_wdata,   /// UAR write: data
    input  wire  [2*64-1:0]             s_uar_wstrb,   /// UAR write: byte strobes
    input  wire  [1:0]                  s_uar_wlast,   /// UAR write: last beat
    input  wire  [1:0]                  s_uar_wvalid,  /// UAR write: data valid
    output wire  [1:0]                  s_uar_wready,  /// UAR write: data accepted
    output wire  [2*2-1:0]              s_uar_bresp,   /// UAR write: response
    output wire  [1:0]                  s_uar_bvalid,  /// UAR write: response valid
    input  wire  [1:0]                  s_uar_bready,  /// UAR write: response accepted
    output wire  [2*4-1:0]              m_axi_arid,    /// memory read: ID
    output wire  [2*64-1:0]             m_axi_araddr,  /// memory read: address
    output wire  [2*8-1:0]              m_axi_arlen,   /// memory read: beats - 1
    output wire  [1:0]                  m_axi_arvalid, /// memory read: address valid
    input  wire  [1:0]                  m_axi_arready, /// memory read: address accepted
    input  wire  [2*4-1:0]              m_axi_rid,     /// memory read: ID of the data
    input  wire  [2*512-1:0]            m_axi_rdata,   /// memory read: data
    input  wire  [2*2-1:0]              m_axi_rresp,   /// memory read: response
    input  wire  [1:0]                  m_axi_rlast,   /// memory read: last beat
    input  wire  [1:0]                  m_axi_rvalid,  /// memory read: data valid
    output wire  [2*4-1:0]              m_axi_awid,    /// memory write: ID
    output wire  [2*64-1:0]             m_axi_awaddr,  /// memory write: address
    output wire  [2*8-1:0]              m_axi_awlen,   /// memory write: beats - 1
    output wire  [1:0]                  m_axi_awvalid, /// memory write: address valid
    input  wire  [1:0]                  m_axi_awready, /// memory write: address accepted
    output wire  [2*512-1:0]            m_axi_wdata,   /// memory write: data
    output wire  [2*64-1:0]             m_axi_wstrb,   /// memory write: byte strobes
    output wire  [1:0]                  m_axi_wlast,   /// memory write: last beat
    output wire  [1:0]                  m_axi_wvalid,  /// memory write: data valid
    input  wire  [1:0]                  m_axi_wready,  /// memory write: data accepted
    input  wire  [2*4-1:0]              m_axi_bid,     /// memory write: response ID
    input  wire  [2*2-1:0]              m_axi_bresp,   /// memory write: response
    input  wire  [1:0]                  m_axi_bvalid,  /// memory write: response valid
    output wire  [1:0]                  m_axi_bready,  /// memory write: response accepted
    // what the NICs put on their cables, for capture
    output wire  [1:0]                  mon_tvalid,    /// beat leaves the NIC
    output wire  [2*512-1:0]            mon_tdata,     /// its data
    output wire  [2*64-1:0]             mon_tkeep,     /// its valid bytes
    output wire  [1:0]                  mon_tlast,     /// last of the frame
    // status
    output wire  [1:0]                  halted,        /// send queue stopped on an error
    output wire  [2*3-1:0]              qp_state,      /// queue pair states
    output wire  [2*32-1:0]             cnt_dropped,   /// frames dropped by a NIC, all reasons
    output wire  [3*32-1:0]             cnt_unknown    /// frames dropped by a switch: unknown destination
);

  localparam int LEAF = 0, SPINE = 1, LEAF1 = 2;  // index of a switch
  localparam int CABLE_W = CABLE_SIDE_W + 64 + 512;

  /* verilator lint_off UNUSEDSIGNAL */  // the links have the rest
  link_cfg_t link_cfg;
  /* verilator lint_on UNUSEDSIGNAL */
  assign link_cfg = cfg_link;

  wire direct = cfg_topology == 2'd0;
  wire one_hop = cfg_topology == 2'd1;

  // The NICs' cables: near end (NIC) and far end (network).
  wire [CABLE_W-1:0] nic_tx   [2];  // what NIC i sends
  wire [CABLE_W-1:0] up       [2];  // the same behind its cable
  wire [CABLE_W-1:0] down     [2];  // what the network sends to NIC i
  wire [CABLE_W-1:0] down_far [2];  // the same behind its cable

  /* verilator lint_off UNUSEDSIGNAL */  // the bits of idle ports
  wire [8*CABLE_W-1:0] leaf0_rx, leaf0_tx, spine_rx, spine_tx, leaf1_rx, leaf1_tx;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [CABLE_W-1:0] leaf0_to_spine, spine_to_leaf0, leaf1_to_spine, spine_to_leaf1;

  // Patch panel
  assign down[0] = leaf0_tx[0*CABLE_W+:CABLE_W];
  assign down[1] = one_hop ? leaf0_tx[1*CABLE_W+:CABLE_W] : leaf1_tx[0*CABLE_W+:CABLE_W];
  assign leaf0_rx = {
    spine_to_leaf0, {5 * CABLE_W{1'b0}}, one_hop ? up[1] : {CABLE_W{1'b0}}, direct ? {CABLE_W{1'b0}} : up[0]
  };
  assign spine_rx = {{6 * CABLE_W{1'b0}}, leaf1_to_spine, leaf0_to_spine};
  assign leaf1_rx = {spine_to_leaf1, {6 * CABLE_W{1'b0}}, cfg_topology == 2'd2 ? up[1] : {CABLE_W{1'b0}}};

  for (genvar i = 0; i < 2; i++) begin : g_nic
    localparam int OTHER = 1 - i;
    fabric_cable #(.ERRORS(ERRORS), .SALT(64'(2 * i))) u_up (
        .clk(clk), .rst(rst), .cfg_delay(cfg_cable), .cfg_err_on(cfg_err_on), .cfg_err_kp4(link_cfg.kp4),
        .cfg_err_seed(cfg_err_seed), .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
        .s(nic_tx[i]), .m(up[i]));
    fabric_cable #(.ERRORS(ERRORS), .SALT(64'(2 * i + 1))) u_down (
        .clk(clk), .rst(rst), .cfg_delay(cfg_cable), .cfg_err_on(cfg_err_on), .cfg_err_kp4(link_cfg.kp4),
        .cfg_err_seed(cfg_err_seed), .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
        .s(down[i]), .m(down_far[i]));

    /* verilator lint_off UNUSEDSIGNAL */  // what a monitor does not show
    cable_side_t to_side;
    /* verilator lint_on UNUSEDSIGNAL */
    wire [31:0] drop_fcs, drop_format, drop_icrc;
    assign to_side = nic_tx[i][CABLE_W-1-:CABLE_SIDE_W];
    assign mon_tvalid[i] = to_side.valid;
    assign mon_tdata[i*512+:512] = nic_tx[i][511:0];
    assign mon_tkeep[i*64+:64] = nic_tx[i][575:512];
    assign mon_tlast[i] = to_side.last && (cfg_roce || to_side.trailer[20]);
    assign cnt_dropped[i*32+:32] = drop_fcs + drop_format + drop_icrc;

    nic #(
        .TAP(i == 0 ? "nic_a" : "nic_b")
    ) u_nic (
        .clk(clk), .rst(rst),
        .cfg_doorbell(cfg_doorbell[i*DOORBELL_CFG_W+:DOORBELL_CFG_W]),
        .cfg_rdma(cfg_rdma[i*RDMA_CFG_W+:RDMA_CFG_W]), .cfg_mr(cfg_mr[i*4*MR_W+:4*MR_W]),
        .cfg_wire(cfg_wire[i*WIRE_CFG_W+:WIRE_CFG_W]), .cfg_link(cfg_link),
        .s_uar_awid(4'd0), .s_uar_awaddr(s_uar_awaddr[i*12+:12]), .s_uar_awlen(s_uar_awlen[i*8+:8]),
        .s_uar_awvalid(s_uar_awvalid[i]), .s_uar_awready(s_uar_awready[i]),
        .s_uar_wdata(s_uar_wdata[i*512+:512]), .s_uar_wstrb(s_uar_wstrb[i*64+:64]),
        .s_uar_wlast(s_uar_wlast[i]), .s_uar_wvalid(s_uar_wvalid[i]), .s_uar_wready(s_uar_wready[i]),
        .s_uar_bid(), .s_uar_bresp(s_uar_bresp[i*2+:2]), .s_uar_bvalid(s_uar_bvalid[i]),
        .s_uar_bready(s_uar_bready[i]),
        .m_axi_arid(m_axi_arid[i*4+:4]), .m_axi_araddr(m_axi_araddr[i*64+:64]),
        .m_axi_arlen(m_axi_arlen[i*8+:8]), .m_axi_arsize(), .m_axi_arburst(),
        .m_axi_arvalid(m_axi_arvalid[i]), .m_axi_arready(m_axi_arready[i]),
        .m_axi_rid(m_axi_rid[i*4+:4]), .m_axi_rdata(m_axi_rdata[i*512+:512]),
        .m_axi_rresp(m_axi_rresp[i*2+:2]), .m_axi_rlast(m_axi_rlast[i]), .m_axi_rvalid(m_axi_rvalid[i]),
        .m_axi_rready(),
        .m_axi_awid(m_axi_awid[i*4+:4]), .m_axi_awaddr(m_axi_awaddr[i*64+:64]),
        .m_axi_awlen(m_axi_awlen[i*8+:8]), .m_axi_awsize(), .m_axi_awburst(),
        .m_axi_awvalid(m_axi_awvalid[i]), .m_axi_awready(m_axi_awready[i]),
        .m_axi_wdata(m_axi_wdata[i*512+:512]), .m_axi_wstrb(m_axi_wstrb[i*64+:64]),
        .m_axi_wlast(m_axi_wlast[i]), .m_axi_wvalid(m_axi_wvalid[i]), .m_axi_wready(m_axi_wready[i]),
        .m_axi_bid(m_axi_bid[i*4+:4]), .m_axi_bresp(m_axi_bresp[i*2+:2]), .m_axi_bvalid(m_axi_bvalid[i]),
        .m_axi_bready(m_axi_bready[i]),
        .tx(nic_tx[i]), .rx(direct ? up[OTHER] : down_far[i]),
        .halted(halted[i]), .qp_state(qp_state[i*3+:3]), .cnt_doorbells(), .cnt_refused(),
        .cnt_rx_good(), .cnt_drop_fcs(drop_fcs), .cnt_drop_format(drop_format), .cnt_drop_icrc(drop_icrc)
    );
  end

  switch_node #(.USED(8'b1000_0011), .TAP("leaf0")) u_leaf0 (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .cfg_prefix(cfg_prefix), .cfg_link(cfg_link),
      .tbl_we(tbl_we[LEAF]), .tbl_addr(tbl_addr), .tbl_valid(tbl_valid), .tbl_port(tbl_port),
      .rx(leaf0_rx), .tx(leaf0_tx), .cnt_unknown(cnt_unknown[LEAF*32+:32])
  );
  switch_node #(.USED(8'b0000_0011), .TAP("spine")) u_spine (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .cfg_prefix(cfg_prefix), .cfg_link(cfg_link),
      .tbl_we(tbl_we[SPINE]), .tbl_addr(tbl_addr), .tbl_valid(tbl_valid), .tbl_port(tbl_port),
      .rx(spine_rx), .tx(spine_tx), .cnt_unknown(cnt_unknown[SPINE*32+:32])
  );
  switch_node #(.USED(8'b1000_0001), .TAP("leaf1")) u_leaf1 (
      .clk(clk), .rst(rst), .cfg_roce(cfg_roce), .cfg_prefix(cfg_prefix), .cfg_link(cfg_link),
      .tbl_we(tbl_we[LEAF1]), .tbl_addr(tbl_addr), .tbl_valid(tbl_valid), .tbl_port(tbl_port),
      .rx(leaf1_rx), .tx(leaf1_tx), .cnt_unknown(cnt_unknown[LEAF1*32+:32])
  );

  fabric_cable #(.ERRORS(ERRORS), .SALT(64'd4)) u_leaf0_spine (
      .clk(clk), .rst(rst), .cfg_delay(cfg_cable), .cfg_err_on(cfg_err_on), .cfg_err_kp4(link_cfg.kp4),
      .cfg_err_seed(cfg_err_seed), .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
      .s(leaf0_tx[7*CABLE_W+:CABLE_W]), .m(leaf0_to_spine)
  );
  fabric_cable #(.ERRORS(ERRORS), .SALT(64'd5)) u_spine_leaf0 (
      .clk(clk), .rst(rst), .cfg_delay(cfg_cable), .cfg_err_on(cfg_err_on), .cfg_err_kp4(link_cfg.kp4),
      .cfg_err_seed(cfg_err_seed), .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
      .s(spine_tx[0*CABLE_W+:CABLE_W]), .m(spine_to_leaf0)
  );
  fabric_cable #(.ERRORS(ERRORS), .SALT(64'd6)) u_leaf1_spine (
      .clk(clk), .rst(rst), .cfg_delay(cfg_cable), .cfg_err_on(cfg_err_on), .cfg_err_kp4(link_cfg.kp4),
      .cfg_err_seed(cfg_err_seed), .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
      .s(leaf1_tx[7*CABLE_W+:CABLE_W]), .m(leaf1_to_spine)
  );
  fabric_cable #(.ERRORS(ERRORS), .SALT(64'd7)) u_spine_leaf1 (
      .clk(clk), .rst(rst), .cfg_delay(cfg_cable), .cfg_err_on(cfg_err_on), .cfg_err_kp4(link_cfg.kp4),
      .cfg_err_seed(cfg_err_seed), .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
      .s(spine_tx[1*CABLE_W+:CABLE_W]), .m(spine_to_leaf1)
  );

endmodule

`default_nettype wire
