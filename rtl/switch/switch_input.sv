// SPDX-License-Identifier: Apache-2.0
// One input of the switch: parse, look up, store in the shared buffer, one virtual output queue (VOQ)
// for each output, and the read side that a match drives. Rules X1 to X9 of README.md.
//
// The buffer is CELLS cells of one beat. A VOQ is a list: head and tail here, links in the next-cell
// memory, each with the `last` flag of the cell it points to, so that the end of a frame is known in the
// cycle in which it is taken. Free cells: first each cell once in order, then as they came back.
//
// Latency: a beat accepted at c is in its VOQ at c+3; one taken at p is at x_* at p+1 (buffer output
// register). One beat in and one out a cycle. Order kept within a VOQ.
`default_nettype none
`include "microhop_assert.svh"

module switch_input
  import spec_pkg::*;
#(
    parameter int PORTS  = 8,                  /// ports of the switch, 2..8
    parameter int CELLS  = LINK_BUFFER_CELLS,  /// cells of the buffer, a power of two
    parameter int ADDR_W = 10,                 /// bits of a table index
    parameter     TAP    = ""                  /// name of the stage stamp "first beat stored"; empty: none
) (
    input  wire                      clk,            /// clock
    input  wire                      rst,            /// synchronous reset, active high
    input  wire                      cfg_roce,       /// 0 native, 1 RoCEv2 over IPv4; steady outside reset
    input  wire  [             21:0] cfg_prefix,     /// upper bits of a known destination; steady outside reset
    input  wire                      tbl_we,         /// table write
    input  wire  [       ADDR_W-1:0] tbl_addr,       /// its index
    input  wire                      tbl_valid,      /// entry in use
    input  wire  [$clog2(PORTS)-1:0] tbl_port,       /// output port
    input  wire                      s_axis_tvalid,  /// frames from the link
    output wire                      s_axis_tready,  /// a cell is free
    input  wire  [            511:0] s_axis_tdata,   /// bytes, first one lowest
    input  wire  [             63:0] s_axis_tkeep,   /// valid bytes
    input  wire                      s_axis_tlast,   /// last beat of a frame
    output wire  [        PORTS-1:0] req,            /// idle, and the VOQ of this output is not empty
    input  wire  [        PORTS-1:0] acc,            /// matched with this output (one hot or zero)
    output wire  [        PORTS-1:0] taken,          /// a beat for this output is taken now (one hot or zero)
    output wire                      done,           /// and it is the last of its frame: idle from the next cycle on
    output logic [        PORTS-1:0] x_dst,          /// beat to the crossbar, for this output (one hot or zero)
    output logic [            511:0] x_data,         /// its bytes
    output logic [             63:0] x_keep,         /// its valid bytes
    output logic                     x_last,         /// last of its frame
    output logic [              7:0] free_cells,     /// cells given back in this cycle
    output logic                     drop_unknown,   /// a frame of unknown destination began
    output logic                     drop_long       /// a frame was cut at the largest length
);

  localparam int PW = $clog2(PORTS);
  localparam int AW = $clog2(CELLS);  // cell number
  localparam int CW = AW + 1;  // cell count
  localparam int HW = AW + 1;  // a link: last flag and cell number

  // ---- accept: a cell for each beat, given back when the beat leaves or is dropped ------------------
  logic [CW-1:0] used;
  wire drop;  // the beat in stage 2 is not stored
  wire take_any;
  wire accept = s_axis_tvalid && s_axis_tready;
  assign s_axis_tready = used < CW'(CELLS);

  // ---- stage 1: parse and look up ------------------------------------------------------------------
  logic r1_valid, r1_last;
  logic [511:0] r1_data;
  logic [63:0] r1_keep;

  always_ff @(posedge clk) begin
    if (rst) r1_valid <= 1'b0;
    else r1_valid <= accept;
  end
  always_ff @(posedge clk) begin
    if (accept) {r1_last, r1_keep, r1_data} <= {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
  end

  // Native: DLID, bytes 2 and 3 of the LRH. RoCE: IPv4 destination, bytes 30 to 33.
  wire [15:0] dlid = {r1_data[16+:8], r1_data[24+:8]};
  wire [31:0] ipv4 = {r1_data[240+:8], r1_data[248+:8], r1_data[256+:8], r1_data[264+:8]};
  wire [9:0] index = cfg_roce ? ipv4[9:0] : dlid[9:0];
  wire prefix_ok = cfg_roce ? ipv4[31:10] == cfg_prefix && r1_keep[33]
                            : dlid[15:10] == cfg_prefix[5:0] && r1_keep[3];

  logic hit;
  logic [PW-1:0] hit_port;

  switch_table #(
      .PW    (PW),
      .ADDR_W(ADDR_W)
  ) u_table (
      .clk     (clk),
      .rst     (rst),
      .we      (tbl_we),
      .wr_addr (tbl_addr),
      .wr_valid(tbl_valid),
      .wr_port (tbl_port),
      .rd_en   (r1_valid),
      .rd_addr (index[ADDR_W-1:0]),
      .rd_valid(hit),
      .rd_port (hit_port)
  );

  // ---- stage 2: decide, store, link ----------------------------------------------------------------
  logic r2_valid, r2_last, r2_prefix_ok;
  logic [511:0] r2_data;
  logic [63:0] r2_keep;
  logic in_frame;  // the next beat is not a frame's first
  logic [PORTS-1:0] cur_dst;  // output of the frame; zero: unknown
  logic cut;  // the frame has reached its largest length, its rest is dropped
  logic [6:0] stored;  // beats of the frame stored

  always_ff @(posedge clk) begin
    if (rst) r2_valid <= 1'b0;
    else r2_valid <= r1_valid;
  end
  always_ff @(posedge clk) begin
    if (r1_valid) begin
      {r2_last, r2_keep, r2_data} <= {r1_last, r1_keep, r1_data};
      r2_prefix_ok <= prefix_ok;
    end
  end

  logic [PORTS-1:0] hit_dst;  // zero for a port number that does not exist
  always_comb begin
    for (int o = 0; o < PORTS; o++) hit_dst[o] = hit && r2_prefix_ok && hit_port == PW'(o);
  end

  wire [PORTS-1:0] dst = in_frame ? cur_dst : hit_dst;
  wire cut_now = in_frame && cut;
  wire at_limit = in_frame && stored == 7'(FRAME_MAX_BEATS - 1);
  wire store = r2_valid && dst != '0 && !cut_now;
  wire store_last = r2_last || at_limit;
  assign drop = r2_valid && !store;

  always_ff @(posedge clk) begin
    if (rst) begin
      in_frame     <= 1'b0;
      cur_dst      <= '0;
      cut          <= 1'b0;
      stored       <= '0;
      drop_unknown <= 1'b0;
      drop_long    <= 1'b0;
    end else begin
      if (r2_valid) begin
        in_frame <= !r2_last;
        cur_dst  <= dst;
        cut      <= cut_now || at_limit;
        stored   <= in_frame ? (at_limit ? stored : stored + 7'd1) : 7'd1;
      end
      drop_unknown <= r2_valid && !in_frame && dst == '0;
      drop_long    <= store && at_limit && !r2_last;
    end
  end

  // ---- cells -----------------------------------------------------------------------------------------
  logic [AW-1:0] free_mem [CELLS];  // cells that came back, in order
  logic [AW-1:0] free_wr, free_rd, free_rd_next, free_q;
  logic [CW-1:0] fresh;  // cells never used start here
  logic [HW-1:0] head;  // link to the cell that a match would take: last flag, cell
  wire was_fresh = fresh < CW'(CELLS);
  wire [AW-1:0] cell_id = was_fresh ? fresh[AW-1:0] : free_q;

  assign free_rd_next = free_rd + AW'(store && !was_fresh);

  always_ff @(posedge clk) begin
    if (rst) begin
      used       <= '0;
      fresh      <= '0;
      free_wr    <= '0;
      free_rd    <= '0;
      free_cells <= '0;
    end else begin
      used <= used + CW'(accept) - CW'(take_any) - CW'(drop);
      if (store && was_fresh) fresh <= fresh + 1'b1;
      if (take_any) free_wr <= free_wr + 1'b1;
      free_rd    <= free_rd_next;
      free_cells <= 8'(take_any) + 8'(drop);
    end
  end
  always_ff @(posedge clk) begin
    if (take_any) free_mem[free_wr] <= head[AW-1:0];
    free_q <= free_mem[free_rd_next];
  end

  // ---- virtual output queues -----------------------------------------------------------------------
  logic [PORTS-1:0] busy;  // output that this input is matched with (one hot); zero: idle
  logic [PORTS-1:0] filled;  // VOQ not empty
  logic [PORTS-1:0] one;  // VOQ of one cell
  logic [PORTS-1:0] enq;  // a beat joins the VOQ
  logic [PORTS-1:0] new_head;  // and it is the VOQ's first: nothing to link it to
  logic [PORTS-1:0] head_due;  // the VOQ's head is on its way from the next-cell memory
  logic [PORTS*HW-1:0] heads;
  logic [PORTS*AW-1:0] tails;
  logic [HW-1:0] next_mem [CELLS];
  logic [HW-1:0] next_q;
  logic [575:0] cell_mem [CELLS];

  assign enq      = dst & {PORTS{store}};
  assign taken    = busy & filled;
  assign take_any = taken != '0;
  assign new_head = enq & (~filled | (one & taken));
  assign req      = filled & {PORTS{busy == '0}};
  assign done     = take_any && head[AW];

  for (genvar v = 0; v < PORTS; v++) begin : g_voq
    logic [CW-1:0] cells;
    assign filled[v] = cells != '0;
    assign one[v]    = cells == CW'(1);

    always_ff @(posedge clk) begin
      if (rst) begin
        cells       <= '0;
        head_due[v] <= 1'b0;
      end else begin
        if (enq[v] != taken[v]) cells <= enq[v] ? cells + 1'b1 : cells - 1'b1;
        head_due[v] <= taken[v] && !one[v];
      end
    end
    always_ff @(posedge clk) begin
      if (new_head[v]) heads[v*HW+:HW] <= {store_last, cell_id};
      else if (head_due[v]) heads[v*HW+:HW] <= next_q;
      if (enq[v]) tails[v*AW+:AW] <= cell_id;
    end
  end

  // Head of the matched VOQ, and tail of the one that the stored beat joins.
  logic [AW-1:0] tail;
  always_comb begin
    head = '0;
    tail = '0;
    for (int v = 0; v < PORTS; v++) begin
      if (busy[v]) head = head | heads[v*HW+:HW];
      if (dst[v]) tail = tail | tails[v*AW+:AW];
    end
    if ((head_due & busy) != '0) head = next_q;
  end

  always_ff @(posedge clk) begin
    if (store) cell_mem[cell_id] <= {r2_keep, r2_data};
    if (store && new_head == '0) next_mem[tail] <= {store_last, cell_id};
  end
  always_ff @(posedge clk) begin
    if (take_any) begin
      {x_keep, x_data} <= cell_mem[head[AW-1:0]];
      x_last           <= head[AW];
      next_q           <= next_mem[head[AW-1:0]];
    end
  end

  // ---- match -----------------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      busy  <= '0;
      x_dst <= '0;
    end else begin
      if (done) busy <= '0;
      else if (acc != '0) busy <= acc;
      x_dst <= taken;
    end
  end

`ifndef SYNTHESIS
  if (TAP != "") begin : g_tap
    latency_tap #(.NAME(TAP)) u_stored (.clk(clk), .rst(rst), .event_i(store && !in_frame));
  end
`endif

  // A match is for an idle input only, and with one output.
  `MH_ASSERT(a_match, acc == '0 || (busy == '0 && (acc & (acc - 1'b1)) == '0))
  // Cells are conserved: none is handed out twice.
  `MH_ASSERT(a_cells, used <= CW'(CELLS))
  `MH_NEVER_X(a_known, {s_axis_tready, req, taken, done, x_dst, free_cells, drop_unknown, drop_long})

endmodule

`default_nettype wire
