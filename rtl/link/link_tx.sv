// SPDX-License-Identifier: Apache-2.0
// Transmit side of one end of a cable (docs/link.md, P1 to P4, S1 to S5): pulls frames from the core, paces them to the
// rate of the wire, starts one only when there is room for a largest frame, cuts native ones into segments with a
// trailer. What is recorded for a replay, and what a replay gives, goes through the ports `rec_*`, `again_*`.
// Latency: a beat accepted at c may leave at c+1, a frame's first at c+1+LINK_START_SLACK; what leaves at d is at the PHY
// at d+3. One beat a cycle as far as the pace allows. Order kept.
`default_nettype none
`include "microhop_assert.svh"

module link_tx
  import microhop_pkg::*;
  import spec_pkg::*;
#(
    parameter  int DATA_W = 512,  /// stream width, bits
    parameter  int LANES  = 1,    /// virtual lanes, 1..16
    localparam int BB = DATA_W / 8,
    localparam int W = 18 + BB + DATA_W,  // recorded: bytes - 1, charge, segment's last, last, user, keep, data
    localparam int LW = LANES > 1 ? $clog2(LANES) : 1,
    localparam int CW = CABLE_SIDE_W + BB + DATA_W
) (
    input  wire                 clk,            /// clock
    input  wire                 rst,            /// synchronous reset, active high
    input  wire                 fresh,          /// state OFF
    input  wire                 roce,           /// profile
    input  wire                 gate,           /// frames wait for credits and pauses
    input  wire                 up,             /// the core may send; else what it sends is discarded
    input  wire                 tx_on,          /// beats may leave
    input  wire                 retrains,       /// last cycle before RETRAIN
    input  wire                 sig,            /// signal to the cable
    input  wire  [        19:0] init_seq,       /// first segment number
    input  wire                 s_axis_tvalid,  /// frames from the core
    output wire                 s_axis_tready,  /// room in the input FIFO
    input  wire  [  DATA_W-1:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire  [      BB-1:0] s_axis_tkeep,   /// valid bytes, contiguous
    input  wire                 s_axis_tlast,   /// last beat of a frame
    input  wire                 s_axis_tuser,   /// with the last beat: the frame is damaged
    input  wire  [LANES*16-1:0] credits,        /// cells free at the far end
    input  wire  [   LANES-1:0] paused,         /// lanes that the far end wants paused
    input  wire                 room,           /// the record has room for a largest frame
    input  wire                 running,        /// a replay runs
    input  wire                 halt,           /// no beat leaves in this cycle
    input  wire                 restart,        /// s becomes restart_s
    input  wire  [        19:0] restart_s,      /// first number to send again
    output wire                 rec,            /// a new beat leaves (native: to be recorded)
    output wire  [      LW-1:0] rec_lane,       /// its lane
    output wire                 rec_last,       /// it ends its segment
    output wire  [       W-1:0] rec_word,       /// what to record
    output logic                open,           /// a segment is open on the wire
    output logic [        19:0] s,              /// number of the segment that is or will be on the wire
    input  wire                 again_valid,    /// the replay's next beat is there
    input  wire  [       W-1:0] again_word,     /// it
    output wire                 again_take,     /// it leaves
    input  wire                 pfc_wanted,     /// a PFC frame is wanted
    input  wire  [       511:0] pfc_frame,      /// it
    output wire                 pfc_sent,       /// it leaves
    input  wire                 ctl_send,       /// a control set leaves
    input  wire  [        63:0] ctl_set,        /// it
    output wire  [      CW-1:0] tx,             /// to the PHY
    output wire  [         3:0] events          /// {frame discarded, underrun, segment sent, frame sent}
);

  localparam int RATE = LINK_RATE_BYTES * DATA_W / 512;
  localparam int SEG = LINK_SEGMENT_BYTES / BB;
  localparam int M = (FRAME_MAX_BEATS * 64 + BB - 1) / BB;
  localparam int SLACK = LINK_START_SLACK;
  localparam int DEPTH = 4;  // covers FIFO and slack at one single-beat frame a cycle (latency.link.fifo_beats)

  // ---- what is known of a beat before it enters the FIFO ---------------------------------------------
  logic [6:0] bytes_m1_in;  // bytes - 1
  logic [7:0] bytes_in;  // tkeep is contiguous: its highest set bit tells
  always_comb begin
    bytes_in = '0;
    for (int i = 0; i < BB; i++) begin
      if (s_axis_tkeep[i] && (i == BB - 1 || !s_axis_tkeep[(i+1)%BB])) bytes_in = bytes_in | 8'(i + 1);
    end
    bytes_m1_in = 7'(bytes_in - 8'd1);
  end
  logic [DATA_W-1:0] data_in;  // bytes that are not valid are zeros on the wire and in the CRC
  always_comb for (int i = 0; i < BB; i++) data_in[i*8+:8] = s_axis_tkeep[i] ? s_axis_tdata[i*8+:8] : 8'h0;

  logic first_in;  // the next beat accepted is a frame's first
  logic [1:0] seg_in;  // its place in its segment
  logic [LW-1:0] lane_in;  // lane of the frame that comes in
  wire [3:0] lane_first = roce ? {1'b0, s_axis_tdata[127:125]} : s_axis_tdata[7:4];
  wire [LW-1:0] lane_known = 32'(lane_first) < LANES ? LW'(lane_first) : '0;
  wire [LW-1:0] lane_now = first_in ? lane_known : lane_in;
  wire seg_last_in = s_axis_tlast || seg_in == 2'(SEG - 1);
  wire [7:0] extra_in = roce ? (s_axis_tlast ? 8'(LINK_OVERHEAD_ROCE) : 8'd0)
                             : (seg_last_in ? 8'(LINK_TRAILER_BYTES) : 8'd0);
  wire [7:0] charge_in = bytes_in + extra_in;

  // ---- input FIFO, with the age of each frame's first beat -------------------------------------------
  logic [2:0] fill;
  logic empty;
  logic [LW-1:0] head_lane;
  wire [W-1:0] head;
  wire pop;  // the head leaves or is discarded
  logic in_frame;  // a frame has begun to leave and not ended
  logic discarding;  // the head's frame has lost a beat: the rest goes too
  logic [SLACK-1:0] ageing;  // first beats accepted in the last SLACK cycles
  logic [2:0] aged;  // frames whose first beat is old enough

  assign s_axis_tready = fill < 3'(DEPTH);
  wire accept = s_axis_tvalid && s_axis_tready;

  sync_fifo #(
      .WIDTH(LW + W),
      .DEPTH(DEPTH)
  ) u_fifo (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (accept),
      .wr_data({lane_now, bytes_m1_in, charge_in, seg_last_in, s_axis_tlast, s_axis_tlast && s_axis_tuser,
                s_axis_tkeep, data_in}),
      .rd_en  (pop),
      .rd_data({head_lane, head}),
      .empty  (empty),
      .count  (fill)
  );
  wire [7:0] head_charge = head[BB+DATA_W+3+:8];
  wire head_seg = head[BB+DATA_W+2];
  wire head_last = head[BB+DATA_W+1];

  // ---- what leaves in this cycle -----------------------------------------------------------------------
  logic [8:0] backlog;  // bytes that the serialiser still has to send
  wire pace_ok = backlog < 9'(RATE);
  wire discard = !empty && (!up || discarding);
  wire clear = roce ? !pfc_wanted && !(gate && paused[head_lane])
                    : room && !(gate && credits[head_lane*16+:16] < 16'(M));
  wire leave_new = !empty && !discard && pace_ok && tx_on && !running && !halt && (in_frame || (aged != 3'd0 && clear));
  wire leave_again = again_valid && pace_ok && tx_on && !halt;
  wire underrun = roce && in_frame && up && tx_on && pace_ok && empty;
  assign pfc_sent = pfc_wanted && !in_frame && pace_ok;
  assign again_take = leave_again;
  assign pop = leave_new || discard;
  assign rec = leave_new && !roce;
  assign rec_lane = head_lane;
  assign rec_last = head_seg;
  assign rec_word = head;

  wire leaves = leave_new || leave_again || underrun || pfc_sent;
  wire seg_leaves = leave_again ? again_word[BB+DATA_W+2] : head_seg;
  wire first = roce ? pfc_sent || (leave_new && !in_frame) : !open;
  wire last = roce ? !leave_new || head_last : seg_leaves;

  logic [8:0] sum;
  always_comb begin
    sum = backlog;
    if (leave_again) sum = sum + 9'(again_word[BB+DATA_W+3+:8]);
    else if (leave_new) sum = sum + 9'(head_charge);
    else if (underrun) sum = sum + 9'(LINK_OVERHEAD_ROCE + 1);
    else if (pfc_sent) sum = sum + 9'(LINK_OVERHEAD_ROCE + 64);
    if (ctl_send) sum = sum + 9'(LINK_CTL_BYTES);
  end

  wire goes_on = leave_new ? !head_last : in_frame && !underrun;  // a frame has begun and not ended, after this cycle
  logic [SLACK-1:0] left_ageing;
  logic head_first;  // the head is a frame's first beat
  wire [2:0] aged_now = aged + 3'(ageing[SLACK-1]);
  wire drops_young = pop && head_first && aged_now == 3'd0;
  always_comb begin  // a first beat that is discarded before it is old enough
    left_ageing = ageing;
    for (int k = 0; k < SLACK; k++) if (drops_young && ageing[k] && (ageing >> (k + 1)) == '0) left_ageing[k] = 1'b0;
  end

  logic [1:0] place;  // beats of the open segment that have left
  always_ff @(posedge clk) begin
    if (rst) begin
      first_in   <= 1'b1;
      seg_in     <= '0;
      head_first <= 1'b1;
      ageing     <= '0;
      aged       <= '0;
      in_frame   <= 1'b0;
      discarding <= 1'b0;
      open       <= 1'b0;
      place      <= '0;
      backlog    <= '0;
      s          <= init_seq;
    end else begin
      if (accept) first_in <= s_axis_tlast;
      if (accept) seg_in <= seg_last_in ? 2'd0 : seg_in + 2'd1;
      if (pop) head_first <= head_last;
      ageing <= SLACK'({left_ageing, accept && first_in});
      aged   <= aged_now - 3'(pop && head_first && !drops_young);

      if (discard) begin
        discarding <= !head_last;
        in_frame   <= 1'b0;
      end else if (in_frame && (!up || underrun)) begin
        discarding <= 1'b1;
        in_frame   <= 1'b0;
      end else if (retrains && roce) begin
        discarding <= discarding || goes_on;
        in_frame   <= 1'b0;
      end else in_frame <= goes_on;

      if (!tx_on || roce) open <= 1'b0;
      else if (leaves) open <= !last;
      if (leaves) place <= first ? 2'd1 : place + 2'd1;
      backlog <= sum < 9'(RATE) ? 9'd0 : sum - 9'(RATE);

      if (fresh) s <= init_seq;
      else if (restart) s <= restart_s;
      else if (leaves && last && !roce) s <= s + 20'd1;
    end
    if (accept && first_in) lane_in <= lane_known;
  end
  assign events = {discard && head_last, underrun, leaves && last && !roce, leave_new && head_last};

  // ---- three stages to the PHY: register, share of the CRC, trailer -------------------------------------
  logic valid1, valid2, valid3, first1, first2, first3, last1, last2, last3;
  logic c_valid1, c_valid2, c_valid3, sig1, sig2, sig3;
  logic [63:0] ctl1, ctl2, ctl3;
  logic [8:0] off1, off2, off3, c_off1, c_off2, c_off3;
  logic [31:0] header1, header2, header3;
  logic [BB-1:0] keep1, keep2, keep3;
  logic [DATA_W-1:0] data1, data2, data3;
  wire [31:0] sealed;
  /* verilator lint_off UNUSEDSIGNAL */  // only the receiver looks at the register
  wire [31:0] unused;
  /* verilator lint_on UNUSEDSIGNAL */

  wire [W-1:0] leaving = leave_again ? again_word : head;
  wire [31:0] header = {
    1'b0, leaving[W-1-:7], first ? 2'd0 : place, leaving[BB+DATA_W], leaving[BB+DATA_W+1], s
  };

  always_ff @(posedge clk) begin
    if (rst) begin
      {valid1, valid2, valid3, c_valid1, c_valid2, c_valid3, sig1, sig2, sig3} <= '0;
    end else begin
      {valid3, valid2, valid1} <= {valid2, valid1, leaves};
      {c_valid3, c_valid2, c_valid1} <= {c_valid2, c_valid1, ctl_send};
      {sig3, sig2, sig1} <= {sig2, sig1, sig};
    end
  end

  always_ff @(posedge clk) begin
    if (leaves) begin
      {first1, last1} <= {first, last};
      off1    <= backlog + (ctl_send ? 9'(LINK_CTL_BYTES) : 9'd0);
      header1 <= header;
      if (underrun) {keep1, data1} <= {(BB)'(1), (DATA_W)'(0)};
      else if (pfc_sent) {keep1, data1} <= {(BB)'(64'hffff_ffff_ffff_ffff), (DATA_W)'(pfc_frame)};
      else {keep1, data1} <= leaving[BB+DATA_W-1:0];
    end
    if (valid1) {first2, last2, off2, header2, keep2, data2} <= {first1, last1, off1, header1, keep1, data1};
    if (valid2) {first3, last3, off3, header3, keep3, data3} <= {first2, last2, off2, header2, keep2, data2};
    if (ctl_send) {ctl1, c_off1} <= {ctl_set, backlog};
    if (c_valid1) {ctl2, c_off2} <= {ctl1, c_off1};
    if (c_valid2) {ctl3, c_off3} <= {ctl2, c_off2};
  end

  link_crc #(
      .DATA_W(DATA_W)
  ) u_crc (
      .clk(clk), .en(valid1), .first(first1), .data(data1), .word(header2), .state(unused), .sealed(sealed)
  );

  cable_side_t out;
  always_comb begin
    out.sig       = sig3;
    out.ctl_valid = c_valid3;
    out.ctl       = ctl3;
    out.ctl_off   = c_off3;
    out.valid     = valid3;
    out.first     = first3;
    out.last      = last3;
    out.off       = off3;
    out.trailer   = last3 && !roce ? {sealed, header3} : 64'd0;
  end
  assign tx = {out, keep3, data3};

  `MH_ASSERT(a_one, 3'(leave_new) + 3'(leave_again) + 3'(underrun) + 3'(pfc_sent) <= 3'd1)
  // A frame longer than a largest one could overrun the far buffer: its room was not reserved.
  `MH_ASSERT(a_frame_has_credit, !(rec && gate && credits[head_lane*16+:16] == 16'd0))
  `MH_NEVER_X(a_known, {s_axis_tready, leaves, ctl_send, backlog, open, s, aged, discarding, in_frame})

endmodule

`default_nettype wire
