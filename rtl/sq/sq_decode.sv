// SPDX-License-Identifier: Apache-2.0
// V1 and V2 of the send queues: WQEs of the direct register and of the WQE register in turn, decoded (docs/sq.md, V1,
// W1 to W6). The segments are looked at on the way into V1, the lengths added on the way into V2.
`default_nettype none

module sq_decode
  import microhop_pkg::*;
(
    input  wire               clk,      /// clock
    input  wire               rst,      /// synchronous reset, active high
    // direct register
    input  wire               x_valid,  /// holds a WQE
    output wire               x_take,   /// taken
    input  wire [23:0]        x_qpn,    /// queue pair
    input  wire [15:0]        x_index,  /// index
    input  wire [2047:0]      x_data,   /// bytes
    // WQE register
    input  wire               w_valid,  /// holds a WQE
    output wire               w_take,   /// taken
    input  wire               w_error,  /// an error in its place
    input  wire [23:0]        w_qpn,    /// queue pair
    input  wire [15:0]        w_index,  /// index
    input  wire [7:0]         w_opcode, /// of an error
    input  wire [2047:0]      w_data,   /// bytes
    // V2
    output logic              o_valid,  /// a work request is in V2
    input  wire               o_done,   /// its last beat is pushed
    input  wire               o_next,   /// another of its beats is pushed
    output logic [SQ_WR_W-1:0] o_wr,    /// sq_wr_t
    output logic [1919:0]     o_load,   /// its beats' bytes
    output logic [7:0]        o_bytes   /// how many
);

  localparam int UNITS = 15;  // data units of the largest WQE
  localparam logic [31:0] BAD_KEY = 32'h0000_0100;
  localparam logic [31:0] MOST = 32'h8000_0000;

  logic direct_first;
  logic v1;
  wire move1 = v1 && (!o_valid || o_done);
  wire free1 = !v1 || move1;
  wire pick_x = x_valid && (!w_valid || direct_first);
  assign x_take = free1 && pick_x;
  assign w_take = free1 && w_valid && !pick_x;

  // on the way into V1
  /* verilator lint_off UNUSEDSIGNAL */  // opcode modifier, signature and stream are not looked at
  wire [2047:0] raw = pick_x ? x_data : w_data;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [23:0] qpn = pick_x ? x_qpn : w_qpn;
  wire [15:0] index = pick_x ? x_index : w_index;
  wire stop = !pick_x && w_error;

  function automatic logic [31:0] be32(input logic [31:0] x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction
  function automatic logic [63:0] be64(input logic [63:0] x);
    return {be32(x[31:0]), be32(x[63:32])};
  endfunction

  wire [7:0] op = stop ? w_opcode : raw[31:24];
  wire [5:0] ds = raw[61:56];
  wire is_send = op == WQE_SEND || op == WQE_SEND_IMM || op == WQE_SEND_INVAL;
  wire is_write = op == WQE_WRITE || op == WQE_WRITE_IMM;
  wire is_read = op == WQE_READ;
  wire is_atomic = op == WQE_ATOMIC_CS || op == WQE_ATOMIC_FA;
  wire is_nop = op == WQE_NOP;
  wire [5:0] head = is_send || is_nop ? 6'd1 : is_atomic ? 6'd3 : 6'd2;  // units ahead of the data
  wire [1919:0] load = is_send ? raw[2047:128] : is_atomic ? {256'd0, raw[2047:384]} : {128'd0, raw[2047:256]};
  wire fits = ds >= head && ds <= 6'(4 * spec_pkg::WQE_MAX_BB);
  wire [5:0] tail = ds - head;
  wire [31:0] count0 = be32(load[31:0]);
  wire is_inline = tail != 6'd0 && count0[31] && (is_send || is_write);
  wire [30:0] inl = count0[30:0];
  wire inline_fits = inl <= 31'(16 * UNITS - 4) && 6'((9'(inl[7:0]) + 9'd19) >> 4) == tail;

  logic [UNITS-1:0] here, high, reserved;
  logic [32*UNITS-1:0] counts;
  always_comb begin
    for (int k = 0; k < UNITS; k++) begin
      here[k]     = 6'(k) < tail && !is_inline;
      high[k]     = here[k] && load[128*k+7];
      reserved[k] = here[k] && be32(load[128*k+32+:32]) == BAD_KEY;
      counts[32*k+:32] = !here[k] ? 32'd0 : be32(load[128*k+:32]) == 32'd0 ? MOST : be32(load[128*k+:32]);
    end
  end
  wire known = is_send || is_write || is_read || is_atomic || is_nop;
  wire form = is_nop ? tail == 6'd0
            : is_atomic ? tail == 6'd1 && count0 == 32'd8
            : is_inline ? inline_fits
            : high == '0;
  wire wrong = stop || {raw[15:8], raw[23:16]} != index || {raw[39:32], raw[47:40], raw[55:48]} != qpn || !known ||
      !fits || !form;

  logic q_wrong, q_inline, q_reserved, q_remote, q_atomic, q_key;
  logic [32*UNITS-1:0] q_counts;
  logic [1919:0] q_load;
  logic [95:0] q_raddr;  // of the remote address segment
  logic [127:0] q_operands;  // of the atomic segment
  logic [23:0] q_qpn;
  logic [15:0] q_index;
  logic [7:0] q_op, q_inl;
  logic [5:0] q_flags;  // fence, completion mode, solicited
  logic [31:0] q_imm;
  logic [3:0] q_sges;
  logic [2:0] q_blocks;

  always_ff @(posedge clk) begin
    if (rst) begin
      v1           <= 1'b0;
      direct_first <= 1'b1;
    end else begin
      if (x_take || w_take) begin
        v1           <= 1'b1;
        direct_first <= !pick_x;
      end else if (move1) v1 <= 1'b0;
    end
    if (x_take || w_take) begin
      q_wrong    <= wrong;
      q_inline   <= is_inline;
      q_reserved <= |reserved;
      q_remote   <= is_write || is_read || is_atomic;
      q_atomic   <= is_atomic;
      q_counts   <= counts;
      q_load     <= is_inline ? {32'd0, load[1919:32]} : load;
      q_raddr    <= raw[223:128];
      q_operands <= raw[383:256];
      q_qpn      <= qpn;
      q_index    <= index;
      q_op       <= op;
      q_flags    <= {raw[95:93], raw[91:89]};
      q_inl      <= inl[7:0];
      q_imm      <= be32(raw[127:96]);
      q_key      <= op == WQE_SEND_IMM || op == WQE_WRITE_IMM || op == WQE_SEND_INVAL;
      q_sges     <= is_inline ? 4'd0 : tail[3:0];
      q_blocks   <= 3'((ds + 6'd3) >> 2);
    end
  end

  // on the way into V2
  logic [35:0] total;
  always_comb begin
    total = '0;
    for (int k = 0; k < UNITS; k++) total = total + 36'(q_counts[32*k+:32]);
  end
  wire long_one = total > 36'h0_8000_0000;
  wire [7:0] error = q_wrong ? CQE_SYN_LOC_QP_OP : long_one ? CQE_SYN_LOC_LEN : q_reserved ? CQE_SYN_LOC_PROT : 8'd0;
  wire ok = error == 8'd0;
  sq_wr_t wr;
  always_comb begin
    wr = '0;
    wr.qpn       = q_qpn;
    wr.opcode    = q_op;
    wr.wqe_index = q_index;
    wr.error     = error;
    if (ok) begin
      wr.blocks    = q_blocks;
      wr.fence     = q_flags[5:3];
      wr.ce        = q_flags[2:1];
      wr.se        = q_flags[0];
      wr.is_inline = q_inline;
      wr.sges      = q_sges;
      wr.length    = q_inline ? 32'(q_inl) : total[31:0];
      if (q_key) wr.imm = q_imm;
      if (q_remote) begin
        wr.raddr = be64(q_raddr[63:0]);
        wr.rkey  = be32(q_raddr[95:64]);
      end
      if (q_sges != 4'd0) begin
        wr.lkey  = be32(q_load[63:32]);
        wr.laddr = be64(q_load[127:64]);
      end
      if (q_atomic) begin
        wr.swap_add = be64(q_operands[63:0]);
        wr.compare  = be64(q_operands[127:64]);
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) o_valid <= 1'b0;
    else if (move1) o_valid <= 1'b1;
    else if (o_done) o_valid <= 1'b0;
    if (move1) begin
      o_wr    <= wr;
      o_load  <= q_load;
      o_bytes <= !ok ? 8'd0 : q_inline ? q_inl : q_sges > 4'd1 ? {q_sges, 4'd0} : 8'd0;
    end else if (o_valid && o_next) begin
      o_load  <= {512'd0, o_load[1919:512]};
      o_bytes <= o_bytes - 8'd64;
    end
  end

endmodule

`default_nettype wire
