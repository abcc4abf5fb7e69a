// SPDX-License-Identifier: Apache-2.0
// switch_lanes, a lane (docs/switch.md, F10, F11): cells given back are said once each, in whatever order they are kept
// back and let go; kept back, nothing is said of the first QUOTA; not kept back, each cycle says up to three. Cells
// held are those stored less those taken.
`default_nettype none
`include "formal.svh"

module formal_switch_lanes #(
    parameter int QUOTA = 4,  /// cells of a lane
    parameter int CW    = 3   /// bits of a number of cells
) (
    input wire        clk,        /// clock
    input wire        rst,        /// reset
    input wire        cfg_pfc,    /// pause
    input wire [15:0] cfg_xoff,   /// pauses from so many cells on
    input wire [15:0] cfg_xon,    /// until so many
    input wire        keep_back,  /// nothing is said
    input wire        late_next,  /// paused from the next cycle on
    input wire        in,         /// a beat is stored
    input wire        out,        /// a beat is taken
    input wire        dropped     /// a beat is dropped
);

  wire [CW-1:0] held;
  wire settled, s_pause;
  wire [1:0] free_cells;
  switch_lanes #(.LANES(1), .QUOTA(QUOTA), .CW(CW)) dut (.*);

  `FORMAL_START
  `FORMAL_STEADY(cfg_pfc, 1)
  `FORMAL_STEADY(cfg_xoff, 16)
  `FORMAL_STEADY(cfg_xon, 16)

  logic [7:0] given, said;  // cells, modulo 256
  logic [CW-1:0] stored;
  logic was_kept, was_late;
  wire [7:0] told = said + 8'(free_cells);
  always_comb begin
    assume (!out || stored != 0);
    assume (!in || stored != CW'(QUOTA));
    assume (cfg_xon < cfg_xoff);
  end
  always_ff @(posedge clk) begin
    given    <= rst ? '0 : given + 8'(out) + 8'(dropped);
    said     <= rst ? '0 : told;
    stored   <= rst ? '0 : stored + CW'(in) - CW'(out);
    was_kept <= !rst && keep_back;
    was_late <= !rst && late_next;
  end

  wire [7:0] owed = given - told;
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_conserved : assert (owed == 8'(dut.g_lane[0].owed));
      a_bound : assert (owed <= 8'(QUOTA));
      a_settled : assert (settled == (owed == 0));
      a_kept : assert (!was_kept || free_cells == 0 || owed >= 8'(QUOTA));
      a_let_go : assert (was_kept || owed == 0 || free_cells == 2'd3);
      a_held : assert (held == stored);
      a_late : assert (!(cfg_pfc && was_late) || s_pause);
      a_profile : assert (cfg_pfc || !s_pause);
      c_three : cover (free_cells == 2'd3);
      c_full : cover (owed == 8'(QUOTA) && free_cells != 0);
    end
  end

endmodule

`default_nettype wire
