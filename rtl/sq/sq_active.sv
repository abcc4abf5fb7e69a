// SPDX-License-Identifier: Apache-2.0
// Active queue of the send queues: who is to have a turn, first come first served (docs/sq.md, A1). Three sources
// push in any cycle; each queue pair is inside once at most, so no FIFO can overflow.
`default_nettype none

module sq_active #(
    parameter int QPS = 256,  /// queue pairs
    localparam int QW = $clog2(QPS)
) (
    input  wire          clk,         /// clock
    input  wire          rst,         /// synchronous reset, active high
    input  wire          ring,        /// a doorbell pushes
    input  wire [QW-1:0] ring_qp,     /// this queue
    input  wire          judge,       /// a judged record pushes
    input  wire [QW-1:0] judge_qp,    /// this queue
    input  wire          again,       /// the end of a turn pushes
    input  wire [QW-1:0] again_qp,    /// this queue
    output wire          head_valid,  /// somebody waits
    output wire [QW-1:0] head_qp,     /// the first one
    input  wire          head_pop     /// it has its turn
);

  wire [2:0] push = {again, judge, ring};
  wire [3*QW-1:0] push_qp = {again_qp, judge_qp, ring_qp};
  wire [2:0] empty;
  wire [3*QW-1:0] front;
  logic [2:0] pick;  // one-hot: the source that moves
  logic [1:0] start;  // source that comes first
  /* verilator lint_off UNUSEDSIGNAL */  // a queue is inside once: depth QPS is enough
  wire [3*QW+2:0] counts;
  wire [QW:0] main_count;
  /* verilator lint_on UNUSEDSIGNAL */

  for (genvar i = 0; i < 3; i++) begin : g_source
    sync_fifo #(.WIDTH(QW), .DEPTH(QPS)) u_fifo (
        .clk(clk), .rst(rst), .wr_en(push[i]), .wr_data(push_qp[QW*i+:QW]), .rd_en(pick[i]),
        .rd_data(front[QW*i+:QW]), .empty(empty[i]), .count(counts[(QW+1)*i+:QW+1]));
  end

  logic [1:0] s1, s2;
  always_comb begin
    s1   = start == 2'd2 ? 2'd0 : start + 2'd1;
    s2   = s1 == 2'd2 ? 2'd0 : s1 + 2'd1;
    pick = '0;
    if (!empty[start]) pick[start] = 1'b1;
    else if (!empty[s1]) pick[s1] = 1'b1;
    else if (!empty[s2]) pick[s2] = 1'b1;
  end

  logic [QW-1:0] moved;
  always_comb begin
    moved = '0;
    for (int i = 0; i < 3; i++) if (pick[i]) moved = moved | front[QW*i+:QW];
  end

  always_ff @(posedge clk) begin
    if (rst) start <= 2'd0;
    else if (pick[0]) start <= 2'd1;
    else if (pick[1]) start <= 2'd2;
    else if (pick[2]) start <= 2'd0;
  end

  wire main_empty;
  sync_fifo #(.WIDTH(QW), .DEPTH(QPS)) u_main (
      .clk(clk), .rst(rst), .wr_en(|pick), .wr_data(moved), .rd_en(head_pop), .rd_data(head_qp), .empty(main_empty),
      .count(main_count));
  assign head_valid = !main_empty;

endmodule

`default_nettype wire
