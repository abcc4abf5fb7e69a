// SPDX-License-Identifier: Apache-2.0
// Core side of a link in its bench: holds the cells it receives, by lane (of a frame's first beat, docs/link.md), and
// frees them when `go` says so: cfg_all = 0 one cell, of the lowest lane that holds one at or after a pointer, which
// then stands one lane further; cfg_all = 1 all that are held of every lane, 255 each at most. A beat received at c may
// be freed by `go` at c+1; free_cells is a register behind that. While up = 0 everything held is forgotten, nothing is
// freed, and the pointer goes back to lane 0. `empty` = no lane holds a cell, as its counters stand. `over`: a lane's
// beat finds `cfg_size` cells held: a buffer of that size loses it (here it is kept, so that the rest can be followed).
`default_nettype none

module link_core #(
    parameter int LANES = 1  /// virtual lanes, 1..16
) (
    input  wire                clk,        /// clock
    input  wire                rst,        /// synchronous reset, active high
    input  wire                cfg_roce,   /// profile: where a frame's lane stands
    input  wire                cfg_all,    /// 0: one cell at a time, 1: all that are held
    input  wire [        15:0] cfg_size,   /// cells of a lane's buffer, 0: no end
    input  wire                up,         /// the link is up
    input  wire                tvalid,     /// beat received
    input  wire                tlast,      /// last beat of its frame
    /* verilator lint_off UNUSEDSIGNAL */  // the lane stands in a few of these
    input  wire  [      127:0] thead,      /// first 16 bytes of the beat, first one lowest
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                go,         /// free now, if anything is held
    output logic [LANES*8-1:0] free_cells, /// cells freed, by lane
    output wire                empty,      /// nothing is held
    output wire  [LANES-1:0]   over        /// the beat of this cycle finds its lane's buffer full
);

  logic in_frame;
  logic [3:0] kept;
  logic [3:0] at;  // one cell at a time: the lane looked at first
  logic [3:0] pick;
  logic found;
  wire [3:0] head = cfg_roce ? {1'b0, thead[127:125]} : thead[7:4];
  wire [3:0] lane = in_frame ? kept : 32'(head) < LANES ? head : 4'd0;
  wire [LANES-1:0] holds;

  always_comb begin
    found = 1'b0;
    pick  = '0;
    for (int i = 2 * LANES - 1; i >= 0; i--) begin
      if (i >= 32'(at) && holds[i%LANES]) begin
        found = 1'b1;
        pick  = 4'(i % LANES);
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst || !up) begin
      in_frame <= 1'b0;
      at       <= '0;
    end else begin
      if (tvalid) begin
        in_frame <= !tlast;
        kept     <= lane;
      end
      if (go && !cfg_all && found) at <= 32'(pick) == LANES - 1 ? 4'd0 : pick + 4'd1;
    end
  end

  for (genvar v = 0; v < LANES; v++) begin : g_lane
    logic [15:0] held;
    wire [15:0] most = held < 16'd255 ? held : 16'd255;
    wire one = found && pick == 4'(v);
    wire [15:0] amount = !go ? 16'd0 : cfg_all ? most : 16'(one);
    assign holds[v] = held != '0;
    assign over[v] = tvalid && up && lane == 4'(v) && cfg_size != '0 && held >= cfg_size;
    always_ff @(posedge clk) begin
      if (rst || !up) begin
        held                <= '0;
        free_cells[8*v+:8] <= '0;
      end else begin
        held                <= held + 16'(tvalid && lane == 4'(v)) - amount;
        free_cells[8*v+:8] <= amount[7:0];
      end
    end
  end

  assign empty = holds == '0;

endmodule

`default_nettype wire
