// SPDX-License-Identifier: Apache-2.0
// Far end of a credited link, between a player and a switch's input: a frame's first beat is offered only when
// its lane has credit for a largest frame, the beats behind it pass freely. Credits begin at a lane's share of
// the cells; a beat that enters the switch takes one, free_cells gives them back from the next cycle on. What
// frame_cut takes away never enters and never comes back: it takes none.
`default_nettype none

module credit_gate #(
    parameter int LANES     = 1,   /// virtual lanes, 1..8
    parameter int QUOTA     = 512, /// cells of a lane
    parameter int MAX_BEATS = 66   /// beats of a largest frame
) (
    input  wire               clk,         /// clock
    input  wire               rst,         /// synchronous reset, active high
    input  wire               live,        /// the port is in use; while it is not, credits are those of the start
    input  wire               on,          /// 0: everything passes
    input  wire               cut,         /// what passes is not offered to the switch (frame_cut)
    input  wire [        2:0] head_lane,   /// lane of the beat offered, if it is a frame's first
    input  wire [LANES*2-1:0] free_cells,  /// cells given back in this cycle, by lane
    input  wire               s_valid,     /// beat offered by the player
    output wire               s_ready,     /// and accepted
    input  wire               s_last,      /// last beat of the frame
    output wire               m_valid,     /// beat offered to the switch
    input  wire               m_ready      /// and accepted
);
  logic in_frame;  // the next beat is not a frame's first
  logic [2:0] kept_lane;
  wire [2:0] lane = in_frame ? kept_lane : head_lane;
  wire [7:0] enough;  // by lane; bits beyond the last lane are 0
  wire passed = m_valid && m_ready;

  assign m_valid = s_valid && (in_frame || !on || enough[lane]);
  assign s_ready = m_ready && (in_frame || !on || enough[lane]);

  always_ff @(posedge clk) begin
    if (rst) in_frame <= 1'b0;
    else if (passed) begin
      in_frame <= !s_last;
      kept_lane <= lane;
    end
  end

  for (genvar v = 0; v < 8; v++) begin : g_lane
    if (v < LANES) begin : g_used
      logic signed [31:0] credit;  // below 0 inside a frame that is longer than it may be
      always_ff @(posedge clk) begin
        if (rst || !live) credit <= QUOTA;
        else credit <= credit - 32'(passed && !cut && lane == 3'(v)) + 32'(free_cells[2*v+:2]);
      end
      assign enough[v] = credit >= MAX_BEATS;
    end else begin : g_none
      assign enough[v] = 1'b0;
    end
  end
endmodule

`default_nettype wire
