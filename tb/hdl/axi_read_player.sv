// SPDX-License-Identifier: Apache-2.0
// AXI4 read master that plays reads of 64-byte beats from p<phase>/<NAME>.load, each at its earliest cycle
// (1 at the soonest) or when the one ahead was accepted. rready follows <NAME>.ready. Layout: tb.common.axi.
`default_nettype none

module axi_read_player #(
    parameter     NAME = "load",  /// file name
    parameter int ID_W = 4        /// width of the ids
) (
    input  wire             clk,            /// clock
    input  wire             rst,            /// synchronous reset, active high
    input  wire             start,          /// a phase begins
    input  wire  [    15:0] phase,          /// number of the phase
    input  wire  [    31:0] cycle,          /// number of this edge
    output logic            player_done,    /// nothing left to offer
    output logic [ID_W-1:0] m_axi_arid,     /// AXI4 read address
    output logic [    63:0] m_axi_araddr,   /// byte address
    output logic [     7:0] m_axi_arlen,    /// beats - 1
    output logic [     2:0] m_axi_arsize,   /// 6
    output logic [     1:0] m_axi_arburst,  /// INCR
    output logic            m_axi_arvalid,  /// offered
    input  wire             m_axi_arready,  /// accepted
    output logic            m_axi_rready    /// R is taken
);
  string dir;
  int fd, n;
  logic have, holds;
  /* verilator lint_off UNUSEDSIGNAL */  // pad bits of a record
  logic [191:0] rec;  // {beats, address, id, cycle}
  /* verilator lint_on UNUSEDSIGNAL */

  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'd1;

  stream_sink #(.NAME(NAME)) u_ready (.tready(m_axi_rready), .*);

  initial begin
    fd            = 0;
    have          = 1'b0;
    player_done   = 1'b0;
    m_axi_arvalid = 1'b0;
  end

  // Outputs are written by <=; what is written by = is read in this block only.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      if (fd != 0) $fclose(fd);
      have = 1'b0;
      fd   = $fopen($sformatf("%0s/p%0d/%0s.load", dir, phase, NAME), "rb");
      if (fd != 0) begin
        n = $fread(rec, fd);
        have = n == 24;
      end
    end
    if (rst) begin
      m_axi_arvalid <= 1'b0;
      player_done   <= 1'b0;
    end else if (!m_axi_arvalid || m_axi_arready) begin
      holds = have && rec[31:0] <= cycle + 1;
      m_axi_arvalid <= holds;
      if (holds) begin
        m_axi_arid   <= rec[32+:ID_W];
        m_axi_araddr <= rec[127:64];
        m_axi_arlen  <= rec[135:128] - 8'd1;
        n    = $fread(rec, fd);
        have = n == 24;
      end
      player_done <= !have && !holds;
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
