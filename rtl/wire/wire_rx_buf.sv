// SPDX-License-Identifier: Apache-2.0
// Payload buffer of wire_rx with commit and rollback. Payload beats of a frame are written behind the
// last committed packet; the decision either moves that point beyond them or forgets them. Committed
// packets leave in order, one beat a cycle.
//
// Cells (64-byte frame beats, what the link's credits count) are given back as whole frames: when a
// packet's last beat is taken, or at the decision to drop. Beats beyond FRAME_MAX_BEATS are never
// stored and go back at once.
// Latency: decision at c (`decide`), packet offered from c+2, free_cells of a drop at c+1.
`default_nettype none
`include "microhop_assert.svh"

module wire_rx_buf
  import microhop_pkg::*;
#(
    parameter int CELLS = 512  /// cells that the credits promise, a power of two
) (
    input  wire              clk,           /// clock
    input  wire              rst,           /// synchronous reset, active high
    input  wire              wr_en,         /// payload beat of the open frame
    input  wire  [6:0]       wr_index,      /// its number in the packet
    input  wire  [511:0]     wr_data,       /// its bytes
    input  wire              decide,        /// the oldest open frame is decided
    input  wire              good,          /// ... commit, else roll back
    input  wire              excess,        /// a beat beyond the largest frame, to be given back alone
    input  wire  [HDR_W-1:0] hdr,           /// hdr_t of the frame, len included
    input  wire  [6:0]       beats,         /// its payload beats, 0..64
    input  wire  [6:0]       cells,         /// its frame beats
    output logic             m_pkt_tvalid,  /// packet beat offered
    input  wire              m_pkt_tready,  /// packet beat taken
    output logic [511:0]     m_pkt_tdata,   /// payload; bytes without tkeep are undefined
    output logic [63:0]      m_pkt_tkeep,   /// payload bytes; 0 on a packet without payload
    output logic             m_pkt_tlast,   /// last beat of the packet
    output logic [HDR_W-1:0] m_pkt_hdr,     /// hdr_t, held to the last beat
    output logic [7:0]       free_cells     /// cells given back in this cycle
);

  localparam int AW = $clog2(CELLS);

  // ---- payload in --------------------------------------------------------------------------------
  logic [511:0] mem [CELLS];
  logic [AW-1:0] base, base_now;  // where the oldest undecided frame's payload begins
  logic [AW-1:0] wr_addr;         // a variable of its own: an index expression may be wider than its terms

  always_comb begin
    base_now = base;
    if (decide && good) base_now = base + AW'(beats);
    wr_addr = base_now + AW'(wr_index);
  end

  always_ff @(posedge clk) begin
    if (rst) base <= '0;
    else base <= base_now;
    if (wr_en) mem[wr_addr] <= wr_data;
  end

  // ---- committed packets ---------------------------------------------------------------------------
  localparam int ENTRY_W = HDR_W + 14;
  logic [ENTRY_W-1:0] list [CELLS];
  logic [AW-1:0] list_wr, list_rd;
  logic [AW:0] packets;
  logic commit, start;

  always_comb commit = decide && good;

  always_ff @(posedge clk) begin
    if (commit) list[list_wr] <= {cells, beats, hdr};
    if (rst) begin
      list_wr <= '0;
      list_rd <= '0;
      packets <= '0;
    end else begin
      if (commit) list_wr <= list_wr + 1'b1;
      if (start) list_rd <= list_rd + 1'b1;
      packets <= packets + (AW + 1)'(commit) - (AW + 1)'(start);
    end
  end

  // ---- packets out -----------------------------------------------------------------------------------
  logic [ENTRY_W-1:0] head;
  logic [6:0] head_cells, head_beats;
  logic [5:0] head_bytes;         // bytes in its last beat, 0 meaning 64
  logic [AW-1:0] rd_ptr;
  logic [6:0] left;               // beats of the packet behind the one offered
  logic [6:0] cells_out;          // cells of the packet offered
  logic [5:0] end_bytes;          // bytes in its last beat, likewise
  logic load, next, leave;

  always_comb begin
    head = list[list_rd];
    {head_cells, head_beats} = head[ENTRY_W-1:HDR_W];
    head_bytes = head[5:0];
    load  = !m_pkt_tvalid || m_pkt_tready;
    next  = load && left != 0;
    start = load && left == 0 && packets != 0;
    leave = m_pkt_tvalid && m_pkt_tready && m_pkt_tlast;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      m_pkt_tvalid <= 1'b0;
      left         <= '0;
      rd_ptr       <= '0;
    end else if (load) begin
      m_pkt_tvalid <= next || start;
      if (next) left <= left - 1'b1;
      else if (start) left <= head_beats == 0 ? '0 : head_beats - 1'b1;
      if (next || (start && head_beats != 0)) rd_ptr <= rd_ptr + 1'b1;
    end
    if (next) begin
      m_pkt_tdata <= mem[rd_ptr];
      m_pkt_tlast <= left == 1;
      for (int i = 0; i < 64; i++) m_pkt_tkeep[i] <= left != 1 || end_bytes == 0 || 6'(i) < end_bytes;
    end else if (start) begin
      m_pkt_tdata <= mem[rd_ptr];
      m_pkt_tlast <= head_beats <= 1;
      for (int i = 0; i < 64; i++)
        m_pkt_tkeep[i] <= head_beats > 1
            || (head_beats == 1 && (head_bytes == 0 || 6'(i) < head_bytes));
      m_pkt_hdr <= head[HDR_W-1:0];
      cells_out <= head_cells;
      end_bytes <= head_bytes;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) free_cells <= '0;
    else
      free_cells <= (leave ? 8'(cells_out) : 8'd0) + ((decide && !good) ? 8'(cells) : 8'd0)
          + 8'(excess);
  end

  // Cells inside never exceed the credits given out, or payload not yet read would be overwritten.
  // Payload takes no more beats than its frame, and each packet one entry of the list.
  logic [AW:0] used;
  always_ff @(posedge clk) begin
    if (rst) used <= '0;
    else used <= used + (commit ? (AW + 1)'(cells) : '0) - (leave ? (AW + 1)'(cells_out) : '0);
  end
  `MH_ASSERT(a_no_overflow, used <= (AW + 1)'(CELLS))
  `MH_ASSERT(a_no_list_overflow, packets <= (AW + 1)'(CELLS))
  `MH_NEVER_X(a_known, {m_pkt_tvalid, free_cells})

endmodule

`default_nettype wire
