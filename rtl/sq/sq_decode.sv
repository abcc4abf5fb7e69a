// SPDX-License-Identifier: Apache-2.0
// V1 to V3 of the send queues: WQEs of the direct register and of the WQE register in turn, decoded (docs/sq.md, V1,
// W1 to W6). The segments are looked at on the way into V1; the lengths become two numbers on the way into V2, and
// one on the way into V3.
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
    // V3
    output logic              o_valid,  /// a work request is in V3
    input  wire               o_done,   /// its last beat is pushed
    input  wire               o_next,   /// another of its beats is pushed
    output logic [SQ_WR_W-1:0] o_wr,    /// sq_wr_t
    output logic [1919:0]     o_load,   /// its beats' bytes
    output logic [7:0]        o_bytes   /// how many
);

  localparam int UNITS = 15;  // data units of the largest WQE
  localparam logic [31:0] BAD_KEY = 32'h0000_0100;
  localparam logic [31:0] MOST = 32'h8000_0000;

  logic order_q, x_waited, w_waited;
  logic v1, v2;
  wire move2 = v2 && (!o_valid || o_done);
  wire move1 = v1 && (!v2 || move2);
  wire free1 = !v1 || move1;
  // The one that was filled first: else a WQE could overtake another of its queue.
  wire direct_first = !(w_waited && (!x_waited || !order_q));
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
      v1       <= 1'b0;
      order_q  <= 1'b1;
      x_waited <= 1'b0;
      w_waited <= 1'b0;
    end else begin
      order_q  <= direct_first;
      x_waited <= x_valid && !x_take;
      w_waited <= w_valid && !w_take;
      if (x_take || w_take) v1 <= 1'b1;
      else if (move1) v1 <= 1'b0;
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

  // on the way into V2: carries are kept apart, three numbers become two in each step
  localparam int SW = 36;
  logic [SW*UNITS-1:0] rows;
  logic [SW-1:0] x, y, z;
  always_comb begin
    rows = '0;
    for (int k = 0; k < UNITS; k++) rows[SW*k+:SW] = SW'(q_counts[32*k+:32]);
    // from n rows to n - n / 3 of them
    for (int n = UNITS; n > 2; n = n - n / 3) begin
      for (int k = 0; k < n / 3; k++) begin
        x = rows[SW*(3*k)+:SW];
        y = rows[SW*(3*k+1)+:SW];
        z = rows[SW*(3*k+2)+:SW];
        rows[SW*(2*k)+:SW]   = x ^ y ^ z;
        rows[SW*(2*k+1)+:SW] = {(x & y) | (x & z) | (y & z)} << 1;
      end
      for (int k = 0; k < n % 3; k++) rows[SW*(2*(n/3)+k)+:SW] = rows[SW*(3*(n/3)+k)+:SW];
    end
  end

  // what goes along, in the order of the assignment below
  localparam int WW = 6 + 96 + 128 + 24 + 16 + 8 + 6 + 8 + 32 + 4 + 3;
  logic [WW-1:0] with_q;
  logic [1919:0] r_load;
  logic [SW-1:0] sum, carry;
  always_ff @(posedge clk) begin
    if (rst) v2 <= 1'b0;
    else if (move1) v2 <= 1'b1;
    else if (move2) v2 <= 1'b0;
    if (move1) begin
      with_q <= {q_wrong, q_inline, q_reserved, q_remote, q_atomic, q_key, q_raddr, q_operands, q_qpn, q_index, q_op,
                 q_flags, q_inl, q_imm, q_sges, q_blocks};
      r_load <= q_load;
      sum    <= rows[0+:SW];
      carry  <= rows[SW+:SW];
    end
  end

  // on the way into V3
  logic r_wrong, r_inline, r_reserved, r_remote, r_atomic, r_key;
  logic [95:0] r_raddr;
  logic [127:0] r_operands;
  logic [23:0] r_qpn;
  logic [15:0] r_index;
  logic [7:0] r_op, r_inl;
  logic [5:0] r_flags;
  logic [31:0] r_imm;
  logic [3:0] r_sges;
  logic [2:0] r_blocks;
  assign {r_wrong, r_inline, r_reserved, r_remote, r_atomic, r_key, r_raddr, r_operands, r_qpn, r_index, r_op, r_flags,
          r_inl, r_imm, r_sges, r_blocks} = with_q;
  wire [18:0] low = {1'b0, sum[17:0]} + {1'b0, carry[17:0]};
  wire [17:0] high0 = sum[35:18] + carry[35:18];
  wire [17:0] high1 = sum[35:18] + carry[35:18] + 18'd1;
  wire [35:0] total = {low[18] ? high1 : high0, low[17:0]};
  wire long_one = total > 36'h0_8000_0000;
  wire [7:0] error = r_wrong ? CQE_SYN_LOC_QP_OP : long_one ? CQE_SYN_LOC_LEN : r_reserved ? CQE_SYN_LOC_PROT : 8'd0;
  wire ok = error == 8'd0;
  sq_wr_t wr;
  // member by member: Icarus runs a block that writes members of the struct again and again
  wire points = ok && r_sges != 4'd0;
  assign wr.qpn       = r_qpn;
  assign wr.opcode    = r_op;
  assign wr.wqe_index = r_index;
  assign wr.error     = error;
  assign wr.blocks    = ok ? r_blocks : 3'd0;
  assign wr.fence     = ok ? r_flags[5:3] : 3'd0;
  assign wr.ce        = ok ? r_flags[2:1] : 2'd0;
  assign wr.se        = ok && r_flags[0];
  assign wr.is_inline = ok && r_inline;
  assign wr.sges      = ok ? r_sges : 4'd0;
  assign wr.length    = !ok ? 32'd0 : r_inline ? 32'(r_inl) : total[31:0];
  assign wr.imm       = ok && r_key ? r_imm : 32'd0;
  assign wr.raddr     = ok && r_remote ? be64(r_raddr[63:0]) : 64'd0;
  assign wr.rkey      = ok && r_remote ? be32(r_raddr[95:64]) : 32'd0;
  assign wr.lkey      = points ? be32(r_load[63:32]) : 32'd0;
  assign wr.laddr     = points ? be64(r_load[127:64]) : 64'd0;
  assign wr.swap_add  = ok && r_atomic ? be64(r_operands[63:0]) : 64'd0;
  assign wr.compare   = ok && r_atomic ? be64(r_operands[127:64]) : 64'd0;

  always_ff @(posedge clk) begin
    if (rst) o_valid <= 1'b0;
    else if (move2) o_valid <= 1'b1;
    else if (o_done) o_valid <= 1'b0;
    if (move2) begin
      o_wr    <= wr;
      o_load  <= r_load;
      o_bytes <= !ok ? 8'd0 : r_inline ? r_inl : r_sges > 4'd1 ? {r_sges, 4'd0} : 8'd0;
    end else if (o_valid && o_next) begin
      o_load  <= {512'd0, o_load[1919:512]};
      o_bytes <= o_bytes - 8'd64;
    end
  end

endmodule

`default_nettype wire
