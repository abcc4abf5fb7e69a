// SPDX-License-Identifier: Apache-2.0
// Transmit side of one end of a cable: pulls frames from the core, paces them to the rate of the wire,
// starts one only when the far buffer has room for a largest frame, and reports the cells its own core
// freed in control sets. Rules L1 to L8 of README.md.
// Latency: a beat accepted at c may leave at c+1, a frame's first at c+1+LINK_START_SLACK; what leaves at
// d is in the output register at d+1. One beat a cycle as far as the pace allows. Order kept.
`default_nettype none
`include "microhop_assert.svh"

module link_tx
  import spec_pkg::*;
#(
    parameter int CNT_INIT = 0  /// value of CC and CF at reset, 0..65535, the same at both ends; not 0 only in tests
) (
    input  wire          clk,            /// clock
    input  wire          rst,            /// synchronous reset, active high
    input  wire          cfg_roce,       /// profile: selects the overhead of a frame; steady outside reset
    input  wire          s_axis_tvalid,  /// frames from the core
    output wire          s_axis_tready,  /// room in the input FIFO
    input  wire  [511:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire  [ 63:0] s_axis_tkeep,   /// valid bytes, contiguous
    input  wire          s_axis_tlast,   /// last beat of a frame
    input  wire  [  7:0] free_cells,     /// cells that the own core freed in this cycle
    input  wire          rx_ctl_valid,   /// control set from the far end, behind the PHY
    input  wire  [ 15:0] rx_ctl_cf,      /// the far end's counter of freed cells
    output logic         tx_tvalid,      /// beat to the PHY
    output logic [511:0] tx_tdata,       /// bytes
    output logic [ 63:0] tx_tkeep,       /// valid bytes
    output logic         tx_tlast,       /// last beat of a frame
    output logic         tx_ctl_valid,   /// control set to the PHY
    output logic [ 15:0] tx_ctl_cf,      /// own counter of freed cells
    output logic [ 15:0] credits,        /// cells free at the far end, as known here
    output logic [ 31:0] cnt_tx_frames   /// frames sent, modulo 2^32
);

  localparam int SLACK = LINK_START_SLACK;
  localparam int DEPTH = 4;  // covers FIFO and slack at one single-beat frame a cycle
  localparam int FIFO_W = 7 + 1 + 64 + 512;

  // ---- bytes of the beat, known before it enters the FIFO ------------------------------------------
  logic [6:0] bytes_in;  // tkeep is contiguous: its highest set bit tells
  always_comb begin
    bytes_in = '0;
    for (int i = 0; i < 64; i++) begin
      if (s_axis_tkeep[i] && (i == 63 || !s_axis_tkeep[(i+1)%64])) bytes_in = bytes_in | 7'(i + 1);
    end
  end
  wire [6:0] overhead = cfg_roce ? 7'(LINK_OVERHEAD_ROCE) : 7'(LINK_OVERHEAD_NATIVE);
  wire [6:0] charge_in = bytes_in + (s_axis_tlast ? overhead : 7'd0);

  // ---- input FIFO, with the age of each frame's first beat -------------------------------------------
  logic [2:0] fill;
  logic       empty;
  logic [6:0] head_charge;  // wire time of the head, bytes
  logic       head_last;
  logic [63:0] head_keep;
  logic [511:0] head_data;
  logic       leave;  // the head goes to the output register at this edge
  logic       in_frame;  // a frame has started and not ended
  logic       first_in;  // the next beat accepted is a frame's first
  logic [SLACK-1:0] ageing;  // first beats accepted in the last SLACK cycles
  logic [2:0] aged;  // frames whose first beat is old enough

  assign s_axis_tready = fill < 3'(DEPTH);
  wire take = s_axis_tvalid && s_axis_tready;

  sync_fifo #(
      .WIDTH(FIFO_W),
      .DEPTH(DEPTH)
  ) u_fifo (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (take),
      .wr_data({charge_in, s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
      .rd_en  (leave),
      .rd_data({head_charge, head_last, head_keep, head_data}),
      .empty  (empty),
      .count  (fill)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      first_in <= 1'b1;
      ageing   <= '0;
      aged     <= '0;
      in_frame <= 1'b0;
    end else begin
      if (take) first_in <= s_axis_tlast;
      ageing <= SLACK'({ageing, take && first_in});
      aged   <= aged + 3'(ageing[SLACK-1]) - 3'(leave && !in_frame);
      if (leave) in_frame <= !head_last;
    end
  end

  // ---- pace, credits: may the head leave? ----------------------------------------------------------
  logic [8:0] backlog;  // bytes that the serialiser still has to send
  logic [8:0] backlog_sum;
  logic [15:0] cc;  // beats sent
  logic ctl_send;

  wire pace_ok = backlog < 9'(LINK_RATE_BYTES);
  wire start_ok = aged != 3'd0 && credits >= 16'(FRAME_MAX_BEATS);
  assign leave = !empty && pace_ok && (in_frame || start_ok);

  always_comb begin
    backlog_sum = backlog;
    if (leave) backlog_sum = backlog_sum + 9'(head_charge);
    if (ctl_send) backlog_sum = backlog_sum + 9'(LINK_CTL_BYTES);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      backlog <= '0;
      cc      <= 16'(CNT_INIT);
      credits <= 16'(LINK_BUFFER_CELLS);
    end else begin
      backlog <= backlog_sum < 9'(LINK_RATE_BYTES) ? 9'd0 : backlog_sum - 9'(LINK_RATE_BYTES);
      if (leave) cc <= cc + 16'd1;
      if (rx_ctl_valid) credits <= 16'(LINK_BUFFER_CELLS) + rx_ctl_cf - cc - 16'(leave);
      else if (leave) credits <= credits - 16'd1;
    end
  end

  // ---- credit return: absolute, so that a lost control set is healed by the next --------------------
  logic [15:0] cf, cf_sent;  // cells freed; as last reported
  logic [6:0] since;  // cycles since the last control set, held at the interval
  wire [15:0] unsaid = cf - cf_sent;

  assign ctl_send = (unsaid >= 16'(LINK_CREDIT_UPDATE_CELLS) && since >= 7'(LINK_CTL_SPACING))
                 || (unsaid != 16'd0 && since >= 7'(LINK_CREDIT_UPDATE_INTERVAL));

  always_ff @(posedge clk) begin
    if (rst) begin
      cf           <= 16'(CNT_INIT);
      cf_sent      <= 16'(CNT_INIT);
      since        <= 7'(LINK_CREDIT_UPDATE_INTERVAL);
      tx_ctl_valid <= 1'b0;
    end else begin
      if (free_cells != 8'd0) cf <= cf + 16'(free_cells);
      if (ctl_send) cf_sent <= cf;
      if (ctl_send) since <= 7'd1;
      else if (since < 7'(LINK_CREDIT_UPDATE_INTERVAL)) since <= since + 7'd1;
      tx_ctl_valid <= ctl_send;
    end
  end

  // ---- output registers ------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      tx_tvalid     <= 1'b0;
      cnt_tx_frames <= '0;
    end else begin
      tx_tvalid <= leave;
      if (leave && head_last) cnt_tx_frames <= cnt_tx_frames + 32'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (leave) {tx_tlast, tx_tkeep, tx_tdata} <= {head_last, head_keep, head_data};
    if (ctl_send) tx_ctl_cf <= cf;
  end

  // The start slack is there so that a frame never runs dry on the wire: a hole would end it at the far MAC.
  `MH_ASSERT(a_no_hole, !(in_frame && pace_ok && empty))
  // More credits than cells, or fewer than none (which wraps), means a lost or invented cell.
  `MH_ASSERT(a_credits, credits <= 16'(LINK_BUFFER_CELLS))
  // A frame longer than a largest one could overrun the far buffer: its room was not reserved.
  `MH_ASSERT(a_frame_has_credit, !(leave && credits == 16'd0))
  `MH_NEVER_X(a_known, {s_axis_tready, tx_tvalid, tx_ctl_valid, credits, cnt_tx_frames})

endmodule

`default_nettype wire
