// SPDX-License-Identifier: Apache-2.0
// Header fields of a frame's first beat, combinational (docs/switch.md, H1 to H4 without the hash).
// InfiniBand vol. 1, ch. 7 (LRH), ch. 8 (GRH), ch. 9 (BTH); RFC 791 (IPv4), RFC 768 (UDP).
`default_nettype none

module switch_header
  import spec_pkg::*;
#(
    parameter int LANES  = 1,    /// virtual lanes, 1..8
    parameter int DATA_W = 512,  /// bits of a beat, 512 or 1024
    parameter int ADDR_W = 10,   /// bits of a table index
    parameter int MAX    = FRAME_MAX_BEATS,   /// beats of a longest frame
    parameter int LW     = 1,    /// bits of a lane number
    parameter int NW     = 7     /// bits of `need`, enough for MAX
) (
    input  wire                 cfg_roce,    /// 0 native, 1 RoCEv2 over IPv4
    input  wire  [        31:0] cfg_prefix,  /// destination >> ADDR_W of a known destination
    /* verilator lint_off UNUSEDSIGNAL */  // payload bytes and reserved fields are not looked at
    input  wire  [  DATA_W-1:0] data,        /// first beat
    input  wire  [DATA_W/8-1:0] keep,        /// its valid bytes
    /* verilator lint_on UNUSEDSIGNAL */
    output logic                malformed,   /// a field that no good frame has
    output logic                too_long,    /// stated length above MAX beats
    output logic                prefix_ok,   /// upper bits of the destination are known ones
    output logic [  ADDR_W-1:0] index,       /// lower bits of the destination
    output logic [      LW-1:0] lane,        /// virtual lane
    output logic [      NW-1:0] need,        /// stated length in beats, 1 or more; of a frame not too long
    output logic [        95:0] key          /// flow key, its first byte in the upper bits
);

  localparam int BB = DATA_W / 8;
  localparam int BW = $clog2(BB);

  // bytes of the header, by number
  function automatic logic [7:0] at(input logic [511:0] d, input int n);
    return d[n*8+:8];
  endfunction

  wire [511:0] d = data[511:0];
  wire [2:0] tos_class = d[127:125];  // byte 15, 7:5
  wire [3:0] vl = d[7:4];
  wire [31:0] dlid = {11'd0, d[39:35], at(d, 2), at(d, 3)};
  wire [31:0] ipv4 = {at(d, 30), at(d, 31), at(d, 32), at(d, 33)};
  wire [31:0] dest = cfg_roce ? ipv4 : dlid;
  wire [15:0] tot_len = {at(d, 16), at(d, 17)};
  wire [10:0] pkt_len = {d[34:32], at(d, 5)};
  wire global_hdr = d[9:8] == 2'd3;
  wire [23:0] qp = global_hdr ? {at(d, 53), at(d, 54), at(d, 55)} : {at(d, 13), at(d, 14), at(d, 15)};

  wire bad_native = d[3:0] != 4'd0 || !d[9] || {1'b0, vl} >= 5'(LANES) || pkt_len < (global_hdr ? 11'd16 : 11'd6)
      || !keep[25] || (global_hdr && !keep[63]);
  wire bad_roce = {at(d, 12), at(d, 13)} != 16'h0800 || at(d, 14) != 8'h45 || tot_len < 16'd28 || !keep[41];

  // stated bytes, rounded up to whole beats: native 4 x PktLen + 2, RoCE total length + 18
  /* verilator lint_off UNUSEDSIGNAL */  // bytes within a beat were rounded up
  wire [16:0] up = cfg_roce ? 17'(tot_len) + 17'(18 + BB - 1) : {4'd0, pkt_len, 2'd0} + 17'(2 + BB - 1);
  /* verilator lint_on UNUSEDSIGNAL */
  wire [16-BW:0] beats = up[16:BW];

  always_comb begin
    malformed = cfg_roce ? bad_roce : bad_native;
    too_long  = beats > (17 - BW)'(MAX);
    need      = beats[NW-1:0];
    index     = dest[ADDR_W-1:0];
    prefix_ok = (dest >> ADDR_W) == (cfg_roce ? cfg_prefix & (32'hffff_ffff >> ADDR_W)
                                              : cfg_prefix & (32'h001f_ffff >> ADDR_W));
    if (cfg_roce) lane = {1'b0, tos_class} >= 4'(LANES) ? '0 : LW'(tos_class);
    else lane = malformed ? '0 : LW'(vl);
    key = cfg_roce ? {ipv4, at(d, 26), at(d, 27), at(d, 28), at(d, 29), at(d, 34), at(d, 35), 16'd0}
                   : {dlid, at(d, 6), at(d, 7), qp, 24'd0};
  end

endmodule

`default_nettype wire
