// SPDX-License-Identifier: Apache-2.0
// NIC: doorbell, reliable connection, packet formats and one end of a cable, with one AXI4 memory port.
//
//   s_uar ─> doorbell ─wr─> rdma ─pkt─> wire_tx ─axis─> link ═> tx
//              │ read        │ read, write              link <═ rx
//              └──> axi_read_merge <── rdma <─pkt─ wire_rx <─axis┘
//
// Latencies: those of the blocks; the read addresses take one cycle more (axi_read_merge).
// Host and GPU memory are told apart by address behind the memory port.
`default_nettype none

module nic
  import microhop_pkg::*;
#(
    parameter TAP = "nic",  /// prefix of the stage stamps
    localparam int CABLE_W = CABLE_SIDE_W + 64 + 512
) (
    input  wire                       clk,               /// clock
    input  wire                       rst,               /// synchronous reset, active high
    input  wire  [DOORBELL_CFG_W-1:0] cfg_doorbell,      /// doorbell_cfg_t
    input  wire  [RDMA_CFG_W-1:0]     cfg_rdma,          /// rdma_cfg_t
    input  wire  [4*MR_W-1:0]         cfg_mr,            /// four mr_t
    input  wire  [WIRE_CFG_W-1:0]     cfg_wire,          /// wire_cfg_t
    input  wire  [LINK_CFG_W-1:0]     cfg_link,          /// link_cfg_t
    // UAR page, written by CPU or GPU
    input  wire  [3:0]                s_uar_awid,        /// write ID
    input  wire  [11:0]               s_uar_awaddr,      /// offset in the page
    input  wire  [7:0]                s_uar_awlen,       /// beats - 1
    input  wire                       s_uar_awvalid,     /// address valid
    output wire                       s_uar_awready,     /// address accepted
    input  wire  [511:0]              s_uar_wdata,       /// data
    input  wire  [63:0]               s_uar_wstrb,       /// byte strobes
    input  wire                       s_uar_wlast,       /// last beat
    input  wire                       s_uar_wvalid,      /// data valid
    output wire                       s_uar_wready,      /// data accepted
    output wire  [3:0]                s_uar_bid,         /// response ID
    output wire  [1:0]                s_uar_bresp,       /// response
    output wire                       s_uar_bvalid,      /// response valid
    input  wire                       s_uar_bready,      /// response accepted
    // memory
    output wire  [3:0]                m_axi_arid,        /// 0 doorbell, 1 payload, 2 receive queue
    output wire  [63:0]               m_axi_araddr,      /// read address
    output wire  [7:0]                m_axi_arlen,       /// beats - 1
    output wire  [2:0]                m_axi_arsize,      /// 6: 64 bytes
    output wire  [1:0]                m_axi_arburst,     /// 1: INCR
    output wire                       m_axi_arvalid,     /// read address valid
    input  wire                       m_axi_arready,     /// read address accepted
    input  wire  [3:0]                m_axi_rid,         /// ID of the data
    input  wire  [511:0]              m_axi_rdata,       /// data
    input  wire  [1:0]                m_axi_rresp,       /// response
    input  wire                       m_axi_rlast,       /// last beat
    input  wire                       m_axi_rvalid,      /// data valid
    output wire                       m_axi_rready,      /// always 1: room is reserved before asking
    output wire  [3:0]                m_axi_awid,        /// write ID
    output wire  [63:0]               m_axi_awaddr,      /// write address
    output wire  [7:0]                m_axi_awlen,       /// beats - 1
    output wire  [2:0]                m_axi_awsize,      /// 6: 64 bytes
    output wire  [1:0]                m_axi_awburst,     /// 1: INCR
    output wire                       m_axi_awvalid,     /// write address valid
    input  wire                       m_axi_awready,     /// write address accepted
    output wire  [511:0]              m_axi_wdata,       /// data
    output wire  [63:0]               m_axi_wstrb,       /// byte strobes
    output wire                       m_axi_wlast,       /// last beat
    output wire                       m_axi_wvalid,      /// data valid
    input  wire                       m_axi_wready,      /// data accepted
    input  wire  [3:0]                m_axi_bid,         /// response ID
    input  wire  [1:0]                m_axi_bresp,       /// response
    input  wire                       m_axi_bvalid,      /// response valid
    output wire                       m_axi_bready,      /// response accepted
    // cable
    output wire  [CABLE_W-1:0]        tx,                /// {cable_side_t, keep, data} to the cable
    input  wire  [CABLE_W-1:0]        rx,                /// the same from the cable
    // status
    output wire                       halted,            /// the send queue has stopped on an error
    output wire  [2:0]                qp_state,          /// queue pair state, QP_*
    output wire  [31:0]               cnt_doorbells,     /// doorbells accepted
    output wire  [31:0]               cnt_refused,       /// stores refused
    output wire  [31:0]               cnt_rx_good,       /// packets received whole and good
    output wire  [31:0]               cnt_drop_fcs,      /// frames dropped: VCRC or FCS
    output wire  [31:0]               cnt_drop_format,   /// frames dropped: format
    output wire  [31:0]               cnt_drop_icrc      /// frames dropped: ICRC
);

  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_rready  = 1'b1;

  // doorbell -> rdma
  wire              wr_tvalid, wr_tready, wr_tlast;
  wire [511:0]      wr_tdata;
  wire [63:0]       wr_tkeep;
  wire [WR_W-1:0]   wr_wr;
  // rdma -> wire_tx
  wire              ptx_tvalid, ptx_tready, ptx_tlast;
  wire [511:0]      ptx_tdata;
  wire [63:0]       ptx_tkeep;
  wire [HDR_W-1:0]  ptx_hdr;
  // wire_tx -> link
  wire              ftx_tvalid, ftx_tready, ftx_tlast;
  wire [511:0]      ftx_tdata;
  wire [63:0]       ftx_tkeep;
  // link -> wire_rx
  wire              frx_tvalid, frx_tlast;
  wire [511:0]      frx_tdata;
  wire [63:0]       frx_tkeep;
  wire [7:0]        free_cells;
  // wire_rx -> rdma
  wire              prx_tvalid, prx_tready, prx_tlast;
  wire [511:0]      prx_tdata;
  wire [63:0]       prx_tkeep;
  wire [HDR_W-1:0]  prx_hdr;
  // read masters
  wire [3:0]        db_arid, rd_arid;
  wire [63:0]       db_araddr, rd_araddr;
  wire [7:0]        db_arlen, rd_arlen;
  wire              db_arvalid, db_arready, db_rvalid;
  wire              rd_arvalid, rd_arready, rd_rvalid;

  doorbell #(
      .TAP({TAP, ".doorbell"})
  ) u_doorbell (
      .clk(clk), .rst(rst), .cfg(cfg_doorbell),
      .s_uar_awid(s_uar_awid), .s_uar_awaddr(s_uar_awaddr), .s_uar_awlen(s_uar_awlen),
      .s_uar_awvalid(s_uar_awvalid), .s_uar_awready(s_uar_awready),
      .s_uar_wdata(s_uar_wdata), .s_uar_wstrb(s_uar_wstrb), .s_uar_wlast(s_uar_wlast),
      .s_uar_wvalid(s_uar_wvalid), .s_uar_wready(s_uar_wready),
      .s_uar_bid(s_uar_bid), .s_uar_bresp(s_uar_bresp), .s_uar_bvalid(s_uar_bvalid),
      .s_uar_bready(s_uar_bready),
      .m_axi_arid(db_arid), .m_axi_araddr(db_araddr), .m_axi_arlen(db_arlen),
      .m_axi_arsize(), .m_axi_arburst(), .m_axi_arvalid(db_arvalid), .m_axi_arready(db_arready),
      .m_axi_rid(m_axi_rid), .m_axi_rdata(m_axi_rdata), .m_axi_rresp(m_axi_rresp),
      .m_axi_rlast(m_axi_rlast), .m_axi_rvalid(db_rvalid), .m_axi_rready(),
      .m_wr_tvalid(wr_tvalid), .m_wr_tready(wr_tready), .m_wr_tdata(wr_tdata), .m_wr_tkeep(wr_tkeep),
      .m_wr_tlast(wr_tlast), .m_wr_wr(wr_wr),
      .halted(halted), .cnt_doorbells(cnt_doorbells), .cnt_blueflame(), .cnt_fetched(),
      .cnt_refused(cnt_refused), .cnt_record_behind()
  );

  rdma u_rdma (
      .clk(clk), .rst(rst), .cfg(cfg_rdma), .cfg_mr(cfg_mr),
      .s_wr_tvalid(wr_tvalid), .s_wr_tready(wr_tready), .s_wr_tdata(wr_tdata), .s_wr_tkeep(wr_tkeep),
      .s_wr_tlast(wr_tlast), .s_wr_wr(wr_wr),
      .m_pkt_tvalid(ptx_tvalid), .m_pkt_tready(ptx_tready), .m_pkt_tdata(ptx_tdata),
      .m_pkt_tkeep(ptx_tkeep), .m_pkt_tlast(ptx_tlast), .m_pkt_hdr(ptx_hdr),
      .s_pkt_tvalid(prx_tvalid), .s_pkt_tready(prx_tready), .s_pkt_tdata(prx_tdata),
      .s_pkt_tkeep(prx_tkeep), .s_pkt_tlast(prx_tlast), .s_pkt_hdr(prx_hdr),
      .m_axi_arid(rd_arid), .m_axi_araddr(rd_araddr), .m_axi_arlen(rd_arlen),
      .m_axi_arsize(), .m_axi_arburst(), .m_axi_arvalid(rd_arvalid), .m_axi_arready(rd_arready),
      .m_axi_rid(m_axi_rid), .m_axi_rdata(m_axi_rdata), .m_axi_rresp(m_axi_rresp),
      .m_axi_rlast(m_axi_rlast), .m_axi_rvalid(rd_rvalid), .m_axi_rready(),
      .m_axi_awid(m_axi_awid), .m_axi_awaddr(m_axi_awaddr), .m_axi_awlen(m_axi_awlen),
      .m_axi_awsize(m_axi_awsize), .m_axi_awburst(m_axi_awburst), .m_axi_awvalid(m_axi_awvalid),
      .m_axi_awready(m_axi_awready), .m_axi_wdata(m_axi_wdata), .m_axi_wstrb(m_axi_wstrb),
      .m_axi_wlast(m_axi_wlast), .m_axi_wvalid(m_axi_wvalid), .m_axi_wready(m_axi_wready),
      .m_axi_bid(m_axi_bid), .m_axi_bresp(m_axi_bresp), .m_axi_bvalid(m_axi_bvalid),
      .m_axi_bready(m_axi_bready),
      .qp_state(qp_state),
      .e_psn(), .msn(), .nxt_psn(), .una_psn(), .cnt_drop_admit(), .cnt_drop_state(), .cnt_drop_seq(),
      .cnt_drop_resp(), .cnt_acks(), .cnt_naks(), .cnt_cqes()
  );

  axi_read_merge u_read_merge (
      .clk(clk), .rst(rst),
      .s0_arid(db_arid), .s0_araddr(db_araddr), .s0_arlen(db_arlen),
      .s0_arvalid(db_arvalid), .s0_arready(db_arready), .s0_rvalid(db_rvalid),
      .s1_arid(rd_arid), .s1_araddr(rd_araddr), .s1_arlen(rd_arlen),
      .s1_arvalid(rd_arvalid), .s1_arready(rd_arready), .s1_rvalid(rd_rvalid),
      .m_axi_arid(m_axi_arid), .m_axi_araddr(m_axi_araddr), .m_axi_arlen(m_axi_arlen),
      .m_axi_arvalid(m_axi_arvalid), .m_axi_arready(m_axi_arready),
      .m_axi_rid(m_axi_rid), .m_axi_rvalid(m_axi_rvalid)
  );

  wire_tx u_wire_tx (
      .clk(clk), .rst(rst), .cfg(cfg_wire),
      .s_pkt_tvalid(ptx_tvalid), .s_pkt_tready(ptx_tready), .s_pkt_tdata(ptx_tdata),
      .s_pkt_tkeep(ptx_tkeep), .s_pkt_tlast(ptx_tlast), .s_pkt_hdr(ptx_hdr),
      .m_axis_tvalid(ftx_tvalid), .m_axis_tready(ftx_tready), .m_axis_tdata(ftx_tdata),
      .m_axis_tkeep(ftx_tkeep), .m_axis_tlast(ftx_tlast)
  );

  // In the RoCE profile the link drops what has a wrong FCS, natively it hands on whatever the far core gave: both count.
  /* verilator lint_off UNUSEDSIGNAL */  // the rest of the events is for a link's own registers
  wire [19:0] link_ev;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] wire_drop_fcs;
  logic [31:0] link_drop_fcs;
  always_ff @(posedge clk) begin
    if (rst) link_drop_fcs <= '0;
    else if (link_ev[11] || link_ev[12]) link_drop_fcs <= link_drop_fcs + 32'd1;
  end
  assign cnt_drop_fcs = wire_drop_fcs + link_drop_fcs;

  // A NIC takes what comes, and is never empty in a way that a fresh start would need: drained.
  link #(
      .TAP({TAP, ".link"})
  ) u_link (
      .clk(clk), .rst(rst), .cfg(cfg_link), .retrain_req(1'b0),
      .s_axis_tvalid(ftx_tvalid), .s_axis_tready(ftx_tready), .s_axis_tdata(ftx_tdata),
      .s_axis_tkeep(ftx_tkeep), .s_axis_tlast(ftx_tlast), .s_axis_tuser(1'b0),
      .m_axis_tvalid(frx_tvalid), .m_axis_tdata(frx_tdata), .m_axis_tkeep(frx_tkeep),
      .m_axis_tlast(frx_tlast), .m_axis_tuser(), .free_cells(free_cells), .m_credit(), .s_pause(1'b0), .m_pause(),
      .up(), .drained(1'b1), .tx(tx), .rx(rx), .credits(), .state(), .reason(), .ev(link_ev), .lost()
  );

  wire_rx #(
      .CELLS(spec_pkg::LINK_PORT_CELLS)
  ) u_wire_rx (
      .clk(clk), .rst(rst), .cfg(cfg_wire),
      .s_axis_tvalid(frx_tvalid), .s_axis_tready(), .s_axis_tdata(frx_tdata),
      .s_axis_tkeep(frx_tkeep), .s_axis_tlast(frx_tlast),
      .m_pkt_tvalid(prx_tvalid), .m_pkt_tready(prx_tready), .m_pkt_tdata(prx_tdata),
      .m_pkt_tkeep(prx_tkeep), .m_pkt_tlast(prx_tlast), .m_pkt_hdr(prx_hdr),
      .free_cells(free_cells),
      .cnt_good(cnt_rx_good), .cnt_drop_fcs(wire_drop_fcs), .cnt_drop_format(cnt_drop_format),
      .cnt_drop_icrc(cnt_drop_icrc)
  );

  // Stage stamps. A packet's or frame's first beat is the one after a last one.
`ifndef SYNTHESIS
  logic ptx_mid, prx_mid, w_mid;
  always_ff @(posedge clk) begin
    if (rst) {ptx_mid, prx_mid, w_mid} <= '0;
    else begin
      if (ptx_tvalid && ptx_tready) ptx_mid <= !ptx_tlast;
      if (prx_tvalid && prx_tready) prx_mid <= !prx_tlast;
      if (m_axi_wvalid && m_axi_wready) w_mid <= !m_axi_wlast;
    end
  end
  latency_tap #(.NAME({TAP, ".uar"})) t_uar (
      .clk(clk), .rst(rst), .event_i(s_uar_wvalid && s_uar_wready && s_uar_wlast));
  latency_tap #(.NAME({TAP, ".wr"})) t_wr (
      .clk(clk), .rst(rst), .event_i(wr_tvalid && wr_tready && wr_tlast));
  latency_tap #(.NAME({TAP, ".pkt_tx"})) t_pkt_tx (
      .clk(clk), .rst(rst), .event_i(ptx_tvalid && ptx_tready && !ptx_mid));
  latency_tap #(.NAME({TAP, ".pkt_rx"})) t_pkt_rx (
      .clk(clk), .rst(rst), .event_i(prx_tvalid && prx_tready && !prx_mid));
  latency_tap #(.NAME({TAP, ".w"})) t_w (
      .clk(clk), .rst(rst), .event_i(m_axi_wvalid && m_axi_wready && !w_mid));
`endif

endmodule

`default_nettype wire
