// SPDX-License-Identifier: Apache-2.0
// Forwarding table of one input: 1024 entries, each valid and an output port. The inputs' tables have
// the same content; a copy for each input is what gives each its own read port.
// Latency 1: the entry of rd_addr at c is at rd_valid and rd_port at c+1. A read in the cycle of a write to
// the same entry gives the old one. Reset makes every entry invalid.
`default_nettype none

module switch_table #(
    parameter int PW      = 3,   /// bits of a port number
    parameter int ADDR_W  = 10   /// bits of an index; less only to estimate timing
) (
    input  wire               clk,       /// clock
    input  wire               rst,       /// synchronous reset, active high
    input  wire               we,        /// write an entry
    input  wire  [ADDR_W-1:0] wr_addr,   /// its index
    input  wire               wr_valid,  /// entry in use
    input  wire  [    PW-1:0] wr_port,   /// output port
    input  wire               rd_en,     /// look up
    input  wire  [ADDR_W-1:0] rd_addr,   /// index
    output logic              rd_valid,  /// entry in use; held to the next look-up
    output logic [    PW-1:0] rd_port    /// its output port
);

  localparam int ENTRIES = 1 << ADDR_W;

  logic [PW-1:0] port_mem [ENTRIES];
  logic [ENTRIES-1:0] valid;

  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (we) valid[wr_addr] <= wr_valid;
  end

  always_ff @(posedge clk) begin
    if (we) port_mem[wr_addr] <= wr_port;
  end

  always_ff @(posedge clk) begin
    if (rd_en) begin
      rd_valid <= valid[rd_addr];
      rd_port  <= port_mem[rd_addr];
    end
  end

endmodule

`default_nettype wire
