// SPDX-License-Identifier: Apache-2.0
// Core side of a link in its bench: holds the cells it receives and frees them when `go` says so, one a
// cycle as a switch does, or all that are held at once (255 at most) as a NIC does with frames.
// A beat received at c may be freed by `go` at c+1; free_cells is a register behind that.
`default_nettype none

module link_core (
    input  wire        clk,        /// clock
    input  wire        rst,        /// synchronous reset, active high
    input  wire        cfg_all,    /// 0: one cell at a time, 1: all that are held
    input  wire        tvalid,     /// beat received
    input  wire        go,         /// free now, if anything is held
    output logic [7:0] free_cells  /// cells freed
);

  logic [15:0] held;
  logic [15:0] amount;

  always_comb begin
    amount = '0;
    if (go && held != '0) amount = !cfg_all ? 16'd1 : held < 16'd255 ? held : 16'd255;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      held       <= '0;
      free_cells <= '0;
    end else begin
      held       <= held + 16'(tvalid) - amount;
      free_cells <= amount[7:0];
    end
  end

endmodule

`default_nettype wire
