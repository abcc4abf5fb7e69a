// SPDX-License-Identifier: Apache-2.0
// C3: forms the 64 bytes of an entry (rdma-core providers/mlx5) and its address, one a cycle, and remembers whose writes
// have no B yet (rules W1, W2, I4 of docs/cq.md).
// Latency: in C2 at c, in C3 at c + 1, at AW and W from c + 2 on.
`default_nettype none
`include "microhop_assert.svh"

module cq_form
  import microhop_pkg::*;
  import spec_pkg::*;
#(
    parameter int QW       = 6,  /// bits of a queue's number in the table
    parameter int OUT_FIFO = 8,  /// words of AW and W FIFO each, a power of two
    parameter int WRITES   = 512 /// writes without B, a power of two
) (
    input  wire               clk,            /// clock
    input  wire               rst,            /// synchronous reset, active high
    input  wire               write,          /// C2: an entry is to be written
    input  wire [CQ_IN_W-1:0] data,           /// C2: cq_in_t
    input  wire [QW-1:0]      queue,          /// C2: its queue
    input  wire [21:0]        offset,         /// C2: place in the ring, entries
    input  wire [57:0]        base,           /// C2: line of the ring
    input  wire               owner,          /// C2: owner bit
    output wire               busy,           /// an entry is in C3
    output wire [$clog2(OUT_FIFO):0] waiting,  /// the fuller one of AW and W FIFO
    output wire [$clog2(WRITES):0] owed,   /// writes without B
    output wire [QW-1:0]      b_queue,        /// queue of the oldest of them
    output wire               b_solicited,    /// it is a solicited one
    input  wire               b_take,         /// its B is taken
    output wire [63:0]        m_axi_awaddr,   /// write address
    output wire               m_axi_awvalid,  /// address valid
    input  wire               m_axi_awready,  /// address accepted
    output wire [511:0]       m_axi_wdata,    /// the entry, first byte lowest
    output wire               m_axi_wvalid,   /// data valid
    input  wire               m_axi_wready    /// data accepted
);

  localparam int FW = $clog2(OUT_FIFO) + 1;
  localparam int EW = 4 + 1 + 1 + 16 + 24 + 8 + 8 + 8 + 32 + 32;  // fields of an entry

  logic v3, owner3;
  // base + offset in three parts: the upper ones wait for the carry of the lower only to choose.
  logic [17:0] mid3, mid_next3, up3, up_next3;
  logic mid_full3;
  logic [22:0] low3;
  logic [QW-1:0] queue3;
  /* verilator lint_off UNUSEDSIGNAL */  // queue and barrier do not go into the entry
  cq_in_t e3;
  /* verilator lint_on UNUSEDSIGNAL */

  always_ff @(posedge clk) v3 <= write && !rst;
  always_ff @(posedge clk) begin
    if (write) begin
      e3        <= data;
      queue3    <= queue;
      owner3    <= owner;
      low3      <= {1'b0, base[21:0]} + {1'b0, offset};
      mid3      <= base[39:22];
      mid_next3 <= base[39:22] + 18'd1;
      mid_full3 <= base[39:22] == '1;
      up3       <= base[57:40];
      up_next3  <= base[57:40] + 18'd1;
    end
  end

  wire error = e3.opcode == CQE_REQ_ERR || e3.opcode == CQE_RESP_ERR;
  wire aw_empty, w_empty, b_empty;
  wire [FW-1:0] aw_count, w_count;
  wire [EW-1:0] fields;

  wire [57:0] line = {
      low3[22] && mid_full3 ? up_next3 : up3, low3[22] ? mid_next3 : mid3, low3[21:0]};

  sync_fifo #(.WIDTH(58), .DEPTH(OUT_FIFO)) u_aw (
      .clk(clk), .rst(rst), .wr_en(v3), .wr_data(line), .rd_en(m_axi_awvalid && m_axi_awready),
      .rd_data(m_axi_awaddr[63:6]), .empty(aw_empty), .count(aw_count));
  sync_fifo #(.WIDTH(EW), .DEPTH(OUT_FIFO)) u_w (
      .clk(clk), .rst(rst), .wr_en(v3),
      .wr_data({e3.opcode, e3.se, owner3, e3.wqe_counter, e3.qpn, e3.send_opcode, e3.syndrome, e3.vendor, e3.byte_cnt,
                e3.imm}),
      .rd_en(m_axi_wvalid && m_axi_wready), .rd_data(fields), .empty(w_empty), .count(w_count));
  sync_fifo #(.WIDTH(QW + 1), .DEPTH(WRITES)) u_b (
      .clk(clk), .rst(rst), .wr_en(v3), .wr_data({queue3, e3.se || error}), .rd_en(b_take),
      .rd_data({b_queue, b_solicited}), .empty(b_empty), .count(owed));

  wire [3:0] f_op;
  wire f_se, f_owner;
  wire [15:0] f_wqe;
  wire [23:0] f_qpn;
  wire [7:0] f_sop, f_syn, f_vendor;
  wire [31:0] f_bytes, f_imm;
  assign {f_op, f_se, f_owner, f_wqe, f_qpn, f_sop, f_syn, f_vendor, f_bytes, f_imm} = fields;

  // Big-endian fields: byte n of the entry is bits 8n+7..8n here, so words are given byte by byte.
  assign m_axi_wdata[8*36-1:0] = '0;
  assign m_axi_wdata[8*36+:32] = {f_imm[7:0], f_imm[15:8], f_imm[23:16], f_imm[31:24]};
  assign m_axi_wdata[8*40+:32] = '0;
  assign m_axi_wdata[8*44+:32] = {f_bytes[7:0], f_bytes[15:8], f_bytes[23:16], f_bytes[31:24]};
  assign m_axi_wdata[8*48+:48] = '0;
  assign m_axi_wdata[8*54+:8]  = f_vendor;
  assign m_axi_wdata[8*55+:8]  = f_syn;
  assign m_axi_wdata[8*56+:8]  = f_sop;
  assign m_axi_wdata[8*57+:24] = {f_qpn[7:0], f_qpn[15:8], f_qpn[23:16]};
  assign m_axi_wdata[8*60+:16] = {f_wqe[7:0], f_wqe[15:8]};
  assign m_axi_wdata[8*62+:8]  = '0;
  assign m_axi_wdata[8*63+:8]  = {f_op, 2'b00, f_se, f_owner};

  assign m_axi_awaddr[5:0] = '0;
  assign m_axi_awvalid     = !aw_empty;
  assign m_axi_wvalid      = !w_empty;
  assign busy              = v3;
  assign waiting           = aw_count > w_count ? aw_count : w_count;

  // A B without a write would make an entry visible that is not.
  `MH_ASSERT(a_owed, !(b_take && b_empty))

endmodule

`default_nettype wire
