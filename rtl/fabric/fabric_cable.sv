// SPDX-License-Identifier: Apache-2.0
// One direction of a cable of the fabric; with ERRORS the codewords at its end fail as docs/link.md, E2 to E4, says.
// Order and gaps kept; errors take no cycle.
`default_nettype none

module fabric_cable
  import microhop_pkg::*;
#(
    parameter  bit          ERRORS = 1'b0,   /// errors can be switched on
    parameter  logic [63:0] SALT   = 64'd0,  /// XORed with the seed: each direction has errors of its own
    localparam int          CW     = CABLE_SIDE_W + 64 + 512
) (
    input  wire          clk,           /// clock
    input  wire          rst,           /// synchronous reset, active high
    input  wire [   7:0] cfg_delay,     /// cycles, 1..255; steady outside reset
    /* verilator lint_off UNUSEDSIGNAL */  // without ERRORS
    input  wire          cfg_err_on,    /// codewords fail
    input  wire          cfg_err_kp4,   /// they are those of RS(544,514)
    input  wire [  63:0] cfg_err_seed,  /// of the errors
    input  wire          thr_we,        /// a threshold is written
    input  wire [   4:0] thr_addr,      /// which
    input  wire [  63:0] thr_data,      /// its value
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [CW-1:0] s,             /// {cable_side_t, keep, data} from the near end
    output wire [CW-1:0] m              /// the same to the far end, cfg_delay cycles later
);

  wire [CW-1:0] behind;
  cable u_cable (.clk(clk), .rst(rst), .cfg_delay(cfg_delay), .s(s), .m(behind));

  if (ERRORS) begin : g_errors
    phy_errors u_errors (
        .clk(clk), .rst(rst), .cfg_on(cfg_err_on), .cfg_kp4(cfg_err_kp4), .cfg_seed(cfg_err_seed ^ SALT),
        .cfg_burst_thr(64'd0), .cfg_burst_len(12'd0), .cfg_lose_thr(64'd0), .cfg_repeat_thr(64'd0),
        .thr_we(thr_we), .thr_addr(thr_addr), .thr_data(thr_data),
        .fault(2'd0), .cut(1'b0), .s(behind), .m(m), .cw_done(), .cw_corrected(), .cw_failed());
  end else begin : g_clean
    assign m = behind;
  end

endmodule

`default_nettype wire
