// SPDX-License-Identifier: Apache-2.0
// C0's room (cq_pick, rules I3, I4 of docs/cq.md) with C3 and its FIFOs (cq_form), between stages that keep the contract: a
// completion in C2 is written or not, an ENTRY that is not may take a place of the lot, a RETRY that is not may keep its own. Whatever
// the ports do: AW, W and B FIFO never overflow, nor run empty unseen (the FIFOs' own assertions), and a place is free for
// every completion that is to wait; what is picked is one of those that wait, and a record never waits.
`default_nettype none
`include "formal.svh"

module formal_cq_room
  import microhop_pkg::*;
#(
    parameter int PLACES = 2,    /// places of the lot
    parameter int OUT_FIFO = 4,  /// words of AW and W FIFO
    parameter int WRITES = 8     /// writes without B
) (
    input wire               clk,           /// clock
    input wire               rst,           /// reset
    input wire               rec_valid,     /// a RECORD waits
    input wire               try_valid,     /// a RETRY waits
    input wire               h_ready,       /// an ENTRY waits
    input wire               write,         /// C2: it is written
    input wire               park,          /// C2: it takes a place
    input wire               free,          /// C2: its place is free
    input wire [CQ_IN_W-1:0] data,          /// C2: completion
    input wire               of,            /// C2: its queue
    input wire [21:0]        offset,        /// C2: place in the ring
    input wire [57:0]        base,          /// C2: line of the ring
    input wire               owner,         /// C2: owner bit
    input wire               b_take,        /// a B is taken
    input wire               m_axi_awready, /// address accepted
    input wire               m_axi_wready   /// data accepted
);

  localparam int LW = $clog2(PLACES) + 1;

  /* verilator lint_off UNUSEDSIGNAL */  // the proof looks at some of the outputs
  wire try_take, h_take, op, v1, record1, retry1, comp1, comp2, entry2, busy, b_queue, b_solicited, m_axi_awvalid, m_axi_wvalid;
  wire [63:0] m_axi_awaddr;
  wire [511:0] m_axi_wdata;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [$clog2(OUT_FIFO):0] waiting;
  wire [$clog2(WRITES):0] owed;
  logic [LW-1:0] lot;

  cq_pick #(.PLACES(PLACES), .OUT_FIFO(OUT_FIFO), .WRITES(WRITES)) dut (
      .lot_used(lot), .form_busy(busy), .out_waiting(waiting), .*);
  cq_form #(.QW(1), .OUT_FIFO(OUT_FIFO), .WRITES(WRITES)) form (.queue(of), .*);

  `FORMAL_START

  logic retry2;
  always_ff @(posedge clk) begin
    if (rst) lot <= '0;
    else lot <= lot + LW'(park) - LW'(free);
    retry2 <= comp1 && retry1;
  end

  always_comb begin
    assume (!write || comp2);
    assume (!park || (entry2 && !write));
    assume (!free || (retry2 && comp2 && lot != 0));
    assume (!b_take || owed != 0);
  end

  wire [LW:0] kept = (LW + 1)'(lot) + (LW + 1)'(comp1 && !retry1) + (LW + 1)'(entry2);
  wire [$clog2(OUT_FIFO)+1:0] out = ($clog2(OUT_FIFO) + 2)'(waiting) + ($clog2(OUT_FIFO) + 2)'(comp1) +
      ($clog2(OUT_FIFO) + 2)'(comp2) + ($clog2(OUT_FIFO) + 2)'(busy);
  wire [$clog2(WRITES)+1:0] due = ($clog2(WRITES) + 2)'(owed) + ($clog2(WRITES) + 2)'(comp1) +
      ($clog2(WRITES) + 2)'(comp2) + ($clog2(WRITES) + 2)'(busy);
  always_ff @(posedge clk) begin
    if (!rst && started) begin
      a_place : assert (!park || lot < LW'(PLACES));
      a_kept : assert (kept <= (LW + 1)'(PLACES));
      a_out : assert (out <= ($clog2(OUT_FIFO) + 2)'(OUT_FIFO));
      a_due : assert (due <= ($clog2(WRITES) + 2)'(WRITES));
      a_stage : assert (!entry2 || (comp2 && !retry2));
      a_one : assert (!(try_take && h_take) && !(rec_valid && (try_take || h_take)));
      a_waits : assert ((!try_take || try_valid) && (!h_take || h_ready) && (!rec_valid || op));
      c_lot : cover (lot == LW'(PLACES));
      c_out : cover (waiting == ($clog2(OUT_FIFO) + 1)'(OUT_FIFO));
      c_due : cover (owed == ($clog2(WRITES) + 1)'(WRITES));
    end
  end

endmodule

`default_nettype wire
