// SPDX-License-Identifier: Apache-2.0
// Watches the symbol errors of the FEC, as IEEE 802.3 clause 119 does for its degraded SER: they are summed up over windows of
// `interval` codewords; degraded rises as soon as a sum exceeds `activate`, falls at the end of a window whose sum is
// below `deactivate`. A codeword that failed counts as t + 1 symbols. A codeword of cycle c is in degraded from c+2 on.
`default_nettype none

module link_degrade
  import spec_pkg::*;
(
    input  wire         clk,         /// clock
    input  wire         rst,         /// synchronous reset, active high
    input  wire         valid,       /// a codeword
    input  wire  [ 4:0] symbols,     /// its wrong symbols that were corrected
    input  wire         failed,      /// it could not be corrected
    input  wire         kp4,         /// 0 RS(272,257), 1 RS(544,514)
    input  wire  [23:0] interval,    /// codewords of a window, 0: off
    input  wire  [28:0] activate,    /// symbols of a window above which the link is degraded
    input  wire  [28:0] deactivate,  /// symbols of a window below which it is so no longer
    output logic        degraded     /// the link is degraded
);
  logic [28:0] sum;  // of the window so far: 2^24 codewords of at most 31 symbols fit
  logic [23:0] count;  // codewords of the window so far
  logic first, closed, judge;  // the next codeword opens a window; the last one closed one; sum is new

  wire [4:0] errors = !failed ? symbols : kp4 ? 5'(FEC_KP4_T + 1) : 5'(FEC_LLFEC_T + 1);
  wire last = 25'(count) + 25'd1 >= 25'(interval);

  always_ff @(posedge clk) begin
    judge <= valid && interval != '0 && !rst;
    if (valid) begin
      sum    <= (first ? '0 : sum) + 29'(errors);
      count  <= last ? '0 : count + 1'b1;
      first  <= last;
      closed <= last;
    end
    if (judge) begin
      if (sum > activate) degraded <= 1'b1;
      else if (closed && sum < deactivate) degraded <= 1'b0;
    end
    if (rst || interval == '0) begin
      count    <= '0;
      first    <= 1'b1;
      degraded <= 1'b0;
    end
  end
endmodule

`default_nettype wire
