// SPDX-License-Identifier: Apache-2.0
// Reliable-connection transport of one queue pair (InfiniBand vol. 1, ch. 9): requester for SEND and
// RDMA WRITE with and without immediate, responder, acknowledgements, completions, and their memory port.
//
// Latency (spec/fabric.toml, latency.rdma; README): inline work request to m_pkt; s_pkt to the first
// write address; write response to acknowledge; read data to m_pkt. Full rate: one beat a cycle on m_pkt;
// one beat a cycle and one cycle a packet to memory. Ordering: PSN order on m_pkt for requests;
// acknowledge packets go between them; completions in posting order.
// Over 400 lines: the ports, and the wires between the parts, of which it has no logic but counters.
`default_nettype none
`include "microhop_assert.svh"

module rdma
  import microhop_pkg::*;
  import rdma_pkg::*;
  import spec_pkg::*;
#(
    parameter int PKT_DEPTH = RDMA_PKT_DEPTH,   /// packets waiting for payload or line
    parameter int TXB_DEPTH = RDMA_TXB_BEATS,   /// transmit buffer, beats, a power of two
    parameter int INL_DEPTH = RDMA_INLINE_BEATS,  /// inline beats
    parameter int PAY_DEPTH = RDMA_PAY_BEATS,   /// received payload beats waiting
    parameter int W_DEPTH   = RDMA_W_DEPTH      /// write beats waiting for the bus
) (
    input  wire                  clk,            /// clock
    input  wire                  rst,            /// synchronous reset, active high
    input  wire [RDMA_CFG_W-1:0] cfg,            /// rdma_cfg_t, taken at reset; steady for 4 edges before its end
    input  wire [4*MR_W-1:0]     cfg_mr,         /// four memory regions, taken at reset
    input  wire                  s_wr_tvalid,    /// work requests in
    output wire                  s_wr_tready,    /// taken
    input  wire [511:0]          s_wr_tdata,     /// inline data
    /* verilator lint_off UNUSEDSIGNAL */  // lengths come with the request and the header
    input  wire [63:0]           s_wr_tkeep,     /// valid bytes; 0: none
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                  s_wr_tlast,     /// last beat
    input  wire [WR_W-1:0]       s_wr_wr,        /// wr_t, held to the last beat
    output wire                  m_pkt_tvalid,   /// packets out
    input  wire                  m_pkt_tready,   /// taken
    output wire [511:0]          m_pkt_tdata,    /// payload
    output wire [63:0]           m_pkt_tkeep,    /// valid bytes; 0: none
    output wire                  m_pkt_tlast,    /// last beat
    output wire [HDR_W-1:0]      m_pkt_hdr,      /// hdr_t, held to the last beat
    input  wire                  s_pkt_tvalid,   /// packets in, whole and good
    output wire                  s_pkt_tready,   /// taken
    input  wire [511:0]          s_pkt_tdata,    /// payload
    /* verilator lint_off UNUSEDSIGNAL */  // lengths come with the header
    input  wire [63:0]           s_pkt_tkeep,    /// valid bytes; 0: none
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                  s_pkt_tlast,    /// last beat
    input  wire [HDR_W-1:0]      s_pkt_hdr,      /// hdr_t, held to the last beat
    output wire [3:0]            m_axi_arid,     /// 1 payload, 2 receive queue
    output wire [63:0]           m_axi_araddr,   /// 64-byte aligned
    output wire [7:0]            m_axi_arlen,    /// beats less one
    output wire [2:0]            m_axi_arsize,   /// 6: 64 bytes
    output wire [1:0]            m_axi_arburst,  /// 1: INCR
    output wire                  m_axi_arvalid,  /// read address offered
    input  wire                  m_axi_arready,  /// taken
    input  wire [3:0]            m_axi_rid,      /// whose data
    input  wire [511:0]          m_axi_rdata,    /// read data
    input  wire [1:0]            m_axi_rresp,    /// 0: good
    /* verilator lint_off UNUSEDSIGNAL */  // the realigner counts beats: bursts end where it knows
    input  wire                  m_axi_rlast,    /// last beat of the burst
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                  m_axi_rvalid,   /// read data offered
    output wire                  m_axi_rready,   /// taken
    output wire [3:0]            m_axi_awid,     /// 1 payload, 3 completion
    output wire [63:0]           m_axi_awaddr,   /// 64-byte aligned
    output wire [7:0]            m_axi_awlen,    /// beats less one
    output wire [2:0]            m_axi_awsize,   /// 6: 64 bytes
    output wire [1:0]            m_axi_awburst,  /// 1: INCR
    output wire                  m_axi_awvalid,  /// write address offered
    input  wire                  m_axi_awready,  /// taken
    output wire [511:0]          m_axi_wdata,    /// write data
    output wire [63:0]           m_axi_wstrb,    /// bytes to write
    output wire                  m_axi_wlast,    /// last beat of the burst
    output wire                  m_axi_wvalid,   /// write data offered
    input  wire                  m_axi_wready,   /// taken
    input  wire [3:0]            m_axi_bid,      /// whose write
    input  wire [1:0]            m_axi_bresp,    /// 0: good
    input  wire                  m_axi_bvalid,   /// write response offered
    output wire                  m_axi_bready,   /// always 1
    output wire [2:0]            qp_state,       /// QP_*
    output wire [23:0]           e_psn,          /// PSN expected next
    output wire [23:0]           msn,            /// messages completed
    output wire [23:0]           nxt_psn,        /// PSN after the last one sent
    output wire [23:0]           una_psn,        /// oldest PSN not acknowledged
    output logic [15:0]          cnt_drop_admit, /// packets dropped: not for this queue pair
    output logic [15:0]          cnt_drop_state, /// packets dropped: state of the queue pair
    output logic [15:0]          cnt_drop_seq,   /// requests dropped: ahead again, or old and unknown
    output logic [15:0]          cnt_drop_resp,  /// responses ignored
    output logic [15:0]          cnt_acks,       /// ACKs sent
    output logic [15:0]          cnt_naks,       /// NAKs sent, RNR too
    output logic [15:0]          cnt_cqes        /// completions written
);

  localparam logic [3:0] ID_RQ = 4'd2;
  localparam logic [3:0] ID_CQE = 4'd3;

  // ---- configuration, taken at reset --------------------------------------------------------------
  logic [RDMA_CFG_W-1:0] cfg_q;
  logic [4*MR_W-1:0] mrs;
  logic [4*65-1:0] ends;  // base + length of each region
  /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
  rdma_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg_q;
  logic rst_q;  // one cycle later, so that the parts see the configuration in their reset

  always_ff @(posedge clk) begin
    rst_q <= rst;
    if (rst) begin
      cfg_q <= cfg;
      mrs   <= cfg_mr;
    end
  end

  for (genvar i = 0; i < 4; i++) begin : g_end
    /* verilator lint_off UNUSEDSIGNAL */  // views of bundles: not every field is used here
    mr_t m;
    /* verilator lint_on UNUSEDSIGNAL */
    assign m = mrs[i*MR_W+:MR_W];
    always_ff @(posedge clk) begin
      if (rst_q) ends[i*65+:65] <= {1'b0, m.base} + {1'b0, m.length};
    end
  end

  // ---- wires --------------------------------------------------------------------------------------
  wire err;
  wire [25:0] una;
  wire inl_pop, pkt_push, rd_push, txb_pop, tab_push, done_empty, done_err, done_pop;
  wire [511:0] inl_data, txb_data;
  wire [PKTD_W-1:0] pkt_data;
  wire [$clog2(PKT_DEPTH):0] pkt_count;
  wire [63:6] rd_addr;
  wire [6:0] rd_n_in;
  wire [REALIGN_W-1:0] rd_realign;
  wire [$clog2(RDMA_RDQ_DEPTH):0] rdq_count;
  wire [SQT_W-1:0] tab_data;
  wire [7:0] bad_tab;
  wire [$clog2(RDMA_SQT_DEPTH):0] tab_count;
  wire sent, sent_ackreq, bad;
  wire [23:0] sent_psn;
  wire resp_valid, resp_ack, resp_drop;
  wire [23:0] resp_psn;
  wire [7:0] resp_syn;
  wire scq_push, rcq_push, cqe_push;
  wire [CQR_W-1:0] scq_data, rcq_data;
  wire [$clog2(RDMA_CQ_DEPTH):0] scq_count, rcq_count;
  wire [63:0] cqe_addr;
  wire [511:0] cqe_data;
  wire [$clog2(RDMA_CQEW_DEPTH):0] cqe_count;
  wire rq_valid, rq_take, pay_empty, pay_pop, cmd_push, ret_push;
  wire [63:0] rq_addr;
  wire [511:0] pay_data;
  wire [WCMD_W-1:0] cmd_data;
  wire [$clog2(RDMA_CMD_DEPTH):0] cmd_count;
  wire [RET_W-1:0] ret_data;
  wire [$clog2(RDMA_RET_DEPTH):0] ret_count;
  wire ans_valid, ans_pop, nak_sent, fatal, failed;
  wire [ANS_W-1:0] ans;
  wire drop_admit, drop_state, drop_seq;
  wire cqe_bad = m_axi_bvalid && m_axi_bid == ID_CQE && m_axi_bresp != 0;

  // ---- requester ----------------------------------------------------------------------------------
  rdma_requester #(
      .WQ_DEPTH (RDMA_WQ_DEPTH),
      .INL_DEPTH(INL_DEPTH),
      .PKT_DEPTH(PKT_DEPTH),
      .RDQ_DEPTH(RDMA_RDQ_DEPTH),
      .TXB_DEPTH(TXB_DEPTH),
      .TAB_DEPTH(RDMA_SQT_DEPTH)
  ) u_requester (
      .clk        (clk),
      .rst        (rst_q),
      .open       (!rst_q && (c.state == QP_RTS || c.state == QP_ERR)),
      .err        (err),
      .pmtu       (c.pmtu),
      .sq_psn     (c.sq_psn),
      .mrs        (mrs),
      .ends       (ends),
      .una        (una),
      .s_wr_tvalid(s_wr_tvalid),
      .s_wr_tready(s_wr_tready),
      .s_wr_tdata (s_wr_tdata),
      .s_wr_tkeep0(s_wr_tkeep[0]),
      .s_wr_tlast (s_wr_tlast),
      .s_wr_wr    (s_wr_wr),
      .inl_pop    (inl_pop),
      .inl_data   (inl_data),
      .pkt_push   (pkt_push),
      .pkt_data   (pkt_data),
      .pkt_count  (pkt_count),
      .rd_push    (rd_push),
      .rd_addr    (rd_addr),
      .rd_n_in    (rd_n_in),
      .rd_realign (rd_realign),
      .rdq_count  (rdq_count),
      .txb_free   (txb_pop),
      .tab_push   (tab_push),
      .tab_data   (tab_data),
      .tab_count  (tab_count)
  );

  rdma_payload #(
      .PKT_DEPTH(PKT_DEPTH),
      .RDQ_DEPTH(RDMA_RDQ_DEPTH),
      .TXB_DEPTH(TXB_DEPTH),
      .AR_DEPTH (RDMA_AR_DEPTH)
  ) u_payload (
      .clk          (clk),
      .rst          (rst_q),
      .rd_push      (rd_push),
      .rd_addr      (rd_addr),
      .rd_n_in      (rd_n_in),
      .rd_realign   (rd_realign),
      .rdq_count    (rdq_count),
      .rq_valid     (rq_valid),
      .rq_addr      (rq_addr),
      .rq_take      (rq_take),
      .m_axi_arid   (m_axi_arid),
      .m_axi_araddr (m_axi_araddr),
      .m_axi_arlen  (m_axi_arlen),
      .m_axi_arvalid(m_axi_arvalid),
      .m_axi_arready(m_axi_arready),
      .m_axi_rid    (m_axi_rid),
      .m_axi_rdata  (m_axi_rdata),
      .m_axi_rresp  (m_axi_rresp),
      .m_axi_rvalid (m_axi_rvalid),
      .m_axi_rready (m_axi_rready),
      .txb_pop      (txb_pop),
      .txb_data     (txb_data),
      .done_empty   (done_empty),
      .done_err     (done_err),
      .done_pop     (done_pop)
  );

  rdma_tx #(
      .PKT_DEPTH(PKT_DEPTH),
      .OUT_DEPTH(RDMA_OUT_DEPTH)
  ) u_tx (
      .clk         (clk),
      .rst         (rst_q),
      .cfg         (cfg_q),
      .err         (err),
      .pkt_push    (pkt_push),
      .pkt_data    (pkt_data),
      .pkt_count   (pkt_count),
      .inl_data    (inl_data),
      .inl_pop     (inl_pop),
      .txb_data    (txb_data),
      .txb_pop     (txb_pop),
      .done_empty  (done_empty),
      .done_err    (done_err),
      .done_pop    (done_pop),
      .ans_valid   (ans_valid),
      .ans         (ans),
      .ans_pop     (ans_pop),
      .sent        (sent),
      .sent_psn    (sent_psn),
      .sent_ackreq (sent_ackreq),
      .bad         (bad),
      .bad_tab     (bad_tab),
      .m_pkt_tvalid(m_pkt_tvalid),
      .m_pkt_tready(m_pkt_tready),
      .m_pkt_tdata (m_pkt_tdata),
      .m_pkt_tkeep (m_pkt_tkeep),
      .m_pkt_tlast (m_pkt_tlast),
      .m_pkt_hdr   (m_pkt_hdr)
  );

  rdma_tracker #(
      .TAB_DEPTH(RDMA_SQT_DEPTH),
      .CQ_DEPTH (RDMA_CQ_DEPTH),
      .TIMER_LOG(RDMA_TIMER_LOG)
  ) u_tracker (
      .clk        (clk),
      .rst        (rst_q),
      .err_init   (c.state == QP_ERR),
      .sq_psn     (c.sq_psn),
      .ack_timeout(c.ack_timeout),
      .rsp_err    (fatal || failed || cqe_bad),
      .tab_push   (tab_push),
      .tab_data   (tab_data),
      .tab_count  (tab_count),
      .sent       (sent),
      .sent_psn   (sent_psn),
      .sent_ackreq(sent_ackreq),
      .bad        (bad),
      .bad_tab    (bad_tab),
      .resp_valid (resp_valid),
      .resp_ack   (resp_ack),
      .resp_psn   (resp_psn),
      .resp_syn   (resp_syn),
      .resp_drop  (resp_drop),
      .una        (una),
      .nxt        (nxt_psn),
      .err        (err),
      .cq_push    (scq_push),
      .cq_data    (scq_data),
      .cq_count   (scq_count)
  );

  // ---- responder ----------------------------------------------------------------------------------
  rdma_responder #(
      .HDR_DEPTH(RDMA_HDR_DEPTH),
      .PAY_DEPTH(PAY_DEPTH),
      .CMD_DEPTH(RDMA_CMD_DEPTH),
      .RET_DEPTH(RDMA_RET_DEPTH)
  ) u_responder (
      .clk         (clk),
      .rst         (rst_q),
      .cfg         (cfg_q),
      .mrs         (mrs),
      .ends        (ends),
      .err         (err),
      .s_pkt_tvalid(s_pkt_tvalid),
      .s_pkt_tready(s_pkt_tready),
      .s_pkt_tdata (s_pkt_tdata),
      .s_pkt_tkeep0(s_pkt_tkeep[0]),
      .s_pkt_tlast (s_pkt_tlast),
      .s_pkt_hdr   (s_pkt_hdr),
      .pay_empty   (pay_empty),
      .pay_data    (pay_data),
      .pay_pop     (pay_pop),
      .cmd_push    (cmd_push),
      .cmd_data    (cmd_data),
      .cmd_count   (cmd_count),
      .ret_push    (ret_push),
      .ret_data    (ret_data),
      .ret_count   (ret_count),
      .nak_sent    (nak_sent),
      .fatal       (fatal),
      .resp_valid  (resp_valid),
      .resp_ack    (resp_ack),
      .resp_psn    (resp_psn),
      .resp_syn    (resp_syn),
      .rq_valid    (rq_valid),
      .rq_addr     (rq_addr),
      .rq_take     (rq_take),
      .r_valid     (m_axi_rvalid && m_axi_rready && m_axi_rid == ID_RQ),
      .r_data      (m_axi_rdata),
      .r_bad       (m_axi_rresp != 0),
      .epsn        (e_psn),
      .drop_admit  (drop_admit),
      .drop_state  (drop_state),
      .drop_seq    (drop_seq)
  );

  rdma_dma_write #(
      .CMD_DEPTH (RDMA_CMD_DEPTH),
      .CQEW_DEPTH(RDMA_CQEW_DEPTH),
      .AW_DEPTH  (RDMA_AW_DEPTH),
      .W_DEPTH   (W_DEPTH)
  ) u_dma_write (
      .clk          (clk),
      .rst          (rst_q),
      .cmd_push     (cmd_push),
      .cmd_data     (cmd_data),
      .cmd_count    (cmd_count),
      .pay_empty    (pay_empty),
      .pay_data     (pay_data),
      .pay_pop      (pay_pop),
      .cqe_push     (cqe_push),
      .cqe_addr     (cqe_addr),
      .cqe_data     (cqe_data),
      .cqe_count    (cqe_count),
      .m_axi_awid   (m_axi_awid),
      .m_axi_awaddr (m_axi_awaddr),
      .m_axi_awlen  (m_axi_awlen),
      .m_axi_awvalid(m_axi_awvalid),
      .m_axi_awready(m_axi_awready),
      .m_axi_wdata  (m_axi_wdata),
      .m_axi_wstrb  (m_axi_wstrb),
      .m_axi_wlast  (m_axi_wlast),
      .m_axi_wvalid (m_axi_wvalid),
      .m_axi_wready (m_axi_wready)
  );

  rdma_ack #(
      .RET_DEPTH(RDMA_RET_DEPTH),
      .CQ_DEPTH (RDMA_CQ_DEPTH)
  ) u_ack (
      .clk         (clk),
      .rst         (rst_q),
      .msn0        (c.msn0),
      .ret_push    (ret_push),
      .ret_data    (ret_data),
      .ret_count   (ret_count),
      .m_axi_bid   (m_axi_bid),
      .m_axi_bresp (m_axi_bresp),
      .m_axi_bvalid(m_axi_bvalid),
      .cq_push     (rcq_push),
      .cq_data     (rcq_data),
      .cq_count    (rcq_count),
      .ans_valid   (ans_valid),
      .ans         (ans),
      .ans_pop     (ans_pop),
      .nak_sent    (nak_sent),
      .failed      (failed),
      .msn         (msn)
  );

  rdma_completion #(
      .CQ_DEPTH  (RDMA_CQ_DEPTH),
      .CQEW_DEPTH(RDMA_CQEW_DEPTH)
  ) u_completion (
      .clk      (clk),
      .rst      (rst_q),
      .cfg      (cfg_q),
      .scq_push (scq_push),
      .scq_data (scq_data),
      .scq_count(scq_count),
      .rcq_push (rcq_push),
      .rcq_data (rcq_data),
      .rcq_count(rcq_count),
      .cqe_push (cqe_push),
      .cqe_addr (cqe_addr),
      .cqe_data (cqe_data),
      .cqe_count(cqe_count)
  );

  // ---- status -------------------------------------------------------------------------------------
  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_awsize  = 3'd6;
  assign m_axi_awburst = 2'd1;
  assign m_axi_bready  = 1'b1;
  assign qp_state      = err ? QP_ERR : c.state;
  assign una_psn       = una[23:0];

  always_ff @(posedge clk) begin
    if (rst_q) begin
      cnt_drop_admit <= '0;
      cnt_drop_state <= '0;
      cnt_drop_seq   <= '0;
      cnt_drop_resp  <= '0;
      cnt_acks       <= '0;
      cnt_naks       <= '0;
      cnt_cqes       <= '0;
    end else begin
      cnt_drop_admit <= cnt_drop_admit + 16'(drop_admit);
      cnt_drop_state <= cnt_drop_state + 16'(drop_state);
      cnt_drop_seq   <= cnt_drop_seq + 16'(drop_seq);
      cnt_drop_resp  <= cnt_drop_resp + 16'(resp_drop);
      cnt_acks       <= cnt_acks + 16'(ans_pop && !nak_sent);
      cnt_naks       <= cnt_naks + 16'(nak_sent);
      cnt_cqes       <= cnt_cqes + 16'(cqe_push);
    end
  end

  // Taken only as far as asked for.
  `MH_NEVER_X(a_known, {s_wr_tready, s_pkt_tready, qp_state, e_psn, msn, nxt_psn, una_psn})

endmodule

`default_nettype wire
