// SPDX-License-Identifier: Apache-2.0
// Registers on both sides of a register block (PeakRDL's passthrough port): a request of cycle t is at the block in
// t+1, its answer on the bus in t+2. The address goes to every register of the block, hence a copy for each block.
`default_nettype none

module csr_stage #(
    parameter int ADDR_W = 8  /// bits of a byte address
) (
    input  wire               clk,       /// clock
    input  wire               rst,       /// synchronous reset, active high
    // request bus
    input  wire               req,       /// an access to this block, for one cycle
    input  wire               req_wr,    /// it is a write
    input  wire  [ADDR_W-1:0] req_addr,  /// byte address inside the block
    input  wire  [      31:0] req_data,  /// write data
    input  wire  [      31:0] req_mask,  /// bits to write
    output logic              ack,       /// the answer, for one cycle
    output logic              ack_err,   /// with ack: there is no such register
    output logic [      31:0] ack_data,  /// with ack: data of a read; else 0
    // the block
    output logic              q_req,     /// an access
    output logic              q_wr,      /// it is a write
    output logic [ADDR_W-1:0] q_addr,    /// its address
    output logic [      31:0] q_data,    /// write data
    output logic [      31:0] q_mask,    /// bits to write
    input  wire               rd_ack,    /// answer to a read
    input  wire               rd_err,    /// with rd_ack: no such register
    input  wire  [      31:0] rd_data,   /// with rd_ack: its data
    input  wire               wr_ack,    /// answer to a write
    input  wire               wr_err     /// with wr_ack: no such register
);
  always_ff @(posedge clk) begin
    q_req <= req && !rst;
    if (req) {q_wr, q_addr, q_data, q_mask} <= {req_wr, req_addr, req_data, req_mask};
    ack      <= (rd_ack || wr_ack) && !rst;
    ack_err  <= rd_ack ? rd_err : wr_ack && wr_err;
    ack_data <= rd_ack ? rd_data : '0;
  end
endmodule

`default_nettype wire
