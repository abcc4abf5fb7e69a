// SPDX-License-Identifier: Apache-2.0
// Registers of one end of a cable behind AXI4-Lite (spec/csr/link.rdl, docs/link_registers.md): configuration, state,
// counters of the link's events and of its FEC. The link's configuration is a copy that follows the registers while
// the link is OFF and not enabled. Cycle figures: latency.csr and latency.link_csr of spec/fabric.toml. From the
// cycle in which an access is accepted: 3 to the register, 5 to its answer; an event of cycle t counts from t+2 on.
`default_nettype none

module link_csr
  import microhop_pkg::*;
#(
    parameter int LANES  = 1,   /// virtual lanes, 1..16
    parameter int DATA_W = 512  /// bits of a beat
) (
    input  wire                   clk,             /// clock
    input  wire                   rst,             /// synchronous reset, active high
    // AXI4-Lite, 32 bits, byte addresses
    input  wire  [          11:0] s_axil_awaddr,   /// write address
    input  wire                   s_axil_awvalid,  /// write address offered
    output wire                   s_axil_awready,  /// write address taken
    input  wire  [          31:0] s_axil_wdata,    /// write data
    input  wire  [           3:0] s_axil_wstrb,    /// bytes to write
    input  wire                   s_axil_wvalid,   /// write data offered
    output wire                   s_axil_wready,   /// write data taken
    output wire  [           1:0] s_axil_bresp,    /// 0 OKAY, 2 SLVERR
    output wire                   s_axil_bvalid,   /// write response offered
    input  wire                   s_axil_bready,   /// write response taken
    input  wire  [          11:0] s_axil_araddr,   /// read address
    input  wire                   s_axil_arvalid,  /// read address offered
    output wire                   s_axil_arready,  /// read address taken
    output wire  [          31:0] s_axil_rdata,    /// read data
    output wire  [           1:0] s_axil_rresp,    /// 0 OKAY, 2 SLVERR
    output wire                   s_axil_rvalid,   /// read data offered
    input  wire                   s_axil_rready,   /// read data taken
    // to the link; names and meaning of its ports
    output wire  [LINK_CFG_W-1:0] cfg,             /// link_cfg_t
    output wire                   retrain_req,     /// train anew, for one cycle
    output wire                   degraded,        /// the FEC corrects or fails too much (link_degrade)
    // from the link
    input  wire                   up,              /// the core may send and receive
    input  wire  [           1:0] state,           /// 0 OFF, 1 INIT, 2 UP, 3 RETRAIN
    input  wire  [           7:0] reason,          /// why the link is not up
    input  wire  [  LANES*16-1:0] credits,         /// cells of each lane free at the far end
    input  wire  [     LANES-1:0] s_pause,         /// lanes that the core wants paused
    input  wire  [     LANES-1:0] m_pause,         /// lanes that the far end wants paused
    input  wire  [          19:0] ev,              /// events
    input  wire  [          10:0] lost,            /// with ev[18]: segments whose fate is unknown
    // from the FEC decoder
    input  wire                   fec_valid,       /// a codeword
    input  wire  [           4:0] fec_symbols,     /// its wrong symbols, corrected
    input  wire                   fec_failed       /// it could not be corrected
);
  // --- request bus ------------------------------------------------------------------------------------------------
  wire req, req_wr, q_req, q_wr, ack, ack_err, rd_ack, rd_err, wr_ack, wr_err;
  wire [11:0] req_addr, q_addr;
  wire [31:0] req_data, req_mask, q_data, q_mask, ack_data, rd_data;
  wire [3:0] req_strb;

  axil_requests #(.ADDR_W(12)) u_axil (.*);
  assign req_mask = {{8{req_strb[3]}}, {8{req_strb[2]}}, {8{req_strb[1]}}, {8{req_strb[0]}}};
  csr_stage #(.ADDR_W(12)) u_stage (.*);

  // --- the link's configuration: a copy of the registers ----------------------------------------------------------
  wire enable, roce, kp4, gate;
  wire [5:0] cells;
  wire [7:0] replay_max, phy_tx, phy_rx;
  wire [15:0] replay_timeout, retrain, init_timeout;
  wire [19:0] init_seq;
  wire [14:0] cnt_init;
  link_cfg_t wanted, used;
  logic pending_q;

  assign wanted.enable = enable;
  assign wanted.preset = 1'b0;  // for benches: behind registers a link comes up by an exchange
  assign wanted.roce = roce;
  assign wanted.kp4 = kp4;
  assign wanted.gate = gate;
  assign wanted.cells = cells;
  assign wanted.replay_max = replay_max;
  assign wanted.replay_timeout = replay_timeout;
  assign wanted.retrain = retrain;
  assign wanted.init_timeout = init_timeout;
  assign wanted.init_seq = init_seq;
  assign wanted.cnt_init = cnt_init;
  assign wanted.phy_tx = phy_tx;
  assign wanted.phy_rx = phy_rx;
  assign cfg = used;

  localparam logic [LINK_CFG_W-1:0] COPIED = {1'b0, {(LINK_CFG_W - 1) {1'b1}}};  // all but enable, the highest

  always_ff @(posedge clk) begin
    if (rst || (state == 2'd0 && !used.enable)) used <= wanted;
    else used.enable <= wanted.enable;
    pending_q <= ((wanted ^ used) & COPIED) != '0;
  end

  // --- state and events -------------------------------------------------------------------------------------------
  logic up_q, fec_q, failed_q;
  logic [1:0] state_q;
  logic [7:0] reason_q;
  logic [255:0] credits_q;
  logic [15:0] s_pause_q, m_pause_q, corrected_q;  // corrected_q: by the number of symbols
  logic [19:0] ev_q;
  logic [10:0] lost_q;
  logic [4:0] symbols_q;

  always_ff @(posedge clk) begin
    up_q      <= up;
    state_q   <= state;
    reason_q  <= reason;
    credits_q <= 256'(credits);
    s_pause_q <= 16'(s_pause);
    m_pause_q <= 16'(m_pause);
    ev_q      <= ev;
    lost_q    <= lost;
    fec_q     <= fec_valid;
    failed_q  <= fec_failed;
    symbols_q <= fec_symbols;
    for (int n = 0; n < 16; n++) corrected_q[n] <= fec_valid && !fec_failed && fec_symbols == 5'(n);
  end

  wire [23:0] interval;
  wire [28:0] activate, deactivate;
  link_degrade u_degrade (.valid(fec_q && !rst), .symbols(symbols_q), .failed(failed_q), .kp4(used.kp4), .*);

  link_end_regs u_regs (
      .clk(clk),
      .rst(rst),
      .s_cpuif_req(q_req),
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
      .hwif_in_SHAPE_lanes_next(5'(LANES)),
      .hwif_in_SHAPE_data_w_next(16'(DATA_W)),
      .hwif_in_STATUS_state_next(state_q),
      .hwif_in_STATUS_up_next(up_q),
      .hwif_in_STATUS_pending_next(pending_q),
      .hwif_in_STATUS_degraded_next(degraded),
      .hwif_in_STATUS_reason_next(reason_q),
      .hwif_in_SEEN_profile_hwset(reason_q[0]),
      .hwif_in_SEEN_fec_hwset(reason_q[1]),
      .hwif_in_SEEN_lanes_hwset(reason_q[2]),
      .hwif_in_SEEN_no_answer_hwset(reason_q[3]),
      .hwif_in_SEEN_no_progress_hwset(reason_q[4]),
      .hwif_in_SEEN_far_restart_hwset(reason_q[5]),
      .hwif_in_SEEN_numbers_hwset(reason_q[6]),
      .hwif_in_SEEN_replay_limit_hwset(reason_q[7]),
      .hwif_in_SEEN_degraded_hwset(degraded),
      .hwif_in_PAUSED_by_far_next(m_pause_q),
      .hwif_in_PAUSED_by_core_next(s_pause_q),
      .hwif_in_CREDIT0_cells_next(credits_q[0*16+:16]),
      .hwif_in_CREDIT1_cells_next(credits_q[1*16+:16]),
      .hwif_in_CREDIT2_cells_next(credits_q[2*16+:16]),
      .hwif_in_CREDIT3_cells_next(credits_q[3*16+:16]),
      .hwif_in_CREDIT4_cells_next(credits_q[4*16+:16]),
      .hwif_in_CREDIT5_cells_next(credits_q[5*16+:16]),
      .hwif_in_CREDIT6_cells_next(credits_q[6*16+:16]),
      .hwif_in_CREDIT7_cells_next(credits_q[7*16+:16]),
      .hwif_in_CREDIT8_cells_next(credits_q[8*16+:16]),
      .hwif_in_CREDIT9_cells_next(credits_q[9*16+:16]),
      .hwif_in_CREDIT10_cells_next(credits_q[10*16+:16]),
      .hwif_in_CREDIT11_cells_next(credits_q[11*16+:16]),
      .hwif_in_CREDIT12_cells_next(credits_q[12*16+:16]),
      .hwif_in_CREDIT13_cells_next(credits_q[13*16+:16]),
      .hwif_in_CREDIT14_cells_next(credits_q[14*16+:16]),
      .hwif_in_CREDIT15_cells_next(credits_q[15*16+:16]),
      .hwif_in_FRAMES_SENT_count_incr(ev_q[0]),
      .hwif_in_FRAMES_RECEIVED_count_incr(ev_q[1]),
      .hwif_in_SEGMENTS_SENT_count_incr(ev_q[2]),
      .hwif_in_REPLAYS_count_incr(ev_q[3]),
      .hwif_in_TIMEOUTS_count_incr(ev_q[4]),
      .hwif_in_PROGRESS_count_incr(ev_q[5]),
      .hwif_in_NACKS_RECEIVED_count_incr(ev_q[6]),
      .hwif_in_NACKS_SENT_count_incr(ev_q[7]),
      .hwif_in_DUPLICATES_count_incr(ev_q[8]),
      .hwif_in_BAD_SEGMENTS_count_incr(ev_q[9]),
      .hwif_in_GAPS_count_incr(ev_q[10]),
      .hwif_in_FCS_ERRORS_count_incr(ev_q[11]),
      .hwif_in_LONG_FRAMES_count_incr(ev_q[12]),
      .hwif_in_UNDERRUNS_count_incr(ev_q[13]),
      .hwif_in_PAUSES_SENT_count_incr(ev_q[14]),
      .hwif_in_PAUSES_RECEIVED_count_incr(ev_q[15]),
      .hwif_in_DISCARDED_count_incr(ev_q[16]),
      .hwif_in_RETRAINS_count_incr(ev_q[17]),
      .hwif_in_DOWNS_count_incr(ev_q[18]),
      .hwif_in_REFUSED_count_incr(ev_q[19]),
      .hwif_in_LOST_SEGMENTS_count_incr(ev_q[18]),
      .hwif_in_LOST_SEGMENTS_count_incrvalue(32'(lost_q)),
      .hwif_in_FEC_FAILED_count_incr(fec_q && failed_q),
      .hwif_in_FEC_SYMBOLS0_count_incr(corrected_q[0]),
      .hwif_in_FEC_SYMBOLS1_count_incr(corrected_q[1]),
      .hwif_in_FEC_SYMBOLS2_count_incr(corrected_q[2]),
      .hwif_in_FEC_SYMBOLS3_count_incr(corrected_q[3]),
      .hwif_in_FEC_SYMBOLS4_count_incr(corrected_q[4]),
      .hwif_in_FEC_SYMBOLS5_count_incr(corrected_q[5]),
      .hwif_in_FEC_SYMBOLS6_count_incr(corrected_q[6]),
      .hwif_in_FEC_SYMBOLS7_count_incr(corrected_q[7]),
      .hwif_in_FEC_SYMBOLS8_count_incr(corrected_q[8]),
      .hwif_in_FEC_SYMBOLS9_count_incr(corrected_q[9]),
      .hwif_in_FEC_SYMBOLS10_count_incr(corrected_q[10]),
      .hwif_in_FEC_SYMBOLS11_count_incr(corrected_q[11]),
      .hwif_in_FEC_SYMBOLS12_count_incr(corrected_q[12]),
      .hwif_in_FEC_SYMBOLS13_count_incr(corrected_q[13]),
      .hwif_in_FEC_SYMBOLS14_count_incr(corrected_q[14]),
      .hwif_in_FEC_SYMBOLS15_count_incr(corrected_q[15]),
      .hwif_out_CTRL_enable_value(enable),
      .hwif_out_CTRL_retrain_value(retrain_req),
      .hwif_out_MODE_roce_value(roce),
      .hwif_out_MODE_kp4_value(kp4),
      .hwif_out_MODE_gate_value(gate),
      .hwif_out_MODE_cells_value(cells),
      .hwif_out_REPLAY_replay_timeout_value(replay_timeout),
      .hwif_out_REPLAY_replay_max_value(replay_max),
      .hwif_out_TRAIN_retrain_value(retrain),
      .hwif_out_TRAIN_init_timeout_value(init_timeout),
      .hwif_out_FIRST_SEGMENT_init_seq_value(init_seq),
      .hwif_out_FIRST_COUNT_cnt_init_value(cnt_init),
      .hwif_out_PHY_phy_tx_value(phy_tx),
      .hwif_out_PHY_phy_rx_value(phy_rx),
      .hwif_out_FEC_INTERVAL_codewords_value(interval),
      .hwif_out_FEC_ACTIVATE_symbols_value(activate),
      .hwif_out_FEC_DEACTIVATE_symbols_value(deactivate)
  );
endmodule

`default_nettype wire
