// SPDX-License-Identifier: Apache-2.0
// AXI4 memory slave of a bench: two address windows (host, GPU memory) with delays set for each phase.
// Model: models/memory.py, which follows this text.
//
// Beats are 64 bytes, bursts INCR and inside 4 KiB; anything else is fatal. The W beats of a burst are
// paired with its AW one a cycle: a(i) = max(cycle of W, cycle of AW, a(i-1) + 1).
// - Visible: v = max(a + wr_visible, previous v + 1). Storage changes at v.
// - B: offered at max(a of the last beat + wr_resp + jitter, previous B's transfer + 1).
// - R: beat i of a burst is offered at max(cycle of AR + rd_latency + jitter + i, previous R's transfer
//   + 1) and shows what became visible before that cycle.
// Everything is in order over both windows, but for reads with ANY_ORDER: bursts of one beat, each with a due
// cycle of its own, cycle of AR + rd_latency + jitter, and whenever R is free the one with the smallest
// (due cycle, order of AR) is offered, in its due cycle at the soonest. Delays are 1 cycle or more; those of the host window
// hold for an address in no window, which reads zeros, writes nothing and answers DECERR. Jitter: for each
// burst one step of a xorshift32 (13, 17, 5), modulo (jitter + 1); separate generators for B and R.
// Longer than other files: reads and writes change one storage in one block, in a fixed order.
//
// Files in p<phase>/: <NAME>.cfg (delays: tb.common.axi.MemoryTiming), <NAME>.img (lines, the rest of the
// storage is zero), <NAME>.poke (lines that something else writes at a given cycle), <NAME>_aw, _w, _ar
// .ready (patterns of the ready signals). Records: <NAME>_aw, _w, _b, _ar, _r .rec (tb.common.axi).
`default_nettype none

module axi_mem #(
    parameter              NAME        = "mem",                   /// file name
    parameter int          ID_W        = 4,                       /// width of the ids, 16 at most
    parameter logic [63:0] HOST_BASE   = 64'h0000_0000_0000_0000,  /// first byte of the host window
    parameter logic [63:0] GPU_BASE    = 64'h0000_0001_0000_0000,  /// first byte of the GPU window
    parameter int          HOST_LINES  = 262144,                  /// 64-byte lines of the host window
    parameter int          GPU_LINES   = 262144,                  /// 64-byte lines of the GPU window
    parameter int          WRITE_DEPTH = 1024,                    /// W beats that wait to be visible
    parameter int          BURSTS      = 256,                     /// bursts that wait for each response
    parameter bit          RECORD_R    = 1'b1,                    /// R beats are recorded
    parameter bit          ANY_ORDER   = 1'b0                     /// reads are answered as they are due
) (
    input  wire             clk,            /// clock
    input  wire             rst,            /// synchronous reset, active high
    input  wire             start,          /// a phase begins
    input  wire             stop,           /// the phase ended: files are closed
    input  wire  [    15:0] phase,          /// number of the phase
    input  wire  [    31:0] cycle,          /// number of this edge
    output logic            activity,       /// a transfer, or something is pending
    input  wire  [ID_W-1:0] s_axi_awid,     /// AXI4 write address
    input  wire  [    63:0] s_axi_awaddr,   /// byte address
    input  wire  [     7:0] s_axi_awlen,    /// beats - 1
    input  wire  [     2:0] s_axi_awsize,   /// 6
    input  wire  [     1:0] s_axi_awburst,  /// INCR
    input  wire             s_axi_awvalid,  /// offered
    output logic            s_axi_awready,  /// accepted
    input  wire  [   511:0] s_axi_wdata,    /// AXI4 write data
    input  wire  [    63:0] s_axi_wstrb,    /// bytes to write
    input  wire             s_axi_wlast,    /// last beat of the burst
    input  wire             s_axi_wvalid,   /// offered
    output logic            s_axi_wready,   /// accepted
    output logic [ID_W-1:0] s_axi_bid,      /// AXI4 write response
    output logic [     1:0] s_axi_bresp,    /// OKAY or DECERR
    output logic            s_axi_bvalid,   /// offered
    input  wire             s_axi_bready,   /// accepted
    input  wire  [ID_W-1:0] s_axi_arid,     /// AXI4 read address
    input  wire  [    63:0] s_axi_araddr,   /// byte address
    input  wire  [     7:0] s_axi_arlen,    /// beats - 1
    input  wire  [     2:0] s_axi_arsize,   /// 6
    input  wire  [     1:0] s_axi_arburst,  /// INCR
    input  wire             s_axi_arvalid,  /// offered
    output logic            s_axi_arready,  /// accepted
    output logic [ID_W-1:0] s_axi_rid,      /// AXI4 read data
    output logic [   511:0] s_axi_rdata,    /// the line
    output logic [     1:0] s_axi_rresp,    /// OKAY or DECERR
    output logic            s_axi_rlast,    /// last beat of the burst
    output logic            s_axi_rvalid,   /// offered
    input  wire             s_axi_rready    /// accepted
);
  localparam int DW = $clog2(WRITE_DEPTH);
  localparam int BW = $clog2(BURSTS);
  localparam logic [1:0] OKAY = 2'd0;
  localparam logic [1:0] DECERR = 2'd3;

  // Words of the delays; those of the GPU window follow those of the host window.
  localparam int C_VISIBLE = 0;
  localparam int C_RESP = 1;
  localparam int C_LATENCY = 2;
  localparam int C_JITTER_R = 3;
  localparam int C_JITTER_B = 4;
  localparam int C_GPU = 5;
  localparam int C_SEED = 10;
  localparam int C_WORDS = 11;

  // Storage and the range of lines that a phase has touched, which the next one clears.
  logic [511:0] host[HOST_LINES];
  logic [511:0] gpu[GPU_LINES];
  int host_lo, host_hi, gpu_lo, gpu_hi;

  logic [32*C_WORDS-1:0] cfg;
  logic [31:0] rng_b, rng_r;

  // Queues. Pointers run freely, their low bits address. *_at: earliest cycle of what the entry leads to.
  logic [ID_W+63:0] aw_q[BURSTS];  // {id, address}
  logic [7:0] aw_len_q[BURSTS];
  logic [31:0] aw_head, aw_tail, beat;
  logic [608:0] w_q[WRITE_DEPTH];  // {last, accepted, strb, data}
  logic [31:0] w_head, w_tail;
  logic [639:0] c_q[WRITE_DEPTH];  // writes to become visible: {strb, address, data}
  logic [31:0] c_at_q[WRITE_DEPTH];
  logic [31:0] c_head, c_tail, c_next;
  logic [ID_W+1:0] b_q[BURSTS];  // {id, resp}
  logic [31:0] b_at_q[BURSTS];
  logic [31:0] b_head, b_tail;
  logic [ID_W+63:0] ar_q[BURSTS];  // {id, address}
  logic [7:0] ar_len_q[BURSTS];
  logic [31:0] ar_at_q[BURSTS];
  logic [31:0] ar_head, ar_tail, r_beat;
  // ANY_ORDER: the reads under way as a heap, the smallest (due cycle, order of AR) at its top
  localparam int HEAP = ANY_ORDER ? BURSTS : 1;
  localparam int HEAP_W = ID_W + 128;
  logic [HEAP_W-1:0] heap[HEAP];  // {due cycle, order of AR, id, address}
  logic [31:0] heap_n, order;

  string dir;
  int fd, n, fd_poke, fd_aw, fd_w, fd_b, fd_ar, fd_r;
  logic is_open, have_poke, bad, aw_pat, w_pat, ar_pat, aw_room, w_room, ar_room, pending;
  /* verilator lint_off UNUSEDSIGNAL */  // pad words of the records
  logic [703:0] poke;  // {data, strb, address, pad, cycle}
  /* verilator lint_on UNUSEDSIGNAL */
  logic [575:0] img;  // {data, address}
  logic [511:0] line;
  logic [608:0] w;
  logic [63:0] addr;
  logic [31:0] at;

  stream_sink #(.NAME({NAME, "_aw"})) u_aw (.tready(aw_pat), .*);
  stream_sink #(.NAME({NAME, "_w"})) u_w (.tready(w_pat), .*);
  stream_sink #(.NAME({NAME, "_ar"})) u_ar (.tready(ar_pat), .*);

  assign s_axi_awready = aw_pat && aw_room;
  assign s_axi_wready  = w_pat && w_room;
  assign s_axi_arready = ar_pat && ar_room;
  assign activity = s_axi_awvalid || s_axi_wvalid || s_axi_arvalid || s_axi_bvalid || s_axi_rvalid || pending;

  function automatic logic in_host(input logic [63:0] a);
    return a - HOST_BASE < 64 * 64'(HOST_LINES);  // wraps below the base
  endfunction

  function automatic logic in_gpu(input logic [63:0] a);
    return a - GPU_BASE < 64 * 64'(GPU_LINES);
  endfunction

  function automatic logic [31:0] delay(input logic [63:0] a, input int word);
    return cfg[32*(in_gpu(a)?C_GPU+word : word)+:32];
  endfunction

  function automatic logic [31:0] xorshift(input logic [31:0] s);
    logic [31:0] x;
    x = s ^ (s << 13);
    x = x ^ (x >> 17);
    return x ^ (x << 5);
  endfunction

  // Bytes of d where s is set; the rest of the line stays. An address in no window is ignored.
  task automatic store(input logic [63:0] a, input logic [63:0] s, input logic [511:0] d);
    int i;
    i = in_host(a) ? int'((a - HOST_BASE) >> 6) : int'((a - GPU_BASE) >> 6);
    line = d;
    if (in_host(a)) begin
      if (!(&s)) begin
        line = host[i];
        for (int k = 0; k < 64; k++) if (s[k]) line[8*k+:8] = d[8*k+:8];
      end
      host[i] = line;
      if (i < host_lo) host_lo = i;
      if (i >= host_hi) host_hi = i + 1;
    end else if (in_gpu(a)) begin
      if (!(&s)) begin
        line = gpu[i];
        for (int k = 0; k < 64; k++) if (s[k]) line[8*k+:8] = d[8*k+:8];
      end
      gpu[i] = line;
      if (i < gpu_lo) gpu_lo = i;
      if (i >= gpu_hi) gpu_hi = i + 1;
    end
  endtask

  task automatic heap_push(input logic [HEAP_W-1:0] item);
    logic [31:0] i;
    i = heap_n;
    heap_n = heap_n + 1;
    while (i != 0 && heap[(i-1)/2] > item) begin
      heap[i] = heap[(i-1)/2];
      i = (i - 1) / 2;
    end
    heap[i] = item;
  endtask

  task automatic heap_pop;
    logic [31:0] i, k;
    logic [HEAP_W-1:0] item;
    logic down;
    heap_n = heap_n - 1;
    item = heap[heap_n];
    i = 0;
    down = 1'b1;
    while (down) begin
      k = 2 * i + 1;
      if (k + 1 < heap_n && heap[k+1] < heap[k]) k = k + 1;
      down = k < heap_n && heap[k] < item;
      if (down) begin
        heap[i] = heap[k];
        i = k;
      end
    end
    heap[i] = item;
  endtask

  task automatic close_records;
    if (is_open) begin
      $fclose(fd_aw);
      $fclose(fd_w);
      $fclose(fd_b);
      $fclose(fd_ar);
      $fclose(fd_r);
    end
    is_open = 1'b0;
  endtask

  task automatic load;
    if ($value$plusargs("run_dir=%s", dir) == 0) dir = ".";
    close_records;
    fd_aw   = $fopen($sformatf("%0s/p%0d/%0s_aw.rec", dir, phase, NAME), "wb");
    fd_w    = $fopen($sformatf("%0s/p%0d/%0s_w.rec", dir, phase, NAME), "wb");
    fd_b    = $fopen($sformatf("%0s/p%0d/%0s_b.rec", dir, phase, NAME), "wb");
    fd_ar   = $fopen($sformatf("%0s/p%0d/%0s_ar.rec", dir, phase, NAME), "wb");
    fd_r    = $fopen($sformatf("%0s/p%0d/%0s_r.rec", dir, phase, NAME), "wb");
    is_open = fd_aw != 0 && fd_w != 0 && fd_b != 0 && fd_ar != 0 && fd_r != 0;
    if (!is_open) $fatal(1, "cannot write %0s/p%0d/%0s_*.rec", dir, phase, NAME);
    fd = $fopen($sformatf("%0s/p%0d/%0s.cfg", dir, phase, NAME), "rb");
    if (fd == 0) $fatal(1, "no file %0s/p%0d/%0s.cfg", dir, phase, NAME);
    n = $fread(cfg, fd);
    if (n != 4 * C_WORDS) $fatal(1, "%0s.cfg: %0d bytes, not %0d", NAME, n, 4 * C_WORDS);
    $fclose(fd);
    for (int i = host_lo; i < host_hi; i++) host[i] = '0;
    for (int i = gpu_lo; i < gpu_hi; i++) gpu[i] = '0;
    host_lo = HOST_LINES;
    host_hi = 0;
    gpu_lo  = GPU_LINES;
    gpu_hi  = 0;
    fd = $fopen($sformatf("%0s/p%0d/%0s.img", dir, phase, NAME), "rb");
    if (fd != 0) begin
      n = $fread(img, fd);
      while (n == 72) begin
        if (!in_host(img[63:0]) && !in_gpu(img[63:0]))
          $fatal(1, "%0s.img: address %h is in no window", NAME, img[63:0]);
        store(img[63:0], '1, img[575:64]);
        n = $fread(img, fd);
      end
      $fclose(fd);
    end
    if (fd_poke != 0) $fclose(fd_poke);
    have_poke = 1'b0;
    fd_poke   = $fopen($sformatf("%0s/p%0d/%0s.poke", dir, phase, NAME), "rb");
    if (fd_poke != 0) begin
      n = $fread(poke, fd_poke);
      have_poke = n == 88;
    end
  endtask

  task automatic clear;
    aw_head = 0;
    aw_tail = 0;
    w_head  = 0;
    w_tail  = 0;
    c_head  = 0;
    c_tail  = 0;
    c_next  = 0;
    b_head  = 0;
    b_tail  = 0;
    ar_head = 0;
    ar_tail = 0;
    beat    = 0;
    r_beat  = 0;
    heap_n  = 0;
    order   = 0;
    bad     = 1'b0;
    rng_b   = cfg[32*C_SEED+:32];
    rng_r   = cfg[32*C_SEED+:32] ^ 32'h9e37_79b9;
  endtask

  // One W beat whose AW is known: when it becomes visible, and the response of its burst.
  task automatic pair;
    w    = w_q[w_head[DW-1:0]];
    addr = {aw_q[aw_head[BW-1:0]][63:6], 6'b0} + {26'b0, beat, 6'b0};
    at   = cycle + delay(addr, C_VISIBLE);
    if (at < c_next) at = c_next;
    c_next = at + 1;
    if (!in_host(addr) && !in_gpu(addr)) bad = 1'b1;
    c_q[c_tail[DW-1:0]] = {w[575:512], addr, w[511:0]};
    c_at_q[c_tail[DW-1:0]] = at;
    c_tail = c_tail + 1;
    if (is_open) $fwrite(fd_w, "%u", {w[511:0], w[575:512], addr, at, w[607:576]});
    if (w[608] != (beat == 32'(aw_len_q[aw_head[BW-1:0]]))) $fatal(1, "%0s: WLAST disagrees with AWLEN", NAME);
    if (w[608]) begin
      rng_b = xorshift(rng_b);
      b_q[b_tail[BW-1:0]] = {aw_q[aw_head[BW-1:0]][ID_W+63:64], bad ? DECERR : OKAY};
      b_at_q[b_tail[BW-1:0]] = cycle + delay(addr, C_RESP) + rng_b % (delay(addr, C_JITTER_B) + 1);
      b_tail  = b_tail + 1;
      aw_head = aw_head + 1;
      beat    = 0;
      bad     = 1'b0;
    end else beat = beat + 1;
    w_head = w_head + 1;
  endtask

  task automatic accept;
    if (s_axi_awvalid && s_axi_awready) begin
      if (s_axi_awsize != 3'd6 || s_axi_awburst != 2'd1) $fatal(1, "%0s: AW is not INCR of 64-byte beats", NAME);
      if (9'(s_axi_awaddr[11:6]) + 9'(s_axi_awlen) > 9'd63) $fatal(1, "%0s: AW burst crosses 4 KiB", NAME);
      aw_q[aw_tail[BW-1:0]] = {s_axi_awid, s_axi_awaddr};
      aw_len_q[aw_tail[BW-1:0]] = s_axi_awlen;
      aw_tail = aw_tail + 1;
      if (is_open) $fwrite(fd_aw, "%u", {64'(s_axi_awlen) + 64'd1, s_axi_awaddr, 32'(s_axi_awid), cycle});
    end
    if (s_axi_wvalid && s_axi_wready) begin
      w_q[w_tail[DW-1:0]] = {s_axi_wlast, cycle, s_axi_wstrb, s_axi_wdata};
      w_tail = w_tail + 1;
    end
    if (s_axi_arvalid && s_axi_arready) begin
      if (s_axi_arsize != 3'd6 || s_axi_arburst != 2'd1) $fatal(1, "%0s: AR is not INCR of 64-byte beats", NAME);
      if (9'(s_axi_araddr[11:6]) + 9'(s_axi_arlen) > 9'd63) $fatal(1, "%0s: AR burst crosses 4 KiB", NAME);
      rng_r = xorshift(rng_r);
      at = cycle + delay(s_axi_araddr, C_LATENCY) + rng_r % (delay(s_axi_araddr, C_JITTER_R) + 1);
      if (ANY_ORDER) begin
        if (s_axi_arlen != 0) $fatal(1, "%0s: AR of more than one beat", NAME);
        heap_push({at, order, s_axi_arid, s_axi_araddr});
        order = order + 1;
      end else begin
        ar_q[ar_tail[BW-1:0]] = {s_axi_arid, s_axi_araddr};
        ar_len_q[ar_tail[BW-1:0]] = s_axi_arlen;
        ar_at_q[ar_tail[BW-1:0]] = at;
        ar_tail = ar_tail + 1;
      end
      if (is_open) $fwrite(fd_ar, "%u", {64'(s_axi_arlen) + 64'd1, s_axi_araddr, 32'(s_axi_arid), cycle});
    end
    if (is_open && s_axi_bvalid && s_axi_bready)
      $fwrite(fd_b, "%u", {32'(s_axi_bresp), 32'(s_axi_bid), cycle});
    if (RECORD_R && is_open && s_axi_rvalid && s_axi_rready)
      $fwrite(fd_r, "%u", {s_axi_rdata, 30'b0, s_axi_rresp, 31'b0, s_axi_rlast, 32'(s_axi_rid), cycle});
  endtask

  // What another agent writes comes before what this port's master writes in the same cycle.
  task automatic make_visible;
    while (have_poke && poke[31:0] <= cycle) begin
      store(poke[127:64], poke[191:128], poke[703:192]);
      n = $fread(poke, fd_poke);
      have_poke = n == 88;
    end
    while (c_head != c_tail && c_at_q[c_head[DW-1:0]] <= cycle) begin
      store(c_q[c_head[DW-1:0]][575:512], c_q[c_head[DW-1:0]][639:576], c_q[c_head[DW-1:0]][511:0]);
      c_head = c_head + 1;
    end
  endtask

  // An R beat: the line that holds address a.
  task automatic offer(input logic [63:0] a, input logic [ID_W-1:0] id, input logic is_last);
    s_axi_rvalid <= 1'b1;
    s_axi_rid    <= id;
    s_axi_rresp  <= in_host(a) || in_gpu(a) ? OKAY : DECERR;
    s_axi_rlast  <= is_last;
    if (in_host(a)) s_axi_rdata <= host[int'((a-HOST_BASE)>>6)];
    else if (in_gpu(a)) s_axi_rdata <= gpu[int'((a-GPU_BASE)>>6)];
    else s_axi_rdata <= '0;
  endtask

  initial begin
    is_open      = 1'b0;
    fd_poke      = 0;
    have_poke    = 1'b0;
    pending      = 1'b0;
    aw_room      = 1'b0;
    w_room       = 1'b0;
    ar_room      = 1'b0;
    s_axi_bvalid = 1'b0;
    s_axi_rvalid = 1'b0;
    host_lo      = 0;
    host_hi      = HOST_LINES;
    gpu_lo       = 0;
    gpu_hi       = GPU_LINES;
    cfg          = '0;
    clear;
  end

  // Outputs are written by <=; what is written by = is read in this block only.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk) begin
    if (start) load;
    else if (stop) close_records;
    if (rst) begin
      clear;
      s_axi_bvalid <= 1'b0;
      s_axi_rvalid <= 1'b0;
    end else begin
      accept;
      if (w_head != w_tail && aw_head != aw_tail) pair;
      make_visible;
      if (!s_axi_bvalid || s_axi_bready) begin
        if (b_head != b_tail && b_at_q[b_head[BW-1:0]] <= cycle + 1) begin
          s_axi_bvalid <= 1'b1;
          {s_axi_bid, s_axi_bresp} <= b_q[b_head[BW-1:0]];
          b_head = b_head + 1;
        end else s_axi_bvalid <= 1'b0;
      end
      if (!s_axi_rvalid || s_axi_rready) begin
        s_axi_rvalid <= 1'b0;
        if (ANY_ORDER && heap_n != 0 && heap[0][ID_W+96+:32] <= cycle + 1) begin
          offer(heap[0][63:0], heap[0][64+:ID_W], 1'b1);
          heap_pop;
        end else if (ar_head != ar_tail && ar_at_q[ar_head[BW-1:0]] + r_beat <= cycle + 1) begin
          addr = ar_q[ar_head[BW-1:0]][63:0] + {26'b0, r_beat, 6'b0};
          offer(addr, ar_q[ar_head[BW-1:0]][ID_W+63:64], r_beat == 32'(ar_len_q[ar_head[BW-1:0]]));
          if (r_beat == 32'(ar_len_q[ar_head[BW-1:0]])) begin
            r_beat  = 0;
            ar_head = ar_head + 1;
          end else r_beat = r_beat + 1;
        end
      end
    end
    aw_room <= aw_tail - aw_head < BURSTS / 2 && b_tail - b_head < BURSTS / 4;
    w_room  <= w_tail - w_head < WRITE_DEPTH / 2 && c_tail - c_head < WRITE_DEPTH - 2 && b_tail - b_head < BURSTS / 4;
    ar_room <= ar_tail - ar_head < BURSTS / 2 && heap_n < BURSTS - 2;
    pending <= aw_head != aw_tail || w_head != w_tail || c_head != c_tail || b_head != b_tail ||
        ar_head != ar_tail || heap_n != 0 || have_poke;
  end
  /* verilator lint_on BLKSEQ */
endmodule

`default_nettype wire
