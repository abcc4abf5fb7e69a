// SPDX-License-Identifier: Apache-2.0
// One end of a cable: pace, credits, retry (native) or PFC and FCS (RoCE), bring-up, and the delays of the PHY.
// Every rule, to the cycle, is in docs/link.md.
// Latency at zero load: s_axis to tx LINK_START_SLACK + latency.link.tx_fifo + tx_out + cfg.phy_tx cycles; a
// segment's last beat at rx to its first at m_axis cfg.phy_rx + latency.link.rx. Exactly once and in order (native).
// m_axis and the cable side have no stall.
`default_nettype none

module link
  import microhop_pkg::*;
#(
    parameter int DATA_W = 512,  /// stream width, bits: 512 (400 Gb/s) or 1024 (800 Gb/s)
    parameter int LANES  = 1,    /// virtual lanes, 1..16; with the RoCE profile at most 8
    parameter     TAP    = "",   /// prefix of the stage stamps; empty: none
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire                  clk,            /// clock
    input  wire                  rst,            /// synchronous reset, active high
    input  wire [LINK_CFG_W-1:0] cfg,            /// link_cfg_t; steady outside reset but for enable
    input  wire                  retrain_req,    /// 1: train anew, from state UP
    input  wire                  s_axis_tvalid,  /// frames from the core
    output wire                  s_axis_tready,  /// taken
    input  wire [    DATA_W-1:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire [        BB-1:0] s_axis_tkeep,   /// valid bytes
    input  wire                  s_axis_tlast,   /// last beat of a frame
    input  wire                  s_axis_tuser,   /// with the last beat: the frame is damaged
    output wire                  m_axis_tvalid,  /// frames to the core, which has room
    output wire [    DATA_W-1:0] m_axis_tdata,   /// bytes
    output wire [        BB-1:0] m_axis_tkeep,   /// valid bytes
    output wire                  m_axis_tlast,   /// last beat of a frame
    output wire                  m_axis_tuser,   /// with the last beat: the frame is damaged
    input  wire [   LANES*8-1:0] free_cells,     /// cells of each lane that the core freed in this cycle
    output wire [   LANES*8-1:0] m_credit,       /// cells of each lane that came free at the far end
    input  wire [     LANES-1:0] s_pause,        /// RoCE: the core wants the far end to pause these lanes
    output wire [     LANES-1:0] m_pause,        /// RoCE: the far end wants these lanes paused
    output wire                  up,             /// the core may send and receive
    input  wire                  drained,        /// the core is empty: a fresh start may be made
    output wire [        CW-1:0] tx,             /// to the cable: {cable_side_t, keep, data}
    input  wire [        CW-1:0] rx,             /// from the cable
    output wire [  LANES*16-1:0] credits,        /// cells of each lane free at the far end, as known here
    output wire [           1:0] state,          /// 0 OFF, 1 INIT, 2 UP, 3 RETRAIN
    output wire [           7:0] reason,         /// why the link is not up (docs/link.md, B10)
    output wire [          19:0] ev,             /// events (docs/link.md, Events)
    output wire [          10:0] lost            /// with ev[18]: segments whose fate is unknown
);

  localparam int W = 18 + BB + DATA_W;  // bits of a recorded beat
  localparam int M = (spec_pkg::FRAME_MAX_BEATS * 64 + BB - 1) / BB;
  localparam int LW = LANES > 1 ? $clog2(LANES) : 1;

  /* verilator lint_off UNUSEDSIGNAL */  // link_state takes the rest of cfg; PHY fields of a word
  link_cfg_t c;
  cable_side_t got;  // behind the PHY
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  initial begin
    if (DATA_W != 512 && DATA_W != 1024) $fatal(1, "link: DATA_W is %0d; allowed: 512, 1024", DATA_W);
    if (LANES < 1 || LANES > 16) $fatal(1, "link: LANES is %0d; allowed: 1..16", LANES);
  end

  // ---- PHY -----------------------------------------------------------------------------------------------
  wire [CW-1:0] mac_tx, mac_rx;
  assign got = mac_rx[CW-1-:CABLE_SIDE_W];
  phy_delay #(.DATA_W(DATA_W)) u_phy_tx (.clk(clk), .rst(rst), .delay(c.phy_tx), .s(mac_tx), .m(tx));
  phy_delay #(.DATA_W(DATA_W)) u_phy_rx (.clk(clk), .rst(rst), .delay(c.phy_rx), .s(rx), .m(mac_rx));

  // ---- bring-up --------------------------------------------------------------------------------------------
  wire fresh, sig, tx_on, rx_on, want_echo, sent_echo, in_init, enter_init, load_e, load_cells, resume, resumed;
  wire retrains, downs, refused, give_up, progress, recorded;
  wire [35:0] echo, init, heard_word;
  wire [3:0] heard_kind;
  wire [9:0] far_cells;
  wire [19:0] e, acked, e_init;
  assign e_init = rst ? c.init_seq : heard_word[35:16];

  link_state #(
      .LANES(LANES)
  ) u_state (
      .clk(clk), .rst(rst), .cfg(cfg), .drained(drained), .retrain_req(retrain_req), .give_up(give_up),
      .progress(progress), .recorded(recorded), .rx_sig(got.sig), .heard_init(heard_kind[2]), .heard_echo(heard_kind[3]),
      .heard_word(heard_word), .e(e), .acked(acked), .sent_echo(sent_echo), .state(state), .fresh(fresh), .sig(sig),
      .up(up), .tx_on(tx_on), .rx_on(rx_on), .want_echo(want_echo), .echo(echo), .init(init), .in_init(in_init),
      .enter_init(enter_init), .load_e(load_e), .load_cells(load_cells), .far_cells(far_cells), .resume(resume),
      .resumed(resumed), .retrains(retrains), .downs(downs), .refused(refused), .reason(reason)
  );

  // ---- control sets ------------------------------------------------------------------------------------------
  wire v_taken, v_nack, v_dup, many, some, sent_cf, sent_nack, ctl_send, cf_valid;
  wire [39:0] cf_words, cf_heard;
  wire [63:0] ctl_set;

  link_ctl u_ctl (
      .clk(clk), .rst(rst), .fresh(fresh), .native(!c.roce), .rx_on(rx_on), .resumed(resumed), .want_echo(want_echo),
      .echo(echo), .in_init(in_init), .enter_init(enter_init), .init(init), .sent_echo(sent_echo), .e(e),
      .v_taken(v_taken), .v_nack(v_nack), .v_dup(v_dup), .many(many), .some(some),
      .cf_words(cf_words), .sent_cf(sent_cf), .sent_nack(sent_nack), .send(ctl_send), .set(ctl_set),
      .in_valid(got.ctl_valid), .in_set(got.ctl), .cf_valid(cf_valid), .cf_heard(cf_heard), .h_kind(heard_kind),
      .h_word(heard_word)
  );

  // ---- credits and pauses --------------------------------------------------------------------------------------
  wire rec, rec_last;
  wire [LW-1:0] rec_lane;
  wire pfc_wanted, pfc_sent, v_pfc;
  wire [511:0] pfc_frame;
  wire [135:0] pfc_class;

  link_credit #(
      .LANES(LANES)
  ) u_credit (
      .clk(clk), .rst(rst), .fresh(fresh), .cnt_init(c.cnt_init), .load(load_cells), .far_init(far_cells), .up(up),
      .sent(rec), .sent_lane(rec_lane), .free_cells(free_cells), .cf_valid(cf_valid && tx_on && !c.roce),
      .cf_one(cf_heard[39:20]), .cf_two(cf_heard[19:0]), .say(sent_cf), .words(cf_words), .many(many), .some(some),
      .credits(credits), .m_credit(m_credit)
  );

  link_pfc #(
      .DATA_W(DATA_W),
      .LANES(LANES)
  ) u_pfc (
      .clk(clk), .rst(rst), .forget(downs || retrains), .roce(c.roce), .tx_on(tx_on), .s_pause(s_pause), .sent(pfc_sent),
      .wanted(pfc_wanted), .frame(pfc_frame), .heard(v_pfc), .fields(pfc_class), .m_pause(m_pause)
  );

  // ---- transmit ----------------------------------------------------------------------------------------------------
  wire open, running, halt, restart, room, again_valid, again_take;
  wire [19:0] s, restart_s;
  wire [W-1:0] rec_word, again_word;
  wire [3:0] tx_events, replay_events;
  wire [10:0] fate;

  link_tx #(
      .DATA_W(DATA_W),
      .LANES(LANES)
  ) u_tx (
      .clk(clk), .rst(rst), .fresh(fresh), .roce(c.roce), .gate(c.gate), .up(up), .tx_on(tx_on), .retrains(retrains),
      .sig(sig), .init_seq(c.init_seq), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
      .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
      .s_axis_tuser(s_axis_tuser), .credits(credits), .paused(m_pause), .room(room), .running(running),
      .halt(halt), .restart(restart), .restart_s(restart_s), .rec(rec), .rec_lane(rec_lane), .rec_last(rec_last),
      .rec_word(rec_word), .open(open), .s(s), .again_valid(again_valid), .again_word(again_word),
      .again_take(again_take), .pfc_wanted(pfc_wanted), .pfc_frame(pfc_frame), .pfc_sent(pfc_sent),
      .ctl_send(ctl_send), .ctl_set(ctl_set), .tx(mac_tx), .events(tx_events)
  );

  link_replay #(
      .W(W),
      .M(M)
  ) u_replay (
      .clk(clk), .rst(rst), .fresh(fresh), .tx_on(tx_on), .init_seq(c.init_seq), .timeout(c.replay_timeout),
      .limit(c.replay_max), .rec(rec), .rec_last(rec_last), .rec_word(rec_word), .open(open), .s(s),
      .heard((heard_kind[0] || heard_kind[1]) && !c.roce), .heard_nack(heard_kind[1]), .heard_seq(heard_word[35:16]),
      .resume(resume && !c.roce), .take(again_take), .valid(again_valid), .word(again_word), .running(running),
      .halt(halt), .restart(restart), .restart_s(restart_s), .room(room), .give_up(give_up),
      .progress(progress), .recorded(recorded), .acked(acked), .fate(fate), .events(replay_events)
  );

  // ---- receive -----------------------------------------------------------------------------------------------------
  wire [4:0] rx_events;
  wire ev_frame;

  link_rx #(
      .DATA_W(DATA_W)
  ) u_rx (
      .clk(clk), .rst(rst), .roce(c.roce), .rx_on(rx_on), .up(up), .load_e(load_e), .e_init(e_init),
      .in_valid(got.valid), .in_first(got.first), .in_last(got.last), .in_trailer(got.trailer),
      .in_keep(mac_rx[DATA_W+:BB]), .in_data(mac_rx[DATA_W-1:0]), .e(e), .v_taken(v_taken),
      .v_nack(v_nack), .v_dup(v_dup), .v_pfc(v_pfc), .pfc_class(pfc_class), .v_events(rx_events),
      .m_axis_tvalid(m_axis_tvalid), .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep),
      .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .ev_frame(ev_frame)
  );

  // ---- events --------------------------------------------------------------------------------------------------------
  logic [19:0] ev_q;
  logic [10:0] lost_q;
  wire [19:0] ev_now = {
    refused, downs, retrains, tx_events[3], v_pfc, pfc_sent, tx_events[2], rx_events[4:0], sent_nack,
    replay_events, tx_events[1], ev_frame, tx_events[0]
  };
  always_ff @(posedge clk) begin
    if (rst) begin
      ev_q   <= '0;
      lost_q <= '0;
    end else begin
      if (ev_q != '0 || ev_now != '0) ev_q <= ev_now;
      if (lost_q != '0 || downs) lost_q <= downs ? fate : 11'd0;
    end
  end
  assign ev = ev_q;
  assign lost = lost_q;

  // Stage stamps at both sides of the PHY: first beats of frames.
`ifndef SYNTHESIS
  if (TAP != "") begin : g_tap
    /* verilator lint_off UNUSEDSIGNAL */  // only where frames begin and end
    cable_side_t at_tx, at_phy_tx, at_phy_rx;
    /* verilator lint_on UNUSEDSIGNAL */
    assign at_tx = mac_tx[CW-1-:CABLE_SIDE_W];
    assign at_phy_tx = tx[CW-1-:CABLE_SIDE_W];
    assign at_phy_rx = rx[CW-1-:CABLE_SIDE_W];
    // a native frame ends with the segment whose trailer says so
    link_taps #(
        .TAP(TAP)
    ) u_taps (
        .clk(clk),
        .rst(rst),
        .core_tx({s_axis_tvalid && s_axis_tready, s_axis_tlast}),
        .mac_tx({at_tx.valid, at_tx.last && (c.roce || at_tx.trailer[20])}),
        .phy_tx({at_phy_tx.valid, at_phy_tx.last && (c.roce || at_phy_tx.trailer[20])}),
        .phy_rx({at_phy_rx.valid, at_phy_rx.last && (c.roce || at_phy_rx.trailer[20])}),
        .mac_rx({got.valid, got.last && (c.roce || got.trailer[20])}),
        .core_rx({m_axis_tvalid, m_axis_tlast})
    );
  end
`endif

endmodule

`default_nettype wire
