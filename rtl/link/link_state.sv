// SPDX-License-Identifier: Apache-2.0
// Bring-up of one end: OFF, INIT, UP, RETRAIN; agreement on the mode, or the reason why not (docs/link.md, B1 to B10).
// All outputs are registers, but `fresh`, `load`, `resume`, `accept_e` which go with the state or the event's cycle.
`default_nettype none
`include "microhop_assert.svh"

module link_state
  import microhop_pkg::*;
  import spec_pkg::*;
#(
    parameter int LANES = 1  /// virtual lanes
) (
    input  wire         clk,          /// clock
    input  wire         rst,          /// synchronous reset, active high
    input  wire  [LINK_CFG_W-1:0] cfg,  /// link_cfg_t
    input  wire         drained,      /// the core is empty
    input  wire         retrain_req,  /// train anew
    input  wire         give_up,      /// the replay limit is reached
    input  wire         progress,     /// the far end has taken something
    input  wire         recorded,     /// something waits for it to be taken
    input  wire         rx_sig,       /// signal behind the PHY
    input  wire         heard_init,   /// INIT, one cycle behind the PHY's output
    input  wire         heard_echo,   /// ECHO, likewise
    input  wire  [35:0] heard_word,   /// its {number, data}
    input  wire  [19:0] e,            /// number expected
    input  wire  [19:0] acked,        /// last number acknowledged
    input  wire         sent_echo,    /// the ECHO leaves
    output logic [ 1:0] state,        /// 0 OFF, 1 INIT, 2 UP, 3 RETRAIN
    output wire         fresh,        /// state OFF
    output logic        sig,          /// signal to the cable
    output logic        up,           /// the core may send and receive
    output logic        tx_on,        /// the far end takes segments
    output logic        rx_on,        /// this end takes segments
    output logic        want_echo,    /// an ECHO is due
    output logic [35:0] echo,         /// its {number, data}, those of the accepted INIT
    output wire  [35:0] init,         /// the INIT of this session
    output wire         in_init,      /// INITs are due
    output wire         enter_init,   /// the next cycle is the first of INIT
    output wire         load_e,       /// e becomes that of the INIT in heard_word
    output wire         load_cells,   /// far cells become far_cells
    output wire  [ 9:0] far_cells,    /// cells of a lane at the far end
    output wire         resume,       /// a replay is wanted from the next cycle on
    output wire         resumed,      /// rx_on comes up after a retrain
    output wire         retrains,     /// last cycle before RETRAIN
    output wire         downs,        /// last cycle before OFF
    output wire         refused,      /// an INIT is refused
    output logic [ 7:0] reason        /// why the link is not up
);

  localparam logic [1:0] OFF = 2'd0, INIT = 2'd1, UP = 2'd2, RETRAIN = 2'd3;

  /* verilator lint_off UNUSEDSIGNAL */  // the rest of cfg is for others
  link_cfg_t c;
  /* verilator lint_on UNUSEDSIGNAL */
  assign c = cfg;

  logic        again;  // this session resumes after a retrain
  logic        accepted;  // `echo` holds an accepted INIT of this session
  logic [ 2:0] session;
  logic [15:0] timer;  // cycles in this state
  logic [ 7:0] retrain_cnt;  // retrains since the last progress, held at the maximum
  logic        sig_before;

  wire last_off = timer >= c.retrain - 16'd1;

  // ---- what an INIT means --------------------------------------------------------------------------------
  wire listening = state == INIT || state == UP;
  wire judged = heard_init && listening;
  wire far_resume = heard_word[15];
  wire [2:0] differs = {heard_word[9:6] != 4'(LANES - 1), heard_word[10] != c.kp4, heard_word[11] != c.roce};
  wire same = accepted && heard_word == echo;
  wire [19:0] ahead = e - heard_word[35:16];
  assign refused = judged && differs != '0;
  wire ok = judged && differs == '0 && !same;
  wire anew = ok && far_resume && rx_on && (again || state == UP);  // it trains anew: so do we
  wire fits = ahead <= 20'h8_0000;
  wire bad_number = ok && far_resume && !rx_on && again && !fits && !c.roce;
  wire accept = ok && !rx_on && (far_resume ? again && (fits || c.roce) : !again);
  wire answered = heard_echo && listening && heard_word == init && !tx_on;

  // ---- transitions -----------------------------------------------------------------------------------------
  wire sig_falls = sig_before && !rx_sig;
  // In INIT too: what was agreed is the far end's past. It must not stay, or two ends whose INITs cross train for ever.
  wire forgets = state == INIT && (rx_on || tx_on) && sig_falls;
  wire far_restart = (ok && !far_resume && (again || rx_on)) || (forgets && !again);
  wire no_answer = state == INIT && timer >= c.init_timeout - 16'd1 && !(rx_on && tx_on);
  wire train = (state == UP && (sig_falls || give_up || retrain_req)) || anew || (forgets && again);
  wire no_progress = train && !c.roce && retrain_cnt == 8'(LINK_RETRAIN_MAX);
  wire to_off = state != OFF && (!c.enable || far_restart || bad_number || no_answer || no_progress);
  wire to_retrain = train && !to_off;
  wire to_init = (state == OFF && c.enable && drained && last_off) || (state == RETRAIN && last_off && !to_off);

  assign fresh      = state == OFF;
  assign in_init    = state == INIT && !tx_on;
  assign enter_init = to_init;
  assign init       = {again ? acked + 20'd1 : c.init_seq, again, session, c.roce, c.kp4, 4'(LANES - 1), c.cells};
  assign load_e     = (rst && c.preset) || (accept && !far_resume);
  assign load_cells = load_e;
  assign far_cells  = {rst ? c.cells : heard_word[5:0], 4'd0};
  assign resume     = answered && again && !to_off && !to_retrain;
  assign resumed    = accept && far_resume && !to_off && !to_retrain;
  assign retrains   = to_retrain;
  assign downs      = to_off;

  always_ff @(posedge clk) begin
    sig_before <= rx_sig && !rst;
    if (rst) begin
      state       <= c.preset ? UP : OFF;
      sig         <= 1'b0;
      up          <= c.preset;
      tx_on       <= c.preset;
      rx_on       <= c.preset;
      want_echo   <= 1'b0;
      again       <= 1'b0;
      accepted    <= 1'b0;
      session     <= '0;
      timer       <= '0;
      retrain_cnt <= '0;
      reason      <= '0;
    end else begin
      sig   <= state == INIT || state == UP;
      timer <= (to_off || to_retrain || to_init) ? 16'd0 : timer == '1 ? timer : timer + 16'd1;

      if (to_off) begin
        state <= OFF;
        {up, tx_on, rx_on, again, accepted, want_echo} <= '0;
      end else if (to_retrain) begin
        state <= RETRAIN;
        again <= 1'b1;
        {tx_on, rx_on, accepted, want_echo} <= '0;
      end else if (to_init) begin
        state   <= INIT;
        session <= session + 3'd1;
      end else begin
        if (accept) {rx_on, up, accepted} <= 3'b111;
        if (answered) tx_on <= 1'b1;
        if (accept || (judged && same)) want_echo <= 1'b1;
        else if (sent_echo) want_echo <= 1'b0;
        if (state == INIT && rx_on && tx_on) state <= UP;
        if (state == UP) again <= 1'b0;
      end

      if (progress || to_off) retrain_cnt <= '0;
      else if (to_retrain && recorded && retrain_cnt != 8'(LINK_RETRAIN_MAX)) retrain_cnt <= retrain_cnt + 8'd1;

      // The reason stays until both directions are on.
      if (rx_on && tx_on && !to_off && !to_retrain) reason <= '0;
      else begin
        if (refused) reason[2:0] <= reason[2:0] | differs;
        if (no_answer) reason[3] <= 1'b1;
        if (no_progress) reason[4] <= 1'b1;
        if (far_restart) reason[5] <= 1'b1;
        if (bad_number) reason[6] <= 1'b1;
        if (state == UP && give_up) reason[7] <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk) if (rst) echo <= '0; else if (accept) echo <= heard_word;

  `MH_ASSERT(a_on, !(tx_on || rx_on) || state == INIT || state == UP)
  `MH_ASSERT(a_up, up || !rx_on)
  `MH_NEVER_X(a_known, {state, sig, up, tx_on, rx_on, want_echo, reason, rx_sig})

endmodule

`default_nettype wire
