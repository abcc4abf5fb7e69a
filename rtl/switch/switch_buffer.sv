// SPDX-License-Identifier: Apache-2.0
// The cells of one input: written as beats arrive, read as a match takes them, one each a cycle. A frame is a list
// of cells; each link carries the `last` flag of the cell it points to, so that a frame's end is known in the cycle
// in which it is taken. Free cells: first each once in order, then as they came back.
//
// A beat stored at s may be taken from s+1 on; one taken at p is at x_* at p+1.
`default_nettype none
`include "microhop_assert.svh"

module switch_buffer #(
    parameter int DATA_W = 512,  /// bits of a beat
    parameter int AW     = 9     /// bits of a cell number
) (
    input  wire                 clk,          /// clock
    input  wire                 rst,          /// synchronous reset, active high
    input  wire                 store,        /// a beat is stored
    input  wire                 store_first,  /// it is a frame's first
    input  wire                 store_last,   /// it is a frame's last
    input  wire                 store_user,   /// with it: the frame is damaged
    input  wire  [  DATA_W-1:0] store_data,   /// bytes
    input  wire  [DATA_W/8-1:0] store_keep,   /// valid bytes
    output wire  [      AW-1:0] store_cell,   /// the cell that it gets
    input  wire                 start,        /// the first beat of a frame is taken
    input  wire  [      AW-1:0] start_cell,   /// its cell
    input  wire                 start_single, /// it is the last as well; only with start
    output wire                 take,         /// a beat is taken
    output wire                 take_last,    /// it is the frame's last
    output logic [  DATA_W-1:0] x_data,       /// what was taken
    output logic [DATA_W/8-1:0] x_keep,       /// valid bytes
    output logic                x_last,       /// last of its frame
    output logic                x_user        /// with it: the frame is damaged
);

  localparam int CELLS = 1 << AW;
  localparam int XW = DATA_W + DATA_W / 8 + 1;

  logic [XW-1:0] cell_mem [CELLS];
  logic [AW:0] next_mem [CELLS];  // last, cell

  // ---- free cells ----------------------------------------------------------------------------------------
  logic [AW-1:0] free_mem [CELLS];  // cells that came back, in order
  logic [AW-1:0] free_wr, free_rd, free_q;
  logic [AW:0] fresh;  // cells never used start here
  wire was_fresh = !fresh[AW];
  wire [AW-1:0] free_rd_next = free_rd + AW'(store && !was_fresh);
  wire [AW-1:0] take_cell;
  assign store_cell = was_fresh ? fresh[AW-1:0] : free_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      fresh   <= '0;
      free_wr <= '0;
      free_rd <= '0;
    end else begin
      if (store && was_fresh) fresh <= fresh + 1'b1;
      if (take) free_wr <= free_wr + 1'b1;
      free_rd <= free_rd_next;
    end
  end
  always_ff @(posedge clk) begin
    if (take) free_mem[free_wr] <= take_cell;
    // the cell that comes back in this cycle may be the next to go
    free_q <= take && free_wr == free_rd_next ? take_cell : free_mem[free_rd_next];
  end

  // ---- arriving frame --------------------------------------------------------------------------------------
  logic [AW-1:0] arr_tail;  // the cell stored last
  always_ff @(posedge clk) begin
    if (store) begin
      arr_tail             <= store_cell;
      cell_mem[store_cell] <= {store_user, store_keep, store_data};
      if (!store_first) next_mem[arr_tail] <= {store_last, store_cell};
    end
  end

  // ---- leaving frame -----------------------------------------------------------------------------------------
  logic nxt_valid;  // the beat after the one taken last is there
  logic waiting;  // it is not: it has still to be stored
  logic nxt_last;
  logic [AW-1:0] nxt_cell;
  assign take      = start || nxt_valid;
  assign take_last = start_single || (nxt_valid && nxt_last);
  assign take_cell = start ? start_cell : nxt_cell;
  wire more = take && !take_last;
  // its link is written in this cycle or later
  wire at_tail = take_cell == arr_tail;
  wire follow = store && !store_first && (waiting || (more && at_tail));

  always_ff @(posedge clk) begin
    if (rst) begin
      nxt_valid <= 1'b0;
      waiting   <= 1'b0;
    end else begin
      if (follow || (more && !at_tail)) nxt_valid <= 1'b1;
      else if (take) nxt_valid <= 1'b0;
      if (follow) waiting <= 1'b0;
      else if (more && at_tail) waiting <= 1'b1;
    end
  end
  always_ff @(posedge clk) begin
    if (follow) {nxt_last, nxt_cell} <= {store_last, store_cell};
    else if (more) {nxt_last, nxt_cell} <= next_mem[take_cell];
    if (take) begin
      {x_user, x_keep, x_data} <= cell_mem[take_cell];
      x_last                   <= take_last;
    end
  end

  // A frame is begun only when the one before has ended.
  `MH_ASSERT(a_start, !(start && (nxt_valid || waiting)))
  `MH_NEVER_X(a_known, {take, take_last, nxt_valid, waiting})

endmodule

`default_nettype wire
