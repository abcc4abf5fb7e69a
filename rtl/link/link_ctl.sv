// SPDX-License-Identifier: Apache-2.0
// Control sets of one end: which of them leaves when, and what the far end's say (docs/link.md, Units, K1 to K6).
// Latency: sent sets are decided from registers and given in the same cycle; a received one is read in its cycle (CF) or
// one cycle later (the rest, `h_*`). One set in LINK_CTL_SPACING cycles.
`default_nettype none
`include "microhop_assert.svh"

module link_ctl
  import spec_pkg::*;
(
    input  wire         clk,        /// clock
    input  wire         rst,        /// synchronous reset, active high
    input  wire         fresh,      /// state OFF
    input  wire         native,     /// ACK, NACK and CF are in use
    input  wire         rx_on,      /// this end takes segments
    input  wire         resumed,    /// rx_on comes up after a retrain: in the next cycle refreshes count as passed
    // bring-up
    input  wire         want_echo,  /// an ECHO is due
    input  wire [ 35:0] echo,       /// its {number, data}
    input  wire         in_init,    /// state INIT and not answered: INITs are due
    input  wire         enter_init, /// the next cycle is the first of INIT
    input  wire [ 35:0] init,       /// {number, data} of the INIT
    output wire         sent_echo,  /// the ECHO leaves
    // retry, receiver's side
    input  wire [ 19:0] e,          /// number expected
    input  wire         v_taken,    /// a segment is taken
    input  wire         v_nack,     /// a NACK is wanted
    input  wire         v_dup,      /// a duplicate wants an ACK
    // credits
    input  wire         many,       /// a CF is due soon
    input  wire         some,       /// a CF is due in time
    input  wire [ 39:0] cf_words,   /// its two entries
    output wire         sent_cf,    /// the CF leaves
    output wire         sent_nack,  /// the NACK leaves
    // to and from the wire
    output wire         send,       /// a set leaves
    output logic [63:0] set,        /// it
    input  wire         in_valid,   /// a set is behind the PHY
    /* verilator lint_off UNUSEDSIGNAL */  // spare bits of a set
    input  wire [ 63:0] in_set,     /// it
    /* verilator lint_on UNUSEDSIGNAL */
    output wire         cf_valid,   /// it is a CF
    output wire [ 39:0] cf_heard,   /// its entries
    output logic [ 3:0] h_kind,     /// one cycle later: {ECHO, INIT, NACK, ACK}, 0: none of them
    output logic [35:0] h_word      /// its {number, data}
);

  localparam logic [7:0] TYPE = 8'h4b, K_ACK = 8'h01, K_NACK = 8'h02, K_INIT = 8'h03, K_ECHO = 8'h04, K_CF = 8'h10;
  localparam logic [3:0] O_CODE = 4'h6;

  // {number, data} of a set; the entries of a CF. Byte Dn is in bits 8n+7:8n.
  function automatic logic [63:0] form(input logic [7:0] kind, input logic [19:0] number, input logic [15:0] data);
    return {8'h0, data[15:8], data[7:0], number[3:0], O_CODE, number[11:4], number[19:12], kind, TYPE};
  endfunction
  function automatic logic [63:0] form_cf(input logic [19:0] one, input logic [19:0] two);
    return {two[3:0], 4'h0, two[11:4], two[19:12], one[3:0], O_CODE, one[11:4], one[19:12], K_CF, TYPE};
  endfunction

  // ---- clocks ----------------------------------------------------------------------------------------------
  localparam int ANY_W = $clog2(LINK_CTL_SPACING + 1), INIT_W = $clog2(LINK_INIT_INTERVAL + 1);
  localparam int ACK_W = $clog2(LINK_ACK_INTERVAL + 1), CF_W = $clog2(LINK_CREDIT_UPDATE_INTERVAL + 1);
  localparam int AGE_W = $clog2(LINK_REFRESH + 1);
  logic [ANY_W-1:0] since_any;  // cycles since the last one, held at the limit
  logic [INIT_W-1:0] since_init;
  logic [ACK_W-1:0] since_ack;
  logic [CF_W-1:0] since_cf;
  logic [AGE_W-1:0] age_ack, age_cf;  // the same for the refreshes
  logic [15:0] unacked;
  logic nack_wanted, dup_wanted, ack_last;

  wire slot = since_any >= ANY_W'(LINK_CTL_SPACING);
  wire d_init = in_init && since_init >= INIT_W'(LINK_INIT_INTERVAL);
  wire talks = native && rx_on;
  wire d_nack = talks && nack_wanted;
  // In SILENT only the refresh is ever due (a NACK goes first and leaves nothing to acknowledge): it heals a lost NACK.
  wire d_ack = talks && (unacked >= 16'(LINK_ACK_SEGMENTS) || (unacked != '0 && since_ack >= ACK_W'(LINK_ACK_INTERVAL))
            || dup_wanted || age_ack >= AGE_W'(LINK_REFRESH));
  wire d_cf = talks && (many || (some && since_cf >= CF_W'(LINK_CREDIT_UPDATE_INTERVAL)) || age_cf >= AGE_W'(LINK_REFRESH));

  assign sent_echo = slot && want_echo;
  wire sent_init = slot && !want_echo && d_init;
  assign sent_nack = slot && !want_echo && !d_init && d_nack;
  wire free = slot && !want_echo && !d_init && !d_nack;
  wire sent_ack = free && d_ack && !(d_cf && ack_last);
  assign sent_cf = free && d_cf && !(d_ack && !ack_last);
  assign send = slot && (want_echo || d_init || d_nack || d_ack || d_cf);

  always_comb begin
    if (want_echo) set = form(K_ECHO, echo[35:16], echo[15:0]);
    else if (d_init) set = form(K_INIT, init[35:16], init[15:0]);
    else if (d_nack) set = form(K_NACK, e - 20'd1, 16'd0);
    else if (sent_ack) set = form(K_ACK, e - 20'd1, 16'd0);
    else set = form_cf(cf_words[39:20], cf_words[19:0]);
  end

  always_ff @(posedge clk) begin
    if (rst || fresh) begin
      since_init  <= INIT_W'(LINK_INIT_INTERVAL);
      since_ack   <= ACK_W'(LINK_ACK_INTERVAL);
      since_cf    <= CF_W'(LINK_CREDIT_UPDATE_INTERVAL);
      age_ack     <= '0;
      age_cf      <= '0;
      unacked     <= '0;
      nack_wanted <= 1'b0;
      dup_wanted  <= 1'b0;
      ack_last    <= 1'b0;
    end else begin
      if (enter_init) since_init <= INIT_W'(LINK_INIT_INTERVAL);
      else if (sent_init) since_init <= INIT_W'(1);
      else if (since_init < INIT_W'(LINK_INIT_INTERVAL)) since_init <= since_init + 1'b1;

      if (sent_ack || sent_nack) since_ack <= ACK_W'(1);
      else if (since_ack < ACK_W'(LINK_ACK_INTERVAL)) since_ack <= since_ack + 1'b1;
      if (sent_cf) since_cf <= CF_W'(1);
      else if (since_cf < CF_W'(LINK_CREDIT_UPDATE_INTERVAL)) since_cf <= since_cf + 1'b1;

      if (resumed) age_ack <= AGE_W'(LINK_REFRESH);
      else if (sent_ack || sent_nack) age_ack <= AGE_W'(1);
      else if (age_ack < AGE_W'(LINK_REFRESH)) age_ack <= age_ack + 1'b1;
      if (resumed) age_cf <= AGE_W'(LINK_REFRESH);
      else if (sent_cf) age_cf <= AGE_W'(1);
      else if (age_cf < AGE_W'(LINK_REFRESH)) age_cf <= age_cf + 1'b1;

      if (sent_ack || sent_nack) unacked <= 16'(v_taken);
      else if (v_taken && unacked != '1) unacked <= unacked + 16'd1;
      nack_wanted <= rx_on && (v_nack || (nack_wanted && !sent_nack));
      dup_wanted <= v_dup || (dup_wanted && !sent_ack && !sent_nack);
      if (sent_ack) ack_last <= 1'b1;
      else if (sent_cf) ack_last <= 1'b0;
    end
    if (rst) since_any <= ANY_W'(LINK_CTL_SPACING);
    else if (send) since_any <= ANY_W'(1);
    else if (since_any < ANY_W'(LINK_CTL_SPACING)) since_any <= since_any + 1'b1;
  end

  // ---- what the far end says -----------------------------------------------------------------------------------
  wire known = in_valid && in_set[7:0] == TYPE && in_set[35:32] == O_CODE;
  assign cf_valid = known && in_set[15:8] == K_CF;
  assign cf_heard = {
    in_set[23:16], in_set[31:24], in_set[39:36], in_set[47:40], in_set[55:48], in_set[63:60]
  };
  always_ff @(posedge clk) begin
    if (rst) h_kind <= '0;
    else begin
      h_kind <= {
        known && in_set[15:8] == K_ECHO, known && in_set[15:8] == K_INIT,
        known && in_set[15:8] == K_NACK, known && in_set[15:8] == K_ACK
      };
    end
    if (in_valid) h_word <= {in_set[23:16], in_set[31:24], in_set[39:36], in_set[55:48], in_set[47:40]};
  end

  `MH_ASSERT(a_one, !(sent_ack && sent_cf))
  `MH_NEVER_X(a_known, {send, want_echo, in_init, nack_wanted, dup_wanted, unacked, since_any, many, some, h_kind})

endmodule

`default_nettype wire
