// SPDX-License-Identifier: Apache-2.0
// Retry, sender's side (docs/link.md, R1 to R7): records what leaves, frees it when acknowledged, gives it again.
// The tail [ap, wp) is recorded; a replay reads from rp. One beat a cycle in and out; the first beat of a replay
// is at `word` two cycles after `begins`. Numbers are modulo 2^20; outstanding ones stay far below half of that,
// because a segment has a beat and BEATS of them are kept.
`default_nettype none
`include "microhop_assert.svh"

module link_replay
  import spec_pkg::*;
#(
    parameter  int W     = 600,                /// bits of a recorded beat
    parameter  int M     = 66,                 /// beats of a largest frame
    parameter  int BEATS = LINK_REPLAY_BEATS,  /// beats recorded, a power of two above M
    parameter  int TW    = 16,                 /// bits of the time-out
    localparam int AW = $clog2(BEATS)
) (
    input  wire          clk,         /// clock
    input  wire          rst,         /// synchronous reset, active high
    input  wire          fresh,       /// state OFF: nothing is recorded, numbers stand at init_seq
    input  wire          tx_on,       /// the far end takes segments
    input  wire  [ 19:0] init_seq,    /// first number
    input  wire  [TW-1:0] timeout,   /// cycles without progress before a replay
    input  wire  [  7:0] limit,       /// replays without progress; 255: no limit
    input  wire          rec,         /// a new beat leaves
    input  wire          rec_last,    /// it ends its segment
    input  wire  [W-1:0] rec_word,    /// what to record of it
    input  wire          open,        /// a segment is open on the wire
    input  wire  [ 19:0] s,           /// number of the segment that is or will be on the wire
    input  wire          heard,       /// ACK or NACK, one cycle behind the PHY's output
    input  wire          heard_nack,  /// it is a NACK
    input  wire  [ 19:0] heard_seq,   /// its number
    input  wire          resume,      /// after a retrain: replay what is recorded
    input  wire          take,        /// `word` leaves
    output logic         valid,       /// `word` is the next beat of a replay
    output logic [W-1:0] word,        /// recorded beat
    output logic         running,     /// a replay runs: no new beat leaves
    output wire          halt,        /// no beat leaves in this cycle: a replay begins, is dropped or refused
    output wire          restart,     /// s becomes `restart_s`
    output wire  [ 19:0] restart_s,   /// first number to send again
    output logic         room,        /// a largest frame can be recorded
    output wire          give_up,     /// the limit is reached: train anew
    output wire          progress,    /// the far end has taken something
    output wire          recorded,    /// something is not acknowledged
    output wire  [ 19:0] acked,       /// last number acknowledged
    output wire  [ 10:0] fate,        /// segments that are not acknowledged
    output wire  [  3:0] events       /// {NACK received, progress, time-out, replay}
);

  if (BEATS != 1 << AW || M < 1 || M >= BEATS) begin : g_sizes
    initial $fatal(1, "link_replay: BEATS %0d, M %0d; allowed: a power of two, 1 to BEATS - 1", BEATS, M);
  end

  logic [W-1:0] mem [1 << AW];
  logic [AW-1:0] ends [1 << AW];  // end(n), place by the number's low bits
  logic [AW:0] wp, ap, rp;
  logic [19:0] n, ack;  // next number to record; last acknowledged
  logic want;
  logic [TW-1:0] timer;
  logic [7:0] count;

  // ---- ACK and NACK ------------------------------------------------------------------------------------
  wire [19:0] out = n - 20'd1 - ack;  // outstanding
  wire [19:0] step = heard_seq - ack;
  wire judged = heard && tx_on;
  wire valid_ack = judged && step != 20'd0 && step <= out;
  wire nack = judged && heard_nack && (valid_ack || step == 20'd0);
  wire [AW-1:0] end_low = ends[heard_seq[AW-1:0]];
  // The record holds at most 2^AW beats, so the distance to wp tells which lap the end lies in.
  wire [AW-1:0] behind = wp[AW-1:0] - end_low;
  wire [AW:0] new_ap = wp - (AW + 1)'(behind);
  // Room for a largest frame is worked out a cycle ahead: the sender's choice hangs on it. `used` is wp - ap.
  logic [AW:0] used;
  wire [AW:0] kept = valid_ack ? (AW + 1)'(behind) : used;

  // ---- when a replay begins ------------------------------------------------------------------------------
  wire due = want && !open && tx_on;
  wire empty = ap == wp;
  wire at_limit = limit != 8'd255 && count == limit;
  wire begins = due && !empty && !at_limit;
  wire [19:0] ahead = ack + 20'd1 - s;
  logic passed;  // acked+1 was ahead of s in the cycle before
  wire skips = running && !open && !due && passed;
  wire fires = tx_on && timer == timeout && !want;
  assign halt = due || skips;
  assign give_up = due && !empty && at_limit;
  assign restart = begins || skips || (due && empty);
  assign restart_s = ack + 20'd1;
  wire ending = take && rp + 1'b1 == wp;

  always_ff @(posedge clk) begin
    if (rst || fresh) begin
      wp      <= '0;
      ap      <= '0;
      used    <= '0;
      room    <= 1'b1;
      rp      <= '0;
      n       <= init_seq;
      ack     <= init_seq - 20'd1;
      want    <= 1'b0;
      running <= 1'b0;
      passed  <= 1'b0;
      valid   <= 1'b0;
      timer   <= '0;
      count   <= '0;
    end else begin
      if (rec) wp <= wp + 1'b1;
      used <= rec ? kept + 1'b1 : kept;
      room <= rec ? kept < (AW + 1)'(BEATS - M) : kept <= (AW + 1)'(BEATS - M);
      if (rec && rec_last) n <= n + 20'd1;
      if (valid_ack) begin
        ack <= heard_seq;
        ap  <= new_ap;
      end
      want <= resume || (tx_on && (nack || fires || (want && !due)));
      passed <= tx_on && running && !restart && ahead != 20'd0 && ahead <= 20'h8_0000;
      if (!tx_on) begin
        running <= 1'b0;
        valid   <= 1'b0;
      end else if (restart) begin
        running <= begins || !empty;
        rp      <= ap;
        valid   <= 1'b0;
      end else if (running) begin
        if (take) rp <= rp + 1'b1;
        valid <= !ending;
        if (ending) running <= 1'b0;
      end
      if (!tx_on || out == 20'd0 || valid_ack || want || running) timer <= '0;
      else timer <= timer + 1'b1;
      if (!tx_on) count <= '0;
      else if (begins) count <= (valid_ack ? 8'd0 : count) + 8'd1;
      else if (valid_ack) count <= '0;
    end
  end

  // ---- the record ------------------------------------------------------------------------------------------
  wire [AW-1:0] read = rp[AW-1:0] + AW'(take);
  always_ff @(posedge clk) begin
    if (rec) mem[wp[AW-1:0]] <= rec_word;
    if (rec && rec_last) ends[n[AW-1:0]] <= wp[AW-1:0] + 1'b1;
    if (running) word <= mem[read];
  end

  assign progress = valid_ack;
  assign recorded = !empty;
  assign acked = ack;
  assign fate = out[10:0];
  assign events = {nack, valid_ack, fires, begins};

  // What is recorded fits, and the numbers in flight are unique.
  `MH_ASSERT(a_room, wp - ap <= (AW + 1)'(BEATS))
  `MH_ASSERT(a_used, used == wp - ap)
  `MH_ASSERT(a_outstanding, out <= 20'(wp - ap))
  // an acknowledgement inside an open segment passes it; R7 acts behind its end
  `MH_ASSERT(a_replay, !running || wp - rp <= wp - ap || (ahead != 20'd0 && ahead <= 20'h8_0000))
  `MH_ASSERT(a_no_record_in_replay, !(rec && running))
  `MH_NEVER_X(a_known, {wp, ap, used, room, n, ack, want, running, valid, timer, count})

endmodule

`default_nettype wire
