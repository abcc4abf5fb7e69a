// SPDX-License-Identifier: Apache-2.0
// What wire_tx and wire_rx must agree on: which opcode carries which extended header, and how far
// that moves the payload (InfiniBand vol. 1, ch. 9; RoCEv2: InfiniBand vol. 1 annex A17).
//
// A header layout is one of eight, `lay` = {roce, reth, imm or aeth}:
//   lay     bytes before the payload    in words, the rest of RoCE being 2 bytes
//   0 0 0   20 = LRH 8 + BTH 12          5
//   0 0 1   24                           6
//   0 1 0   36                           9
//   0 1 1   40                          10
//   1 0 0   54 = Eth 14 + IP 20 + UDP 8 + BTH 12    13
//   1 0 1   58                          14
//   1 1 0   70                          17
//   1 1 1   74                          18
`default_nettype none

package wire_pkg;

  localparam int HEAD_MAX = 74;  // bytes: the longest header stack

  // {reth, imm, aeth}: extended headers that follow the BTH. Opcodes that are not listed carry none
  // here; all after their BTH is payload.
  function automatic logic [2:0] ext_of(input logic [7:0] opcode);
    case (opcode)
      8'h03, 8'h05, 8'h09: ext_of = 3'b010;  // SEND LAST, SEND ONLY, WRITE LAST, each with immediate
      8'h06, 8'h0a, 8'h0c: ext_of = 3'b100;  // WRITE FIRST, WRITE ONLY, READ REQUEST
      8'h0b: ext_of = 3'b110;  // WRITE ONLY with immediate
      8'h0d, 8'h0f, 8'h10, 8'h11, 8'h12: ext_of = 3'b001;  // READ responses but MIDDLE, ACK, ATOMIC ACK
      default: ext_of = 3'b000;
    endcase
  endfunction

  // Whole words before the payload, modulo one beat (16 words).
  function automatic logic [3:0] head_words(input logic [2:0] lay);
    case (lay)
      3'd0: head_words = 4'd5;
      3'd1: head_words = 4'd6;
      3'd2: head_words = 4'd9;
      3'd3: head_words = 4'd10;
      3'd4: head_words = 4'd13;
      3'd5: head_words = 4'd14;
      3'd6: head_words = 4'd1;
      default: head_words = 4'd2;
    endcase
  endfunction

  // Words from the first BTH byte's length field's point of view: all that PktLen (native, from LRH)
  // or the IP total length (RoCE, from IPv4) counts besides payload and pad: headers and ICRC.
  function automatic logic [4:0] counted_words(input logic [2:0] lay);
    case (lay)
      3'd0: counted_words = 5'd6;
      3'd1: counted_words = 5'd7;
      3'd2: counted_words = 5'd10;
      3'd3: counted_words = 5'd11;
      3'd4: counted_words = 5'd11;
      3'd5: counted_words = 5'd12;
      3'd6: counted_words = 5'd15;
      default: counted_words = 5'd16;
    endcase
  endfunction

  // Bit i set: byte i of a beat lies before the payload's first byte (modulo one beat).
  function automatic logic [63:0] head_mask(input logic [2:0] lay);
    case (lay)
      3'd0: head_mask = 64'h0000_0000_000f_ffff;
      3'd1: head_mask = 64'h0000_0000_00ff_ffff;
      3'd2: head_mask = 64'h0000_000f_ffff_ffff;
      3'd3: head_mask = 64'h0000_00ff_ffff_ffff;
      3'd4: head_mask = 64'h003f_ffff_ffff_ffff;
      3'd5: head_mask = 64'h03ff_ffff_ffff_ffff;
      3'd6: head_mask = 64'h0000_0000_0000_003f;
      default: head_mask = 64'h0000_0000_0000_03ff;
    endcase
  endfunction

  // Payload towards higher bytes by the header's length, around the beat's end.
  function automatic logic [511:0] rot_up(input logic [2:0] lay, input logic [511:0] d);
    case (lay)
      3'd0: rot_up = {d[351:0], d[511:352]};  // 20 bytes
      3'd1: rot_up = {d[319:0], d[511:320]};  // 24
      3'd2: rot_up = {d[223:0], d[511:224]};  // 36
      3'd3: rot_up = {d[191:0], d[511:192]};  // 40
      3'd4: rot_up = {d[79:0], d[511:80]};  // 54
      3'd5: rot_up = {d[47:0], d[511:48]};  // 58
      3'd6: rot_up = {d[463:0], d[511:464]};  // 70 - 64
      default: rot_up = {d[431:0], d[511:432]};  // 74 - 64
    endcase
  endfunction

  // The way back.
  function automatic logic [511:0] rot_down(input logic [2:0] lay, input logic [511:0] d);
    case (lay)
      3'd0: rot_down = {d[159:0], d[511:160]};
      3'd1: rot_down = {d[191:0], d[511:192]};
      3'd2: rot_down = {d[287:0], d[511:288]};
      3'd3: rot_down = {d[319:0], d[511:320]};
      3'd4: rot_down = {d[431:0], d[511:432]};
      3'd5: rot_down = {d[463:0], d[511:464]};
      3'd6: rot_down = {d[47:0], d[511:48]};
      default: rot_down = {d[79:0], d[511:80]};
    endcase
  endfunction

  // One bit a byte -> eight bits a byte.
  function automatic logic [511:0] bytes_of(input logic [63:0] mask);
    for (int i = 0; i < 64; i++) bytes_of[i*8+:8] = {8{mask[i]}};
  endfunction

  // One bit a half word -> 16 bits a half word.
  function automatic logic [511:0] halves_of(input logic [31:0] mask);
    for (int i = 0; i < 32; i++) halves_of[i*16+:16] = {16{mask[i]}};
  endfunction

  // Bits of a first beat that the ICRC takes as zero (before its start) and as one (fields that may
  // change on the way). RoCEv2 begins with eight bytes of ones before the IPv4 header; they are part
  // of the start value instead.
  function automatic logic [511:0] icrc_view(input logic roce, input logic [511:0] d);
    icrc_view = d;
    if (roce) begin
      icrc_view[0+:112] = '0;  // Ethernet header
      icrc_view[15*8+:8] = '1;  // type of service
      icrc_view[22*8+:8] = '1;  // time to live
      icrc_view[24*8+:16] = '1;  // IPv4 header checksum
      icrc_view[40*8+:16] = '1;  // UDP checksum
      icrc_view[46*8+:8] = '1;  // BTH byte 4: FECN, BECN, reserved
    end else begin
      icrc_view[7:4] = '1;  // virtual lane
      icrc_view[12*8+:8] = '1;  // BTH byte 4
    end
  endfunction

endpackage

`default_nettype wire
