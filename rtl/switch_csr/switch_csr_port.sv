// SPDX-License-Identifier: Apache-2.0
// Registers of one port: events are registered, decoded and counted. An event of cycle t is in its counter from
// cycle t+2 on, cells in use of t are in CELLS.high from t+2 on; CELLS.used and CREDITS read at t are those of t-1. A
// request of cycle t is at the register in t+1, its answer comes in t+2.
`default_nettype none

module switch_csr_port #(
    parameter int LANES = 1  /// virtual lanes, 1..8
) (
    input  wire         clk,          /// clock
    input  wire         rst,          /// synchronous reset, active high
    // request bus, this port's share
    input  wire         req,          /// an access, for one cycle
    input  wire         req_wr,       /// it is a write
    input  wire  [ 7:0] req_addr,     /// byte address inside the port's registers
    input  wire  [31:0] req_data,     /// write data
    input  wire  [31:0] req_mask,     /// bits to write
    output wire         ack,          /// the answer, for one cycle
    output wire         ack_err,      /// with ack: there is no such register
    output wire  [31:0] ack_data,     /// with ack: data of a read; else 0
    // state and configuration
    input  wire         port_up,      /// the link's state
    input  wire         live,         /// the port is in use
    input  wire  [15:0] in_use,       /// cells of its input in use
    input  wire  [LANES*16-1:0] credits,  /// credits of its output, by lane
    output wire         port_enable,  /// administration lets it be used
    // events of a cycle
    input  wire         s_beat,       /// beat accepted
    input  wire         s_last,       /// last beat accepted
    input  wire         m_beat,       /// beat left
    input  wire         m_last,       /// last beat left
    input  wire  [ 3:0] drop,         /// reason code, 0 none
    input  wire         lost,         /// frame lost on its way out
    input  wire         mc_lost,      /// multicast frame without a live output
    input  wire         ecn,          /// frame marked
    input  wire         pausing,      /// the input asks for a pause of some lane
    input  wire         paused,       /// the far end pauses some lane
    input  wire         waited        /// beat offered to the link and not taken
);
  logic s_beat_q, s_last_q, m_beat_q, m_last_q, lost_q, mc_lost_q, ecn_q, port_up_q, live_q;
  logic pausing_q, paused_q, waited_q;
  logic [8:1] drop_q;  // by reason
  wire q_req, q_wr;
  wire [7:0] q_addr;
  wire [31:0] q_data, q_mask;
  logic [15:0] in_use_q;
  logic [127:0] credits_q;  // of 8 lanes, as they were when the access came in
  wire [15:0] high;
  wire high_anew;  // a write to it
  wire rd_ack, rd_err, wr_ack, wr_err;
  wire [31:0] rd_data;

  always_ff @(posedge clk) begin
    port_up_q <= port_up;
    live_q    <= live;
    s_beat_q  <= s_beat;
    s_last_q  <= s_last;
    m_beat_q  <= m_beat;
    m_last_q  <= m_last;
    lost_q    <= lost;
    mc_lost_q <= mc_lost;
    ecn_q     <= ecn;
    pausing_q <= pausing;
    paused_q  <= paused;
    waited_q  <= waited;
    in_use_q  <= in_use;
    if (req) credits_q <= 128'(credits);
    for (int c = 1; c <= 8; c++) drop_q[c] <= drop == 4'(c);
  end

  csr_stage #(.ADDR_W(8)) u_stage (.*);

  switch_port_regs u_regs (
      .clk(clk),
      .rst(rst),
      .s_cpuif_req(q_req),
      .s_cpuif_req_is_wr(q_wr),
      .s_cpuif_addr(q_addr),
      .s_cpuif_wr_data(q_data),
      .s_cpuif_wr_biten(q_mask),
      .s_cpuif_req_stall_wr(),
      .s_cpuif_req_stall_rd(),
      .s_cpuif_rd_ack(rd_ack),
      .s_cpuif_rd_err(rd_err),
      .s_cpuif_rd_data(rd_data),
      .s_cpuif_wr_ack(wr_ack),
      .s_cpuif_wr_err(wr_err),
      .hwif_in_STATUS_link_next(port_up_q),
      .hwif_in_STATUS_live_next(live_q),
      .hwif_in_FRAMES_IN_count_incr(s_last_q),
      .hwif_in_BEATS_IN_count_incr(s_beat_q),
      .hwif_in_FRAMES_OUT_count_incr(m_last_q),
      .hwif_in_BEATS_OUT_count_incr(m_beat_q),
      .hwif_in_DROP_MALFORMED_count_incr(drop_q[1]),
      .hwif_in_DROP_UNKNOWN_count_incr(drop_q[2]),
      .hwif_in_DROP_LONG_count_incr(drop_q[3]),
      .hwif_in_DROP_OVERFLOW_count_incr(drop_q[4]),
      .hwif_in_DROP_NO_WAY_count_incr(drop_q[5]),
      .hwif_in_CUT_count_incr(drop_q[6]),
      .hwif_in_SHORT_count_incr(drop_q[7]),
      .hwif_in_ABORTED_count_incr(drop_q[8]),
      .hwif_in_LOST_count_incr(lost_q),
      .hwif_in_MC_LOST_count_incr(mc_lost_q),
      .hwif_in_ECN_MARKED_count_incr(ecn_q),
      .hwif_in_PAUSING_count_incr(pausing_q),
      .hwif_in_PAUSED_count_incr(paused_q),
      .hwif_in_WAITED_count_incr(waited_q),
      .hwif_in_CELLS_used_next(in_use_q),
      .hwif_in_CELLS_high_next(in_use_q),
      .hwif_in_CELLS_high_we(high_anew || in_use_q > high),
      .hwif_in_CREDITS01_even_next(credits_q[15:0]),
      .hwif_in_CREDITS01_odd_next(credits_q[31:16]),
      .hwif_in_CREDITS23_even_next(credits_q[47:32]),
      .hwif_in_CREDITS23_odd_next(credits_q[63:48]),
      .hwif_in_CREDITS45_even_next(credits_q[79:64]),
      .hwif_in_CREDITS45_odd_next(credits_q[95:80]),
      .hwif_in_CREDITS67_even_next(credits_q[111:96]),
      .hwif_in_CREDITS67_odd_next(credits_q[127:112]),
      .hwif_out_CELLS_high_value(high),
      .hwif_out_CELLS_high_swmod(high_anew),
      .hwif_out_CTRL_enable_value(port_enable)
  );
endmodule

`default_nettype wire
