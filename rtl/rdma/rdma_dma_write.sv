// SPDX-License-Identifier: Apache-2.0
// Write side: puts payloads and completions on the AXI write channels. A payload is realigned to its
// address and cut into bursts at 4 KiB; strobes mark its bytes. A completion (64 B) goes between two
// payloads, before the next one. Refused payloads are taken and dropped here.
//
// One cycle to take a command (its first address goes out then), then one beat a cycle while payload
// comes and the write FIFO has room; the second address goes with the first burst's last beat.
`default_nettype none
`include "microhop_assert.svh"

module rdma_dma_write
  import rdma_pkg::*;
#(
    parameter int CMD_DEPTH  = 8,   /// payloads waiting
    parameter int CQEW_DEPTH = 4,   /// completions waiting
    parameter int AW_DEPTH   = 8,   /// write addresses waiting for the bus
    parameter int W_DEPTH    = 16   /// write beats waiting for the bus
) (
    input  wire         clk,            /// clock
    input  wire         rst,            /// synchronous reset, active high
    input  wire         cmd_push,       /// a payload's command
    input  wire [WCMD_W-1:0] cmd_data,  /// wcmd_t
    output wire [$clog2(CMD_DEPTH):0] cmd_count,  /// commands waiting
    input  wire         pay_empty,      /// no payload beat waits
    input  wire [511:0] pay_data,       /// oldest payload beat
    output wire         pay_pop,        /// taken
    input  wire         cqe_push,       /// a completion
    input  wire [63:0]  cqe_addr,       /// its address, 64-byte aligned
    input  wire [511:0] cqe_data,       /// its bytes
    output wire [$clog2(CQEW_DEPTH):0] cqe_count,  /// completions waiting
    output wire  [3:0]  m_axi_awid,     /// 1 payload, 3 completion
    output wire  [63:0] m_axi_awaddr,   /// 64-byte aligned
    output wire  [7:0]  m_axi_awlen,    /// beats less one
    output wire         m_axi_awvalid,  /// address offered
    input  wire         m_axi_awready,  /// address taken
    output wire [511:0] m_axi_wdata,    /// data
    output wire [63:0]  m_axi_wstrb,    /// bytes to write
    output wire         m_axi_wlast,    /// last beat of the burst
    output wire         m_axi_wvalid,   /// data offered
    input  wire         m_axi_wready    /// data taken
);

  localparam logic [3:0] ID_PAYLOAD = 4'd1;
  localparam logic [3:0] ID_CQE = 4'd3;

  wire cmd_empty, cmd_pop, cqe_empty, cqe_pop;
  wire [WCMD_W-1:0] cmd_head;
  wire [63:0] cqe_head_addr;
  wire [511:0] cqe_head_data;
  wcmd_t c;
  assign c = cmd_head;

  sync_fifo #(
      .WIDTH(WCMD_W),
      .DEPTH(CMD_DEPTH)
  ) u_cmd (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (cmd_push),
      .wr_data(cmd_data),
      .rd_en  (cmd_pop),
      .rd_data(cmd_head),
      .empty  (cmd_empty),
      .count  (cmd_count)
  );

  sync_fifo #(
      .WIDTH(576),
      .DEPTH(CQEW_DEPTH)
  ) u_cqe (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (cqe_push),
      .wr_data({cqe_addr, cqe_data}),
      .rd_en  (cqe_pop),
      .rd_data({cqe_head_addr, cqe_head_data}),
      .empty  (cqe_empty),
      .count  (cqe_count)
  );

  // ---- control ------------------------------------------------------------------------------------
  logic act, discard, two;
  logic [6:0] drop_n;             // beats still to drop
  logic [6:0] n_first;            // beats of the first burst
  logic [6:0] n_second;           // beats of the second one
  logic [51:0] page;              // 4 KiB page of the first one
  logic [63:0] first_strb, last_strb;

  wire [$clog2(AW_DEPTH):0] aw_count;
  wire [$clog2(W_DEPTH):0] w_count;
  wire aw_room = aw_count < ($clog2(AW_DEPTH) + 1)'(AW_DEPTH);
  wire w_room = w_count < ($clog2(W_DEPTH) + 1)'(W_DEPTH);

  logic first;       // the next beat is the payload's first
  logic [6:0] done;  // beats written
  wire want_in, want_flush, last, out_en;
  wire [511:0] out_data;
  wire edge_beat = two && done + 1'b1 == n_first;  // the next beat ends the first burst
  wire can = act && !discard && w_room && (!edge_beat || aw_room);
  wire in_en = can && want_in && !pay_empty;
  wire fl_en = can && want_flush;
  wire drop_en = act && discard && !pay_empty;

  assign cqe_pop = !act && !cqe_empty && aw_room && w_room;
  assign cmd_pop = !act && cqe_empty && !cmd_empty && (c.discard || aw_room);
  assign pay_pop = in_en || drop_en;

  wire aw_first = cmd_pop && !c.discard;
  wire aw_second = out_en && edge_beat;

  realign_t ra;
  assign ra.shift = 7'd64 - {1'b0, c.addr[5:0]};
  assign ra.skip  = 1'b0;
  assign ra.flush = c.n_out != c.n_in;
  assign ra.n_in  = c.n_in;

  rdma_realign u_realign (
      .clk       (clk),
      .rst       (rst),
      .start     (aw_first),
      .cmd       (ra),
      .in_en     (in_en),
      .in_data   (pay_data),
      .fl_en     (fl_en),
      .want_in   (want_in),
      .in_last   (),
      .want_flush(want_flush),
      .last      (last),
      .out_en    (out_en),
      .out_data  (out_data)
  );

  wire [5:0] tail = c.addr[5:0] + c.len[5:0];  // bytes of the last beat, 0: all 64

  always_ff @(posedge clk) begin
    if (rst) act <= 1'b0;
    else if (cmd_pop) act <= 1'b1;
    else if ((drop_en && drop_n == 7'd1) || (out_en && last)) act <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (cmd_pop) begin
      discard    <= c.discard;
      two        <= c.two;
      drop_n     <= c.n_in;
      n_first    <= c.n_first;
      n_second   <= c.n_out - c.n_first;
      page       <= c.addr[63:12];
      first_strb <= 64'hffff_ffff_ffff_ffff << c.addr[5:0];
      last_strb  <= tail == 0 ? '1 : ~(64'hffff_ffff_ffff_ffff << tail);
      first      <= 1'b1;
      done       <= '0;
    end else begin
      if (drop_en) drop_n <= drop_n - 1'b1;
      if (out_en) begin
        first <= 1'b0;
        done  <= done + 1'b1;
      end
    end
  end

  // ---- to the bus ---------------------------------------------------------------------------------
  wire [63:0] strb = (first ? first_strb : '1) & (last ? last_strb : '1);
  wire [511:0] masked;  // nothing of another packet shows beside the strobes
  for (genvar i = 0; i < 64; i++) begin : g_mask
    assign masked[8*i+:8] = strb[i] ? out_data[8*i+:8] : 8'h00;
  end
  wire aw_empty, w_empty;
  wire [19:0] page_low = page[19:0] + 1'b1;
  wire [31:0] page_up = page[51:20] + 1'b1;
  wire [51:0] next_page = {&page[19:0] ? page_up : page[51:20], page_low};

  sync_fifo #(
      .WIDTH(76),
      .DEPTH(AW_DEPTH)
  ) u_aw (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (cqe_pop || aw_first || aw_second),
      .wr_data(cqe_pop ? {ID_CQE, cqe_head_addr, 8'd0} :
          aw_first ? {ID_PAYLOAD, c.addr[63:6], 6'b0, 8'(c.n_first) - 8'd1} :
          {ID_PAYLOAD, next_page, 12'b0, 8'(n_second) - 8'd1}),
      .rd_en  (m_axi_awvalid && m_axi_awready),
      .rd_data({m_axi_awid, m_axi_awaddr, m_axi_awlen}),
      .empty  (aw_empty),
      .count  (aw_count)
  );
  assign m_axi_awvalid = !aw_empty;

  sync_fifo #(
      .WIDTH(577),
      .DEPTH(W_DEPTH)
  ) u_w (
      .clk    (clk),
      .rst    (rst),
      .wr_en  (cqe_pop || out_en),
      .wr_data(cqe_pop ? {1'b1, {64{1'b1}}, cqe_head_data} : {last || edge_beat, strb, masked}),
      .rd_en  (m_axi_wvalid && m_axi_wready),
      .rd_data({m_axi_wlast, m_axi_wstrb, m_axi_wdata}),
      .empty  (w_empty),
      .count  (w_count)
  );
  assign m_axi_wvalid = !w_empty;

  `MH_NEVER_X(a_known, {m_axi_awvalid, m_axi_wvalid, act, pay_pop})

endmodule

`default_nettype wire
