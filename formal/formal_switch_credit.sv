// SPDX-License-Identifier: Apache-2.0
// switch_credit between an output that starts a frame only with credit for a largest one and one cell more, and a far
// end that gives back what it got (docs/switch.md, O3 to O5): credit and cells in flight always make up the initial
// credit, no cell is taken without credit, `enough` tells the truth of its own cycle. A frame may be started in the
// cycle in which the one before it takes its last cell: the one cell more is for that.
`default_nettype none
`include "formal.svh"

module formal_switch_credit #(
    parameter int BEATS = 66,  /// cells of a largest frame
    parameter int MIN   = 67   /// credits that a start wants
) (
    input wire        clk,    /// clock
    input wire        rst,    /// reset
    input wire        load,   /// output dead
    input wire [15:0] init,   /// initial credit
    input wire        start,  /// a frame would start
    input wire [15:0] cells,  /// its cells
    input wire        go,     /// its next cell would be taken
    input wire [ 7:0] give    /// cells given back
);

  wire [15:0] credit;
  wire enough;
  logic [15:0] left;  // cells of the frame still to be taken
  logic [15:0] flight;  // cells taken and not given back
  wire take = go && left != 0;
  switch_credit #(.MIN(MIN)) dut (.*);

  `FORMAL_START
  `FORMAL_STEADY(init, 16)
  always_comb begin
    assume (cells >= 1 && cells <= 16'(BEATS));
    assume (16'(give) <= flight || rst || load);
  end

  wire free = left == 0 || (take && left == 1);
  always_ff @(posedge clk) begin
    if (rst || load) begin
      left   <= '0;
      flight <= '0;
    end else begin
      left   <= free && start && enough ? cells : left - 16'(take);
      flight <= flight + 16'(take) - 16'(give);
    end
  end

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_conserved : assert ({1'b0, credit} + {1'b0, flight} == {1'b0, init});
      a_covered : assert (credit >= left);
      a_not_negative : assert (!take || credit != 0);
      a_enough : assert (enough == (credit >= 16'(MIN)));
      c_all_gone : cover (credit == 0 && left == 0);
      c_back_to_back : cover (take && left == 1 && start && enough);
    end
  end

endmodule

`default_nettype wire
