// SPDX-License-Identifier: Apache-2.0
// AXI4 write master that plays stores (a CPU or GPU that writes into a device) from p<phase>/<NAME>.store.
// A store starts at its earliest cycle (1 at the soonest) or when the one ahead has handed over its
// AW and its W beats; AW and the first W beat are offered together, W beats back to back. B is always taken.
// Records <NAME>_aw, _w, _b .rec: transfers with their cycle. Layouts: tb.common.axi.
`default_nettype none

module axi_store_player #(
    parameter     NAME   = "store",  /// file name
    parameter int ADDR_W = 64        /// address width, bits
) (
    input  wire               clk,            /// clock
    input  wire               rst,            /// synchronous reset, active high
    input  wire               start,          /// a phase begins
    input  wire               stop,           /// the phase ended: files are closed
    input  wire  [      15:0] phase,          /// number of the phase
    input  wire  [      31:0] cycle,          /// number of this edge
    output logic              player_done,    /// nothing left, every response is here
    output logic [ADDR_W-1:0] m_axi_awaddr,   /// AXI4 write address: byte address
    output logic [       7:0] m_axi_awlen,    /// beats - 1
    output logic [       2:0] m_axi_awsize,   /// log2 of the bytes of a beat
    output logic [       1:0] m_axi_awburst,  /// INCR
    output logic              m_axi_awvalid,  /// offered
    input  wire               m_axi_awready,  /// accepted
    output logic [     511:0] m_axi_wdata,    /// AXI4 write data
    output logic [      63:0] m_axi_wstrb,    /// bytes to write
    output logic              m_axi_wlast,    /// last beat of the store
    output logic              m_axi_wvalid,   /// offered
    input  wire               m_axi_wready,   /// accepted
    input  wire  [       1:0] m_axi_bresp,    /// AXI4 write response
    input  wire               m_axi_bvalid,   /// offered
    output logic              m_axi_bready    /// accepted: always
);
  string dir;
  int fd, n, fd_aw, fd_w, fd_b;
  logic is_open, have, aw_busy, w_busy;
  logic inside_store;  // beats of a started store are still in the file
  logic [31:0] waiting;  // stores without a response
  /* verilator lint_off UNUSEDSIGNAL */  // pad bits of a record
  logic [703:0] rec;  // {data, strb, address, flags (0 last, 10:8 size, 23:16 beats - 1), cycle}
  /* verilator lint_on UNUSEDSIGNAL */

  assign m_axi_bready  = 1'b1;
  assign m_axi_awburst = 2'd1;

  task automatic fetch;
    n = $fread(rec, fd);
    have = n == 88;
    if (n != 0 && !have) $fatal(1, "%0s.store: short record", NAME);
  endtask

  task automatic close_records;
    if (is_open) begin
      $fclose(fd_aw);
      $fclose(fd_w);
      $fclose(fd_b);
    end
    is_open = 1'b0;
  endtask

  initial begin
    fd            = 0;
    have          = 1'b0;
    is_open       = 1'b0;
    inside_store  = 1'b0;
    waiting       = 0;
    player_done   = 1'b0;
    m_axi_awvalid = 1'b0;
    m_axi_wvalid  = 1'b0;
  end

  // Outputs are written by <=; what is written by = is read in this block only.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk) begin
    if (start) begin
      if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
      close_records;
      fd_aw   = $fopen($sformatf("%0s/p%0d/%0s_aw.rec", dir, phase, NAME), "wb");
      fd_w    = $fopen($sformatf("%0s/p%0d/%0s_w.rec", dir, phase, NAME), "wb");
      fd_b    = $fopen($sformatf("%0s/p%0d/%0s_b.rec", dir, phase, NAME), "wb");
      is_open = fd_aw != 0 && fd_w != 0 && fd_b != 0;
      if (!is_open) $fatal(1, "cannot write %0s/p%0d/%0s_*.rec", dir, phase, NAME);
      if (fd != 0) $fclose(fd);
      have = 1'b0;
      fd   = $fopen($sformatf("%0s/p%0d/%0s.store", dir, phase, NAME), "rb");
      if (fd != 0) fetch;
    end else if (stop) close_records;
    if (rst) begin
      m_axi_awvalid <= 1'b0;
      m_axi_wvalid  <= 1'b0;
      player_done   <= 1'b0;
      inside_store = 1'b0;
      waiting      = 0;
    end else begin
      if (is_open) begin
        if (m_axi_awvalid && m_axi_awready)
          $fwrite(fd_aw, "%u", {64'(m_axi_awlen) + 64'd1, 64'(m_axi_awaddr), 29'b0, m_axi_awsize, cycle});
        if (m_axi_wvalid && m_axi_wready)
          $fwrite(fd_w, "%u", {m_axi_wdata, m_axi_wstrb, 31'b0, m_axi_wlast, cycle});
        if (m_axi_bvalid) $fwrite(fd_b, "%u", {30'b0, m_axi_bresp, 32'b0, cycle});
      end
      if (m_axi_bvalid) waiting = waiting - 1;
      aw_busy = m_axi_awvalid && !m_axi_awready;
      w_busy  = m_axi_wvalid && !m_axi_wready;
      if (!aw_busy) m_axi_awvalid <= 1'b0;
      if (!w_busy) m_axi_wvalid <= 1'b0;
      if (!w_busy && have && (inside_store || (!aw_busy && rec[31:0] <= cycle + 1))) begin
        if (!inside_store) begin
          m_axi_awvalid <= 1'b1;
          m_axi_awaddr  <= rec[64+:ADDR_W];
          m_axi_awsize  <= rec[42:40];
          m_axi_awlen   <= rec[55:48];
          waiting = waiting + 1;
        end
        m_axi_wvalid <= 1'b1;
        m_axi_wdata  <= rec[192+:512];
        m_axi_wstrb  <= rec[128+:64];
        m_axi_wlast  <= rec[32];
        inside_store = !rec[32];
        fetch;
      end
      player_done <= !have && waiting == 0;
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
