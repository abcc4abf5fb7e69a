// SPDX-License-Identifier: Apache-2.0
// Delay line for what a cable carries: a stream without ready, and control sets beside it. Stands for
// one side of a PHY (SerDes, PCS, FEC, clock crossing) or for one direction of a cable; not a design to
// be synthesised, though it could be.
// Latency `delay` cycles, for every item alike, so order and gaps are kept. An idle line costs a
// simulator one counter: memory is touched only where an item passes.
`default_nettype none
`include "microhop_assert.svh"

module phy_delay (
    input  wire          clk,           /// clock
    input  wire          rst,           /// synchronous reset, active high: the line is emptied
    input  wire  [  7:0] delay,         /// cycles, 1..255; steady outside reset
    input  wire          in_tvalid,     /// beat
    input  wire  [511:0] in_tdata,      /// bytes, first one lowest
    input  wire  [ 63:0] in_tkeep,      /// valid bytes
    input  wire          in_tlast,      /// last beat of a frame
    input  wire          in_ctl_valid,  /// control set
    input  wire  [ 15:0] in_ctl_cf,     /// its counter of freed cells
    output logic         out_tvalid,    /// beat, `delay` cycles later
    output logic [511:0] out_tdata,     /// bytes
    output logic [ 63:0] out_tkeep,     /// valid bytes
    output logic         out_tlast,     /// last beat of a frame
    output logic         out_ctl_valid, /// control set, `delay` cycles later
    output logic [ 15:0] out_ctl_cf     /// its counter of freed cells
);

  logic [576:0] beat_mem [256];
  logic [ 15:0] ctl_mem  [256];
  logic [255:0] has_beat;  // which places hold a beat
  logic [255:0] has_ctl;  // which places hold a control set
  logic [  7:0] wr;  // this cycle's place: one a cycle, around

  // The output register is the last cycle of the delay; a delay of 1 is that register alone.
  wire [7:0] rd = wr - (delay - 8'd1);
  wire bypass = delay == 8'd1;
  wire beat_due = bypass ? in_tvalid : has_beat[rd];
  wire ctl_due = bypass ? in_ctl_valid : has_ctl[rd];

  always_ff @(posedge clk) begin
    if (rst) begin
      wr            <= '0;
      has_beat      <= '0;
      has_ctl       <= '0;
      out_tvalid    <= 1'b0;
      out_ctl_valid <= 1'b0;
    end else begin
      wr <= wr + 8'd1;
      if (has_beat[wr] != in_tvalid) has_beat[wr] <= in_tvalid;
      if (has_ctl[wr] != in_ctl_valid) has_ctl[wr] <= in_ctl_valid;
      out_tvalid    <= beat_due;
      out_ctl_valid <= ctl_due;
    end
  end

  always_ff @(posedge clk) begin
    if (in_tvalid) beat_mem[wr] <= {in_tlast, in_tkeep, in_tdata};
    if (in_ctl_valid) ctl_mem[wr] <= in_ctl_cf;
  end

  always_ff @(posedge clk) begin
    if (beat_due) {out_tlast, out_tkeep, out_tdata} <= bypass ? {in_tlast, in_tkeep, in_tdata} : beat_mem[rd];
    if (ctl_due) out_ctl_cf <= bypass ? in_ctl_cf : ctl_mem[rd];
  end

  // Zero would read the place that is written 255 cycles from now.
  `MH_ASSERT(a_delay, delay != 8'd0)
  `MH_NEVER_X(a_known, {in_tvalid, in_ctl_valid, out_tvalid, out_ctl_valid})

endmodule

`default_nettype wire
