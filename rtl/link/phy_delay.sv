// SPDX-License-Identifier: Apache-2.0
// Delay line for what a cable carries (docs/link.md, E1). Stands for one side of a PHY (SerDes, PCS, FEC, clock
// crossing) or for one direction of a cable; not a design to be synthesised, though it could be.
// Latency `delay` cycles, for beats, sets and signal alike, so order and gaps are kept. An idle line costs a
// simulator one counter: memory is touched only where an item passes.
`default_nettype none
`include "microhop_assert.svh"

module phy_delay
  import microhop_pkg::*;
#(
    parameter  int DATA_W = 512,  /// stream width, bits
    localparam int BB = DATA_W / 8,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire           clk,    /// clock
    input  wire           rst,    /// synchronous reset, active high: the line is emptied
    input  wire  [   7:0] delay,  /// cycles, 1..255; steady outside reset
    input  wire  [CW-1:0] s,      /// {cable_side_t, keep, data}
    output logic [CW-1:0] m       /// the same, `delay` cycles later
);

  localparam int BEAT_W = 75 + BB + DATA_W;  // first, last, off, trailer, keep, data
  cable_side_t in_side, out_side;
  assign in_side = s[CW-1-:CABLE_SIDE_W];
  wire [BEAT_W-1:0] in_beat = {in_side.first, in_side.last, in_side.off, in_side.trailer, s[BB+DATA_W-1:0]};
  wire [72:0] in_ctl = {in_side.ctl, in_side.ctl_off};

  logic [BEAT_W-1:0] beat_mem [256];
  logic [72:0] ctl_mem [256];
  logic [255:0] has_beat;  // which places hold a beat
  logic [255:0] has_ctl;  // which places hold a control set
  logic [255:0] has_sig;  // in which places there is a signal
  logic [7:0] wr;  // this cycle's place: one a cycle, around

  // The output register is the last cycle of the delay; a delay of 1 is that register alone.
  wire [7:0] rd = wr - (delay - 8'd1);
  wire bypass = delay == 8'd1;
  wire beat_due = bypass ? in_side.valid : has_beat[rd];
  wire ctl_due = bypass ? in_side.ctl_valid : has_ctl[rd];
  wire sig_due = bypass ? in_side.sig : has_sig[rd];

  logic out_valid, out_ctl_valid, out_sig;
  logic [BEAT_W-1:0] out_beat;
  logic [72:0] out_ctl;

  always_ff @(posedge clk) begin
    if (rst) begin
      wr            <= '0;
      has_beat      <= '0;
      has_ctl       <= '0;
      has_sig       <= '0;
      out_valid     <= 1'b0;
      out_ctl_valid <= 1'b0;
      out_sig       <= 1'b0;
    end else begin
      wr <= wr + 8'd1;
      if (has_beat[wr] != in_side.valid) has_beat[wr] <= in_side.valid;
      if (has_ctl[wr] != in_side.ctl_valid) has_ctl[wr] <= in_side.ctl_valid;
      if (has_sig[wr] != in_side.sig) has_sig[wr] <= in_side.sig;
      out_valid     <= beat_due;
      out_ctl_valid <= ctl_due;
      out_sig       <= sig_due;
    end
  end

  always_ff @(posedge clk) begin
    if (in_side.valid) beat_mem[wr] <= in_beat;
    if (in_side.ctl_valid) ctl_mem[wr] <= in_ctl;
  end

  always_ff @(posedge clk) begin
    if (beat_due) out_beat <= bypass ? in_beat : beat_mem[rd];
    if (ctl_due) out_ctl <= bypass ? in_ctl : ctl_mem[rd];
  end

  always_comb begin
    out_side.sig       = out_sig;
    out_side.ctl_valid = out_ctl_valid;
    {out_side.ctl, out_side.ctl_off} = out_ctl;
    out_side.valid     = out_valid;
    {out_side.first, out_side.last, out_side.off, out_side.trailer} = out_beat[BEAT_W-1-:75];
  end
  assign m = {out_side, out_beat[BB+DATA_W-1:0]};

  // Zero would read the place that is written 255 cycles from now.
  `MH_ASSERT(a_delay, delay != 8'd0)
  `MH_NEVER_X(a_known, {in_side.valid, in_side.ctl_valid, in_side.sig, out_valid, out_ctl_valid, out_sig})

endmodule

`default_nettype wire
