// SPDX-License-Identifier: Apache-2.0
// Cyclic redundancy checks as XOR matrices over GF(2), built at elaboration.
//
// All CRCs here are reflected: each byte goes in least significant bit first, the register moves to
// the right, and bit 0 of a message vector is its first bit on the wire. A matrix is one flat vector
// of rows; output bit i is the parity of (row i AND input). CRC-32 of IEEE 802.3 serves ICRC and FCS,
// the 16-bit polynomial 0x100B is InfiniBand's VCRC (InfiniBand vol. 1, ch. 7, CRC definitions). The
// 16-bit register lives in the low half of a 32-bit one, whose upper half stays zero.
`default_nettype none

package crc_pkg;

  localparam int BEAT_BITS = 512;  // message bits of a stream beat

  localparam logic [31:0] POLY_ICRC = 32'hedb8_8320;  // 0x04C11DB7 reflected
  localparam logic [31:0] POLY_VCRC = 32'h0000_d008;  // 0x100B reflected, 16 bits

  // Registers after a message with its own CRC: what a receiver compares with.
  localparam logic [31:0] RESIDUE_ICRC = 32'hdebb_20e3;
  localparam logic [31:0] RESIDUE_VCRC = 32'h0000_556f;

  // 512 message bits -> register, from a zero register.
  function automatic logic [32*BEAT_BITS-1:0] beat_rows(input logic [31:0] poly);
    logic [31:0] col;
    col = 32'h1;
    for (int j = BEAT_BITS - 1; j >= 0; j--) begin
      col = {1'b0, col[31:1]} ^ (col[0] ? poly : 32'h0);
      for (int i = 0; i < 32; i++) beat_rows[i*BEAT_BITS+j] = col[i];
    end
  endfunction

  // 32 message bits followed by `zeros` zero bits -> register. A CRC-32 register goes the same way.
  function automatic logic [1023:0] word_rows(input logic [31:0] poly, input int zeros);
    logic [31:0] col;
    col = 32'h1;
    word_rows = '0;
    for (int j = 0; j < zeros; j++) col = {1'b0, col[31:1]} ^ (col[0] ? poly : 32'h0);
    for (int j = 31; j >= 0; j--) begin
      col = {1'b0, col[31:1]} ^ (col[0] ? poly : 32'h0);
      for (int i = 0; i < 32; i++) word_rows[i*32+j] = col[i];
    end
  endfunction

  // Register -> register `n` zero bits later.
  function automatic logic [1023:0] ahead_rows(input logic [31:0] poly, input int width, input int n);
    logic [31:0] col;
    ahead_rows = '0;
    for (int j = 0; j < width; j++) begin
      col = 32'h1 << j;
      for (int k = 0; k < n; k++) col = {1'b0, col[31:1]} ^ (col[0] ? poly : 32'h0);
      for (int i = 0; i < 32; i++) ahead_rows[i*32+j] = col[i];
    end
  endfunction

  // Register -> register `n` zero bits earlier: takes the zero padding of a last beat out again.
  function automatic logic [1023:0] back_rows(input logic [31:0] poly, input int width, input int n);
    logic [31:0] col;
    logic [31:0] keep;
    keep = 32'hffff_ffff >> (32 - width);
    back_rows = '0;
    for (int j = 0; j < width; j++) begin
      col = 32'h1 << j;
      for (int k = 0; k < n; k++) begin
        if ((col >> (width - 1)) != 0) col = ((col ^ poly) << 1) | 32'h1;
        else col = col << 1;
        col = col & keep;
      end
      for (int i = 0; i < 32; i++) back_rows[i*32+j] = col[i];
    end
  endfunction

  // Entry k (32 bits at 32 k): the register that started as `state`, k zero bytes later, k = 0..63.
  function automatic logic [2047:0] ahead_table(input logic [31:0] poly, input logic [31:0] state);
    logic [31:0] s;
    s = state;
    ahead_table = '0;
    for (int k = 0; k < 64; k++) begin
      ahead_table[k*32+:32] = s;
      for (int b = 0; b < 8; b++) s = {1'b0, s[31:1]} ^ (s[0] ? poly : 32'h0);
    end
  endfunction

  // 32 x 32 matrix times vector.
  function automatic logic [31:0] mul(input logic [1023:0] rows, input logic [31:0] v);
    for (int i = 0; i < 32; i++) mul[i] = ^(rows[i*32+:32] & v);
  endfunction

endpackage

`default_nettype wire
