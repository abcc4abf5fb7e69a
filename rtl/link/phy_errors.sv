// SPDX-License-Identifier: Apache-2.0
// A PHY that errs: what passes is cut into codewords, and those with more wrong symbols than the FEC corrects damage
// what they carry (docs/link.md, E2 to E6). For simulation, before the receiving link; not a design to be
// synthesised. Through in 0 cycles; no stall. With cfg_on=0 everything passes unchanged (but for `cut`) and costs a
// simulator one counter.
`default_nettype none
`include "microhop_assert.svh"

module phy_errors
  import microhop_pkg::cable_side_t, microhop_pkg::CABLE_SIDE_W;
#(
    parameter int DATA_W = 512,  /// stream width, bits: 512 or 1024
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire          clk,            /// clock
    input  wire          rst,            /// synchronous reset, active high; the thresholds stay
    input  wire          cfg_on,         /// codewords fail and faults are made; may change at any time
    input  wire          cfg_kp4,        /// 0: RS(272,257); 1: RS(544,514); steady outside reset
    input  wire  [ 63:0] cfg_seed,       /// of all that is drawn; this and bursts: steady while cfg_on
    input  wire          thr_we,         /// a threshold is written
    input  wire  [  4:0] thr_addr,       /// number j of wrong symbols, 1..31
    input  wire  [ 63:0] thr_data,       /// 2^64 x probability of j wrong symbols or more
    input  wire  [ 63:0] cfg_burst_thr,  /// 2^64 x probability that a burst starts in a codeword
    input  wire  [ 11:0] cfg_burst_len,  /// symbols of a burst
    input  wire  [ 63:0] cfg_lose_thr,   /// 2^64 x probability that what passes in a cycle is lost; these two: at any time
    input  wire  [ 63:0] cfg_repeat_thr, /// 2^64 x probability that what passed last comes again in a cycle
    input  wire  [  1:0] fault,          /// 1: lost, 2: what passed last again, 3: the codeword fails (E5)
    input  wire          cut,            /// nothing passes, no signal; whatever cfg_on
    input  wire  [CW-1:0] s,             /// from the cable: {cable_side_t, keep, data}
    output wire  [CW-1:0] m,             /// to the receive PHY, in the same cycle
    output logic         cw_done,        /// a codeword ended in the cycle before
    output logic [  4:0] cw_corrected,   /// with cw_done: symbols corrected in it, 0 when it failed
    output logic         cw_failed       /// with cw_done: it failed
);

  localparam logic [10:0] RATE = 11'(spec_pkg::LINK_RATE_BYTES * DATA_W / 512);

  // Output function of splitmix64 at its (i+1)-th state from s: any draw by its number.
  function automatic logic [63:0] hash(input logic [63:0] from, input logic [63:0] i);
    logic [63:0] z;
    z = from + (i + 64'd1) * 64'h9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 64'hBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 64'h94D049BB133111EB;
    return z ^ (z >> 31);
  endfunction

  // What a failed codeword does to bytes 0 to 7 of eight: no byte stays.
  function automatic logic [63:0] damage(input logic [63:0] from, input logic [63:0] codeword);
    return hash(from, codeword + 64'h8000000000000000) | 64'h0101010101010101;
  endfunction

  wire [10:0] size = cfg_kp4 ? 11'(spec_pkg::FEC_KP4_BYTES) : 11'(spec_pkg::FEC_LLFEC_BYTES);
  wire [12:0] n = cfg_kp4 ? 13'(spec_pkg::FEC_KP4_N) : 13'(spec_pkg::FEC_LLFEC_N);
  wire [12:0] t = cfg_kp4 ? 13'(spec_pkg::FEC_KP4_T) : 13'(spec_pkg::FEC_LLFEC_T);

  // ---- codewords: the one of this cycle's first byte (0), and the next (1) ------------------------------
  logic [63:0] thr [32];
  logic [10:0] at;  // place of the cycle's first byte in codeword 0
  logic [63:0] w;  // number of codeword 0
  logic [12:0] k0, k1;  // wrong symbols
  logic forced;  // by fault 3
  logic [12:0] carry;  // symbols of bursts that reach beyond codeword 1

  wire [10:0] at_next = at + RATE;
  wire ends = at_next >= size;
  wire fail0 = cfg_on && (k0 > t || forced || fault == 2'd3);
  wire fail1 = cfg_on && k1 > t;

  always_ff @(posedge clk) if (thr_we) thr[thr_addr] <= thr_data;

  // ---- losses and repetitions by rate: a draw a cycle, told apart by where its first byte lies -----------
  logic [63:0] dice;
  logic [1:0] kind;  // the fault of this cycle, a directed one first
  always_comb begin
    dice = '0;
    kind = fault;
    if (cfg_on && fault == 2'd0 && (cfg_lose_thr != '0 || cfg_repeat_thr != '0)) begin
      dice = hash(cfg_seed, {2'b01, w[50:0], at});
      if (dice < cfg_lose_thr) kind = 2'd1;
      else if (~dice < cfg_repeat_thr) kind = 2'd2;
    end
  end

  // Codeword w+2, judged in the last cycle of codeword w.
  logic [12:0] k2, carry2;
  logic [63:0] draw;
  logic [12:0] place, from, old, until_;
  always_comb begin
    k2     = '0;
    carry2 = '0;
    draw   = '0;
    place  = '0;
    from   = '0;
    old    = '0;
    until_ = '0;
    if (ends && cfg_on) begin
      draw = hash(cfg_seed, (w << 1) + 64'd4);
      for (int j = 1; j < 32; j++) k2 = k2 + 13'(draw < thr[j]);
      // symbols 0 to old-1 are a burst of before, from to until_-1 one that starts here
      old    = carry > n ? n : carry;
      from   = old;
      until_ = old;
      draw   = hash(cfg_seed, (w << 1) + 64'd5);
      carry2 = carry - old;
      if (draw < cfg_burst_thr) begin
        place  = 13'(hash(~cfg_seed, (w << 1) + 64'd5) % 64'(n));
        // it ends behind those of before: it is as long
        until_ = place + 13'(cfg_burst_len);
        if (until_ > n) begin
          carry2 = until_ - n;
          until_ = n;
        end
        if (place > from) from = place;
      end
      k2 = k2 + old + until_ - from;
    end
  end

  always_ff @(posedge clk) begin
    cw_done <= 1'b0;
    if (rst) begin
      at <= '0;
      w  <= '0;
    end else if (ends) begin
      at <= at_next - size;
      w  <= w + 64'd1;
    end else begin
      at <= at_next;
    end
    if (rst || !cfg_on) begin
      k0     <= '0;
      k1     <= '0;
      carry  <= '0;
      forced <= 1'b0;
    end else if (ends) begin
      k0           <= k1;
      k1           <= k2;
      carry        <= carry2;
      forced       <= 1'b0;
      cw_done      <= 1'b1;
      cw_failed    <= fail0;
      cw_corrected <= fail0 ? 5'd0 : 5'(k0);
    end else if (fault == 2'd3) begin
      forced <= 1'b1;
    end
  end

  // ---- what passes --------------------------------------------------------------------------------------
  cable_side_t near, far;
  wire [BB-1:0] keep = s[DATA_W+:BB];
  assign near = s[DATA_W+BB+:CABLE_SIDE_W];

  logic [DATA_W-1:0] data;
  logic [63:0] trailer, d0, d1;
  logic ctl_hit;
  logic [10:0] p;  // place of a byte
  always_comb begin
    data    = s[DATA_W-1:0];
    trailer = near.trailer;
    ctl_hit = 1'b0;
    p       = '0;
    d0      = '0;
    d1      = '0;
    if (fail0 || fail1) begin
      p = at + 11'(near.ctl_off);
      ctl_hit = (fail0 && p < size) || (fail1 && p + 11'd7 >= size);
      if (near.valid) begin
        d0 = damage(cfg_seed, w);
        d1 = damage(cfg_seed, w + 64'd1);
        p = at + 11'(near.off);
        for (int i = 0; i < BB; i++) begin
          if (keep[i]) begin
            if (p < size ? fail0 : fail1) data[i*8+:8] = data[i*8+:8] ^ (p < size ? d0[i%8*8+:8] : d1[i%8*8+:8]);
            p = p + 11'd1;
          end
        end
        if (near.last) begin
          for (int i = 0; i < 8; i++) begin
            if (p < size ? fail0 : fail1) trailer[i*8+:8] = trailer[i*8+:8] ^ (p < size ? d0[i*8+:8] : d1[i*8+:8]);
            p = p + 11'd1;
          end
        end
      end
    end
  end

  wire again = cfg_on && kind == 2'd2;
  wire own = !cut && !again && !(cfg_on && kind == 2'd1);
  assign far.sig       = near.sig && !cut;
  assign far.ctl_valid = near.ctl_valid && own && !ctl_hit;
  assign far.ctl       = near.ctl;
  assign far.ctl_off   = near.ctl_off;
  assign far.valid     = near.valid && own;
  assign far.first     = near.first;
  assign far.last      = near.last;
  assign far.off       = near.off;
  assign far.trailer   = trailer;

  // What passed last, for a repetition of it.
  logic [CW-2:0] was;
  logic was_any;
  wire [CW-1:0] word = {far, keep, data};
  wire passes = far.valid || far.ctl_valid;
  always_ff @(posedge clk) begin
    if (rst || !cfg_on) was_any <= 1'b0;
    else if (passes) was_any <= 1'b1;
    if (cfg_on && passes) was <= word[CW-2:0];
  end
  assign m = again && was_any && !cut ? {far.sig, was} : word;

  // A byte is looked for in two codewords only.
  `MH_ASSERT(a_reach, !near.valid || 32'(near.off) + BB + 8 <= 32'(spec_pkg::FEC_LLFEC_BYTES))
  `MH_ASSERT(a_ctl_reach, !near.ctl_valid || 32'(near.ctl_off) + 8 <= 32'(spec_pkg::FEC_LLFEC_BYTES))
  `MH_NEVER_X(a_known, {near.sig, near.valid, near.ctl_valid, cfg_on, fault, cut})

endmodule

`default_nettype wire
