// SPDX-License-Identifier: Apache-2.0
// P1 of the send queues: kinds of stores, and slots in which BlueFlame WQEs that come in parts are put together
// (docs/sq.md, S3 to S8). One item a cycle to P2; a slot that is given up takes a cycle in which the piece waits.
`default_nettype none
`include "microhop_assert.svh"

module sq_assemble
  import spec_pkg::*;
#(
    parameter int PW = 6  /// bits of a page number
) (
    input  wire             clk,       /// clock
    input  wire             rst,       /// synchronous reset, active high
    input  wire             p_valid,   /// a piece
    output wire             p_move,    /// it is dealt with
    output wire             p_arm,     /// it arms a completion queue: P0 waits (S2)
    input  wire  [PW-1:0]   p_page,    /// its page
    input  wire  [5:0]      p_line,    /// its line in the page
    input  wire  [511:0]    p_data,    /// its bytes
    input  wire  [63:0]     p_strb,    /// those that are stored
    input  wire             p_last,    /// last beat of its burst
    input  wire  [3:0]      p_id,      /// write ID
    output logic            i_valid,   /// an item is in P2
    output logic            i_db,      /// it is a doorbell
    output logic            i_bf,      /// it is a whole BlueFlame WQE
    output logic            i_arm,     /// it arms a completion queue
    output logic            i_bad,     /// it is refused
    output logic [PW-1:0]   i_page,    /// its page
    output logic [23:0]     i_qpn,     /// its queue pair
    output logic [15:0]     i_index,   /// index in its control segment
    output logic [4:0]      i_blocks,  /// blocks of its ds, 0..16
    output logic [2047:0]   i_data,    /// bytes of the WQE
    output logic            i_burst,   /// a beat of a burst, not what was given up
    output logic            i_last,    /// a response is due
    output logic [3:0]      i_id,      /// write ID
    output logic [31:0]     cnt_torn   /// slots given up
);

  localparam int N = SQ_BF_SLOTS;
  localparam int NW = $clog2(N);
  localparam int KW = PW + 3;
  localparam int AW = $clog2(SQ_BF_TIMEOUT + 1);
  localparam logic [6:0] MAX_DS = 7'(4 * WQE_MAX_BB);

  // slots
  logic [N-1:0] used, headed;  // headed: clean, opened by a head
  logic [KW-1:0] key [N];
  logic [AW-1:0] age [N];  // cycles since its last beat
  logic [23:0] s_qpn [N];
  logic [15:0] s_index [N];
  logic [2:0] s_blocks [N];
  logic [255:0] mask [N];
  logic [2047:0] store [N];
  logic k_torn;  // to be counted
  logic [AW-1:0] shut;  // cycles in which no clean slot is opened: a beat was lost (S6)

  // the piece as a head: bytes 0..7 of a control segment
  wire [15:0] h_index = {p_data[15:8], p_data[23:16]};
  wire [23:0] h_qpn = {p_data[39:32], p_data[47:40], p_data[55:48]};
  wire [5:0] h_ds = p_data[61:56];
  wire [4:0] h_blocks = 5'((7'(h_ds) + 7'd3) >> 2);
  wire [1:0] at = p_line[1:0];
  wire [KW-1:0] p_key = {p_page, p_line[4:2]};
  wire bf_area = p_line[5];
  wire head = bf_area && at == 2'd0 && (&p_strb[7:0]);
  wire arm = p_line == 6'd0 && p_strb == 64'h0000_00ff_0000_0000;
  wire bad = !arm && (!bf_area || (at == 2'd0 && !head && p_strb[7:0] != 8'd0));
  wire plain = head && (p_strb == 64'hff || h_ds == 6'd0 || 7'(h_ds) > MAX_DS);
  wire whole = head && !plain && (&p_strb) && h_ds <= 6'd4;
  wire part = bf_area && !bad && !plain && !whole;

  logic [N-1:0] hit, old;
  always_comb begin
    for (int s = 0; s < N; s++) begin
      hit[s] = used[s] && key[s] == p_key;
      old[s] = used[s] && age[s] >= AW'(SQ_BF_TIMEOUT);
    end
  end
  logic [NW-1:0] hit_at, old_at, free_at;
  always_comb begin
    hit_at  = '0;
    old_at  = '0;
    free_at = '0;
    for (int s = N - 1; s >= 0; s--) begin
      if (hit[s]) hit_at = NW'(s);
      if (old[s]) old_at = NW'(s);
      if (!used[s]) free_at = NW'(s);
    end
  end
  wire found = |hit;
  wire [NW-1:0] slot = found ? hit_at : free_at;
  wire spoiled = found && !headed[hit_at];
  wire clash = p_valid && head && found && !spoiled;
  wire give_up = (|old) || clash;
  wire [NW-1:0] gone = (|old) ? old_at : slot;
  assign p_move = p_valid && !give_up;
  assign p_arm  = arm;

  // what the slot holds with the piece
  wire no_slot = !found && ((&used) || (head && shut != '0));
  wire lost = p_move && part && !head && no_slot;
  wire merge = p_move && part && !no_slot;
  logic [255:0] marked;
  logic [2047:0] bytes;
  always_comb begin
    marked = found ? mask[slot] : '0;
    bytes  = found ? store[slot] : '0;
    for (int l = 0; l < 4; l++) begin
      if (at == 2'(l)) begin
        marked[64*l+:64] = marked[64*l+:64] | p_strb;
        for (int k = 0; k < 64; k++) if (p_strb[k]) bytes[512*l+8*k+:8] = p_data[8*k+:8];
      end
    end
  end
  wire clean = found ? headed[slot] : head;
  wire [2:0] need = head ? h_blocks[2:0] : s_blocks[slot];
  logic [3:0] lines;
  always_comb for (int l = 0; l < 4; l++) lines[l] = (&marked[64*l+:64]) || 3'(l) >= need;
  wire complete = merge && clean && (&lines);

  always_ff @(posedge clk) begin
    if (rst) begin
      used     <= '0;
      headed   <= '0;
      shut     <= '0;
      cnt_torn <= '0;
      k_torn   <= 1'b0;
    end else begin
      k_torn   <= give_up;
      cnt_torn <= cnt_torn + 32'(k_torn);
      if (give_up) used[gone] <= 1'b0;
      if (lost) shut <= AW'(SQ_BF_TIMEOUT);
      else if (shut != '0) shut <= shut - 1'b1;
      if (merge) begin
        used[slot]   <= !complete;
        headed[slot] <= clean;
      end
    end
    for (int s = 0; s < N; s++) if (age[s] < AW'(SQ_BF_TIMEOUT)) age[s] <= age[s] + 1'b1;
    if (merge) begin
      key[slot]   <= p_key;
      age[slot]   <= AW'(1);
      mask[slot]  <= marked;
      store[slot] <= bytes;
      if (head) begin
        s_qpn[slot]    <= h_qpn;
        s_index[slot]  <= h_index;
        s_blocks[slot] <= h_blocks[2:0];
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) i_valid <= 1'b0;
    else i_valid <= p_move || give_up;
    i_db     <= give_up ? headed[gone] : plain || (head && part && (no_slot || spoiled));
    i_bf     <= !give_up && (whole || complete);
    i_arm    <= !give_up && arm;
    i_bad    <= !give_up && bad;
    i_burst  <= !give_up;
    i_last   <= !give_up && p_last;
    i_id     <= p_id;
    i_page   <= give_up ? key[gone][KW-1:3] : p_page;
    i_qpn    <= give_up ? s_qpn[gone] : head ? h_qpn : s_qpn[slot];
    i_index  <= give_up ? s_index[gone] : head ? h_index : s_index[slot];
    i_blocks <= give_up ? 5'(s_blocks[gone]) : head ? h_blocks : 5'(s_blocks[slot]);
    if (p_valid) i_data <= part ? bytes : {1536'd0, p_data};
  end

  // Two open slots of one half would take each other's beats.
  `MH_ASSERT(a_one_slot, (hit & (hit - 1'b1)) == '0)

endmodule

`default_nettype wire
