// SPDX-License-Identifier: Apache-2.0
// sq_store before a P1 that moves when it likes, and responses that come back whenever (docs/sq.md, S1, S2): responses
// owed are the bursts whose last beat P0 took, less those answered, and never more than the B FIFO holds, so that it
// never overflows; a beat is taken only when it is there with its address; behind an arm P1 is empty for a cycle.
`default_nettype none
`include "formal.svh"

module formal_sq_store #(
    parameter int PW = 1  /// bits of a page number
) (
    input wire           clk,           /// clock
    input wire           rst,           /// reset
    input wire [3:0]     s_uar_awid,    /// write ID
    input wire [PW+11:0] s_uar_awaddr,  /// {page, offset}
    input wire           s_uar_awvalid, /// address valid
    input wire [511:0]   s_uar_wdata,   /// data
    input wire [63:0]    s_uar_wstrb,   /// strobes
    input wire           s_uar_wlast,   /// last beat
    input wire           s_uar_wvalid,  /// data valid
    input wire           answered,      /// a response is transferred
    input wire           p_move,        /// P1 moves on
    input wire           p_arm          /// it holds an arm
);

  import spec_pkg::*;
  wire p_valid, p_last;
  /* verilator lint_off UNUSEDSIGNAL */  // what a beat carries is the bench's to look at
  wire s_uar_awready, s_uar_wready;
  wire [PW-1:0] p_page;
  wire [5:0] p_line;
  wire [3:0] p_id;
  wire [511:0] p_data;
  wire [63:0] p_strb;
  /* verilator lint_on UNUSEDSIGNAL */
  sq_store #(.PW(PW)) dut (.*);

  `FORMAL_START

  localparam int N = $clog2(SQ_B_FIFO) + 1;
  logic [N-1:0] owed;  // bursts taken, not answered
  logic [N-1:0] at_p1;  // of these, in P1 or before its move
  wire taken = dut.take && dut.w_last;
  always_ff @(posedge clk) begin
    if (rst) owed <= '0;
    else owed <= owed + N'(taken) - N'(answered);
  end
  assign at_p1 = N'(p_valid && p_last);
  always_comb begin
    if (p_move) assume (p_valid);
    if (answered) assume (owed > at_p1);  // its last beat has passed P1
  end

  logic arm_moved;
  always_ff @(posedge clk) arm_moved <= !rst && p_move && p_arm;

  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_owed : assert (dut.owed == owed && owed <= N'(SQ_B_FIFO));
      a_inside : assert (owed >= at_p1);
      a_counts : assert (dut.w_count <= 3'd4 && dut.aw_count <= 3'd4);
      a_pointers : assert (2'(dut.u_w.wr_ptr - dut.u_w.rd_ptr) == dut.w_count[1:0]);
      a_empty : assert (dut.w_empty == (dut.w_count == '0) && dut.aw_empty == (dut.aw_count == '0));
      a_pair : assert (!dut.take || (!dut.aw_empty && !dut.w_empty));
      a_gap : assert (!arm_moved || !p_valid);
      c_all_owed : cover (owed == N'(SQ_B_FIFO) && !dut.aw_empty && !dut.w_empty && !p_valid);
      c_burst : cover (dut.take && !dut.w_last && dut.beat == 6'd2);
    end
  end

endmodule

`default_nettype wire
