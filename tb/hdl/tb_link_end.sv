// SPDX-License-Identifier: Apache-2.0
// One end of a cable in the link's bench: player, link, core that frees late, and the errors of what the end receives.
// All that the link puts out is recorded. Files, each with the end's name and "_" in front:
//   link, core, size, err, thr (.cfg): link_cfg_t; {go all}; cells of a lane's buffer, 0: no end; {repeat_thr, lose_thr,
//     burst_len, burst_thr, seed, kp4, on} of phy_errors; 31 thresholds of phy_errors, the first lowest, written while reset lasts
//   s, go: frames to send, when the core may free
//   enable, retrain, pause, drained (.play): levels at given cycles; `enable` begins as in `link`, `drained` with 1
//   fault (.play): phy_errors' fault in single cycles; cut (.play): its level
//   foreign (.play): control sets that the end hears beside the far end's, in cycles without one of those
//   tx, ctl, sig: what goes to the cable; m: frames received; free, over, credit, pausing, credits, up, state, reason;
//     ev: {lost, ev}; fec: {failed, corrected} of each codeword in which something was wrong
`default_nettype none

module tb_link_end
  import microhop_pkg::*;
#(
    parameter     NAME   = "a",  /// the end's name
    parameter int DATA_W = 512,  /// stream width, bits
    parameter int LANES  = 1,    /// virtual lanes
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire          clk,          /// clock
    input  wire          rst,          /// synchronous reset, active high
    input  wire          start,        /// a phase begins
    input  wire          stop,         /// the phase ended
    input  wire [  15:0] phase,        /// number of the phase
    input  wire [  31:0] cycle,        /// number of this edge
    output wire          player_done,  /// nothing is left to play
    output wire          busy,         /// something moves
    output wire [CW-1:0] tx,           /// to the cable
    input  wire [CW-1:0] rx            /// from the cable
);

  // ---- configuration and levels ---------------------------------------------------------------------
  wire [LINK_CFG_W-1:0] raw_cfg;
  link_cfg_t cfg;
  wire [15:0] core_size;
  wire core_all, enable, retrain_req, allow, cut;
  wire [LANES-1:0] s_pause;
  wire [269:0] err;
  wire [31*64-1:0] thresholds;
  wire [7:0] done;
  assign player_done = &done;

  tb_cfg #(.NAME({NAME, "_link"}), .W(LINK_CFG_W)) u_link_cfg (.q(raw_cfg), .*);
  tb_cfg #(.NAME({NAME, "_core"}), .W(1)) u_core_cfg (.q(core_all), .*);
  tb_cfg #(.NAME({NAME, "_size"}), .W(16)) u_size_cfg (.q(core_size), .*);
  tb_cfg #(.NAME({NAME, "_err"}), .W(270)) u_err_cfg (.q(err), .*);
  tb_cfg #(.NAME({NAME, "_thr"}), .W(31 * 64)) u_thr_cfg (.q(thresholds), .*);
  timed_value #(.NAME({NAME, "_enable"}), .W(1)) u_enable (
      .init(raw_cfg[LINK_CFG_W-1]), .q(enable), .player_done(done[1]), .*);
  timed_value #(.NAME({NAME, "_retrain"}), .W(1)) u_retrain (
      .init(1'b0), .q(retrain_req), .player_done(done[2]), .*);
  timed_value #(.NAME({NAME, "_pause"}), .W(LANES)) u_pause (
      .init({LANES{1'b0}}), .q(s_pause), .player_done(done[3]), .*);
  timed_value #(.NAME({NAME, "_drained"}), .W(1)) u_drained (
      .init(1'b1), .q(allow), .player_done(done[4]), .*);
  timed_value #(.NAME({NAME, "_cut"}), .W(1)) u_cut (
      .init(1'b0), .q(cut), .player_done(done[5]), .*);

  always_comb begin
    cfg = raw_cfg;
    cfg.enable = enable;
  end

  // ---- errors of what comes in ----------------------------------------------------------------------
  wire fault_valid;
  /* verilator lint_off UNUSEDSIGNAL */  // a player's words are 32 bits
  wire [31:0] fault_kind;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [5:0] entry;  // threshold to be written, 0: none
  wire [4:0] row = entry == '0 ? 5'd0 : 5'(entry - 6'd1);
  wire [CW-1:0] rx_good, rx_link;
  wire [4:0] cw_corrected;
  wire cw_failed, cw_done;

  stream_player #(.NAME({NAME, "_fault"}), .DATA_W(32)) u_fault (
      .tvalid(fault_valid), .tready(1'b1), .tlast(), .tkeep(), .tdata(fault_kind), .side(),
      .player_done(done[6]), .*);

  always_ff @(posedge clk) begin
    if (start) entry <= 6'd1;
    else if (entry != '0) entry <= entry == 6'd31 ? 6'd0 : entry + 6'd1;
  end
  initial entry = '0;

  phy_errors #(
      .DATA_W(DATA_W)
  ) u_errors (
      .clk          (clk),
      .rst          (rst),
      .cfg_on       (err[0]),
      .cfg_kp4      (err[1]),
      .cfg_seed     (err[65:2]),
      .cfg_burst_thr(err[129:66]),
      .cfg_burst_len(err[141:130]),
      .cfg_lose_thr (err[205:142]),
      .cfg_repeat_thr(err[269:206]),
      .thr_we       (entry != '0),
      .thr_addr     (entry[4:0]),
      .thr_data     (thresholds[64*32'(row)+:64]),
      .fault        (fault_valid ? fault_kind[1:0] : 2'd0),
      .cut          (cut),
      .s            (rx),
      .m            (rx_good),
      .cw_done      (cw_done),
      .cw_corrected (cw_corrected),
      .cw_failed    (cw_failed)
  );

  // ---- control sets of another make -----------------------------------------------------------------
  wire foreign_valid;
  wire [63:0] foreign_set;
  cable_side_t heard;
  wire own_set = rx_good[CW-2];  // ctl_valid
  stream_player #(.NAME({NAME, "_foreign"}), .DATA_W(64)) u_foreign (
      .tvalid(foreign_valid), .tready(!own_set), .tlast(), .tkeep(), .tdata(foreign_set), .side(),
      .player_done(done[7]), .*);
  always_comb begin
    heard = rx_good[CW-1-:CABLE_SIDE_W];
    if (foreign_valid && !own_set) begin
      heard.ctl_valid = 1'b1;
      heard.ctl       = foreign_set;
    end
  end
  assign rx_link = {heard, rx_good[CW-CABLE_SIDE_W-1:0]};

  // ---- player, link, core ---------------------------------------------------------------------------
  wire s_valid, s_ready, s_last, s_user, m_valid, m_last, m_user, go, up, empty;
  wire [DATA_W-1:0] s_data, m_data;
  wire [BB-1:0] s_keep, m_keep;
  wire [LANES*8-1:0] free_cells, m_credit;
  // A core may go on freeing while the link is not up (docs/link.md, C1): nothing comes of it, so it is not recorded.
  wire [LANES*8-1:0] freed = up ? free_cells : {LANES{8'd1}};
  wire [LANES-1:0] m_pause, over;
  wire [LANES*16-1:0] credits;
  wire [1:0] state;
  wire [7:0] reason;
  wire [19:0] ev;
  wire [10:0] lost;

  stream_player #(.NAME({NAME, "_s"}), .DATA_W(DATA_W)) u_player (
      .tvalid(s_valid), .tready(s_ready), .tlast(s_last), .tkeep(s_keep), .tdata(s_data), .side(s_user),
      .player_done(done[0]), .*);
  stream_sink #(.NAME({NAME, "_go"})) u_go (.tready(go), .*);

  link #(
      .DATA_W(DATA_W),
      .LANES (LANES)
  ) u_link (
      .clk          (clk),
      .rst          (rst),
      .cfg          (cfg),
      .retrain_req  (retrain_req),
      .s_axis_tvalid(s_valid),
      .s_axis_tready(s_ready),
      .s_axis_tdata (s_data),
      .s_axis_tkeep (s_keep),
      .s_axis_tlast (s_last),
      .s_axis_tuser (s_user && s_last),
      .m_axis_tvalid(m_valid),
      .m_axis_tdata (m_data),
      .m_axis_tkeep (m_keep),
      .m_axis_tlast (m_last),
      .m_axis_tuser (m_user),
      .free_cells   (freed),
      .m_credit     (m_credit),
      .s_pause      (s_pause),
      .m_pause      (m_pause),
      .up           (up),
      .drained      (empty && allow),
      .tx           (tx),
      .rx           (rx_link),
      .credits      (credits),
      .state        (state),
      .reason       (reason),
      .ev           (ev),
      .lost         (lost)
  );

  link_core #(
      .LANES(LANES)
  ) u_core (
      .clk       (clk),
      .rst       (rst),
      .cfg_roce  (cfg.roce),
      .cfg_all   (core_all),
      .cfg_size  (core_size),
      .up        (up),
      .tvalid    (m_valid),
      .tlast     (m_last),
      .thead     (m_data[127:0]),
      .go        (go),
      .free_cells(free_cells),
      .empty     (empty),
      .over      (over)
  );

  // ---- records --------------------------------------------------------------------------------------
  cable_side_t out;
  assign out = tx[CW-1-:CABLE_SIDE_W];
  // a trailer is part of a native segment's last beat only
  wire [63:0] trailer = out.last && !cfg.roce ? out.trailer : 64'd0;
  assign busy = s_valid || m_valid || out.valid || free_cells != '0;

  stream_monitor #(.NAME({NAME, "_s"}), .DATA_W(DATA_W)) u_s (
      .tvalid(s_valid), .tready(s_ready), .tlast(s_last), .tkeep(s_keep), .tdata(s_data), .side(s_user), .*);
  stream_monitor #(.NAME({NAME, "_m"}), .DATA_W(DATA_W)) u_m (
      .tvalid(m_valid), .tready(1'b1), .tlast(m_last), .tkeep(m_keep), .tdata(m_data), .side(m_user && m_last), .*);
  stream_monitor #(.NAME({NAME, "_tx"}), .DATA_W(DATA_W), .SIDE_W(74)) u_tx (
      .tvalid(out.valid), .tready(1'b1), .tlast(out.last), .tkeep(tx[DATA_W+:BB]), .tdata(tx[DATA_W-1:0]),
      .side({out.first, out.off, trailer}), .*);
  event_recorder #(.NAME({NAME, "_ctl"}), .W(74)) u_ctl (
      .value(out.ctl_valid ? {1'b1, out.ctl_off, out.ctl} : 74'd0), .*);
  event_recorder #(.NAME({NAME, "_sig"}), .W(1), .CHANGE(1'b1)) u_sig (.value(out.sig), .*);
  event_recorder #(.NAME({NAME, "_free"}), .W(LANES * 8)) u_free (.value(free_cells), .*);
  event_recorder #(.NAME({NAME, "_over"}), .W(LANES)) u_over (.value(over), .*);
  event_recorder #(.NAME({NAME, "_credit"}), .W(LANES * 8)) u_credit (.value(m_credit), .*);
  event_recorder #(.NAME({NAME, "_pausing"}), .W(LANES), .CHANGE(1'b1)) u_pausing (.value(m_pause), .*);
  event_recorder #(.NAME({NAME, "_credits"}), .W(LANES * 16), .CHANGE(1'b1)) u_credits (.value(credits), .*);
  event_recorder #(.NAME({NAME, "_up"}), .W(1), .CHANGE(1'b1)) u_up (.value(up), .*);
  event_recorder #(.NAME({NAME, "_state"}), .W(2), .CHANGE(1'b1)) u_state (.value(state), .*);
  event_recorder #(.NAME({NAME, "_reason"}), .W(8), .CHANGE(1'b1)) u_reason (.value(reason), .*);
  event_recorder #(.NAME({NAME, "_ev"}), .W(31)) u_ev (.value({ev[18] ? lost : 11'd0, ev}), .*);
  event_recorder #(.NAME({NAME, "_fec"}), .W(6)) u_fec (.value(cw_done ? {cw_failed, cw_corrected} : 6'd0), .*);

endmodule

`default_nettype wire
