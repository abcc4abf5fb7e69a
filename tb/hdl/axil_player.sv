// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite master that plays accesses from p<phase>/<NAME>.axil in order, each at its earliest cycle (1 at the
// soonest) or in the cycle after the one ahead was answered. Every answer goes to <NAME>.rec. An access: a write, a
// read, or both of one address at once; AW (and AR) and W may come late, and the answer may have to wait. Layout:
// tb.common.axil. No file: nothing to play.
`default_nettype none

module axil_player #(
    parameter     NAME   = "axil",  /// file name
    parameter int ADDR_W = 17       /// bits of an address
) (
    input  wire               clk,             /// clock
    input  wire               rst,             /// synchronous reset, active high
    input  wire               start,           /// a phase begins
    input  wire               stop,            /// the phase ended: the record is closed
    input  wire  [      15:0] phase,           /// number of the phase
    input  wire  [      31:0] cycle,           /// number of this edge
    output logic              player_done,     /// nothing left to do
    output logic [ADDR_W-1:0] m_axil_awaddr,   /// write address
    output logic              m_axil_awvalid,  /// write address offered
    input  wire               m_axil_awready,  /// write address taken
    output logic [      31:0] m_axil_wdata,    /// write data
    output logic [       3:0] m_axil_wstrb,    /// bytes to write
    output logic              m_axil_wvalid,   /// write data offered
    input  wire               m_axil_wready,   /// write data taken
    input  wire  [       1:0] m_axil_bresp,    /// write response
    input  wire               m_axil_bvalid,   /// write response offered
    output logic              m_axil_bready,   /// write response taken
    output logic [ADDR_W-1:0] m_axil_araddr,   /// read address
    output logic              m_axil_arvalid,  /// read address offered
    input  wire               m_axil_arready,  /// read address taken
    input  wire  [      31:0] m_axil_rdata,    /// read data
    input  wire  [       1:0] m_axil_rresp,    /// read response
    input  wire               m_axil_rvalid,   /// read data offered
    output logic              m_axil_rready    /// read data taken
);
  string dir;
  int fd, out, n;
  logic have;  // rec holds the next access
  logic [3:0] todo;  // of the access under way: R, B, then W, AW (AR goes with AW) still to be offered
  logic ar_todo;
  int age;  // cycles since the access was due
  /* verilator lint_off UNUSEDSIGNAL */  // pad bits of a record
  logic [127:0] rec, now;  // {hold, w_late, a_late, strobes, read, write}, data, address, cycle
  /* verilator lint_on UNUSEDSIGNAL */

  initial begin
    fd             = 0;
    out            = 0;
    have           = 1'b0;
    todo           = '0;
    ar_todo        = 1'b0;
    age            = 0;
    player_done    = 1'b0;
    m_axil_awvalid = 1'b0;
    m_axil_wvalid  = 1'b0;
    m_axil_arvalid = 1'b0;
    m_axil_bready  = 1'b0;
    m_axil_rready  = 1'b0;
  end

  // Outputs are written by <=; what is written by = is read in this block only.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      if (fd != 0) $fclose(fd);
      if (out != 0) $fclose(out);
      out = $fopen($sformatf("%0s/p%0d/%0s.rec", dir, phase, NAME), "wb");
      if (out == 0) $fatal(1, "cannot write %0s/p%0d/%0s.rec", dir, phase, NAME);
      have = 1'b0;
      fd   = $fopen($sformatf("%0s/p%0d/%0s.axil", dir, phase, NAME), "rb");
      if (fd != 0) begin
        n = $fread(rec, fd);
        have = n == 16;
      end
    end else if (stop && out != 0) begin
      $fclose(out);
      out = 0;
    end
    if (rst) begin
      todo           = '0;
      ar_todo        = 1'b0;
      player_done    <= 1'b0;
      m_axil_awvalid <= 1'b0;
      m_axil_wvalid  <= 1'b0;
      m_axil_arvalid <= 1'b0;
      m_axil_bready  <= 1'b0;
      m_axil_rready  <= 1'b0;
    end else begin
      age = age + 1;
      if (m_axil_awready) m_axil_awvalid <= 1'b0;
      if (m_axil_wready) m_axil_wvalid <= 1'b0;
      if (m_axil_arready) m_axil_arvalid <= 1'b0;
      if (m_axil_bvalid && m_axil_bready) begin
        if (out != 0) $fwrite(out, "%u", {32'd0, now[63:32], 30'(m_axil_bresp), 2'd1, cycle});
        todo[2] = 1'b0;
      end
      if (m_axil_rvalid && m_axil_rready) begin
        if (out != 0) $fwrite(out, "%u", {m_axil_rdata, now[63:32], 30'(m_axil_rresp), 2'd2, cycle});
        todo[3] = 1'b0;
      end
      if (todo == '0 && have && rec[31:0] <= cycle + 1) begin
        now     = rec;
        age     = 0;
        todo    = {now[97], now[96], now[96], now[96]};
        ar_todo = now[97];
        n       = $fread(rec, fd);
        have    = n == 16;
        if (n != 0 && !have) $fatal(1, "%0s.axil: short record", NAME);
      end
      if (todo[0] && age >= 32'(now[111:104])) begin
        m_axil_awvalid <= 1'b1;
        m_axil_awaddr  <= now[32+:ADDR_W];
        todo[0] = 1'b0;
      end
      if (todo[1] && age >= 32'(now[119:112])) begin
        m_axil_wvalid <= 1'b1;
        m_axil_wdata  <= now[95:64];
        m_axil_wstrb  <= now[103:100];
        todo[1] = 1'b0;
      end
      if (ar_todo && age >= 32'(now[111:104])) begin
        m_axil_arvalid <= 1'b1;
        m_axil_araddr  <= now[32+:ADDR_W];
        ar_todo = 1'b0;
      end
      m_axil_bready <= todo[2] && age >= 32'(now[127:120]);
      m_axil_rready <= todo[3] && age >= 32'(now[127:120]);
      player_done   <= todo == '0 && !have;
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
