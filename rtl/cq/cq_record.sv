// SPDX-License-Identifier: Apache-2.0
// Reads of doorbell records (rules L2, X7 of docs/cq.md): for completions that wait, by their place in the lot, and early ones,
// for which it has places of its own. ARID: {early, place}.
// Latency: asked at C2 in cycle c, at AR from c + 1; R at c, at the head of the record FIFO from c + 2. Answers in any order.
`default_nettype none
`include "microhop_assert.svh"

module cq_record #(
    parameter int PLACES = 16,  /// places of the lot, a power of two
    parameter int EARLY  = 16,  /// early places, no more than that, a power of two
    localparam int PW    = $clog2(PLACES)
) (
    input  wire          clk,           /// clock
    input  wire          rst,           /// synchronous reset, active high
    input  wire          ask,           /// C2: a record is to be read
    input  wire          early,         /// C2: early, only while `room`
    input  wire [PW-1:0] ask_place,     /// C2: else for this place of the lot
    input  wire [23:0]   ask_cqn,       /// C2: of this queue
    input  wire [60:0]   dbr,           /// C2: its address, in 8 bytes
    output wire          room,          /// an early place is free
    output wire          rec_valid,     /// a record came
    output wire          rec_early,     /// of an early read
    output wire [PW-1:0] rec_place,     /// else for this place of the lot
    output wire          rec_good,      /// it could be read
    output wire [23:0]   rec_value,     /// it
    output wire [23:0]   rec_cqn,       /// of this queue
    input  wire          rec_take,      /// C0: it is taken
    output wire [PW:0]   m_axi_arid,    /// {early, place}
    output wire [63:0]   m_axi_araddr,  /// line of the record
    output wire          m_axi_arvalid, /// read address valid
    input  wire          m_axi_arready, /// accepted
    input  wire [PW:0]   m_axi_rid,     /// {early, place}
    input  wire [511:0]  m_axi_rdata,   /// the line
    input  wire          r_error,       /// the read failed
    input  wire          m_axi_rvalid   /// data valid
);

  logic [EARLY-1:0] busy;
  logic [PW-1:0] free_early;
  logic [26:0] asked[2*PLACES];  // by ARID: queue, where in its line the record is

  always_comb begin
    free_early = '0;
    for (int i = EARLY - 1; i >= 0; i--) if (!busy[i]) free_early = PW'(i);
  end
  assign room = !(&busy);

  wire [PW:0] id = early ? {1'b1, free_early} : {1'b0, ask_place};

  always_ff @(posedge clk) begin
    if (rst) busy <= '0;
    else begin
      for (int i = 0; i < EARLY; i++) begin
        if (early && free_early == PW'(i)) busy[i] <= 1'b1;
        if (rec_take && rec_early && rec_place == PW'(i)) busy[i] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (ask) asked[id] <= {ask_cqn, dbr[2:0]};
  end

  wire ar_empty, rec_empty;
  sync_fifo #(.WIDTH(PW + 1 + 58), .DEPTH(2 * PLACES)) u_ar (
      .clk(clk), .rst(rst), .wr_en(ask), .wr_data({id, dbr[60:3]}), .rd_en(m_axi_arvalid && m_axi_arready),
      .rd_data({m_axi_arid, m_axi_araddr[63:6]}), .empty(ar_empty), .count());
  assign m_axi_araddr[5:0] = '0;
  assign m_axi_arvalid     = !ar_empty;

  wire [23:0] cqn;
  wire [2:0] at;
  assign {cqn, at} = asked[m_axi_rid];
  wire [31:0] word = m_axi_rdata[64*at+:32];

  // a register
  logic r_valid, r_good;
  logic [PW:0] r_id;
  logic [23:0] r_cqn, r_value;
  always_ff @(posedge clk) r_valid <= m_axi_rvalid && !rst;
  always_ff @(posedge clk) begin
    if (m_axi_rvalid) begin
      r_id    <= m_axi_rid;
      r_good  <= !r_error;
      r_cqn   <= cqn;
      r_value <= {word[15:8], word[23:16], word[31:24]};
    end
  end
  sync_fifo #(.WIDTH(PW + 1 + 1 + 24 + 24), .DEPTH(2 * PLACES)) u_rec (
      .clk(clk), .rst(rst), .wr_en(r_valid), .wr_data({r_id, r_good, r_cqn, r_value}), .rd_en(rec_take),
      .rd_data({rec_early, rec_place, rec_good, rec_cqn, rec_value}), .empty(rec_empty), .count());
  assign rec_valid = !rec_empty;

  wire unused_ok = &{1'b0, word[7:0]};

  // A read whose answer has not come keeps its number to itself, and every answer is of such a read.
  logic [2*PLACES-1:0] open;
  always_ff @(posedge clk) begin
    if (rst) open <= '0;
    else begin
      if (ask) open[id] <= 1'b1;
      if (m_axi_rvalid) open[m_axi_rid] <= 1'b0;
    end
  end
  `MH_ASSERT(a_number, !(ask && open[id]))
  `MH_ASSERT(a_answer, !(m_axi_rvalid && !open[m_axi_rid]))
  `MH_ASSERT(a_room, !early || (ask && room))

endmodule

`default_nettype wire
