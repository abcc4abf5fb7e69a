// SPDX-License-Identifier: Apache-2.0
// What the switch's tables hold, for software to read: one more copy of them beside those of the inputs
// (switch_route), written by the same writes, with its own read port. Nothing else reads it, and a read takes nothing
// from the traffic. Looked up at t, shown from t+1 on; a write of t is found from t+1 on.
`default_nettype none

module switch_csr_tables #(
    parameter int PORTS  = 8,   /// ports, 2..80
    parameter int ADDR_W = 10,  /// bits of a table index
    parameter int GROUPS = 64   /// groups of next hops, a power of two
) (
    input  wire                       clk,          /// clock
    input  wire                       rst,          /// synchronous reset, active high
    // writes, as the switch sees them
    input  wire                       tbl_we,       /// write a destination
    input  wire  [        ADDR_W-1:0] tbl_addr,     /// its index
    input  wire                       tbl_valid,    /// entry in use
    input  wire  [$clog2(GROUPS)-1:0] tbl_group,    /// its group
    input  wire                       grp_we,       /// write a group
    input  wire  [$clog2(GROUPS)-1:0] grp_addr,     /// its number
    input  wire  [               1:0] grp_mode,     /// its mode
    input  wire  [         PORTS-1:0] grp_ports,    /// its set of ports
    // look-up
    input  wire                       look,         /// look both up now
    input  wire  [              31:0] table_index,  /// entry
    input  wire  [              15:0] group_index,  /// group
    output logic                      rd_valid,     /// the entry is in use
    output logic [              15:0] rd_group,     /// its group; 0 when it is not, or there is none
    output logic                      rd_written,   /// the group was written since reset
    output logic [               1:0] rd_mode,      /// its mode; 0 when it was not, or there is none
    output logic [              95:0] rd_ports      /// its ports; likewise
);
  localparam int GW = $clog2(GROUPS);
  localparam int ENTRIES = 1 << ADDR_W;

  logic [GW-1:0] tbl_mem[ENTRIES];
  logic [PORTS+1:0] grp_mem[GROUPS];  // mode, ports
  logic [ENTRIES-1:0] tbl_used;
  logic [GROUPS-1:0] grp_used;

  wire [ADDR_W-1:0] entry = table_index[ADDR_W-1:0];
  wire [GW-1:0] number = group_index[GW-1:0];
  wire entry_used = (table_index >> ADDR_W) == '0 && tbl_used[entry];
  wire group_used = (group_index >> GW) == '0 && grp_used[number];
  wire [PORTS+1:0] group_now = grp_mem[number];

  always_ff @(posedge clk) begin
    if (rst) begin
      tbl_used <= '0;
      grp_used <= '0;
    end else begin
      if (tbl_we) tbl_used[tbl_addr] <= tbl_valid;
      if (grp_we) grp_used[grp_addr] <= 1'b1;
    end
    if (tbl_we) tbl_mem[tbl_addr] <= tbl_group;
    if (grp_we) grp_mem[grp_addr] <= {grp_mode, grp_ports};
    if (look) begin
      rd_valid   <= entry_used;
      rd_group   <= entry_used ? 16'(tbl_mem[entry]) : '0;
      rd_written <= group_used;
      rd_mode    <= group_used ? group_now[PORTS+:2] : '0;
      rd_ports   <= group_used ? 96'(group_now[PORTS-1:0]) : '0;
    end
  end
endmodule

`default_nettype wire
