// SPDX-License-Identifier: Apache-2.0
// Priority flow control of the RoCE profile (docs/link.md, F2, F3; IEEE 802.1Qbb, frame of 802.3 annex 31D):
// when a PFC frame is wanted and what it says; for how long the far end wants each lane paused.
// Latency: `s_pause` of t may be in a frame at t+1; a frame judged at v is in `m_pause` at v+1.
`default_nettype none
`include "microhop_assert.svh"

module link_pfc
  import spec_pkg::*;
  import crc_pkg::*;
#(
    parameter  int DATA_W = 512,  /// stream width, bits
    parameter  int LANES  = 1,    /// virtual lanes; classes above the eighth do not exist
    localparam int RATE = LINK_RATE_BYTES * DATA_W / 512
) (
    input  wire              clk,      /// clock
    input  wire              rst,      /// synchronous reset, active high
    input  wire              forget,   /// last cycle before OFF or RETRAIN: no pause outlives it
    input  wire              roce,     /// profile
    input  wire              tx_on,    /// frames may leave
    /* verilator lint_off UNUSEDSIGNAL */  // lanes above the eighth have no class
    input  wire  [LANES-1:0] s_pause,  /// lanes that the own core wants paused
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire              sent,     /// the PFC frame leaves
    output wire              wanted,   /// a PFC frame is wanted
    output wire  [    511:0] frame,    /// it, 64 bytes with FCS
    input  wire              heard,    /// a good PFC frame is judged
    /* verilator lint_off UNUSEDSIGNAL */  // classes beyond the lanes
    input  wire  [    135:0] fields,   /// its eight times 135:8 and class vector 7:0
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [LANES-1:0] m_pause   /// lanes that the far end wants paused
);

  localparam int N = LANES < 8 ? LANES : 8;  // classes in use

  // ---- what we say -----------------------------------------------------------------------------------------
  logic [N-1:0] now, said;
  localparam int AGE_W = $clog2(PFC_REFRESH + 1);
  logic [AGE_W-1:0] age;  // cycles since the last frame, held at the refresh
  assign wanted = roce && tx_on && (now != said || (said != '0 && age >= AGE_W'(PFC_REFRESH)));

  always_ff @(posedge clk) begin
    if (rst) now <= '0;
    else if (now != s_pause[N-1:0]) now <= s_pause[N-1:0];
    if (rst || forget) begin
      said <= '0;
      age  <= AGE_W'(1);
    end else begin
      if (sent) said <= now;
      if (sent) age <= AGE_W'(1);
      else if (age < AGE_W'(PFC_REFRESH)) age <= age + 1'b1;
    end
  end

  // The frame with the classes of `p` paused, without FCS.
  function automatic logic [479:0] text(input logic [7:0] p);
    text = '0;
    text[47:0] = 48'h0100_00c2_8001;
    text[111:96] = 16'h0888;
    text[127:112] = 16'h0101;
    text[143:136] = 8'((1 << N) - 1);
    for (int v = 0; v < 8; v++) if (p[v]) text[144+16*v+:16] = 16'hffff;
  endfunction
  // FCS of its 60 bytes; linear, so each class adds its own share.
  function automatic logic [31:0] check(input logic [7:0] p);
    logic [479:0] t;
    logic [31:0] crc;
    t = text(p);
    crc = 32'hffff_ffff;
    for (int i = 0; i < 480; i++) crc = {1'b0, crc[31:1]} ^ (crc[0] ^ t[i] ? POLY_ICRC : 32'h0);
    return ~crc;
  endfunction
  localparam logic [31:0] NONE = check(8'h0);
  wire [7:0][31:0] share;
  for (genvar v = 0; v < 8; v++) begin : g_share
    localparam logic [31:0] ONE = check(8'(1 << v)) ^ NONE;
    assign share[v] = v < N && now[v%N] ? ONE : 32'h0;
  end
  wire [31:0] fcs = NONE ^ share[0] ^ share[1] ^ share[2] ^ share[3] ^ share[4] ^ share[5] ^ share[6] ^ share[7];
  assign frame = {fcs, text(8'(now))};

  // ---- what the far end says ----------------------------------------------------------------------------------
  for (genvar v = 0; v < LANES; v++) begin : g_lane
    if (v < 8) begin : g_class
      logic [22:0] quanta;  // bytes of the wire still to wait
      wire hit = heard && fields[v];
      wire [22:0] left = quanta < 23'(RATE) ? 23'd0 : quanta - 23'(RATE);
      wire [22:0] asked = {1'b0, fields[8+16*v+:16], 6'd0};
      always_ff @(posedge clk) begin
        if (rst || forget) begin
          quanta     <= '0;
          m_pause[v] <= 1'b0;
        end else begin
          if (hit || quanta != '0) quanta <= hit ? asked : left;
          if (m_pause[v] != ((hit ? asked : left) != '0)) m_pause[v] <= (hit ? asked : left) != '0;
        end
      end
    end else begin : g_none
      assign m_pause[v] = 1'b0;
    end
  end

  `MH_NEVER_X(a_known, {now, said, wanted, m_pause})

endmodule

`default_nettype wire
