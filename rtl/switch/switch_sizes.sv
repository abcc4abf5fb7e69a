// SPDX-License-Identifier: Apache-2.0
// Sizes that no switch has end a simulation at its start, with the reason (docs/switch.md, Sizes). A module of its own,
// so that each refusal can be tried without the switch: some sizes give wires of no width, which a simulator refuses
// in words of its own before anything starts.
`default_nettype none

module switch_sizes #(
    parameter int PORTS     = 8,    /// as those of the switch
    parameter int LANES     = 1,    /// as those of the switch
    parameter int DATA_W    = 512,  /// as those of the switch
    parameter int CELLS     = 512,  /// as those of the switch
    parameter int MAX_BEATS = 66,   /// as those of the switch
    parameter int EGRESS    = 128,  /// as those of the switch
    parameter int ADDR_W    = 10,   /// as those of the switch
    parameter int GROUPS    = 64,   /// as those of the switch
    parameter int ALLOC     = 1     /// as those of the switch
);

  localparam int SHARE = LANES < 1 ? CELLS : CELLS / LANES;  // cells of a lane

  if (PORTS < 2 || PORTS > 80 || LANES < 1 || LANES > 8 || (DATA_W != 512 && DATA_W != 1024)) begin : g_bad_size
    initial $fatal(1, "switch: PORTS %0d, LANES %0d, DATA_W %0d; allowed: 2..80, 1..8, 512 or 1024", PORTS, LANES, DATA_W);
  end
  if (MAX_BEATS + 1 > SHARE || MAX_BEATS + 1 > EGRESS || (CELLS & (CELLS - 1)) != 0) begin : g_bad_cells
    initial $fatal(1, "switch: CELLS %0d (a power of two), EGRESS %0d; CELLS / LANES and EGRESS must exceed MAX_BEATS %0d",
                   CELLS, EGRESS, MAX_BEATS);
  end
  if (CELLS > 32768 || EGRESS > 32768 || MAX_BEATS < 1 || MAX_BEATS > 255) begin : g_bad_limit
    // what the 16-bit counts and the credits hold
    initial $fatal(1, "switch: CELLS %0d, EGRESS %0d, MAX_BEATS %0d; allowed: up to 32768, 32768, 1..255", CELLS, EGRESS,
                   MAX_BEATS);
  end
  if ((EGRESS & (EGRESS - 1)) != 0 || (GROUPS & (GROUPS - 1)) != 0) begin : g_bad_power
    initial $fatal(1, "switch: EGRESS %0d, GROUPS %0d; allowed: powers of two", EGRESS, GROUPS);
  end
  if (ALLOC < 0 || ALLOC > 5 || ADDR_W < 1 || ADDR_W > 21 || GROUPS < 2) begin : g_bad_alloc
    initial $fatal(1, "switch: ALLOC %0d, ADDR_W %0d, GROUPS %0d; allowed: 0..5, 1..21, 2 or more", ALLOC, ADDR_W, GROUPS);
  end

endmodule

`default_nettype wire
