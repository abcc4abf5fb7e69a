// SPDX-License-Identifier: Apache-2.0
// Bench of phy_errors: words at given cycles, what leaves in the same cycle, and what it tells of codewords: each (with
// cfg each), and counted until cycle `dump`, at which the counts are recorded.
// Files: s (.play), fault (in a beat's cycle), cut, on, sig (levels); errors, thr, dump, each (.cfg); m, codeword, counts,
// m_sig.
`default_nettype none

module tb_phy_errors
  import microhop_pkg::CABLE_SIDE_W;
#(
    parameter int DATA_W = 512  /// parameter of the design
) (
    input  wire         clk,      /// clock
    input  wire         rst,      /// synchronous reset, active high
    input  wire         start,    /// a phase begins
    input  wire  [15:0] phase,    /// number of the phase
    output logic        done,     /// the phase ended by itself
    output logic        timeout,  /// the phase reached its cycle limit
    output logic [31:0] cycle     /// number of this edge
);
  localparam int BB = DATA_W / 8;
  localparam int SW = CABLE_SIDE_W - 1;

  logic stop;
  wire tvalid;
  wire [269:0] cfg;
  wire [31*64-1:0] thr;
  wire [31:0] dump;
  wire each;
  wire [4:0] player_done;
  tb_ctl #(.N_PLAYERS(5)) u_ctl (.activity(tvalid || cycle <= dump), .*);
  tb_cfg #(.NAME("errors"), .W(270)) u_cfg (.q(cfg), .*);
  tb_cfg #(.NAME("thr"), .W(31 * 64)) u_thr (.q(thr), .*);
  tb_cfg #(.NAME("dump"), .W(32)) u_dump (.q(dump), .*);
  tb_cfg #(.NAME("each"), .W(1)) u_each (.q(each), .*);

  wire [BB-1:0] tkeep;
  wire [DATA_W-1:0] tdata;
  wire [SW-1:0] side;
  stream_player #(.NAME("s"), .DATA_W(DATA_W), .SIDE_W(SW)) u_s (
      .tready(1'b1), .tlast(), .player_done(player_done[0]), .*);

  wire fault_now, cut, on, sig;
  /* verilator lint_off UNUSEDSIGNAL */  // the pad bits of a record
  wire [31:0] fault_kind;
  /* verilator lint_on UNUSEDSIGNAL */
  stream_player #(.NAME("fault"), .DATA_W(32)) u_fault (
      .tvalid(fault_now), .tready(1'b1), .tlast(), .tkeep(), .tdata(fault_kind), .side(),
      .player_done(player_done[1]), .*);
  timed_value #(.NAME("cut")) u_cut (.init(1'b0), .q(cut), .player_done(player_done[2]), .*);
  timed_value #(.NAME("on")) u_on (.init(cfg[0]), .q(on), .player_done(player_done[3]), .*);
  timed_value #(.NAME("sig")) u_sig (.init(1'b1), .q(sig), .player_done(player_done[4]), .*);

  // the thresholds, one a cycle, while reset lasts
  logic [5:0] entry;
  initial entry = '0;
  always_ff @(posedge clk) begin
    if (start) entry <= 6'd1;
    else if (entry != '0) entry <= entry == 6'd31 ? 6'd0 : entry + 6'd1;
  end

  wire [CABLE_SIDE_W+BB+DATA_W-1:0] m;
  wire cw_done, cw_failed;
  wire [4:0] cw_corrected;
  phy_errors #(.DATA_W(DATA_W)) dut (
      .cfg_on(on),
      .cfg_kp4(cfg[1]),
      .cfg_seed(cfg[65:2]),
      .cfg_burst_thr(cfg[129:66]),
      .cfg_burst_len(cfg[141:130]),
      .cfg_lose_thr(cfg[205:142]),
      .cfg_repeat_thr(cfg[269:206]),
      .thr_we(entry != '0),
      .thr_addr(entry[4:0]),
      .thr_data(thr[64*((32'(entry)+30)%31)+:64]),
      .fault(fault_now ? fault_kind[1:0] : 2'd0),
      .s({sig, tvalid ? side : {SW{1'b0}}, tkeep, tdata}),
      .*
  );

  wire m_valid = m[DATA_W+BB+75];
  wire m_ctl_valid = m[DATA_W+BB+149];
  stream_monitor #(.NAME("m"), .DATA_W(DATA_W), .SIDE_W(SW)) u_m (
      .tvalid(m_valid || m_ctl_valid), .tready(1'b1), .tlast(1'b1), .tkeep(m[DATA_W+:BB]), .tdata(m[DATA_W-1:0]),
      .side(m[DATA_W+BB+:SW]), .*);
  event_recorder #(.NAME("m_sig"), .CHANGE(1'b1)) u_m_sig (.value(m[DATA_W+BB+SW]), .*);

  wire told = cw_done && cycle <= dump;
  event_recorder #(.NAME("codeword"), .W(7)) u_codeword (
      .value(told && each ? {cw_failed, cw_corrected, 1'b1} : 7'd0), .*);

  logic [17*32-1:0] counts;  // corrected 0..15, failed
  wire [4:0] which = cw_failed ? 5'd16 : cw_corrected;
  always_ff @(posedge clk) begin
    if (rst) counts <= '0;
    else if (told) counts[which*32+:32] <= counts[which*32+:32] + 32'd1;
  end
  event_recorder #(.NAME("counts"), .W(17 * 32)) u_counts (.value(cycle == dump ? counts : {17 * 32{1'b0}}), .*);
endmodule

`default_nettype wire
