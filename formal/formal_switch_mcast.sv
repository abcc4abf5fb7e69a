// SPDX-License-Identifier: Apache-2.0
// switch_mcast (docs/switch.md, M8): at most one input is matched, when it is free, with outputs that are live, free and
// ok for its frame's lane, all that are live of the frame's set; the one picked stays until then, or for HOLD cycles;
// nothing is held while a branch waits for credit or a pause; an input that keeps asking is among the next PORTS picked.
`default_nettype none
`include "formal.svh"

module formal_switch_mcast #(
    parameter int PORTS = 3,  /// ports
    parameter int LANES = 2,  /// lanes
    parameter int HOLD  = 4   /// cycles of a pick
) (
    input wire                              clk,       /// clock
    input wire                              rst,       /// reset
    input wire [                 PORTS-1:0] live,      /// ports in use
    input wire [                 PORTS-1:0] req,       /// has a multicast frame
    input wire [           PORTS*PORTS-1:0] set,       /// sets
    input wire [PORTS*$clog2(LANES+1)-1:0]  lane,      /// lanes
    input wire [                 PORTS-1:0] in_free,   /// inputs free
    input wire [                 PORTS-1:0] out_free,  /// outputs free
    input wire [           PORTS*LANES-1:0] open,      /// by output and lane
    input wire [           PORTS*LANES-1:0] ok,        /// by output and lane
    input wire [         $clog2(PORTS)-1:0] who        /// the input that is watched
);

  localparam int PW = $clog2(PORTS);
  localparam int VW = $clog2(LANES + 1);

  wire [PORTS-1:0] keep, in_held, out_held, go, dst;
  wire over;
  wire [PW-1:0] from;
  switch_mcast #(.PORTS(PORTS), .LANES(LANES), .HOLD(HOLD)) dut (
      .clk(clk), .rst(rst), .live(live), .req(req), .set(set), .lane(lane), .in_free(in_free), .out_free(out_free),
      .open(open), .ok(ok), .keep(keep), .in_held(in_held), .out_held(out_held), .go(go), .dst(dst), .over(over),
      .from(from), .mc_lost());

  `FORMAL_START
  `FORMAL_STEADY(who, PW)

  // what was picked, from what it shows
  logic [PORTS-1:0] keep_was, its_set;
  logic [VW-1:0] its_lane;
  logic over_was;
  always_ff @(posedge clk) begin
    keep_was <= rst ? '0 : keep;
    over_was <= !rst && over;
    if (dut.picked && !dut.ready) begin
      for (int i = 0; i < PORTS; i++) begin
        if (keep[i]) begin
          its_set  <= set[i*PORTS+:PORTS];
          its_lane <= lane[i*VW+:VW];
        end
      end
    end
  end

  logic bad;  // an output that may not be matched is
  always_comb begin
    bad = 1'b0;
    for (int o = 0; o < PORTS; o++)
      if (dst[o] && !(live[o] && out_free[o] && ok[o*LANES+32'(its_lane)])) bad = 1'b1;
  end
  logic shut;  // something is held although a branch waits for credit or a pause
  always_comb begin
    shut = 1'b0;
    for (int o = 0; o < PORTS; o++) if (out_held[o] && !open[o*LANES+32'(its_lane)]) shut = 1'b1;
  end

  // fairness: as of an arbiter, but a pick may be older than the asking
  logic waits, asked;  // asked when the present one was picked
  logic [PW:0] passed;
  function automatic logic [PW:0] way(input logic [PW-1:0] to, input logic [PW-1:0] at);
    return to >= at ? (PW + 1)'(to) - (PW + 1)'(at) : (PW + 1)'(to) + (PW + 1)'(PORTS) - (PW + 1)'(at);
  endfunction
  always_comb begin
    assume (32'(who) < PORTS);
    for (int i = 0; i < PORTS; i++) assume (32'(lane[i*VW+:VW]) < LANES);
    if (waits) assume (req[who]);
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      waits  <= 1'b0;
      asked  <= 1'b0;
      passed <= '0;
    end else begin
      waits <= req[who] && !(over && keep[who]);
      if (keep == '0) asked <= req[who];
      if (!req[who] || (over && keep[who])) passed <= '0;
      else passed <= passed + (PW + 1)'(over);
    end
  end

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_one : assert ((keep & (keep - 1'b1)) == '0 && (go & ~in_held) == '0 && (in_held & ~keep) == '0 && (go == '0 || over));
      a_stays : assert (keep_was == '0 || over_was || keep == keep_was);
      a_state : assert (dut.picked == (keep != '0) && (dut.picked || !dut.ready));
      a_asks : assert (waits || passed == 0);
      a_free : assert ((go & ~in_free) == '0);
      a_all : assert (go == '0 || dst == (its_set & live));
      a_held : assert (in_held == '0 || out_held == (its_set & live));
      a_ok : assert (go == '0 || !bad);
      a_closed : assert (out_held == '0 || !shut);
      a_ends : assert (32'(dut.left) <= HOLD && (!dut.ready || dut.left != 0));
      a_pointer : assert (32'(dut.mp) < PORTS && (keep == '0 || (32'(from) < PORTS && keep == PORTS'(1) << from)));
      a_nearer : assert (32'(passed) + 32'(way(who, dut.mp)) < PORTS || (passed == 0));
      a_between : assert (keep == '0 || (asked ? waits && way(from, dut.mp) <= way(who, dut.mp) : passed == 0));
      a_served : assert (32'(passed) < PORTS);
      a_set : assert (!dut.ready || (32'(its_lane) < LANES && dut.held_set == its_set && dut.held_lane == its_lane));
      c_longest : cover (32'(passed) == PORTS - 1);
      c_many : cover (go != '0 && dst == '1);
    end
  end

endmodule

`default_nettype wire
