// SPDX-License-Identifier: Apache-2.0
// P0 of the send queues: AW and W FIFOs, one beat a cycle with its place into the piece register (docs/sq.md, S1, S2).
`default_nettype none

module sq_store
  import spec_pkg::*;
#(
    parameter int PW = 6  /// bits of a page number
) (
    input  wire            clk,            /// clock
    input  wire            rst,            /// synchronous reset, active high
    input  wire  [3:0]     s_uar_awid,     /// write ID
    input  wire  [PW+11:0] s_uar_awaddr,   /// {page, offset}
    input  wire            s_uar_awvalid,  /// address valid
    output wire            s_uar_awready,  /// address accepted
    input  wire  [511:0]   s_uar_wdata,    /// data
    input  wire  [63:0]    s_uar_wstrb,    /// byte strobes
    input  wire            s_uar_wlast,    /// last beat
    input  wire            s_uar_wvalid,   /// data valid
    output wire            s_uar_wready,   /// data accepted
    input  wire            answered,       /// a response is transferred
    output logic           p_valid,        /// a piece is in P1
    input  wire            p_move,         /// it moves on
    input  wire            p_arm,          /// it arms a completion queue
    output logic [PW-1:0]  p_page,         /// its page
    output logic [5:0]     p_line,         /// its 64-byte line in the page
    output logic [511:0]   p_data,         /// its bytes
    output logic [63:0]    p_strb,         /// those that are stored
    output logic           p_last,         /// last beat of its burst
    output logic [3:0]     p_id            /// write ID
);

  localparam int AC = $clog2(SQ_AW_FIFO) + 1;
  localparam int WC = $clog2(SQ_W_FIFO) + 1;
  localparam int BC = $clog2(SQ_B_FIFO) + 1;

  wire aw_empty, w_empty, w_last;
  wire [AC-1:0] aw_count;
  wire [WC-1:0] w_count;
  wire [3:0] aw_id;
  wire [PW-1:0] aw_page;
  wire [5:0] aw_line;
  wire [511:0] w_data;
  wire [63:0] w_strb;
  logic [5:0] beat;  // of the burst
  logic [BC-1:0] owed;

  assign s_uar_awready = aw_count != AC'(SQ_AW_FIFO);
  assign s_uar_wready  = w_count != WC'(SQ_W_FIFO);

  wire take = !aw_empty && !w_empty && (!p_valid || (p_move && !p_arm)) && owed < BC'(SQ_B_FIFO);

  /* verilator lint_off UNUSEDSIGNAL */  // a line is stored to, not a byte: strobes say which
  wire [5:0] unused_offset;
  /* verilator lint_on UNUSEDSIGNAL */
  sync_fifo #(.WIDTH(4 + PW + 12), .DEPTH(SQ_AW_FIFO)) u_aw (
      .clk(clk), .rst(rst), .wr_en(s_uar_awvalid && s_uar_awready), .wr_data({s_uar_awid, s_uar_awaddr}),
      .rd_en(take && w_last), .rd_data({aw_id, aw_page, aw_line, unused_offset}), .empty(aw_empty), .count(aw_count));
  sync_fifo #(.WIDTH(512 + 64 + 1), .DEPTH(SQ_W_FIFO)) u_w (
      .clk(clk), .rst(rst), .wr_en(s_uar_wvalid && s_uar_wready), .wr_data({s_uar_wlast, s_uar_wstrb, s_uar_wdata}),
      .rd_en(take), .rd_data({w_last, w_strb, w_data}), .empty(w_empty), .count(w_count));

  always_ff @(posedge clk) begin
    if (rst) begin
      p_valid <= 1'b0;
      beat    <= '0;
      owed    <= '0;
    end else begin
      if (take) p_valid <= 1'b1;
      else if (p_move) p_valid <= 1'b0;
      if (take) beat <= w_last ? 6'd0 : beat + 6'd1;
      owed <= owed + BC'(take && w_last) - BC'(answered);
    end
    if (take) begin
      p_page <= aw_page;
      p_line <= aw_line + beat;
      p_data <= w_data;
      p_strb <= w_strb;
      p_last <= w_last;
      p_id   <= aw_id;
    end
  end

endmodule

`default_nettype wire
