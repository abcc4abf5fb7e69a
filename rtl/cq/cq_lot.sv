// SPDX-License-Identifier: Apache-2.0
// The lot: completions of queues that look full wait here for the doorbell record, in order in each queue
// (rules L1 to L4 of docs/cq.md). A place's number is the ARID of its read. `try` says that a place is to be tried again.
// Latency: asked at C2 in cycle c, at AR from c + 1; R at c, at the head of the record FIFO from c + 2.
`default_nettype none
`include "microhop_assert.svh"

module cq_lot
  import microhop_pkg::*;
#(
    parameter int PLACES = 16,  /// places, a power of two
    localparam int PW    = $clog2(PLACES)
) (
    input  wire               clk,           /// clock
    input  wire               rst,           /// synchronous reset, active high
    input  wire               park,          /// C2: `slot` is taken
    input  wire [CQ_IN_W-1:0] park_data,     /// by this completion, cq_in_t
    input  wire               link,          /// C2: it is behind place `tail`
    input  wire [PW-1:0]      tail,          /// last place of its queue
    input  wire               ask,           /// C2: a record is to be read
    input  wire [60:0]        ask_dbr,       /// its address, in 8 bytes
    input  wire [23:0]        ask_pi,        /// next index of the queue, which writes nothing until the record is there
    input  wire               free,          /// C2: `place` is free
    input  wire               follow,        /// C2: the one behind it is to be tried
    input  wire [PW-1:0]      place,         /// C2: place of the operation
    output logic [PW-1:0]     slot,          /// the lowest free place
    output wire [PW:0]        used,          /// places in use
    output wire               try_valid,     /// a place is to be tried again
    output logic [PW-1:0]     try_place,     /// the lowest one
    output wire               try_with,      /// with record
    output wire [CQ_IN_W-1:0] try_data,      /// cq_in_t
    input  wire               try_take,      /// C0: it is
    output wire               rec_valid,     /// a record came
    output wire [PW-1:0]      rec_place,     /// for this place
    output wire               rec_good,      /// it could be read
    output wire [23:0]        rec_value,     /// distance from its consumer index to the next index
    output wire [23:0]        rec_cqn,       /// of this queue
    input  wire               rec_take,      /// C0: it is taken
    output wire [PW-1:0]      m_axi_arid,    /// place
    output wire [63:0]        m_axi_araddr,  /// line of the record
    output wire               m_axi_arvalid, /// read address valid
    input  wire               m_axi_arready, /// accepted
    input  wire [PW-1:0]      m_axi_rid,     /// place
    input  wire [511:0]       m_axi_rdata,   /// the line
    input  wire               r_error,       /// the read failed
    input  wire               m_axi_rvalid   /// data valid
);

  logic [PLACES-1:0] busy, again, with_record;
  logic [PW:0] count;
  logic [PW-1:0] next[PLACES];
  logic [2:0] part[PLACES];  // where in its line the record is
  logic [23:0] pi[PLACES];  // next index of the queue that asked
  logic [CQ_IN_W-1:0] data[PLACES];

  wire ar_empty, rec_empty;
  wire [PW-1:0] who = park ? slot : place;

  always_comb begin
    slot      = '0;
    try_place = '0;
    for (int i = PLACES - 1; i >= 0; i--) begin
      if (!busy[i]) slot = PW'(i);
      if (again[i]) try_place = PW'(i);
    end
  end

  /* verilator lint_off UNUSEDSIGNAL */  // of the waiting one only the queue
  cq_in_t of_record;
  /* verilator lint_on UNUSEDSIGNAL */
  assign of_record = data[rec_place];
  assign rec_cqn   = of_record.cqn;
  assign used      = count;
  assign try_valid = again != '0;
  assign try_with  = with_record[try_place];
  assign try_data  = data[try_place];

  always_ff @(posedge clk) begin
    if (rst) begin
      busy  <= '0;
      again <= '0;
      count <= '0;
    end else begin
      if (park) busy[slot] <= 1'b1;
      if (free) busy[place] <= 1'b0;
      count <= count + (PW + 1)'(park) - (PW + 1)'(free);
      if (try_take) again[try_place] <= 1'b0;
      if (follow) again[next[place]] <= 1'b1;
      if (rec_take) again[rec_place] <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (follow) with_record[next[place]] <= 1'b0;
    if (rec_take) with_record[rec_place] <= 1'b1;
    if (park) data[slot] <= park_data;
    if (link) next[tail] <= slot;
    if (ask) part[who] <= ask_dbr[2:0];
    if (ask) pi[who] <= ask_pi;
  end

  sync_fifo #(.WIDTH(PW + 58), .DEPTH(PLACES)) u_ar (
      .clk(clk), .rst(rst), .wr_en(ask), .wr_data({who, ask_dbr[60:3]}), .rd_en(m_axi_arvalid && m_axi_arready),
      .rd_data({m_axi_arid, m_axi_araddr[63:6]}), .empty(ar_empty), .count());
  assign m_axi_araddr[5:0] = '0;
  assign m_axi_arvalid     = !ar_empty;

  wire [2:0] at = part[m_axi_rid];
  wire [31:0] word = m_axi_rdata[64*at+:32];

  // a register, then the distance to the next index
  logic r_valid, r_good;
  logic [PW-1:0] r_place;
  logic [23:0] r_pi, r_ci;
  always_ff @(posedge clk) r_valid <= m_axi_rvalid && !rst;
  always_ff @(posedge clk) begin
    if (m_axi_rvalid) begin
      r_place <= m_axi_rid;
      r_good  <= !r_error;
      r_pi    <= pi[m_axi_rid];
      r_ci    <= {word[15:8], word[23:16], word[31:24]};
    end
  end
  wire [23:0] ahead = r_pi - r_ci;
  sync_fifo #(.WIDTH(PW + 25), .DEPTH(PLACES)) u_rec (
      .clk(clk), .rst(rst), .wr_en(r_valid), .wr_data({r_place, r_good, ahead}), .rd_en(rec_take),
      .rd_data({rec_place, rec_good, rec_value}), .empty(rec_empty), .count());
  assign rec_valid = !rec_empty;

  wire unused_ok = &{1'b0, word[7:0]};

  // C0 keeps a place for every completion that it issues.
  `MH_ASSERT(a_place, !(park && (busy[slot] || count == (PW + 1)'(PLACES))))
  // Only a place in use is freed, and by nobody else in the same cycle.
  `MH_ASSERT(a_free, !(free && !busy[place]))
  `MH_ASSERT(a_one, !(free && park && slot == place))
  // An answer belongs to a place that waits.
  `MH_ASSERT(a_answer, !(m_axi_rvalid && !busy[m_axi_rid]))

endmodule

`default_nettype wire
