// SPDX-License-Identifier: Apache-2.0
// Receive side of one end of a cable, behind the PHY (docs/link.md, V1 to V4, F1): checks segments (RoCE: frames),
// keeps their order, and hands on those that are taken. No stall at the output: the credits stand for the core's buffer.
// Latency: a segment's last beat at r, verdict at r+3, its first beat at m_axis at r+5 (latency.link.verdict, rx).
`default_nettype none
`include "microhop_assert.svh"

module link_rx
  import microhop_pkg::*;
  import spec_pkg::*;
  import crc_pkg::*;
#(
    parameter  int DATA_W = 512,  /// stream width, bits
    localparam int BB = DATA_W / 8
) (
    input  wire               clk,            /// clock
    input  wire               rst,            /// synchronous reset, active high
    input  wire               roce,           /// profile
    input  wire               rx_on,          /// segments and frames are taken
    input  wire               up,             /// the core may receive
    input  wire               load_e,         /// fresh start: take e_init
    input  wire  [      19:0] e_init,         /// first number of the far end
    input  wire               in_valid,       /// beat from the PHY
    input  wire               in_first,       /// first of a segment or frame
    input  wire               in_last,        /// last of a segment or frame
    input  wire  [      63:0] in_trailer,     /// native, with last: CRC, header
    input  wire  [    BB-1:0] in_keep,        /// valid bytes
    input  wire  [DATA_W-1:0] in_data,        /// bytes, first one lowest
    output logic [      19:0] e,              /// number expected
    output logic              v_taken,        /// verdict: segment taken (native)
    output logic              v_nack,         /// verdict: a NACK is wanted
    output logic              v_dup,          /// verdict: duplicate in state ACKS, an ACK is wanted
    output logic              v_pfc,          /// verdict: a good PFC frame
    output logic [     135:0] pfc_class,      /// its eight times 135:8, class 0 lowest, and class vector 7:0
    output logic [       4:0] v_events,       /// this verdict: {long, FCS, gap, bad, duplicate}
    output logic              m_axis_tvalid,  /// beat to the core
    output logic [DATA_W-1:0] m_axis_tdata,   /// bytes
    output logic [    BB-1:0] m_axis_tkeep,   /// valid bytes
    output logic              m_axis_tlast,   /// last beat of a frame
    output logic              m_axis_tuser,   /// the frame is damaged
    output wire               ev_frame        /// a frame's last beat is at m_axis
);

  localparam int SEG = LINK_SEGMENT_BYTES / BB;  // beats of a segment at most
  localparam int M = (FRAME_MAX_BEATS * 64 + BB - 1) / BB;  // beats of a frame at most
  localparam int RING = 256;  // beats: one frame that arrives, one that is handed on, and the verdict's time, with room
  localparam int QUEUE = 64;  // taken segments that wait: those that arrive while a largest frame is handed on
  localparam int RW = 2 + BB + DATA_W;
  localparam int SW = 8 + 7;

  // Registers after a frame with its FCS and k more zero bytes, k = 0..BB-1.
  function automatic logic [32*BB-1:0] residues();
    logic [31:0] r;
    r = RESIDUE_ICRC;
    residues = '0;
    for (int k = 0; k < BB; k++) begin
      residues[k*32+:32] = r;
      for (int b = 0; b < 8; b++) r = {1'b0, r[31:1]} ^ (r[0] ? POLY_ICRC : 32'h0);
    end
  endfunction
  localparam logic [32*BB-1:0] RESIDUES = residues();

  // ---- r: segments and their beats into the ring ---------------------------------------------------
  logic [7:0] wr;  // next place of the ring
  logic [7:0] begun;  // place of the open segment's first beat
  logic [7:0] beats;  // beats of the open segment so far, held at 255
  logic open;
  wire opens = in_valid && in_first && rx_on;
  wire member = in_valid && (in_first || open) && rx_on;
  wire [7:0] count = in_first ? 8'd1 : beats == 8'hff ? beats : beats + 8'd1;
  wire too_long = count > 8'(M);
  wire store = member && !too_long;
  wire [7:0] start = in_first ? wr : begun;

  logic [RW-1:0] ring [RING];
  always_ff @(posedge clk) begin
    if (store) begin
      ring[wr] <= {roce ? in_last : in_last && in_trailer[20], !roce && in_last && in_trailer[21], in_keep, in_data};
    end
  end

  // PFC: one beat with the destination, type and opcode of IEEE 802.3 annex 31D.
  wire is_pfc = roce && in_first && in_last && in_data[47:0] == 48'h0100_00c2_8001
             && in_data[111:96] == 16'h0888 && in_data[127:112] == 16'h0101;

  // ---- r+1, r+2: CRC, what the verdict needs beside it ---------------------------------------------
  logic [63:0] trailer1;
  logic [31:0] crc2, sealed2;
  link_crc #(
      .DATA_W(DATA_W)
  ) u_crc (
      .clk(clk), .en(member), .first(in_first), .data(in_data), .word(trailer1[31:0]), .state(crc2), .sealed(sealed2)
  );

  logic end1, end2, end3;  // a last beat
  logic stray1, stray2, stray3;  // without an open segment
  logic after1, after2, after3;  // its segment's first came inside an open one
  logic after_open;  // the same of the open segment
  logic long1, long2, long3;
  logic pfc1, pfc2, pfc3;
  logic [7:0] start1, start2, start3, count1, count2, count3;
  logic [$clog2(BB)-1:0] pad1, pad2;  // invalid bytes of the last beat
  logic [53:0] trailer2;  // CRC, beats - 1, number
  logic [19:0] num3;
  logic ok3;
  logic [135:0] class1, class2, class3;

  logic [$clog2(BB)-1:0] pad;
  always_comb begin
    pad = '0;
    for (int i = 1; i < BB; i++) if (in_keep[i-1] && !in_keep[i]) pad = ($clog2(BB))'(BB - i);
  end
  logic [135:0] class_in;
  always_comb begin  // class vector: byte 17; times: bytes 18.., the upper byte first
    class_in[7:0] = in_data[17*8+:8];
    for (int v = 0; v < 8; v++) class_in[8+16*v+:16] = {in_data[(18+2*v)*8+:8], in_data[(19+2*v)*8+:8]};
  end

  always_ff @(posedge clk) begin
    if (rst || !rx_on) begin
      open <= 1'b0;
      after_open <= 1'b0;
    end else if (in_valid) begin
      open <= (in_first || open) && !in_last;
      if (in_first) after_open <= open;
    end
    if (rst) {end1, end2, end3, wr} <= '0;
    else begin
      end1 <= in_valid && in_last && rx_on;
      end2 <= end1;
      end3 <= end2;
      if (store) wr <= wr + 8'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (opens) begun <= wr;
    if (member) beats <= count;
    if (in_valid && in_last) begin
      {stray1, long1, pfc1, start1, count1, pad1} <= {!member, too_long, is_pfc, start, count, pad};
      after1   <= in_first ? open : after_open;
      trailer1 <= in_trailer;
      if (is_pfc) class1 <= class_in;
    end
    if (end1) begin
      {stray2, after2, long2, pfc2, start2, count2, pad2} <= {stray1, after1, long1, pfc1, start1, count1, pad1};
      trailer2 <= {trailer1[63:32], trailer1[23:22], trailer1[19:0]};
      if (pfc1) class2 <= class1;
    end
    if (end2) begin
      {stray3, after3, long3, pfc3, start3, count3} <= {stray2, after2, long2, pfc2, start2, count2};
      num3 <= trailer2[19:0];
      ok3  <= roce ? crc2 == RESIDUES[pad2*32+:32]
                   : sealed2 == trailer2[53:22] && count2 <= 8'(SEG) && count2 == 8'(trailer2[21:20]) + 8'd1;
      if (pfc2) class3 <= class2;
    end
  end

  // ---- r+3: verdict ----------------------------------------------------------------------------------
  logic silent;  // state SILENT, else ACKS
  wire judged = end3 && rx_on;
  wire good = ok3 && !stray3 && !long3;
  wire [19:0] back = e - num3;  // how far behind
  wire expected = num3 == e;
  wire behind = !expected && back <= 20'h8_0000;
  wire broken = stray3 || (after3 && !silent);
  wire take = judged && !roce && good && expected && !broken;
  wire take_frame = judged && roce && good && !pfc3;
  assign v_taken = take;
  assign v_dup = judged && !roce && !silent && good && !broken && behind;
  assign v_nack = judged && !roce && !silent && !take && !v_dup;
  assign v_pfc = judged && roce && good && pfc3;
  assign pfc_class = class3;
  assign v_events = {
    judged && roce && long3,
    judged && roce && ((!good && !long3) || after3),
    v_nack && good && !broken,
    judged && !roce && (!good || broken),
    judged && !roce && good && !broken && behind
  };

  always_ff @(posedge clk) begin
    if (load_e) e <= e_init;
    else if (rst) e <= '0;
    else if (take) e <= e + 20'd1;
    if (rst) silent <= 1'b0;
    else begin
      if (!rx_on) silent <= 1'b0;
      else if (v_nack) silent <= 1'b1;
      else if (take) silent <= 1'b0;
    end
  end

  // ---- taken segments, handed on a beat a cycle --------------------------------------------------------
  logic none;
  logic [6:0] waiting;
  logic [7:0] head_start, at;
  logic [6:0] head_more, more;  // beats after the present one
  wire fetch = more != 7'd0 || !none;
  wire next = more == 7'd0 && !none;
  wire [7:0] place = more != 7'd0 ? at : head_start;

  sync_fifo #(
      .WIDTH(SW),
      .DEPTH(QUEUE)
  ) u_taken (
      .clk(clk), .rst(rst || !up), .wr_en(take || take_frame), .wr_data({start3, 7'(count3 - 8'd1)}), .rd_en(next),
      .rd_data({head_start, head_more}), .empty(none), .count(waiting)
  );

  logic [RW-1:0] out;
  wire [RW-1:0] word = ring[place];
  logic half;  // a frame has begun at m_axis and not ended
  logic closing;  // B9's beat is there
  wire half_next = m_axis_tvalid ? !m_axis_tlast : half;
  always_ff @(posedge clk) begin
    if (rst) begin
      more          <= '0;
      m_axis_tvalid <= 1'b0;
      half          <= 1'b0;
      closing       <= 1'b0;
    end else begin
      if (!up) more <= '0;
      else if (next) more <= head_more;
      else if (more != 7'd0) more <= more - 7'd1;
      m_axis_tvalid <= up ? fetch : half_next;
      closing <= !up && half_next;
      half <= up && half_next;
    end
  end
  always_ff @(posedge clk) begin
    if (up ? fetch : half_next) out <= up ? word : {2'b11, (BB)'(1), (DATA_W)'(0)};
    if (fetch) at <= place + 8'd1;
  end
  assign {m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata} = out;
  assign ev_frame = m_axis_tvalid && m_axis_tlast && !closing;

  // The ring is never lapped: a reader that never stalls is at most a largest frame and the verdict behind.
  `MH_ASSERT(a_queue, waiting < 7'(QUEUE))
  `MH_NEVER_X(a_known, {e, silent, v_taken, v_nack, v_dup, v_pfc, v_events, m_axis_tvalid, rx_on, up})

endmodule

`default_nettype wire
