// SPDX-License-Identifier: Apache-2.0
// link_replay beside a sender that keeps the contract (docs/link.md, S2, R1, R6, B5, B7: a frame starts only with room
// for a largest one; nothing new leaves while a replay runs; numbers go on as link_tx has them), with ACKs and NACKs of
// any number at any time, retrains in the middle of a segment, and fresh starts: what is recorded fits; every beat goes
// on the wire under the number under which it was recorded, again as well as new, so that no number means two things
// while it is outstanding; ap, rp and wp keep their order; only what was recorded whole is acknowledged; what nobody
// acknowledges is wanted again in the cycle after the time-out, not before, and after any one that `timeout` can say.
// Each beat is recorded with its segment's number and whether it is the segment's last.
`default_nettype none
`include "formal.svh"

module formal_link_replay #(
    parameter int BEATS = 8,  /// beats recorded
    parameter int M     = 3,  /// beats of a largest frame
    parameter int SEG   = 2,  /// beats of a largest segment
    parameter int FIRST = 1048574,  /// first number
    parameter int TW    = 16  /// bits of the time-out
) (
    input wire        clk,         /// clock
    input wire        rst,         /// reset
    input wire        fresh,       /// state OFF
    input wire        on,          /// the far end takes segments
    input wire        resume,      /// after a retrain
    input wire [TW-1:0] timeout,   /// cycles without progress
    input wire [ 7:0] limit,       /// replays without progress
    input wire        go,          /// a beat would leave, new or again
    input wire        ends_frame,  /// it would be its frame's last
    input wire        heard,       /// ACK or NACK
    input wire        heard_nack,  /// NACK
    input wire [19:0] heard_seq    /// its number
);

  localparam int AW = $clog2(BEATS);
  wire [19:0] init_seq = 20'(FIRST);
  localparam int W = 21;  // {last, number}

  logic tx_on, open, asked, clean, lives;
  logic [19:0] s;
  logic [7:0] frame, place;  // beats of the frame and of the segment that is recorded, so far
  wire valid, running, halt, restart, room, give_up;
  /* verilator lint_off UNUSEDSIGNAL */  // the time-out's alone is looked at
  wire [3:0] events;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [19:0] restart_s;
  wire [W-1:0] word;

  wire last_beat = ends_frame || frame == 8'(M - 1);
  wire rec = go && tx_on && !running && !halt && (frame != 0 || room);
  wire rec_last = last_beat || place == 8'(SEG - 1);
  wire take = go && valid && tx_on && !halt;
  wire [W-1:0] rec_word = {rec_last, dut.n};
  link_replay #(.W(W), .M(M), .BEATS(BEATS), .TW(TW)) dut (.progress(), .recorded(), .acked(), .fate(), .*);

  `FORMAL_START
  `FORMAL_STEADY(timeout, TW)
  always_comb begin
    assume (timeout != 0);
    assume (!resume || (!tx_on && !fresh && !rst));
  end

  // B5, B7: on after a fresh start, or with a replay wanted after a retrain, which the limit causes too
  assign tx_on = lives && on && !fresh;
  logic give_up_was, off_was;
  always_comb begin
    assume (!tx_on || !off_was || asked || clean);
    assume (!give_up_was || !tx_on);
    assume (!rst || !tx_on);
  end
  always_ff @(posedge clk) begin
    lives       <= !rst;
    give_up_was <= give_up && !rst;
    asked       <= resume && !rst && !fresh;
    clean       <= rst || fresh || (clean && !tx_on);  // nothing has left since: on without a replay
    off_was     <= !tx_on;
  end

  wire leaves = rec || take;
  wire last = take ? word[W-1] : rec_last;
  always_ff @(posedge clk) begin
    if (rst || fresh) begin
      frame <= '0;
      place <= '0;
    end else if (rec) begin
      frame <= last_beat ? 8'd0 : frame + 8'd1;
      place <= rec_last ? 8'd0 : place + 8'd1;
    end
    if (rst || !tx_on) open <= 1'b0;
    else if (leaves) open <= !last;
    if (rst || fresh) s <= init_seq;
    else if (restart) s <= restart_s;
    else if (leaves && last) s <= s + 20'd1;
  end

  // ---- what is recorded -----------------------------------------------------------------------------------
  // Counted from the newest beat on, so that no place depends on a pointer: `ended[i]` of the i-th newest, segment's
  // last or not. What was before the session counts as ends, so a segment begins where the beat before is one.
  localparam int CW = $clog2(BEATS + 2);
  logic [BEATS:0] ended;
  always_ff @(posedge clk) begin
    if (rst || fresh) ended <= '1;
    else if (rec) ended <= (BEATS + 1)'({ended, rec_last});
  end
  wire [CW-1:0] count [BEATS + 2];  // segments that end in the newest i beats
  assign count[0] = '0;
  for (genvar i = 0; i <= BEATS; i++) begin : g_count
    assign count[i+1] = count[i] + CW'(ended[i]);
  end

  wire [AW:0] used = dut.wp - dut.ap;
  wire [AW:0] again = dut.wp - dut.rp;  // beats that a replay has before it
  wire [AW:0] kept = dut.running && again > used ? again : used;  // beats that must still be there
  wire [19:0] out = dut.n - 20'd1 - dut.ack;
  wire [W-1:0] next = dut.mem[dut.rp[AW-1:0]];

  // ---- when a time-out is (R3) ------------------------------------------------------------------------------
  // `still`: cycles up to now, none between, in which segments were outstanding, none was taken, none sent again.
  wire [19:0] steps = heard_seq - dut.ack;
  wire moves = heard && tx_on && steps != 0 && steps <= 20'(count[used]);
  wire stands = tx_on && count[used] != 0 && !moves && !dut.want && !running;
  logic [TW:0] still;
  wire fires = tx_on && !dut.want && still == {1'b0, timeout};
  wire asks = heard && heard_nack && tx_on && (moves || steps == 0);
  logic fired, wanted, asked_nack;  // in the cycle before
  // R4: replays since the last progress; that of their own cycle comes first
  logic [7:0] tries;
  wire [7:0] so_far = moves ? 8'd0 : tries;
  always_ff @(posedge clk) tries <= rst || fresh || !tx_on ? 8'd0 : so_far + 8'(events[0]);
  always_ff @(posedge clk) begin
    still      <= rst || fresh || !stands ? '0 : still + 1'b1;
    fired      <= fires && !rst && !fresh;
    wanted     <= dut.want && !rst && !fresh;
    asked_nack <= asks && !rst && !fresh;
  end

  for (genvar i = 0; i < BEATS; i++) begin : g_at
    wire here = i < 32'(kept);
    wire [19:0] number = dut.n - 20'(count[i+1]);
    wire [W-1:0] at = dut.mem[AW'(dut.wp-(AW+1)'(i + 1))];
    wire [AW-1:0] its_end = dut.ends[number[AW-1:0]];
    always_ff @(posedge clk) begin
      if (!rst && here) begin
        a_numbers : assert (at == {ended[i], number});
        if (ended[i]) a_ends : assert (its_end == AW'(dut.wp - (AW + 1)'(i)));
      end
    end
  end

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_room : assert (dut.used == used && room == (32'(used) + M <= BEATS));  // S8, though worked out a cycle ahead
      a_fits : assert (used <= (AW + 1)'(BEATS) && 32'(used) + (frame != 0 ? M - 32'(frame) : 0) <= BEATS);
      a_kept : assert (kept <= (AW + 1)'(BEATS) && (32'(kept) + (frame != 0 ? M - 32'(frame) : 0) <= BEATS || running));
      if (used <= (AW + 1)'(BEATS)) begin
        // acknowledged is whole segments, and what is outstanding is what is recorded
        a_whole : assert (ended[used]);
        a_next : assert (out == 20'(count[used]));
      end
      a_window : assert (out <= 20'(used) && out < 20'h8_0000);
      if (used == 0) a_nothing : assert (out == 0 && place == 0);
      a_segment : assert (place < 8'(SEG) && frame < 8'(M) && place <= frame && ended[0] == (place == 0));
      // on the wire
      if (rec) a_new : assert (s == dut.n && open == (place != 0));
      if (take) a_again : assert (word[19:0] == s && word == next);
      if (running) begin
        a_order : assert (again != 0 && again <= (AW + 1)'(BEATS));
        if (again <= (AW + 1)'(BEATS)) a_number : assert (s == dut.n - 20'(count[again]) && open == !ended[again]);
        if (valid) a_word : assert (word == next);
      end
      if (tx_on && !running && !dut.want) a_caught_up : assert (s == dut.n && open == (place != 0));
      if (dut.want && open && !running) a_open : assert (s == dut.n && place != 0);
      if (open) a_tx_on : assert (!off_was);
      a_timer : assert (dut.timer == still[TW-1:0]);
      a_still : assert (still <= {1'b0, timeout} + 1'b1);
      if (still > {1'b0, timeout}) a_fired : assert (dut.want);
      // a replay is wanted in the cycle after the time-out, and never of itself
      if (used <= (AW + 1)'(BEATS)) a_fires : assert (events[1] == fires);
      if (fired) a_wants : assert (dut.want);
      if (dut.want && !wanted) a_why : assert (fired || asked || asked_nack);
      a_tries : assert (dut.count == tries);
      a_valid : assert (!valid || running);
      if (clean && !tx_on) a_clean : assert (dut.wp == 0 && dut.n == init_seq && s == init_seq && frame == 0);
      a_off : assert (!off_was || (!running && !valid && !open));
      c_full : cover (used == (AW + 1)'(BEATS));
      c_lap : cover (running && dut.rp[AW] != dut.wp[AW] && take);
      c_skips : cover (dut.skips && !dut.empty && again > used);
      c_part : cover (running && place != 0 && take && again == 1);
      c_limit : cover (give_up);
    end
  end

endmodule

`default_nettype wire
