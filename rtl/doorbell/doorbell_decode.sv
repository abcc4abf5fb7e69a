// SPDX-License-Identifier: Apache-2.0
// WQE in mlx5 layout -> work request, combinational. Rules W1 to W6 of README.md.
// Segments are big-endian; byte i of the WQE is wq_data[8*i+:8].
`default_nettype none

module doorbell_decode
  import microhop_pkg::*;
  import spec_pkg::*;
(
    input  wire  [23:0]     qpn,      /// queue pair number
    input  wire             fatal,    /// the queue's own error, wq_data means nothing
    input  wire  [15:0]     index,    /// index of the WQE's first block
    /* verilator lint_off UNUSEDSIGNAL */  // reserved fields and those without a meaning here
    input  wire  [2047:0]   wq_data,  /// its blocks
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [WR_W-1:0] wr,       /// wr_t
    output wire  [1887:0]   payload,  /// inline data from byte 0 (236 bytes)
    output wire  [7:0]      length    /// bytes of inline data, 0 when not inline
);

  wire [7:0]  c_opcode = wq_data[31:24];
  wire [15:0] c_index  = {wq_data[15:8], wq_data[23:16]};
  wire [23:0] c_qpn    = {wq_data[39:32], wq_data[47:40], wq_data[55:48]};
  wire [5:0]  c_ds     = wq_data[61:56];
  wire        c_se     = wq_data[89];
  wire        c_signal = wq_data[91];
  wire [31:0] c_imm    = {wq_data[103:96], wq_data[111:104], wq_data[119:112], wq_data[127:120]};

  wire is_write = c_opcode == WQE_WRITE || c_opcode == WQE_WRITE_IMM;
  wire is_send  = c_opcode == WQE_SEND || c_opcode == WQE_SEND_IMM;
  wire is_nop   = c_opcode == WQE_NOP;
  wire has_imm  = c_opcode == WQE_WRITE_IMM || c_opcode == WQE_SEND_IMM;

  wire [63:0] r_addr = {
      wq_data[135:128], wq_data[143:136], wq_data[151:144], wq_data[159:152],
      wq_data[167:160], wq_data[175:168], wq_data[183:176], wq_data[191:184]};
  wire [31:0] r_key = {wq_data[199:192], wq_data[207:200], wq_data[215:208], wq_data[223:216]};

  // The data or inline segment: behind the control segment, or behind the remote address segment. One
  // opcode bit tells SEND (0x0a, 0x0b) from WRITE (0x08, 0x09).
  wire         at_send = c_opcode[1];
  wire [127:0] seg     = at_send ? wq_data[255:128] : wq_data[383:256];
  wire [31:0]  s_count = {seg[7:0], seg[15:8], seg[23:16], seg[31:24]};
  wire [31:0]  s_key   = {seg[39:32], seg[47:40], seg[55:48], seg[63:56]};
  wire [63:0]  s_addr  = {
      seg[71:64], seg[79:72], seg[87:80], seg[95:88], seg[103:96], seg[111:104], seg[119:112], seg[127:120]};

  wire       present = is_write ? c_ds > 6'd2 : is_send && c_ds > 6'd1;
  wire       inl     = present && s_count[31];
  wire [5:0] s_units = c_ds - (at_send ? 6'd1 : 6'd2);
  wire [5:0] i_units = {2'b0, s_count[7:4]} + 6'd1 + 6'(s_count[3:0] > 4'd12);  // with the header's 4 bytes
  wire       inl_ok  = s_count[30:8] == 0 && s_units == i_units;

  wire ds_ok = is_nop ? c_ds == 6'd1
             : c_ds <= 6'(4 * WQE_MAX_BB) && c_ds >= (at_send ? 6'd1 : 6'd2)
               && (!present || (inl ? inl_ok : s_units == 6'd1));
  wire bad = fatal || c_index != index || c_qpn != qpn || !(is_nop || is_write || is_send) || !ds_ok;

  assign payload = at_send ? wq_data[2047:160] : {128'b0, wq_data[2047:288]};
  assign length  = inl && !bad ? s_count[7:0] : 8'd0;

  wr_t out;

  always_comb begin
    out           = '0;
    out.opcode    = fatal ? 8'd0 : c_opcode;
    out.wqe_index = index;
    if (bad) out.error = CQE_SYN_LOC_QP_OP;
    else begin
      out.signaled  = c_signal;
      out.se        = c_se;
      out.is_inline = inl;
      if (has_imm) out.imm = c_imm;
      if (is_write) begin
        out.raddr = r_addr;
        out.rkey  = r_key;
      end
      if (inl) out.length = {24'b0, s_count[7:0]};
      else if (present) begin
        out.length = s_count == 0 ? 32'h8000_0000 : s_count;
        out.laddr  = s_addr;
        out.lkey   = s_key;
      end
    end
    wr = out;
  end

endmodule

`default_nettype wire
